/** Reads the parts of a snapshot where they lie: nothing is copied. */
import { firstPlace } from '../../core/binary-search.js'
import { byCodePoint } from '../../core/text.js'
import { readColumn } from './arena.js'
import type { Arena } from './arena.js'
import { Bits } from './bits.js'
import type { SnapshotParts } from './parts.js'
import { CLASS_CODES } from '../../distributors/product-classes.js'
import { longestList } from './row-set.js'
import type { RowSet } from './row-set.js'
import type { Row, Snapshot } from './snapshot.js'
import { openTextSearch } from '../search/text-search.js'

/**
 * The snapshot over its parts. What is remembered about the text (prefixes, dense brands) is kept
 * by its buffer, so a tick that is opened with the text arena of the snapshot before it starts with
 * that.
 */
export function openSnapshot(parts: SnapshotParts): Snapshot {
  return {
    version: parts.version,
    revision: parts.revision,
    textRevision: parts.textRevision,
    rows: parts.rows,
    distids: parts.distids,
    brands: parts.brands,
    noBrand: parts.brands.length,
    categories: parts.categories,
    ...openText(parts),
    ...openTick(parts.tick, parts.rows),
    ownPrices: openOwnPrices(parts),
  }
}

type Text = ReturnType<typeof readText>

const opened = new WeakMap<SharedArrayBuffer, Text>()

function openText(parts: SnapshotParts): Text {
  let text = opened.get(parts.text.buffer)
  if (!text) opened.set(parts.text.buffer, (text = readText(parts)))
  return text
}

function readText({ text, rows, distids, brands, categories }: SnapshotParts) {
  const u32 = (name: string) => readColumn(text, name, 'u32')
  const distributor = readColumn(text, 'distributor', 'u8')
  const productClass = readColumn(text, 'productClass', 'u8')
  const brandList = lists(text, 'brand', brands.length + 1)
  const categoryList = lists(text, 'category', categories.length)
  const sku = texts(text, 'sku')
  return {
    offerId: u32('offerId'),
    fragment: u32('fragment'),
    brand: u32('brand'),
    category: u32('category'),
    nameRank: u32('nameRank'),
    tieRank: u32('tieRank'),
    byTie: u32('byTie'),
    upcKey: readColumn(text, 'upcKey', 'f64'),
    distributor,
    productClass,
    distributorRows: bitsetPerValue(distributor, rows, distids.length),
    classRows: bitsetPerValue(productClass, rows, CLASS_CODES.length),
    brandRows: brandList,
    brandSet: denseOrList(brandList, rows),
    categoryRows: categoryList,
    categorySet: denseOrList(categoryList, rows),
    upcRows: openUpcs(text),
    skuRows: openSkus(text, sku),
    sku,
    stockid: texts(text, 'stockid'),
    textRows: openTextSearch(text, rows),
  }
}

function openTick(tick: Arena, rows: number) {
  const i32 = (name: string) => readColumn(tick, name, 'i32')
  const bits = (name: string) => new Bits(rows, readColumn(tick, name, 'u32'))
  return {
    qty: i32('qty'),
    price: i32('price'),
    map: i32('map'),
    msrp: i32('msrp'),
    shipping: i32('shipping'),
    fflReq: bits('fflReq'),
    dropShip: bits('dropShip'),
    inStock: bits('inStock'),
    byPrice: readColumn(tick, 'byPrice', 'u32'),
    byQty: readColumn(tick, 'byQty', 'u32'),
  }
}

/**
 * Bitsets of a column with few values, all made on first use in one pass. A value that no row has
 * gives an empty one.
 */
function bitsetPerValue(column: Uint8Array, rows: number, values: number): (value: number) => Bits {
  let sets: Bits[] | undefined
  const none = new Bits(rows)
  return (value) => {
    if (!sets) {
      sets = Array.from({ length: values }, () => new Bits(rows))
      for (let row = 0; row < rows; row++) sets[column[row]!]!.add(row)
    }
    return sets[value] ?? none
  }
}

function lists(arena: Arena, name: string, values: number): (value: number) => Uint32Array {
  const rows = readColumn(arena, `${name}Rows`, 'u32')
  const starts = readColumn(arena, `${name}RowStarts`, 'u32')
  if (starts.length !== values + 1)
    throw new Error(`the column ${name} has ${starts.length - 1} values, not ${values}`)
  return (value) => rows.subarray(starts[value], starts[value + 1])
}

/**
 * Long lists as bitsets, made on first use. There are at most 32 of one column, since its lists do
 * not overlap.
 */
function denseOrList(
  list: (value: number) => Uint32Array,
  rows: number,
): (value: number) => RowSet {
  const dense = new Map<number, Bits>()
  return (value) => {
    const found = list(value)
    if (found.length <= longestList(rows)) return found
    let bits = dense.get(value)
    if (!bits) dense.set(value, (bits = new Bits(rows).addAll(found)))
    return bits
  }
}

function texts(arena: Arena, name: string): (row: Row) => string {
  const column = readColumn(arena, `${name}Bytes`, 'u8')
  const bytes = Buffer.from(column.buffer, column.byteOffset, column.length)
  const starts = readColumn(arena, `${name}Starts`, 'u32')
  return (row) => bytes.toString('utf8', starts[row], starts[row + 1])
}

function openUpcs(text: Arena): (upcKey: number) => Row[] {
  const byUpc = readColumn(text, 'byUpc', 'u32')
  const keys = readColumn(text, 'upcKey', 'f64')
  return (upcKey) => run(byUpc, (row) => keys[row]! - upcKey)
}

function openSkus(text: Arena, sku: (row: Row) => string): (sku: string) => Row[] {
  const bySku = readColumn(text, 'bySku', 'u32')
  return (wanted) => {
    const lowered = wanted.toLowerCase()
    // The order is that of whole offers by name within one SKU, so the rows come out ascending.
    return run(bySku, (row) => byCodePoint(sku(row).toLowerCase(), lowered))
  }
}

/** The rows for which `compare` is 0 in an order that it sorts. */
function run(order: Uint32Array, compare: (row: Row) => number): Row[] {
  const rows: Row[] = []
  for (
    let i = firstPlace(order.length, (place) => compare(order[place]!) >= 0);
    i < order.length && compare(order[i]!) === 0;
    i++
  )
    rows.push(order[i]!)
  return rows
}

/** Stored as pairs of row and price; spread over all rows on first use. */
function openOwnPrices({ tick, rows, ownPriceOf }: SnapshotParts): Snapshot['ownPrices'] {
  const columns = new Map<number, Int32Array>()
  return (subscriberId) => {
    const place = ownPriceOf.indexOf(subscriberId)
    if (place < 0) return undefined
    let column = columns.get(place)
    if (!column) {
      columns.set(place, (column = new Int32Array(rows).fill(-1)))
      const prices = readColumn(tick, `ownPrices ${place}`, 'i32')
      readColumn(tick, `ownRows ${place}`, 'u32').forEach((row, i) => {
        column![row] = prices[i]!
      })
    }
    return column
  }
}
