/**
 * What the feed suites share: databases in a throwaway folder, files written into it, and a look at
 * what came of them.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../../lib/db/sqlite/migrate.js'
import { catalogSchema } from '../../lib/db/migrations/catalog.js'
import { historySchema } from '../../lib/db/migrations/history.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import type { Raw } from '../../lib/db/sqlite/sqlite.js'
import { presets } from '../../lib/distributors/builtin/index.js'
import type {
  CatalogPreset,
  Preset,
  QuantityPreset,
} from '../../lib/distributors/generic/generic.js'
import { ingestFeed } from '../../lib/feeds/ingest/ingest.js'
import type { FeedInput, FeedResult, Handles } from '../../lib/feeds/ingest/feed.js'

export const NOON = Date.UTC(2026, 10, 21, 12)

export interface OfferRow {
  distid: string
  stockid: string
  upc: string | null
  name: string
  mfg_name: string | null
  mpn: string | null
  product_class: string
  category_id: number | null
  price: number | null
  map: number | null
  msrp: number | null
  qty: number
  ffl_req: number
  drop_ship: number
  attributes: string | null
}

export interface FeedBench {
  dir: string
  catalog: Raw
  history: Raw
  file(name: string, content: string | Uint8Array): string
  /** Takes in text, bytes, or a file that is there. Each call is a minute later than the last. */
  take(
    preset: Preset | string,
    content: string | Uint8Array | { file: string },
    more?: Partial<FeedInput & Handles>,
  ): Promise<FeedResult>
  /** Every offer with its text, by distid and stockid, without row ids. */
  offers(): OfferRow[]
  offer(stockid: string): OfferRow
  /** Everything that a feed may change, to prove that one changed nothing. */
  everything(): unknown
  close(): void
}

export function feedBench(): FeedBench {
  const dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'qm-feeds-'))
  const catalog = openFile(join(dir, 'catalog.db'), { synchronous: 'NORMAL' })
  migrate(catalog, 'catalog.db', catalogSchema)
  const history = openFile(join(dir, 'history.db'), { synchronous: 'NORMAL' })
  migrate(history, 'history.db', historySchema)
  let clock = NOON
  const select = `SELECT o.distid, o.stockid, distsku, upc, name, mfg_name, mpn, product_class,
    item_cat, category_id, category_name, images, product_url, short_description, description,
    attributes, price, map, msrp, shipping, qty, ffl_req, drop_ship, held
    FROM offer o JOIN fragment f ON f.id = o.fragment`
  const bench: FeedBench = {
    dir,
    catalog,
    history,
    file(name, content) {
      const path = join(dir, name)
      writeFileSync(path, content)
      return path
    },
    take(preset, content, more = {}) {
      clock += 60_000
      const chosen = typeof preset === 'string' ? presets[preset]! : preset
      const file =
        typeof content === 'object' && 'file' in content
          ? content.file
          : bench.file('feed', content)
      return ingestFeed({
        catalog,
        history,
        now: clock,
        preset: chosen,
        source: `${chosen.distid}/${chosen.id}`,
        subscriberId: null,
        file,
        asOf: clock,
        ...more,
      })
    },
    offers: () => catalog.prepare(`${select} ORDER BY o.distid, o.stockid`).all() as OfferRow[],
    offer: (stockid) => catalog.prepare(`${select} WHERE o.stockid = ?`).get(stockid) as OfferRow,
    everything: () => [
      bench.offers(),
      ...['state', 'offer', 'fragment', 'own_price', 'tally', 'rejected_row', 'feed'].map((table) =>
        catalog.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all(),
      ),
      history.prepare('SELECT * FROM change ORDER BY at, distid, stockid').all(),
    ],
    close() {
      catalog.close()
      history.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
  return bench
}

/** A small preset for everything that does not depend on a distributor. */
export const ACME: CatalogPreset = {
  id: 'acme',
  distid: 'ACME',
  kind: 'catalog',
  format: { delimiter: ',', quote: '"', header: true },
  required: ['sku', 'price', 'qty'],
  key: ['sku'],
  map: {
    upc: { from: ['upc'] },
    name: { from: ['name'] },
    mfgName: { from: ['brand'] },
    price: { from: ['price'] },
    map: { from: ['map'] },
    qty: { from: ['qty'] },
  },
  zeroWhen: [{ column: 'type', in: ['held'] }],
  classify: [
    { when: [{ column: 'type', in: ['gun'] }], set: { productClass: 'FA' } },
    { when: [{ column: 'type', filled: true }], set: { productClass: 'AC' } },
  ],
}

export const ACME_STOCK: QuantityPreset = {
  id: 'acme-stock',
  distid: 'ACME',
  kind: 'quantity',
  format: { delimiter: ',', quote: null, header: false, columns: ['sku', 'qty'] },
  required: [],
  key: ['sku'],
  qty: { from: ['qty'] },
}

export const HEADER = 'sku,upc,name,brand,price,map,qty,type'

export function acmeRow(i: number, price = '10.00', qty = '5'): string {
  return `SKU${i},${700000000000 + i},Item ${i},Brand,${price},,${qty},part`
}

export function acmeFeed(count: number, row: (i: number) => string = acmeRow): string {
  return [HEADER, ...Array.from({ length: count }, (_, i) => row(i + 1))].join('\n') + '\n'
}

/** Runs a test on fresh databases; whatever it does, the tally must be what a count says. */
export async function bench(run: (feeds: FeedBench) => Promise<void>): Promise<void> {
  const feeds = feedBench()
  try {
    await run(feeds)
    const counted = feeds.catalog
      .prepare(`SELECT distid, count(*) AS offers, count(price) AS priced, count(*) FILTER (WHERE qty > 0) AS stocked
      FROM offer GROUP BY distid ORDER BY distid`)
      .all()
    assert.deepEqual(
      feeds.catalog.prepare('SELECT * FROM tally WHERE offers > 0 ORDER BY distid').all(),
      counted,
      'the tally drifted from the offers',
    )
  } finally {
    feeds.close()
  }
}
