/** Twenty thousand requests made from the document; `scripts/fuzz/run.ts` makes as many as are asked for. */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { runEpoch } from '../scripts/fuzz/epoch.js'
import { makeTemplate } from '../scripts/fuzz/shop.js'

test('no request that the document can think of gets an answer that it does not', async () => {
  const template = await makeTemplate()
  try {
    const { requests, orders, failures, answers } = await runEpoch({ template, seed: 20_261_122, requests: 20_000, socketShare: 1 })
    assert.deepEqual(failures.map(({ sign, at, what, detail, curl }) => `${sign}: request ${at}, ${what}: ${detail}\n${curl}`), [])
    assert.ok(requests >= 20_000)
    assert.ok(orders > 20, `only ${orders} orders were placed`)
    // What was right is answered right, nearly always: a fuzzer that reaches nothing finds nothing.
    for (const { id } of template.api.operations) {
      const of = answers[`${id} (valid)`] ?? {}
      const all = Object.values(of).reduce((sum, times) => sum + times, 0)
      assert.ok((of['200'] ?? 0) > all * (id === 'fflsDocument' ? 0 : 0.2), `${id} answered ${JSON.stringify(of)}`)
    }
  } finally {
    rmSync(template.dir, { recursive: true, force: true })
  }
})
