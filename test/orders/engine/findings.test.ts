/** Faults of the order engine that the simulation found, each in its smallest form. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { DAY, MINUTE } from '../../../lib/core/clock.js'
import type { PurchaseOrder } from '../../../lib/distributors/fulfillment.js'
import { openJournalFile } from '../../../lib/orders/journal/file.js'
import { matchOrder } from '../../../lib/orders/matching/match.js'
import { afterSearch } from '../../../lib/orders/engine/rules/after-search.js'
import type { StoredPo } from '../../../lib/orders/stored.js'
import { REVIEW, orderShop } from '../shop.js'
import { scripted } from '../scripted-distributor.js'
import { guardFolder } from '../../harness/files.js'

test('lines that a dead process never synced are synced before they count', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'qm-findings-'))
  let guard = guardFolder(dir, { point: () => undefined })
  try {
    writeFileSync(join(dir, 'orders.journal'), 'one\n')
    await (await openJournalFile(dir)).close()
    let isWriting = false
    guard = guardFolder(dir, {
      point: (name) =>
        isWriting && name === 'journal: before the sync' ? new Promise<never>(() => {}) : undefined,
    })
    const file = await openJournalFile(dir)
    isWriting = true
    void file.append(['two'])
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    // Killed: the kernel still has the line. The next life opens the file, and then the power goes.
    guard.died((unsafe) => unsafe)
    guard = guardFolder(dir, { point: () => undefined })
    await openJournalFile(dir)
    guard.died(() => 0)
    assert.equal(readFileSync(join(dir, 'orders.journal'), 'utf8'), 'one\ntwo\n')
  } finally {
    guard.release()
    rmSync(dir, { recursive: true, force: true })
  }
})

test("an order sent by a clock a day ahead does not look like somebody else's", () => {
  const sentAt = Date.UTC(2026, 10, 21, 12)
  const shipTo = {
    name: 'Pat Doe',
    address1: '12 Main St',
    address2: null,
    city: 'Phoenix',
    state: 'AZ',
    zip: '85001',
    phone: null,
  }
  const lines = [
    {
      distsku: 'A1',
      upc: '012345678905',
      name: 'Bipod',
      qty: 1,
      unitPrice: 2_500,
      fflRequired: false,
    },
  ]
  const sent: PurchaseOrder = {
    clientRef: 'A'.repeat(20),
    serial: 1,
    po: 'MONDAY',
    poGiven: 'MONDAY',
    poIsOurs: false,
    lane: 'all',
    fflRequired: false,
    shipToStore: false,
    lines,
    shipTo,
    customer: { ...shipTo, email: 'pat@customer.example' },
    ffl: null,
    takenAt: sentAt,
  }
  // The distributor tells no more than the day, which began twelve hours before.
  const found = {
    number: 'X-1',
    po: 'MONDAY',
    lines,
    shipTo: { name: 'Pat Doe', address1: '12 Main St', zip: '85001' },
    placedAt: Date.UTC(2026, 10, 21),
  }
  const matched = (ahead: number) =>
    matchOrder(found, sent, {
      firstSentAt: sentAt + ahead,
      poIsAlone: false,
      hasOtherParts: false,
      isTaken: false,
      recovery: 'lookup',
    })
  assert.equal(matched(0), 'ours')
  assert.equal(matched(DAY), 'unclear')
  // Last week's order is another one.
  assert.equal(matched(7 * DAY), 'other')
})

test('a look that shows what may be it takes back the one that showed nothing', () => {
  const rules = {
    recovery: 'lookup' as const,
    limits: { po: { max: 60 } },
    find: () => Promise.reject(new Error('not asked here')),
  }
  const order = {
    state: 'unknown',
    misses: 1,
    missed_at: 0,
    refusal: null,
    reason: null,
    stage: null,
    first_sent_at: 0,
    planned_at: 0,
  } as StoredPo
  const may = { number: 'X-1', po: 'MONDAY' }
  const nothing = { ours: [], conflicts: [], blind: null }
  const decision = afterSearch(order, { ...nothing, unclear: [may] }, rules, {
    now: 11 * MINUTE,
    unknownFor: MINUTE,
  })
  assert.ok('change' in decision && decision.change.to === 'unknown')
  assert.deepEqual([decision.change.misses, decision.change.missed_at], [0, null])
  // The next that shows nothing is then the first of two.
  const next = afterSearch(
    { ...order, ...decision.change } as StoredPo,
    { ...nothing, unclear: [] },
    rules,
    { now: 30 * MINUTE, unknownFor: 20 * MINUTE },
  )
  assert.ok('change' in next && next.change.misses === 1)
})

test('file: what may be another order without a number is not taken', async () => {
  const fil = scripted({ recovery: 'file' })
  fil.acts.push(
    { accept: true, answer: { outcome: 'accepted', number: null } },
    { accept: false, answer: { outcome: 'unknown', reason: 'timeout' } },
  )
  await using t = await orderShop([fil])
  t.expectErrors(REVIEW)
  // The same customer buys the same thing twice, under the PO of the week; the distributor tells no
  // reference of ours.
  for (let n = 0; n < 2; n++) await t.place(t.body({ po_number: 'WEEK 47' }))
  const [{ order }] = fil.orders as [{ number: string; order: PurchaseOrder }]
  const shown = {
    number: 'FIL-1',
    po: order.po,
    lines: order.lines,
    shipTo: { name: order.shipTo.name, address1: order.shipTo.address1, zip: order.shipTo.zip },
  }
  fil.searches.push(
    ...Array.from({ length: 40 }, () => ({ outcome: 'answered' as const, orders: [shown] })),
  )
  await t.later(MINUTE, 15)
  assert.deepEqual(
    (await t.purchaseOrders()).map(({ state }) => state),
    ['placed', 'review'],
  )
})

test('lookup: an order accepted without a number is looked for until it has one', async () => {
  const loo = scripted({ recovery: 'lookup' })
  loo.acts.push({ accept: true, answer: { outcome: 'accepted', number: null } })
  await using t = await orderShop([loo])
  assert.equal((await t.place(t.body())).body.data.status, 'pending')
  assert.deepEqual(
    (await t.purchaseOrders()).map(({ state, distributor_order_id: number }) => [state, number]),
    [['unknown', null]],
  )
  await t.later(MINUTE)
  const [{ number }] = loo.orders as [{ number: string; order: PurchaseOrder }]
  assert.deepEqual(
    (await t.purchaseOrders()).map(({ state, sends, distributor_order_id: found }) => [
      state,
      sends,
      found,
    ]),
    [['placed', 1, number]],
  )
})

test('one_shot: an order accepted without a number is placed where that comes later', async () => {
  const tst = scripted({ recovery: 'one_shot' })
  Object.assign(tst.connector, { numberComesLater: true })
  tst.acts.push({ accept: true, answer: { outcome: 'accepted', number: null } })
  await using t = await orderShop([tst])
  assert.equal((await t.place(t.body())).body.data.status, 'placed')
  assert.deepEqual(
    (await t.purchaseOrders()).map(({ state, distributor_order_id: number }) => [state, number]),
    [['placed', null]],
  )
})

test('a wall clock set ahead does not make a send absent before its time', async () => {
  const tst = scripted({ recovery: 'lookup' })
  tst.acts.push({ accept: false, answer: { outcome: 'unknown', reason: 'timeout' } })
  let steady = 0
  await using t = await orderShop([tst], { monotonic: () => steady })
  await t.place(t.body())
  t.clock.advance(12 * 60 * MINUTE)
  for (let looks = 0; looks < 5; looks++) await t.later(MINUTE)
  assert.deepEqual([tst.sends.length, (await t.purchaseOrders())[0]!.state], [1, 'unknown'])
  for (let minutes = 0; minutes < 14; minutes++) {
    steady += MINUTE
    await t.later(MINUTE)
  }
  assert.deepEqual([tst.sends.length, (await t.purchaseOrders())[0]!.state], [2, 'placed'])
})
