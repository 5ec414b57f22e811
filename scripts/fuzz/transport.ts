/**
 * What can be wrong with a request before anybody looks at its parameters: keys, methods, paths,
 * bodies as bytes, headers.
 */
import * as fc from 'fast-check'
import { gzipSync } from 'node:zlib'
import type { ApiDocument, Operation } from './document.js'
import { planOf, write } from './plan.js'
import type { Call, Expectation, Plan } from './plan.js'
import type { Caller } from './shop.js'

const MB = 1_048_576
const ANY: Expectation = { kind: 'any' }
const VALID: Expectation = { kind: 'valid' }
const answer = (...answers: string[]): Expectation => ({ kind: 'answer', answers })

type Change = (plan: Plan, operation: Operation) => Partial<Plan> | null

const CALLERS: [Caller, string][] = [
  ['disabled', '403 key_disabled'],
  ['cancelled', '403 key_cancelled'],
  ['no addresses', '403 ip_whitelist_required'],
  ['elsewhere', '403 ip_not_allowed'],
]

/** Of the caller. */
const ofKeys: Record<string, Change> = {
  'no key': () => ({ caller: null, expect: answer('401 missing_api_key') }),
  'an empty key': () => ({ key: '', expect: answer('401 missing_api_key') }),
  'a wrong key': () => ({
    key: 'x'.repeat(40),
    expect: answer('403 invalid_api_key', '429 rate_limited'),
  }),
  'a long key': () => ({
    key: 'k'.repeat(10_000),
    expect: answer('403 invalid_api_key', '429 rate_limited'),
  }),
  'a strange key': () => ({
    key: "' OR 1=1 --",
    expect: answer('403 invalid_api_key', '429 rate_limited'),
  }),
  'another address': () => ({ address: '192.0.2.1', expect: answer('403 ip_not_allowed') }),
  'no address': () => ({ address: null, expect: answer('403 ip_not_allowed') }),
  'an address that is none': () => ({
    address: 'fe80::1%eth0',
    expect: answer('403 ip_not_allowed'),
  }),
  'a forwarded address': () => ({
    headers: { 'x-forwarded-for': '127.0.0.1, 203.0.113.7' },
    address: '192.0.2.1',
    expect: answer('403 ip_not_allowed'),
  }),
  ...Object.fromEntries(
    CALLERS.map(([caller, refusal]) => [
      `a key: ${caller}`,
      () => ({ caller, expect: answer(refusal) }),
    ]),
  ),
}

/** Of path and method. */
const ofPaths: Record<string, Change> = {
  'a slash at the end': ({ target }) => ({
    target: target.replace(/(\?|$)/, '/$1'),
    operation: null,
    expect: answer('404 not_found'),
  }),
  'upper case': ({ target }) => ({
    target: target.replace('/v1/', '/V1/'),
    operation: null,
    expect: answer('404 not_found'),
  }),
  'a double slash': ({ target }) => ({
    target: target.replace('/v1/', '/v1//'),
    operation: null,
    expect: answer('404 not_found', '405 method_not_allowed'),
  }),
  'a segment more': ({ target }) => ({
    target: target.replace(/(\?|$)/, '/documents/more/x$1'),
    operation: null,
    expect: answer('404 not_found'),
  }),
  'bad percent-encoding in the path': ({ target }) => ({
    target: target.replace(/(\?|$)/, '%zz$1'),
    operation: null,
    expect: ANY,
  }),
  'an unknown path': () => ({
    target: '/v1/%00/\u202e'.replace('\u202e', '%E2%80%AE'),
    operation: null,
    expect: answer('404 not_found'),
  }),
  'bad percent-encoding in the query': ({ target }) => ({
    target: `${target}${target.includes('?') ? '&' : '?'}zz=%zz&%=%&q2=%c0%80`,
    expect: VALID,
  }),
  'unknown parameters': ({ target }) => ({
    target: `${target}${target.includes('?') ? '&' : '?'}__proto__=1&constructor=x&unknown[]=3&${'a=1&'.repeat(300)}`,
    expect: VALID,
  }),
  'a long query': ({ target }) => ({
    target: `${target}${target.includes('?') ? '&' : '?'}zz=${'y'.repeat(8_000)}`,
    expect: VALID,
  }),
  HEAD: ({ method }) => (method === 'GET' ? { method: 'HEAD', expect: ANY } : null),
}
for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'GET', 'QUERY']) {
  ofPaths[`the method ${method}`] = (plan) => ({
    method,
    body: ['GET', 'HEAD'].includes(method) ? null : plan.body,
    operation: null,
    expect: { kind: 'answer', answers: ['405 method_not_allowed'], header: 'allow' },
  })
}

/** Of bodies. */
const ofBodies: Record<string, Change> = {
  'no body': (_, { bodyIsRequired }) => ({
    body: null,
    expect: bodyIsRequired ? answer('400 invalid_json') : VALID,
  }),
  'blanks for a body': (_, { bodyIsRequired }) => ({
    body: ' \n\t ',
    expect: bodyIsRequired ? answer('400 invalid_json') : VALID,
  }),
  'a BOM': ({ body }) => ({ body: `\ufeff${String(body)}` }),
  'a body cut off': ({ body }) => ({
    body: String(body).slice(0, -1),
    expect: answer('400 invalid_json'),
  }),
  'a trailing comma': ({ body }) => ({
    body: String(body).replace(/\}$/, ',}'),
    expect: answer('400 invalid_json'),
  }),
  'two documents': ({ body }) => ({
    body: `${String(body)}{}`,
    expect: answer('400 invalid_json'),
  }),
  NaN: () => ({ body: '{"a":NaN}', expect: answer('400 invalid_json') }),
  'single quotes': () => ({ body: "{'a':1}", expect: answer('400 invalid_json') }),
  'not UTF-8': ({ body }) => ({
    body: Buffer.concat([Buffer.from(String(body).slice(0, -1)), Buffer.from([0xff, 0xfe, 0x7d])]),
    expect: answer('400 invalid_json'),
  }),
  'half a character at the end': ({ body }) => ({
    body: Buffer.concat([Buffer.from(String(body)), Buffer.from([0xc3])]),
    expect: answer('400 invalid_json'),
  }),
  'UTF-16': ({ body }) => ({
    body: Buffer.from(String(body), 'utf16le'),
    expect: answer('400 invalid_json'),
  }),
  '65 levels': () => ({
    body: `{"a":${'['.repeat(64)}${']'.repeat(64)}}`,
    expect: answer('400 invalid_json'),
  }),
  'a hundred thousand levels': () => ({
    body: '['.repeat(100_000),
    expect: answer('400 invalid_json'),
  }),
  '25,001 members': () => ({
    body: `{${Array.from({ length: 25_001 }, (_, i) => `"m${i}":1`).join(',')}}`,
    expect: answer('400 invalid_json'),
  }),
  'a body that is a list': () => ({
    body: '[]',
    expect: { kind: 'fault', path: 'body', loosely: true },
  }),
  'a body that is a text': () => ({
    body: '"x"',
    expect: { kind: 'fault', path: 'body', loosely: true },
  }),
  'a body that is null': () => ({
    body: 'null',
    expect: { kind: 'fault', path: 'body', loosely: true },
  }),
  'a body that is a number': () => ({
    body: '1e400',
    expect: { kind: 'fault', path: 'body', loosely: true },
  }),
  'a member of the prototype': ({ body }) => ({
    body: String(body).replace(/^\{/, '{"__proto__":{"polluted":1},').replace(/,\}$/, '}'),
    expect: { kind: 'fault', path: '__proto__', loosely: true },
  }),
  'a megabyte of blanks': ({ body }) => ({
    body: String(body).padEnd(MB - Buffer.byteLength(String(body)) + String(body).length),
    expect: VALID,
  }),
  'a megabyte and a byte': ({ body }) => ({
    body: String(body).padEnd(MB + 1 - Buffer.byteLength(String(body)) + String(body).length),
    expect: answer('413 payload_too_large'),
  }),
  'a megabyte and a byte in chunks': ({ body }) => ({
    body: String(body).padEnd(MB + 1),
    chunked: true,
    expect: answer('413 payload_too_large'),
  }),
  chunks: () => ({ chunked: true, expect: VALID }),
  gzip: ({ body, headers }) => ({
    body: gzipSync(String(body)),
    headers: { ...headers, 'content-encoding': 'gzip' },
    expect: answer('400 invalid_json'),
  }),
  'an encoding that is none': ({ headers }) => ({
    headers: { ...headers, 'content-encoding': 'identity' },
    expect: VALID,
  }),
  'an unknown encoding': ({ headers }) => ({
    headers: { ...headers, 'content-encoding': 'x'.repeat(500) },
    expect: answer('400 invalid_json'),
  }),
}

/** Of headers, which change nothing. */
const HEADERS: Record<string, string>[] = [
  { 'content-type': 'text/xml; charset=utf-16' },
  { 'content-type': '' },
  { accept: 'text/html;q=0.9' },
  { 'x-request-id': 'a b' },
  { 'x-request-id': 'x'.repeat(5_000) },
  { 'x-request-id': 'shop-1:a' },
  { 'accept-encoding': 'gzip' },
  { 'accept-encoding': 'gzip;q=0, *;q=0' },
  { 'accept-encoding': ';;;q=,=,' },
  { 'if-none-match': '*' },
  { range: 'bytes=0-1' },
  { expect: '100-continue' },
  { cookie: 'a=b; '.repeat(500) },
  { 'x-http-method-override': 'DELETE' },
  { 'x-forwarded-for': '203.0.113.9, , junk' },
  { 'x-forwarded-host': 'evil.example' },
  { forwarded: 'for=1.2.3.4' },
  { authorization: 'Bearer x' },
  { origin: 'https://evil.example' },
  { 'accept-language': 'é'.repeat(100) },
  { traceparent: '00-zz' },
  { 'x-api-version': '2' },
]
const ofHeaders: Record<string, Change> = Object.fromEntries(
  HEADERS.map((headers) => [
    `header ${write(headers).slice(0, 60)}`,
    (plan) => ({ headers: { ...plan.headers, ...headers }, expect: VALID }),
  ]),
)

/**
 * Requests with one such thing wrong. A valid order is sent for a few of them only: placing one
 * costs a hundred times the rest.
 */
export function makeTransport(
  api: ApiDocument,
  calls: (operation: Operation) => fc.Arbitrary<Call>,
): fc.Arbitrary<Plan> {
  const operations = api.operations
  const withBody = operations.filter(({ body }) => body !== null)
  const from = (changes: Record<string, Change>, of: Operation[]) => {
    const list = Object.entries(changes)
    return fc
      .tuple(
        fc.constantFrom(...of).chain((operation) => calls(operation)),
        fc.constantFrom(...list),
      )
      .map(([call, [what, change]]) => changed(api, call, what, change))
  }
  const secured = operations.filter(({ needsKey }) => needsKey)
  return fc.oneof(
    { weight: 4, arbitrary: from(ofKeys, secured) },
    {
      weight: 6,
      arbitrary: from(
        ofPaths,
        operations.filter(({ id }) => id !== 'ordersPlace'),
      ),
    },
    {
      weight: 8,
      arbitrary: from(
        ofBodies,
        withBody.filter(({ id }) => id !== 'ordersPlace' && id !== 'configPut'),
      ),
    },
    {
      weight: 6,
      arbitrary: from(
        ofHeaders,
        operations.filter(({ id }) => id !== 'ordersPlace'),
      ),
    },
  )
}

function changed(api: ApiDocument, call: Call, what: string, change: Change): Plan {
  const { operation } = call
  const plan = planOf(
    { ...call, ...(operation.body && call.body === undefined && { body: {} }) },
    { what, sort: what, caller: callerOf(operation), expect: ANY },
  )
  const made = change(plan, operation)
  if (made === null) return plan
  const { expect } = made
  // A method that the path takes is another operation, or none that is wrong.
  if (made.method === operation.method) return { ...plan, expect: VALID }
  if (
    expect?.kind === 'answer' &&
    expect.header === 'allow' &&
    (api.methodsOf(operation.path).includes(made.method!) ||
      isIdOfOther(api, operation, made.method!))
  )
    return { ...plan, ...made, expect: ANY }
  return { ...plan, ...made }
}

/** `GET /v1/orders/quote` asks for the order that somebody has called so. */
function isIdOfOther({ operations }: ApiDocument, { path }: Operation, method: string): boolean {
  return operations.some(
    (other) =>
      other.method === method &&
      other.path !== path &&
      new RegExp(`^${other.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  )
}

/**
 * Who calls an operation when nothing is said of it: documents are another shop's than orders, so
 * that neither undoes the other.
 */
export function callerOf({ id }: Operation): Caller {
  if (id.startsWith('config')) return 'config'
  return id === 'productsCatalog' ? 'export' : 'main'
}
