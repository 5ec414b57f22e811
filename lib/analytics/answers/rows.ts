/**
 * The rows of one metric, as the child process takes them out of DuckDB: columns, sorted by item
 * and distributor.
 */
import type { DuckDBConnection } from '@duckdb/node-api'
import type { ColumnKind, ColumnOf } from '../../catalog/snapshot/arena.js'
import { columnKinds } from '../builds/columns.js'
import type { SectionColumns } from '../builds/columns.js'
import type { Metric } from '../metrics/metric.js'

/** What stands in each kind of column, for DuckDB. */
const TYPES: Record<ColumnKind, string> = {
  u8: 'UTINYINT',
  u16: 'USMALLINT',
  i32: 'INTEGER',
  u32: 'UINTEGER',
  f64: 'DOUBLE',
}
const KINDS = {
  u8: Uint8Array,
  u16: Uint16Array,
  i32: Int32Array,
  u32: Uint32Array,
  f64: Float64Array,
} as const

/**
 * Runs the metric's query for a window (0 for none). A row without a number throws: it would be
 * read as some other number.
 */
export async function readRows(
  duck: DuckDBConnection,
  metric: Metric,
  days: number,
): Promise<SectionColumns> {
  const kinds = Object.entries(columnKinds(metric))
  const select = kinds.map(([name, kind]) => `${name}::${TYPES[kind]} AS ${name}`).join(', ')
  await duck.run(
    `CREATE OR REPLACE TABLE result AS SELECT ${select} FROM (${metric.sql(days)}) ORDER BY item, dist`,
  )
  const count = await duck.runAndReadAll(
    'SELECT count(*)::INTEGER, count(*) FILTER ' +
      `(${kinds.map(([name]) => `${name} IS NULL`).join(' OR ')})::INTEGER FROM result`,
  )
  const [rows, broken] = count.getRows()[0] as [number, number]
  if (broken > 0) throw new Error(`${metric.slug}: ${broken} rows lack a number`)
  const columns: SectionColumns = Object.fromEntries(
    kinds.map(([name, kind]) => [name, new KINDS[kind](rows)]),
  )
  await fill(duck, Object.values(columns))
  await duck.run('DROP TABLE result')
  return columns
}

async function fill(
  duck: DuckDBConnection,
  columns: readonly ColumnOf<ColumnKind>[],
): Promise<void> {
  const result = await duck.stream('SELECT * FROM result')
  let at = 0
  for (
    let chunk = await result.fetchChunk();
    chunk && chunk.rowCount > 0;
    chunk = await result.fetchChunk()
  ) {
    for (const [place, column] of columns.entries()) {
      // Vectors of numbers are typed arrays over DuckDB's own memory: copied whole, not a value at
      // a time.
      const { items } = chunk.getColumnVector(place) as unknown as { items: ArrayLike<number> }
      column.set(items, at)
    }
    at += chunk.rowCount
  }
}
