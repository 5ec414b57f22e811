/** What the crash harness (scripts/crash) found, each in its smallest form. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { SECOND } from '../../../lib/core/clock.js'
import { filesIn } from '../../../lib/db/sqlite/folder.js'
import { openFile } from '../../../lib/db/sqlite/sqlite.js'
import { isApiError } from '../../../lib/core/errors.js'
import { CUSTOMER, DEALER, GUN_UPC, orderShop } from '../shop.js'
import { scripted } from '../scripted-distributor.js'
import { NAMES, openShop } from '../../harness/shop.js'
import type { Shop } from '../../harness/shop.js'

const START = Date.UTC(2026, 10, 21, 12)

const soon = (ms = 20) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, ms)
  })

describe('another process that writes for longer than SQLite waits', () => {
  test('holds an order up, and does not have it refused', async () => {
    const tst = scripted()
    await using t = await orderShop([tst])
    const other = openFile(filesIn(t.app.dir).record, { synchronous: 'FULL' })
    try {
      other.exec('BEGIN IMMEDIATE')
      setTimeout(() => other.exec('COMMIT'), 450)
      const { status, body } = await t.place(t.body())
      assert.deepEqual([status, body.data?.status], [200, 'placed'])
    } finally {
      other.close()
    }
  })
})

describe('news of more than ten accounts at a time', () => {
  test('are asked for without a warning of the process', async () => {
    const many = Array.from({ length: 12 }, (_, i) =>
      scripted({ distid: `T${i}`, name: `Wholesale ${i}` }),
    )
    let asked = 0
    for (const { connector } of many) {
      connector.updates = async function* () {
        asked++
        await soon(50)
        yield* []
      }
    }
    await using t = await orderShop(many)
    const items = many.map(({ distributor: { distid } }) => ({
      distid,
      distsku: 'A1',
      upc: '012345678905',
      qty: 1,
    }))
    assert.equal((await t.place(t.body({ items }))).body.data.status, 'placed')
    const warnings: string[] = []
    const note = ({ name }: Error) => {
      warnings.push(name)
    }
    process.on('warning', note)
    await t.app.monitors.pass()
    await soon()
    process.off('warning', note)
    assert.deepEqual([asked, warnings], [12, []])
  })
})

describe('an order that the database had lost and the journal has', () => {
  /** The retry of an order, after an older database was put back and `change` was done to it. */
  async function retried(change: (shop: Shop) => Promise<unknown>) {
    const known = new Map(Object.keys(NAMES).map((distid) => [distid, scripted({ distid })]))
    const shop = await openShop(
      new Map([...known].map(([distid, { connector }]) => [distid, connector])),
      { now: () => START, random: randomBytes, planned: [/^orders are paused; /] },
    )
    try {
      const body = {
        order_id: 'W-1',
        customer: CUSTOMER,
        items: [{ distid: 'LOO', distsku: 'G1', upc: GUN_UPC, qty: 1, ffl_req: true }],
        ffl: { licenseNumber: DEALER },
      }
      const place = () =>
        shop.app
          .as(shop.callers[0]!.subscriber.id)
          .orders.place(body)
          .then(
            ({ status }) => status,
            (error: unknown) => (isApiError(error) ? error.code : String(error)),
          )
      const old = join(shop.dir, 'older.db')
      await shop.reopen((dir) => copyFileSync(join(dir, 'quartermaster.db'), old))
      assert.equal(await place(), 'placed')
      await shop.reopen((dir) => copyFileSync(old, join(dir, 'quartermaster.db')))
      await change(shop)
      return [await place(), await place(), known.get('LOO')!.sends.length]
    } finally {
      await shop.close()
    }
  }

  test('is a duplicate also for the first who asks, whose call brings it back', async () => {
    assert.deepEqual(await retried(() => Promise.resolve()), [
      'duplicate_order',
      'duplicate_order',
      1,
    ])
  })

  test('is one also where the check would refuse it by now', async () => {
    const gone = ({ app }: Shop) =>
      app.ctx.db
        .updateTable('dealer')
        .set({ listed: 0 })
        .where('license_number', '=', DEALER)
        .execute()
    assert.deepEqual(await retried(gone), ['duplicate_order', 'duplicate_order', 1])
  })
})

describe('an app that is closed while it sends', () => {
  test('keeps the lease and the journal until what it took up is written down', async () => {
    const tst = scripted({ recovery: 'resend' })
    let answer!: () => void
    tst.acts.push({ accept: false, answer: { outcome: 'unknown', reason: 'timeout' } })
    tst.acts.push(
      (_session, order) =>
        new Promise((resolve) => {
          answer = () => {
            tst.orders.push({ number: 'TST-1', order })
            resolve({ outcome: 'accepted', number: 'TST-1' })
          }
        }),
    )
    const failures: unknown[] = []
    await using t = await orderShop([tst], {
      fatal: (error) => {
        failures.push(error)
      },
    })
    await t.place(t.body())
    t.clock.advance(10 * SECOND)
    t.app.orders.start()
    while (tst.sends.length < 2) await soon()
    const stopped = t.app.orders.stop()
    await soon()
    const isFree = t.app.ctx.engine.lock('engine')
    answer()
    await stopped
    assert.equal(isFree, false, 'nobody else may be the sender yet')
    assert.deepEqual(
      [
        failures,
        (await t.purchaseOrders()).map(({ state, distributor_order_id: number }) => [
          state,
          number,
        ]),
      ],
      [[], [['placed', 'TST-1']]],
    )
    const lines = await t.app.ctx.read.selectFrom('journal').select('line').orderBy('seq').execute()
    const written = readFileSync(join(t.app.dir, 'orders.journal'), 'utf8').split('\n').slice(0, -1)
    assert.ok(
      written.every((line, i) => line === lines[i]!.line),
      'the file has what the database has',
    )
    assert.equal(written.length, lines.length, 'the file has every line')
  })
})
