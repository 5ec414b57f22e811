/**
 * What an order keeps of its request, what is kept of a distributor's words, and what stands on the
 * disk before a send.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { MINUTE } from '../../../lib/core/clock.js'
import type { Log } from '../../../lib/core/log.js'
import { defineDistributor } from '../../../lib/distributors/distributor.js'
import { openJournalFile } from '../../../lib/orders/journal/file.js'
import type { StoredPo } from '../../../lib/orders/stored.js'
import { CUSTOMER, DEALER, GUN_UPC, STORE, UPC, offersOf, orderShop } from '../shop.js'
import type { OrderShop } from '../shop.js'
import { scripted } from '../scripted-distributor.js'
import type { Scripted } from '../scripted-distributor.js'

const OTHER_UPC = '012345678929'
const other = (distid: string) => ({
  distid,
  stockid: 'B1',
  upc: OTHER_UPC,
  name: 'Sling',
  price: 1_999,
  qty: 50,
})

describe('what was asked for is what is sent', () => {
  test('each line has its own unit price, in the order and in its pre-flight', async () => {
    const tst = scripted()
    await using t = await orderShop([tst], { offers: [...offersOf('TST'), other('TST')] })
    const items = [
      { distid: 'TST', distsku: 'A1', upc: UPC, qty: 1 },
      { distid: 'TST', distsku: 'B1', upc: OTHER_UPC, qty: 3 },
    ]
    const body = t.body({ items })
    const preflight = await t.app.operator.orders.preflight(t.subscriber, body)
    const told = preflight.fulfillment_orders.flatMap(({ lines }) =>
      lines.map((line) => [line.distsku, line.unit_price, line.line_total]),
    )
    assert.deepEqual(told, [
      ['A1', 25, 25],
      ['B1', 19.99, 59.97],
    ])
    assert.equal((await t.place(body)).body.data.status, 'placed')
    assert.deepEqual(
      tst.sends[0]!.lines.map(({ distsku, unitPrice }) => [distsku, unitPrice]),
      [
        ['A1', 2_500],
        ['B1', 1_999],
      ],
    )
  })

  test('lines of one item become one line with all their units', async () => {
    const tst = scripted()
    await using t = await orderShop([tst])
    const line = (qty: number) => ({ distid: 'TST', distsku: 'A1', upc: UPC, qty })
    const { body } = await t.place(t.body({ items: [line(2), line(3)] }))
    assert.deepEqual(
      tst.sends[0]!.lines.map(({ distsku, qty }) => [distsku, qty]),
      [['A1', 5]],
    )
    const [record] = body.data.fulfillment_orders
    assert.deepEqual(JSON.parse(record.dist_order_items), [{ distsku: 'A1', upc: UPC, qty: 5 }])
  })

  test('a generated PO tells the key, and whether it goes to a dealer or the store', async () => {
    const tst = scripted()
    await using t = await orderShop([tst], { document: { fulfillment: { ship_to_store: STORE } } })
    const tag = (t.key.slice(0, 2) + t.key.slice(-2)).toUpperCase()
    const gun = { distid: 'TST', distsku: 'G1', upc: GUN_UPC, qty: 1, ffl_req: true }
    const bodies = [
      t.body({ order_id: 'W-1' }),
      t.body({ order_id: 'W-2', items: [gun], ffl: { licenseNumber: DEALER } }),
      t.body({ order_id: 'W-3', ship_to_store: true }),
      t.body({ order_id: 'W-4', items: [gun], ship_to_store: true }),
    ]
    for (const body of bodies) assert.equal((await t.place(body)).status, 200)
    const pos = tst.sends.map(({ po }) => po)
    assert.deepEqual(pos, [`W-1-${tag}-010`, `W-2-${tag}-110`, `W-3-${tag}-011`, `W-4-${tag}-111`])
  })

  test('an order that was refused has another PO when it is placed again', async () => {
    const tst = scripted()
    tst.acts.push({ accept: false, answer: { outcome: 'rejected', reason: 'out of stock' } })
    await using t = await orderShop([tst])
    const body = t.body({ po_number: 'PO-7' })
    assert.equal((await t.place(body)).status, 409)
    assert.equal((await t.place(body)).body.data.fulfillment_orders[0].po_number, 'PO-7-2')
    assert.deepEqual(
      tst.sends.map(({ po }) => po),
      ['PO-7', 'PO-7-2'],
    )
  })

  test('the second line of an address goes along', async () => {
    const tst = scripted()
    await using t = await orderShop([tst])
    await t.place(t.body({ customer: { ...CUSTOMER, address2: 'Apt 4' } }))
    assert.equal(tst.sends[0]!.shipTo.address2, 'Apt 4')
  })
})

const TOKEN = 'Tok/en+Secret=77'
const SPELLINGS = [
  TOKEN,
  TOKEN.toUpperCase(),
  encodeURIComponent(TOKEN),
  Buffer.from(TOKEN).toString('base64'),
]

/** A distributor whose account has a token; whatever is logged goes into `logged`. */
async function shopWithToken(tst: Scripted, logged: string[]): Promise<OrderShop> {
  const token = { type: 'string', label: 'Token', path: 'token', secret: true } as const
  const distributor = defineDistributor({ ...tst.distributor, settings: { token } })
  const write = (fields: unknown, message?: string) =>
    void logged.push(`${JSON.stringify(fields)} ${message}`)
  const log: Log = { debug: write, info: write, warn: write, error: write }
  const t = await orderShop([{ ...tst, distributor } as Scripted], { log })
  const entry = { distid: 'TST', token: TOKEN, fulfillment: {}, product_restrictions: {} }
  await t.configure({ distributors: { [distributor.name]: entry } })
  return t
}

/** All that is kept, told and logged of orders. */
async function everything(t: OrderShop, logged: readonly string[]): Promise<string> {
  const { read } = t.app.ctx
  const journal = await read.selectFrom('journal').select('line').execute()
  const history = await t.json('/v1/fulfillment/history')
  const listed = await t.app.operator.orders.list({})
  const shown = await Promise.all(
    (await t.purchaseOrders()).map(({ client_ref: ref }) => t.app.operator.orders.show(ref)),
  )
  return JSON.stringify([await t.purchaseOrders(), journal, history.body, listed, shown, logged])
}

describe('credentials in what a distributor says', () => {
  const says = `401 for token ${SPELLINGS.join(' or ')}: not yours`

  test('a refusal is told and kept without them', async () => {
    const [tst, logged] = [scripted(), [] as string[]]
    tst.acts.push({ accept: false, answer: { outcome: 'rejected', reason: says } })
    await using t = await shopWithToken(tst, logged)
    const { status, body } = await t.place(t.body())
    assert.equal(status, 409)
    assert.equal(
      body.error.details[0].failure_reason,
      '401 for token [credential] or [credential] or [credential] or [credential]: not yours',
    )
    const kept = JSON.stringify(body) + (await everything(t, logged))
    for (const spelling of SPELLINGS)
      assert.ok(!kept.includes(JSON.stringify(spelling).slice(1, -1)), spelling)
  })

  test('so is what a connector throws, and a search that is not answered', async () => {
    const [tst, logged] = [scripted(), [] as string[]]
    tst.acts.push(async () => {
      throw new Error(says)
    })
    tst.searches.push({ outcome: 'unreachable', reason: says }, 'throw')
    await using t = await shopWithToken(tst, logged)
    assert.equal((await t.place(t.body())).body.data.status, 'pending')
    await t.later(MINUTE)
    const kept = await everything(t, logged)
    assert.match(kept, /cannot be asked: 401 for token \[credential\]/)
    for (const spelling of SPELLINGS)
      assert.ok(!kept.includes(JSON.stringify(spelling).slice(1, -1)), spelling)
  })

  test('the own words of an error are not kept at all', async () => {
    const [tst, logged] = [scripted(), [] as string[]]
    tst.acts.push(async () => {
      throw new Error('POST /login?user=17 failed')
    })
    await using t = await shopWithToken(tst, logged)
    await t.place(t.body())
    assert.doesNotMatch(await everything(t, logged), /login\?user/)
  })

  test('a long reason is cut behind 300 characters, and never through a credential', async () => {
    const [tst, logged] = [scripted(), [] as string[]]
    tst.acts.push({
      accept: false,
      answer: { outcome: 'rejected', reason: `${'x'.repeat(290)} ${TOKEN} ${'y'.repeat(500)}` },
    })
    await using t = await shopWithToken(tst, logged)
    const { body } = await t.place(t.body())
    assert.equal(body.error.details[0].failure_reason, `${'x'.repeat(290)} [credenti`)
  })
})

describe('a PO that a distributor cannot take', () => {
  test('is shortened to another one for every subscriber, given or made', async () => {
    const tst = scripted({ limits: { po: { max: 22 } } })
    await using t = await orderShop([tst])
    const key = await t.addShop()
    for (const body of [
      t.body({ po_number: 'ORDER-OF-THE-TENTH-OF-NOVEMBER' }),
      t.body({ order_id: 'AN-ORDER-ID-THAT-IS-LONG' }),
    ]) {
      const [mine, theirs] = [await t.place(body), await t.place(body, { key })]
      const [po, otherPo] = [mine, theirs].map(
        ({ body: { data } }) => data.fulfillment_orders[0].po_number as string,
      ) as [string, string]
      assert.equal(po.length, 22)
      assert.equal(otherPo.length, 22)
      assert.equal(po.slice(0, 9), otherPo.slice(0, 9), 'both begin as what they stand for')
      assert.notEqual(po, otherPo)
    }
  })
})

describe('the sealed content of an order', () => {
  test('opens on its own order alone: on another one nothing is sent', async () => {
    const tst = scripted({ recovery: 'resend', withoutFind: true })
    const lost = { accept: false, answer: { outcome: 'unknown', reason: 'timeout' } } as const
    tst.acts.push(lost, lost)
    await using t = await orderShop([tst])
    await t.place(t.body())
    await t.place(t.body({ customer: { ...CUSTOMER, name: 'Sam Roe', address1: '99 Elm St' } }))
    t.expectErrors(/an order cannot be opened/)
    const [first, second] = (await t.purchaseOrders()) as [StoredPo, StoredPo]
    for (const [to, { payload, payload_digest }] of [
      [first, second],
      [second, first],
    ] as const) {
      await t.app.ctx.db
        .updateTable('purchase_order')
        .set({ payload, payload_digest })
        .where('id', '=', to.id)
        .execute()
    }
    await t.later(MINUTE, 20)
    assert.equal(tst.sends.length, 2)
    for (const { state, reason } of await t.purchaseOrders()) {
      assert.equal(state, 'unknown')
      assert.match(reason!, /cannot be opened/)
    }
  })
})

describe('a new journal', () => {
  test('is in its folder for good before a line is written to it', async () => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'qm-journal-')))
    const probe = await open(dir, 'r')
    const handle = Object.getPrototypeOf(probe) as { sync(this: { fd: number }): Promise<void> }
    await probe.close()
    const { sync } = handle
    const synced: string[] = []
    handle.sync = async function () {
      await sync.call(this)
      synced.push(readlinkSync(`/proc/self/fd/${this.fd}`))
    }
    try {
      await (await openJournalFile(dir)).close()
      assert.ok(synced.includes(dir), 'the folder was synced')
      synced.length = 0
      await (await openJournalFile(dir)).close()
      assert.deepEqual(synced, [], 'the name of a file that is there needs no sync')
    } finally {
      handle.sync = sync
      rmSync(dir, { recursive: true })
    }
  })
})
