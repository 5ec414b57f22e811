/** `quartermaster/client` against servers that answer, and against what answers as none does. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { MINUTE } from '../../lib/core/clock.js'
import { connect, etagOf } from '../../lib/connect.js'
import type { RemoteError, Shop } from '../../lib/connect.js'
import type { App } from '../../lib/app/open.js'
import { ROUTES } from '../../lib/core/endpoint/routes.js'
import { createServer } from '../../server/index.js'
import { createTestApp } from '../../server/testing/index.js'
import { KEY, ORDER, PING, failureOf, quick, served } from './rig.js'
import { answer, done, rawServer } from './raw-server.js'
import type { Reply } from './raw-server.js'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

describe('the functions of a client', () => {
  test("have the types of the library's", () => {
    const same: Same<ReturnType<typeof connect>, ReturnType<App['as']>> = true
    const typed = async (shop: ReturnType<typeof connect>) => {
      const total: number = (await shop.products.search({ q: 'bipod', page: 2 })).total
      const status: 'placed' | 'partial' | 'pending' = (await shop.orders.place(ORDER)).status
      // @ts-expect-error a quantity is a number
      await shop.orders.quote({ items: [{ upc: '1', qty: '2' }] })
      // @ts-expect-error an order needs its order_id
      await shop.orders.place({ items: [], customer: ORDER.customer })
      // @ts-expect-error there is no such function
      await shop.orders.cancel({})
      return [total, status]
    }
    assert.ok(same && typed)
  })

  test('are the routes, one each, and show nothing of the key', () => {
    const shop = connect('https://shop.example', KEY)
    const names = Object.entries(shop).flatMap(([name, member]) =>
      typeof member === 'function' ? [name] : Object.keys(member).map((tail) => `${name}.${tail}`),
    )
    assert.deepEqual(names.toSorted(), Object.keys(ROUTES).toSorted())
    assert.ok(
      !inspect(shop, { depth: 9, showHidden: true }).includes('CANARY') &&
        !JSON.stringify(shop).includes('CANARY'),
    )
  })

  test('answer as the library does, over a real socket', async () => {
    await using t = await createTestApp()
    await t.stock([{ distid: 'RSR', stockid: 'A-1', upc: '860001234503', name: 'Bipod' }])
    await t.configure({ distributors: { 'RSR Group': { distid: 'RSR' } } })
    const server = await served(t)
    const shop = connect(`${server.url}/`, ` ${t.key}\n`)
    assert.deepEqual(
      await shop.products.search({ q: 'bipod', in_stock: true }),
      await t.shop.products.search({ q: 'bipod', in_stock: true }),
    )
    assert.deepEqual(await shop.config.schema(), await t.shop.config.schema())
    const saved = await shop.config.get()
    assert.match(etagOf(saved)!, /^"/)
    await assert.rejects(
      shop.config.put({ ...(saved.configuration as object), if_match: '"other"' } as never),
      { code: 'precondition_failed', status: 412, outcome: 'refused' },
    )
    const error = (await shop.products
      .get({ upc: '12' })
      .catch((thrown: unknown) => thrown)) as RemoteError
    assert.deepEqual(
      [error.code, error.status, error.outcome, error.retryAfter],
      ['invalid_upc', 400, 'refused', null],
    )
    assert.match(error.requestId!, /^[\w-]{16}$/)
    await server.close()
  })

  test('keep a path in front of the API', async () => {
    await using server = await rawServer(done(PING), done(PING))
    for (const url of [`${server.url}/guns/api/`, `${server.url}/guns/api`])
      assert.deepEqual(await connect(url, KEY).ping(), PING)
    assert.deepEqual(
      server.asked.map(({ path }) => path),
      ['/guns/api/v1/ping', '/guns/api/v1/ping'],
    )
  })

  test('refuse what no address can say, before anything is sent', async () => {
    for (const [call, path] of [
      [(shop: Shop) => shop.orders.get({ order_id: '' }), 'order_id'],
      [(shop: Shop) => shop.orders.get({ order_id: '..' }), 'order_id'],
      [(shop: Shop) => shop.orders.get({} as never), 'order_id'],
      [(shop: Shop) => shop.products.get({ upc: 'search' }), 'upc'],
      [(shop: Shop) => shop.products.get({ upc: '\ud800' }), 'upc'],
      [(shop: Shop) => shop.products.search({ q: null } as never), 'q'],
      [(shop: Shop) => shop.products.search('bipod' as never), 'input'],
      [(shop: Shop) => shop.config.put({ if_match: 'a\nb' } as never), 'if_match'],
    ] as const) {
      const { error, asked } = await failureOf([], call)
      assert.deepEqual(
        [
          error.code,
          error.status,
          error.outcome,
          (error.details as { path: string }[])[0]!.path,
          asked.length,
        ],
        ['invalid_parameter', 400, 'not_sent', path, 0],
      )
    }
  })

  test('take any text as one segment of the address', async () => {
    await using server = await rawServer(done({}), done({}))
    const { shop } = quick(server.url)
    await shop.orders.get({ order_id: 'a/../b?c#d $& ü%2e' })
    await shop.products.search({ q: 'a&b=c +ü' })
    assert.deepEqual(
      server.asked.map(({ path }) => path),
      [
        '/v1/orders/a%2F..%2Fb%3Fc%23d%20%24%26%20%C3%BC%252e',
        '/v1/products/search?q=a%26b%3Dc+%2B%C3%BC',
      ],
    )
  })
})

describe('connecting', () => {
  test('refuses what is not a server or no key, without repeating it', () => {
    for (const [url, key] of [
      ['shop.example', KEY],
      ['ftp://shop.example', KEY],
      ['https://me:CANARY@shop.example', KEY],
      ['https://shop.example/?key=CANARY', KEY],
      ['https://shop.example', 'CANARY\nx'],
      ['https://shop.example', ''],
      ['https://shop.example', undefined],
    ]) {
      assert.throws(
        () => connect(url!, key!),
        (error) => error instanceof TypeError && !inspect(error).includes('CANARY'),
        url,
      )
    }
    for (const options of [
      { attempts: 0 },
      { attempts: 1.5 },
      { timeout: 0 },
      { timeout: Number.NaN },
      { maxWait: -1 },
    ])
      assert.throws(() => connect('https://shop.example', KEY, options), RangeError)
  })
})

describe('an answer that is none', () => {
  for (const [what, reply] of [
    ['a page of a proxy', answer(200, '<html>Sign in</html>')],
    ['nothing', answer(200, '')],
    ['null', answer(200, 'null')],
    ['a text', answer(200, '"yes"')],
    ['a list', answer(200, '[]')],
    ['no envelope', answer(200, '{}')],
    ['a success without data', answer(200, { success: true })],
    ['a refusal without an error', answer(400, { success: false })],
    ['a refusal whose error is a text', answer(400, { success: false, error: 'no' })],
    [
      'a refusal under 200',
      answer(200, { success: false, error: { code: 'not_found', message: 'no' } }),
    ],
    ['JSON that breaks off', answer(200, '{"success":true,"data":{"po')],
  ] satisfies [string, Reply][]) {
    test(`is an error that says how it begins: ${what}`, async () => {
      const { error, asked } = await failureOf([reply], (shop) => shop.ping())
      assert.deepEqual([error.code, asked.length], ['unreadable_answer', 1])
      assert.match(
        error.message,
        /The answer \(status \d+\) is not one of this API: it begins with "/,
      )
    })
  }

  test('no error shows the key, where somebody who is not a server of ours sends it back', async () => {
    const told = [
      answer(200, { headers: { 'x-api-key': KEY } }),
      answer(200, `x-api-key: ${KEY}`),
      answer(302, '', { location: `https://login.example/?key=${KEY}` }),
    ]
    for (const reply of told) {
      const { error } = await failureOf([reply], (shop) => shop.ping())
      assert.match(error.message, /\(the key\)/)
      assert.ok(!error.message.includes('CANA'), 'nor its beginning')
    }
  })

  test('a redirect is refused, and the key goes nowhere else', async () => {
    await using other = await rawServer(done(PING))
    for (const status of [301, 302, 303, 307, 308]) {
      for (const call of [(shop: Shop) => shop.ping(), (shop: Shop) => shop.orders.place(ORDER)]) {
        const { error, asked } = await failureOf(
          [answer(status, '', { location: `${other.url}/v1/ping` })],
          call,
        )
        assert.deepEqual(
          [error.code, error.status, error.outcome, asked.length, other.asked.length],
          ['redirected', status, 'refused', 1, 0],
        )
        assert.ok(error.message.includes(other.url))
      }
    }
  })
})

test('a client works in the process of the server, without a socket', async () => {
  await using t = await createTestApp()
  const server = createServer(t.app)
  const shop = connect('http://shop.test', t.key, {
    fetch: (request) => server.fetch(request, { address: '127.0.0.1' }),
  })
  t.clock.advance(MINUTE)
  assert.equal((await shop.account()).key_name, 'test key')
})
