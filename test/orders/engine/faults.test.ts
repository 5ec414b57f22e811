/**
 * Every single fault of disk and distributor at every place of an order, and a database that really
 * has no room.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { SECOND } from '../../../lib/core/clock.js'
import { isUnavailable } from '../../../lib/db/sqlite/sqlite.js'
import { orderShop } from '../shop.js'
import type { OrderShop } from '../shop.js'
import { scripted } from '../scripted-distributor.js'
import { NAMES } from '../../harness/shop.js'
import { DISTRIBUTOR_FAULTS, EVERY_FAULT, REFUSALS, sweep } from '../../harness/sweep.js'
import type { SweepFault } from '../../harness/sweep.js'

/** The disk's part in it is the same for those that send whole orders. */
const ALL_OF_IT = new Set(['LOO', 'CAR', 'FIL'])
/** Who sends an order again, which may be refused then. */
const SENDS_AGAIN = new Set(['RES', 'LOO', 'STA', 'CAR'])
/** Calls that an order of two groups takes. */
const CALLS: Readonly<Record<string, number>> = { RES: 2, LOO: 2, STA: 6, CAR: 10, FIL: 2, ONE: 2 }

/** So often at least a fault of this kind is met. */
function least(distid: string, what: SweepFault['what']): number {
  return what === 'call' || what === 'refusal'
    ? CALLS[distid]!
    : { transaction: 5, write: 2, datasync: 3, search: 1 }[what]
}

describe('one fault at a time, at every place of an order of two groups', () => {
  for (const distid of Object.keys(NAMES)) {
    test(NAMES[distid]!, async () => {
      const { cases, wrong } = await sweep({
        seed: 5,
        distid,
        faults: [
          ...(ALL_OF_IT.has(distid) ? EVERY_FAULT : DISTRIBUTOR_FAULTS),
          ...(SENDS_AGAIN.has(distid) ? REFUSALS : []),
        ],
      })
      assert.deepEqual(wrong, [])
      for (const [{ what, fault }, met] of cases)
        assert.ok(met >= least(distid, what), `${what} ${fault}: ${met} cases`)
    })
  }
})

/** The database may have no page more than it has. */
async function fill(t: OrderShop): Promise<void> {
  await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(t.app.ctx.db)
  const {
    rows: [{ pages } = { pages: 0 }],
  } = await sql<{ pages: number }>`SELECT page_count AS pages FROM pragma_page_count`.execute(
    t.app.ctx.db,
  )
  await sql`PRAGMA max_page_count = ${sql.raw(String(pages))}`.execute(t.app.ctx.db)
}

const empty = (t: OrderShop) => sql`PRAGMA max_page_count = 1000000`.execute(t.app.ctx.db)

describe('a database without room', () => {
  test('an order is refused, and the same order_id is placed once there is room', async () => {
    const tst = scripted()
    await using t = await orderShop([tst])
    t.expectErrors(/a request failed: database or disk is full/)
    await fill(t)
    const refused = []
    for (let i = 0; i < 40 && refused.length === 0; i++) {
      const body = t.body()
      if ((await t.place(body)).status === 503) refused.push(body)
    }
    assert.equal(refused.length, 1)
    const sent = tst.sends.length
    const again = await t.place(refused[0])
    assert.deepEqual(
      [again.status, again.body.error.code, tst.sends.length],
      [503, 'service_unavailable', sent],
    )
    await empty(t)
    assert.equal((await t.place(refused[0])).body.data.status, 'placed')
    assert.equal(tst.orders.length, sent + 1)
  })

  test('what a distributor answered is kept until there is room to write it down', async () => {
    const tst = scripted()
    const waits: string[] = []
    const log = {
      debug() {},
      info() {},
      warn() {},
      error(fields: object, message: string) {
        if ('err' in fields && isUnavailable(fields.err)) waits.push(message)
      },
    }
    await using t = await orderShop([tst], {
      log,
      expectErrors: [/cannot be written down yet: database or disk is full/],
    })
    let [timer, emptied]: [NodeJS.Timeout | undefined, Promise<unknown>] = [
      undefined,
      Promise.resolve(),
    ]
    // Each order leaves as little room as there can be before its answer; sooner or later the
    // answer does not fit.
    for (let i = 0; i < 60 && waits.length === 0; i++) {
      tst.acts.push(async (_session, order) => {
        await fill(t)
        timer = setTimeout(() => {
          emptied = empty(t)
        }, SECOND)
        const number = `TST-${tst.orders.length + 1}`
        tst.orders.push({ number, order })
        return { outcome: 'accepted', number }
      })
      assert.equal((await t.place(t.body())).body.data.status, 'placed')
      clearTimeout(timer)
      await emptied
      await empty(t)
    }
    assert.ok(
      waits.some((message) => message.includes('cannot be written down yet')),
      'no answer met a full database',
    )
    const orders = await t.purchaseOrders()
    assert.ok(orders.every(({ state, sends }) => state === 'placed' && sends === 1))
    assert.equal(tst.orders.length, orders.length)
  })
})
