/**
 * The document's examples, sent to the demo's shop: each is answered as it says, and each refusal
 * that it names is provoked.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import type { Endpoint } from '../../lib/core/endpoint/endpoint.js'
import { MINUTE } from '../../lib/core/clock.js'
import type { ErrorCode } from '../../lib/core/errors.js'
import { allEndpoints } from '../../lib/app/endpoints.js'
import { codesOf } from '../../server/openapi/document.js'
import { createTestApp } from '../../server/testing/index.js'
import type { Answer } from '../../server/testing/index.js'
import { demoShop } from '../simulator/demo-shop.js'
import type { DemoShop } from '../simulator/demo-shop.js'

type Parts = {
  body?: unknown
  query: Record<string, unknown>
  params: Record<string, unknown>
  headers: Record<string, unknown>
}

/** What was provoked, as `orders.place duplicate_order`. */
const provoked = new Set<string>()
const note = (endpoint: Endpoint, { body }: { body: Answer }) => {
  if (body.error) provoked.add(`${endpoint.id} ${body.error.code}`)
}
const byId = (id: string) => allEndpoints.find((endpoint) => endpoint.id === id)!

describe('the examples of the document', () => {
  let t: DemoShop
  let document: Answer

  before(async () => {
    t = await demoShop()
    await t.app.operator.rules.accept()
    document = (await t.ask('GET', '/v1/openapi.json', { key: null })).body
  })
  after(() => t[Symbol.asyncDispose]())

  const operationOf = ({ path, method }: Endpoint): Answer =>
    document.paths[path][method.toLowerCase()]
  /** The example of each parameter and of the body, as the document has them. */
  const documented = (endpoint: Endpoint): Parts => {
    const { parameters = [], requestBody } = operationOf(endpoint)
    const examples = (place: string) =>
      Object.fromEntries(
        parameters
          .filter((parameter: Answer) => parameter.in === place)
          .map(({ name, example }: Answer) => [name, example]),
      )
    return {
      query: examples('query'),
      params: examples('path'),
      headers: examples('header'),
      body: requestBody?.content['application/json'].example,
    }
  }
  /** A request that an endpoint refuses: its body, or its parameters. */
  const refusedParts = (endpoint: Endpoint, request: unknown): Parts => {
    if (endpoint.hasBody) return { query: {}, params: {}, headers: {}, body: request }
    const given = Object.entries(request as object)
    return {
      params: Object.fromEntries(given.filter(([name]) => name in endpoint.params.shape)),
      query: Object.fromEntries(given.filter(([name]) => name in endpoint.query.shape)),
      headers: {},
    }
  }
  /** Those of the key, in PO numbers that are made. */
  const letters = () => `${t.key.slice(0, 2)}${t.key.slice(-2)}`.toUpperCase()
  const send = async (endpoint: Endpoint, { body, query, params, headers }: Parts) => {
    const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String(params[name])),
    )
    const search = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [
        name,
        String(value).replace('-AB9Z-', `-${letters()}-`),
      ]),
    )
    const answer = await t.ask(endpoint.method, `${path}?${search.toString()}`, {
      body,
      headers: headers as Record<string, string>,
    })
    note(endpoint, answer)
    return answer
  }
  /**
   * Without what is drawn: the key's letters in a PO number, names of files, versions and
   * signatures.
   */
  const plain = (value: unknown): Answer => {
    return JSON.parse(
      JSON.stringify(value)
        .replaceAll(new RegExp(`(?<=W-\\d{4}-)(${letters()}|AB9Z)(?=-)`, 'g'), 'KEYS')
        .replaceAll(/[0-9a-f]{32}(?=[./])/g, 'FILE')
        .replaceAll(/(signature=)[\w-]{43}/g, '$1SIGNATURE')
        .replaceAll(/(?<=catalog-|attributes-|"export_version":")[\w-]{24}/g, 'VERSION'),
    ) as Answer
  }
  const answers = async (
    id: string,
    check: (actual: Answer, expected: Answer) => void = assert.deepEqual,
  ) => {
    const endpoint = byId(id)
    const { status, body } = await send(endpoint, documented(endpoint))
    assert.equal(status, 200, JSON.stringify(body))
    check(
      plain(body),
      plain(operationOf(endpoint).responses[200].content['application/json'].example),
    )
  }
  const refuses = async (id: string, ...codes: ErrorCode[]) => {
    const endpoint = byId(id)
    for (const code of codes) {
      const { request } = endpoint.example.refused![code]!
      const { status, body } = await send(endpoint, refusedParts(endpoint, request))
      assert.deepEqual(
        plain(body),
        plain(
          operationOf(endpoint).responses[status].content['application/json'].examples[code].value,
        ),
        `${id} ${code}`,
      )
    }
  }
  /** Each list of the example is part of the answer's. */
  const isExcerpt = (actual: Answer, expected: Answer): void => {
    for (const [name, value] of Object.entries(expected)) {
      if (Array.isArray(value))
        assert.deepEqual(
          value.filter((entry) => !actual[name].includes(entry)),
          [],
          name,
        )
      else if (typeof value === 'object' && value !== null) isExcerpt(actual[name], value)
      else assert.deepEqual(actual[name], value, name)
    }
  }

  test('of the account and the registry are answered as they say', async () => {
    for (const id of ['ping', 'account', 'usage']) await answers(id)
    await answers('distributors', isExcerpt)
  })

  test('of the catalog are answered and refused as they say', async () => {
    for (const id of ['products.search', 'products.get', 'products.catalog']) await answers(id)
    await answers('products.facets', isExcerpt)
    await refuses('products.search', 'invalid_parameter', 'not_found')
    await refuses('products.facets', 'invalid_parameter')
    await refuses('products.get', 'invalid_parameter', 'invalid_upc', 'not_found')
    await refuses('products.catalog', 'invalid_parameter', 'catalog_polled_too_early')
  })

  test('of the metrics are answered in their shape before anything was built, and refused as they say', async () => {
    await answers('analytics', (actual, expected) => {
      assert.deepEqual(Object.keys(actual.data), Object.keys(expected.data))
      assert.deepEqual(
        [actual.data.metric, actual.data.window_days],
        [expected.data.metric, expected.data.window_days],
      )
    })
    await refuses('analytics', 'invalid_parameter', 'not_found')
  })

  test('of dealers, restrictions and quotes are answered and refused as they say', async () => {
    for (const id of ['ffls.near', 'ffls.get', 'restrictions.check', 'orders.quote']) {
      await answers(id)
      await refuses(id, 'invalid_parameter')
    }
    await refuses('ffls.get', 'not_found')
  })

  test('of orders are answered and refused as they say, once the order has shipped', async () => {
    await answers('orders.place')
    await refuses(
      'orders.place',
      'invalid_parameter',
      'duplicate_order',
      'fulfillment_not_configured',
      'restricted_destination',
      'order_rejected',
      'distributor_unavailable',
    )
    for (let round = 0; round < 9; round++) {
      t.clock.ms += MINUTE / 2
      await t.app.monitors.pass()
    }
    await answers('orders.list')
    await answers('orders.get')
    // All filters at once leave the one order; the dates alone leave the failed placements too.
    await answers('fulfillment.history', (actual, expected) =>
      assert.deepEqual(actual.data.orders, expected.data.orders),
    )
    const history = byId('fulfillment.history')
    const { query } = documented(history)
    const wide = await send(history, {
      query: { from: query['from'], to: query['to'] },
      params: {},
      headers: {},
    })
    const { data } = operationOf(history).responses[200].content['application/json'].example
    assert.deepEqual(
      [plain(wide.body).data.orders, wide.body.data.errors.at(-1)],
      [plain(data.orders), data.errors[0]],
    )
    await answers('ffls.document')
    await refuses('orders.list', 'invalid_parameter')
    await refuses('orders.get', 'not_found')
    await refuses('fulfillment.history', 'invalid_parameter')
    await refuses('ffls.document', 'invalid_parameter', 'ffl_not_associated_with_order')
  })

  test('of fraud are answered and refused as they say', async () => {
    for (const id of ['fraud.report', 'fraud.check', 'fraud.remove']) {
      await answers(id)
      await refuses(id, 'invalid_parameter')
    }
    await refuses('fraud.remove', 'report_not_found')
  })

  test('of the configuration are answered and refused as they say', async () => {
    const put = byId('config.put')
    await refuses('config.put', 'invalid_parameter', 'schema_validation_failed')
    const parts = documented(put)
    const lossy = await send(put, { ...parts, query: { validate: true } })
    assert.deepEqual(
      lossy.body,
      operationOf(put).responses[409].content['application/json'].examples.validation_failed.value,
    )
    const stale = await send(put, { ...parts, headers: { 'If-Match': '"0-another"' } })
    assert.deepEqual(stale.body, document.components.examples.precondition_failed.value)
    for (const id of ['config.put', 'config.get', 'config.validate']) await answers(id)
    await answers('config.schema', isExcerpt)
    await refuses('config.validate', 'invalid_parameter')
  })

  test('shared by all endpoints are what any of them answers', async () => {
    const ping = byId('ping')
    const { value } = document.components.examples.method_not_allowed
    assert.deepEqual((await t.ask('POST', '/v1/ping')).body, value)
    assert.deepEqual(
      (await t.ask('POST', '/v1/orders/quote', { body: '{"items": {]}' })).body,
      document.components.examples.invalid_json.value,
    )
    const refusal = async (code: ErrorCode, options: Parameters<DemoShop['ask']>[2]) => {
      const answer = await t.ask(ping.method, ping.path, options)
      assert.deepEqual(answer.body, document.components.examples[code].value)
    }
    await refusal('ip_not_allowed', { address: '203.0.113.9' })
    const { key } = await t.app.operator.keys.create({
      subscriber: t.subscriber,
      name: 'small',
      tier: 'standard',
      ips: ['127.0.0.1'],
    })
    for (let call = 0; call < 60; call++) await t.ask('GET', '/v1/ping', { key })
    await refusal('rate_limited', { key })
  })
})

describe('refusals', () => {
  const sendAny = (endpoint: Endpoint, body = '{}'): [path: string, init: RequestInit] => [
    endpoint.path
      .replace('{metric}', 'trending')
      .replace('{upc}', '410000079195')
      .replace('{license_number}', '9-86-013-01-9J-37570')
      .replace('{document_type}', 'ffl')
      .replace('{order_id}', 'W-1'),
    { method: endpoint.method, ...(endpoint.hasBody && { body }) },
  ]

  test('of the gate come from every endpoint', async () => {
    await using t = await createTestApp()
    const { keys } = t.app.operator
    const make = async (ips: string[], tier: 'standard' | 'enterprise' = 'enterprise') =>
      keys.create({ subscriber: t.subscriber, name: 'another', tier, ips })
    const [bare, disabled, cancelled, used] = [
      await make([]),
      await make(['127.0.0.1']),
      await make(['127.0.0.1']),
      await make(['127.0.0.1'], 'standard'),
    ]
    await keys.setStatus(disabled.id, 'disabled')
    await keys.setStatus(cancelled.id, 'cancelled')
    for (let call = 0; call < 60; call++) await t.request('/v1/ping', { key: used.key })
    const headers = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`x-${i}`, '1']))
    const cases: [
      ErrorCode,
      { key?: string | null; address?: string; headers?: Record<string, string> },
    ][] = [
      ['too_many_headers', { headers }],
      ['missing_api_key', { key: null }],
      ['key_disabled', { key: disabled.key }],
      ['key_cancelled', { key: cancelled.key }],
      ['ip_whitelist_required', { key: bare.key }],
      ['ip_not_allowed', { address: '203.0.113.9' }],
      ['rate_limited', { key: used.key }],
    ]
    for (const [i, endpoint] of allEndpoints.entries()) {
      const [path, init] = sendAny(endpoint)
      // Only so many wrong keys are looked at from one address.
      for (const [code, options] of [
        ...cases,
        ['invalid_api_key', { key: 'x'.repeat(40), address: `203.0.113.${i}` }] as const,
      ]) {
        const answer = await t.json(path, { ...init, ...options })
        assert.equal(answer.body.error.code, code, endpoint.id)
        note(endpoint, answer)
      }
    }
  })

  test('of bodies that cannot be read come from every endpoint that takes one', async () => {
    await using t = await createTestApp()
    for (const endpoint of allEndpoints.filter(({ hasBody }) => hasBody)) {
      for (const body of ['{', `"${' '.repeat(1_048_576)}"`]) {
        const [path, init] = sendAny(endpoint, body)
        note(endpoint, await t.json(path, init))
      }
    }
  })

  test('of a catalog that is not there come from every endpoint that reads it', async () => {
    await using t = await createTestApp()
    const order = JSON.stringify({
      order_id: 'W-1',
      customer: {
        name: 'Pat Doe',
        email: 'pat@customer.example',
        phone: '602-555-0100',
        address1: '12 Main St',
        city: 'Phoenix',
        state: 'AZ',
        zip: '85003',
      },
      items: [{ distid: 'RSR', distsku: 'A1', upc: '1', qty: 1 }],
    })
    const readers = allEndpoints.filter(
      ({ errors }) =>
        errors.includes('no_active_distributors') || errors.includes('feed_unavailable'),
    )
    const askAll = async () => {
      for (const endpoint of readers) {
        const [path, init] = sendAny(
          endpoint,
          endpoint.id === 'orders.place' ? order : '{"items":[{"upc":"1","qty":1}]}',
        )
        note(endpoint, await t.json(path, init))
      }
    }
    await askAll()
    const entry = {
      active: true,
      distid: 'RSR',
      drop_ship_only_items: false,
      shipping: { flat_rate: { cost: 10, shipping_class: 'flat' } },
      product_restrictions: { min_quantity_to_list: 1 },
    }
    await t.save(t.subscriber, {
      distributors: { 'RSR Group': entry },
      targets: {},
      notification_email: 'owner@shop.example',
      pricing: {},
      product_restrictions: {},
    })
    await askAll()
    await t.configure({ distributors: { 'RSR Group': { distid: 'RSR' } } })
    await askAll()
  })

  test('of what nobody foresaw come from every endpoint, with the request id and nothing else', async () => {
    await using t = await createTestApp()
    t.expectErrors(/a request failed: the clock has failed/)
    // The first thing that every call asks is the time.
    Object.defineProperty(t.clock, 'ms', {
      configurable: true,
      get() {
        throw new Error('the clock has failed')
      },
    })
    for (const endpoint of allEndpoints) {
      const [path, init] = sendAny(endpoint)
      const answer = await t.json(path, init)
      assert.deepEqual(
        [answer.status, answer.body.error.details],
        [500, { request_id: answer.headers.get('x-request-id') }],
      )
      note(endpoint, answer)
    }
    Object.defineProperty(t.clock, 'ms', { value: Date.UTC(2026, 10, 21, 13) })
  })

  test('of a disk that has become read-only come from every endpoint that writes', async () => {
    await using t = await createTestApp()
    t.expectErrors(/a request failed: attempt to write a readonly database/)
    await t.stock([{ distid: 'RSR', stockid: 'A1', upc: '012345678905' }])
    await t.configure({ distributors: { 'RSR Group': { distid: 'RSR' } } })
    const signals = {
      shipping_address_1: '12 Main St',
      shipping_postcode: '85003',
      email: 'pat@customer.example',
    }
    await t.shop.fraud.report(signals)
    const { configuration } = await t.shop.config.get({})
    const bodies: Record<string, unknown> = {
      'config.put': { configuration },
      'config.validate': {},
      'fraud.report': signals,
      'fraud.remove': { email: signals.email },
    }
    // SQLite says then what it says of such a disk: SQLITE_READONLY.
    await sql`PRAGMA query_only = 1`.execute(t.app.ctx.db)
    for (const [id, body] of Object.entries(bodies)) {
      const [path, init] = sendAny(byId(id), JSON.stringify(body))
      const answer = await t.json(path, init)
      assert.deepEqual(
        [id, answer.status, answer.body.error?.code],
        [id, 503, 'service_unavailable'],
      )
      note(byId(id), answer)
    }
    await sql`PRAGMA query_only = 0`.execute(t.app.ctx.db)
  })

  test('are all provoked, here or where the list says', () => {
    const all = allEndpoints.flatMap((endpoint) =>
      codesOf(endpoint).map((code) => `${endpoint.id} ${code}`),
    )
    const left = all.filter((pair) => !provoked.has(pair))
    assert.deepEqual(left.sort(), [...Object.keys(ELSEWHERE), ...NOT_HERE].sort())
    for (const [pair, suite] of Object.entries(ELSEWHERE)) {
      if (existsSync('test'))
        assert.match(
          readFileSync(`test/${suite}.test.ts`, 'utf8'),
          new RegExp(pair.split(' ')[1]!),
          pair,
        )
    }
  })
})

/** Refusals that another suite provokes, where the shop for it stands. */
const ELSEWHERE: Record<string, string> = {
  'orders.place order_volume_limit': 'orders/place/rules',
  'orders.place service_unavailable': 'orders/engine/faults',
  'ffls.document document_not_on_file': 'ffls/ffls',
  'ffls.document document_file_unavailable': 'ffls/ffls',
  'fraud.check service_unavailable': 'fraud/keys',
}

/**
 * `service_unavailable` of the others: they only read, from memory or by a handle of their own, so
 * that it takes a database which another program holds for longer than SQLite waits. The line that
 * makes it of such an error is the same for all.
 */
const WRITERS = ['config.put', 'config.validate', 'fraud.report', 'fraud.remove']
const NOT_HERE = allEndpoints
  .filter(({ id }) => !WRITERS.includes(id))
  .map(({ id }) => `${id} service_unavailable`)
  .filter((pair) => !(pair in ELSEWHERE))
