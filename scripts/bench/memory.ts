/**
 * Memory at rest of the catalog, part by part, against the bytes of a feed that brings it (its texts
 * and numbers as lines): a snapshot, the views of 200 subscribers of whom every fourth has prices of
 * its own, and what they keep once each has made the 46 searches, asked for its facets and been
 * shown the pages. Goal: <= 1 x.
 *   npx tsx --expose-gc scripts/bench/memory.ts [offers]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSnapshot } from '../../lib/catalog/snapshot/build.js'
import { openSnapshot } from '../../lib/catalog/snapshot/open.js'
import { facetsOf } from '../../lib/catalog/search/facets.js'
import { Recent } from '../../lib/catalog/search/recent.js'
import { openRecords } from '../../lib/catalog/search/records.js'
import { searchView } from '../../lib/catalog/search/search.js'
import { makeView } from '../../lib/catalog/view/view.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { BENCH_DISTIDS, generateCatalog } from './offers.js'
import { queriesOf, samplesOf } from './queries.js'
import { benchDocument } from './shop.js'

const OFFERS = Number(process.argv[2] ?? 1_000_000)
const SUBSCRIBERS = 200
/** One in so many has prices of its own. */
const OWN_PRICES = 4

/** Bytes that are in use: objects, and buffers beside them. */
function used(): number {
  if (!globalThis.gc) throw new Error('run it with --expose-gc')
  for (let i = 0; i < 3; i++) globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0).padStart(6)} MB`

/** Of the snapshot, which is shared with the worker and counted nowhere. */
let shared = 0
let last = 0
function tell(part: string): void {
  const now = used() + shared
  console.log(`${megabytes(now - last)}  ${part}`)
  last = now
}

const dir = mkdtempSync(join(tmpdir(), 'qm-bench-'))
const path = join(dir, 'catalog.db')
generateCatalog(path, OFFERS)
const raw = openFile(path, { synchronous: 'NORMAL' })
const feed = raw
  .prepare(`SELECT sum(length(concat_ws(';', f.stockid, f.distsku, f.upc, f.name, f.mfg_name, f.mpn,
      f.product_class, f.item_cat, f.category_name, f.images, f.short_description, f.description,
      o.price, o.map, o.msrp, o.shipping, o.qty, o.ffl_req, o.drop_ship)) + 1)
    FROM offer o JOIN fragment f ON f.id = o.fragment`)
  .pluck()
  .get() as number
const samples = samplesOf(raw)
const begun = used()
last = begun
const parts = buildSnapshot(raw)
const snapshot = openSnapshot(parts)
shared = parts.text.buffer.byteLength + parts.tick.buffer.byteLength
tell(`the snapshot of ${OFFERS.toLocaleString('en-US')} offers`)
const views = Array.from({ length: SUBSCRIBERS }, (_, i) => {
  const document = benchDocument(BENCH_DISTIDS, i, snapshot.brands)
  if (i % OWN_PRICES === 0) document.pricing.cost_adjustments = [{ percent: 0.01 + i / 10_000 }]
  return makeView(snapshot, {
    subscriberId: `s${i}`,
    document,
    eligible: Object.entries(document.distributors).map(([name, entry]) => ({ name, entry })),
    ignoreRestrictions: false,
  })
})
tell(`views of ${SUBSCRIBERS} subscribers, ${SUBSCRIBERS / OWN_PRICES} of them with own prices`)
for (const view of views) facetsOf(view)
tell('their facets')
const recent = new Recent()
const pages = views.map((view, i) =>
  queriesOf(samples, i).map((query) => ({ query, rows: searchView(view, query, recent).rows })),
)
tell('what searches keep, and the pages')
const records = openRecords(raw as never)
for (const [i, view] of views.entries())
  for (const { query, rows } of pages[i]!)
    await recent.page(view, query, () => records.products(view, rows))
tell('the texts that were shown, and pages that are remembered')
// Until here all of it is in use.
if (pages.length !== views.length || views.some(({ total }) => total === 0))
  throw new Error('a subscriber sees nothing')
const all = last - begun
console.log(
  `${megabytes(all)}  in all; a feed of these offers has ${megabytes(feed).trim()}: ` +
    `${(all / feed).toFixed(2)} x (goal <= 1)`,
)
recent.clear()
raw.close()
rmSync(dir, { recursive: true, force: true })
