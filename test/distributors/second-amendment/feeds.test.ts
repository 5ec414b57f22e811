/** 2nd Amendment Wholesale's products, stock and shipments, as its API tells them. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { DAY } from '../../../lib/core/clock.js'
import { presets } from '../../../lib/distributors/builtin/index.js'
import { feeds } from '../../../lib/distributors/builtin/second-amendment/account-feed.js'
import { restrictedIn, STATES } from '../../../lib/distributors/builtin/second-amendment/feed.js'
import { updates } from '../../../lib/distributors/builtin/second-amendment/shipments.js'
import type { OrderUpdate } from '../../../lib/distributors/fulfillment.js'
import { checkFeed } from '../../../lib/feeds/check.js'
import { json, NOW, raw, withServer } from './server.js'
import type { Answer } from './server.js'

/** A row as the feed tells it; what a test does not say is as on most rows. */
const product = (stock_number: string, more: Record<string, unknown> = {}) => ({
  stock_number,
  upc: '856534007387',
  product_description: 'Gear Head Works Tailhook - Black | MOD 1',
  department_number: '11',
  manufacturer_id: '205',
  retail_price: '119.990000',
  dealer_price: 79.99,
  weight: '',
  inventory_qty: 4,
  model: 'Tailhook',
  manufacturer_name: 'Gear Head Works',
  mpn: 'TH1-BLK',
  allocated_closeout: '',
  description: 'A brace, "compact",\nand black.',
  image: 'th1-blk_1.jpg',
  ...Object.fromEntries(STATES.map((state) => [restrictedIn(state), ''])),
  ground_shipments_only: '',
  adult_signature_required: '',
  blocked_from_drop_ship: '',
  date_entered: '20210416',
  retail_map: '99.950000',
  category_ids: ['20', '43', '60', '2', '3'],
  moqpts: 0,
  moqpts_limit_end_dt: null,
  ...more,
})

async function bring(preset: string, path: string, answer: Answer): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'qm-2aw-'))
  const file = join(dir, 'feed.csv')
  try {
    await withServer({ answers: { [`GET ${path}`]: answer } }, ({ session }) =>
      feeds[preset]!.bring(session, { file, mark: null, holdUntil: async () => {} }),
    )
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** The offers of these rows, as the preset reads what the connector brings. */
async function offersOf(rows: readonly unknown[]) {
  const dir = mkdtempSync(join(tmpdir(), 'qm-2aw-'))
  try {
    const file = join(dir, 'feed.csv')
    await withServer({ answers: { 'GET feed/productV2': json(rows) } }, ({ session }) =>
      feeds['second-amendment']!.bring(session, { file, mark: null, holdUntil: async () => {} }),
    )
    return await checkFeed({ preset: presets['second-amendment']!, file, rows: 50, asOf: NOW })
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

describe('products', () => {
  test('become offers: price, MAP and MSRP, stock, whom they may go to, and where not', async () => {
    const { offers, rejects } = await offersOf([
      product('TH1-BLK'),
      product('G19', { category_ids: ['19', '21', '28', '2'], department_number: '1' }),
      product('BOLT', { category_ids: ['19', '30', '107'] }),
      product('CAN', { category_ids: ['20', '154'] }),
      product('LOWER', { category_ids: ['19', '53'] }),
      // Departments are RSR's: it is a handgun there.
      product('ODD', { category_ids: ['20'], department_number: '01' }),
      product('FIRE', { category_ids: ['25', '51'] }),
      product('NEW', { category_ids: ['777'] }),
      product('ALLOC', { allocated_closeout: 'Allocated' }),
      product('STORE', { blocked_from_drop_ship: 'Y' }),
      product('MAG', { category_ids: ['20', '35'], ca_restricted: 'Y', ny_restricted: '1' }),
      product('NOMAP', { retail_map: '0' }),
    ])
    assert.deepEqual(rejects, [])
    const of = (id: string) => offers.find(({ stockid }) => stockid === id)!
    const tailhook = of('TH1-BLK')
    assert.deepEqual(
      ['unit_price', 'map_price', 'msrp', 'qty_on_hand', 'upc', 'mfg_name'].map(
        (name) => tailhook[name],
      ),
      [79.99, 99.95, 119.99, 4, '856534007387', 'Gear Head Works'],
    )
    assert.equal(of('NOMAP')['map_price'], null)
    assert.deepEqual(
      offers.map((offer) =>
        ['stockid', 'product_class', 'ffl_req', 'drop_ship_flg'].map((name) => offer[name]),
      ),
      [
        ['TH1-BLK', 'FP', 0, 1],
        ['G19', 'FA', 1, 1],
        ['BOLT', 'FA', 1, 1],
        ['CAN', 'SO', 1, 1],
        ['LOWER', 'FA', 1, 1],
        ['ODD', 'FA', 1, 1],
        ['FIRE', 'HZ', 0, 0],
        ['NEW', 'OT', 0, 0],
        ['ALLOC', 'FP', 0, 1],
        ['STORE', 'FP', 0, 0],
        ['MAG', 'MG', 0, 1],
        ['NOMAP', 'FP', 0, 1],
      ],
    )
    assert.deepEqual(
      [of('ALLOC')['qty_on_hand'], of('MAG')['restricted_states']],
      [0, ['CA', 'NY']],
    )
  })

  test('with a flag that is none are bad rows: a restriction may have moved', async () => {
    const { rejects } = await offersOf([product('A', { tx_restricted: 'maybe' }), product('B')])
    assert.match(rejects[0]!.reason, /tx_restricted is "maybe", which is not a flag/)
  })

  test('are no feed where nothing of what is needed is told, or something else is', async () => {
    const { ca_restricted: _flag, ...without } = product('A') as Record<string, unknown>
    for (const [answer, reason] of [
      [json([without]), /no item of feed\/productV2 has ca_restricted/],
      [json({ message: 'no' }), /answers with something else/],
      [json(['A']), /an item of feed\/productV2 is no object/],
      [json({}, 500), /answers HTTP 500/],
      [raw('<html>', 403, 'text/html'), /ask your representative to approve it/],
      [raw('[{"a":1}'), /cut off in the middle/],
      [json({ message: 'not authorized' }, 401), /the login was refused/],
    ] as const)
      await assert.rejects(bring('second-amendment', 'feed/productV2', answer), reason)
  })
})

test('stock is quantities by SKU', async () => {
  const rows = [
    { sku: 'TH1-BLK', qty: 3, dealer_price: 79.99, ap_spend: 0 },
    { sku: 'A,1', qty: 0 },
  ]
  assert.equal(
    await bring('second-amendment-stock', 'feed/stockV2', json(rows)),
    'sku,qty,dealer_price\r\nTH1-BLK,3,79.99\r\n"A,1",0,\r\n',
  )
})

const FIXTURES = resolve('..', 'shared', 'data', 'fixtures')
const fixture = (name: string) => join(FIXTURES, `second_amendment_wholesale__${name}.json`)

describe(
  'what others have recorded',
  {
    skip: existsSync(fixture('catalog')) ? false : `the recorded answers are not here: ${FIXTURES}`,
  },
  () => {
    test('is read whole: two products, and four in stock', async () => {
      const { offers, rejects } = await offersOf(
        JSON.parse(readFileSync(fixture('catalog'), 'utf8')) as unknown[],
      )
      assert.deepEqual(rejects, [])
      assert.deepEqual(
        offers.map(({ stockid, qty_on_hand: qty }) => [stockid, qty]),
        [
          ['JT-SILSTOCK-10-CA', 0],
          ['TH1-BLK', 0],
        ],
      )
      const stock = await bring(
        'second-amendment-stock',
        'feed/stockV2',
        raw(readFileSync(fixture('inventory'), 'utf8')),
      )
      assert.equal(stock.split('\r\n').length, 6)
    })
  },
)

describe('the report of shipments', () => {
  const told = (rows: unknown, since = NOW) =>
    withServer(
      {
        now: NOW + DAY,
        answers: { 'GET shipmentsInformation/me?fromShipmentCreateAt=2026/11/20': json(rows) },
      },
      async ({ session, made }) => {
        const news: OrderUpdate[] = []
        for await (const update of updates(session, since)) news.push(update)
        assert.equal(made().length, 1)
        return news
      },
    )
  const row = (more: object = {}) => ({
    order_increment_id: '000012345',
    po_number: 'W-1-ABCD-010',
    created_at: '2026-11-21 20:00:00',
    items: [{ sku: 'TH1-BLK', qty: 2 }],
    shipping_address: { company: 'Desert Arms LLC', firstname: 'Pat', postcode: '85201' },
    tracks: [
      { track_number: '1Z999', carrier_code: 'ups', title: 'UPS Ground' },
      { track_number: '9400', carrier_code: 'usps', title: 'United States Postal Service' },
      { track_number: 'X1', carrier_code: 'custom', title: 'Truck' },
      { track_number: '', carrier_code: 'ups', title: '' },
    ],
    ...more,
  })

  test('is what has left: number, PO, parcels, and for whom', async () => {
    const parcel = { shippedOn: '2026-11-21', status: 'in_transit' }
    assert.deepEqual(await told([row()]), [
      {
        number: '000012345',
        po: 'W-1-ABCD-010',
        at: Date.UTC(2026, 10, 21, 20),
        status: 'Fulfilled',
        lines: [{ distsku: 'TH1-BLK', qty: 2 }],
        shipTo: { name: 'Desert Arms LLC', zip: '85201' },
        parcels: [
          {
            ...parcel,
            trackingNumber: '1Z999',
            company: 'UPS',
            method: 'Ground',
            url: 'https://www.ups.com/track?tracknum=1Z999',
          },
          {
            ...parcel,
            trackingNumber: '9400',
            company: 'USPS',
            method: null,
            url: 'https://tools.usps.com/go/TrackConfirmAction?tLabels=9400',
          },
          { ...parcel, trackingNumber: 'X1', company: null, method: 'Truck', url: null },
        ],
      },
    ])
  })

  test('may stand in a list of items, and may tell little', async () => {
    const [bare] = await told({ items: [{ order_increment_id: '7' }, { entity_id: 9 }] })
    assert.deepEqual([bare!.number, bare!.po, bare!.parcels, bare!.lines], ['7', '', [], undefined])
  })

  test('that is no list is no news', () => assert.rejects(told({ rows: [] }), /is no list/))
})
