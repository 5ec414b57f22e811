/**
 * What a build takes from the catalog: the operator's offers of now for DuckDB, and the text of
 * each.
 */
import type { DuckDBConnection } from '@duckdb/node-api'
import { crc32 } from 'node:zlib'
import { quoted } from '../../core/text.js'
import { packArena } from '../../catalog/snapshot/arena.js'
import { CLASS_CODES } from '../../distributors/product-classes.js'
import type { ProductClass } from '../../distributors/product-classes.js'
import { gtinKey } from '../../core/gtin.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import { countOffers, pricedOffers } from './queries.js'
import { BuildFile } from './files.js'
import type { Part } from './files.js'
import type { ListingColumns } from './columns.js'

/** Rows that DuckDB takes at a time. */
const CHUNK = 2_048
const MAX_INT = 2_147_483_647

/**
 * A distributor goes by its place in a list, a text by its number: a million strings would take
 * longer than all the rest.
 */
const LOADED = {
  gtin: 'DOUBLE',
  place: 'INTEGER',
  text: 'INTEGER',
  categorized: 'BOOLEAN',
  price: 'INTEGER',
  map: 'INTEGER',
  msrp: 'INTEGER',
  qty: 'INTEGER',
} as const

/**
 * Texts of offers in the file `texts`, one after the other, and what is kept beside each, by its
 * number.
 */
export type Texts = Pick<ListingColumns, 'category' | 'productClass' | 'crc'> & {
  /** Where it ends. */ end: Float64Array
}

/**
 * Makes the table `catalog_offer`, every offer with a UPC and a price of the operator's, and writes
 * the text of each: the members of a row that all metrics share.
 */
export async function readCatalog(
  duck: DuckDBConnection,
  catalog: Raw,
  folder: string,
): Promise<Texts> {
  const most = countOffers(catalog)
  const texts = new TextWriter(folder, most)
  const loader = await openLoader(duck)
  const places = new Map<string, number>()
  for (const [distid, price, map, msrp, qty, upc, json, category, productClass] of pricedOffers(
    catalog,
  )) {
    const gtin = gtinKey(upc)
    if (gtin === null || gtin === 0) continue
    let place = places.get(distid)
    if (place === undefined) places.set(distid, (place = places.size))
    loader.add([
      gtin,
      place,
      texts.write(json, category, productClass),
      category !== null,
      price,
      map,
      msrp,
      Math.min(qty, MAX_INT),
    ])
  }
  loader.close()
  const names = [...places].map(([distid, place]) => `(${place}, ${quoted(distid)})`).join(', ')
  await duck.run(`CREATE TABLE catalog_offer AS SELECT gtin::BIGINT AS gtin, distid, text,
    categorized, price, map, msrp, qty
    FROM loaded JOIN
      (${names === '' ? "SELECT 0 AS place, '' AS distid WHERE false" : `VALUES ${names}`})
      AS known(place, distid) USING (place)`)
  await duck.run('DROP TABLE loaded')
  return texts.close()
}

/** Rows for the table `loaded`, in chunks. */
async function openLoader(
  duck: DuckDBConnection,
): Promise<{ add(row: readonly (number | boolean | null)[]): void; close(): void }> {
  const { default: duckdb } = await import('@duckdb/node-api')
  const types = Object.values(LOADED).map((name) => duckdb[name])
  await duck.run(
    `CREATE TEMP TABLE loaded (${Object.entries(LOADED)
      .map(([name, type]) => `${name} ${type}`)
      .join(', ')})`,
  )
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
  return {
    add(row) {
      for (let i = 0; i < row.length; i++) columns[i]!.push(row[i]!)
      if (columns[0]!.length === CHUNK) flush()
    },
    close() {
      flush()
      appender.closeSync()
    },
  }
}

/** Bytes that are written at a time. */
const BLOCK = 1 << 20

/** Writes texts one after the other and tells the number of each. */
class TextWriter {
  readonly #file: BuildFile
  readonly #beside: Texts
  readonly #block = Buffer.allocUnsafe(BLOCK)
  #inBlock = 0
  #count = 0
  #end = 0

  constructor(folder: string, most: number) {
    this.#file = new BuildFile(folder, 'texts')
    this.#beside = {
      category: new Float64Array(most),
      productClass: new Uint8Array(most),
      crc: new Uint32Array(most),
      end: new Float64Array(most),
    }
  }

  write(json: string, category: number | null, productClass: ProductClass): number {
    // Without its braces.
    const bytes = Buffer.from(json.slice(1, -1))
    if (this.#inBlock + bytes.length > BLOCK) this.#flush()
    if (bytes.length > BLOCK) this.#file.write(bytes)
    else this.#inBlock += bytes.copy(this.#block, this.#inBlock)
    this.#end += bytes.length
    const number = this.#count++
    this.#beside.end[number] = this.#end
    this.#beside.crc[number] = crc32(bytes)
    this.#beside.category[number] = category ?? NaN
    this.#beside.productClass[number] = CLASS_CODES.indexOf(productClass)
    return number
  }

  #flush(): void {
    this.#file.write(this.#block.subarray(0, this.#inBlock))
    this.#inBlock = 0
  }

  close(): Texts {
    this.#flush()
    this.#file.close()
    return this.#beside
  }
}

/**
 * Writes which text each item has at each distributor, by item and distributor, with all that is
 * kept beside it.
 */
export async function writeListings(
  duck: DuckDBConnection,
  { category, productClass, crc, end }: Texts,
  folder: string,
): Promise<{ items: number; part: Part }> {
  const [[items, rows]] = (
    await duck.runAndReadAll(
      'SELECT (SELECT count(*) FROM known_item)::INTEGER, count(text)::INTEGER FROM pair',
    )
  ).getRows() as [[number, number]]
  const columns: ListingColumns = {
    first: new Uint32Array(items + 1),
    dist: new Uint16Array(rows),
    category: new Float64Array(rows),
    productClass: new Uint8Array(rows),
    from: new Float64Array(rows),
    size: new Uint32Array(rows),
    crc: new Uint32Array(rows),
  }
  const result = await duck.stream(
    'SELECT item, dist, text FROM pair WHERE text IS NOT NULL ORDER BY item, dist',
  )
  let row = 0
  for (
    let chunk = await result.fetchChunk();
    chunk && chunk.rowCount > 0;
    chunk = await result.fetchChunk()
  ) {
    const [item, dist, text] = [0, 1, 2].map(
      (place) => (chunk.getColumnVector(place) as unknown as { items: ArrayLike<number> }).items,
    ) as [ArrayLike<number>, ArrayLike<number>, ArrayLike<number>]
    for (let i = 0; i < chunk.rowCount; i++, row++) {
      const number = text[i]!
      columns.first[item[i]! + 1] = row + 1
      columns.dist[row] = dist[i]!
      columns.category[row] = category[number]!
      columns.productClass[row] = productClass[number]!
      columns.crc[row] = crc[number]!
      columns.from[row] = number === 0 ? 0 : end[number - 1]!
      columns.size[row] = end[number]! - columns.from[row]!
    }
  }
  const file = new BuildFile(folder, 'listings')
  const part = file.writeArena(packArena({ ...columns }))
  file.close()
  return { items, part }
}
