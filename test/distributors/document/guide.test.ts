/**
 * The documents of data/guide/add-a-feed.md, taken over as a newcomer would: two distributors that
 * are not built in, one of which takes orders by file.
 */
import assert from 'node:assert/strict'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { DAY, HOUR, MINUTE } from '../../../lib/core/clock.js'
import { builtin, presets } from '../../../lib/distributors/builtin/index.js'
import { withDocument } from '../../../lib/distributors/document/kept/with-document.js'
import { readDocument } from '../../../lib/distributors/document/read.js'
import { createTestApp } from '../../../server/testing/index.js'
import { openForTest } from '../../../server/testing/open.js'
import type { TestApp } from '../../../server/testing/index.js'
import { run } from '../../server/launcher.js'
import { addDealers, CUSTOMER, DEALER, REVIEW } from '../../orders/shop.js'

const page = readFileSync(join('data', 'guide', 'add-a-feed.md'), 'utf8')
const block = (language: string, words: string) =>
  page
    .split('```')
    .find((text) => text.startsWith(`${language}\n`) && text.includes(words))!
    .slice(language.length + 1)

const ITEMS = {
  data: {
    items: [
      { sku: 'SU-1', barcode: '764503022616', title: 'Summit pistol', price: 300, kind: 'gun' },
      { sku: 'SU-2', barcode: '798681501687', title: 'Summit scope', price: 80.5, kind: 'optic' },
      { sku: 'SU-3', barcode: '857692008211', title: 'Summit ammo', price: 9, kind: 'ammo' },
    ],
  },
}
const STOCK = 'SU-1    00004\r\nSU-2    00012\r\n'

describe('the page on feeds without code', () => {
  let scratch: string
  let t: TestApp
  const at = (...path: string[]) => join(scratch, ...path)
  const document = (words: string) => {
    const text = block('json', words)
      .replace('/srv/feeds/harbor', at('harbor'))
      .replace('/srv/exchange/summit', at('summit'))
    const { document: read, faults } = readDocument(text, new Set(Object.keys(presets)))
    assert.deepEqual(faults, [])
    return { text, document: read! }
  }
  before(async () => {
    scratch = mkdtempSync(join(tmpdir(), 'qm-documents-'))
    for (const folder of ['harbor', 'summit/in', 'summit/out'])
      mkdirSync(at(folder), { recursive: true })
    writeFileSync(at('harbor', 'inventory.csv.gz'), gzipSync(block('csv', 'HB-100')))
    writeFileSync(at('summit/out/items.json'), JSON.stringify(ITEMS))
    writeFileSync(at('summit/out/stock.txt'), STOCK)
    const distributors = ['"HARB"', '"SUMM"'].reduce(
      (all, words) => withDocument(all, document(words).document),
      builtin as Parameters<typeof withDocument>[0],
    )
    t = await createTestApp({ distributors })
    for (const name of readdirSync(at('summit/out')))
      utimesSync(at('summit/out', name), new Date(t.clock.ms - HOUR), new Date(t.clock.ms - HOUR))
    await addDealers(t)
    await t.configure({
      distributors: {
        'Harbor Supply': { distid: 'HARB' } as never,
        'Summit Arms': { distid: 'SUMM', fulfillment: { account: '4711' } } as never,
      },
    })
    for (const distid of ['HARB', 'SUMM'])
      assert.equal(
        (await t.app.operator.feeds.set({ distid, location: 'account', subscriber: t.subscriber }))
          .every,
        distid === 'SUMM' ? HOUR : 20 * MINUTE,
      )
  })
  after(async () => {
    await t.close()
    rmSync(scratch, { recursive: true, force: true })
  })

  const seen = async (distributor: string) =>
    (await t.shop.products.search({ distributor })).products
      .map((one) => [
        one.distsku,
        one.product_class,
        one.ffl_req,
        one.drop_ship_flg,
        one.qty_on_hand,
        one.unit_price,
      ])
      .toSorted()

  test('Harbor: the packed file is read as the page says', async () => {
    const [pulled] = await t.app.operator.feeds.pull({ distid: 'HARB' })
    assert.deepEqual([pulled!.outcome, pulled!.reasons], ['taken', []])
    assert.deepEqual(await seen('HARB'), [
      ['HB-100', 'FA', 1, 0, 7, 410],
      ['HB-200', 'OP', 0, 1, 12, 99.5],
      ['HB-300', 'RC', 0, 1, 3, 20.25],
    ])
    const [again] = await t.app.operator.feeds.pull({ distid: 'HARB' })
    assert.equal(again!.outcome, 'unchanged')
  })

  test('Summit: JSON, with the stock of a file of fixed columns beside it', async () => {
    const [pulled] = await t.app.operator.feeds.pull({ distid: 'SUMM' })
    assert.deepEqual(
      [pulled!.outcome, pulled!.reasons, 'rejected' in pulled! && pulled.rejected],
      ['taken', [], 0],
    )
    // What no rule fits goes to no customer; what the stock does not name is not in stock.
    assert.deepEqual(await seen('SUMM'), [
      ['SU-1', 'FA', 1, 1, 4, 300],
      ['SU-2', 'OP', 0, 1, 12, 80.5],
    ])
  })

  const order = (
    order_id: string,
    lines: [sku: string, upc: string, qty: number][],
    dealer = false,
  ) =>
    t.shop.orders.place({
      order_id,
      items: lines.map(([distsku, upc, qty]) => ({
        distid: 'SUMM',
        distsku,
        upc,
        qty,
        ...(dealer && { ffl_req: true }),
      })),
      customer: CUSTOMER,
      ...(dealer && { ffl: { licenseNumber: DEALER } }),
    } as never)
  const scope: [string, string, number] = ['SU-2', '798681501687', 2]
  const files = () => readdirSync(at('summit/in'))
  const answer = (name: string, text: string) => {
    writeFileSync(at('summit/out', name), text)
    utimesSync(at('summit/out', name), new Date(t.clock.ms), new Date(t.clock.ms))
  }
  const recordOf = async (order_id: string) =>
    (await t.shop.orders.get({ order_id })).fulfillment_orders[0]!
  const later = async (ms: number) => {
    t.clock.advance(ms)
    await t.app.orders.pass({ force: true })
    await t.app.monitors.pass()
  }

  test('what can be reached is valid, and an account number is no credential', async () => {
    const { credentials } = (await t.shop.config.validate()) as {
      credentials: { distid: string; valid: boolean | null }[]
    }
    assert.deepEqual(
      credentials.map(({ distid, valid }) => [distid, valid]),
      [
        ['HARB', true],
        ['SUMM', true],
      ],
    )
    const { settings } = t.app.ctx.distributors.byDistid('SUMM')!
    assert.equal(settings['account']!.credential, undefined)
  })

  test('nobody plays it: an order waits until it is live, and what it would be is shown', async () => {
    await assert.rejects(order('S-0', [scope]), {
      code: 'fulfillment_not_configured',
      message: /quartermaster distributors live SUMM/,
    })
    const told = await t.app.operator.orders.preflight(
      t.subscriber,
      {
        order_id: 'S-0',
        items: [{ distid: 'SUMM', distsku: scope[0], upc: scope[1], qty: 2 }],
        customer: CUSTOMER,
      },
      { wire: true },
    )
    assert.match(told.refusal!.message, /distributors live SUMM/)
    const [wire] = told.fulfillment_orders[0]!.purchase_orders[0]!.wire!
    assert.match(wire!.what, /^STOR in\/S-0-LIB0-010\.txt$/)
    assert.match(wire!.body, /^H\|4711\|S-0-LIB0-010\|Pat Doe/)
    assert.deepEqual(files(), [])
    const plan = await t.app.operator.distributors.planGoLive('SUMM')
    assert.deepEqual(plan.addresses, [at('summit', 'in/{po}.txt')])
    await t.app.operator.distributors.setMode({
      distid: 'SUMM',
      mode: 'live',
      reason: 'the page is tried',
    })
  })

  test('an order is a file, its acknowledgement a confirmation, its shipment a parcel', async () => {
    await order('S-1', [scope])
    const [name] = files()
    const po = name!.replace('.txt', '')
    assert.equal(
      readFileSync(at('summit/in', name!), 'latin1'),
      `H|4711|${po}|Pat Doe|12 Main St||Phoenix|AZ|85001|\r\nL|SU-2|2|80.50\r\nT|1\r\n`,
    )
    await later(5 * MINUTE)
    rmSync(at('summit/in', name!))
    answer('ack1.csv', `po,order,sku,ordered,committed,zip\n${po},88001,SU-2,2,2,85001\n`)
    await later(30 * MINUTE)
    const confirmed = await recordOf('S-1')
    assert.deepEqual(
      [confirmed.order_status, confirmed.distributor_order_id],
      ['Submitted', '88001'],
    )
    answer(
      'ship1.csv',
      `po,order,tracking,carrier,shipped\n${po},88001,1Z999AA10123456784,UPS,11/22/2026\n`,
    )
    await later(HOUR)
    const shipped = await recordOf('S-1')
    assert.deepEqual(
      [shipped.order_status, shipped.ship_tracking_number, shipped.ship_status],
      ['Fulfilled', '1Z999AA10123456784', 'in_transit'],
    )
  })

  test('a firearm to a dealer has the license; a file of problems ends an order', async () => {
    await order('S-2', [['SU-1', '764503022616', 1]], true)
    const [name] = files()
    const text = readFileSync(at('summit/in', name!), 'latin1')
    assert.match(text, /\|157033019E67890\r\n/)
    const zip = text.split('|')[8]
    rmSync(at('summit/in', name!))
    await later(5 * MINUTE)
    answer(
      'error1.csv',
      `po,sku,ordered,zip,message\n${name!.replace('.txt', '')},SU-1,1,${zip},license not on file\n`,
    )
    answer('ack2.csv', `po,order,sku,ordered,committed,zip\n`)
    await later(HOUR)
    const { order_status } = await recordOf('S-2')
    assert.equal(order_status, 'Not Fulfilled')
  })

  test('a folder that is not there: nothing was sent, and the order is placed once it is back', async () => {
    const away = at('summit-away')
    renameSync(at('summit'), away)
    await assert.rejects(order('S-3', [scope]), { code: 'distributor_unavailable' })
    renameSync(away, at('summit'))
    assert.deepEqual(files(), [])
    await order('S-3', [scope])
    const [name, ...others] = files()
    assert.deepEqual(others, [])
    assert.match(readFileSync(at('summit/in', name!), 'latin1'), /\r\nL\|SU-2\|2\|80.50\r\n/)
    rmSync(at('summit/in', name!))
  })

  test('what goes to the store has no template: a person places it', async () => {
    t.expectErrors(REVIEW)
    await t.configure({
      distributors: {
        'Harbor Supply': { distid: 'HARB' } as never,
        'Summit Arms': { distid: 'SUMM', fulfillment: { account: '4711' } } as never,
      },
      fulfillment: {
        ship_to_store: {
          ffl: DEALER,
          phone: '602-555-0199',
          address: {
            ship_to_name: 'Main Street Guns',
            address_street: '1 Store Rd',
            city: 'Phoenix',
            state: 'AZ',
            postal_code: '85004',
          },
        },
      } as never,
    })
    const placed = await t.shop.orders.place({
      order_id: 'S-4',
      ship_to_store: true,
      items: [{ distid: 'SUMM', distsku: 'SU-2', upc: '798681501687', qty: 1 }],
      customer: CUSTOMER,
    } as never)
    assert.equal(placed.status, 'pending')
    assert.deepEqual(files(), [])
    await later(DAY)
  })

  test('its commands do what it says', async () => {
    const dir = at('state')
    writeFileSync(at('harbor.json'), document('"HARB"').text)
    writeFileSync(
      at('broken.json'),
      JSON.stringify({
        distid: 'X!',
        name: 'B',
        connections: {},
        feeds: [{ kind: 'catalog', id: 'b' }],
      }),
    )
    const checked = await run(dir, 'distributors', 'check', at('harbor.json'))
    assert.match(checked.out, /describes Harbor Supply \(HARB\)/)
    const sample = await run(
      dir,
      'distributors',
      'check',
      at('harbor.json'),
      '--sample',
      at('harbor/inventory.csv.gz'),
    )
    assert.match(sample.out, /3 rows read with harbor, 0 rejected/)
    writeFileSync(at('typo.json'), document('"HARB"').text.replace('["title"]', '["titel"]'))
    const typo = await run(
      dir,
      'distributors',
      'check',
      at('typo.json'),
      '--sample',
      at('harbor/inventory.csv.gz'),
    )
    assert.match(typo.out, /columns that the sample does not have: titel\./)
    writeFileSync(at('summit.json'), document('"SUMM"').text)
    writeFileSync(at('sample.csv'), 'po,order,sku,ordered,committed,zip\nP-1,7,SU-2,2,1,85001\n')
    const answers = ['distributors', 'check', at('summit.json'), '--sample', at('sample.csv')]
    const told = await run(dir, ...answers, '--answer', 'acknowledgement')
    assert.match(told.out, /P-1 +7 +2 x SU-2 +85001 +a part/)
    const other = await run(dir, ...answers, '--answer', 'shipment')
    assert.match(other.err, /the file has no column .*tracking/)
    const broken = await run(dir, 'distributors', 'check', at('broken.json'))
    assert.equal(broken.status, 1)
    for (const fault of [
      /distid: /,
      /writtenFrom: is required/,
      /feeds\.0\.source: is required/,
      /feeds\.0\.map: is required/,
    ])
      assert.match(broken.out, fault)
    assert.equal((await run(dir, 'init')).status, 0)
    const added = await run(dir, 'distributors', 'add', at('harbor.json'))
    assert.match(added.out, /Harbor Supply \(HARB\) is added/)
    const replaced = await run(dir, 'distributors', 'add', at('harbor.json'))
    assert.match(replaced.out, /Harbor Supply \(HARB\) is replaced/)
    assert.match(
      (await run(at('nowhere'), 'distributors', 'add', at('harbor.json'))).err,
      /no installation/,
    )
    assert.match((await run(dir, 'distributors', 'list')).out, /HARB/)
    // A second document that the next start would stumble over is never kept.
    for (const [more, told] of [
      [{ name: 'Harbor Supply', distid: 'HARB2' }, /HARB is called "Harbor Supply" already/],
      [{ name: 'Harbor Two', distid: 'HARB2' }, /two feed presets share an id/],
    ] as const) {
      const other = { ...(JSON.parse(document('"HARB"').text) as object), ...more }
      writeFileSync(at('other.json'), JSON.stringify(other))
      const refused = await run(dir, 'distributors', 'add', at('other.json'))
      assert.match(refused.err, told)
    }
    assert.equal((await run(dir, 'distributors', 'list')).status, 0)
    const removed = await run(dir, 'distributors', 'remove', 'HARB')
    assert.equal(removed.status, 0)
    assert.doesNotMatch((await run(dir, 'distributors', 'list')).out, /HARB/)
    assert.match((await run(dir, 'distributors', 'template')).out, /mge \(MGE\)/)
  })

  test('a document that orders elsewhere than before goes live again, others stay', async () => {
    const dir = at('state')
    const modeOf = async () => {
      await using app = await openForTest({ dir, worker: false })
      return app.ctx.modes.of('SUMM')
    }
    const add = async (text: string) => {
      writeFileSync(at('summit.json'), text)
      return run(dir, 'distributors', 'add', at('summit.json'))
    }
    const { text } = document('"SUMM"')
    await add(text)
    {
      await using app = await openForTest({ dir, worker: false })
      await app.operator.distributors.setMode({ distid: 'SUMM', mode: 'live', reason: 'agreed' })
    }
    await add(text.replace('"everyMinutes": 60', '"everyMinutes": 30'))
    assert.equal(await modeOf(), 'live')
    const moved = await add(text.replace('in/{po}.txt', 'in/{account}-{po}.txt'))
    assert.match(moved.out, /It was live.*distributors live SUMM/s)
    assert.equal(await modeOf(), 'simulator')
    const back = await run(dir, 'distributors', 'simulate', 'SUMM')
    assert.match(back.out, /orders with Summit Arms are refused: nobody plays it/)
  })
})
