/** The course of one item: price and stock at each distributor, day by day. */
import type { DuckDBConnection } from '@duckdb/node-api'
import { DAY, dayOf, startOfDay } from '../../core/clock.js'
import { quoted } from '../../core/text.js'
import { filesIn } from '../../db/sqlite/folder.js'
import { openFile } from '../../db/sqlite/sqlite.js'
import type { ItemJob, Tools } from '../builds/job.js'
import { damagedDays, dayFile, daysIn, momentOf } from './files.js'
import { METRIC_DAYS, openHistory } from './history.js'

/** An item at one distributor; a value for each day of `ItemCourse.days`, null before the first. */
export interface DistributorCourse {
  distid: string
  /** Its lowest price at the end of the day, in cents; null while nothing is listed. */
  price: (number | null)[]
  /** Units in stock at the end of the day, over all its offers there. */
  qty: (number | null)[]
}

export interface ItemCourse {
  /** The last 91 days, `YYYY-MM-DD`, the oldest first; the last one is not over. */
  days: string[]
  distributors: DistributorCourse[]
  /** Days whose files are damaged: what stood before is told on. */
  damaged: string[]
}

interface DayRow {
  day: string
  distid: string
  price: number | null
  qty: number | null
}

/** Reads it out of the days' files and the changes of the days that are still open. */
export async function readItemCourse(
  { dir, now, gtin }: Pick<ItemJob, 'dir' | 'now' | 'gtin'>,
  { duck }: Pick<Tools, 'duck'>,
): Promise<ItemCourse> {
  const history = openFile(filesIn(dir).history, {
    synchronous: 'NORMAL',
    readonly: true,
    patient: true,
  })
  try {
    const damaged = await openHistory(duck, { dir, historyDb: history, now })
    const days = Array.from({ length: METRIC_DAYS }, (_, n) =>
      dayOf(startOfDay(now) - (METRIC_DAYS - 1 - n) * DAY),
    )
    const before = await lastRowsBefore(duck, { dir, gtin, day: days[0]! })
    const changes = await rowsOf(
      duck,
      `SELECT day::VARCHAR AS day, distid, price, qty FROM daily WHERE gtin = ${gtin} ORDER BY day`,
    )
    const distids = new Set([...before, ...changes].map(({ distid }) => distid))
    return {
      days,
      distributors: [...distids]
        .toSorted()
        .map((distid) => courseOf(distid, days, [...before, ...changes])),
      damaged,
    }
  } finally {
    history.close()
  }
}

/** What each distributor's last change before a day left. */
async function lastRowsBefore(
  duck: DuckDBConnection,
  { dir, gtin, day }: { dir: string; gtin: number; day: string },
): Promise<DayRow[]> {
  const older = daysIn(dir).filter((one) => one < day)
  const damaged = await damagedDays(duck, dir, older)
  const files = older.filter((one) => !damaged.includes(one)).map((one) => dayFile(dir, one))
  if (files.length === 0) return []
  return rowsOf(
    duck,
    `SELECT max(day)::VARCHAR AS day, distid, last(price ORDER BY day) AS price, last(qty ORDER BY day) AS qty
      FROM read_parquet([${files.map(quoted).join(', ')}], union_by_name = true)
      WHERE gtin = ${gtin} GROUP BY distid`,
  )
}

async function rowsOf(duck: DuckDBConnection, query: string): Promise<DayRow[]> {
  return (await duck.runAndReadAll(query)).getRowObjectsJS() as unknown as DayRow[]
}

/** A day without a change ends as the day before it did. */
function courseOf(
  distid: string,
  days: readonly string[],
  rows: readonly DayRow[],
): DistributorCourse {
  const mine = rows
    .filter((row) => row.distid === distid)
    .map((row) => ({ ...row, from: momentOf(row.day) }))
  const ends = days.map((day) => mine.findLast(({ from }) => from <= momentOf(day)))
  return {
    distid,
    price: ends.map((row) => row?.price ?? null),
    qty: ends.map((row) => row?.qty ?? null),
  }
}
