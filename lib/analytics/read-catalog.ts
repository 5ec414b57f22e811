/** What a build takes from the catalog: the operator's offers of now for DuckDB, and the texts of the items. */
import duckdb from '@duckdb/node-api'
import type { DuckDBConnection } from '@duckdb/node-api'
import { crc32 } from 'node:zlib'
import { packArena } from '../catalog/arena.js'
import { CLASS_CODES } from '../catalog/product-classes.js'
import type { ProductClass } from '../catalog/product-classes.js'
import { gtinKey } from '../core/gtin.js'
import type { Raw } from '../db/sqlite.js'
import { BuildFile } from './build-files.js'
import type { Part } from './build-files.js'
import type { ItemColumns } from './columns.js'

/** Rows that DuckDB takes at a time. */
const CHUNK = 2_048
const MAX_INT = 2_147_483_647

type Offer = [distid: string, fragment: number, price: number, map: number | null, msrp: number | null, qty: number, upc: string, categorized: number]

const COLUMNS = { gtin: duckdb.DOUBLE, distid: duckdb.VARCHAR, place: duckdb.INTEGER, fragment: duckdb.INTEGER, categorized: duckdb.BOOLEAN, price: duckdb.INTEGER, map: duckdb.INTEGER, msrp: duckdb.INTEGER, qty: duckdb.INTEGER }

/**
 * Makes the table `catalog_offer`: every offer with a UPC and a price of the operator's. `place` is its place in the order of
 * (distid, stockid), which decides whose text an item has.
 */
export async function loadOffers(duck: DuckDBConnection, catalog: Raw): Promise<void> {
  const types = Object.values(COLUMNS)
  await duck.run(`CREATE TABLE catalog_offer (${Object.entries(COLUMNS).map(([name, type]) => `${name} ${name === 'gtin' ? 'BIGINT' : type}`).join(', ')})`)
  await duck.run(`CREATE TEMP TABLE loaded (${Object.entries(COLUMNS).map(([name, type]) => `${name} ${type}`).join(', ')})`)
  const appender = await duck.createAppender('loaded')
  const chunk = duckdb.DuckDBDataChunk.create(types)
  let columns: (number | string | boolean | null)[][] = types.map(() => [])
  const flush = () => {
    if (columns[0]!.length === 0) return
    chunk.reset()
    chunk.rowCount = columns[0]!.length
    columns.forEach((values, place) => chunk.setColumnValues(place, values))
    appender.appendDataChunk(chunk)
    columns = types.map(() => [])
  }
  let place = 0
  for (const offer of offersOf(catalog)) {
    const [distid, fragment, price, map, msrp, qty, upc, categorized] = offer
    const gtin = gtinKey(upc)
    if (gtin === null || gtin === 0) continue
    const row = [gtin, distid, place++, fragment, categorized === 1, price, map, msrp, Math.min(qty, MAX_INT)]
    for (let i = 0; i < row.length; i++) columns[i]!.push(row[i]!)
    if (columns[0]!.length === CHUNK) flush()
  }
  flush()
  appender.closeSync()
  await duck.run('INSERT INTO catalog_offer SELECT * FROM loaded; DROP TABLE loaded')
}

function offersOf(catalog: Raw): IterableIterator<Offer> {
  return catalog.prepare(`
    SELECT o.distid, o.fragment, o.price, nullif(max(o.map, 0), 0), nullif(max(o.msrp, 0), 0), o.qty, f.upc, f.category_id IS NOT NULL FROM offer o JOIN fragment f ON f.id = o.fragment
    WHERE o.price > 0 AND f.upc IS NOT NULL ORDER BY o.distid, o.stockid`).raw().iterate() as IterableIterator<Offer>
}

/** Characters that are written at a time. */
const BLOCK = 1 << 20

/** Writes the text of every item, as the members of a row that all metrics share, and the columns beside it. */
export async function writeItems(duck: DuckDBConnection, catalog: Raw, folder: string): Promise<{ items: number; part: Part }> {
  const fragments = await fragmentsOf(duck)
  const columns: ItemColumns = { category: new Float64Array(fragments.length), productClass: new Uint8Array(fragments.length), end: new Float64Array(fragments.length), crc: new Uint32Array(fragments.length) }
  const text = catalog.prepare(`
    SELECT json_object('upc', upc, 'name', name, 'mfg_name', mfg_name, 'category_id', category_id, 'category_name', category_name), category_id, product_class FROM fragment WHERE id = ?`).raw()
  const file = new BuildFile(folder, 'texts')
  let block: Buffer[] = []
  let [size, end] = [0, 0]
  for (const [item, fragment] of fragments.entries()) {
    const [json, category, productClass] = text.get(fragment) as [string, number | null, ProductClass]
    const bytes = Buffer.from(json.slice(1, -1))
    end += bytes.length
    columns.end[item] = end
    columns.crc[item] = crc32(bytes)
    columns.category[item] = category ?? NaN
    columns.productClass[item] = CLASS_CODES.indexOf(productClass)
    block.push(bytes)
    size += bytes.length
    if (size < BLOCK) continue
    file.write(Buffer.concat(block))
    ;[block, size] = [[], 0]
  }
  file.write(Buffer.concat(block))
  file.close()
  const beside = new BuildFile(folder, 'items')
  const part = beside.writeArena(packArena({ ...columns }))
  beside.close()
  return { items: fragments.length, part }
}

/** Which text each item has. */
async function fragmentsOf(duck: DuckDBConnection): Promise<Int32Array> {
  const [[count]] = (await duck.runAndReadAll('SELECT count(*)::INTEGER FROM known_item')).getRows() as [[number]]
  const fragments = new Int32Array(count)
  const result = await duck.stream('SELECT fragment FROM known_item ORDER BY item')
  let at = 0
  for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    fragments.set((chunk.getColumnVector(0) as unknown as { items: Int32Array }).items, at)
    at += chunk.rowCount
  }
  return fragments
}
