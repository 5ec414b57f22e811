/** What the client repeats, when, and what it never sends twice. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { SECOND } from '../../lib/core/clock.js'
import { connect, RemoteError } from '../../lib/connect.js'
import type { Shop } from '../../lib/connect.js'
import { ROUTES } from '../../lib/core/endpoint/routes.js'
import { createTestApp } from '../../server/testing/index.js'
import { KEY, ORDER, PING, closedPort, failureOf, quick, served } from './rig.js'
import { orderShop } from '../orders/shop.js'
import { answer, cut, done, rawServer, refusal } from './raw-server.js'
import type { Reply } from './raw-server.js'
import { scripted } from '../orders/scripted-distributor.js'
import { pattern } from '../harness/pattern.js'

describe('a read that fails on the way', () => {
  for (const [what, reply] of [
    ['a connection that is cut', cut],
    [
      'an answer that breaks off',
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"success":tr'),
    ],
    [
      'an answer that is not packed as it says',
      answer(200, '{"success":true}', { 'content-encoding': 'gzip' }),
    ],
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['a 500', refusal(500, 'internal_error')],
    ['a 502 of a proxy', answer(502, '<html>Bad Gateway</html>')],
    ['a 503', refusal(503, 'feed_unavailable')],
    ['a 504 without a body', answer(504, '')],
  ] satisfies [string, Reply][]) {
    test(`is repeated, with longer and longer waits: ${what}`, async () => {
      await using server = await rawServer(reply, reply, done(PING))
      const { shop, waits } = quick(server.url)
      assert.deepEqual(await shop.ping(), PING)
      assert.deepEqual(waits, [0.375, 0.75])
      assert.ok(
        server.asked.every(
          ({ method, path, headers }) =>
            method === 'GET' && path === '/v1/ping' && headers['x-api-key'] === KEY,
        ),
      )
    })
  }

  test('is given up after three attempts, or as many as were asked for', async () => {
    const many = Array<Reply>(9).fill(cut)
    for (const [options, attempts] of [
      [{}, 3],
      [{ attempts: 1 }, 1],
      [{ attempts: 5 }, 5],
    ] as const) {
      const { error, asked } = await failureOf(many, (shop) => shop.ping(), options)
      assert.deepEqual(
        [error.code, error.status, error.outcome, asked.length],
        ['connection_lost', 0, 'unknown', attempts],
      )
    }
  })

  test('waits between a half and the whole of a step', async () => {
    for (const [random, first] of [
      [0, 0.25],
      [0.999, 0.49975],
    ] as const) {
      const { waits } = await failureOf([cut, cut, cut], (shop) => shop.ping(), {
        random: () => random,
      })
      assert.equal(waits[0], first)
    }
  })

  test('is not repeated when the server has refused it', async () => {
    for (const [status, code] of [
      [400, 'invalid_parameter'],
      [401, 'missing_api_key'],
      [403, 'ip_not_allowed'],
      [404, 'not_found'],
      [409, 'no_active_distributors'],
    ] as const) {
      const { error, asked } = await failureOf(
        [refusal(status, code, { 'x-request-id': 'abc' })],
        (shop) => shop.products.search(),
      )
      assert.deepEqual(
        [error.code, error.status, error.outcome, error.requestId, error.message, asked.length],
        [code, status, 'refused', 'abc', `It is ${code}.`, 1],
      )
    }
  })

  test('has no server to reach: nothing was sent', async () => {
    const port = await closedPort()
    const { shop, waits } = quick(`http://127.0.0.1:${port}`)
    await assert.rejects(shop.ping(), {
      name: 'RemoteError',
      code: 'unreachable',
      status: 0,
      outcome: 'not_sent',
      message: `No connection to http://127.0.0.1:${port} can be made (ECONNREFUSED).`,
    })
    await assert.rejects(shop.orders.place(ORDER), { code: 'unreachable', outcome: 'not_sent' })
    assert.equal(waits.length, 2, 'of the read alone')
  })

  test('is given up when nothing comes in time, in the head or in the body', async () => {
    for (const reply of [
      () => {},
      (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"succ'),
    ] satisfies Reply[]) {
      const { error, waits } = await failureOf([reply, reply], (shop) => shop.ping(), {
        timeout: 0.1,
        attempts: 2,
      })
      assert.deepEqual([error.code, error.outcome, waits.length], ['timeout', 'unknown', 1])
      assert.match(error.message, /did not answer within 0\.1 seconds/)
    }
  })

  test('ends in time also with a fetch that looks at no signal', async () => {
    const shop = connect('http://shop.test', KEY, {
      fetch: () => new Promise(() => {}),
      timeout: 0.02,
      attempts: 1,
    })
    await assert.rejects(shop.ping(), { code: 'timeout' })
  })

  test("shows nothing of what a fetch of the caller's own throws", async () => {
    const wrong = (request: Request) =>
      Object.assign(new Error(`failed with ${request.headers.get('x-api-key')}`), { request })
    for (const own of [
      async (request: Request) => {
        throw wrong(request)
      },
      (request: Request) => {
        throw wrong(request)
      },
    ]) {
      const error = await connect('http://shop.test', KEY, { attempts: 1, fetch: own })
        .ping()
        .catch((thrown: unknown) => thrown)
      assert.ok(
        error instanceof RemoteError &&
          !inspect(error, { depth: 9, showHidden: true }).includes('CANARY'),
      )
      assert.deepEqual([error.code, error.outcome], ['connection_lost', 'unknown'])
    }
  })
})

describe('Retry-After', () => {
  const AT = 'Sun, 22 Nov 2026 12:00:00 GMT'
  const LATER = 'Sun, 22 Nov 2026 12:00:20 GMT'
  for (const [what, headers, waits] of [
    ['seconds', { 'retry-after': '7' }, 7],
    ["a date, by the server's own clock", { 'retry-after': LATER, date: AT }, 20],
    ['a date, by ours where the server has none', { 'retry-after': LATER }, 15],
    ['a date that is over', { 'retry-after': AT, date: LATER }, 0],
    ['no number and no date', { 'retry-after': 'soon' }, 0.375],
  ] as const) {
    test(`is waited for as it is given: ${what}`, async () => {
      for (const reply of [
        refusal(429, 'rate_limited', headers),
        refusal(503, 'service_unavailable', headers),
      ]) {
        await using server = await rawServer(reply, done(PING))
        const client = quick(server.url, { now: () => Date.parse(AT) + 5 * SECOND })
        assert.deepEqual(await client.shop.ping(), PING)
        assert.deepEqual(client.waits, [waits])
      }
    })
  }

  test('that is longer than maxWait gives the error at once', async () => {
    for (const [seconds, options, waits] of [
      [61, {}, []],
      [60, {}, [60]],
      [2, { maxWait: 1 }, []],
      [1, { maxWait: 0 }, []],
      [40, {}, [40]],
      ['9'.repeat(400), { maxWait: Infinity }, []],
    ] as const) {
      const reply = refusal(429, 'rate_limited', { 'retry-after': String(seconds) })
      const { error, ...seen } = await failureOf(
        [reply, reply, reply],
        (shop) => shop.ping(),
        options,
      )
      assert.deepEqual(
        [error.code, error.retryAfter, seen.waits, seen.asked.length],
        ['rate_limited', Number(seconds), waits, waits.length + 1],
        'two waits of forty are longer than sixty',
      )
    }
  })

  test('of the minute limit is kept by a client that asks too often, and not one call is lost', async () => {
    await using t = await createTestApp({ tier: 'standard' })
    const server = await served(t)
    const waits: number[] = []
    const shop = connect(server.url, t.key, {
      sleep: async (seconds) => {
        waits.push(seconds)
        t.clock.advance(seconds * SECOND)
      },
    })
    for (let n = 0; n < 61; n++) assert.equal((await shop.ping()).pong, true)
    assert.deepEqual(waits, [60])
    await server.close()
  })

  test('of a catalog that was polled too early is waited for only where maxWait is given', async () => {
    const reply = refusal(429, 'catalog_polled_too_early', { 'retry-after': '30' })
    const { error, asked } = await failureOf([reply], (shop) => shop.products.catalog())
    assert.deepEqual(
      [error.code, error.retryAfter, asked.length],
      ['catalog_polled_too_early', 30, 1],
    )
    await using server = await rawServer(reply, done({ changed: false }))
    const { shop, waits } = quick(server.url, { maxWait: 1_200 })
    assert.deepEqual([await shop.products.catalog(), waits], [{ changed: false }, [30]])
  })
})

describe('what writes', () => {
  const CALLS: Record<string, (shop: Shop) => Promise<unknown>> = {
    'orders.place': (shop) => shop.orders.place(ORDER),
    'orders.quote': (shop) => shop.orders.quote({ items: [{ upc: '1', qty: 1 }] }),
    'restrictions.check': (shop) =>
      shop.restrictions.check({ shipping: { state: 'AZ' }, items: [{ upc: '1' }] }),
    'config.validate': (shop) => shop.config.validate({}),
    'config.put': (shop) => shop.config.put({ configuration: {} } as never),
    'fraud.check': (shop) => shop.fraud.check({ email: 'p@customer.example' }),
    'fraud.report': (shop) => shop.fraud.report({ shipping_address_1: '1' }),
    'fraud.remove': (shop) => shop.fraud.remove({ email: 'p@customer.example' }),
  }
  test('is every route but the reads', () => {
    assert.deepEqual(
      Object.keys(CALLS).toSorted(),
      Object.entries(ROUTES)
        .flatMap(([id, route]) => (route.startsWith('GET ') ? [] : [id]))
        .toSorted(),
    )
  })

  for (const [id, call] of Object.entries(CALLS)) {
    test(`is sent once, whatever happens: ${id}`, async () => {
      for (const [reply, code, outcome] of [
        [cut, 'connection_lost', 'unknown'],
        [
          (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{'),
          'connection_lost',
          'unknown',
        ],
        [refusal(429, 'rate_limited', { 'retry-after': '1' }), 'rate_limited', 'refused'],
        [refusal(500, 'internal_error'), 'internal_error', 'unknown'],
        [answer(502, ''), 'unreadable_answer', 'unknown'],
        [refusal(503, 'service_unavailable'), 'service_unavailable', 'unknown'],
        [refusal(503, 'distributor_unavailable'), 'distributor_unavailable', 'refused'],
        [refusal(409, 'duplicate_order'), 'duplicate_order', 'refused'],
      ] satisfies [Reply, string, string][]) {
        const { error, asked } = await failureOf([reply], call)
        assert.deepEqual([error.code, error.outcome, asked.length], [code, outcome, 1])
        assert.equal(/is not known/.test(error.message), outcome === 'unknown', error.message)
      }
    })
  }

  test('is sent once when no answer comes in time', async () => {
    const { error, waits } = await failureOf([() => {}], (shop) => shop.orders.place(ORDER), {
      timeout: 0.1,
    })
    assert.deepEqual([error.code, error.outcome, waits.length], ['timeout', 'unknown', 0])
  })

  test('is sent once also on a connection that was kept and has ended', async () => {
    await using server = await rawServer(
      (socket) => socket.write(done(PING, { connection: 'keep-alive' })),
      cut,
    )
    const { shop } = quick(server.url)
    await shop.ping()
    await assert.rejects(shop.orders.place(ORDER), { code: 'connection_lost', outcome: 'unknown' })
    assert.deepEqual(
      server.asked.map(({ method }) => method),
      ['GET', 'POST'],
    )
  })

  test('says of a broken order what to do', async () => {
    const { error } = await failureOf([cut], (shop) => shop.orders.place(ORDER))
    assert.match(
      error.message,
      pattern(
        /broke before the answer was there \(UND_ERR_SOCKET\)\. /,
        /Whether the order was placed is not known\. /,
        /Send the same request again with the same order_id \(W-1\), or look with orders\.get; /,
        /never place it under another order_id\.$/,
      ),
    )
  })

  test('an order whose answer is lost is placed once, however often it is repeated', async () => {
    const distributor = scripted()
    await using t = await orderShop([distributor])
    let lose = true
    const shop = connect('http://shop.test', t.key, {
      fetch: async (request) => {
        const response = await t.server.fetch(request, { address: '127.0.0.1' })
        if (lose)
          throw new TypeError('fetch failed', {
            cause: Object.assign(new Error('read ECONNRESET'), {
              code: 'ECONNRESET',
              syscall: 'read',
            }),
          })
        return response
      },
    })
    const body = t.body() as never
    await assert.rejects(shop.orders.place(body), { code: 'connection_lost', outcome: 'unknown' })
    lose = false
    const error = (await shop.orders.place(body).catch((thrown: unknown) => thrown)) as RemoteError
    assert.deepEqual(
      [
        error.code,
        error.outcome,
        (error.details as { fulfillment_orders: unknown[] }).fulfillment_orders.length,
        distributor.orders.length,
      ],
      ['duplicate_order', 'refused', 1, 1],
    )
  })
})

describe('a signal', () => {
  test('ends a call that runs, and refuses later ones', async () => {
    const ending = new AbortController()
    const { error } = await failureOf(
      [() => ending.abort(new Error(KEY))],
      (shop) => shop.orders.place(ORDER),
      { signal: ending.signal },
    )
    assert.deepEqual([error.code, error.outcome], ['aborted', 'unknown'])
    const later = await failureOf([], (shop) => shop.orders.place(ORDER), { signal: ending.signal })
    assert.deepEqual(
      [later.error.code, later.error.outcome, later.asked.length],
      ['aborted', 'not_sent', 0],
    )
  })

  test('ends a wait', async () => {
    const ending = new AbortController()
    await using server = await rawServer((socket) => {
      socket.end(refusal(429, 'rate_limited', { 'retry-after': '50' }))
      setTimeout(() => ending.abort(), 30)
    })
    await assert.rejects(connect(server.url, KEY, { signal: ending.signal }).ping(), {
      code: 'aborted',
    })
    assert.equal(server.asked.length, 1)
  })

  test('that does not end a call leaves it to the timeout', async () => {
    const { error } = await failureOf([() => {}], (shop) => shop.ping(), {
      signal: new AbortController().signal,
      timeout: 0.1,
      attempts: 1,
    })
    assert.equal(error.code, 'timeout')
  })

  test('may be shared by many calls at a time', async () => {
    const warnings: Error[] = []
    const note = (warning: Error) => warnings.push(warning)
    process.on('warning', note)
    await using server = await rawServer(...Array<Reply>(30).fill(done(PING)))
    const shop = connect(server.url, KEY, { signal: new AbortController().signal })
    await Promise.all(Array.from({ length: 30 }, () => shop.ping()))
    await new Promise(setImmediate)
    process.off('warning', note)
    assert.deepEqual(
      warnings.filter(({ name }) => name === 'MaxListenersExceededWarning'),
      [],
    )
  })
})

test('the wait between attempts is real where nobody stands in for it', async () => {
  await using server = await rawServer(
    refusal(429, 'rate_limited', { 'retry-after': '0.05' }),
    done(PING),
  )
  const since = performance.now()
  await connect(server.url, KEY).ping()
  assert.ok(performance.now() - since >= 50)
})
