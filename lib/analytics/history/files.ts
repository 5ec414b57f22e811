/**
 * Files of the history below the state folder: a Parquet file for each day on which something
 * changed, which is never changed again, and the state at the end of the last of them. Each gets
 * its name once its bytes are on the disk.
 */
import { mkdirSync, readdirSync, rmSync, existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { quoted } from '../../core/text.js'
import { putInPlaceNow } from '../../core/storage/durable.js'
import { DAY, dayOf } from '../../core/clock.js'

/** How long the files of days are kept, in months, and how many at least. */
const KEPT_MONTHS = 13
const KEPT_DAYS = 396
const DRAFT = '.draft'

/** Where the parts of the history lie. */
export function historyPaths(dir: string): { days: string; state: string } {
  return { days: join(dir, 'history', 'days'), state: join(dir, 'history', 'state.parquet') }
}

/** Where analytics work writes what it needs for a moment (child-job.ts clears it). */
export function workFolder(dir: string): string {
  return join(dir, 'analytics', 'work')
}

/** The first moment of `YYYY-MM-DD`, milliseconds. */
export function momentOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`)
}

/** Days that have a file, the oldest first. */
export function daysIn(dir: string): string[] {
  const { days } = historyPaths(dir)
  if (!existsSync(days)) return []
  return readdirSync(days)
    .flatMap((name) => /^(\d{4}-\d\d-\d\d)\.parquet$/.exec(name)?.[1] ?? [])
    .sort()
}

export function dayFile(dir: string, day: string): string {
  return join(historyPaths(dir).days, `${day}.parquet`)
}

/** The day at whose end the kept state was so; null before the first roll-up. */
export async function readStateDay(duck: DuckDBConnection, dir: string): Promise<string | null> {
  const { state } = historyPaths(dir)
  if (!existsSync(state)) {
    if (daysIn(dir).length > 0)
      throw new Error(
        `${state} is missing, and without it the days beside it cannot be continued: ` +
          'bring it back from a backup, or remove the days',
      )
    return null
  }
  const reader = await duck
    .runAndReadAll(
      `SELECT decode(value) FROM parquet_kv_metadata(${quoted(state)}) WHERE decode(key) = 'day'`,
    )
    .catch((error: Error) => {
      throw new Error(
        `${state} cannot be read: bring it and the days beside it back from a backup (${error.message})`,
        { cause: error },
      )
    })
  const day = reader.getRows()[0]?.[0]
  if (typeof day !== 'string' || Number.isNaN(momentOf(day)))
    throw new Error(`${state} does not say of which day it is`)
  return day
}

/** Which of these days have a file that is none: empty, cut off, something else. */
export async function damagedDays(
  duck: DuckDBConnection,
  dir: string,
  days: readonly string[],
): Promise<string[]> {
  const damaged: string[] = []
  for (const day of days)
    await duck
      .run(`SELECT * FROM parquet_file_metadata(${quoted(dayFile(dir, day))})`)
      .catch(() => {
        damaged.push(day)
      })
  return damaged
}

/** Writes the rows of a query to a file: whole and durable, or not at all. */
export async function writeParquet(
  duck: DuckDBConnection,
  path: string,
  query: string,
  options: string,
): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = path + DRAFT
  await duck.run(
    `COPY (${query}) TO ${quoted(draft)} (FORMAT parquet, COMPRESSION snappy, ${options})`,
  )
  putInPlaceNow(draft, path)
}

/** Removes what a process that died was writing. */
export function removeDrafts(dir: string): void {
  const { days, state } = historyPaths(dir)
  rmSync(state + DRAFT, { force: true })
  if (existsSync(days))
    for (const name of readdirSync(days))
      if (name.endsWith(DRAFT)) rmSync(join(days, name), { force: true })
}

/**
 * Removes days that are too old, as seen from the newest one, but never so many that less than 13
 * months are left: a clock that was wrong, even for days, must not cost any.
 */
export function removeOldDays(dir: string, newest: string): void {
  const oldest = new Date(momentOf(newest))
  oldest.setUTCMonth(oldest.getUTCMonth() - KEPT_MONTHS)
  for (const day of daysIn(dir).slice(0, -KEPT_DAYS))
    if (day < dayOf(oldest.getTime())) rmSync(dayFile(dir, day), { force: true })
}

/** The day after. */
export function nextDay(day: string): string {
  return dayOf(momentOf(day) + DAY)
}
