/**
 * What a candidate document would do to the live catalog, against computing one view. Goal: <= 2 x.
 *   npx tsx scripts/bench/impact.ts [offers]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findSubscriber } from '../../lib/accounts/subscribers.js'
import { makeView } from '../../lib/catalog/view/view.js'
import { ruleWarnings } from '../../lib/catalog/warnings/rule-warnings.js'
import { impactOf } from '../../lib/configuration/impact.js'
import { open } from '../../lib/app/open.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { BENCH_DISTIDS, writeOffers } from './offers.js'
import { benchDistributors, benchDocument } from './shop.js'

const OFFERS = Number(process.argv[2] ?? 1_000_000)
const ROUNDS = 15

const dir = mkdtempSync(join(tmpdir(), 'qm-bench-'))
const app = await open({ dir, distributors: benchDistributors(), worker: false })
const { name } = await app.operator.subscribers.create({
  name: 'Bench',
  email: 'bench@shop.example',
})
const catalog = openFile(filesIn(dir).catalog, { synchronous: 'NORMAL' })
writeOffers(catalog, OFFERS)
catalog.close()
await app.ctx.catalog.refresh()
const snapshot = app.ctx.catalog.current()!
const saved = benchDocument(BENCH_DISTIDS, 0, snapshot.brands)
await app.operator.configurations.put(name, { document: saved })
for (const distid of BENCH_DISTIDS)
  await app.operator.configurations.recordCheck(name, distid, true)
const subscriber = await findSubscriber(app.ctx, name)
await app.ctx.catalog.view(subscriber, false)

const times = { impact: [] as number[], view: [] as number[] }
let deleted = 0
for (let round = 0; round < ROUNDS; round++) {
  const candidate = benchDocument(BENCH_DISTIDS, round + 1, snapshot.brands)
  let start = performance.now()
  const impact = await impactOf(app.ctx, subscriber, candidate)
  times.impact.push(performance.now() - start)
  deleted = impact.deleted
  const { document, eligible } = await app.ctx.configurations.of(subscriber)
  start = performance.now()
  makeView(snapshot, { subscriberId: subscriber.id, document, eligible, ignoreRestrictions: false })
  times.view.push(performance.now() - start)
}
const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]!
const [impact, view] = [median(times.impact), median(times.view)]
console.log(
  `impact on ${OFFERS.toLocaleString('en-US')} offers: ${impact.toFixed(1)} ms (${deleted} ` +
    `deleted), one view ${view.toFixed(1)} ms, ratio ${(impact / view).toFixed(2)} (goal <= 2)`,
)
const { document, eligible } = await app.ctx.configurations.of(subscriber)
const start = performance.now()
const warnings = ruleWarnings(snapshot, {
  subscriberId: subscriber.id,
  document,
  eligible,
  ignoreRestrictions: false,
})
console.log(
  `warnings of the rules: ${(performance.now() - start).toFixed(0)} ms, ${warnings.length} of them`,
)
await app.close()
rmSync(dir, { recursive: true, force: true })
