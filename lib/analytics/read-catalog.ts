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
import { quoted } from './history-files.js'

/** Rows that DuckDB takes at a time. */
const CHUNK = 2_048
const MAX_INT = 2_147_483_647

type Offer = [id: number, distid: string, fragment: number, price: number, map: number | null, msrp: number | null, qty: number, upc: string, categorized: number]

/** A distributor goes by its place in a list: a million strings would take longer than all the rest. */
const LOADED = { gtin: duckdb.DOUBLE, place: duckdb.INTEGER, id: duckdb.INTEGER, fragment: duckdb.INTEGER, categorized: duckdb.BOOLEAN, price: duckdb.INTEGER, map: duckdb.INTEGER, msrp: duckdb.INTEGER, qty: duckdb.INTEGER }

/** Makes the table `catalog_offer`: every offer with a UPC and a price of the operator's. */
export async function loadOffers(duck: DuckDBConnection, catalog: Raw): Promise<void> {
  const types = Object.values(LOADED)
  await duck.run(`CREATE TEMP TABLE loaded (${Object.entries(LOADED).map(([name, type]) => `${name} ${type}`).join(', ')})`)
  const appender = await duck.createAppender('loaded')
  // One chunk for all: each would hold its memory until the next collection.
  const chunk = duckdb.DuckDBDataChunk.create(types)
  let columns: (number | boolean | null)[][] = types.map(() => [])
  const flush = () => {
    if (columns[0]!.length === 0) return
    chunk.reset()
    chunk.rowCount = columns[0]!.length
    columns.forEach((values, place) => chunk.setColumnValues(place, values))
    appender.appendDataChunk(chunk)
    columns = types.map(() => [])
  }
  const places = new Map<string, number>()
  for (const [id, distid, fragment, price, map, msrp, qty, upc, categorized] of offersOf(catalog)) {
    const gtin = gtinKey(upc)
    if (gtin === null || gtin === 0) continue
    let place = places.get(distid)
    if (place === undefined) places.set(distid, place = places.size)
    const row = [gtin, place, id, fragment, categorized === 1, price, map, msrp, Math.min(qty, MAX_INT)]
    for (let i = 0; i < row.length; i++) columns[i]!.push(row[i]!)
    if (columns[0]!.length === CHUNK) flush()
  }
  flush()
  appender.closeSync()
  const names = [...places].map(([distid, place]) => `(${place}, ${quoted(distid)})`).join(', ')
  const columnsOf = `gtin::BIGINT AS gtin, distid, id, fragment, categorized, price, map, msrp, qty`
  await duck.run(`CREATE TABLE catalog_offer AS SELECT ${columnsOf} FROM loaded JOIN (${names === '' ? 'SELECT 0 AS place, \'\' AS distid WHERE false' : `VALUES ${names}`}) AS known(place, distid) USING (place)`)
  await duck.run('DROP TABLE loaded')
}

/** In the order of their ids, in which texts lie too: by any other, each text would be looked for on a page of its own. */
function offersOf(catalog: Raw): IterableIterator<Offer> {
  return catalog.prepare(`
    SELECT o.id, o.distid, o.fragment, o.price, nullif(max(o.map, 0), 0), nullif(max(o.msrp, 0), 0), o.qty, f.upc, f.category_id IS NOT NULL
    FROM offer o JOIN fragment f ON f.id = o.fragment WHERE o.price > 0 AND f.upc IS NOT NULL`).raw().iterate() as IterableIterator<Offer>
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
