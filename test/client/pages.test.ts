/**
 * Iterating over what comes in pages, while it changes (contract "Order history and tracking",
 * "Product search").
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { MAX_DEPTH } from '../../lib/catalog/shapes.js'
import { DAY, SECOND } from '../../lib/core/clock.js'
import { connect, eachOffer, eachOrder } from '../../lib/connect.js'
import type { OrderQuery, Shop } from '../../lib/connect.js'
import { listen } from '../../server/index.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'
import { addOrder } from '../orders/rows.js'
import { done, rawServer } from './raw-server.js'

async function all<T>(
  items: AsyncIterable<T>,
  each: (item: T, n: number) => Promise<unknown> = async () => {},
): Promise<T[]> {
  const got: T[] = []
  for await (const item of items) {
    got.push(item)
    await each(item, got.length)
  }
  return got
}

/** Orders, one each second, two of them in the same second now and then. */
async function fill(t: TestApp, count: number) {
  for (let n = 0; n < count; n++)
    await addOrder(t, {
      order_id: `W-${n}`,
      order_date: t.clock.ms + Math.floor(n * 0.7) * SECOND,
      distid: n % 3 === 0 ? 'LIP' : 'RSR',
    })
}
const ids = (orders: { order_id: string }[]) => orders.map(({ order_id: id }) => id)
const names = (from: number, to: number) =>
  Array.from({ length: Math.abs(to - from) + 1 }, (_, i) => `W-${from < to ? from + i : from - i}`)
const hide = ({ app: { ctx } }: TestApp, orderId: string) =>
  ctx.db
    .updateTable('fulfillment_order')
    .set({ visible: 0 })
    .where('order_id', '=', orderId)
    .execute()

describe('every order', () => {
  test('comes once and in its order, by each call and in each direction, through library and socket', async () => {
    await using t = await createTestApp()
    await fill(t, 23)
    const server = await listen(t.server, { port: 0, host: '127.0.0.1' })
    for (const shop of [t.shop, connect(server.url, t.key)]) {
      for (const size of [2, 22, 23, 24]) {
        assert.deepEqual(ids(await all(eachOrder(shop, { page_size: size }))), names(22, 0))
        assert.deepEqual(
          ids(await all(eachOrder(shop, { direction: 'asc', page_size: size }))),
          names(0, 22),
        )
        assert.deepEqual(
          ids(await all(eachOrder(shop, { direction: 'desc', page_size: size }))),
          names(22, 0),
        )
        assert.deepEqual(
          ids(await all(eachOrder(shop, { distid: 'LIP', from: '2026-11-21', page_size: size }))),
          names(22, 0).filter((id) => Number(id.slice(2)) % 3 === 0),
        )
      }
      assert.deepEqual(ids(await all(eachOrder(shop, { search: 'w-1' }))), [
        ...names(19, 10),
        'W-1',
      ])
      assert.deepEqual(await all(eachOrder(shop, { order_id: 'nothing' })), [])
    }
    await server.close()
  })

  test('comes once while new ones are placed', async () => {
    for (const query of [
      {},
      { direction: 'asc' },
      { order_source: 'cockpit_cart' },
    ] satisfies OrderQuery[]) {
      await using t = await createTestApp()
      await fill(t, 20)
      t.clock.advance(DAY)
      const got = ids(
        await all(eachOrder(t.remote, { ...query, page_size: 4 }), async (_, n) => {
          if (n <= 20)
            await addOrder(t, { order_id: `NEW-${n}`, order_date: t.clock.ms + n * SECOND })
        }),
      )
      assert.equal(new Set(got).size, got.length, 'none comes twice')
      assert.deepEqual(
        got.filter((id) => id.startsWith('W-')),
        'direction' in query ? names(0, 19) : names(19, 0),
      )
    }
  })

  test('comes once while others are refused and leave the history', async () => {
    for (const query of [{}, { direction: 'asc' }] satisfies OrderQuery[]) {
      await using t = await createTestApp()
      await fill(t, 30)
      // What was passed goes away, one by one: all that follows moves up.
      const got = ids(
        await all(eachOrder(t.remote, { ...query, page_size: 5 }), async ({ order_id: id }) =>
          hide(t, id),
        ),
      )
      assert.deepEqual(got, 'direction' in query ? names(0, 29) : names(29, 0))
    }
  })

  test('that leaves a filter once it was seen takes nobody with it', async () => {
    await using t = await createTestApp()
    await fill(t, 30)
    const got = ids(
      await all(
        eachOrder(t.shop, { order_status: 'Submitted', page_size: 4 }),
        ({ order_id: id }) =>
          t.app.ctx.db
            .updateTable('fulfillment_order')
            .set({ order_status: 'Fulfilled' })
            .where('order_id', '=', id)
            .execute(),
      ),
    )
    assert.deepEqual(got, names(29, 0))
  })

  test('comes once among many of one second, whose numbers arrive meanwhile', async () => {
    await using t = await createTestApp()
    for (let n = 0; n < 20; n++) await addOrder(t, { order_id: 'SPLIT', distid: `D${n}` })
    const got = await all(eachOrder(t.remote, { page_size: 3 }), ({ distid }) =>
      t.app.ctx.db
        .updateTable('fulfillment_order')
        .set({ distributor_order_id: `${distid}-1`, order_status: 'Fulfilled' })
        .where('distid', '=', distid)
        .execute(),
    )
    assert.deepEqual(
      got.map(({ distid }) => distid),
      Array.from({ length: 20 }, (_, n) => `D${19 - n}`),
    )
  })

  test('that is there from beginning to end comes once, whatever comes and goes', async () => {
    const change = fc.array(
      fc.array(
        fc.oneof(
          fc.record({ add: fc.integer({ min: 0, max: 40 }) }),
          fc.record({ remove: fc.nat() }),
        ),
        { maxLength: 6 },
      ),
      { minLength: 5, maxLength: 30 },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 5, maxLength: 40 }),
        change,
        fc.integer({ min: 2, max: 7 }),
        fc.constantFrom('asc', 'desc'),
        async (dates, changes, size, direction) => {
          const sign = direction === 'asc' ? 1 : -1
          let serial = 0
          const record = (at: number) => ({
            order_id: `W-${++serial}`,
            serial,
            order_date: `2026-11-21 12:00:${String(at).padStart(2, '0')}`,
            distid: 'RSR',
            ffl_required: 0,
            ship_to_store: 0,
            po_number: 'P',
            dist_order_items: '[]',
          })
          let rows = dates.map(record)
          const there = new Set(rows)
          // A history that changes with every page, as any server's may.
          const shop = {
            orders: {
              list: async ({ limit, offset }: { limit: number; offset: number }) => {
                for (const step of changes.shift() ?? []) {
                  if ('add' in step) rows.push(record(step.add))
                  else
                    rows = rows.filter(
                      (row, i) => i !== step.remove % rows.length || void there.delete(row),
                    )
                }
                rows.sort(
                  (a, b) =>
                    sign *
                    (a.order_date < b.order_date
                      ? -1
                      : a.order_date > b.order_date
                        ? 1
                        : a.serial - b.serial),
                )
                return { count: rows.length, orders: rows.slice(offset, offset + limit) }
              },
            },
          } as unknown as Shop
          const got = ids(await all(eachOrder(shop, { direction, page_size: size })))
          assert.equal(new Set(got).size, got.length)
          for (const { order_id: id } of there) assert.ok(got.includes(id), id)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('is read with pages that overlap by one record, and no further call', async () => {
    const page = (...dates: string[]) =>
      done({
        count: 5,
        orders: dates.map((date) => ({ order_id: date, order_date: date })),
        errors: [],
      })
    await using server = await rawServer(page('5', '4', '3'), page('3', '2', '1'), page('1'))
    assert.deepEqual(ids(await all(eachOrder(connect(server.url, 'key'), { page_size: 3 }))), [
      '5',
      '4',
      '3',
      '2',
      '1',
    ])
    assert.deepEqual(
      server.asked.map(({ path }) => /offset=(\d+)/.exec(path)![1]),
      ['0', '2', '4'],
    )
  })

  test('is read no further than it is asked for', async () => {
    await using server = await rawServer(
      done({
        count: 9,
        orders: [
          { order_id: 'A', order_date: '2' },
          { order_id: 'B', order_date: '1' },
        ],
        errors: [],
      }),
    )
    for await (const { order_id: id } of eachOrder(connect(server.url, 'key'), {
      from: '2026-11-01',
      page_size: 2,
    })) {
      assert.equal(id, 'A')
      break
    }
    assert.deepEqual(
      server.asked.map(({ path }) => path),
      ['/v1/fulfillment/history?from=2026-11-01&include_errors=false&limit=2&offset=0'],
    )
  })

  test('is refused with filters that no one call takes, or with pages that are none', async () => {
    await using t = await createTestApp()
    for (const query of [
      { search: 'a', distid: 'RSR' },
      { direction: 'asc', from: '2026-11-21' },
      { page_size: 1 },
      { page_size: 101 },
      { page_size: 2.5 },
    ])
      await assert.rejects(all(eachOrder(t.shop, query as OrderQuery)), RangeError)
    await assert.rejects(all(eachOrder(t.remote, { from: 'today' })), { code: 'invalid_parameter' })
    // @ts-expect-error the types say it, too
    const mixed: OrderQuery = { search: 'a', distid: 'RSR' }
    assert.ok(mixed)
  })
})

describe('every offer', () => {
  const offers = (count: number) =>
    Array.from({ length: count }, (_, n) => ({
      distid: 'RSR',
      stockid: `S-${String(n).padStart(5, '0')}`,
      name: `Item ${String(n).padStart(5, '0')}`,
      price: 1_000 + n,
    }))

  test('comes once, in the order of the search', async () => {
    await using t = await createTestApp()
    await t.stock(offers(23))
    await t.configure({ distributors: { 'RSR Group': { distid: 'RSR' } } })
    for (const shop of [t.shop, t.remote]) {
      for (const size of [1, 5, 23, 100])
        assert.deepEqual(
          (await all(eachOffer(shop, { sort: '-price', max_price: 10.2, page_size: size }))).map(
            ({ stockid }) => stockid,
          ),
          offers(21)
            .map(({ stockid }) => stockid)
            .toReversed(),
        )
      assert.equal((await all(eachOffer(shop))).length, 23)
      assert.deepEqual(await all(eachOffer(shop, { q: 'nothing' })), [])
    }
  })

  test('comes once while the catalog changes', async () => {
    await using t = await createTestApp()
    await t.stock(offers(12))
    await t.configure({ distributors: { 'RSR Group': { distid: 'RSR' } } })
    const got = await all(eachOffer(t.remote, { page_size: 4 }), async (_, n) => {
      if (n === 4) await t.stock([{ distid: 'RSR', stockid: 'A-NEW', name: 'AAA' }, ...offers(12)])
    })
    assert.deepEqual(
      got.map(({ stockid }) => stockid),
      offers(12).map(({ stockid }) => stockid),
    )
  })

  test('is told where search ends, and that the export has the rest', async () => {
    await using t = await createTestApp()
    await t.stock(offers(MAX_DEPTH + 1))
    await t.configure({ distributors: { 'RSR Group': { distid: 'RSR' } } })
    let count = 0
    await assert.rejects(
      async () => {
        for await (const _ of eachOffer(t.app.as(t.subscriber))) count++
      },
      {
        name: 'RangeError',
        message:
          '10001 offers fit, and search reaches 10000 of them: narrow the search, or take the ' +
          'whole catalog with downloadCatalog',
      },
    )
    assert.equal(count, MAX_DEPTH)
    assert.equal(
      (await all(eachOffer(t.app.as(t.subscriber), { max_price: 109.99 }))).length,
      MAX_DEPTH,
      'all of them, where there are no more',
    )
    const last = await all(eachOffer(t.app.as(t.subscriber), { max_price: 109.99, page_size: 97 }))
    assert.deepEqual(
      last.map(({ stockid }) => stockid),
      offers(MAX_DEPTH).map(({ stockid }) => stockid),
      'as with pages that do not end where search does',
    )
  })
})
