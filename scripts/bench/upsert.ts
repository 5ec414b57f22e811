/**
 * The yardstick of feed ingest: every row is parsed and sent to the database, which writes it where
 * it differs.
 */
import type { Raw } from '../../lib/db/sqlite/sqlite.js'
import { compilePreset } from '../../lib/distributors/generic/generic.js'
import { isRejection } from '../../lib/distributors/generic/rows.js'
import type { Preset } from '../../lib/distributors/generic/generic.js'
import { openBytes } from '../../lib/feeds/fetch/bytes.js'
import { parseCells } from '../../lib/feeds/read/cells.js'
import { readRecords } from '../../lib/feeds/read/lines.js'
import { recordText } from '../../lib/feeds/read/text.js'

const TEXT = [
  'distsku',
  'upc',
  'name',
  'mfg_name',
  'mpn',
  'product_class',
  'item_cat',
  'category_name',
  'images',
  'description',
  'attributes',
]
const NUMBERS = ['category_id', 'price', 'map', 'msrp', 'qty', 'ffl_req', 'drop_ship']
const COLUMNS = [...TEXT, ...NUMBERS]

/**
 * One guarded upsert for each row, in one transaction, with the same parser and mapping as the real
 * thing.
 */
export async function upsertFeed(raw: Raw, preset: Preset, file: string): Promise<void> {
  raw.exec(`CREATE TABLE IF NOT EXISTS offer (id INTEGER PRIMARY KEY, distid TEXT NOT NULL, stockid TEXT NOT NULL,
    ${TEXT.map((name) => `${name} TEXT`).join(', ')},
      ${NUMBERS.map((name) => `${name} INTEGER`).join(', ')}, UNIQUE (distid, stockid)) STRICT`)
  raw.pragma('cache_size = -65536')
  const upsert =
    raw.prepare(`INSERT INTO offer (distid, stockid, ${COLUMNS.join(', ')}) VALUES (${Array(
      COLUMNS.length + 2,
    )
      .fill('?')
      .join(', ')})
    ON CONFLICT (distid, stockid) DO UPDATE SET ${COLUMNS.map((name) => `${name} = excluded.${name}`).join(', ')}
    WHERE ${COLUMNS.map((name) => `${name} IS NOT excluded.${name}`).join(' OR ')}`)
  const compiled = compilePreset(preset, null, 0)
  if (compiled.kind !== 'catalog') throw new Error('the yardstick takes catalog feeds')
  const bytes = await openBytes(file, '')
  raw.exec('BEGIN IMMEDIATE')
  for await (const batch of readRecords(bytes, preset.format)) {
    const texts = Array.from({ length: batch.count }, (_, i) =>
      recordText(batch.buffer, batch.start[i]!, batch.end[i]!),
    )
    for (const cells of parseCells(texts, preset.format)) {
      const row = typeof cells === 'string' ? null : compiled.read(cells)
      if (row === null || isRejection(row)) continue
      upsert.run(
        preset.distid,
        row.stockid,
        row.distsku,
        row.upc,
        row.name,
        row.mfgName,
        row.mpn,
        row.productClass,
        row.itemCat,
        row.categoryName,
        JSON.stringify(row.images),
        row.description,
        JSON.stringify(row.attributes),
        row.categoryId,
        row.price,
        row.map,
        row.msrp,
        row.qty,
        row.fflReq ? 1 : 0,
        row.dropShip ? 1 : 0,
      )
    }
  }
  raw.exec('COMMIT')
  await bytes.close()
}
