/** Bill Hicks's two files of its feed, out of the one that its simulator has. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { csvRow } from '../../../simulator/market/units.js'
import { shelvesOf } from '../../../simulator/engine/queries.js'
import type { World } from '../../../simulator/engine/world.js'
import type { FtpAnswer } from '../../../simulator/wire/ftp-conversation.js'
import { NOT_THERE } from '../../../simulator/wire/inbox.js'
import { CATALOG, INVENTORY } from './account-feed.js'
import { ITEM, NEW_COLUMNS, QUANTITY } from './feed.js'

type Catalog = Pick<World, 'feedFile' | 'store'>

/** As the real one has it: with a quotation mark too many. */
const DAMAGED_HEADER = NEW_COLUMNS.map((name) => (name === 'MFG' ? 'MFG_product"' : name)).join(',')

/** A file of the feed by its name. */
export function feedAt({ feedFile, store }: Catalog, name: string): FtpAnswer {
  const file = feedFile('BILL')
  if (file === null || !existsSync(file) || (name !== CATALOG && name !== INVENTORY))
    return NOT_THERE
  const modifiedAt = Math.floor(statSync(file).mtimeMs)
  const rows = parse(readFileSync(file), { columns: true }) as Record<string, string>[]
  if (name === CATALOG) {
    const items = rows.map((row) => csvRow(NEW_COLUMNS.map((column) => row[column]!)))
    return { file: Buffer.from(`${DAMAGED_HEADER}\r\n${items.join('')}`), modifiedAt }
  }
  const shelves = new Map(
    store.transact((db) => shelvesOf(db, 'BILL')).shelves.map(({ sku, qty }) => [sku, qty]),
  )
  const units = rows.map((row) => {
    const item = row['product_name']!
    return `"${item}","${row['universal_product_code']}","${shelves.get(item) ?? row[QUANTITY]}"\r\n`
  })
  return { file: Buffer.from(`${ITEM},"UPC","${QUANTITY}"\r\n${units.join('')}`), modifiedAt }
}
