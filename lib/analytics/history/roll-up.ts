/**
 * The daily roll-up of the history: the changes of a day that is over become one row for each item
 * of a distributor, and leave history.db. Each step may be the last one of a process: the next
 * roll-up then does it again, with the same outcome.
 */
import { loadState } from './state.js'
import type { DuckDBConnection } from '@duckdb/node-api'
import { quoted } from '../../core/text.js'
import { DAY, dayOf, startOfDay } from '../../core/clock.js'
import { filesIn } from '../../db/sqlite/folder.js'
import { openFile } from '../../db/sqlite/sqlite.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import type { RollUpJob, Tools } from '../builds/job.js'
import { inBatches, loadDays } from './changes.js'
import {
  dayFile,
  historyPaths,
  momentOf,
  readStateDay,
  removeDrafts,
  removeOldDays,
  workFolder,
  writeParquet,
} from './files.js'
import { closeUntil, deleteChanges, deleteSeen, firstChange } from './queries.js'
import { advance } from './roll-up-sql.js'
import { present } from '../../core/present.js'

export interface RolledUp {
  /** Days that were rolled up, `YYYY-MM-DD`. */
  days: string[]
}

/** Days after which the state is written, where many are rolled up at once. */
const STATE_EVERY = 7
/** Rows that are deleted in one transaction: a feed may be waiting for it. */
const DELETED = 20_000
/** A day is read whole, most often one distributor of it or a few columns. */
const DAY_OPTIONS = 'ROW_GROUP_SIZE 122880'

/** Rolls up all days that are over and still have changes. */
export async function rollUp(
  { dir, now }: RollUpJob,
  { duck, onProgress }: Pick<Tools, 'duck' | 'onProgress'>,
): Promise<RolledUp> {
  const history = openFile(filesIn(dir).history, { synchronous: 'NORMAL', patient: true })
  try {
    removeDrafts(dir)
    const done = await readStateDay(duck, dir)
    // Left by a roll-up that ended before it had deleted them.
    if (done !== null) deleteBefore(history, momentOf(done) + DAY)
    const days = closeDays(history, done, now)
    if (days.length > 0) await loadState(duck, dir)
    let [rolled, unsaved] = [0, 0]
    for (const batch of inBatches(history, days)) {
      onProgress(rolled, days.length, `rolling up ${batch[0]}`)
      await loadDays(duck, history, { days: batch, work: workFolder(dir) })
      await advance(duck, batch)
      for (const day of batch)
        await writeParquet(
          duck,
          dayFile(dir, day),
          `SELECT * FROM day_row WHERE day = ${quoted(day)} ORDER BY distid, gtin`,
          DAY_OPTIONS,
        )
      const last = present(batch.at(-1), 'a day')
      rolled += batch.length
      unsaved += batch.length
      if (unsaved < STATE_EVERY && last !== days.at(-1)) continue
      unsaved = 0
      await writeState(duck, dir, last)
      deleteBefore(history, momentOf(last) + DAY)
    }
    const newest = days.at(-1)
    if (newest !== undefined) removeOldDays(dir, newest)
    return { days }
  } finally {
    history.close()
  }
}

/**
 * Days to roll up. From here on they are closed: a feed that is under way is waited for, and what a
 * later one has for them counts for the first day after.
 */
function closeDays(history: Raw, done: string | null, now: number): string[] {
  const firstAfter = firstChange(history)
  const days: string[] = []
  history
    .transaction(() => {
      let from = done === null ? 0 : momentOf(done) + DAY
      for (;;) {
        const at = firstAfter(from)
        if (at === null || startOfDay(at) >= startOfDay(now)) break
        days.push(dayOf(at))
        from = startOfDay(at) + DAY
      }
      closeUntil(history, from)
    })
    .immediate()
  return days
}

/**
 * Deletes what is rolled up, but of each distributor's feeds the last one, from which the next gap
 * is counted.
 */
function deleteBefore(history: Raw, moment: number): void {
  deleteChanges(history, moment, DELETED)
  deleteSeen(history, moment)
}

/**
 * Offers and items in one file, so that they are always of the same day; an item is a row without
 * item number.
 */
async function writeState(duck: DuckDBConnection, dir: string, day: string): Promise<void> {
  await writeParquet(
    duck,
    historyPaths(dir).state,
    'SELECT * FROM offer UNION ALL BY NAME SELECT * FROM item',
    `KV_METADATA {day: ${quoted(day)}}`,
  )
}
