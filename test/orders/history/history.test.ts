import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { DAY, HOUR } from '../../../lib/core/clock.js'
import { pageByDate, pageBySort, pageOfIds } from '../../../lib/orders/history/pages.js'
import { search } from '../../../lib/orders/history/lookup.js'
import { findSubscriber } from '../../../lib/accounts/subscribers.js'
import { DIRECTIONS, SORTS } from '../../../lib/orders/history/shapes.js'
import type { Sort } from '../../../lib/orders/history/shapes.js'
import { createTestApp } from '../../../server/testing/index.js'
import type { TestApp } from '../../../server/testing/index.js'
import { isOnPostgres, runsOnRecord, sqlOnRecord } from '../../harness/record.js'
import { addFailure, addOrder } from '../rows.js'

const NOON = Date.UTC(2026, 10, 21, 12)
const ids = (answer: { orders: { order_id: string }[] }) =>
  answer.orders.map(({ order_id }) => order_id)

/** Another shop in the same installation; returns its id and its functions. */
async function otherShop(t: TestApp) {
  const { id, name } = await t.app.operator.subscribers.create({
    name: 'Other shop',
    email: 'other@shop.example',
  })
  return { id, shop: t.app.as(name) }
}

describe('the record', () => {
  test('is what the contract says, through library and HTTP alike', async () => {
    await using t = await createTestApp()
    await addOrder(t, {
      order_id: 'W-1',
      order_date: Date.UTC(2026, 10, 19, 15, 4, 5),
      distid: 'RSR',
      ffl: '1-62-037-01-8E-90211',
      order_status: 'Fulfilled',
      po_number: 'W-1-AB9Z-110',
      ship_date: '2026-11-20',
      ship_company: 'UPS',
      ship_method: 'Ground',
      ship_status: 'in_transit',
      ship_tracking_number: '1Z1',
      ship_tracking_url: 'https://track.example/1Z1',
      ffl_required: 1,
      dist_order_items: '[{"distsku":"A","upc":"1","qty":2}]',
      parts: [{ distributor_order_id: '77' }, { distributor_order_id: '78' }],
      parcels: ['1Z1', '1Z2'],
    })
    const record = {
      order_date: '2026-11-19 15:04:05',
      order_id: 'W-1',
      distid: 'RSR',
      distributor_order_id: '77, 78',
      ffl: '1-62-037-01-8E-90211',
      customer_name: 'Jane Doe',
      order_status: 'Fulfilled',
      order_source: 'cockpit_cart',
      po_number: 'W-1-AB9Z-110',
      ship_date: '2026-11-20',
      ship_company: 'UPS',
      ship_method: 'Ground',
      ship_status: 'in_transit',
      ship_tracking_number: '1Z1',
      ship_tracking_url: 'https://track.example/1Z1',
      ship_to_store: 0,
      ffl_required: 1,
      dist_order_items: '[{"distsku":"A","upc":"1","qty":2}]',
    }
    for (const shop of [t.shop, t.remote]) {
      assert.deepEqual(await shop.orders.list(), { count: 1, orders: [record] })
      assert.deepEqual(await shop.orders.get({ order_id: 'W-1' }), {
        order_id: 'W-1',
        fulfillment_orders: [record],
      })
      assert.deepEqual(await shop.fulfillment.history(), { count: 1, orders: [record], errors: [] })
    }
    assert.deepEqual((await t.json('/v1/orders')).body, {
      success: true,
      data: { count: 1, orders: [record] },
    })
  })

  test('nothing is there at first', async () => {
    await using t = await createTestApp()
    for (const shop of [t.shop, t.remote]) {
      assert.deepEqual(await shop.orders.list(), { count: 0, orders: [] })
      assert.deepEqual(await shop.orders.list({ search: 'a' }), { count: 0, orders: [] })
      assert.deepEqual(await shop.orders.list({ search: 'abc', offset: 5 }), {
        count: 0,
        orders: [],
      })
      assert.deepEqual(await shop.fulfillment.history(), { count: 0, orders: [], errors: [] })
      await assert.rejects(shop.orders.get({ order_id: 'W-1' }), { code: 'not_found' })
    }
  })
})

describe('one order', () => {
  let t: TestApp
  before(async () => {
    t = await createTestApp()
    await addOrder(t, { order_id: 'A', distid: 'RSR' })
    await addOrder(t, { order_id: 'A', distid: 'LIP' })
    await addOrder(t, { order_id: 'A', distid: 'ZND', visible: 0 })
    await addOrder(t, { order_id: 'hidden', visible: 0 })
    await addOrder(t, { order_id: 'theirs', subscriber_id: (await otherShop(t)).id })
  })
  after(() => t.close())

  test('has all its visible fulfillment orders, in the order of its split', async () => {
    for (const shop of [t.shop, t.remote])
      assert.deepEqual(
        (await shop.orders.get({ order_id: 'A' })).fulfillment_orders.map(({ distid }) => distid),
        ['RSR', 'LIP'],
      )
  })

  for (const id of [
    'a',
    'A%20',
    'B',
    'hidden',
    'theirs',
    'A%',
    '%25',
    '_',
    'A%00',
    '%2e%2e',
    'x'.repeat(2_000),
    '%C3%A9',
    'A%2FB',
  ]) {
    test(`${id.slice(0, 20)} is 404`, async () => {
      const { status, body } = await t.json(`/v1/orders/${id}`)
      assert.deepEqual([status, body.error.code], [404, 'not_found'])
    })
  }

  test('the library has the same refusals', async () => {
    for (const order_id of ['a', 'theirs', 'hidden', ''])
      await assert.rejects(t.shop.orders.get({ order_id }), { code: 'not_found' })
    await assert.rejects(t.shop.orders.get({} as never), { code: 'invalid_parameter' })
    await assert.rejects(t.shop.orders.get({ order_id: 7 } as never), { code: 'invalid_parameter' })
  })

  test('other methods are 405', async () => {
    for (const path of ['/v1/orders/A', '/v1/fulfillment/history'])
      assert.equal((await t.request(path, { method: 'DELETE' })).status, 405)
  })
})

describe('pages and sorts', () => {
  let t: TestApp
  // By id: order id, days before, ship_date, status, source.
  const ROWS: [
    string,
    number,
    string | null,
    'Pending' | 'Submitted' | 'Fulfilled' | 'Cancelled',
    string,
  ][] = [
    ['b', 2, null, 'Submitted', 'cockpit_cart'],
    ['a', 2, '2026-11-20', 'Fulfilled', 'web'],
    ['c', 0, '2026-11-19', 'Fulfilled', 'cockpit_cart'],
    ['B', 5, null, 'Cancelled', 'web'],
    ['é', 1, '2026-11-20', 'Pending', 'cockpit_cart'],
  ]
  before(async () => {
    t = await createTestApp()
    for (const [order_id, days, ship_date, order_status, order_source] of ROWS)
      await addOrder(t, {
        order_id,
        order_date: NOON - days * DAY,
        ship_date,
        order_status,
        order_source,
      })
    await addOrder(t, { order_id: 'hidden', visible: 0 })
    await addOrder(t, { order_id: 'theirs', subscriber_id: (await otherShop(t)).id })
  })
  after(() => t.close())

  const sorts: [Sort | undefined, string][] = [
    // What was placed later stands first among equals, and what is not shipped behind all that is.
    [undefined, 'c é a b B'],
    ['order_date', 'c é a b B'],
    ['order_id', 'é c b a B'],
    ['ship_date', 'é a c B b'],
    ['order_status', 'b é c a B'],
    ['order_source', 'B a é c b'],
  ]
  for (const [sort, expected] of sorts) {
    test(`sort ${sort ?? 'by default'}; asc is the reverse of desc`, async () => {
      for (const shop of [t.shop, t.remote]) {
        assert.deepEqual(ids(await shop.orders.list({ sort })), expected.split(' '))
        assert.deepEqual(
          ids(await shop.orders.list({ sort, direction: 'desc' })),
          expected.split(' '),
        )
        assert.deepEqual(
          ids(await shop.orders.list({ sort, direction: 'asc' })),
          expected.split(' ').reverse(),
        )
      }
    })
  }

  test('pages never overlap, miss nothing, and say how many there are, however deep', async () => {
    for (const sort of SORTS)
      for (const direction of DIRECTIONS)
        for (const search of [undefined, '-po', 'po']) {
          const whole = ids(await t.shop.orders.list({ sort, direction, search }))
          for (const limit of [1, 2, 3]) {
            const pages = []
            for (let offset = 0; offset < 7; offset += limit) {
              const page = await t.shop.orders.list({ sort, direction, search, limit, offset })
              assert.equal(page.count, 5)
              pages.push(...ids(page))
            }
            assert.deepEqual(pages, whole)
          }
        }
    for (const offset of [5, 6, 1e6, Number.MAX_SAFE_INTEGER])
      assert.deepEqual(
        await t.remote.orders.list({ offset, search: offset === 5 ? 'po' : undefined }),
        { count: 5, orders: [] },
      )
    assert.deepEqual(ids(await t.remote.fulfillment.history({ limit: 2, offset: 3 })), ['b', 'B'])
    assert.deepEqual(await t.remote.fulfillment.history({ offset: Number.MAX_SAFE_INTEGER }), {
      count: 5,
      orders: [],
      errors: [],
    })
  })

  const bad: [query: string, path: string][] = [
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=', 'limit'],
    ['limit=all', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['offset=-1', 'offset'],
    ['offset=0.5', 'offset'],
    ['offset=9007199254740992', 'offset'],
    ['offset=1e99', 'offset'],
    ['offset=NaN', 'offset'],
  ]
  const badLists: [query: string, path: string][] = [
    ['sort=date', 'sort'],
    ['sort=-order_date', 'sort'],
    ['sort=', 'sort'],
    ['sort=distid', 'sort'],
    ['direction=up', 'direction'],
    ['direction=DESC', 'direction'],
    ['direction=', 'direction'],
    [`search=${'x'.repeat(201)}`, 'search'],
    ['search=%00', 'search'],
    ['search=a%1Fb', 'search'],
    ['search=a&search=b', 'search'],
  ]
  for (const [query, path] of [...bad, ...badLists]) {
    test(`${query.slice(0, 40)} is 400 and names ${path}`, async () => {
      for (const address of bad.some(([one]) => one === query)
        ? ['/v1/orders', '/v1/fulfillment/history']
        : ['/v1/orders']) {
        const { status, body } = await t.json(`${address}?${query}`)
        assert.deepEqual(
          [status, body.error.code, body.error.details[0].path],
          [400, 'invalid_parameter', path],
        )
      }
    })
  }

  for (const query of [
    'limit=1',
    'limit=100',
    'offset=0',
    'offset=9007199254740991',
    `search=${'x'.repeat(200)}`,
    'search=',
    'search=%20',
    'other=1',
    'limit=005',
    'sort=ship_date&direction=asc',
  ]) {
    test(`${query.slice(0, 40)} is taken`, async () =>
      assert.equal((await t.request(`/v1/orders?${query}`)).status, 200))
  }

  test('the default page has 25', async () => {
    await using fresh = await createTestApp()
    for (let i = 0; i < 30; i++) await addOrder(fresh)
    for (const answer of [
      await fresh.remote.orders.list(),
      await fresh.remote.fulfillment.history(),
    ])
      assert.deepEqual([answer.count, answer.orders.length], [30, 25])
    assert.equal((await fresh.remote.orders.list({ limit: 100 })).orders.length, 30)
  })
})

describe('search', () => {
  let t: TestApp
  before(async () => {
    t = await createTestApp()
    await addOrder(t, {
      order_id: 'W-1001',
      po_number: 'SHORT1-7F',
      po_given: 'Long customer PO',
      customer_name: 'José PEÑA',
      parts: [{ distributor_order_id: 'RS77' }, { distributor_order_id: 'RS78' }],
      parcels: ['1Z100%_', 'fedex200'],
    })
    await addOrder(t, { order_id: 'W-1002', customer_name: 'O\'Brien "Bob" & Sons' })
    await addOrder(t, { order_id: 'X-1003', customer_name: 'Jane Doe', visible: 0 })
    await addOrder(t, {
      order_id: 'W-1004',
      customer_name: 'José PEÑA',
      subscriber_id: (await otherShop(t)).id,
    })
  })
  after(() => t.close())

  const table: [search: string, orders: string][] = [
    ['W-100', 'W-1002 W-1001'],
    ['w-1001', 'W-1001'],
    ['1001', 'W-1001'],
    ['00', 'W-1002 W-1001'],
    ['X-1003', ''],
    ['1004', ''],
    ['short1-7f', 'W-1001'],
    ['customer po', 'W-1001'],
    ['RS77', 'W-1001'],
    ['rs78', 'W-1001'],
    ['s7', 'W-1001'],
    ['1z100', 'W-1001'],
    ['FEDEX2', 'W-1001'],
    ['x2', 'W-1001'],
    ['josé', 'W-1001'],
    ['JOSÉ peña', 'W-1001'],
    ['peña', 'W-1001'],
    ['Ñ', 'W-1001'],
    ['ña', 'W-1001'],
    ['é', 'W-1001'],
    ['jose', ''],
    ['o\'brien "bob"', 'W-1002'],
    ['&', 'W-1002'],
    ['"', 'W-1002'],
    ['""', ''],
    ['b" &', 'W-1002'],
    // Nothing in it is a pattern or a query.
    ['%', 'W-1001'],
    ['0%_', 'W-1001'],
    ['%_%', ''],
    ['_', 'W-1001'],
    ['W%1', ''],
    ['W_1001', ''],
    ['W*', ''],
    ['w-1001 OR w-1002', ''],
    ['text:w-1001', ''],
    ['NOT abc', ''],
    ['^W-1', ''],
    ['(w-1', ''],
    ['\\', ''],
    ["'", 'W-1002'],
    // A match does not reach from one field into the next.
    ['W-1001SHORT', ''],
    ['7F Long', ''],
    ['RS77RS78', ''],
    ['  W-1001  ', 'W-1001'],
    [' ', 'W-1002 W-1001'],
    ['', 'W-1002 W-1001'],
    ['zzz', ''],
  ]
  for (const [text, expected] of table) {
    test(`"${text}" finds ${expected || 'nothing'}`, async () => {
      for (const shop of [t.shop, t.remote]) {
        const answer = await shop.orders.list({ search: text })
        assert.deepEqual(
          [ids(answer).join(' '), answer.count],
          [expected, expected === '' ? 0 : expected.split(' ').length],
        )
      }
    })
  }

  test('follows every change: of numbers, of parcels, and an order that is gone', async () => {
    await using t = await createTestApp()
    const { ctx } = t.app
    const { id } = await addOrder(t, { order_id: 'W-1' })
    const found = async (text: string) => (await t.shop.orders.list({ search: text })).count
    await ctx.db
      .updateTable('fulfillment_order')
      .set({ distributor_order_id: 'LATER99' })
      .where('id', '=', id)
      .execute()
    assert.deepEqual([await found('later99'), await found('W-1')], [1, 1])
    await ctx.db
      .insertInto('parcel')
      .values({
        fulfillment_order_id: id,
        subscriber_id: 's',
        tracking_number: 'PARCEL55',
        company: null,
        method: null,
        shipped_on: null,
        url: null,
        status: null,
        updated_at: 0,
      })
      .execute()
    assert.deepEqual([await found('parcel55'), await found('later99')], [1, 1])
    await ctx.db.deleteFrom('parcel').execute()
    assert.deepEqual([await found('parcel55'), await found('later99')], [0, 1])
    await ctx.db.updateTable('fulfillment_order').set({ visible: 0 }).execute()
    assert.equal(await found('later99'), 0)
    await ctx.db.deleteFrom('purchase_order').execute()
    await ctx.db.deleteFrom('fulfillment_order').execute()
    assert.deepEqual(await search(ctx.engine, 'later99'), [])
  })

  test('finds what a plain look at every text finds', async () => {
    await using t = await createTestApp()
    const letters = fc.string({ unit: fc.constantFrom(...'aAbB1-_%\'" éÉ'), maxLength: 12 })
    const names: string[] = []
    fc.assert(
      fc.property(letters, (name) => {
        names.push(name)
      }),
      { numRuns: runsOnRecord(150) },
    )
    for (const [i, customer_name] of names.entries())
      await addOrder(t, { order_id: `#${i}`, customer_name, po_number: '.', po_given: '.' })
    await fc.assert(
      fc.asyncProperty(
        fc
          .string({ unit: fc.constantFrom(...'aAbB1-_%\'" éÉ'), minLength: 1, maxLength: 5 })
          .filter((text) => text.trim() !== ''),
        async (text) => {
          const expected = names.flatMap((name, i) =>
            name.toLowerCase().includes(text.trim().toLowerCase()) || `#${i}`.includes(text.trim())
              ? [`#${i}`]
              : [],
          )
          const { count } = await t.shop.orders.list({ search: text, limit: 100 })
          // Of two letters with accents that differ in case, a search of one or two characters
          // takes only alike ones.
          if (/[éÉ]{2}/.test(text) && text.trim().length < 3) return
          assert.equal(count, expected.length, JSON.stringify(text))
        },
      ),
      { numRuns: runsOnRecord(300) },
    )
  })
})

describe('the history', () => {
  let t: TestApp
  before(async () => {
    t = await createTestApp()
    const at = (day: number, hours = 12) => Date.UTC(2026, 10, day) + hours * HOUR
    await addOrder(t, {
      order_id: 'A',
      order_date: at(10, 0),
      distid: 'RSR',
      po_number: 'PO-A',
      parts: [{ distributor_order_id: '71' }, { distributor_order_id: '72' }],
      parcels: ['T1', 'T2'],
      order_status: 'Fulfilled',
      ship_status: 'delivered',
    })
    await addOrder(t, {
      order_id: 'B',
      order_date: at(10, 24) - 1,
      distid: 'LIP',
      po_number: 'BSHORT',
      po_given: 'B-long',
      parts: [{ distributor_order_id: '72' }],
      order_status: 'Submitted',
      order_source: 'web',
    })
    await addOrder(t, {
      order_id: 'C',
      order_date: at(11, 0),
      distid: 'RSR',
      po_number: 'PO-A',
      order_status: 'Cancelled',
    })
    await addOrder(t, {
      order_id: 'PO-A',
      order_date: at(12),
      distid: 'ZND',
      po_number: 'PO-D',
      parcels: ['A'],
      order_status: 'Fulfilled',
      ship_status: 'in_transit',
    })
    await addOrder(t, { order_id: 'hidden', po_number: 'PO-A', visible: 0, parcels: ['T1'] })
    const other = await otherShop(t)
    await addOrder(t, {
      order_id: 'A',
      po_number: 'PO-A',
      subscriber_id: other.id,
      parts: [{ distributor_order_id: '71' }],
      parcels: ['T1'],
    })
    await addFailure(t, {
      order_id: 'F1',
      po_number: 'PF1',
      po_given: 'PF1-long',
      failed_at: at(10),
      distid: 'LIP',
    })
    await addFailure(t, {
      order_id: 'A',
      po_number: 'PF2',
      failed_at: at(11, 24) - 1,
      order_source: 'web',
      reason: 'No such item',
    })
    await addFailure(t, { order_id: 'A', subscriber_id: other.id, failed_at: at(11) })
  })
  after(() => t.close())

  const table: [query: string, orders: string, failures: string][] = [
    ['', 'PO-A C B A', 'PF2 PF1'],
    ['include_errors=true', 'PO-A C B A', 'PF2 PF1'],
    ['include_errors=1', 'PO-A C B A', 'PF2 PF1'],
    ['include_errors=false', 'PO-A C B A', ''],
    ['include_errors=0', 'PO-A C B A', ''],
    // Order id, PO as sent or as given, any distributor number, any parcel.
    ['reference=A', 'PO-A A', 'PF2'],
    ['reference=PO-A', 'PO-A C A', ''],
    ['reference=BSHORT', 'B', ''],
    ['reference=B-long', 'B', ''],
    ['reference=71', 'A', ''],
    ['reference=72', 'B A', ''],
    ['reference=71%2C%2072', 'A', ''],
    ['reference=T1', 'A', ''],
    ['reference=T2', 'A', ''],
    ['reference=PF1-long', '', 'PF1'],
    ['reference=PF1', '', 'PF1'],
    ['reference=t1', '', ''],
    ['reference=T', '', ''],
    ['reference=%25', '', ''],
    ['reference=hidden', '', ''],
    ['reference=T1%20', '', ''],
    ['order_id=A', 'A', 'PF2'],
    ['order_id=a', '', ''],
    ['order_id=PO-A', 'PO-A', ''],
    ['po_number=PO-A', 'C A', ''],
    ['po_number=B-long', 'B', ''],
    ['po_number=BSHORT', 'B', ''],
    ['po_number=A', '', ''],
    ['po_number=PF1-long', '', 'PF1'],
    ['distributor_order_id=71', 'A', 'PF2 PF1'],
    ['distributor_order_id=72', 'B A', 'PF2 PF1'],
    ['distributor_order_id=71, 72', 'A', 'PF2 PF1'],
    ['distributor_order_id=7', '', 'PF2 PF1'],
    ['tracking_number=T2', 'A', 'PF2 PF1'],
    ['tracking_number=A', 'PO-A', 'PF2 PF1'],
    ['tracking_number=71', '', 'PF2 PF1'],
    ['distid=RSR', 'C A', 'PF2'],
    ['distid=LIP', 'B', 'PF1'],
    ['distid=rsr', '', ''],
    ['distid=NONE', '', ''],
    ['order_source=web', 'B', 'PF2'],
    ['order_source=cockpit_cart', 'PO-A C A', 'PF1'],
    ['order_status=Fulfilled', 'PO-A A', 'PF2 PF1'],
    ['order_status=FFL%20Hold', '', 'PF2 PF1'],
    ['ship_status=delivered', 'A', 'PF2 PF1'],
    ['ship_status=in_transit', 'PO-A', 'PF2 PF1'],
    ['ship_status=failure', '', 'PF2 PF1'],
    ['from=2026-11-10', 'PO-A C B A', 'PF2 PF1'],
    ['from=2026-11-11', 'PO-A C', 'PF2'],
    ['to=2026-11-10', 'B A', 'PF1'],
    ['to=2026-11-09', '', ''],
    ['from=2026-11-10&to=2026-11-10', 'B A', 'PF1'],
    ['from=2026-11-11&to=2026-11-11', 'C', 'PF2'],
    ['from=2026-11-13', '', ''],
    ['from=0001-01-01&to=9999-12-31', 'PO-A C B A', 'PF2 PF1'],
    // All of them together.
    ['reference=72&distid=RSR', 'A', ''],
    ['reference=A&order_id=A', 'A', 'PF2'],
    ['reference=T1&tracking_number=T2', 'A', ''],
    ['po_number=PO-A&order_status=Cancelled', 'C', ''],
    ['po_number=PO-A&from=2026-11-11', 'C', ''],
    ['reference=PO-A&to=2026-11-10', 'A', ''],
    [
      'distid=RSR&order_status=Fulfilled&ship_status=delivered&order_source=cockpit_cart' +
        '&from=2026-11-10&to=2026-11-10',
      'A',
      '',
    ],
    ['order_id=A&po_number=PO-A&distributor_order_id=71&tracking_number=T1', 'A', ''],
    ['order_id=A&po_number=PO-D', '', ''],
    ['order_id=A&distid=RSR&order_source=web', '', 'PF2'],
    ['other=1', 'PO-A C B A', 'PF2 PF1'],
    ['limit=1', 'PO-A', 'PF2'],
    ['limit=1&offset=1', 'C', 'PF2'],
    ['limit=1&offset=9', '', 'PF2'],
    ['reference=PO-A&limit=2', 'PO-A C', ''],
    ['reference=PO-A&limit=2&offset=2', 'A', ''],
    ['distid=RSR&limit=1&offset=1', 'A', 'PF2'],
  ]
  for (const [query, orders, failures] of table) {
    const found = `${orders || 'no order'}, ${failures || 'no failure'}`
    test(`${query || 'everything'} is ${found}`, async () => {
      const { status, body } = await t.json(`/v1/fulfillment/history?${query}`)
      assert.equal(status, 200)
      assert.deepEqual(
        [
          ids(body.data).join(' '),
          body.data.errors.map(({ po_number: po }: { po_number: string }) => po).join(' '),
        ],
        [orders, failures],
      )
      if (!/limit|offset/.test(query))
        assert.equal(body.data.count, orders === '' ? 0 : orders.split(' ').length)
      const {
        include_errors: withErrors,
        limit,
        offset,
        ...texts
      } = Object.fromEntries(new URLSearchParams(query))
      const input = {
        ...texts,
        ...(withErrors !== undefined && {
          include_errors: withErrors === 'true' || withErrors === '1',
        }),
        ...(limit !== undefined && { limit: Number(limit) }),
        ...(offset !== undefined && { offset: Number(offset) }),
      }
      for (const shop of [t.shop, t.remote])
        assert.deepEqual(await shop.fulfillment.history(input), body.data)
    })
  }

  test('counts all pages', async () => {
    assert.equal(
      (await t.shop.fulfillment.history({ reference: 'PO-A', limit: 1, offset: 1 })).count,
      3,
    )
    assert.equal(
      (await t.shop.fulfillment.history({ distid: 'RSR', limit: 1, offset: 1 })).count,
      2,
    )
  })

  test('failures are as the contract has them', async () => {
    const { errors } = await t.remote.fulfillment.history({ order_id: 'A' })
    assert.deepEqual(errors, [
      {
        failure_timestamp: '2026-11-11 23:59:59',
        order_source: 'web',
        order_id: 'A',
        po_number: 'PF2',
        distid: 'RSR',
        failure_reason: 'No such item',
      },
    ])
  })

  const bad: [query: string, path: string, message: RegExp][] = [
    [
      'order_status=fulfilled',
      'order_status',
      new RegExp(
        'must be one of Pending, Submitted, FFL Hold, Backordered, Partially Fulfilled, ' +
          'Not Fulfilled, Fulfilled, Cancelled',
      ),
    ],
    ['order_status=', 'order_status', /one of/],
    ['order_status=Pending&order_status=Submitted', 'order_status', /more than once/],
    [
      'ship_status=shipped',
      'ship_status',
      new RegExp(
        'must be one of pre_transit, in_transit, out_for_delivery, delivered, ' +
          'return_to_sender, failure',
      ),
    ],
    ['from=2026-02-29', 'from', /must be a date, YYYY-MM-DD/],
    ['from=2026-13-01', 'from', /date/],
    ['from=11/10/2026', 'from', /date/],
    ['from=', 'from', /date/],
    ['from=2026-11-10T00:00:00Z', 'from', /date/],
    ['to=20261110', 'to', /date/],
    ['to=%202026-11-10', 'to', /date/],
    ['to=10000-01-01', 'to', /date/],
    ['limit=5e0', 'limit', /digits alone/],
    ['limit=5.0', 'limit', /digits alone/],
    ['offset=1e2', 'offset', /digits alone/],
    ['offset=+1', 'offset', /digits alone/],
    ['include_errors=yes', 'include_errors', /true, false, 1 or 0/],
    ['reference=', 'reference', /at least 1/],
    [`reference=${'x'.repeat(201)}`, 'reference', /at most 200/],
    ['order_id=', 'order_id', /at least/],
    ['po_number=', 'po_number', /at least/],
    ['distributor_order_id=', 'distributor_order_id', /at least/],
    ['tracking_number=', 'tracking_number', /at least/],
    ['distid=', 'distid', /at least/],
    ['order_source=', 'order_source', /at least/],
    ['reference=%00', 'reference', /control/],
    ['tracking_number=a%1F', 'tracking_number', /control/],
    ['reference=a&reference=b', 'reference', /more than once/],
  ]
  for (const [query, path, message] of bad) {
    test(`${query.slice(0, 40)} is 400 and names ${path}`, async () => {
      const { status, body } = await t.json(`/v1/fulfillment/history?${query}`)
      assert.deepEqual(
        [status, body.error.code, body.error.details[0].path],
        [400, 'invalid_parameter', path],
      )
      assert.match(body.error.details[0].message, message)
    })
  }

  for (const query of [
    'from=2024-02-29',
    `reference=${'x'.repeat(200)}`,
    'from=2026-11-10&to=2026-11-10',
  ])
    test(`${query.slice(0, 40)} is taken`, async () =>
      assert.equal((await t.request(`/v1/fulfillment/history?${query}`)).status, 200))

  test('tells all faults at once', async () => {
    const { body } = await t.json('/v1/fulfillment/history?limit=0&order_status=x&from=y')
    assert.deepEqual(body.error.details.map(({ path }: { path: string }) => path).sort(), [
      'from',
      'limit',
      'order_status',
    ])
  })

  test('shows each shop its own', async () => {
    const other = t.app.as('Other shop')
    assert.deepEqual((await other.fulfillment.history({ reference: 'T1' })).count, 1)
    assert.deepEqual((await other.fulfillment.history({ reference: 'T2' })).count, 0)
    assert.deepEqual(ids(await other.orders.list()), ['A'])
    assert.equal((await other.fulfillment.history()).errors.length, 1)
  })
})

describe('many records', () => {
  const RECORDS = 18_000
  test('a page of many candidates is the page of all of them, in every order', async () => {
    await using t = await createTestApp()
    const { ctx } = t.app
    const { id: subscriber } = await findSubscriber(ctx, t.subscriber)
    await addOrder(t)
    const { id: placement } = await ctx.db
      .selectFrom('placement')
      .select('id')
      .executeTakeFirstOrThrow()
    await ctx.db.deleteFrom('purchase_order').execute()
    await ctx.db.deleteFrom('fulfillment_order').execute()
    // 18,000 records, more than one step of each kind; every ninth one of another shop. With ids
    // that nobody has they are many.
    const other = await otherShop(t)
    await ctx.engine.atomic(ctx, async ({ db }) => {
      for (let from = 1; from <= RECORDS; from += 500) {
        await db
          .insertInto('fulfillment_order')
          .values(
            Array.from({ length: 500 }, (_, i) => {
              const n = from + i
              return {
                placement_id: placement,
                group_no: n,
                subscriber_id: n % 9 === 0 ? other.id : subscriber,
                order_id: `M-${(n * 7919) % RECORDS}`,
                order_source: n % 2 ? 'web' : 'cockpit_cart',
                order_date: NOON - (n % 401) * 3 * HOUR,
                distid: 'RSR',
                mode: 'simulator' as const,
                visible: n % 10 === 0 ? 0 : 1,
                order_status: n % 5 ? ('Fulfilled' as const) : ('Submitted' as const),
                distributor_order_id: null,
                po_number: 'SAME',
                po_given: 'SAME',
                ffl: null,
                customer_name: 'X',
                ffl_required: 0,
                ship_to_store: 0,
                dist_order_items: '[]',
                ship_date: n % 4 ? null : `2026-11-${String((n % 20) + 1).padStart(2, '0')}`,
                ship_company: null,
                ship_method: null,
                ship_status: null,
                ship_tracking_number: null,
                ship_tracking_url: null,
              }
            }),
          )
          .execute()
      }
    })
    const rows = await ctx.read
      .selectFrom('fulfillment_order')
      .selectAll()
      .where('subscriber_id', '=', subscriber)
      .where('visible', '=', 1)
      .execute()
    const { engine } = ctx
    const candidates = Array.from({ length: RECORDS }, (_, i) => i + 1)
    const many = Array.from({ length: 25_000 }, (_, i) => i + 1)
    for (const sort of SORTS)
      for (const direction of DIRECTIONS) {
        const sorted = [...rows]
          .sort((a, b) => {
            const [x, y] = [a[sort] ?? '', b[sort] ?? '']
            return (x < y ? -1 : x > y ? 1 : a.id - b.id) * (direction === 'asc' ? 1 : -1)
          })
          .map(({ id }) => id)
        for (const offset of [
          0,
          24,
          3_000,
          rows.length - 30,
          rows.length - 1,
          rows.length,
          rows.length + 5,
        ]) {
          const expected = { count: rows.length, ids: sorted.slice(offset, offset + 25) }
          for (const given of [candidates, many])
            assert.deepEqual(
              await pageOfIds(engine, subscriber, given, { sort, direction, limit: 25, offset }),
              expected,
            )
          assert.deepEqual(
            await engine.look(() => pageBySort(subscriber, { sort, direction, limit: 25, offset })),
            expected,
          )
        }
      }
    // Every pair of bounds, at and around the ends of the spans that are counted.
    const day = (ms: number) => Math.floor(ms / DAY)
    const bounds = [
      undefined,
      -5,
      ...[0, 1, 5, 16, 17, 18].map((days) => day(NOON) - days),
      ...[-33, -32, -31, -1, 0, 1, 31, 32].map((days) => Math.floor(day(NOON) / 32) * 32 + days),
      9e6,
    ]
    for (const fromDay of bounds)
      for (const toDay of bounds) {
        const inside = rows
          .filter(
            ({ order_date: at, order_source: source }) =>
              day(at) >= (fromDay ?? 0) && day(at) <= (toDay ?? 9e6) && source === 'web',
          )
          .sort((a, b) => b.order_date - a.order_date || b.id - a.id)
          .map(({ id }) => id)
        for (const offset of [0, 7, Math.max(0, inside.length - 3)]) {
          assert.deepEqual(
            await engine.look(() =>
              pageByDate(subscriber, {
                scope: { fromDay, toDay, order_source: 'web' },
                direction: 'desc',
                limit: 5,
                offset,
              }),
            ),
            { count: inside.length, ids: inside.slice(offset, offset + 5) },
            `${fromDay} ${toDay} ${offset}`,
          )
        }
      }
    for (const distid of ['RSR', 'LIP']) {
      const wanted = { scope: { distid }, direction: 'asc', limit: 1, offset: 0 } as const
      const { count } = await engine.look(() => pageByDate(subscriber, wanted))
      assert.equal(count, distid === 'RSR' ? rows.length : 0)
    }
    assert.equal(
      (await t.shop.fulfillment.history({ reference: 'SAME', order_status: 'Submitted' })).count,
      rows.filter(({ order_status }) => order_status === 'Submitted').length,
    )
    assert.equal((await t.shop.orders.list({ search: 'same' })).count, rows.length)
  })
})

describe('counts', () => {
  test('agree with the records after any writes, kept or rolled back', async () => {
    await using t = await createTestApp()
    const { ctx } = t.app
    const rows = (sql: string) => sqlOnRecord(t.app.dir, sql)
    const made: number[] = []
    const change = fc.record(
      {
        visible: fc.constantFrom(0, 1),
        order_date: fc.constantFrom(0, 1, 2, 40, 400).map((days) => NOON + days * DAY),
        distid: fc.constantFrom('RSR', 'LIP'),
        order_source: fc.constantFrom('web', 'cockpit_cart'),
        order_status: fc.constantFrom('Submitted' as const, 'Fulfilled' as const),
        ship_status: fc.constantFrom(null, 'delivered' as const, 'in_transit' as const),
      },
      { requiredKeys: [] },
    )
    const act = fc.oneof(
      { weight: 3, arbitrary: change.map((row) => ({ kind: 'insert' as const, row })) },
      {
        weight: 5,
        arbitrary: fc
          .tuple(change, fc.nat())
          .map(([row, n]) => ({ kind: 'update' as const, row, n })),
      },
      fc.nat().map((n) => ({ kind: 'delete' as const, n })),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.array(act, { maxLength: 5 }), fc.boolean()), { maxLength: 6 }),
        async (transactions) => {
          for (const [acts, isKept] of transactions) {
            const before = [...made]
            await ctx.engine
              .atomic(ctx, async (tx) => {
                for (const { kind, ...rest } of acts) {
                  const target = 'n' in rest ? made[rest.n % Math.max(1, made.length)] : undefined
                  if (kind === 'insert' && 'row' in rest)
                    made.push(
                      (
                        await addOrder(
                          { ...t, app: { ...t.app, ctx: tx } },
                          { parts: [], ...rest.row },
                        )
                      ).id,
                    )
                  else if (
                    kind === 'update' &&
                    target !== undefined &&
                    'row' in rest &&
                    Object.keys(rest.row).length > 0
                  )
                    await tx.db
                      .updateTable('fulfillment_order')
                      .set(rest.row)
                      .where('id', '=', target)
                      .execute()
                  else if (kind === 'delete' && target !== undefined) {
                    await tx.db.deleteFrom('fulfillment_order').where('id', '=', target).execute()
                    made.splice(made.indexOf(target), 1)
                  }
                }
                if (!isKept) throw new Error('taken back')
              })
              .catch((error: Error) => {
                if (error.message !== 'taken back') throw error
              })
            if (!isKept) made.splice(0, made.length, ...before)
          }
          assert.deepEqual(
            await rows('SELECT * FROM fulfillment_count ORDER BY 1, 2, 3, 4, 5, 6, 7'),
            await rows(`
        SELECT subscriber_id, days, order_date / 86400000 / days AS span, distid, order_source,
    order_status, coalesce(ship_status, '') AS ship_status, count(*) AS orders
        FROM fulfillment_order, (SELECT 1 AS days UNION SELECT 32) AS spans WHERE visible = 1
  GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 5, 6, 7`),
          )
          assert.deepEqual(
            await rows('SELECT rowid AS id, text FROM fulfillment_search ORDER BY rowid'),
            await rows('SELECT id, text FROM fulfillment_text ORDER BY id'),
          )
        },
      ),
      { numRuns: runsOnRecord(60) },
    )
    if (!isOnPostgres)
      assert.deepEqual(ctx.engine.reader.raw.pragma('integrity_check'), [{ integrity_check: 'ok' }])
  })

  test("an id that an insert returns is the record's own", async () => {
    await using t = await createTestApp()
    await addOrder(t, { parcels: ['P1'] })
    const row = await t.app.ctx.read
      .selectFrom('fulfillment_order')
      .selectAll()
      .executeTakeFirstOrThrow()
    const { id } = await t.app.ctx.db
      .insertInto('fulfillment_order')
      .values({ ...row, id: 500, group_no: 1 })
      .returning('id')
      .executeTakeFirstOrThrow()
    assert.equal(id, 500)
  })
})
