import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { MINUTE, SECOND } from '../../lib/core/clock.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { readSimulatorOrders } from '../../lib/simulator/inspect.js'
import { SIMULATED } from '../../lib/simulator/profiles.js'
import { line, SHELF, simulatorRig, START, withRig } from './rig.js'
import type { SimulatorRig } from './rig.js'

const child = process.env['QM_SIMULATOR_CHILD']
/** Those that the child orders from; by default all. */
const among = process.env['QM_SIMULATOR_AMONG']?.split(' ') ?? SIMULATED
/** One account has one cart, and one process of a shop sends: the engine sees to that, not we. */
const WITHOUT_CART = SIMULATED.filter((distid) => distid !== '2AW')

/**
 * What a child of this suite does: places orders with every distributor and prints each outcome,
 * until it is killed or done.
 */
async function placeMany(dir: string): Promise<void> {
  const rig = simulatorRig({ dir })
  const scenarios = [undefined, 'CUT-REPLY', 'CHAOS-30', 'LATE', undefined]
  for (let i = 0; i < 30; i++) {
    for (const distid of among) {
      const scenario = scenarios[i % scenarios.length]
      const order = rig.order({
        ...(scenario !== undefined && { scenario }),
        // Of this child alone: where a PO is all that tells files apart, the same is the same order.
        po: `W-${process.pid}-${i}`,
        lines: [line('A1'), line('B2', 2)],
      })
      const outcome = await rig.outcome(distid, order)
      process.stdout.write(`${distid} ${order.clientRef} ${scenario ?? 'plain'} ${outcome}\n`)
      rig.clock.ms += 10 * SECOND
    }
  }
  rig.simulators.close()
}

function shelfSuite(): void {
  const left = (rig: SimulatorRig, distid: string, sku: string) => {
    const raw = openFile(filesIn(rig.dir).simulator, { synchronous: 'NORMAL', readonly: true })
    try {
      return raw
        .prepare('SELECT qty FROM stock WHERE distid = ? AND sku = ?')
        .pluck()
        .get(distid, sku)
    } finally {
      raw.close()
    }
  }

  test(
    'falls by what is committed, and only by that',
    withRig(async (rig) => {
      for (const distid of SIMULATED) {
        await rig.submit(distid, rig.order({ lines: [line('A1', 7)] }))
        await rig.submit(distid, rig.order({ scenario: 'PARTIAL', lines: [line('A1', 4)] }))
        await rig.outcome(distid, rig.order({ scenario: 'REJECT', lines: [line('A1', 5)] }))
        await rig.submit(distid, rig.order({ lines: [line('A1', 1_000)] }))
        rig.clock.ms += MINUTE
        rig.simulators.orders()
        // A file's last order gets what is left; who takes all or nothing took the first alone.
        const expected = distid === 'BILL' ? 0 : distid === 'HIX' ? SHELF - 7 : SHELF - 9
        assert.equal(left(rig, distid, 'A1'), expected, distid)
      }
    }),
  )

  test(
    'the last unit is sold once',
    withRig(async (rig) => {
      rig.listed.set('LAST', 1)
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, () => rig.outcome('CSSI', rig.order({ lines: [line('LAST')] }))),
      )
      assert.deepEqual(outcomes.filter((outcome) => outcome === 'accepted').length, 1)
    }),
  )

  test(
    'believes the catalog where it is news, and not where it is an old picture of the shelf',
    withRig(async (rig) => {
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
    }),
  )
}

function fileSuite(): void {
  test(
    'is made by the first call, and knows everything after a restart',
    withRig(async (rig) => {
      const file = filesIn(rig.dir).simulator
      assert.ok(!existsSync(file))
      assert.deepEqual(readSimulatorOrders(rig.dir), [])
      const order = rig.order()
      await rig.submit('CSSI', order)
      const before = rig.simulators.orders()
      rig.reopen()
      assert.deepEqual(rig.simulators.orders(), before)
      assert.deepEqual(readSimulatorOrders(rig.dir, START), before)
      assert.deepEqual(
        readSimulatorOrders(rig.dir).map(({ status }) => status),
        ['Fulfilled'],
      )
      rig.simulators.close()
      await assert.rejects(rig.submit('CSSI', rig.order()), /closed/)
    }),
  )

  test(
    'a refused or failed call leaves nothing of itself',
    withRig(async (rig) => {
      rig.listed.set('FEW', 1)
      await rig.outcome('CSSI', rig.order({ lines: [line('A1', 3), line('FEW', 2)] }))
      const { ok } = audit(rig.dir)
      assert.ok(ok)
    }),
  )

  test('two processes sell from one shelf, and nothing is lost or counted twice', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'qm-sim-'))
    try {
      const outputs = await Promise.all(
        [start(dir), start(dir, WITHOUT_CART)].map(async (process) => finished(process)),
      )
      const lines = outputs.flatMap((output) => output.split('\n').filter((one) => one !== ''))
      assert.equal(lines.length, 30 * (SIMULATED.length + WITHOUT_CART.length))
      // Without a scenario nothing fails, whatever the other process does; only the shelf runs dry,
      // and a cart is left alone for a while after a send that had no answer.
      for (const one of lines)
        if (one.includes(' plain '))
          assert.match(
            one,
            one.startsWith('2AW') ? /accepted|rejected|not_sent$/ : / plain (accepted|rejected)$/,
          )
      const { ok, refs } = audit(dir)
      assert.ok(ok)
      for (const one of lines)
        if (/^(RSR|CSSI|TSW|2AW|LIP|ZND|ORI) \S+ \S+ accepted$/.test(one))
          assert.equal(refs.filter((ref) => ref === one.split(' ')[1]).length, 1, one)
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
        for (const one of output.split('\n').slice(0, -1))
          if (/^(RSR|CSSI|TSW|2AW|LIP|ZND|ORI) \S+ \S+ accepted$/.test(one))
            assert.equal(refs.filter((ref) => ref === one.split(' ')[1]).length, 1, one)
      }
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })
}

/**
 * Whether every shelf has what its orders have left of it, and the references that stand on orders.
 */
function audit(dir: string): { ok: boolean; refs: (string | null)[] } {
  const raw = openFile(filesIn(dir).simulator, { synchronous: 'NORMAL', readonly: true })
  try {
    assert.equal(raw.pragma('integrity_check', { simple: true }), 'ok')
    const orders = readSimulatorOrders(dir)
    const shelves = raw.prepare('SELECT distid, sku, qty, listed FROM stock').all() as {
      distid: string
      sku: string
      qty: number
      listed: number
    }[]
    const ok = shelves.every(
      ({ distid, sku, qty, listed }) =>
        qty ===
        listed -
          orders
            .filter((order) => order.distid === distid)
            .flatMap(({ lines }) => lines)
            .filter(({ distsku }) => distsku === sku)
            .reduce((sum, { committed }) => sum + committed, 0),
    )
    return { ok, refs: orders.map(({ clientRef }) => clientRef) }
  } finally {
    raw.close()
  }
}

function start(dir: string, distids: readonly string[] = SIMULATED): ChildProcess {
  return spawn(process.execPath, [fileURLToPath(import.meta.url)], {
    env: {
      ...process.env,
      QM_SIMULATOR_CHILD: dir,
      QM_SIMULATOR_AMONG: distids.join(' '),
      NODE_TEST_CONTEXT: '',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function finished(child: ChildProcess): Promise<string> {
  let output = ''
  child.stdout!.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
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
else {
  describe('the shelf', shelfSuite)
  describe('simulator.db', fileSuite)
}
