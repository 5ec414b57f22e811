/**
 * What the history suites share: a state folder with nothing but a history, feeds written into it
 * as ingest does, and what comes of them.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import duckdb from '@duckdb/node-api'
import type { DuckDBConnection } from '@duckdb/node-api'
import { openHistory } from '../../../lib/analytics/history/history.js'
import { daysIn, dayFile } from '../../../lib/analytics/history/files.js'
import { rollUp } from '../../../lib/analytics/history/roll-up.js'
import { filesIn } from '../../../lib/db/sqlite/folder.js'
import { migrate } from '../../../lib/db/sqlite/migrate.js'
import { historySchema } from '../../../lib/db/migrations/history.js'
import { openFile } from '../../../lib/db/sqlite/sqlite.js'
import type { Raw } from '../../../lib/db/sqlite/sqlite.js'
import { ChangeLog, noteUnchanged } from '../../../lib/feeds/ingest/change-log.js'
import type { Change } from '../../../lib/feeds/ingest/change-log.js'

/** A day's row of one item at one distributor, as the day's file has it. */
export interface DayRow {
  day: string
  distid: string
  gtin: number
  price: number | null
  qty: number
  sold: number
  restocks: number
  zero_since: number | null
  back_at: number | null
  first_at: number | null
  listed: boolean
  /** What it cost before the day. */
  price_before: number | null
}

export type ItemNow = Omit<DayRow, 'day' | 'sold' | 'restocks' | 'price_before'>

/** A change of an offer, with what is usual left out. */
export type Told = { stockid: string } & Partial<Omit<Change, 'distid' | 'stockid'>>

export interface HistoryBench {
  dir: string
  history: Raw
  /**
   * A feed that changed these offers, as ingest writes it. `now` is the feed's own time where none
   * is given; with `isFirst` the catalog had nothing of the distributor.
   */
  feed(
    distid: string,
    asOf: number,
    changes: readonly Told[],
    now?: number,
    isFirst?: boolean,
  ): void
  unchanged(distid: string, asOf: number): void
  rollUp(now: number): Promise<string[]>
  /** Rows of the days' files. */
  files(): Promise<DayRow[]>
  /** What metrics see. */
  seen(now: number): Promise<{ daily: DayRow[]; items: ItemNow[]; damaged: string[] }>
  close(): void
  [Symbol.dispose](): void
}

export const GTIN = 850_012_345_601

export function historyBench(
  dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'qm-history-')),
): HistoryBench {
  const path = filesIn(dir).history
  mkdirSync(dirname(path), { recursive: true })
  const history = openFile(path, { synchronous: 'NORMAL' })
  migrate(history, 'history.db', historySchema)
  const bench: HistoryBench = {
    dir,
    history,
    feed(distid, asOf, changes, now = asOf, isFirst = false) {
      const log = new ChangeLog(bench.history, distid, { asOf, now, isFirst })
      for (const change of changes)
        log.record({
          distid,
          upc: String(GTIN),
          price: 1_000,
          qty: 0,
          gone: false,
          held: false,
          ...change,
        })
      log.commit()
    },
    unchanged: (distid, asOf) => noteUnchanged(bench.history, distid, { asOf, now: asOf }),
    rollUp: async (now) =>
      (
        await withDuck((duck) =>
          rollUp({ kind: 'analytics', task: 'roll-up', dir, now }, { duck, onProgress() {} }),
        )
      ).days,
    files: () =>
      withDuck(async (duck) => {
        const days = daysIn(dir)
        if (days.length === 0) return []
        return rowsOf(
          duck,
          'SELECT * FROM ' +
            `read_parquet([${days.map((day) => `'${dayFile(dir, day)}'`).join(', ')}]) ORDER BY ` +
            'day, distid, gtin',
        )
      }),
    seen: (now) =>
      withDuck(async (duck) => {
        const damaged = await openHistory(duck, { dir, historyDb: bench.history, now })
        return {
          damaged,
          daily: await rowsOf(duck, 'SELECT * FROM daily ORDER BY day, distid, gtin'),
          items: await rowsOf(duck, 'SELECT * FROM item_now ORDER BY distid, gtin'),
        }
      }),
    close() {
      bench.history.close()
      rmSync(dir, { recursive: true, force: true })
    },
    [Symbol.dispose]: () => bench.close(),
  }
  return bench
}

let shared: Promise<DuckDBConnection> | undefined

/**
 * In this process: what is tested is the work, not the process that does it. One DuckDB for all,
 * since each starts for longer than it works.
 */
export async function withDuck<T>(work: (duck: DuckDBConnection) => Promise<T>): Promise<T> {
  shared ??= duckdb.DuckDBInstance.create(':memory:', { threads: '1', memory_limit: '512MB' }).then(
    (instance) => instance.connect(),
  )
  return work(await shared)
}

/** Rows with plain numbers and days as text. */
export async function rowsOf<T>(duck: DuckDBConnection, sql: string): Promise<T[]> {
  const reader = await duck.runAndReadAll(sql)
  return reader
    .getRowObjectsJS()
    .map(
      (row) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [
            name,
            typeof value === 'bigint'
              ? Number(value)
              : value instanceof Date
                ? value.toISOString().slice(0, 10)
                : value,
          ]),
        ) as T,
    )
}
