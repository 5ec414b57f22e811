import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import * as z from 'zod'
import { ERRORS } from '../../lib/core/errors.js'
import { allEndpoints } from '../../lib/app/endpoints.js'
import { findFolders, readAssets } from '../../server/docs/files.js'
import type { Asset } from '../../server/docs/files.js'
import { renderPage } from '../../server/docs/guide.js'
import { memberLines, typeText } from '../../server/docs/compact.js'
import type { Schema } from '../../server/docs/compact.js'
import { FIRST_PAGE, PAGES, addressOf, markdownAddressOf } from '../../server/docs/pages.js'
import { listen } from '../../server/index.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'

const FOLDER = join('data', 'guide')
const markdownOf = (name: string) => readFileSync(join(FOLDER, `${name}.md`), 'utf8')
const CONTRACT = ['/v1/openapi.json', '/v1/docs', '/v1/docs/guide', '/v1/llms.txt']
const TEXTS = ['/v1/llms.txt', '/docs/llms-full.txt', ...PAGES.map(markdownAddressOf)]
const JSONS = ['/docs/search.json']
const HTML = ['/v1/docs', ...PAGES.map(addressOf)]

describe('the documentation', () => {
  let t: TestApp
  let assets: ReadonlyMap<string, Asset>
  before(async () => {
    t = await createTestApp()
    assets = await readAssets(findFolders())
  })
  after(() => t.close())

  /** As anybody would ask, from anywhere. */
  const get = (path: string, init: RequestInit = {}) =>
    t.request(path, { key: null, address: '203.0.113.9', ...init })
  const bodyOf = async (path: string) => (await get(path)).text()

  test('needs no key and is not counted, wherever it is asked for', async () => {
    for (const path of [
      ...CONTRACT,
      ...HTML,
      ...TEXTS,
      ...JSONS,
      ...[...assets.values()].map(({ address }) => address),
    ]) {
      assert.equal((await get(path)).status, 200, path)
      assert.equal((await t.request(path)).status, 200, path)
    }
    assert.equal((await t.shop.usage()).today, 0)
  })

  test('HEAD has the headers alone, and If-None-Match spares the body', async () => {
    for (const path of [...CONTRACT, '/docs/search.json', assets.get('docs.css')!.address]) {
      const got = await get(path)
      const length = (await got.arrayBuffer()).byteLength
      const head = await get(path, { method: 'HEAD' })
      assert.deepEqual(
        [path, head.status, head.headers.get('content-length'), await head.text()],
        [path, 200, String(length), ''],
      )
      const etag = got.headers.get('etag')!
      for (const condition of [etag, `"other", ${etag.slice(2)}`, '*']) {
        const held = await get(path, { headers: { 'if-none-match': condition } })
        assert.deepEqual(
          [path, held.status, held.headers.get('etag'), await held.text()],
          [path, 304, etag, ''],
        )
      }
      assert.equal((await get(path, { headers: { 'if-none-match': '"other"' } })).status, 200)
    }
  })

  test('what is large is compressed for whoever takes it, and is the same', async () => {
    for (const path of [
      '/v1/openapi.json',
      '/docs/llms-full.txt',
      '/docs/search.json',
      '/v1/docs',
    ]) {
      const plain = await get(path)
      const packed = await get(path, { headers: { 'accept-encoding': 'gzip' } })
      assert.deepEqual(
        [
          plain.headers.get('content-encoding'),
          packed.headers.get('content-encoding'),
          packed.headers.get('vary'),
        ],
        [null, 'gzip', 'accept-encoding'],
      )
      const bytes = Buffer.from(await packed.arrayBuffer())
      assert.ok(gunzipSync(bytes).equals(Buffer.from(await plain.arrayBuffer())), path)
      assert.equal(packed.headers.get('content-length'), String(bytes.byteLength))
    }
    assert.equal(
      (await get('/v1/llms.txt', { headers: { 'accept-encoding': 'gzip' } })).headers.get(
        'content-encoding',
      ),
      null,
    )
  })

  test('another method is 405 with Allow, without a key and not counted', async () => {
    for (const path of [
      ...CONTRACT,
      ...HTML,
      ...TEXTS,
      ...JSONS,
      assets.get('docs.css')!.address,
    ]) {
      for (const [method, key] of [
        ['POST', null],
        ['DELETE', null],
        ['PUT', 'x'.repeat(40)],
        ['OPTIONS', undefined],
        ['PATCH', null],
      ] as const) {
        const { status, headers, body } = await t.json(path, {
          method,
          address: '203.0.113.9',
          ...(key !== undefined && { key }),
        })
        assert.deepEqual(
          [path, status, headers.get('allow'), body.error.code],
          [path, 405, 'GET, HEAD', 'method_not_allowed'],
        )
      }
    }
    assert.equal((await t.request('/v1/ping', { method: 'POST', key: null })).status, 401)
    assert.equal((await t.request('/v1/docs/', { method: 'POST', key: null })).status, 401)
    assert.equal((await t.shop.usage()).today, 0)
  })

  test('every file of it says that a browser must not guess its type', async () => {
    for (const path of [
      ...CONTRACT,
      ...HTML,
      ...TEXTS,
      ...JSONS,
      ...[...assets.values()].map(({ address }) => address),
    ]) {
      assert.deepEqual(
        [path, (await get(path)).headers.get('x-content-type-options')],
        [path, 'nosniff'],
      )
    }
  })

  test('nothing but what it is made of can be had: 401 without a key, 404 with one', async () => {
    const { address } = assets.get('docs.css')!
    for (const path of [
      '/docs',
      '/docs/',
      '/docs/guide',
      '/docs/guide/',
      '/docs/guide/nothing',
      '/docs/guide/nothing.md',
      '/docs/guide/guide',
      '/docs/assets',
      '/docs/assets/',
      '/docs/assets/docs.css',
      '/docs/assets/docs-0000000000.css',
      `${address}/`,
      `${address}%00`,
      '/docs/assets/..%2f..%2fpackage.json',
      '/docs/assets/%2e%2e%2fpages.ts',
      '/docs/assets/../../package.json',
      '/docs/guide/..%2f..%2fREADME.md',
      '/docs/guide/%2e%2e/%2e%2e/package.json',
      '/docs/assets/LICENSE',
      '/v1/docs/',
      '/v1/docs/guide/orders',
      '/v1/llms.txt/',
      '/docs/assets/%zz',
    ]) {
      assert.deepEqual([path, (await get(path)).status], [path, 401])
      const { status, body } = await t.json(path)
      assert.deepEqual([path, status, body.error.code], [path, 404, 'not_found'])
    }
  })

  test('a page may use its own files alone, and has no script, style or handler in it', async () => {
    for (const path of HTML) {
      const response = await get(path)
      const policy = response.headers.get('content-security-policy')!
      assert.deepEqual(
        [policy.split('; ').slice(0, 5), /unsafe|\*|https?:/.test(policy)],
        [
          [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data:",
            "connect-src 'self'",
          ],
          false,
        ],
      )
      assert.match(policy, /frame-ancestors 'none'; base-uri 'none'; form-action 'none'$/)
      assert.deepEqual(
        ['content-type', 'x-content-type-options', 'referrer-policy', 'x-service-mode'].map(
          (name) => response.headers.get(name),
        ),
        ['text/html; charset=utf-8', 'nosniff', 'no-referrer', 'simulator'],
      )
      const html = await response.text()
      assert.match(html, /^<!doctype html>\n<html lang="en">/)
      assert.doesNotMatch(
        html,
        /<style|\sstyle=|<script(?! defer src="\/docs\/assets\/)|<[^>]*\son\w+=|javascript:|<iframe|<object|<base/i,
      )
      for (const [, source] of html.matchAll(
        /<(?:script|link|img)[^>]*\s(?:src|href)="([^"]*)"/g,
      )) {
        assert.ok(
          [...assets.values()].some(({ address }) => address === source),
          `${path}: ${source}`,
        )
      }
    }
  })

  test('an asset is named by its content, so it may be kept for ever', async () => {
    for (const { address, type, body } of assets.values()) {
      const response = await get(address)
      assert.match(address, /^\/docs\/assets\/[\w-]+-[0-9a-f]{10}\.(css|js|svg|png|webp)$/)
      assert.deepEqual(
        ['content-type', 'cache-control', 'x-content-type-options'].map((name) =>
          response.headers.get(name),
        ),
        [type, 'public, max-age=31536000, immutable', 'nosniff'],
      )
      assert.ok(Buffer.from(await response.arrayBuffer()).equals(body))
    }
    assert.ok(readdirSync(join(FOLDER, 'pictures')).every((name) => assets.has(`pictures/${name}`)))
  })

  test('the document names the address that was asked, whatever is in it', async () => {
    for (const origin of [
      'http://shop.test',
      'https://api.example:8443',
      'http://a"b',
      'http://$&',
    ]) {
      const document = (await (
        await t.server.fetch(new Request(`${origin}/v1/openapi.json`))
      ).json()) as { servers: { url: string }[] }
      assert.equal(document.servers[0]!.url, origin)
    }
  })

  test('the document names no address where Host is none', async () => {
    const server = await listen(t.server, { port: 0, host: '127.0.0.1' })
    const serversFor = (host: string) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () =>
          socket.write(
            `GET /v1/openapi.json HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
          ),
        )
        let text = ''
        socket
          .on('data', (bytes) => {
            text += bytes.toString('latin1')
          })
          .on('error', reject)
          .on('close', () => resolve(/"servers":\[\{"url":"([^"]*)/.exec(text)![1]!))
      })
    assert.deepEqual(
      await Promise.all(['a"b', 'a b', 'a.example/x', 'shop.example:8443'].map(serversFor)),
      ['/', '/', '/', 'http://shop.example:8443'],
    )
    await server.close()
  })

  test('the document names the public address where the operator gave one', async () => {
    await using behindProxy = await createTestApp({ publicUrl: 'https://shop.example/qm/' })
    assert.deepEqual(
      (await behindProxy.json('/v1/openapi.json', { key: null })).body.servers[0].url,
      'https://shop.example/qm',
    )
  })

  test('the pages say the same whatever Host is', async () => {
    for (const path of [...HTML.slice(0, 3), ...TEXTS.slice(0, 2)]) {
      const other = await t.server.fetch(new Request(new URL(path, 'http://evil.example')))
      assert.equal(await other.text(), await bodyOf(path), path)
    }
  })
})

describe('the guide', () => {
  test('has a page for each file and a file for each page, whose first heading is the title', () => {
    const files = readdirSync(FOLDER)
      .filter((name) => name.endsWith('.md'))
      .map((name) => name.slice(0, -3))
    assert.deepEqual(files.toSorted(), PAGES.map(({ name }) => name).toSorted())
    assert.equal(PAGES[0]!.name, FIRST_PAGE)
    for (const { name, title } of PAGES)
      assert.deepEqual([name, markdownOf(name).split('\n')[0]], [name, `# ${title}`])
  })

  test('links lead to pages, anchors and pictures that there are', async () => {
    const assets = await readAssets(findFolders())
    const rendered = new Map(
      await Promise.all(
        PAGES.map(
          async (page) =>
            [addressOf(page), await renderPage(markdownOf(page.name), assets)] as const,
        ),
      ),
    )
    let between = 0
    for (const page of PAGES) {
      const { html, headings } = rendered.get(addressOf(page))!
      assert.equal(headings.filter(({ depth }) => depth === 1).length, 1, page.name)
      assert.equal(new Set(headings.map(({ id }) => id)).size, headings.length, page.name)
      const written = [...withoutCode(markdownOf(page.name)).matchAll(/\]\(([^)\s]+)\)/g)].map(
        (match) => match[1]!,
      )
      const shown = [
        ...html.matchAll(/<(?:a(?! class="anchor")|img)[^>]*(?:href|src)="([^"]*)"/g),
      ].map((match) => match[1]!)
      assert.equal(
        shown.length,
        written.length,
        `${page.name}: of ${written.join(', ')} the page shows ${shown.join(', ')}`,
      )
      for (const target of shown.filter(
        (href) =>
          !/^(https?|mailto):/.test(href) &&
          !href.startsWith('/docs/assets/') &&
          !href.startsWith('/v1/'),
      )) {
        const [path, anchor] = target.split('#') as [string, string | undefined]
        const there = path === '' ? rendered.get(addressOf(page)) : rendered.get(path)
        assert.ok(there, `${page.name}: ${target}`)
        if (anchor !== undefined)
          assert.ok(
            there.headings.some(({ id }) => id === anchor),
            `${page.name}: ${target}`,
          )
        between++
      }
    }
    assert.ok(between > 20)
  })

  test('HTML in its Markdown is shown as text, and a link can do nothing but lead', async () => {
    const assets = await readAssets(findFolders())
    const show = async (markdown: string) => (await renderPage(markdown, assets)).html.trim()
    for (const [markdown, html] of [
      ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
      ['a <img src=x onerror=alert(1)> b', '<p>a &lt;img src=x onerror=alert(1)&gt; b</p>'],
      ['<style>*{}</style>', '&lt;style&gt;*{}&lt;/style&gt;'],
      ['[x](javascript:alert(1))', '<p>x</p>'],
      ['[x](JaVaScRiPt:alert(1))', '<p>x</p>'],
      ['[x](data:text/html,hi)', '<p>x</p>'],
      ['[x](//evil.example)', '<p>x</p>'],
      ['[x](../../package.json)', '<p>x</p>'],
      ['[x](nothing.md)', '<p>x</p>'],
      [
        '[x](orders.md#what-we-promise)',
        '<p><a href="/docs/guide/orders#what-we-promise">x</a></p>',
      ],
      ['[x](guide.md)', '<p><a href="/v1/docs/guide">x</a></p>'],
      [
        '[x](https://example.com/"onclick="y)',
        '<p><a href="https://example.com/&quot;onclick=&quot;y">x</a></p>',
      ],
      ['![x](https://evil.example/x.png)', '<p>x</p>'],
      ['![<b>](x.png)', '<p>&lt;b&gt;</p>'],
      ['# a <b> & "c"', '<h1 id="a-b--c">a &lt;b&gt; &amp; &quot;c&quot;</h1>'],
      [
        '```js" onclick="x\n</code><script>\n```',
        '<pre tabindex="0"><code>&lt;/code&gt;&lt;script&gt;\n</code></pre>',
      ],
    ] as const)
      assert.equal(await show(markdown), html, markdown)
  })

  test('two headings of one name have anchors of their own', async () => {
    const { headings } = await renderPage(
      "# A\n\n## What's `new`?\n\n## Refused\n\n## Refused",
      new Map(),
    )
    assert.deepEqual(
      headings.map(({ text, id }) => [text, id]),
      [
        ['A', 'a'],
        ["What's new?", 'whats-new'],
        ['Refused', 'refused'],
        ['Refused', 'refused-1'],
      ],
    )
  })
})

describe('llms.txt', () => {
  let t: TestApp
  let index: string
  let full: string
  before(async () => {
    t = await createTestApp()
    index = await (await t.request('/v1/llms.txt', { key: null })).text()
    full = await (await t.request('/docs/llms-full.txt', { key: null })).text()
  })
  after(() => t.close())

  test('has the form of the convention: a name, a summary, and sections of links with a line each', () => {
    const [head, ...sections] = index.split(/^## /m)
    assert.match(head!, /^# Quartermaster\n\n> \S.*\n\n/)
    assert.doesNotMatch(head!.slice(2), /^#/m)
    assert.deepEqual(
      sections.map((section) => section.split('\n')[0]),
      ['Guide', 'Endpoints', 'Descriptions for tools', 'Optional'],
    )
    for (const section of sections) {
      for (const line of section.trim().split('\n').slice(2))
        assert.match(line, /^- \[[^\]]+\]\(\/[^)\s]+\): \S/)
    }
  })

  test('lists every page and every endpoint, and every link answers', async () => {
    const links = new Map(
      [...index.matchAll(/^- \[([^\]]+)\]\(([^)]+)\): (.*)$/gm)].map(([, text, href, line]) => [
        text!,
        [href!, line!] as const,
      ]),
    )
    for (const page of PAGES)
      assert.deepEqual(links.get(page.title), [markdownAddressOf(page), page.summary])
    for (const { method, path, summary } of allEndpoints)
      assert.equal(links.get(`${method} ${path}`)?.[1], summary)
    const { paths } = (await t.json('/v1/openapi.json', { key: null })).body as {
      paths: Record<string, Record<string, { tags: string[]; operationId: string }>>
    }
    const anchors = Object.values(paths)
      .flatMap((item) => Object.values(item))
      .map(({ tags, operationId }) => `/${tags[0]}/${operationId}`)
    for (const [href] of links.values()) {
      const [path, anchor] = href.split('#') as [string, string | undefined]
      assert.equal((await t.request(path, { key: null })).status, 200, href)
      if (anchor !== undefined) assert.ok(anchors.includes(anchor), href)
    }
  })

  test('names every error code, and says of each status what to do', () => {
    for (const [code, [status]] of Object.entries(ERRORS))
      assert.match(index, new RegExp(`^  - ${status} .*\`${code}\`.*: \\w.*\\.$`, 'm'))
    assert.doesNotMatch(index, /undefined/)
  })

  test('the full text has every page, and every endpoint with its parameters, its members and its refusals', () => {
    for (const { name } of PAGES) assert.ok(full.includes(markdownOf(name).trim()), name)
    const sections = new Map(
      full
        .slice(full.indexOf('\n# Endpoints\n'))
        .split(/^## /m)
        .map((section) => [section.split('\n')[0]!, section]),
    )
    for (const {
      method,
      path,
      summary,
      params,
      query,
      headers,
      body,
      errors,
      bodySchema,
    } of allEndpoints) {
      const section = sections.get(`${method} ${path}`) ?? ''
      assert.ok(section.includes(summary), path)
      for (const name of [...Object.keys(params.shape), ...Object.keys(query.shape)])
        assert.match(section, new RegExp(`^- ${name} \\((path|query)\\): \\w`, 'm'))
      for (const name of Object.keys(headers.shape))
        assert.match(section, new RegExp(`^- ${name.replaceAll('_', '-')} \\(header\\): `, 'mi'))
      if (!bodySchema)
        for (const [name, member] of Object.entries(body.shape))
          assert.equal(
            new RegExp(`^- ${name}: \\w`, 'm').test(section),
            !isAnything(member as z.ZodType),
            `${path}: ${name}`,
          )
      for (const code of errors) assert.ok(section.includes(` ${code}`), `${path}: ${code}`)
    }
    for (const [code, [status, sentence]] of Object.entries(ERRORS))
      assert.ok(full.includes(`- ${status} ${code}: ${sentence}`))
    assert.doesNotMatch(full.slice(full.indexOf('\n# Endpoints\n')), /undefined|\[object/)
  })
})

describe('a schema in few words', () => {
  const components = {
    Part: {
      type: 'object',
      description: 'A part',
      properties: { sku: { type: 'string' } },
      required: ['sku'],
    },
    Configuration: { type: 'object', properties: { a: {} } },
  }

  const types: [Schema, string][] = [
    [
      { type: 'integer', minimum: 1, maximum: 100, default: 50 },
      'integer, from 1 to 100, default 50',
    ],
    [{ type: 'string', minLength: 1 }, 'string, not empty'],
    [{ type: 'string', maxLength: 30, nullable: true }, 'string, at most 30 characters, or null'],
    [{ type: 'string', enum: ['a', 'b', null], nullable: true }, 'one of a, b, null'],
    [{ type: 'boolean', enum: [true] }, 'always true'],
    [
      { type: 'array', items: { type: 'string' }, maxItems: 5 },
      'list of (string), at most 5 entries',
    ],
    [{ type: 'array', items: { $ref: '#/components/schemas/Part' } }, 'list of objects'],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 'string or number'],
    [
      { $ref: '#/components/schemas/Configuration' },
      'the configuration document, as PUT /v1/config takes it',
    ],
  ]
  for (const [schema, text] of types)
    test(text, () => assert.equal(typeText(schema, components), text))

  test('members are told with their place, and a component once', () => {
    const schema: Schema = {
      type: 'object',
      required: ['first'],
      properties: {
        first: { $ref: '#/components/schemas/Part' },
        more: {
          type: 'array',
          description: 'Others',
          items: { $ref: '#/components/schemas/Part' },
        },
        last: {
          description: 'The end',
          anyOf: [{ $ref: '#/components/schemas/Part' }, { nullable: true, enum: [null] }],
        },
        ignored: {},
        byName: { type: 'object', additionalProperties: { type: 'number', minimum: 0 } },
      },
    }
    assert.deepEqual(memberLines(schema, components, 'required'), [
      '- first: object, required. A part',
      '- first.sku: string, required',
      '- more: list of objects, as first. Others',
      '- last: object, or null, as first. The end',
      '- byName: object',
      '- byName.<name>: number, from 0',
    ])
    assert.deepEqual(memberLines(schema, components, 'optional').slice(0, 3), [
      '- first: object. A part',
      '- first.sku: string',
      '- more: list of objects, optional, as first. Others',
    ])
  })
})

/** Whether a member is taken and ignored, whatever it is. */
function isAnything(member: z.ZodType): boolean {
  const {
    $schema: _draft,
    description: _text,
    ...rest
  } = z.toJSONSchema(member, { io: 'input', unrepresentable: 'any' })
  return Object.keys(rest).length === 0
}

/** Markdown without what is code in it. */
function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^```[^]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '')
}
