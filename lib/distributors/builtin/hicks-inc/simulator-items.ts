/** The two files of Hicks Inc.'s feed, out of the one that its simulator has. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { shelvesOf } from '../../../simulator/engine/queries.js'
import type { World } from '../../../simulator/engine/world.js'
import { csvRow } from '../../../simulator/market/units.js'
import type { FtpAnswer } from '../../../simulator/wire/ftp-conversation.js'
import { NOT_THERE } from '../../../simulator/wire/inbox.js'
import { CATALOG, STOCK } from './account.js'
import { COLUMNS, STOCK_COLUMNS } from './feed.js'

/** A file of the feed by its path. */
export function feedAt(
  { feedFile, store }: Pick<World, 'feedFile' | 'store'>,
  path: string,
): FtpAnswer {
  const file = feedFile('HIX')
  if (file === null || !existsSync(file) || (path !== CATALOG && path !== STOCK)) return NOT_THERE
  const modifiedAt = Math.floor(statSync(file).mtimeMs)
  const shelves = new Map(
    store.transact((db) => shelvesOf(db, 'HIX')).shelves.map(({ sku, qty }) => [sku, qty]),
  )
  const rows = (parse(readFileSync(file), { columns: true }) as Record<string, string>[]).map(
    (row) => {
      const left = shelves.get(row['item_number']!)
      return left === undefined ? row : { ...row, quantity_on_hand: String(left) }
    },
  )
  const columns = path === CATALOG ? COLUMNS : STOCK_COLUMNS
  const text = rows.map((row) =>
    csvRow(
      columns.map((column) => (column === 'quantity' ? row['quantity_on_hand']! : row[column]!)),
    ),
  )
  return { file: Buffer.from(text.join('')), modifiedAt }
}
