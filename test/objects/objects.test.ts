import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DAY, HOUR } from '../../lib/core/clock.js'
import { diskStore, parsePublicUrl } from '../../lib/objects/disk.js'
import { memoryStore } from '../../lib/objects/memory.js'
import type { ObjectStore } from '../../lib/objects/store.js'
import { openForTest as open } from '../../server/testing/open.js'
import { createServer } from '../../server/http/app.js'
import { listen } from '../../server/http/listen.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'
import { runProcess, start, stop } from '../server/launcher.js'

let scratch: string
before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-objects-'))
})
after(() => rmSync(scratch, { recursive: true, force: true }))

const disk = (dir: string, now: () => number = Date.now) =>
  diskStore({
    dir,
    now,
    random: randomBytes,
    publicUrl: () => 'http://shop.test',
    signingKey: () => 'k',
  })

const stores: [name: string, make: () => ObjectStore][] = [
  ['on disk', () => disk(mkdtempSync(join(scratch, 'store-')))],
  ['in memory', () => memoryStore({ now: Date.now })],
]
for (const [name, make] of stores) {
  describe(`a store ${name}`, () => {
    test('keeps bytes and files, replaces and removes them', async () => {
      const store = make()
      assert.equal(await store.has('a/b.pdf'), false)
      await store.put('a/b.pdf', Buffer.from('one'), { contentType: 'application/pdf' })
      assert.equal(await store.has('a/b.pdf'), true)
      assert.equal(await store.has('a'), false)
      const file = join(scratch, 'source')
      writeFileSync(file, 'two')
      await store.put('a/b.pdf', file, { contentType: 'text/csv' })
      assert.equal(readFileSync(file, 'utf8'), 'two', 'the source stays')
      await store.remove('a/b.pdf')
      await store.remove('a/b.pdf')
      await store.remove('never/there')
      assert.equal(await store.has('a/b.pdf'), false)
      await assert.rejects(store.put('c', join(scratch, 'no such file'), { contentType: 'a/b' }))
      assert.equal(await store.has('c'), false)
    })

    test('lists keys below a prefix, in order, with the time of their change', async () => {
      const store = make()
      assert.deepEqual(await store.list(''), [])
      for (const key of ['b/2', 'b/1', 'a', 'b/c/3', 'bb/4'])
        await store.put(key, Buffer.from(key), { contentType: 'a/b' })
      const keys = async (prefix: string) => (await store.list(prefix)).map(({ key }) => key)
      assert.deepEqual(await keys(''), ['a', 'b/1', 'b/2', 'b/c/3', 'bb/4'])
      assert.deepEqual(await keys('b/'), ['b/1', 'b/2', 'b/c/3'])
      assert.deepEqual(await keys('b'), ['b/1', 'b/2', 'b/c/3', 'bb/4'])
      assert.deepEqual(await keys('b/c/'), ['b/c/3'])
      assert.deepEqual(await keys('c/'), [])
      const { changedAt } = (await store.list('a'))[0]!
      assert.ok(Math.abs(changedAt - Date.now()) < 60_000 && Number.isInteger(changedAt))
    })

    test('takes no key that could lead elsewhere', async () => {
      const store = make()
      for (const key of [
        '',
        '/',
        '..',
        '../a',
        'a/../b',
        './a',
        'a//b',
        'a/',
        '/a',
        '.hidden',
        'a/.hidden',
        'a\\b',
        'a b',
        'a%2fb',
        'a\0b',
        'ä',
        'a?b',
        'x'.repeat(513),
      ]) {
        await assert.rejects(
          store.put(key, Buffer.from('x'), { contentType: 'a/b' }),
          /not an object key/,
          key,
        )
        await assert.rejects(store.url(key, { expiresIn: 60 }), /not an object key/, key)
        await assert.rejects(store.has(key), /not an object key/, key)
        await assert.rejects(store.remove(key), /not an object key/, key)
      }
      await store.put('A-Z_a.z0/9..x', Buffer.from('x'), { contentType: 'a/b' })
      assert.equal(await store.has('A-Z_a.z0/9..x'), true)
    })
  })
}

describe('the store on disk', () => {
  test('keeps files for their owner alone, and leaves no draft behind', async () => {
    const dir = join(mkdtempSync(join(scratch, 'disk-')), 'objects')
    const store = disk(dir)
    await store.put('documents/x.pdf', Buffer.from('x'), { contentType: 'application/pdf' })
    await assert.rejects(
      store.put('documents/y.pdf', join(scratch, 'no such file'), {
        contentType: 'application/pdf',
      }),
    )
    assert.equal(statSync(join(dir, 'documents/x.pdf')).mode & 0o077, 0)
    assert.equal(statSync(join(dir, 'documents')).mode & 0o077, 0)
    assert.deepEqual(readdirSync(join(dir, '.drafts')), [])
  })

  test('a file that is replaced is whole for whoever reads it', async () => {
    const store = disk(mkdtempSync(join(scratch, 'disk-')))
    const [a, b] = [Buffer.alloc(3_000_000, 'a'), Buffer.alloc(2_000_000, 'b')]
    await store.put('x', a, { contentType: 'text/plain' })
    const address = addressOf(await store.url('x', { expiresIn: 60 }))
    const object = await store.open(address)
    await store.put('x', b, { contentType: 'text/plain' })
    await store.remove('x')
    assert.deepEqual(await bytesOf(object.stream(0, object.size - 1)), a)
    await assert.rejects(store.open(address), { code: 'not_found' })
  })

  test('removes drafts that were left behind when it is opened, and no others', async () => {
    await using t = await createTestApp()
    const drafts = join(t.app.dir, 'objects', '.drafts')
    mkdirSync(drafts, { recursive: true })
    for (const name of ['old', 'fresh']) writeFileSync(join(drafts, name), 'x')
    utimesSync(
      join(drafts, 'old'),
      new Date(Date.now() - 2 * HOUR),
      new Date(Date.now() - 2 * HOUR),
    )
    await (await open({ dir: t.app.dir, worker: false })).close()
    assert.deepEqual(readdirSync(drafts), ['fresh'])
  })
})

describe('a public address', () => {
  test('is that of a server, a path allowed', () => {
    for (const [text, url] of [
      ['https://shop.example', 'https://shop.example'],
      ['https://shop.example/', 'https://shop.example'],
      ['http://10.0.0.1:8080/qm//', 'http://10.0.0.1:8080/qm'],
      ['http://[::1]:80', 'http://[::1]'],
    ] as const)
      assert.equal(parsePublicUrl(text), url)
    for (const text of [
      '',
      'shop.example',
      'ftp://shop.example',
      'https://a:b@shop.example',
      'https://shop.example?x=1',
      'https://shop.example#x',
      'javascript:alert(1)',
      'https://',
    ])
      assert.throws(() => parsePublicUrl(text), /not a public address/, text)
  })

  test('stands in the URLs: the one that is given, else the one that is listened on', async () => {
    await using plain = await createTestApp()
    await using given = await createTestApp({ publicUrl: 'https://shop.example/qm/' })
    const urlOf = async ({ app }: TestApp) =>
      (await app.ctx.objects.url('a', { expiresIn: 60 })).split('?')[0]
    assert.deepEqual(
      [await urlOf(plain), await urlOf(given)],
      ['http://localhost:8080/objects/a', 'https://shop.example/qm/objects/a'],
    )
    for (const t of [plain, given]) t.app.listensAt('http://127.0.0.1:1234')
    assert.deepEqual(
      [await urlOf(plain), await urlOf(given)],
      ['http://127.0.0.1:1234/objects/a', 'https://shop.example/qm/objects/a'],
    )
    await assert.rejects(createTestApp({ publicUrl: 'shop.example' }), /not a public address/)
  })

  test('is an option of serve', async () => {
    const dir = join(scratch, 'serve')
    const { child } = await start(dir, 'serve', '--public-url', 'https://shop.example')
    assert.equal(await stop(child), 0)
    const refused = await runProcess(dir, 'serve', '--public-url', 'shop.example')
    assert.equal(refused.status, 2)
    assert.match(refused.err, /--public-url: "shop.example" is not a public address/)
  })

  test("an embedder's own store takes the place of the folder", async () => {
    const objects = memoryStore({ now: Date.now })
    await using t = await createTestApp({ objects })
    await t.app.ctx.objects.put('a', Buffer.from('x'), { contentType: 'a/b' })
    assert.match(
      await t.app.ctx.objects.url('a', { expiresIn: 60, fileName: 'a b.txt' }),
      /^memory:a\?expires=\d+&name=a\+b\.txt$/,
    )
    assert.equal(existsSync(join(t.app.dir, 'objects')), false)
    assert.equal(
      (await t.json('/objects/a', { key: null })).status,
      401,
      "its URLs are not our server's",
    )
  })
})

function addressOf(url: string) {
  const { pathname, searchParams } = new URL(url)
  return {
    key: pathname.slice('/objects/'.length),
    expires: searchParams.get('expires')!,
    fileName: searchParams.get('name') ?? '',
    signature: searchParams.get('signature')!,
  }
}

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of stream) parts.push(part)
  return Buffer.concat(parts)
}

describe('a signed URL', () => {
  let t: TestApp
  const bytes = randomBytes(600_001)
  before(async () => {
    t = await createTestApp()
    await t.app.ctx.objects.put('documents/abc.pdf', bytes, { contentType: 'application/pdf' })
    await t.app.ctx.objects.put('exports/empty.csv', Buffer.alloc(0), { contentType: 'text/csv' })
  })
  after(() => t.close())
  const url = async (
    key = 'documents/abc.pdf',
    options: { expiresIn?: number; fileName?: string } = {},
  ) =>
    (await t.app.ctx.objects.url(key, { expiresIn: 900, ...options })).slice(
      'http://localhost:8080'.length,
    )
  const get = async (path: string, init: RequestInit = {}) =>
    t.request(path, { key: null, address: '203.0.113.9', ...init } as never)
  const statusOf = async (path: string) => {
    const response = await get(path)
    await response.arrayBuffer()
    return response.status
  }
  const codeOf = async (path: string, init: RequestInit = {}) => {
    const response = await get(path, init)
    const { success, error } = (await response.json()) as {
      success: boolean
      error: { code: string; message: string }
    }
    assert.equal(success, false)
    return [response.status, error.code]
  }

  test('is read by anybody, without a key, and never counted', async () => {
    const response = await get(await url())
    assert.equal(response.status, 200)
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes)
    const headers = Object.fromEntries(
      [
        'content-type',
        'content-length',
        'content-disposition',
        'accept-ranges',
        'cache-control',
        'x-content-type-options',
        'content-encoding',
        'ratelimit',
      ].map((name) => [name, response.headers.get(name)]),
    )
    assert.deepEqual(headers, {
      'content-type': 'application/pdf',
      'content-length': '600001',
      'content-disposition': 'attachment',
      'accept-ranges': 'bytes',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-encoding': null,
      ratelimit: null,
    })
    assert.match(response.headers.get('x-request-id')!, /./)
    assert.equal((await t.remote.usage()).today, 1, 'the question itself')
    const empty = await get(await url('exports/empty.csv'))
    assert.deepEqual(
      [empty.status, empty.headers.get('content-length'), await empty.text()],
      [200, '0', ''],
    )
  })

  test('names the file as it was asked for', async () => {
    const disposition = async (fileName: string) =>
      (await get(await url('documents/abc.pdf', { fileName }), { method: 'HEAD' })).headers.get(
        'content-disposition',
      )
    assert.equal(
      await disposition('license.pdf'),
      'attachment; filename="license.pdf"; filename*=UTF-8\'\'license.pdf',
    )
    assert.equal(
      await disposition('Ä "b" (c)\'s%41.pdf'),
      "attachment; filename=\"_ _b_ (c)'s_41.pdf\"; filename*=UTF-8''%C3%84%20%22b%22%20%28c%29%27s%2541.pdf",
    )
    assert.equal(
      await disposition('a\r\nb: c'),
      'attachment; filename="a__b: c"; filename*=UTF-8\'\'a%0D%0Ab%3A%20c',
    )
  })

  test('answers HEAD with the same headers', async () => {
    const response = await get(await url(), { method: 'HEAD' })
    assert.deepEqual(
      [
        response.status,
        response.headers.get('content-length'),
        response.headers.get('content-type'),
        await response.text(),
      ],
      [200, '600001', 'application/pdf', ''],
    )
  })

  test('has single ranges', async () => {
    const path = await url()
    const table: [range: string, status: number, from: number, to: number][] = [
      ['bytes=0-0', 206, 0, 0],
      ['bytes=0-99', 206, 0, 99],
      ['bytes=100-', 206, 100, 600_000],
      ['bytes=-1', 206, 600_000, 600_000],
      ['bytes=-9999999', 206, 0, 600_000],
      ['bytes=599999-9999999', 206, 599_999, 600_000],
      ['bytes=600000-600000', 206, 600_000, 600_000],
      ['Bytes = 5-6', 206, 5, 6],
      ['bytes=200000-500000', 206, 200_000, 500_000],
      ['bytes=0-1,5-6', 200, 0, 600_000],
      ['bytes=6-5', 200, 0, 600_000],
      ['bytes=-', 200, 0, 600_000],
      ['lines=0-5', 200, 0, 600_000],
      ['bytes=a-b', 200, 0, 600_000],
      ['', 200, 0, 600_000],
    ]
    for (const [range, status, from, to] of table) {
      const response = await get(path, { headers: { range } })
      assert.deepEqual(
        [
          response.status,
          response.headers.get('content-length'),
          response.headers.get('content-range'),
        ],
        [status, String(to + 1 - from), status === 206 ? `bytes ${from}-${to}/600001` : null],
        range,
      )
      assert.ok(
        Buffer.from(await response.arrayBuffer()).equals(bytes.subarray(from, to + 1)),
        range,
      )
    }
    for (const range of ['bytes=600001-', 'bytes=600001-600002', 'bytes=-0']) {
      const response = await get(path, { headers: { range } })
      assert.deepEqual(
        [response.status, response.headers.get('content-range'), await response.text()],
        [416, 'bytes */600001', ''],
        range,
      )
    }
    assert.equal(
      (await get(await url('exports/empty.csv'), { headers: { range: 'bytes=0-' } })).status,
      416,
    )
    const etag = (await get(path, { method: 'HEAD' })).headers.get('etag')!
    const conditional = async (condition: string) =>
      (
        await (
          await get(path, { headers: { range: 'bytes=0-0', 'if-range': condition } })
        ).arrayBuffer()
      ).byteLength
    assert.deepEqual([await conditional(etag), await conditional('"another"')], [1, 600_001])
  })

  test('changed in any part it is 403', async () => {
    const path = await url('documents/abc.pdf', { fileName: 'a.pdf' })
    const { searchParams } = new URL(path, 'http://x')
    const [expires, signature] = [searchParams.get('expires')!, searchParams.get('signature')!]
    const other = await url('exports/empty.csv')
    const changed = [
      path.replace('abc.pdf', 'abd.pdf'),
      path.replace('/documents/', '/exports/'),
      path.replace('/documents/', '/documents//'),
      path.replace('/documents/', '/x/../documents/').replace('/x/..', '/x%2f..'),
      path.replace(expires, String(Number(expires) + 1)),
      path.replace(expires, `0${expires}`),
      path.replace(expires, `${expires}.0`),
      path.replace('a.pdf&', 'b.pdf&'),
      path.replace('name=a.pdf&', ''),
      path.replace('name=', 'name=%20'),
      path.slice(0, -1) + (path.endsWith('A') ? 'B' : 'A'),
      path.slice(0, -1),
      `${path}A`,
      path.replace(signature, signature.toUpperCase()),
      path.replace(signature, ''),
      path.replace(`&signature=${signature}`, ''),
      path.replace(signature, '%00'),
      `${path}&x=1`,
      `${path}&expires=${expires}`,
      `${path}&signature=${signature}`,
      path.split('?')[0]!,
      `${path.split('?')[0]}?${other.split('?')[1]}`,
      '/objects/',
      '/objects',
      '/objects/documents/',
      '/objects/documents',
      '/objects/.types/documents/abc.pdf',
      '/objects/..%2fkeys%2fsecret-key',
    ]
    for (const one of changed) assert.deepEqual(await codeOf(one), [403, 'invalid_url'], one)
    // This is read as an address outside of /objects, where nothing is without a key.
    assert.deepEqual(await codeOf('/objects/%2e%2e/keys/secret-key'), [401, 'missing_api_key'])
    // The last letter of a signature has bits to spare; all the same it is another text.
    const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    for (const letter of last)
      if (letter !== path.at(-1)) assert.equal(await statusOf(path.slice(0, -1) + letter), 403)
    assert.equal(await statusOf(path), 200)
  })

  test('ends when its time is over, and the library may ask for any', async () => {
    await using other = await createTestApp()
    await other.app.ctx.objects.put('a', Buffer.from('x'), { contentType: 'a/b' })
    const path = new URL(await other.app.ctx.objects.url('a', { expiresIn: 60 }))
    const status = async () => {
      const response = await other.request(path.pathname + path.search, { key: null })
      await response.arrayBuffer()
      return response.status
    }
    other.clock.advance(59_999)
    assert.equal(await status(), 200)
    other.clock.advance(1)
    const { status: late, body } = await other.json(path.pathname + path.search, { key: null })
    assert.deepEqual([late, body.error.code], [403, 'invalid_url'])
    assert.match(body.error.message, /expired/)
    other.clock.advance(-DAY)
    assert.equal(await status(), 200)
  })

  test('of an object that is gone is 404', async () => {
    await t.app.ctx.objects.put('gone', Buffer.from('x'), { contentType: 'a/b' })
    const path = await url('gone')
    await t.app.ctx.objects.remove('gone')
    assert.deepEqual(await codeOf(path), [404, 'not_found'])
    assert.deepEqual(
      await codeOf(await url('documents')),
      [404, 'not_found'],
      'a folder is not an object',
    )
    assert.deepEqual(await codeOf(await url('documents/abc.pdf/x')), [404, 'not_found'])
  })

  test('takes no other method', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const response = await get(await url(), { method })
      assert.deepEqual([response.status, response.headers.get('allow')], [405, 'GET, HEAD'])
    }
  })

  test('is good for one installation alone, and for every process of it', async () => {
    const path = await url()
    await using other = await open({
      dir: join(scratch, 'other'),
      worker: false,
      now: () => t.clock.ms,
    })
    await other.ctx.objects.put('documents/abc.pdf', Buffer.from('theirs'), {
      contentType: 'application/pdf',
    })
    assert.equal(
      (await createServer(other).fetch(new Request(`http://shop.test${path}`))).status,
      403,
    )
    const beside = await open({ dir: t.app.dir, worker: false, now: () => t.clock.ms })
    const theirs = new URL(await beside.ctx.objects.url('documents/abc.pdf', { expiresIn: 60 }))
    await beside.close()
    assert.equal(await statusOf(theirs.pathname + theirs.search), 200)
    await t.app.operator.secrets.rotate()
    assert.equal(await statusOf(path), 200, 'a new secret key leaves URLs as they are')
  })

  test('over a socket: large files, ranges, and callers who leave', async () => {
    const large = Buffer.alloc(20_000_000, 'quartermaster ')
    await t.app.ctx.objects.put('exports/large.bin', large, {
      contentType: 'application/octet-stream',
    })
    const listening = await listen(t.server, { port: 0, host: '127.0.0.1' })
    try {
      t.app.listensAt(listening.url)
      const address = await t.app.ctx.objects.url('exports/large.bin', { expiresIn: 60 })
      assert.ok(address.startsWith(listening.url))
      assert.ok(Buffer.from(await (await fetch(address)).arrayBuffer()).equals(large))
      const part = await fetch(address, { headers: { range: 'bytes=10000000-' } })
      assert.deepEqual(
        [part.status, Buffer.from(await part.arrayBuffer()).equals(large.subarray(10_000_000))],
        [206, true],
      )
      const head = await fetch(address, { method: 'HEAD' })
      assert.deepEqual([head.status, head.headers.get('content-length')], [200, '20000000'])
      const handles = () => readdirSync('/proc/self/fd').length
      const before = handles()
      for (let i = 0; i < 20; i++) await leave(address)
      for (let tries = 0; handles() > before && tries < 100; tries++)
        await new Promise((resolve) => setTimeout(resolve, 20))
      assert.ok(handles() <= before, 'no file stays open')
      assert.equal((await fetch(address, { method: 'HEAD' })).status, 200)
    } finally {
      await listening.close(100)
      t.app.listensAt('http://localhost:8080')
    }
  })

  test('a file that shrinks while it is read ends the connection instead of pretending', async () => {
    const place = join(t.app.dir, 'objects', 'exports', 'shrinking')
    await t.app.ctx.objects.put('exports/shrinking', Buffer.alloc(5_000_000), {
      contentType: 'a/b',
    })
    const response = await get(await url('exports/shrinking'))
    writeFileSync(place, 'x')
    await assert.rejects(response.arrayBuffer())
    appendFileSync(place, 'y')
  })

  test('leads into the folder of objects and nowhere else', async () => {
    writeFileSync(join(t.app.dir, 'outside'), 'x')
    symlinkSync(join(t.app.dir, 'outside'), join(t.app.dir, 'objects', 'inside'))
    await assert.rejects(
      t.app.ctx.objects.url('../outside', { expiresIn: 60 }),
      /not an object key/,
    )
    assert.deepEqual(
      (await t.app.ctx.objects.list('')).map(({ key }) => key).includes('inside'),
      false,
    )
  })
})

/** Reads a little of an answer and hangs up. */
function leave(address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(address, (response) => {
      response.once('data', () => {
        request.destroy()
        resolve()
      })
    })
    request
      .on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ECONNRESET') reject(error)
      })
      .end()
  })
}
