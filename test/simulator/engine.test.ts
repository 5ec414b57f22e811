/**
 * The order engine over the simulated distributors: whatever goes wrong, no order is there twice
 * and none is lost.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SECOND } from '../../lib/core/clock.js'
import { builtin } from '../../lib/distributors/builtin/index.js'
import { readSimulatorOrders } from '../../lib/simulator/inspect.js'
import { profileOf, SIMULATED } from '../../lib/simulator/profiles.js'
import { SCENARIOS } from '../../lib/simulator/engine/scenarios/scenarios.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'
import { entryOf } from './page-rig.js'
import { LOOKED_UP } from './rig.js'

const UPC = '012345678905'
const CUSTOMER = {
  name: 'Pat Doe',
  email: 'pat@customer.example',
  phone: '602-555-0100',
  address1: '12 Main St',
  city: 'Phoenix',
  state: 'AZ',
  zip: '85001',
}

async function shop(): Promise<TestApp> {
  const t = await createTestApp()
  const played = builtin.filter(({ distid }) => SIMULATED.includes(distid))
  await t.stock(played.map(({ distid }) => ({ distid, stockid: 'A1', upc: UPC, qty: 500 })))
  await t.configure({
    distributors: Object.fromEntries(
      played.map((distributor) => [distributor.name, entryOf(distributor)]),
    ),
  })
  return t
}

/** A key may place 60 orders an hour. */
const ROUNDS = Math.floor(59 / SIMULATED.length)
const isFile = (distid: string) => profileOf(distid)!.recovery === 'file'

const place = (t: TestApp, distid: string, orderId: string, more: object = {}) =>
  t.json('/v1/orders', {
    method: 'POST',
    body: JSON.stringify({
      order_id: orderId,
      customer: CUSTOMER,
      items: [{ distid, distsku: 'A1', upc: UPC, qty: 2 }],
      ...more,
    }),
  })

/** Lets the engine work for so many minutes. */
async function minutes(t: TestApp, count: number): Promise<void> {
  for (let i = 0; i < count * 4; i++) {
    t.clock.advance(15 * SECOND)
    await t.app.orders.pass()
  }
}

/** Each purchase order against what the distributor really has of it. */
async function account(
  t: TestApp,
): Promise<{ po: string; distid: string; state: string; has: number }[]> {
  const rows = await t.app.ctx.read.selectFrom('purchase_order').selectAll().orderBy('id').execute()
  const there = readSimulatorOrders(t.app.dir)
  return rows.map((row) => {
    const orders = there.filter(({ clientRef }) => clientRef === row.client_ref)
    if (row.state === 'placed' && row.distributor_order_id !== null)
      assert.deepEqual(
        orders.map(({ number }) => number),
        [row.distributor_order_id],
        row.po_number,
      )
    return { po: row.po_number, distid: row.distid, state: row.state, has: orders.length }
  })
}

/**
 * Placed is there once; refused and given up is not there; where nobody can be asked for sure, what
 * never arrived stays open.
 */
function assertKnown({
  po,
  distid,
  state,
  has,
}: {
  po: string
  distid: string
  state: string
  has: number
}): void {
  const text = `${distid} ${po}: ${state} with ${has} orders`
  if (state === 'placed') assert.equal(has, 1, text)
  // Two orders under one PO of the caller's, at a distributor that shows no more than that: a
  // person looks which is ours.
  else if (state === 'review' && po.includes('STRANGER')) assert.ok(has <= 1, text)
  // It tells of an order by its number alone: what was lost with that, a person finds out.
  else if (state === 'review' && !LOOKED_UP.includes(distid)) assert.ok(has <= 1, text)
  // Shown once it is shipped, and nothing of these ever is.
  else if (
    has === 1 &&
    profileOf(distid)!.shows === 'shipped' &&
    /LOST-(NONE|CANCEL)|LATE-CANCEL/.test(po)
  )
    assert.ok(['unknown', 'review'].includes(state), text)
  else {
    assert.equal(has, 0, text)
    assert.ok(
      [
        'rejected',
        'expired',
        ...(['one_shot', 'file'].includes(profileOf(distid)!.recovery)
          ? ['unknown', 'review']
          : []),
      ].includes(state),
      text,
    )
  }
}

/** What takes real time is tried with the connectors alone. */
const TRIED = Object.keys(SCENARIOS).filter(
  (name) => !['SLOW', 'HANG', 'CHAOS-<percent>'].includes(name),
)

describe('the order engine over simulated distributors', () => {
  for (const distid of SIMULATED) {
    test(`${distid}: every scenario ends with one order or none, and the engine knows which`, async () => {
      const t = await shop()
      // Under a caller's PO some show nothing by which its order could be told from a stranger's.
      const { reference, content } = profileOf(distid)!.tells
      if (!reference && !content) t.expectErrors(/an order needs a person's decision/)
      try {
        // Nobody else's order has a PO that we made; one that a caller chose may stand on many.
        for (const scenario of TRIED)
          await place(
            t,
            distid,
            `o-SIM-${scenario}`,
            scenario.startsWith('STRANGER') ? { po_number: `PO-SIM-${scenario}` } : {},
          )
        await minutes(t, 40)
        const rows = await account(t)
        assert.equal(rows.length, TRIED.length)
        for (const row of rows) assertKnown(row)
      } finally {
        await t.close()
      }
    })
  }

  test('chaos at all nine: nothing twice, nothing lost', async () => {
    const t = await shop()
    // Whether chaos leaves one to a person is chance; this one is.
    t.expectErrors(/an order needs a person's decision/)
    try {
      for (let i = 0; i < ROUNDS; i++)
        for (const distid of SIMULATED) await place(t, distid, `${distid}-${i}-SIM-CHAOS-25`)
      await place(t, 'ORI', 'ORI-SIM-TIMEOUT')
      await minutes(t, 90)
      // A quarter of all calls fail: an order of many calls may need many tries, each after its
      // time to settle.
      const isOpen = ({ state, distid }: { state: string; distid: string }) =>
        state === 'unknown' && !['one_shot', 'file'].includes(profileOf(distid)!.recovery)
      for (let hours = 0; hours < 8 && (await account(t)).some(isOpen); hours++)
        await minutes(t, 60)
      const rows = await account(t)
      assert.equal(rows.length, ROUNDS * SIMULATED.length + 1)
      for (const row of rows) assertKnown(row)
    } finally {
      await t.close()
    }
  })

  test('who was told that nobody can be reached places the same order_id again, and is served', async () => {
    const t = await shop()
    try {
      for (const distid of SIMULATED) {
        const statuses = []
        for (let i = 0; i < 3; i++)
          statuses.push((await place(t, distid, `${distid}-SIM-UNREACHABLE-ONCE`)).status)
        assert.deepEqual(statuses, [503, 503, 200])
      }
    } finally {
      await t.close()
    }
  })

  test('one PO on two orders of the same content', async () => {
    const t = await shop()
    t.expectErrors(/an order needs a person's decision/)
    try {
      for (const distid of SIMULATED)
        for (const n of [1, 2])
          await place(t, distid, `${distid}-${n}`, { po_number: 'SAME-SIM-CUT-REPLY' })
      await minutes(t, 40)
      const rows = await account(t)
      for (const { distid, state, has } of rows)
        assert.ok(
          // A file of the same name that says the same may be either: the second is not sent.
          (has === 1 || (isFile(distid) && state !== 'placed')) &&
            ['placed', 'unknown', 'review'].includes(state),
          `${distid}: ${state} with ${has} orders`,
        )
      for (const file of SIMULATED.filter(isFile))
        assert.equal(rows.filter(({ distid, has }) => distid === file && has === 1).length, 1)
    } finally {
      await t.close()
    }
  })
})
