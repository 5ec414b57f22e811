/**
 * The history as the metrics see it: the days that are rolled up and the ones that are still open,
 * and where things stand now.
 */
import type { DuckDBConnection } from '@duckdb/node-api'
import { quoted } from '../../core/text.js'
import { DAY, dayOf, startOfDay } from '../../core/clock.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import { inBatches, loadDays } from './changes.js'
import { damagedDays, dayFile, daysIn, momentOf, readStateDay, workFolder } from './files.js'
import { firstChange } from './queries.js'
import { loadState } from './state.js'
import { DAY_COLUMNS, ITEM_COLUMNS, advance, declared } from './roll-up-sql.js'

/** Days of the history that the metrics look at, today among them. */
export const METRIC_DAYS = 91

export interface HistorySource {
  /** The state folder. */
  dir: string
  /** A readonly handle. */
  historyDb: Raw
  /** Milliseconds since 1970. */
  now: number
}

/**
 * Makes the views `daily` (a row for each day on which an item of a distributor changed, of the
 * last 91 days) and `item_now` (each item of a distributor after its last change). With no history
 * at all both are empty. Writes nothing; only while no roll-up runs (child-job.ts sees to that).
 * Tells the days whose files are damaged: they are left out, for all others still hold.
 */
export async function openHistory(
  duck: DuckDBConnection,
  { dir, historyDb, now }: HistorySource,
): Promise<string[]> {
  const done = await readStateDay(duck, dir)
  await loadState(duck, dir)
  await duck.run(`CREATE OR REPLACE TABLE open_daily (${declared(DAY_COLUMNS)})`)
  const from = dayOf(startOfDay(now) - (METRIC_DAYS - 1) * DAY)
  const begin = historyDb.inTransaction ? 'SAVEPOINT history' : 'BEGIN'
  // One state of the file for all that is read of it.
  historyDb.exec(begin)
  try {
    for (const days of inBatches(historyDb, openDays(historyDb, done))) {
      await loadDays(duck, historyDb, { days, work: workFolder(dir) })
      await advance(duck, days)
      await duck.run(`INSERT INTO open_daily SELECT * FROM day_row WHERE day >= '${from}'`)
    }
  } finally {
    historyDb.exec(begin === 'BEGIN' ? 'COMMIT' : 'RELEASE history')
  }
  // Metrics go by items; of a large network these would take a third of what there is.
  await duck.run(
    'DROP TABLE offer; DROP TABLE IF EXISTS day_row; DROP TABLE IF EXISTS change; DROP TABLE IF EXISTS late_feed',
  )
  // A day whose file is there without the state after it is still among the open ones.
  const days = daysIn(dir).filter((day) => done !== null && day <= done && day >= from)
  const damaged = await damagedDays(duck, dir, days)
  const files = days.filter((day) => !damaged.includes(day)).map((day) => dayFile(dir, day))
  const columns = Object.keys(DAY_COLUMNS).join(', ')
  // By name: what a file of an earlier release lacks is NULL there.
  const closed =
    files.length > 0
      ? `SELECT * FROM read_parquet([${files.map(quoted).join(', ')}], union_by_name = true) UNION ALL BY NAME `
      : ''
  await duck.run(
    `CREATE OR REPLACE VIEW daily AS SELECT ${columns} FROM (${closed}SELECT * FROM open_daily)`,
  )
  await duck.run(
    `CREATE OR REPLACE VIEW item_now AS SELECT ${Object.keys(ITEM_COLUMNS).join(', ')} FROM item`,
  )
  return damaged
}

/** Days that are not rolled up yet and have changes, the oldest first. */
function openDays(history: Raw, done: string | null): string[] {
  const firstAfter = firstChange(history)
  const days: string[] = []
  let from = done === null ? 0 : momentOf(done) + DAY
  for (let at = firstAfter(from); at !== null; at = firstAfter(from)) {
    days.push(dayOf(at))
    from = startOfDay(at) + DAY
  }
  return days
}
