/**
 * Requests over a real socket, byte by byte: the same plans as in the process, and what is not HTTP
 * at all.
 */
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import * as fc from 'fast-check'
import { gunzipSync } from 'node:zlib'
import type { Answer } from './judge.js'
import type { Plan } from './plan.js'

/**
 * Something that is not a request, and the statuses that it may get; an empty list: the connection
 * may also just end.
 */
export interface RawRequest {
  what: string
  bytes: Buffer
  statuses: number[]
  /** The caller ends its side after the bytes. */
  ends: boolean
}

/** Milliseconds that an answer may take. */
const PATIENCE = 5_000

/**
 * Sends bytes on a connection of its own and reads what comes until it ends, an answer is complete,
 * or patience does.
 */
export function exchange(
  port: number,
  bytes: Buffer,
  { ends = false, patience = PATIENCE } = {},
): Promise<Buffer | 'nothing came'> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket: Socket = connect(port, '127.0.0.1', () => {
      socket.write(bytes)
      if (ends) socket.end()
    })
    const timer = setTimeout(() => done('nothing came'), patience)
    const done = (result: Buffer | 'nothing came') => {
      clearTimeout(timer)
      socket.destroy()
      resolve(result)
    }
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      const all = Buffer.concat(chunks)
      if (isComplete(all)) done(all)
    })
    socket.on('error', () => {})
    socket.on('close', () => done(Buffer.concat(chunks)))
  })
}

function isComplete(bytes: Buffer): boolean {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return false
  const head = bytes.subarray(0, end).toString('latin1')
  if (/^HTTP\/1\.1 1\d\d/.test(head)) return false
  const length = /^content-length: (\d+)$/im.exec(head)?.[1]
  return length !== undefined && bytes.length >= end + 4 + Number(length)
}

/** A plan as bytes; one connection each. */
export function bytesOf(plan: Plan, key: string | null): Buffer {
  const body = plan.body === null ? null : Buffer.from(plan.body)
  const headers: [string, string][] = [
    ['host', 'shop.test'],
    ['connection', 'close'],
    ...(key === null ? [] : [['x-api-key', key] as [string, string]]),
    ...Object.entries(plan.headers),
  ]
  if (body !== null)
    headers.push(
      plan.chunked ? ['transfer-encoding', 'chunked'] : ['content-length', String(body.length)],
    )
  const head = Buffer.from(
    `${plan.method} ${plan.target} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    'latin1',
  )
  if (body === null) return head
  return plan.chunked ? Buffer.concat([head, ...chunked(body)]) : Buffer.concat([head, body])
}

function chunked(body: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let i = 0; i < body.length; i += 60_000) {
    const part = body.subarray(i, i + 60_000)
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'))
  }
  return [...parts, Buffer.from('0\r\n\r\n')]
}

/** What came as an answer; null where it is none. */
export function parseAnswer(bytes: Buffer): Answer | null {
  const continued = bytes.indexOf('HTTP/1.1 100') === 0 ? bytes.indexOf('\r\n\r\n') + 4 : 0
  const rest = bytes.subarray(continued)
  const end = rest.indexOf('\r\n\r\n')
  const [first, ...lines] = rest.subarray(0, Math.max(end, 0)).toString('latin1').split('\r\n')
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(first ?? '')?.[1]
  if (end < 0 || status === undefined) return null
  const headers = new Headers(
    lines.map((line): [string, string] => [
      line.slice(0, line.indexOf(':')),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  )
  const body = rest.subarray(end + 4)
  return {
    status: Number(status),
    headers,
    text: (headers.get('content-encoding') === 'gzip' ? gunzipSync(body) : body).toString(),
  }
}

const CRLF = '\r\n'
const request = (line: string, ...headers: string[]) =>
  [line, 'host: x', ...headers, '', ''].join(CRLF)
const JSON_BODY = '{"items":[{"upc":"012345678905","qty":1}]}'

/** No HTTP, or HTTP that is bent. `KEY` stands for a key that works. */
const BENT: [what: string, bytes: string, statuses: number[], ends?: boolean][] = [
  ['nothing, and the end', '', [], true],
  ['a TLS hello', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003', [400]],
  ['noise', '\u0000\u00ff\u00fe\r\n\r\n', [400]],
  ['HTTP/0.9', 'GET /v1/ping\r\n\r\n', [400, 401]],
  ['HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400, 404, 505]],
  ['HTTP/9.9', 'GET /v1/ping HTTP/9.9\r\nhost: x\r\n\r\n', [400, 505]],
  ['no Host', 'GET /v1/ping HTTP/1.1\r\nx-api-key: KEY\r\nconnection: close\r\n\r\n', [200, 400]],
  [
    'a Host with a slash',
    'GET /v1/ping HTTP/1.1\r\nhost: a/b?c#d\r\nx-api-key: KEY\r\nconnection: close\r\n\r\n',
    [200, 400],
  ],
  [
    'a Host with @',
    'GET /v1/openapi.json HTTP/1.1\r\nhost: user:pw@evil.example:99999\r\nconnection: close\r\n\r\n',
    [200, 400],
  ],
  [
    'an empty Host',
    'GET /v1/openapi.json HTTP/1.1\r\nhost:\r\nconnection: close\r\n\r\n',
    [200, 400],
  ],
  [
    'a Host of 8 KB',
    `GET /v1/openapi.json HTTP/1.1\r\nhost: ${'h'.repeat(8_000)}\r\nconnection: close\r\n\r\n`,
    [200, 400, 431],
  ],
  ['a bad method', request('G@T /v1/ping HTTP/1.1'), [400]],
  ['a space in the path', request('GET /v1/ping x HTTP/1.1'), [400]],
  [
    'a path without a slash',
    request('GET v1/ping HTTP/1.1', 'x-api-key: KEY', 'connection: close'),
    [200, 400, 404],
  ],
  [
    'an absolute path',
    request('GET http://evil.example/v1/ping HTTP/1.1', 'x-api-key: KEY', 'connection: close'),
    [200, 400, 404],
  ],
  [
    'an absolute path without a host',
    request('GET http:///v1/ping HTTP/1.1', 'x-api-key: KEY', 'connection: close'),
    [200, 400, 404],
  ],
  [
    'dots',
    request('GET /v1/../v1/./ping HTTP/1.1', 'x-api-key: KEY', 'connection: close'),
    [200, 400, 404],
  ],
  [
    'encoded dots',
    request('GET /v1/products/%2e%2e/ping HTTP/1.1', 'x-api-key: KEY', 'connection: close'),
    [200, 400, 404],
  ],
  [
    'backslashes',
    request('GET /v1\\ping HTTP/1.1', 'x-api-key: KEY', 'connection: close'),
    [200, 400, 404],
  ],
  [
    'a fragment',
    request('GET /v1/ping#x HTTP/1.1', 'x-api-key: KEY', 'connection: close'),
    [200, 400, 404],
  ],
  [
    'two slashes',
    request('GET //v1/ping HTTP/1.1', 'x-api-key: KEY', 'connection: close'),
    [400, 404],
  ],
  [
    'two slashes and a host',
    request('GET //evil.example/v1/ping HTTP/1.1', 'x-api-key: KEY', 'connection: close'),
    [400, 404],
  ],
  [
    'bytes above 127 in the path',
    request('GET /v1/products/\u00e9\u00ff HTTP/1.1', 'x-api-key: KEY', 'connection: close'),
    [400, 404],
  ],
  ['a NUL in the path', request('GET /v1/pi\u0000ng HTTP/1.1'), [400]],
  [
    'OPTIONS *',
    request('OPTIONS * HTTP/1.1', 'x-api-key: KEY', 'connection: close'),
    [400, 404, 405],
  ],
  ['CONNECT', request('CONNECT evil.example:443 HTTP/1.1', 'x-api-key: KEY'), [], true],
  [
    'TRACE',
    request('TRACE /v1/ping HTTP/1.1', 'x-api-key: KEY', 'connection: close'),
    [400, 404, 405],
  ],
  [
    'an upgrade',
    request(
      'GET /v1/ping HTTP/1.1',
      'x-api-key: KEY',
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-key: x',
    ),
    [200, 400, 426],
  ],
  [
    'an upgrade to h2c',
    request(
      'GET /v1/ping HTTP/1.1',
      'x-api-key: KEY',
      'connection: upgrade, http2-settings',
      'upgrade: h2c',
      'http2-settings: AAMAAABkAAQAAP__',
    ),
    [200, 400],
  ],
  ['a header without a colon', request('GET /v1/ping HTTP/1.1', 'junk'), [400]],
  [
    'a folded header',
    request('GET /v1/ping HTTP/1.1', 'x-a: 1\r\n  folded', 'x-api-key: KEY', 'connection: close'),
    [200, 400],
  ],
  ['a control character in a header', request('GET /v1/ping HTTP/1.1', 'x-a: \u0001\u0002'), [400]],
  [
    'bytes above 127 in a header',
    request(
      'GET /v1/ping HTTP/1.1',
      'x-request-id: \u00e9\u00ff',
      'x-api-key: KEY',
      'connection: close',
    ),
    [200, 400],
  ],
  [
    'a key of bytes above 127',
    request('GET /v1/ping HTTP/1.1', 'x-api-key: \u00e9\u00ff\u00ff', 'connection: close'),
    [403, 429],
  ],
  [
    'two keys',
    request('GET /v1/ping HTTP/1.1', 'x-api-key: KEY', 'x-api-key: KEY', 'connection: close'),
    [403, 429],
  ],
  [
    '100 headers',
    request(
      'GET /v1/ping HTTP/1.1',
      'x-api-key: KEY',
      'connection: close',
      ...Array.from({ length: 97 }, (_, i) => `x-${i}: 1`),
    ),
    [200],
  ],
  [
    '101 headers',
    request(
      'GET /v1/ping HTTP/1.1',
      'x-api-key: KEY',
      'connection: close',
      ...Array.from({ length: 98 }, (_, i) => `x-${i}: 1`),
    ),
    [431],
  ],
  [
    '3,000 headers',
    request(
      'GET /v1/ping HTTP/1.1',
      'x-api-key: KEY',
      'connection: close',
      ...Array.from({ length: 3_000 }, () => 'a:'),
    ),
    [431],
  ],
  [
    'two Hosts',
    request('GET /v1/ping HTTP/1.1', 'host: other.example', 'x-api-key: KEY', 'connection: close'),
    [400],
  ],
  [
    'two Hosts for a page',
    request('GET /v1/docs HTTP/1.1', 'host: shop.test', 'connection: close'),
    [400],
  ],
  [
    'a page with another method',
    request('POST /v1/openapi.json HTTP/1.1', 'connection: close', 'content-length: 0'),
    [405],
  ],
  [
    'headers of 20 KB',
    request('GET /v1/ping HTTP/1.1', `x-a: ${'y'.repeat(20_000)}`, 'connection: close'),
    [431],
  ],
  [
    'a path of 20 KB',
    request(`GET /v1/ping?${'y'.repeat(20_000)} HTTP/1.1`, 'connection: close'),
    [431],
  ],
  [
    'a body on GET',
    request('GET /v1/ping HTTP/1.1', 'x-api-key: KEY', 'connection: close', 'content-length: 5') +
      'hello',
    [200, 400],
  ],
  [
    'a chunked body on GET',
    request(
      'GET /v1/ping HTTP/1.1',
      'x-api-key: KEY',
      'connection: close',
      'transfer-encoding: chunked',
    ) + '5\r\nhello\r\n0\r\n\r\n',
    [200, 400],
  ],
  [
    'a body on DELETE without a length',
    request('DELETE /v1/fraud/reports HTTP/1.1', 'x-api-key: KEY', 'connection: close'),
    [400],
  ],
  [
    'two lengths',
    request(
      'POST /v1/orders/quote HTTP/1.1',
      'x-api-key: KEY',
      'content-length: 5',
      'content-length: 6',
    ) + 'hello',
    [400],
  ],
  [
    'a length and chunks',
    request(
      'POST /v1/orders/quote HTTP/1.1',
      'x-api-key: KEY',
      'content-length: 5',
      'transfer-encoding: chunked',
    ) + '0\r\n\r\n',
    [400],
  ],
  [
    'a negative length',
    request('POST /v1/orders/quote HTTP/1.1', 'x-api-key: KEY', 'content-length: -1'),
    [400],
  ],
  [
    'a length in words',
    request('POST /v1/orders/quote HTTP/1.1', 'x-api-key: KEY', 'content-length: many'),
    [400],
  ],
  [
    'a length of 10^30',
    request(
      'POST /v1/orders/quote HTTP/1.1',
      'x-api-key: KEY',
      'content-length: 1000000000000000000000000000000',
    ),
    [400, 413],
  ],
  [
    'a length of 2 GB',
    request(
      'POST /v1/orders/quote HTTP/1.1',
      'x-api-key: KEY',
      'content-length: 2147483648',
      'connection: close',
    ),
    [413],
  ],
  [
    'a length that is too long, and the end',
    request('POST /v1/orders/quote HTTP/1.1', 'x-api-key: KEY', 'content-length: 500') + JSON_BODY,
    [],
    true,
  ],
  [
    'a length that is too short',
    request(
      'POST /v1/orders/quote HTTP/1.1',
      'x-api-key: KEY',
      'content-length: 4',
      'connection: close',
    ) + JSON_BODY,
    [400],
  ],
  [
    'a chunk without a size',
    request('POST /v1/orders/quote HTTP/1.1', 'x-api-key: KEY', 'transfer-encoding: chunked') +
      'zz\r\nhello\r\n',
    [400],
  ],
  [
    'a chunk that is cut off',
    request('POST /v1/orders/quote HTTP/1.1', 'x-api-key: KEY', 'transfer-encoding: chunked') +
      'ff\r\nhello',
    [],
    true,
  ],
  [
    'a chunk extension and a trailer',
    request(
      'POST /v1/orders/quote HTTP/1.1',
      'x-api-key: KEY',
      'transfer-encoding: chunked',
      'connection: close',
    ) + `${JSON_BODY.length.toString(16)};a=b\r\n${JSON_BODY}\r\n0\r\nx-t: 1\r\n\r\n`,
    [200],
  ],
  [
    'an unknown transfer encoding',
    request(
      'POST /v1/orders/quote HTTP/1.1',
      'x-api-key: KEY',
      'transfer-encoding: gzip',
      'connection: close',
    ),
    [400, 501],
  ],
  [
    'an expectation',
    request(
      'POST /v1/orders/quote HTTP/1.1',
      'x-api-key: KEY',
      'expect: 100-continue',
      'connection: close',
      `content-length: ${JSON_BODY.length}`,
    ) + JSON_BODY,
    [200],
  ],
  [
    'an unknown expectation',
    request(
      'POST /v1/orders/quote HTTP/1.1',
      'x-api-key: KEY',
      'expect: 200-ok',
      'connection: close',
      `content-length: ${JSON_BODY.length}`,
    ) + JSON_BODY,
    [200, 417],
  ],
  [
    'two requests in one',
    request('GET /v1/ping HTTP/1.1', 'x-api-key: KEY') +
      request('GET /v1/usage HTTP/1.1', 'x-api-key: KEY', 'connection: close'),
    [200],
  ],
  [
    'a smuggled one',
    request(
      'POST /v1/orders/quote HTTP/1.1',
      'x-api-key: KEY',
      'content-length: 44',
      'transfer-encoding: identity',
      'connection: close',
    ) + '0\r\n\r\nGET /v1/account HTTP/1.1\r\nhost: x\r\n\r\n',
    [400, 501],
  ],
  ['HTTP/1.0', 'GET /v1/ping HTTP/1.0\r\nx-api-key: KEY\r\n\r\n', [200]],
  [
    'an odd object',
    request('GET /objects/../../etc/passwd HTTP/1.1', 'connection: close'),
    [400, 401, 403, 404],
  ],
  [
    'an object that nobody signed',
    request(
      'GET /objects/documents/x?expires=9999999999&signature=x HTTP/1.1',
      'connection: close',
    ),
    [403, 404],
  ],
]

/**
 * One of them as it is, or with a byte changed, added or left out, in which case any answer will
 * do.
 */
export function rawRequests(key: string): fc.Arbitrary<RawRequest> {
  return fc
    .record({
      at: fc.nat(BENT.length - 1),
      change: fc.constantFrom(null, null, 'set', 'add', 'drop'),
      where: fc.nat(1_000),
      byte: fc.nat(255),
    })
    .map(({ at, change, where, byte }) => {
      const [what, text, statuses, ends = false] = BENT[at]!
      const bytes = Buffer.from(text.replaceAll('KEY', key), 'latin1')
      if (change === null || bytes.length === 0) return { what, bytes, statuses, ends }
      const place = where % Math.min(bytes.length, 200)
      const middle =
        change === 'drop'
          ? Buffer.alloc(0)
          : change === 'set'
            ? Buffer.from([byte])
            : Buffer.from([bytes[place]!, byte])
      return {
        what: `${what}, ${change} ${byte} at ${place}`,
        bytes: Buffer.concat([bytes.subarray(0, place), middle, bytes.subarray(place + 1)]),
        statuses: [],
        ends: true,
      }
    })
}
