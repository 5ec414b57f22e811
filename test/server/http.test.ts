import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createServer as createHttpServer, request as httpRequest } from 'node:http'
import { connect as connectSocket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { validate } from '../openapi/validator.js'
import { createServer } from '../../server/http/app.js'
import { MAX_BODY } from '../../server/http/decode.js'
import { listen } from '../../server/http/listen.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'

/** A body of exactly this many bytes that is a valid quote. */
function quoteOf(bytes: number): string {
  const frame = JSON.stringify({ items: [{ upc: '', qty: 1 }] })
  return JSON.stringify({ items: [{ upc: 'x'.repeat(bytes - frame.length), qty: 1 }] })
}

async function withOffer(): Promise<TestApp> {
  const t = await createTestApp()
  await t.stock([{ distid: 'RSR', stockid: 'A1', upc: '012345678905' }])
  await t.configure({ distributors: { 'RSR Group': { distid: 'RSR' } } })
  return t
}

describe('routes', () => {
  test('an unknown path is 404 not_found, whatever the method', async () => {
    await using t = await createTestApp()
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/v1'],
      ['GET', '/v1/'],
      ['POST', '/v1/nothing'],
      ['GET', '/v2/ping'],
      ['GET', '/v1/ping/'],
      ['GET', '/V1/ping'],
      ['GET', '//v1/ping'],
      ['GET', '/v1/%zz'],
    ]) {
      const { status, body } = await t.json(
        path === '//v1/ping' ? 'http://shop.test//v1/ping' : path!,
        { method: method! },
      )
      assert.deepEqual([path, status, body.error?.code], [path, 404, 'not_found'])
    }
  })

  test('a wrong method is 405 with Allow', async () => {
    await using t = await createTestApp()
    for (const [method, path, allow] of [
      ['POST', '/v1/ping', 'GET, HEAD'],
      ['DELETE', '/v1/products/search', 'GET, HEAD'],
      ['PUT', '/v1/products/12345678', 'GET, HEAD'],
      ['DELETE', '/v1/orders/quote', 'POST, GET, HEAD'],
      ['PUT', '/v1/orders', 'POST, GET, HEAD'],
      ['POST', '/v1/orders/W-1', 'GET, HEAD'],
      ['PATCH', '/v1/openapi.json', 'GET, HEAD'],
      ['OPTIONS', '/v1/usage', 'GET, HEAD'],
    ] as const) {
      const { status, headers, body } = await t.json(path, { method })
      assert.deepEqual(
        [path, status, body.error.code, headers.get('allow')],
        [path, 405, 'method_not_allowed', allow],
      )
    }
  })

  test('HEAD answers as GET without a body', async () => {
    await using t = await createTestApp()
    const got = await t.request('/v1/ping')
    const head = await t.request('/v1/ping', { method: 'HEAD' })
    assert.equal(head.status, 200)
    assert.equal(head.headers.get('content-length'), got.headers.get('content-length'))
    assert.equal(await head.text(), '')
  })

  test('every answer has a request id, and authenticated ones are not to be stored', async () => {
    await using t = await createTestApp()
    const made = await t.request('/v1/ping')
    assert.match(made.headers.get('x-request-id')!, /^[\w-]{16}$/)
    assert.equal(made.headers.get('cache-control'), 'no-store')
    assert.equal(
      (await t.request('/v1/ping', { headers: { 'x-request-id': 'shop-42:a' } })).headers.get(
        'x-request-id',
      ),
      'shop-42:a',
    )
    for (const strange of ['a b', 'x'.repeat(101), 'a"b']) {
      assert.notEqual(
        (await t.request('/v1/ping', { headers: { 'x-request-id': strange } })).headers.get(
          'x-request-id',
        ),
        strange,
      )
    }
  })
})

describe('bodies', () => {
  test('1 MB is read and 1 MB + 1 is 413', async () => {
    await using t = await withOffer()
    const exact = await t.json('/v1/orders/quote', { method: 'POST', body: quoteOf(MAX_BODY) })
    assert.deepEqual(
      [exact.status, exact.body.data.unfulfillable[0].reason],
      [200, 'upc_not_found'],
    )
    const above = await t.json('/v1/orders/quote', { method: 'POST', body: quoteOf(MAX_BODY + 1) })
    assert.deepEqual([above.status, above.body.error.code], [413, 'payload_too_large'])
  })

  test('over a socket: chunked bodies and lying lengths meet the same limit', async () => {
    await using t = await withOffer()
    const listening = await listen(t.server, { port: 0, host: '127.0.0.1' })
    const { port } = new URL(listening.url)
    const send = (headers: Record<string, string>, body: string) =>
      new Promise<{ status: number; body: string }>((resolve, reject) => {
        const sent = httpRequest(
          {
            port,
            method: 'POST',
            path: '/v1/orders/quote',
            headers: { 'x-api-key': t.key, ...headers },
          },
          (response) => {
            let text = ''
            response
              .setEncoding('utf8')
              .on('data', (chunk: string) => {
                text += chunk
              })
              .on('end', () => resolve({ status: response.statusCode!, body: text }))
          },
        )
        sent.on('error', reject)
        sent.end(body)
      })
    assert.equal((await send({ 'transfer-encoding': 'chunked' }, quoteOf(MAX_BODY))).status, 200)
    assert.equal(
      (await send({ 'transfer-encoding': 'chunked' }, quoteOf(MAX_BODY + 1))).status,
      413,
    )
    assert.equal(
      (await send({ 'content-length': String(MAX_BODY + 1) }, quoteOf(MAX_BODY + 1))).status,
      413,
    )
    const raw = (text: string) =>
      new Promise<string>((resolve) => {
        const socket = connectSocket(Number(port), '127.0.0.1', () => socket.write(text))
        let answer = ''
        socket
          .on('data', (chunk) => {
            answer += chunk.toString()
          })
          .on('close', () => resolve(answer))
          .on('error', () => resolve(answer))
      })
    const head =
      `POST /v1/orders/quote HTTP/1.1\r\nHost: x\r\nx-api-key: ${t.key}\r\nConnection: ` +
      'close\r\n'
    assert.match(await raw(`${head}Content-Length: 2000000\r\n\r\n{}`), /^HTTP\/1\.1 413/)
    // As proxies do: all of it is sent before it listens. It hears why, and no reset.
    const sendFirst = (bytes: number) =>
      new Promise<string>((resolve) => {
        const socket = connectSocket(Number(port), '127.0.0.1', () => {
          socket.pause()
          socket.write(`${head}Content-Length: ${bytes}\r\n\r\n${quoteOf(bytes)}`, () =>
            setTimeout(() => socket.resume(), 50),
          )
        })
        let answer = ''
        socket
          .on('data', (chunk) => {
            answer += chunk.toString()
          })
          .on('error', (error) => {
            answer = String(error)
          })
          .on('close', () => resolve(answer))
      })
    for (const bytes of [MAX_BODY + 1, 2 * MAX_BODY, 5 * MAX_BODY])
      assert.match(await sendFirst(bytes), /^HTTP\/1\.1 413/, String(bytes))
    assert.match(
      await raw(`${head}Content-Length: 4\r\n\r\n{"items":[{"upc":"012345678905","qty":1}]}`),
      /^HTTP\/1\.1 400/,
    )
    assert.match(
      await raw(`${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`),
      /^HTTP\/1\.1 400/,
    )
    await listening.close()
  })

  test('a body that its client cuts off is 400 invalid_json, and no error in the log', async () => {
    await using t = await withOffer()
    const cut = new ReadableStream({
      start(body) {
        body.enqueue(Buffer.from('{"items":['))
        body.error(new Error('aborted'))
      },
    })
    const answer = await t.json('/v1/orders/quote', { method: 'POST', body: cut })
    assert.deepEqual([answer.status, answer.body.error.code], [400, 'invalid_json'])
    assert.match(answer.body.error.message, /cut off/)
  })

  const notJson: [name: string, body: string | Uint8Array, headers?: Record<string, string>][] = [
    ['nothing', ''],
    ['blanks', '  \n'],
    ['cut off', '{"items":['],
    ['words', 'hello'],
    ['a trailing comma', '{"items":[],}'],
    ['NaN', '{"items":NaN}'],
    ['not UTF-8', new Uint8Array([0x7b, 0xff, 0x7d])],
    ['65 levels', '['.repeat(65) + ']'.repeat(65)],
    ['a megabyte of brackets', '['.repeat(MAX_BODY)],
    ['25,001 members', `{${Array.from({ length: 25_001 }, (_, i) => `"m${i}":":"`).join(',')}}`],
    ['an encoded body', '{}', { 'content-encoding': 'gzip' }],
  ]
  for (const [name, body, headers] of notJson) {
    test(`${name} is 400 invalid_json`, async () => {
      await using t = await withOffer()
      const answer = await t.json('/v1/orders/quote', {
        method: 'POST',
        body: body as string,
        headers: headers ?? {},
      })
      assert.deepEqual([answer.status, answer.body.error.code], [400, 'invalid_json'])
    })
  }

  test('25,000 members are read', async () => {
    await using t = await withOffer()
    const answer = await t.json('/v1/orders/quote', {
      method: 'POST',
      body: `{${Array.from({ length: 25_000 }, (_, i) => `"m${i}":":"`).join(',')}}`,
    })
    assert.deepEqual([answer.status, answer.body.error.code], [400, 'invalid_parameter'])
  })

  test('the content type is not looked at', async () => {
    await using t = await withOffer()
    const body = JSON.stringify({ items: [{ upc: '012345678905', qty: 1 }] })
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', '']) {
      assert.equal(
        (
          await t.request('/v1/orders/quote', {
            method: 'POST',
            body,
            headers: { 'content-type': type },
          })
        ).status,
        200,
      )
    }
  })

  test('prototype keys are unknown members and change nothing', async () => {
    await using t = await withOffer()
    for (const member of ['__proto__', 'constructor', 'prototype', 'toString']) {
      const answer = await t.json('/v1/orders/quote', {
        method: 'POST',
        body: `{"items":[{"upc":"1","qty":1,"${member}":{"polluted":1}}]}`,
      })
      assert.deepEqual(
        [member, answer.status, answer.body.error?.details?.[0]?.path],
        [member, 400, `items[0].${member}`],
      )
    }
    assert.equal(({} as { polluted?: number }).polluted, undefined)
  })

  test('an unknown member is named with the nearest known one', async () => {
    await using t = await withOffer()
    const { status, body } = await t.json('/v1/orders/quote', {
      method: 'POST',
      body: JSON.stringify({ items: [{ upc: '1', qty: 1, quantity: 2, unit_pryce: 1 }], note: 1 }),
    })
    assert.equal(status, 400)
    assert.deepEqual(body.error.details.map((fault: { path: string }) => fault.path).sort(), [
      'items[0].quantity',
      'items[0].unit_pryce',
      'note',
    ])
    assert.match(JSON.stringify(body.error.details), /did you mean unit_price/)
  })

  test('all faults come at once, at most 100', async () => {
    await using t = await withOffer()
    const { body } = await t.json('/v1/orders/quote', {
      method: 'POST',
      body: JSON.stringify({ items: Array.from({ length: 100 }, () => ({ qty: 0, extra: true })) }),
    })
    assert.equal(body.error.details.length, 100)
    assert.deepEqual(
      body.error.details
        .slice(0, 3)
        .map((fault: { path: string; message: string }) =>
          `${fault.path} ${fault.message}`.slice(0, 40),
        ),
      [
        'items[0].upc is required',
        'items[0].qty must be at least 1',
        'items[0].extra is not a known member; kn',
      ],
    )
  })

  const badTexts = ['a\u0000b', 'a\u0007b', 'a\u007fb']
  for (const text of badTexts) {
    test(`a text with ${JSON.stringify(text)} is 400`, async () => {
      await using t = await withOffer()
      const { status, body } = await t.json('/v1/orders/quote', {
        method: 'POST',
        body: JSON.stringify({ items: [{ upc: text, qty: 1 }] }),
      })
      assert.deepEqual(
        [status, body.error.code, body.error.details[0].path],
        [400, 'invalid_parameter', 'items[0].upc'],
      )
      assert.equal((await t.json(`/v1/products/search?q=${encodeURIComponent(text)}`)).status, 400)
    })
  }

  test('half a surrogate pair is 400, a whole one is a text', async () => {
    await using t = await withOffer()
    const quote = (upc: string) =>
      t.json('/v1/orders/quote', { method: 'POST', body: `{"items":[{"upc":"${upc}","qty":1}]}` })
    assert.equal((await quote('\\ud83d')).status, 400)
    assert.equal((await quote('\\ude00\\ud83d')).status, 400)
    assert.equal((await quote('\\ud83d\\ude00')).status, 200)
  })
})

describe('answers', () => {
  test('above 50 KB they are compressed when asked for, below not', async () => {
    await using t = await createTestApp()
    await t.stock(
      Array.from({ length: 120 }, (_, i) => ({
        distid: 'RSR',
        stockid: `S${i}`,
        name: `Item ${'long name '.repeat(50)}${i}`,
      })),
    )
    await t.configure({ distributors: { 'RSR Group': { distid: 'RSR' } } })
    const big = '/v1/products/search?page_size=100'
    const plain = await t.request(big)
    const zipped = await t.request(big, { headers: { 'accept-encoding': 'br, gzip' } })
    assert.equal(plain.headers.get('content-encoding'), null)
    assert.equal(zipped.headers.get('content-encoding'), 'gzip')
    assert.equal(zipped.headers.get('vary'), 'accept-encoding')
    const bytes = Buffer.from(await zipped.arrayBuffer())
    assert.equal(zipped.headers.get('content-length'), String(bytes.length))
    assert.equal(gunzipSync(bytes).toString(), await plain.text())
    for (const none of ['identity', 'gzip;q=0', 'br'])
      assert.equal(
        (await t.request(big, { headers: { 'accept-encoding': none } })).headers.get(
          'content-encoding',
        ),
        null,
      )
    assert.equal(
      (
        await t.request('/v1/products/search?page_size=1', {
          headers: { 'accept-encoding': 'gzip' },
        })
      ).headers.get('content-encoding'),
      null,
    )
  })

  test('an unexpected error shows nothing but the request id', async () => {
    const logged: object[] = []
    const log = {
      debug() {},
      info() {},
      warn() {},
      error(fields: object) {
        logged.push(fields)
      },
    }
    await using t = await createTestApp({ log })
    t.expectErrors(/a request failed: secret detail/)
    Object.defineProperty(t.app.ctx.limits, 'usage', {
      value: () => {
        throw new Error('secret detail /etc/passwd')
      },
    })
    const { status, body, headers } = await t.json('/v1/usage')
    assert.equal(status, 500)
    assert.deepEqual(body.error.details, { request_id: headers.get('x-request-id') })
    assert.ok(!JSON.stringify(body).includes('secret detail'))
    assert.equal((logged[0] as { requestId: string }).requestId, headers.get('x-request-id'))
  })
})

/** The status and code of raw requests, each over a connection of its own. */
async function rawAnswer(
  port: number,
  lines: readonly string[],
): Promise<[status: number, code: string | undefined]> {
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connectSocket(port, '127.0.0.1', () =>
      socket.write([...lines, 'connection: close', '', ''].join('\r\n')),
    )
    let answer = ''
    socket
      .on('data', (chunk) => {
        answer += chunk.toString()
      })
      .on('close', () => resolve(answer))
      .on('error', reject)
  })
  return [Number(text.slice(9, 12)), /"code":"(\w+)"/.exec(text)?.[1]]
}

/** An embedder's own server with the node handler, and what its `maxHeadersCount` is. */
async function embedded(t: TestApp, maxHeadersCount: number | undefined, server = t.server) {
  const http = createHttpServer(server.nodeHandler as never)
  if (maxHeadersCount !== undefined) http.maxHeadersCount = maxHeadersCount
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    port: (http.address() as AddressInfo).port,
    close: () => new Promise((resolve) => http.close(resolve)),
  }
}

describe('headers', () => {
  const filler = (count: number) => Array.from({ length: count }, (_, i) => `x-${i}: 1`)
  const ping = (t: TestApp, count: number, more: string[] = []) => [
    'GET /v1/ping HTTP/1.1',
    'host: x',
    `x-api-key: ${t.key}`,
    ...filler(count - 3 - more.length),
    ...more,
  ]

  test("100 are read and 101 are 431, over our server and over an embedder's, whatever it keeps of them", async () => {
    await using t = await createTestApp()
    const listening = await listen(t.server, { port: 0, host: '127.0.0.1' })
    assert.deepEqual(await rawAnswer(Number(new URL(listening.url).port), ping(t, 100)), [
      200,
      undefined,
    ])
    for (const count of [101, 128, 129, 1_001, 3_000]) {
      assert.deepEqual(
        await rawAnswer(
          Number(new URL(listening.url).port),
          ping(t, 3).concat(Array.from({ length: count - 3 }, () => 'a:')),
        ),
        [431, 'too_many_headers'],
        `${count}`,
      )
    }
    await listening.close()
    for (const most of [undefined, 0, 2_000, 100]) {
      const other = await embedded(t, most)
      assert.deepEqual(await rawAnswer(other.port, ping(t, 100)), [200, undefined], `${most}`)
      assert.deepEqual(
        await rawAnswer(other.port, ping(t, 101)),
        [431, 'too_many_headers'],
        `${most}`,
      )
      await other.close()
    }
  })

  test('a server that keeps fewer than it was sent answers 431 in place of reading a part', async () => {
    await using t = await createTestApp()
    for (const most of [20, 32, 64, 96]) {
      const other = await embedded(t, most)
      assert.deepEqual(await rawAnswer(other.port, ping(t, most - 1)), [200, undefined], `${most}`)
      for (const count of [most + 1, 100])
        assert.deepEqual(
          await rawAnswer(other.port, ping(t, count)),
          [431, 'too_many_headers'],
          `${most}`,
        )
      await other.close()
    }
  })

  test("headers without end never let a proxy's own address in for the caller's", async () => {
    await using t = await createTestApp({ ips: ['127.0.0.1'] })
    const server = createServer(t.app, { trustedProxies: ['127.0.0.1'], trustProxyDirect: true })
    const listening = await listen(server, { port: 0, host: '127.0.0.1' })
    const port = Number(new URL(listening.url).port)
    const forwarded = ['X-Forwarded-For: 203.0.113.9']
    assert.deepEqual(await rawAnswer(port, ping(t, 100, forwarded)), [403, 'ip_not_allowed'])
    for (const count of [101, 102, 150, 1_100])
      assert.deepEqual(await rawAnswer(port, ping(t, count, forwarded)), [431, 'too_many_headers'])
    await listening.close()
    for (const most of [50, 64]) {
      const other = await embedded(t, most, server)
      assert.notEqual((await rawAnswer(other.port, ping(t, 100, forwarded)))[0], 200)
      await other.close()
    }
  })

  test('of a Request 100 names are read and 101 are 431, for pages and files too', async () => {
    await using t = await createTestApp()
    const send = (path: string, count: number) =>
      t.server.fetch(
        new Request(`http://shop.test${path}`, {
          headers: Object.fromEntries([
            ['x-api-key', t.key],
            ...Array.from({ length: count - 1 }, (_, i) => [`x-${i}`, '1']),
          ] as [string, string][]),
        }),
        { address: '127.0.0.1' },
      )
    for (const path of ['/v1/ping', '/v1/docs', '/v1/openapi.json']) {
      assert.deepEqual(
        [path, (await send(path, 100)).status, (await send(path, 101)).status],
        [path, 200, 431],
      )
    }
    assert.equal((await send('/objects/x', 101)).status, 431)
    assert.equal((await send('/v1/nothing', 101)).status, 431)
    assert.equal((await t.json('/v1/usage')).body.data.today, 2)
  })

  test('two Host headers are a 400, over a socket and in a Request', async () => {
    await using t = await createTestApp()
    const listening = await listen(t.server, { port: 0, host: '127.0.0.1' })
    const port = Number(new URL(listening.url).port)
    for (const path of ['/v1/ping', '/v1/openapi.json', '/v1/nothing']) {
      for (const second of ['host: x', 'Host: other.example', 'HOST:']) {
        assert.deepEqual(
          await rawAnswer(port, [`GET ${path} HTTP/1.1`, 'host: x', second, `x-api-key: ${t.key}`]),
          [400, 'invalid_parameter'],
          second,
        )
      }
    }
    assert.deepEqual(
      await rawAnswer(port, [
        'GET /v1/ping HTTP/1.1',
        'host: x',
        'x-host: y',
        `x-api-key: ${t.key}`,
      ]),
      [200, undefined],
    )
    await listening.close()
    const twice = new Headers([
      ['x-api-key', t.key],
      ['host', 'a.example'],
      ['host', 'b.example'],
    ])
    const once = new Headers([
      ['x-api-key', t.key],
      ['host', 'a.example'],
    ])
    assert.deepEqual(
      await Promise.all(
        [twice, once].map(
          async (headers) =>
            (
              await t.server.fetch(new Request('http://shop.test/v1/ping', { headers }), {
                address: '127.0.0.1',
              })
            ).status,
        ),
      ),
      [400, 200],
    )
  })
})

describe('query parameters that an endpoint does not know', () => {
  const ignored = async (t: TestApp, path: string) =>
    (await t.request(path)).headers.get('x-ignored-parameters')

  test('are named in X-Ignored-Parameters, each once, of every endpoint and page', async () => {
    await using t = await withOffer()
    assert.equal(
      await ignored(t, '/v1/products/search?query=bipod&page=1&pagesize=5&query=again'),
      'query, pagesize',
    )
    assert.equal(await ignored(t, '/v1/products/search?q=bipod&page=1'), null)
    const { allEndpoints } = await import('../../lib/app/endpoints.js')
    for (const { method, path, hasBody } of allEndpoints) {
      const sent = path.replace('{metric}', 'trending').replaceAll(/\{\w+\}/g, '12345678')
      const answer = await t.request(`${sent}?Query=1`, {
        method,
        ...(hasBody && { body: '{"items":[{"upc":"1","qty":1}]}' }),
      })
      assert.equal(
        answer.headers.get('x-ignored-parameters'),
        'Query',
        `${method} ${path}: ${answer.status}`,
      )
    }
    for (const path of ['/v1/openapi.json', '/v1/docs', '/v1/docs/guide', '/v1/llms.txt'])
      assert.equal(await ignored(t, `${path}?a=1`), 'a')
  })

  test('are named with a refusal of the other parameters too, and not to whom the gate refuses', async () => {
    await using t = await createTestApp()
    const refused = await t.request('/v1/products/search?page=0&query=x')
    assert.deepEqual([refused.status, refused.headers.get('x-ignored-parameters')], [400, 'query'])
    assert.equal(
      (await t.request('/v1/ping?a=1', { key: null })).headers.get('x-ignored-parameters'),
      null,
    )
  })

  test('are percent-encoded, at most 10 names and 200 bytes', async () => {
    await using t = await createTestApp()
    const of = (names: string[]) =>
      ignored(t, `/v1/ping?${names.map((name) => `${encodeURIComponent(name)}=1`).join('&')}`)
    assert.equal(
      await of(['a b', 'é', 'x,y', '__proto__', 'a[]', '']),
      'a%20b, %C3%A9, x%2Cy, __proto__, a%5B%5D',
    )
    const many = Array.from({ length: 11 }, (_, i) => `name${i}`)
    assert.equal(await of(many.slice(0, 10)), many.slice(0, 10).join(', '))
    assert.equal(await of(many), many.slice(0, 10).join(', '))
    assert.equal(await of(['x'.repeat(200)]), 'x'.repeat(200))
    assert.equal(await of(['x'.repeat(201)]), 'x'.repeat(200))
    assert.equal(await of([`${'x'.repeat(199)}é`]), 'x'.repeat(199))
    assert.equal(
      await of(['x'.repeat(99), 'y'.repeat(99), 'z']),
      `${'x'.repeat(99)}, ${'y'.repeat(99)}`,
    )
    assert.equal(
      await of(['x'.repeat(500), 'y'.repeat(100), 'z'.repeat(99), 'query']),
      `${'y'.repeat(100)}, query`,
    )
  })
})

describe('a strange Host', () => {
  test('changes no answer', async () => {
    await using t = await createTestApp()
    const listening = await listen(t.server, { port: 0, host: '127.0.0.1' })
    const { port } = new URL(listening.url)
    const get = (path: string, host: string) =>
      new Promise<{ status: number; body: string }>((resolve, reject) => {
        httpRequest({ port, path, headers: { host, 'x-api-key': t.key } }, (response) => {
          let text = ''
          response
            .setEncoding('utf8')
            .on('data', (chunk: string) => {
              text += chunk
            })
            .on('end', () => resolve({ status: response.statusCode!, body: text }))
        })
          .on('error', reject)
          .end()
      })
    for (const host of ['a_b:99999', '[', 'x y', '%%', '']) {
      assert.equal((await get('/v1/openapi.json', host)).status, 200, host)
      assert.equal((await get('/v1/ping', host)).status, 200, host)
      const unknown = await get('/v1/nothing', host)
      assert.deepEqual(
        [unknown.status, (JSON.parse(unknown.body) as { error: { code: string } }).error.code],
        [404, 'not_found'],
        host,
      )
    }
    await listening.close()
  })
})

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.0.3, needs no key and is not counted', async () => {
    await using t = await createTestApp()
    const response = await t.request('/v1/openapi.json', { key: null, address: '203.0.113.9' })
    assert.equal(response.status, 200)
    const document = (await response.json()) as { openapi: string; info: { version: string } }
    assert.equal(document.openapi, '3.0.3')
    assert.equal(document.info.version, '1.0.0')
    assert.deepEqual(await validate(document), [])
  })

  test('its examples fit its own shapes', async () => {
    const { allEndpoints } = await import('../../lib/app/endpoints.js')
    for (const endpoint of allEndpoints) {
      assert.ok(
        endpoint.result.safeParse(endpoint.example.result).success,
        `${endpoint.id}: result example`,
      )
    }
  })
})
