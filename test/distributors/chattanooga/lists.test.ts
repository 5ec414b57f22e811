/** How an order is found again at Chattanooga, what is heard of it, and the credential check. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DAY } from '../../../lib/core/clock.js'
import { NOT_APPROVED } from '../../../lib/distributors/builtin/chattanooga/api.js'
import { MOST_PAGES } from '../../../lib/distributors/builtin/chattanooga/lists.js'
import { checkLogin } from '../../../lib/distributors/builtin/chattanooga/orders.js'
import type { OpenOrder, OrderUpdate, Search } from '../../../lib/distributors/fulfillment.js'
import { Unreachable } from '../../../lib/distributors/session/session.js'
import {
  AUTHORIZATION,
  broken,
  find,
  json,
  NOW,
  orderOf,
  text,
  updates,
  withServer,
} from './rig.js'
import type { Answer, Call } from './rig.js'

const ORDER = orderOf()
/** A row of the list, as much as is told of it at most. */
const ROW = {
  order_number: 555,
  purchase_order_number: ORDER.po,
  order_date: '2026-11-21 19:30:00',
  ship_to_address: { name: 'Pat Doe', line_1: '12 Main St', zip: '85001' },
  order_items: [
    { item_number: 'SLW-07919', order_quantity: '2', customer_reference: ORDER.clientRef },
  ],
}
const OTHER = { order_number: 1, purchase_order_number: 'OTHER' }
const day = (ago: number) => new Date(NOW - ago * DAY).toISOString().slice(0, 10)

const queryOf = ({ path }: Call) => new URLSearchParams(path.split('?')[1])
/** A list of pages, by the page that is asked for. */
const pages =
  (...rows: readonly unknown[][]): Answer =>
  (call, response) => {
    const page = Number(queryOf(call).get('page'))
    const pagination = { page, per_page: 20, page_count: rows.length }
    json({ orders: rows[page - 1] ?? [], pagination })(call, response)
  }
const searched = (answer: Answer, order = ORDER): Promise<Search & { calls: string[] }> =>
  withServer(answer, async ({ session, calls }) => ({
    ...(await find!(session, order)),
    calls: calls.map(({ path }) => path),
  }))

describe('a search', () => {
  test('reads the list of all orders, and tells what it tells', async () => {
    assert.deepEqual(await searched(pages([OTHER], [ROW])), {
      outcome: 'answered',
      orders: [
        {
          number: '555',
          po: ORDER.po,
          lines: [{ distsku: 'SLW-07919', qty: 2 }],
          clientRef: ORDER.clientRef,
          placedAt: Date.UTC(2026, 10, 21, 19, 30),
          shipTo: { name: 'Pat Doe', address1: '12 Main St', zip: '85001' },
        },
      ],
      // GET orders (per_page <= 20)
      calls: ['orders?page=1&per_page=20', 'orders?page=2&per_page=20'],
    })
    assert.deepEqual(
      await searched(pages([{ order_number: 'A', purchase_order_number: ORDER.po }])),
      {
        outcome: 'answered',
        orders: [{ number: 'A', po: ORDER.po }],
        calls: ['orders?page=1&per_page=20'],
      },
    )
  })

  test('shows what has our PO, also changed in its writing, or our reference', async () => {
    for (const [row, isShown] of [
      [{ ...OTHER, purchase_order_number: 'w-1-abcd-010' }, true],
      [{ ...OTHER, purchase_order_number: 'W1ABCD010' }, true],
      [{ ...OTHER, purchase_order_number: ' W-1-ABCD-0' }, true],
      [{ ...OTHER, purchase_order_number: 'W-1-ABCD-011' }, false],
      [{ ...OTHER, purchase_order_number: null }, false],
      [{ ...OTHER, purchase_order_number: '' }, false],
      [{ ...ROW, purchase_order_number: 'OTHER' }, true],
    ] as const) {
      const found = await searched(pages([row]))
      assert.ok(found.outcome === 'answered')
      assert.equal(found.orders.length, isShown ? 1 : 0, JSON.stringify(row))
    }
  })

  test('takes for a reference only what may be one of ours as a whole', async () => {
    for (const [references, clientRef] of [
      [['REF00000000000000001', 'ref00000000000000001'], 'REF00000000000000001'],
      [['REF00000000000000009'], 'REF00000000000000009'],
      [['REF000000000'], undefined],
      [['012345678905'], undefined],
      [['REF00000000000000001', null], undefined],
      [[], undefined],
    ] as const) {
      const found = await searched(
        pages([
          {
            ...ROW,
            order_items: references.map((customer_reference) => ({ customer_reference })),
          },
        ]),
      )
      assert.ok(found.outcome === 'answered')
      assert.equal(found.orders[0]!.clientRef, clientRef)
      assert.equal(found.orders[0]!.lines, undefined)
    }
  })

  test('stops where the list is surely older than the order, and nowhere else', async () => {
    const dated = (...days: (string | undefined)[]) =>
      days.map((order_date) => ({ ...OTHER, order_date }))
    const reads = async (...rows: unknown[][]) => (await searched(pages(...rows))).calls.length
    // Newest first: what follows is older still.
    assert.equal(await reads(dated(day(0), day(1)), dated(day(2), day(5)), [ROW]), 2)
    assert.equal(await reads(dated(day(0), day(2)), [ROW]), 2, 'not yet clearly older')
    // Oldest first, by something else, without dates, or all of one day: the rest is read.
    assert.equal(await reads(dated(day(9), day(8)), dated(day(7), day(6)), [ROW]), 3)
    assert.equal(await reads(dated(day(8), day(9), day(7)), [ROW]), 2)
    assert.equal(await reads(dated(day(9), day(9)), [ROW]), 2)
    assert.equal(await reads(dated(day(8), undefined, day(9)), [ROW]), 2)
    assert.equal(await reads(dated(day(8), 'lately', day(9)), [ROW]), 2)
  })

  for (const [what, answer, reason] of [
    ['HTTP 503', json({}, 503), /HTTP 503$/],
    ['an error with HTTP 200', json({ error_code: 9000, message: 'No.' }), /9000: No\.$/],
    ['a page in HTML', text('<html>', 200, 'text/html'), /HTML/],
    ['an answer that is cut off', text('{"orders":['), /cannot be read/],
    ['an answer that is empty', text(''), /cannot be read/],
    ['too many questions', json({}, 429), /429/],
    ['a refused login', json({ error_code: 4001 }, 401), /login was refused/],
    ['a broken connection', broken, /broken off/],
    ['no list', json({ pagination: { page: 1, page_count: 1 } }), /no list/],
    ['no number of pages', json({ orders: [] }), /how many pages/],
    [
      'a strange number of pages',
      json({ orders: [], pagination: { page_count: '-1' } }),
      /how many pages/,
    ],
    [
      'one page again and again',
      json({ orders: [OTHER], pagination: { page: 1, page_count: 2 } }),
      /page 1 came/,
    ],
    ['an empty page before the last', pages([OTHER], [], [ROW]), /page 2 of 3 .* is empty/],
    ['an order without a PO at all', pages([{ order_number: 5 }]), /without a number/],
    ['an order without a number', pages([{ ...ROW, order_number: null }]), /without a number/],
    ['an order that is none', pages([null as never]), /without a number/],
  ] as [string, Answer, RegExp][])
    test(`proves nothing by ${what}`, async () => {
      const { outcome, reason: why } = (await searched(answer)) as Search & { reason: string }
      assert.equal(outcome, 'unreachable')
      assert.match(why, reason)
      await withServer(answer, async ({ session }) => {
        await assert.rejects(async () => {
          for await (const _ of updates!(session, NOW, [])) assert.fail()
        }, reason)
      })
    })

  test('says that it cannot tell of a list that is too long', async () => {
    const long = (count: number) =>
      searched((call, response) => {
        const page = Number(queryOf(call).get('page'))
        json({ orders: [OTHER], pagination: { page, page_count: count } })(call, response)
      })
    const whole = await long(MOST_PAGES)
    assert.deepEqual([whole.outcome, whole.calls.length], ['answered', MOST_PAGES])
    const cut = await long(MOST_PAGES + 1)
    assert.deepEqual([cut.outcome, cut.calls.length], ['unreachable', MOST_PAGES])
  })
})

describe('news', () => {
  const open = (n: number, more: Partial<OpenOrder> = {}): OpenOrder => ({
    number: String(n),
    po: `PO-${n}`,
    clientRef: `REF${n}`,
    serial: n,
    lane: 'all',
    shipToStore: false,
    placedAt: NOW - DAY,
    takenAt: NOW - DAY,
    ...more,
  })
  const isShipments = ({ path }: Call) => path.startsWith('shipments/by-purchase-order')
  async function newsOf(
    { shipments = [] as unknown[], orders = [] as unknown[] },
    asked: readonly OpenOrder[],
  ): Promise<{ news: OrderUpdate[]; calls: Call[] }> {
    const answer: Answer = (call, response) =>
      json({
        ...(isShipments(call) ? { shipments } : { orders }),
        pagination: { page: Number(queryOf(call).get('page')), page_count: 1 },
      })(call, response)
    return withServer(answer, async ({ session, calls }) => {
      const news: OrderUpdate[] = []
      for await (const update of updates!(session, NOW - DAY, asked)) news.push(update)
      return { news, calls }
    })
  }

  test('of parcels are asked for by POs, 25 at a time, with those that were received', async () => {
    for (const [count, sizes] of [
      [0, []],
      [25, [25]],
      [26, [25, 1]],
    ] as const) {
      const asked = Array.from({ length: count }, (_, i) => open(i))
      const { calls } = await newsOf({}, [...asked, ...asked])
      const queries = calls.filter(isShipments).map(queryOf)
      assert.deepEqual(
        queries.map((query) => query.get('purchase_order_numbers')!.split(',').length),
        sizes,
      )
      for (const query of queries)
        assert.deepEqual(
          ['only_return_unreceived_shipments', 'page', 'per_page'].map((name) => query.get(name)),
          ['0', '1', '25'],
        )
    }
  })

  test('have number, carrier and a page to follow each parcel, as shipments or as packages', async () => {
    const parcel = (trackingNumber: string, company: string | null, more = {}) => ({
      trackingNumber,
      company,
      method: null,
      shippedOn: null,
      url: null,
      status: 'in_transit',
      ...more,
    })
    const shipped = (order: object) =>
      newsOf({ shipments: [{ purchase_order_number: 'PO-7', orders: [order] }] }, [open(7)])
    const { news } = await shipped({
      order_number: 7,
      shipments: [
        { tracking_number: '1Z7', carrier_name: 'UPS' },
        { tracking_number: ' ' },
        { packages: [{ tracking_number: '79', carrier_name: 'FedEx Ground' }] },
      ],
      packages: [{ tracking_number: 'X', carrier_name: 'Mule' }],
    })
    assert.deepEqual(news, [
      {
        number: '7',
        po: 'PO-7',
        // The time of the order, since no other is told: it is the same at every look.
        at: NOW - DAY,
        status: 'Fulfilled',
        parcels: [
          parcel('1Z7', 'UPS', { url: 'https://www.ups.com/track?tracknum=1Z7' }),
          parcel('79', 'FedEx Ground', {
            url: 'https://www.fedex.com/fedextrack/?trknbr=79',
          }),
          parcel('X', 'Mule'),
        ],
      },
    ])
    const dated = await shipped({
      order_number: 7,
      shipments: [{ tracking_number: 'X', ship_date: '2026-11-20' }],
    })
    assert.deepEqual(
      [dated.news[0]!.at, dated.news[0]!.parcels![0]!.shippedOn],
      [Date.UTC(2026, 10, 20, 18), '2026-11-20'],
    )
    for (const order of [{ order_number: 7 }, { order_number: 7, shipments: [] }, null])
      assert.deepEqual((await shipped(order as object)).news, [])
  })

  test('of every order come from the list, with a status where it can mean one thing alone', async () => {
    const told = async (more: object) => (await newsOf({ orders: [{ ...ROW, ...more }] }, [])).news
    assert.deepEqual(
      await told({}),
      [
        {
          number: '555',
          po: ORDER.po,
          at: Date.UTC(2026, 10, 21, 19, 30),
          lines: [{ distsku: 'SLW-07919', qty: 2 }],
          clientRef: ORDER.clientRef,
          placedAt: undefined,
          shipTo: { name: 'Pat Doe', address1: '12 Main St', zip: '85001' },
        },
      ].map(({ placedAt: _placedAt, ...news }) => news),
    )
    for (const [status, meant] of [
      ['Cancelled', 'Cancelled'],
      ['CANCELED', 'Cancelled'],
      ['Back-Ordered', 'Backordered'],
      ['Hold', undefined],
      ['Shipped', undefined],
      ['Partially cancelled', undefined],
      [7, undefined],
    ] as const) {
      assert.equal((await told({ status }))[0]!.status, meant)
      assert.equal((await told({ order_status: status }))[0]!.status, meant)
    }
  })
})

describe('a credential check', () => {
  for (const [name, answer, expected] of [
    ['an item is there', json({ items: [{}] }), 'valid'],
    ['no item is there', json({ items: [] }), 'valid'],
    ['the login is refused', json({ error_code: 4001 }, 401), 'invalid'],
    ['the address is not approved', json({}, 403), `unreachable: ${NOT_APPROVED}`],
    ['a proxy says no', text('<html>', 403, 'text/html'), `unreachable: ${NOT_APPROVED}`],
    [
      'the account has no permission',
      json({ error_code: 4003, message: AUTHORIZATION }, 403),
      'unreachable: the account may not use this part of the API (4003): ask your ' +
        'representative to permit it',
    ],
    ['it fails', json({ message: AUTHORIZATION }, 500), 'unreachable: HTTP 500'],
    ['the answer cannot be read', text('x'), 'unreachable: the reply has no list of items'],
    ['it is too many', json({}, 429), 'unreachable: HTTP 429: too many requests'],
    ['the connection breaks', broken, 'unreachable: the connection was broken off'],
  ] as [string, Answer, string][])
    test(`${name}: ${expected}`, async () =>
      withServer(answer, async ({ session, calls }) => {
        const outcome = await checkLogin(session).catch((error: unknown) => {
          assert.ok(error instanceof Unreachable)
          return `unreachable: ${error.message}`
        })
        assert.equal(outcome, expected)
        assert.deepEqual(
          calls.map(({ method, path }) => `${method} ${path}`),
          ['GET items?page=1&per_page=1'],
        )
      }))
})
