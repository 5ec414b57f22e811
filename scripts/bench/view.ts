/**
 * Views of 200 subscribers after a feed that moved 5 % of the prices and stock, against computing
 * them in full. Goal: <= 0.2 x.
 *   npx tsx scripts/bench/view.ts [offers]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSnapshot, buildTick } from '../../lib/catalog/snapshot/build.js'
import { openSnapshot } from '../../lib/catalog/snapshot/open.js'
import { makeView } from '../../lib/catalog/view/view.js'
import type { View, ViewInput } from '../../lib/catalog/view/view.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { BENCH_DISTIDS, generateCatalog } from './offers.js'
import { benchDocument } from './shop.js'

const OFFERS = Number(process.argv[2] ?? 1_000_000)
const SUBSCRIBERS = 200
const ROUNDS = 3

const dir = mkdtempSync(join(tmpdir(), 'qm-bench-'))
const path = join(dir, 'catalog.db')
generateCatalog(path, OFFERS)
const raw = openFile(path, { synchronous: 'NORMAL' })
let parts = buildSnapshot(raw)
let snapshot = openSnapshot(parts)
const inputs: ViewInput[] = Array.from({ length: SUBSCRIBERS }, (_, i) => {
  const document = benchDocument(BENCH_DISTIDS, i, snapshot.brands)
  return {
    subscriberId: `s${i}`,
    document,
    eligible: Object.entries(document.distributors).map(([name, entry]) => ({ name, entry })),
    ignoreRestrictions: false,
  }
})
let views: View[] = inputs.map((input) => makeView(snapshot, input))
const totals = { delta: 0, full: 0 }
for (let round = 0; round < ROUNDS; round++) {
  raw.transaction(() => {
    raw.exec('UPDATE state SET revision = revision + 1')
    raw
      .prepare(
        'UPDATE offer SET price = price + 1, qty = (qty + 7) % 40, revision = (SELECT ' +
          'revision FROM state) WHERE (id + ?) % 20 = 0',
      )
      .run(round)
  })()
  parts = buildTick(raw, parts)!
  snapshot = openSnapshot(parts)
  let start = performance.now()
  const next = inputs.map((input, i) => makeView(snapshot, input, undefined, views[i]))
  totals.delta += performance.now() - start
  start = performance.now()
  const full = inputs.map((input) => makeView(snapshot, input))
  totals.full += performance.now() - start
  full.forEach((view, i) => {
    if (
      view.total !== next[i]!.total ||
      view.visible.words.some((word, at) => word !== next[i]!.visible.words[at])
    )
      throw new Error(`view ${i} differs`)
  })
  views = next
}
console.log(
  `views of ${SUBSCRIBERS} subscribers on ${OFFERS.toLocaleString('en-US')} offers, 5 % ` +
    `changed: ${(totals.delta / ROUNDS).toFixed(0)} ms, in full ` +
    `${(totals.full / ROUNDS).toFixed(0)} ms, ratio ${(totals.delta / totals.full).toFixed(2)} ` +
    '(goal <= 0.2)',
)
raw.close()
rmSync(dir, { recursive: true, force: true })
