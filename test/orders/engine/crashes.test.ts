/**
 * Orders survive the death of the process: the crash harness (scripts/crash) for a few seconds. Its
 * long runs are scripts: kill, two, pause, powercut and teeth.
 */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { SHORT } from '../../../scripts/crash/rig/drain.js'
import { CHAOS, faultText, runEpoch } from '../../../scripts/crash/rig/epoch.js'
import { STEPS } from '../../../scripts/crash/rig/life.js'
import { herd, limits } from '../../../scripts/crash/rig/pairs.js'
import { pauseAt } from '../../../scripts/crash/rig/pause.js'
import { newTotals } from '../../../scripts/crash/rig/totals.js'
import { openWorkshop } from '../../../scripts/crash/rig/workshop.js'
import type { Workshop } from '../../../scripts/crash/rig/workshop.js'

const SEED = 20_041
let workshop: Workshop

before(async () => {
  workshop = await openWorkshop({ entries: ['server', 'library'] })
})
after(() => {
  workshop.close()
  rmSync(workshop.root, { recursive: true, force: true })
})

describe('a server that is killed', () => {
  test('at every named step: no order twice, none lost, no answer a lie', async () => {
    const totals = newTotals()
    const plan = (_random: unknown, cycle: number) => ({
      kind: 'step' as const,
      step: STEPS[cycle % STEPS.length]!,
      n: 1,
    })
    const result = await runEpoch(
      {
        ...workshop,
        seed: SEED,
        name: 'killed',
        cycles: STEPS.length,
        kind: CHAOS,
        plan,
        others: SHORT,
      },
      totals,
    )
    assert.deepEqual(
      result.faults,
      [],
      result.faults.length > 0 ? faultText(result, { seed: SEED }) : '',
    )
    assert.ok(
      totals.placements > 10 && totals.executed > 5,
      `${totals.placements} orders, ${totals.executed} executed`,
    )
    // A third of them on average; of fifty, one run in ten has less than a quarter.
    assert.ok(
      totals.faultyCalls / totals.calls > 0.1,
      `${totals.faultyCalls} of ${totals.calls} calls failed`,
    )
    assert.ok(
      STEPS.filter((step) => totals.deaths[step]).length >= 8,
      JSON.stringify(totals.deaths),
    )
  })
})

describe('two processes on one folder', () => {
  test('take one order of many posts at once, and sixty orders of one key in an hour', async () => {
    const options = { ...workshop, seed: SEED }
    assert.deepEqual(await herd(options, { posts: 200, rounds: 1 }), [])
    assert.deepEqual(await limits(options, { posts: 100 }), [])
  })

  test('a sender that stands still is not replaced', async () => {
    const { faults } = await pauseAt(workshop, 'distributor called', 1_500, SEED)
    assert.deepEqual(faults, [])
  })
})
