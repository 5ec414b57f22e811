/** Where things stood at the end of the last day that was rolled up. */
import { existsSync } from 'node:fs'
import type { DuckDBConnection } from '@duckdb/node-api'
import { quoted } from '../../core/text.js'
import { historyPaths } from './files.js'
import { ITEM_COLUMNS, OFFER_COLUMNS, declared } from './roll-up-sql.js'
/**
 * Makes the tables `offer` and `item` of the state at the end of the last day that was rolled up;
 * empty before the first.
 */
export async function loadState(duck: DuckDBConnection, dir: string): Promise<void> {
  const { state } = historyPaths(dir)
  const read = (columns: Readonly<Record<string, string>>, terms: string) =>
    `SELECT ${Object.keys(columns).join(', ')} FROM read_parquet(${quoted(state)}) WHERE ${terms}`
  for (const [table, columns, terms] of [
    ['offer', OFFER_COLUMNS, 'stockid IS NOT NULL'],
    ['item', ITEM_COLUMNS, 'stockid IS NULL'],
  ] as const) {
    await duck.run(`CREATE OR REPLACE TABLE ${table} (${declared(columns)})`)
    if (existsSync(state)) await duck.run(`INSERT INTO ${table} ${read(columns, terms)}`)
  }
}
