import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { DAY, MINUTE, SECOND } from '../lib/core/clock.js'
import { filesIn } from '../lib/db/engine.js'
import { openFile } from '../lib/db/sqlite.js'
import { readSimulatorOrders } from '../lib/simulator/orders/inspect.js'
import { SIMULATED } from '../lib/simulator/orders/profiles.js'
import { SCENARIOS, scenarioOf } from '../lib/simulator/orders/scenarios.js'
import { connectorConformance, FFL } from './connector-conformance.js'
import { line, SHELF, simulatorRig, START } from './simulator-rig.js'
import type { SimulatorRig } from './simulator-rig.js'

const child = process.env['QM_SIMULATOR_CHILD']

/** Runs with a rig that is put away afterwards. */
const withRig = (run: (rig: SimulatorRig) => Promise<void>) => async () => {
  const rig = simulatorRig()
  try {
    await run(rig)
  } finally {
    rig.close()
  }
}

/** What a child of this suite does: places orders with every distributor and prints each outcome, until it is killed or done. */
async function placeMany(dir: string): Promise<void> {
  const rig = simulatorRig(dir)
  const scenarios = [undefined, 'CUT-REPLY', 'CHAOS-30', 'LATE', undefined]
  for (let i = 0; i < 30; i++) {
    for (const distid of SIMULATED) {
      const scenario = scenarios[i % scenarios.length]
      const order = rig.order({ ...scenario !== undefined && { scenario }, lines: [line('A1'), line('B2', 2)] })
      const outcome = await rig.outcome(distid, order)
      process.stdout.write(`${distid} ${order.clientRef} ${scenario ?? 'plain'} ${outcome}\n`)
      rig.clock.ms += 10 * SECOND
    }
  }
  rig.simulators.close()
}

function suites(): void {
  for (const distid of SIMULATED) {
    connectorConformance(`simulated ${distid}`, () => {
      const rig = simulatorRig()
      return {
        connector: rig.connector(distid),
        session: (order, signal) => rig.session(distid, order, { ...signal && { signal } }),
        order: rig.order, advance: (ms) => { rig.clock.ms += ms }, close: rig.close,
        count: (clientRef) => rig.simulators.orders().filter((order) => order.clientRef === clientRef).length,
      }
    })
  }
  describe('ways of recovery', recoverySuite)
  describe('carts', cartSuite)
  describe('scenarios', scenarioSuite)
  describe('refusals', refusalSuite)
  describe('life of an order', lifeSuite)
  describe('the shelf', shelfSuite)
  describe('simulator.db', fileSuite)
}

function recoverySuite(): void {
  test('RSR looks at the stock before it looks at the reference', withRig(async (rig) => {
    rig.listed.set('LAST', 1)
    const order = rig.order({ scenario: 'CUT-REPLY', lines: [line('LAST')] })
    assert.equal(await rig.outcome('RSR', order), 'unknown')
    assert.deepEqual(await rig.submit('RSR', order), { outcome: 'rejected', reason: '20007 Item LAST out of stock' })
    const other = rig.order({ scenario: 'CUT-REPLY' })
    await rig.outcome('RSR', other)
    assert.deepEqual(await rig.submit('RSR', other), { outcome: 'duplicate', number: rig.has(other)[0]!.number })
    assert.deepEqual(await rig.submit('RSR', { ...other, lines: [line('B2')] }), { outcome: 'rejected', reason: '10010 Duplicate order' })
    assert.equal(rig.has(other).length, 1)
  }))

  test('RSR shows an order once it is confirmed', withRig(async (rig) => {
    const order = rig.order()
    await rig.submit('RSR', order)
    assert.deepEqual(await rig.find('RSR', order), { outcome: 'answered', orders: [] })
    rig.clock.ms += 30 * SECOND
    const found = await rig.find('RSR', order)
    assert.ok(found.outcome === 'answered' && found.orders[0]!.clientRef === order.clientRef)
  }))

  test('Chattanooga, Lipsey\'s and Zanders take an order that comes twice for two', withRig(async (rig) => {
    for (const distid of ['CSSI', 'LIP', 'ZND']) {
      const order = rig.order({ scenario: 'CUT-REPLY' })
      await rig.outcome(distid, order)
      assert.equal(await rig.outcome(distid, order), 'accepted')
      assert.equal(rig.has(order).length, 2)
    }
  }))

  test('Chattanooga can be asked at once, by reference and by PO', withRig(async (rig) => {
    const order = rig.order({ scenario: 'CUT-REPLY' })
    await rig.outcome('CSSI', order)
    const { number } = rig.has(order)[0]!
    const shipTo = { name: 'Pat Doe', address1: '12 Main St', zip: '85001' }
    assert.deepEqual(await rig.find('CSSI', order), { outcome: 'answered', orders: [{ number, po: order.po, clientRef: order.clientRef, placedAt: START, lines: [{ distsku: 'A1', qty: 1 }], shipTo }] })
    assert.equal((await rig.find('CSSI', { ...order, clientRef: 'ANOTHER0000000000000' }) as { orders: unknown[] }).orders.length, 1)
    assert.equal((await rig.find('CSSI', { ...order, po: 'ANOTHER' }) as { orders: unknown[] }).orders.length, 1)
  }))

  test('Lipsey\'s tells of an order only in the report of its shipment, without items; Zanders with them', withRig(async (rig) => {
    for (const distid of ['LIP', 'ZND']) {
      const order = rig.order({ scenario: 'CUT-REPLY' })
      await rig.outcome(distid, order)
      const since = rig.clock.ms
      rig.clock.ms += 119 * SECOND
      assert.deepEqual(await rig.find(distid, order), { outcome: 'answered', orders: [] })
      assert.deepEqual(await rig.news(distid, since), [])
      rig.clock.ms += SECOND
      const { orders } = await rig.find(distid, order) as { orders: { number: string }[] }
      assert.equal(orders[0]!.number, rig.has(order)[0]!.number)
      assert.deepEqual(Object.keys(orders[0]!).sort(), distid === 'LIP' ? ['number', 'po', 'shipTo'] : ['lines', 'number', 'placedAt', 'po', 'shipTo'])
      assert.equal((await rig.news(distid, since)).length, 1)
    }
  }))

  test('Sports South: only the submit counts, and twice is once', withRig(async (rig) => {
    const order = rig.order({ scenario: 'TIMEOUT', lines: [line('A1'), line('B2', 3)] })
    assert.equal(await rig.outcome('TSW', order), 'unknown')
    const session = rig.session('TSW', order)
    assert.match(session.stage!, /^SIM-TSW-\d+$/)
    assert.equal(rig.has(order).length, 0)
    const [staged] = (await rig.find('TSW', order) as { orders: { submitted: boolean; number: string; lines: unknown[] }[] }).orders
    assert.deepEqual([staged!.submitted, staged!.number, staged!.lines.length], [false, session.stage, 2])
    for (let i = 0; i < 3; i++) assert.deepEqual(await rig.submit('TSW', order), { outcome: 'accepted', number: session.stage })
    assert.deepEqual(rig.has(order).map(({ lines }) => lines), [[{ distsku: 'A1', qty: 1, committed: 1 }, { distsku: 'B2', qty: 3, committed: 3 }]])
    const { orders } = await rig.find('TSW', order) as { orders: { submitted: boolean }[] }
    assert.deepEqual(orders.map(({ submitted }) => submitted), [true])
  }))

  test('Sports South: a stage that nobody kept is left behind, and has no effect', withRig(async (rig) => {
    const order = rig.order()
    const session = rig.session('TSW', order)
    await assert.rejects(rig.connector('TSW').submit({ ...session, keepStage: () => Promise.reject(new Error('the disk is full')) }, order), /disk is full/)
    assert.equal(rig.has(order).length, 0)
    assert.equal(await rig.outcome('TSW', order), 'accepted')
    assert.equal(rig.has(order).length, 1)
    const { orders } = await rig.find('TSW', order) as { orders: { submitted: boolean }[] }
    assert.deepEqual(orders.map(({ submitted }) => submitted), [true, false])
  }))

  test('Bill Hicks: one file, however often it is dropped; the number comes with the acknowledgement', withRig(async (rig) => {
    const order = rig.order({ scenario: 'TIMEOUT-AFTER-ACCEPT' })
    assert.equal(await rig.outcome('BILL', order), 'unknown')
    assert.deepEqual(await rig.submit('BILL', order), { outcome: 'duplicate', number: null })
    const waiting = await rig.find('BILL', order)
    assert.ok(waiting.outcome === 'answered' && waiting.orders.length === 1 && waiting.orders[0]!.number === null && waiting.orders[0]!.clientRef === order.clientRef)
    assert.deepEqual(await rig.news('BILL'), [])
    rig.clock.ms += 30 * SECOND
    assert.deepEqual(await rig.submit('BILL', order), { outcome: 'duplicate', number: null })
    const [acknowledged] = await rig.news('BILL')
    assert.match(acknowledged!.number!, /^SIM-BILL-\d+$/)
    assert.deepEqual([acknowledged!.status, acknowledged!.clientRef, acknowledged!.at], ['Submitted', order.clientRef, START + 30 * SECOND])
    assert.deepEqual(rig.has(order).map(({ number }) => number), [acknowledged!.number])
  }))

  test('Bill Hicks commits what it has, and nothing of what it does not know', withRig(async (rig) => {
    rig.listed.set('FEW', 2).set('NEVER', null)
    const some = rig.order({ lines: [line('FEW', 5), line('A1')] })
    const none = rig.order({ lines: [line('NEVER')] })
    for (const order of [some, none]) assert.equal(await rig.outcome('BILL', order), 'accepted')
    rig.clock.ms += MINUTE
    const news = await rig.news('BILL')
    assert.deepEqual([some, none].map(({ clientRef }) => news.find((update) => update.clientRef === clientRef)!.status), ['Partially Fulfilled', 'Not Fulfilled'])
    assert.deepEqual(rig.has(some)[0]!.lines.map(({ committed }) => committed), [2, 1])
  }))
}

function cartSuite(): void {
  test('what an order that was cut off has left in the cart does not come along', withRig(async (rig) => {
    const cutOff = rig.order({ lines: [line('LEFT', 5), line('A1')] })
    await assert.rejects(rig.connector('2AW').submit({ ...rig.session('2AW', cutOff), keepStage: () => Promise.reject(new Error('killed')) }, cutOff), /killed/)
    const next = rig.order({ lines: [line('A1', 2)] })
    assert.equal(await rig.outcome('2AW', next), 'accepted')
    assert.deepEqual(rig.has(next)[0]!.lines, [{ distsku: 'A1', qty: 2, committed: 2 }])
    assert.equal(await rig.outcome('2AW', cutOff), 'accepted')
    assert.deepEqual(rig.has(cutOff)[0]!.lines.map(({ distsku, qty }) => `${distsku} ${qty}`), ['LEFT 5', 'A1 1'])
  }))

  test('a cart that became another order is not taken for ours', withRig(async (rig) => {
    const first = rig.order({ scenario: 'TIMEOUT', po: 'SHARED' })
    assert.equal(await rig.outcome('2AW', first), 'unknown')
    const stage = rig.session('2AW', first).stage
    const second = rig.order({ po: 'SHARED', lines: [line('A1'), line('B2')] })
    assert.equal(await rig.outcome('2AW', second), 'accepted')
    assert.equal(rig.session('2AW', second).stage, stage)
    const { orders } = await rig.find('2AW', first) as { orders: { clientRef: string }[] }
    assert.deepEqual(orders.map(({ clientRef }) => clientRef), [second.clientRef])
    assert.equal(await rig.outcome('2AW', first), 'accepted')
    assert.deepEqual([first, second].map((order) => rig.has(order).length), [1, 1])
  }))

  test('while it is still ours, a search shows it as not submitted', withRig(async (rig) => {
    const order = rig.order({ scenario: 'TIMEOUT' })
    await rig.outcome('2AW', order)
    const { orders } = await rig.find('2AW', order) as { orders: { clientRef: string; submitted: boolean }[] }
    assert.deepEqual(orders.map(({ clientRef, submitted }) => [clientRef, submitted]), [[order.clientRef, false]])
  }))

  test('two who fill it at once never get each other\'s items', withRig(async (rig) => {
    const placed = await Promise.all(['A1', 'B2', 'C3', 'D4'].map(async (sku, i) => {
      const order = rig.order({ lines: [line(sku, i + 1), line(`${sku}x`)] })
      return { order, outcome: await rig.outcome('2AW', order) }
    }))
    for (const { order, outcome } of placed) {
      // Whoever finds the cart taken by another has sent nothing, and comes again.
      if (outcome !== 'accepted') assert.deepEqual([outcome, await rig.outcome('2AW', order)], ['not_sent', 'accepted'])
      assert.deepEqual(rig.has(order).map(({ lines }) => lines.map(({ distsku, qty }) => ({ distsku, qty }))), [order.lines.map(({ distsku, qty }) => ({ distsku, qty }))])
    }
  }))

  test('a checkout that comes late finds its cart taken, and does nothing', withRig(async (rig) => {
    const late = rig.order({ scenario: 'LATE' })
    await rig.outcome('2AW', late)
    const next = rig.order({ scenario: 'TIMEOUT', lines: [line('B2')] })
    await rig.outcome('2AW', next)
    rig.clock.ms += DAY
    assert.deepEqual([late, next].map((order) => rig.has(order).length), [0, 0])
  }))
}

/** Of each scenario: how its first send ends, how many orders come of it, and how that order ends. */
const EXPECTED: Record<string, [outcome: string, orders: number, status?: string]> = {
  'OUT-OF-STOCK': ['rejected', 0], REJECT: ['rejected', 0],
  UNREACHABLE: ['not_sent', 0], 'UNREACHABLE-ONCE': ['not_sent', 0], 'RATE-LIMITED': ['not_sent', 0],
  TIMEOUT: ['unknown', 0], 'TIMEOUT-AFTER-ACCEPT': ['unknown', 1, 'Fulfilled'], 'CUT-REPLY': ['unknown', 1, 'Fulfilled'],
  'SERVER-ERROR-BEFORE': ['unknown', 0], 'SERVER-ERROR-AFTER': ['unknown', 1, 'Fulfilled'], LATE: ['unknown', 1, 'Fulfilled'],
  GARBAGE: ['unknown', 1, 'Fulfilled'], HTML: ['unknown', 0], 'DUPLICATE-ACK': ['accepted', 1, 'Fulfilled'], 'REJECT-ON-RESEND': ['unknown', 1, 'Fulfilled'],
  PARTIAL: ['accepted', 1, 'Partially Fulfilled'], 'NONE-COMMITTED': ['accepted', 1, 'Not Fulfilled'],
  HOLD: ['accepted', 1, 'Fulfilled'], BACKORDER: ['accepted', 1, 'Fulfilled'], PARCELS: ['accepted', 1, 'Fulfilled'], CANCEL: ['accepted', 1, 'Cancelled'],
  RETURN: ['accepted', 1, 'Fulfilled'], FAILURE: ['accepted', 1, 'Fulfilled'], 'LOOKUP-DOWN': ['unknown', 1, 'Fulfilled'], 'OTHER-PO': ['unknown', 1, 'Fulfilled'],
  STRANGER: ['unknown', 1, 'Fulfilled'], 'STRANGER-ONLY': ['unknown', 0],
}
/** What takes real time, or chance, is tried apart. */
const APART = ['SLOW', 'HANG', 'CHAOS-<percent>']
const TWO = () => [line('A1'), line('B2', 2)]

function scenarioSuite(): void {
  test('every one is tried', () => assert.deepEqual([...Object.keys(EXPECTED), ...APART].sort(), Object.keys(SCENARIOS).sort()))

  test('they are asked for in the PO or in a SKU, case aside, and by nothing that only looks like one', () => {
    const asked = (poGiven: string, ...skus: string[]) => scenarioOf({ poGiven, lines: skus.map((sku) => line(sku)) })
    assert.equal(asked('W-1-LIB0-010', 'A1'), null)
    assert.equal(asked('sim-reject-LIB0-010'), 'REJECT')
    assert.equal(asked('SIM-REJECT-ON-RESEND-LIB0-010'), 'REJECT-ON-RESEND')
    assert.equal(asked('xSim-Unreachable-Once'), 'UNREACHABLE-ONCE')
    assert.equal(asked('W-1', 'A1', 'SIM-HOLD'), 'HOLD')
    assert.equal(asked('SIM-LATE', 'SIM-HOLD'), 'LATE')
    assert.equal(asked('SIM-REJECTED'), null)
    assert.equal(asked('SIM-CHAOS-25-LIB0'), 'CHAOS-25')
    assert.equal(asked('SIM-CHAOS'), null)
  })

  for (const [scenario, [outcome, count, status]] of Object.entries(EXPECTED)) {
    test(`SIM-${scenario} at all seven`, withRig(async (rig) => {
      for (const distid of SIMULATED) {
        // A file is looked at later: what the others refuse, it commits nothing of.
        const [expected, orders, end] = distid === 'BILL' && outcome === 'rejected' ? ['accepted', 1, 'Not Fulfilled'] : [outcome, count, status]
        const order = rig.order({ scenario, lines: TWO() })
        assert.equal(await rig.outcome(distid, order), expected, distid)
        rig.clock.ms += DAY
        assert.deepEqual(rig.has(order).map((has) => has.status), orders === 0 ? [] : [end], distid)
      }
    }))
  }

  test('the first sends fail, and the next is served', withRig(async (rig) => {
    for (const distid of SIMULATED) {
      for (const [scenario, fails] of [['UNREACHABLE-ONCE', 2], ['RATE-LIMITED', 1], ['TIMEOUT', 1], ['SERVER-ERROR-BEFORE', 1], ['HTML', 1]] as const) {
        const order = rig.order({ scenario })
        for (let i = 0; i < fails; i++) assert.notEqual(await rig.outcome(distid, order), 'accepted')
        assert.equal(await rig.outcome(distid, order), 'accepted', `${distid} ${scenario}`)
      }
      // By the PO: another reference of the same PO goes on in the sequence, and after it was served it begins anew.
      const once = (n: number) => ({ ...rig.order({ scenario: 'UNREACHABLE-ONCE' }), poGiven: `again-${n}-SIM-UNREACHABLE-ONCE` })
      assert.deepEqual([await rig.outcome(distid, once(1)), await rig.outcome(distid, once(2)), await rig.outcome(distid, once(1)), await rig.outcome(distid, once(1)), await rig.outcome(distid, once(1))],
        ['not_sent', 'not_sent', 'not_sent', 'accepted', 'not_sent'])
      const never = rig.order({ scenario: 'UNREACHABLE' })
      for (let i = 0; i < 5; i++) assert.equal(await rig.outcome(distid, never), 'not_sent')
    }
    assert.deepEqual(await rig.submit('RSR', rig.order({ scenario: 'RATE-LIMITED' })), { outcome: 'not_sent', reason: 'HTTP 429: too many requests', retryAfter: 5 })
  }))

  test('LATE: executed after two minutes, found only then, also over a restart', withRig(async (rig) => {
    for (const distid of SIMULATED) {
      const order = rig.order({ scenario: 'LATE' })
      await rig.outcome(distid, order)
      const at = rig.clock.ms + 2 * MINUTE
      rig.clock.ms += 2 * MINUTE - 1
      const before = await rig.find(distid, order)
      assert.ok(before.outcome === 'answered' && before.orders.every(({ submitted }) => submitted === false), distid)
      rig.reopen()
      rig.clock.ms += 10 * MINUTE
      const found = await rig.find(distid, order)
      assert.ok(found.outcome === 'answered' && found.orders.length === 1, distid)
      assert.equal(rig.has(order)[0]!.executedAt, distid === 'BILL' ? at + 30 * SECOND : at)
    }
  }))

  test('REJECT-ON-RESEND: whoever sends it again is told that it is out of stock', withRig(async (rig) => {
    for (const distid of ['RSR', 'CSSI', 'LIP', 'ZND']) {
      const order = rig.order({ scenario: 'REJECT-ON-RESEND' })
      await rig.outcome(distid, order)
      const again = await rig.submit(distid, order)
      assert.ok(again.outcome === 'rejected' && /stock|available|inventory/.test(again.reason))
      assert.equal(rig.has(order).length, 1)
    }
  }))

  test('LOOKUP-DOWN: nobody tells of the order for ten minutes', withRig(async (rig) => {
    for (const distid of SIMULATED) {
      const order = rig.order({ scenario: 'LOOKUP-DOWN' })
      const since = rig.clock.ms
      await rig.outcome(distid, order)
      for (const wait of [0, 5 * MINUTE, 5 * MINUTE - 1]) {
        rig.clock.ms += wait
        assert.equal((await rig.find(distid, order)).outcome, 'unreachable', distid)
        assert.deepEqual(await rig.news(distid, since), [])
      }
      rig.clock.ms += 1
      const found = await rig.find(distid, order)
      assert.ok(found.outcome === 'answered' && found.orders.length === 1)
      assert.ok((await rig.news(distid, since)).length > 1)
      rig.clock.ms += DAY
    }
  }))

  test('OTHER-PO: lists show it in upper case', withRig(async (rig) => {
    for (const distid of SIMULATED) {
      const order = rig.order({ scenario: 'OTHER-PO', po: 'web-7-abc' })
      await rig.outcome(distid, order)
      rig.clock.ms += 5 * MINUTE
      const { orders } = await rig.find(distid, order) as { orders: { po: string }[] }
      assert.deepEqual(orders.map(({ po }) => po), ['WEB-7-ABC'])
      rig.clock.ms += DAY
    }
  }))

  test('STRANGER: somebody else\'s order of the same PO stands in the lists, once', withRig(async (rig) => {
    for (const distid of SIMULATED) {
      for (const [scenario, count] of [['STRANGER', 2], ['STRANGER-ONLY', 1]] as const) {
        const order = rig.order({ scenario })
        await rig.outcome(distid, order)
        rig.clock.ms += 10 * MINUTE
        const { orders } = await rig.find(distid, order) as { orders: { clientRef?: string; shipTo?: { name?: string }; submitted?: boolean }[] }
        assert.equal(orders.filter(({ submitted }) => submitted !== false).length, count, distid)
        assert.equal(orders.filter(({ clientRef, shipTo }) => clientRef === undefined && shipTo?.name === 'Walk-in Customer').length, 1)
      }
    }
    assert.equal(rig.simulators.orders().filter(({ clientRef }) => clientRef === null).length, 2 * SIMULATED.length)
  }))

  test('DUPLICATE-ACK: the confirmation comes again and again, after newer news', withRig(async (rig) => {
    const order = rig.order({ scenario: 'DUPLICATE-ACK' })
    await rig.submit('CSSI', order)
    rig.clock.ms += 3 * MINUTE
    const news = await rig.news('CSSI')
    assert.equal(news.filter(({ at }) => at === START + 30 * SECOND).length, 6)
    assert.equal(news.at(-1)!.at, START + 30 * SECOND)
    assert.ok(news.some(({ parcels }) => parcels))
  }))

  test('SLOW answers after three seconds, or stops when it is told to', withRig(async (rig) => {
    const slow = (distid: string, signal?: AbortSignal) => {
      const order = rig.order({ scenario: 'SLOW' })
      return rig.connector(distid).submit(rig.session(distid, order, { ...signal && { signal } }), order)
    }
    const started = performance.now()
    const [answers, stopped] = await Promise.all([Promise.all(SIMULATED.map((distid) => slow(distid))), slow('RSR', abortedAfter(100)).catch((error: unknown) => error)])
    assert.ok(performance.now() - started >= 2_990)
    assert.ok(answers.every(({ outcome }) => outcome === 'accepted'))
    assert.ok(stopped instanceof Error)
  }))

  test('HANG: accepted, and never answered until it is stopped', withRig(async (rig) => {
    for (const distid of SIMULATED) {
      const order = rig.order({ scenario: 'HANG' })
      await assert.rejects(rig.connector(distid).submit(rig.session(distid, order, { signal: abortedAfter(30) }), order), { name: 'AbortError' })
      assert.equal(rig.has(order).length, 1)
    }
  }))

  test('CHAOS: the same order meets the same faults, also over a restart; all of them are met', withRig(async (rig) => {
    const run = async (restarts: boolean) => {
      const seen: string[] = []
      const other = simulatorRig()
      try {
        for (const distid of SIMULATED) {
          const order = { ...rig.order({ scenario: 'CHAOS-50', lines: TWO() }), clientRef: `CHAOS${distid}`.padEnd(20, '0') }
          for (let i = 0; i < 12; i++) {
            seen.push(`${distid} ${await other.outcome(distid, order)}`)
            seen.push(`${distid} find ${await other.find(distid, order).then(({ outcome }) => outcome, () => 'threw')}`)
            seen.push(`${distid} news ${await other.news(distid).then(() => 'read', () => 'threw')}`)
            other.clock.ms += MINUTE
            if (restarts) other.reopen()
          }
        }
      } finally {
        other.close()
      }
      return seen
    }
    const seen = await run(false)
    assert.deepEqual(await run(true), seen)
    for (const outcome of ['accepted', 'unknown', 'not_sent', 'threw ECONNRESET', 'find answered', 'find unreachable', 'find threw', 'news read', 'news threw']) assert.ok(seen.some((one) => one.endsWith(outcome)), outcome)
    const always = rig.order({ scenario: 'CHAOS-100' })
    for (let i = 0; i < 10; i++) assert.notEqual(await rig.outcome('CSSI', always), 'accepted')
  }))

  test('without one, nothing ever fails', withRig(async (rig) => {
    for (let i = 0; i < 20; i++) for (const distid of SIMULATED) assert.equal(await rig.outcome(distid, rig.order()), 'accepted')
  }))
}

function refusalSuite(): void {
  const firearm = (more: object = {}) => ({ lines: [line('G1', 1, true)], ffl: FFL, fflRequired: true, ...more })
  const rows: [distid: string, what: string, more: object, reason: RegExp][] = [
    ['RSR', 'a PO that is too long', { po: 'x'.repeat(23) }, /^10999 PO number has 23 characters, 22 are the most$/],
    ['RSR', 'a character in the PO', { po: 'A_1' }, /PO number holds "_"$/],
    ['CSSI', 'a PO that is too long', { po: 'x'.repeat(25) }, /purchase_order_number has 25 characters/],
    ['RSR', 'no phone with a firearm', firearm({ customer: { ...simulatorCustomer(), phone: null } }), /20009/],
    ['LIP', 'no phone with a firearm', firearm({ customer: { ...simulatorCustomer(), phone: ' ' } }), /Phone is required/],
    ['TSW', 'no phone at all', { customer: { ...simulatorCustomer(), phone: null } }, /ShipToPhone/],
    ['RSR', 'a firearm without a dealer', { lines: [line('G1', 1, true)] }, /11002/],
    ['ZND', 'a licence that is none', firearm({ ffl: { ...FFL, licenseNumber: '1-57-033' } }), /fflno/],
    ['2AW', 'a ZIP that is none', { shipTo: { ...simulatorCustomer(), zip: '8500' } }, /postcode "8500"/],
    ['BILL', 'a ZIP that is none', { shipTo: { ...simulatorCustomer(), zip: 'K1A 0B1' } }, /K1A 0B1/],
    ['RSR', 'firearms with accessories', firearm({ lines: [line('G1', 1, true), line('A1')] }), /11007/],
    ['LIP', 'firearms with accessories', firearm({ lines: [line('G1', 1, true), line('A1')] }), /non-firearms/],
    ['ZND', 'firearms with accessories', firearm({ lines: [line('G1', 1, true), line('A1')] }), /different accounts/],
    ['CSSI', 'an unknown SKU', { lines: [line('A1'), line('NEVER')] }, /NEVER does not exist/],
    ['TSW', 'an unknown SKU', { lines: [line('NEVER')] }, /AddDetail: false/],
    ['LIP', 'one line out of stock', { lines: [line('A1'), line('FEW', 3)] }, /FEW is not available/],
    ['2AW', 'a line out of stock', { lines: [line('FEW', 3)] }, /requested qty of "FEW"/],
  ]
  for (const [distid, what, more, reason] of rows) {
    test(`${distid} refuses ${what}`, withRig(async (rig) => {
      rig.listed.set('NEVER', null).set('FEW', 2)
      const order = rig.order(more)
      const answer = await rig.submit(distid, order)
      assert.ok(answer.outcome === 'rejected', answer.outcome)
      assert.match(answer.reason, reason)
      rig.clock.ms += DAY
      assert.deepEqual(rig.has(order), [])
    }))
  }

  test('what goes to the store needs no licence of a dealer, and what has none of these faults is taken', withRig(async (rig) => {
    for (const distid of SIMULATED) {
      assert.equal(await rig.outcome(distid, rig.order(firearm())), 'accepted')
      assert.equal(await rig.outcome(distid, rig.order({ lines: [line('G1', 1, true)], shipToStore: true })), 'accepted')
      assert.equal(await rig.outcome(distid, rig.order({ shipTo: { ...simulatorCustomer(), zip: '85001-1234' } })), 'accepted')
    }
  }))

  test('credentials other than the demo\'s: nothing is looked at', withRig(async (rig) => {
    for (const distid of SIMULATED) {
      const order = rig.order()
      for (const settings of [{}, { ...rig.session(distid, order).settings, ...Object.fromEntries(Object.keys(rig.session(distid, order).settings).map((name) => [name, 'wrong'])) }]) {
        const session = rig.session(distid, order, { settings })
        assert.equal((await rig.connector(distid).submit(session, order)).outcome, 'not_sent')
        assert.equal((await rig.connector(distid).find!(session, order)).outcome, 'unreachable')
        await assert.rejects(async () => { for await (const _ of rig.connector(distid).updates!(session, START)) assert.fail() }, /credentials/)
      }
      assert.deepEqual(rig.has(order), [])
    }
  }))

  test('RSR, Lipsey\'s and Zanders plan two lanes for a mixed group, and one for any other', withRig(async (rig) => {
    for (const distid of ['RSR', 'LIP', 'ZND']) {
      const { plan } = rig.connector(distid)
      assert.deepEqual(plan!([line('A1'), line('G1', 1, true), line('B2')]), [{ name: 'firearms', lines: [1] }, { name: 'accessories', lines: [0, 2] }])
      assert.deepEqual(plan!([line('A1')]), [{ name: 'accessories', lines: [0] }])
      assert.deepEqual(plan!([line('G1', 1, true)]), [{ name: 'firearms', lines: [0] }])
    }
    for (const distid of ['CSSI', 'TSW', '2AW', 'BILL']) assert.equal(rig.connector(distid).plan, undefined)
  }))
}

function simulatorCustomer() {
  return { name: 'Pat Doe', address1: '12 Main St', address2: null, city: 'Phoenix', state: 'AZ', zip: '85001', phone: '602-555-0100', email: 'pat@customer.example' }
}

/** As AbortSignal.timeout, with a timer that keeps the process awake. */
function abortedAfter(ms: number): AbortSignal {
  const ending = new AbortController()
  setTimeout(() => ending.abort(), ms)
  return ending.signal
}

/** Status and parcels as they change, in seconds after the order. */
async function lifeOf(rig: SimulatorRig, distid: string, scenario?: string, lines = TWO()): Promise<string[]> {
  const order = rig.order({ ...scenario !== undefined && { scenario }, lines })
  const start = rig.clock.ms
  await rig.submit(distid, order)
  rig.clock.ms += DAY
  return (await rig.news(distid, start)).filter(({ po }) => po === order.po)
    .map(({ at, status, parcels }) => [(at - start) / SECOND, ...status ? [status] : [], ...parcels ? [parcels.map((parcel) => parcel.status).join('+')] : []].join(' '))
}

const JOURNEY = ['120 Fulfilled pre_transit', '240 in_transit', '360 out_for_delivery', '480 delivered']

function lifeSuite(): void {
  const rows: [scenario: string | undefined, life: string[]][] = [
    [undefined, ['30 Submitted', ...JOURNEY]],
    ['HOLD', ['30 FFL Hold', '300 Submitted', '390 Fulfilled pre_transit', '510 in_transit', '630 out_for_delivery', '750 delivered']],
    ['BACKORDER', ['30 Backordered', '600 Submitted', '690 Fulfilled pre_transit', '810 in_transit', '930 out_for_delivery', '1050 delivered']],
    ['PARTIAL', ['30 Partially Fulfilled', '120 Partially Fulfilled pre_transit', ...JOURNEY.slice(1)]],
    ['NONE-COMMITTED', ['30 Not Fulfilled']],
    ['CANCEL', ['30 Submitted', '60 Cancelled']],
    ['RETURN', ['30 Submitted', ...JOURNEY.slice(0, 3), '480 return_to_sender']],
    ['FAILURE', ['30 Submitted', ...JOURNEY.slice(0, 3), '480 failure']],
    ['PARCELS', ['30 Submitted', '120 Fulfilled pre_transit+pre_transit+pre_transit', '240 in_transit+pre_transit+pre_transit', '300 in_transit+in_transit+pre_transit', '360 out_for_delivery+in_transit+in_transit',
      '420 out_for_delivery+out_for_delivery+in_transit', '480 delivered+out_for_delivery+out_for_delivery', '540 delivered+delivered+out_for_delivery', '600 delivered+delivered+delivered']],
  ]
  for (const [scenario, life] of rows) {
    test(`${scenario ?? 'as usual'}, by what each distributor tells`, withRig(async (rig) => {
      for (const distid of SIMULATED) {
        // A report of shipments has no confirmations.
        const told = distid === 'LIP' || distid === 'ZND' ? life.filter((one) => !one.endsWith(' Submitted')) : life
        assert.deepEqual(await lifeOf(rig, distid, scenario), told, distid)
      }
    }))
  }

  test('PARTIAL falls short of the items whose SKU says so, by half', withRig(async (rig) => {
    const order = rig.order({ lines: [line('A-SIM-PARTIAL', 5), line('B2', 3)] })
    await rig.submit('CSSI', order)
    assert.deepEqual(rig.has(order)[0]!.lines.map(({ committed }) => committed), [2, 3])
    assert.deepEqual(await lifeOf(rig, 'CSSI', 'PARTIAL', [line('A1')]), ['30 Not Fulfilled'])
  }))

  test('a parcel has carrier, method, day, number and address to follow it', withRig(async (rig) => {
    await rig.submit('RSR', rig.order({ lines: [line('G1', 1, true)], ffl: FFL }))
    rig.clock.ms += 2 * MINUTE
    const [parcel] = (await rig.news('RSR')).at(-1)!.parcels!
    assert.match(parcel!.trackingNumber, /^1ZSIM\d{11}$/)
    assert.deepEqual(parcel, { trackingNumber: parcel!.trackingNumber, company: 'UPS', method: '2nd Day Air', shippedOn: '2026-11-21', url: `https://track.example/${parcel!.trackingNumber}`, status: 'pre_transit' })
  }))

  test('news are told since a time, with a little of before it, and never before they happen', withRig(async (rig) => {
    await rig.submit('CSSI', rig.order())
    assert.deepEqual(await rig.news('CSSI'), [])
    rig.clock.ms = START + 6 * MINUTE
    assert.deepEqual((await rig.news('CSSI')).map(({ at }) => (at - START) / SECOND), [30, 120, 240, 360])
    assert.deepEqual((await rig.news('CSSI', START + 4 * MINUTE)).map(({ at }) => (at - START) / SECOND), [240, 360])
    assert.deepEqual(await rig.news('RSR'), [])
  }))

  test('numbers begin with SIM- and are unique over all seven', withRig(async (rig) => {
    for (const distid of SIMULATED) for (let i = 0; i < 5; i++) await rig.submit(distid, rig.order())
    rig.clock.ms += MINUTE
    const numbers = rig.simulators.orders().map(({ number }) => number!)
    assert.equal(numbers.length, 35)
    assert.ok(numbers.every((number) => /^SIM-(RSR|CSSI|TSW|2AW|LIP|ZND|BILL)-\d+$/.test(number)))
    assert.equal(new Set(numbers.map((number) => number.replace(/^.*-/, ''))).size, 35)
  }))
}

function shelfSuite(): void {
  const left = (rig: SimulatorRig, distid: string, sku: string) => {
    const raw = openFile(filesIn(rig.dir).simulator, { synchronous: 'NORMAL', readonly: true })
    try {
      return raw.prepare('SELECT qty FROM stock WHERE distid = ? AND sku = ?').pluck().get(distid, sku)
    } finally {
      raw.close()
    }
  }

  test('falls by what is committed, and only by that', withRig(async (rig) => {
    for (const distid of SIMULATED) {
      await rig.submit(distid, rig.order({ lines: [line('A1', 7)] }))
      await rig.submit(distid, rig.order({ scenario: 'PARTIAL', lines: [line('A1', 4)] }))
      await rig.outcome(distid, rig.order({ scenario: 'REJECT', lines: [line('A1', 5)] }))
      await rig.submit(distid, rig.order({ lines: [line('A1', 1_000)] }))
      rig.clock.ms += MINUTE
      rig.simulators.orders()
      // A file's last order gets what is left.
      assert.equal(left(rig, distid, 'A1'), distid === 'BILL' ? 0 : SHELF - 9, distid)
    }
  }))

  test('the last unit is sold once', withRig(async (rig) => {
    rig.listed.set('LAST', 1)
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => rig.outcome('CSSI', rig.order({ lines: [line('LAST')] }))))
    assert.deepEqual(outcomes.filter((outcome) => outcome === 'accepted').length, 1)
  }))

  test('believes the catalog where it is news, and not where it is an old picture of the shelf', withRig(async (rig) => {
    const sell = (qty: number) => rig.outcome('RSR', rig.order({ lines: [line('A1', qty)] }))
    rig.listed.set('A1', 10)
    await sell(3)
    assert.equal(left(rig, 'RSR', 'A1'), 7)
    await sell(2)
    // The feed shows what was left before the second order, then what is left.
    for (const listed of [7, 5]) {
      rig.listed.set('A1', listed)
      await sell(listed + 1)
      assert.equal(left(rig, 'RSR', 'A1'), 5)
    }
    rig.listed.set('A1', 40)
    await sell(1)
    assert.equal(left(rig, 'RSR', 'A1'), 39)
    rig.listed.set('A1', 2)
    assert.equal(await sell(3), 'rejected')
    assert.equal(left(rig, 'RSR', 'A1'), 2)
    rig.listed.set('A1', null)
    assert.equal(await sell(2), 'accepted')
  }))
}

function fileSuite(): void {
  test('is made by the first call, and knows everything after a restart', withRig(async (rig) => {
    const file = filesIn(rig.dir).simulator
    assert.ok(!existsSync(file))
    assert.deepEqual(readSimulatorOrders(rig.dir), [])
    const order = rig.order()
    await rig.submit('CSSI', order)
    const before = rig.simulators.orders()
    rig.reopen()
    assert.deepEqual(rig.simulators.orders(), before)
    assert.deepEqual(readSimulatorOrders(rig.dir, START), before)
    assert.deepEqual(readSimulatorOrders(rig.dir).map(({ status }) => status), ['Fulfilled'])
    rig.simulators.close()
    await assert.rejects(rig.submit('CSSI', rig.order()), /closed/)
  }))

  test('a refused or failed call leaves nothing of itself', withRig(async (rig) => {
    rig.listed.set('FEW', 1)
    await rig.outcome('CSSI', rig.order({ lines: [line('A1', 3), line('FEW', 2)] }))
    const { ok } = audit(rig.dir)
    assert.ok(ok)
  }))

  test('two processes sell from one shelf, and nothing is lost or counted twice', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'qm-sim-'))
    try {
      const outputs = await Promise.all([start(dir), start(dir)].map(async (process) => finished(process)))
      const lines = outputs.flatMap((output) => output.split('\n').filter((one) => one !== ''))
      assert.equal(lines.length, 2 * 30 * SIMULATED.length)
      // Without a scenario nothing fails, whatever the other process does; only the shelf runs dry, and one cart is shared.
      for (const one of lines) if (one.includes(' plain ')) assert.match(one, one.startsWith('2AW') ? /accepted|rejected|not_sent$/ : / plain (accepted|rejected)$/)
      const { ok, refs } = audit(dir)
      assert.ok(ok)
      for (const one of lines) if (/^(RSR|CSSI|TSW|2AW|LIP|ZND) \S+ \S+ accepted$/.test(one)) assert.equal(refs.filter((ref) => ref === one.split(' ')[1]).length, 1, one)
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })

  test('a kill at any moment leaves whole orders and a shelf that fits them', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'qm-sim-'))
    try {
      for (let i = 0; i < 8; i++) {
        const output = await killed(start(dir), 3 + 13 * i)
        const { ok, refs } = audit(dir)
        assert.ok(ok, `kill ${i}`)
        for (const one of output.split('\n').slice(0, -1)) if (/^(RSR|CSSI|TSW|2AW|LIP|ZND) \S+ \S+ accepted$/.test(one)) assert.equal(refs.filter((ref) => ref === one.split(' ')[1]).length, 1, one)
      }
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })
}

/** Whether every shelf has what its orders have left of it, and the references that stand on orders. */
function audit(dir: string): { ok: boolean; refs: (string | null)[] } {
  const raw = openFile(filesIn(dir).simulator, { synchronous: 'NORMAL', readonly: true })
  try {
    assert.equal(raw.pragma('integrity_check', { simple: true }), 'ok')
    const orders = readSimulatorOrders(dir)
    const shelves = raw.prepare('SELECT distid, sku, qty, listed FROM stock').all() as { distid: string; sku: string; qty: number; listed: number }[]
    const ok = shelves.every(({ distid, sku, qty, listed }) => qty === listed - orders.filter((order) => order.distid === distid).flatMap(({ lines }) => lines).filter(({ distsku }) => distsku === sku).reduce((sum, { committed }) => sum + committed, 0))
    return { ok, refs: orders.map(({ clientRef }) => clientRef) }
  } finally {
    raw.close()
  }
}

function start(dir: string): ChildProcess {
  return spawn(process.execPath, [fileURLToPath(import.meta.url)], { env: { ...process.env, QM_SIMULATOR_CHILD: dir, NODE_TEST_CONTEXT: '' }, stdio: ['ignore', 'pipe', 'inherit'] })
}

async function finished(child: ChildProcess): Promise<string> {
  let output = ''
  child.stdout!.on('data', (chunk: Buffer) => { output += chunk.toString() })
  assert.equal(await new Promise((resolve) => child.on('close', resolve)), 0)
  return output
}

/** Kills it so many milliseconds after its first answer; what it had printed by then. */
async function killed(child: ChildProcess, after: number): Promise<string> {
  let output = ''
  child.stdout!.on('data', (chunk: Buffer) => {
    if (output === '') setTimeout(() => child.kill('SIGKILL'), after)
    output += chunk.toString()
  })
  await new Promise((resolve) => child.on('close', resolve))
  return output
}

if (child !== undefined) await placeMany(child)
else suites()
