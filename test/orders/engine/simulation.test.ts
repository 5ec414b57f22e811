/**
 * Processes that die at every step of the order engine, while distributors lose, delay and garble
 * what is said. The long run is `npx tsx scripts/crash/simulate.ts`; a failing seed is shown again
 * by `--folder <seed> --crashes <n>`.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runCalm, runFolder } from '../../harness/folder.js'
import { failureText, runUntil, shrink } from '../../harness/run.js'

const CRASHES = 600
const SEED = 20_261_122

describe('orders under crashes', () => {
  test(`${CRASHES} deaths: no order twice, none lost, none wrong, none unfinished`, async () => {
    const { totals, failure } = await runUntil({ seed: SEED, crashes: CRASHES })
    assert.equal(failure && failureText(await shrink(failure)), null)
    assert.ok(totals.crashes >= CRASHES)
    assert.ok(
      totals.faulty / totals.calls > 0.3,
      `${totals.faulty} of ${totals.calls} calls went wrong`,
    )
    assert.ok(totals.places.size >= 25, `it died at ${totals.places.size} places`)
  })

  test('without a fault every order is placed, and nobody is asked to decide', async () => {
    const { orders, reviews, violations } = await runCalm({ seed: SEED, orders: 100 })
    assert.deepEqual([orders >= 100, reviews, violations], [true, 0, []])
  })

  test('a seed shows the same again', async () => {
    const lines: string[][] = [[], []]
    for (const mine of lines)
      await runFolder({ seed: 3, crashes: 20, trace: (text) => void mine.push(text) })
    assert.ok(lines[0]!.length > 100)
    assert.deepEqual(lines[0], lines[1])
  })
})
