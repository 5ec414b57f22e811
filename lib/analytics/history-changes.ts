/** From history.db into DuckDB: a day's changes, and which feeds came after a gap. */
import duckdb from '@duckdb/node-api'
import type { DuckDBConnection, DuckDBDataChunk, DuckDBType } from '@duckdb/node-api'
import { DAY } from '../core/clock.js'
import { gtinKey } from '../core/gtin.js'
import type { Raw } from '../db/sqlite.js'

/** Rows that DuckDB takes at a time. */
const CHUNK = 2_048
/** A fall that is seen only after so long without a feed, in milliseconds, is of no day in particular. */
export const LONGEST_GAP = 3 * DAY

/**
 * `ms` counts from the day's first moment, so that it is small; `gtin` is NULL for offers without a UPC, which still end what
 * the offer was before.
 */
const CHANGE = { ms: duckdb.INTEGER, distid: duckdb.VARCHAR, stockid: duckdb.VARCHAR, gtin: duckdb.DOUBLE, price: duckdb.INTEGER, qty: duckdb.INTEGER, gone: duckdb.BOOLEAN, held: duckdb.BOOLEAN } as const

type ChangeRow = [at: number, distid: string, stockid: string, upc: string | null, price: number | null, qty: number, gone: number, held: number]

/** Makes the tables `change` and `late_feed` of the day that begins at `from`, in milliseconds. Tells how many changes there are. */
export async function loadDay(duck: DuckDBConnection, history: Raw, from: number): Promise<number> {
  await loadLateFeeds(duck, history, from)
  const rows = history.prepare('SELECT at, distid, stockid, upc, price, qty, gone, held FROM change WHERE at >= ? AND at < ? ORDER BY at, distid, stockid').raw().iterate(from, from + DAY) as IterableIterator<ChangeRow>
  const loader = await openLoader(duck, 'change', CHANGE)
  const { columns } = loader
  for (const [at, distid, stockid, upc, price, qty, gone, held] of rows) {
    columns.ms.push(at - from)
    columns.distid.push(distid)
    columns.stockid.push(stockid)
    columns.gtin.push(upc === null ? null : gtinKey(upc))
    columns.price.push(price)
    columns.qty.push(qty)
    columns.gone.push(gone === 1)
    columns.held.push(held === 1)
    if (columns.ms.length === CHUNK) loader.flush()
  }
  return loader.end()
}

/** Feeds of the day that came more than three days after the distributor's last one, or that no other one came before. */
async function loadLateFeeds(duck: DuckDBConnection, history: Raw, from: number): Promise<void> {
  const feeds = history.prepare(`SELECT distid, at FROM (SELECT distid, at, lag(at) OVER (PARTITION BY distid ORDER BY at) AS before FROM seen WHERE at < ?)
    WHERE at >= ? AND (before IS NULL OR at - before > ?)`).raw().iterate(from + DAY, from, LONGEST_GAP) as IterableIterator<[string, number]>
  const loader = await openLoader(duck, 'late_feed', { distid: duckdb.VARCHAR, ms: duckdb.INTEGER })
  for (const [distid, at] of feeds) {
    loader.columns.distid.push(distid)
    loader.columns.ms.push(at - from)
    if (loader.columns.ms.length === CHUNK) loader.flush()
  }
  loader.end()
}

interface Loader<Name extends string> {
  columns: Record<Name, (string | number | boolean | null)[]>
  flush(): void
  /** Flushes the rest and tells how many rows there were. */
  end(): number
}

/** Fills a new table column by column: rows would be taken apart again. */
async function openLoader<Name extends string>(duck: DuckDBConnection, table: string, types: Readonly<Record<Name, DuckDBType>>): Promise<Loader<Name>> {
  const names = Object.keys(types) as Name[]
  await duck.run(`CREATE OR REPLACE TABLE ${table} (${names.map((name) => `${name} ${types[name].toString()}`).join(', ')})`)
  const appender = await duck.createAppender(table)
  // One chunk for all: each would hold its memory until the next collection.
  const chunk: DuckDBDataChunk = duckdb.DuckDBDataChunk.create(names.map((name) => types[name]))
  const columns = Object.fromEntries(names.map((name) => [name, []])) as unknown as Loader<Name>['columns']
  let rows = 0
  const flush = () => {
    const count = columns[names[0]!].length
    if (count === 0) return
    chunk.reset()
    chunk.rowCount = count
    names.forEach((name, place) => {
      chunk.setColumnValues(place, columns[name])
      columns[name].length = 0
    })
    appender.appendDataChunk(chunk)
    rows += count
  }
  return {
    columns, flush,
    end() {
      flush()
      appender.closeSync()
      return rows
    },
  }
}
