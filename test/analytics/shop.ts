/**
 * A shop whose metrics a test rebuilds: offers in the catalog, a history written as ingest does,
 * builds made in this very process.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import duckdb from '@duckdb/node-api'
import { analyticsFolder } from '../../lib/analytics/builds/files.js'
import { rebuild } from '../../lib/analytics/builds/rebuild.js'
import { DAY } from '../../lib/core/clock.js'
import type { Log } from '../../lib/core/log.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { ChangeLog, noteUnchanged } from '../../lib/feeds/ingest/change-log.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp, TestOffer, TestOptions } from '../../server/testing/index.js'
import type { Told } from './history/bench.js'

export interface AnalyticsShop extends TestApp {
  /** Errors that were logged. */
  errors: string[]
  /**
   * A feed of so many days ago (or milliseconds since 1970) that changed these offers; UPC and
   * price come from OFFERS where they are not given.
   */
  feed(distid: string, at: number, changes: readonly Told[]): void
  /** Builds the metrics as of the shop's clock; tells the build's name. */
  rebuild(): Promise<string>
}

const item = (
  distid: string,
  stockid: string,
  n: number,
  more: Partial<TestOffer> = {},
): TestOffer => ({
  distid,
  stockid,
  upc: `86000123450${n}`,
  name: `Item ${n}`,
  mfgName: 'Ridgeline',
  productClass: 'AC',
  categoryId: 3_000 + n,
  categoryName: `Category ${n}`,
  price: 10_000,
  qty: 5,
  ...more,
})

/**
 * Of UPC 1 some sell and LIP has lowered its price; 2 came in three days ago; 3 was out of stock
 * and is back; 4 costs less at CSSI than elsewhere. UPC 5 has no category, no brand, and a class of
 * its own.
 */
export const OFFERS: readonly TestOffer[] = [
  item('RSR', 'A-1', 1, { map: 14_000, msrp: 15_000, productClass: 'FA' }),
  item('LIP', 'B-1', 1, { price: 9_000, map: 14_000, productClass: 'FA' }),
  item('LIP', 'B-2', 2, { qty: 7 }),
  item('RSR', 'A-3', 3, { qty: 4 }),
  item('RSR', 'A-4', 4),
  item('LIP', 'B-4', 4),
  item('CSSI', 'C-4', 4, { price: 8_000 }),
  item('RSR', 'A-5', 5, {
    productClass: 'KN',
    categoryId: null,
    categoryName: 'Uncategorized',
    mfgName: null,
    msrp: 12_000,
  }),
]

export const SHOP = {
  distributors: {
    'RSR Group': { distid: 'RSR' },
    Lipseys: { distid: 'LIP' },
    'Chattanooga Shooting Supplies': { distid: 'CSSI' },
  },
}

export async function analyticsShop(options: TestOptions = {}): Promise<AnalyticsShop> {
  const errors: string[] = []
  const nothing = () => {}
  const log: Log = {
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: ({ err }: { err?: unknown }) => errors.push(String(err)),
  }
  const t = await createTestApp({ log, ...options })
  await t.stock(OFFERS)
  await t.configure(SHOP)
  return {
    ...t,
    errors,
    feed(distid, at, changes) {
      const history = openFile(filesIn(t.app.dir).history, { synchronous: 'NORMAL' })
      try {
        const asOf = at < 1_000 ? t.clock.ms - at * DAY : at
        // The day before it brought nothing new: a fall after a longer gap would not count as sold.
        noteUnchanged(history, distid, { asOf: asOf - DAY, now: asOf })
        const changeLog = new ChangeLog(history, distid, { asOf, now: asOf })
        for (const { stockid, ...change } of changes) {
          const offer = OFFERS.find((known) => known.distid === distid && known.stockid === stockid)
          changeLog.record({
            distid,
            stockid,
            upc: offer?.upc ?? null,
            price: offer?.price ?? 10_000,
            qty: 5,
            gone: false,
            held: false,
            ...change,
          })
        }
        changeLog.commit()
      } finally {
        history.close()
      }
    },
    rebuild: () => rebuildHere(t.app.dir, t.clock.ms),
  }
}

/** As the child process does, in this one; DuckDB's first start takes longer than the rest. */
export async function rebuildHere(dir: string, now: number): Promise<string> {
  const work = join(analyticsFolder(dir), 'work')
  rmSync(work, { recursive: true, force: true })
  mkdirSync(work, { recursive: true })
  const instance = await duckdb.DuckDBInstance.create(':memory:', { threads: '1' })
  try {
    return (await rebuild({ dir, now }, { duck: await instance.connect(), work, onProgress() {} }))
      .build
  } finally {
    instance.closeSync()
    rmSync(work, { recursive: true, force: true })
  }
}

/** A history in which every metric finds something. */
export function tellStories({ feed }: AnalyticsShop): void {
  feed('CSSI', 80, [{ stockid: 'C-4', qty: 5 }])
  feed('LIP', 80, [
    { stockid: 'B-1', price: 10_000, qty: 30 },
    { stockid: 'B-4', qty: 5 },
  ])
  feed('RSR', 80, [
    { stockid: 'A-1', qty: 20 },
    { stockid: 'A-3', qty: 5 },
    { stockid: 'A-4', qty: 5 },
    { stockid: 'A-5', qty: 9 },
  ])
  feed('RSR', 20, [
    { stockid: 'A-1', qty: 12 },
    { stockid: 'A-3', qty: 0 },
  ])
  feed('LIP', 5, [{ stockid: 'B-1', price: 9_000, qty: 24 }])
  feed('LIP', 3, [{ stockid: 'B-2', qty: 7 }])
  feed('RSR', 2, [
    { stockid: 'A-3', qty: 4 },
    { stockid: 'A-5', qty: 5 },
  ])
}
