/** Chattanooga's simulator as any other program sees it: plain HTTP, and none of our own client. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { DAY, MINUTE } from '../../../lib/core/clock.js'
import { demoFeedFile } from '../../../lib/simulator/demo/feeds.js'
import { openStandAlone } from '../../../lib/simulator/stand-alone.js'
import type { StandAlone } from '../../../lib/simulator/stand-alone.js'
import { watchErrors } from '../../../server/testing/error-watch.js'
import { line, withRig } from '../../simulator/rig.js'
import { FFL } from '../connector-conformance.js'

const md5 = (text: string) => createHash('md5').update(text).digest('hex')
const GOOD = `Basic DEMO-SID:${md5('demo-chattanooga')}`
const TO = {
  name: 'Pat',
  line_1: '1 St',
  line_2: '',
  city: 'Phoenix',
  state_code: 'AZ',
  zip: '85001',
}
const LICENSE = '986013018A12345'

type Row = Record<string, string>
interface Told {
  status: number
  body: Record<string, unknown> & { error_code?: number; message?: string }
}

describe('the simulator of Chattanooga', () => {
  let dir: string
  let simulators: StandAlone
  let address: string
  let rows: Row[]
  const clock = { ms: Date.UTC(2026, 10, 21, 12) }
  const watch = watchErrors()

  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'qm-cssi-'))
    const state = join(dir, 'state')
    const { log } = watch
    simulators = await openStandAlone({ dir: state, now: () => clock.ms, log, offers: 600 })
    const yesterday = new Date(clock.ms - DAY)
    utimesSync(demoFeedFile(state, 'CSSI')!, yesterday, yesterday)
    address = simulators.distributors.find(({ distid }) => distid === 'CSSI')!.address
    const { body } = await ask('items/product-feed?primary_image_only_flag=1')
    rows = await csvAt((body['product_feed'] as { url: string }).url)
  })
  after(() => {
    simulators?.close()
    rmSync(dir, { recursive: true, force: true })
    watch.check()
  })

  async function ask(path: string, posted?: unknown, authorization = GOOD): Promise<Told> {
    const answer = await fetch(address + path, {
      headers: { authorization },
      ...(posted !== undefined && { method: 'POST', body: JSON.stringify(posted) }),
    })
    return { status: answer.status, body: (await answer.json()) as Told['body'] }
  }
  async function csvAt(url: string): Promise<Row[]> {
    const answer = await fetch(url)
    assert.equal(answer.status, 200)
    return parse(await answer.text(), { columns: true, bom: true }) as Row[]
  }
  const itemWhere = (isFirearm: boolean) =>
    rows.find(
      (row) =>
        Number(row['Quantity In Stock']) > 3 &&
        row['Drop Ship Flag'] === '1' &&
        (isFirearm ? /^Pistols$/ : /^Holsters$/).test(row['Category']!),
    )!['SKU']!
  const orderOf = (po: string, more: object = {}) => ({
    purchase_order_number: po,
    drop_ship_flag: 1,
    customer: 'Pat',
    delivery_option: 'best',
    ship_to_address: TO,
    order_items: [{ item_number: itemWhere(false), order_quantity: 1 }],
    ...more,
  })

  test('takes the credentials as they stand, and not in Base64', async () => {
    assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/rest\/v5\/$/)
    assert.equal((await ask('items?per_page=1')).status, 200)
    const base64 = Buffer.from(`DEMO-SID:${md5('demo-chattanooga')}`).toString('base64')
    for (const wrong of [
      '',
      `Basic ${base64}`,
      'Basic DEMO-SID:demo-chattanooga',
      `Basic X:${md5('')}`,
    ]) {
      const { status, body } = await ask('orders', undefined, wrong)
      assert.deepEqual([status, body.error_code], [401, 4001])
    }
  })

  test('answers version 6 alike, and nothing elsewhere', async () => {
    const at = async (path: string) =>
      (await fetch(new URL(path, address), { headers: { authorization: GOOD } })).status
    assert.deepEqual(
      [await at('/rest/v6/items'), await at('/rest/v4/items'), await at('/rest/v5/nothing')],
      [200, 404, 404],
    )
  })

  test('tells its items page by page, 50 at most, and those that changed', async () => {
    const { body } = await ask('items?page=2&per_page=50')
    const pagination = body['pagination'] as Record<string, number>
    const items = body['items'] as Record<string, unknown>[]
    assert.equal(items.length, 50)
    assert.equal(pagination['page_count'], Math.ceil(rows.length / 50))
    const first = rows[50]!
    const { cssi_id, upc, inventory, custom_price } = items[0]!
    assert.deepEqual(
      [cssi_id, upc, inventory, custom_price],
      [
        first['SKU'],
        first['UPC']!.replaceAll('#', ''),
        Number(first['Quantity In Stock']),
        Number(first['Price']),
      ],
    )
    assert.equal((await ask('items?per_page=51')).status, 422)
    const none = await ask('items?qas_last_updated_after=2100-01-01%2000:00:00')
    assert.deepEqual(none.body['items'], [])
  })

  test('gives out a feed every 20 minutes; who asks too soon waits longer', async () => {
    const feed = 'items/product-feed?optional_columns=serialized_flag,specifications'
    clock.ms += 20 * MINUTE - 1
    const soon = await ask(feed)
    assert.deepEqual([soon.status, soon.body.message], [429, 'too-many-requests'])
    clock.ms += 20 * MINUTE - 1
    assert.equal((await ask(feed)).status, 429)
    clock.ms += 20 * MINUTE
    const { status, body } = await ask(feed)
    assert.equal(status, 200)
    const { url } = body['product_feed'] as { url: string }
    const refused = await fetch(url, { headers: { accept: 'application/json' } })
    assert.equal(refused.status, 406)
    const all = await csvAt(url)
    // A SKU stands on adjacent lines, once for each image, and they differ in nothing else.
    const skus = all.map((row) => row['SKU'])
    assert.ok(all.length > rows.length)
    assert.deepEqual(
      [...new Set(skus)],
      rows.map((row) => row['SKU']),
    )
    const again = all.filter((row, i) => row['SKU'] === all[i - 1]?.['SKU'])
    for (const row of again) {
      const first = all.find((other) => other['SKU'] === row['SKU'])!
      assert.notEqual(row['Image Location'], first['Image Location'])
      assert.deepEqual({ ...row, 'Image Location': first['Image Location'] }, first)
    }
    for (const row of all)
      if (/^(Pistols|Rifles - .*|NFA - .*)$/.test(row['Category']!))
        assert.equal(row['serialized_flag'], '1')
    clock.ms += 61 * MINUTE
    assert.equal((await fetch(url)).status, 403)
  })

  test('takes orders, lists them with what was posted, and tells of parcels once they left', async () => {
    const sku = itemWhere(false)
    const placed = await ask('orders', orderOf('STRANGER-1'))
    assert.equal(placed.status, 200)
    const [{ order_number: number }] = placed.body['orders'] as [{ order_number: string }]
    const row = {
      order_number: number,
      purchase_order_number: 'STRANGER-1',
      ship_to_address: { name: 'Pat', line_1: '1 St', zip: '85001' },
      order_items: [{ item_number: sku, order_quantity: 1, customer_reference: null }],
    }
    assert.deepEqual((await ask('orders')).body, {
      orders: [row],
      pagination: { page: 1, per_page: 10, page_count: 1 },
    })
    assert.deepEqual((await ask(`orders/${number}`)).body, { orders: [row] })
    assert.equal((await ask('orders/NEVER')).status, 404)
    assert.deepEqual(
      [(await ask('orders?per_page=20')).status, (await ask('orders?per_page=21')).status],
      [200, 422],
    )
    const byPo = 'shipments/by-purchase-order?purchase_order_numbers=X,stranger-1'
    const pagination = { page: 1, per_page: 10 }
    assert.deepEqual((await ask(byPo)).body, {
      shipments: [],
      pagination: { ...pagination, page_count: 0 },
    })
    clock.ms += 2 * MINUTE
    const order = {
      order_number: number,
      shipments: [
        {
          tracking_number: `1ZSIM${number.replace(/^.*-/, '').padStart(10, '0')}1`,
          carrier_name: 'FedEx',
        },
      ],
    }
    assert.deepEqual((await ask(byPo)).body, {
      shipments: [{ purchase_order_number: 'STRANGER-1', orders: [order] }],
      pagination: { ...pagination, page_count: 1 },
    })
    assert.deepEqual((await ask(`orders/${number}/shipments`)).body, { order_shipments: [order] })
    assert.equal((await ask('shipments/by-purchase-order')).status, 422)
    assert.equal((await ask(`${byPo}&per_page=26`)).status, 422)
    const { body } = await ask(`items?qas_last_updated_after=2026-11-21`)
    const before = rows.find((one) => one['SKU'] === sku)!
    assert.deepEqual(
      (body['items'] as Record<string, unknown>[]).map(({ cssi_id, inventory }) => [
        cssi_id,
        inventory,
      ]),
      [[sku, Number(before['Quantity In Stock']) - 1]],
    )
  })

  test('sends a firearm to a dealer whose license is on file, and to nobody else', async () => {
    const flags = async (license: string) =>
      (await ask(`federal-firearms-licenses/${license}`)).body['federal_firearms_licenses'] as {
        on_file_flag: number
        drop_ship_opted_out_flag: number
      }[]
    const of = (license: string) =>
      flags(license).then((told) =>
        told.map((one) => [one.on_file_flag, one.drop_ship_opted_out_flag]),
      )
    assert.deepEqual(await of(LICENSE), [[1, 0]])
    assert.deepEqual(await of('986013018A00000'), [[0, 0]])
    assert.deepEqual(await of('986013018A99999'), [[1, 1]])
    assert.deepEqual(await of('9-86-013-01-8A-12345'), [])
    const gun = { order_items: [{ item_number: itemWhere(true), order_quantity: 1 }] }
    const sent = async (license?: string) => {
      const { status, body } = await ask(
        'orders',
        orderOf('STRANGER-2', { ...gun, federal_firearms_license_number: license }),
      )
      return [status, body.error_code]
    }
    assert.deepEqual(await sent(), [422, 9000])
    assert.deepEqual(await sent('9-86-013-01-8A-12345'), [422, 9000])
    assert.deepEqual(await sent('986013018A00000'), [422, 60_204])
    assert.deepEqual(await sent('986013018A99999'), [422, 60_204])
    assert.deepEqual(await sent(LICENSE), [200, undefined])
  })

  test('refuses what the real one refuses', async () => {
    const STORE = { drop_ship_flag: 0, customer: undefined, delivery_option: undefined }
    for (const [more, code, words] of [
      [{ purchase_order_number: undefined }, 9000, /purchase_order_number is missing/],
      [{ purchase_order_number: 'P'.repeat(25) }, 9000, /has 25 characters, 24 are the most/],
      [{ drop_ship_flag: true }, 9000, /drop_ship_flag must be 0 or 1/],
      [{ customer: '' }, 9000, /customer is required/],
      [{ customer: 'x'.repeat(61) }, 9000, /more than 60/],
      [{ delivery_option: 'pigeon' }, 9000, /delivery_option must be one of/],
      [{ ship_to_address: undefined }, 9000, /ship_to_address.name is required/],
      [{ ship_to_address: { ...TO, zip: '8500' } }, 9000, /"8500"/],
      [{ ship_to_address: { ...TO, state_code: 'Arizona' } }, 9000, /2 letters/],
      [{ order_items: [] }, 9000, /order_items is required/],
      [{ order_items: [{ item_number: 'X', order_quantity: 0 }] }, 9000, /are required/],
      [{ order_items: [{ item_number: 'NEVER', order_quantity: 1 }] }, 9000, /does not exist/],
      [
        { order_items: [{ item_number: itemWhere(false), order_quantity: 99_999 }] },
        60_202,
        /insufficient inventory/,
      ],
      [{ ...STORE, customer: 'Pat' }, 9000, /customer is not allowed with drop_ship_flag 0/],
      [{ ...STORE, delivery_option: 'best' }, 9000, /delivery_option is not allowed/],
      [{ ...STORE, insurance_flag: 0 }, 9000, /insurance_flag is not allowed/],
      [{ ...STORE, adult_signature_flag: 0 }, 9000, /adult_signature_flag is not allowed/],
      [{ ...STORE, federal_firearms_license_number: LICENSE }, 9000, /license_number is not/],
    ] as [object, number, RegExp][]) {
      const { status, body } = await ask('orders', orderOf('STRANGER-3', more))
      assert.deepEqual([status, body.error_code], [422, code], JSON.stringify(more))
      assert.match(body.message!, words)
      assert.match((body['errors'] as { message: string }[])[0]!.message, words)
    }
    for (const more of [
      { purchase_order_number: 'P'.repeat(24), customer: 'x'.repeat(60) },
      STORE,
      { ...STORE, ship_to_address: undefined },
    ])
      assert.equal((await ask('orders', orderOf('STRANGER-4', more))).status, 200)
  })
})

test(
  'our own connector orders no firearm for a dealer whose license is not on file there',
  withRig(async (rig) => {
    const orderFor = (last: string) =>
      rig.order({
        lines: [line('G1', 1, true), line('A1')],
        fflRequired: true,
        ffl: { ...FFL, licenseNumber: FFL.licenseNumber.slice(0, -5) + last },
      })
    for (const [last, outcome, reason] of [
      ['00000', 'rejected', /no copy of the license of DESERT ARMS LLC/],
      ['99999', 'rejected', /takes no drop shipments/],
      ['00001', 'accepted', /^$/],
    ] as const) {
      const order = orderFor(last)
      const sent = await rig.submit('CSSI', order)
      assert.equal(sent.outcome, outcome)
      assert.match('reason' in sent ? sent.reason : '', reason)
      assert.equal(rig.has(order).length, outcome === 'accepted' ? 1 : 0)
    }
  }),
)
