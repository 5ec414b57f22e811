/**
 * Rows of a snapshot as the JSON of the wire. Cold text comes from catalog.db and is kept
 * serialized; quantity, flags and every price come from the snapshot, so that a page agrees with
 * its total and its sort while a feed is taken in.
 */
import { LRUCache } from 'lru-cache'
import { ApiError } from '../../core/errors.js'
import { dollarsText } from '../../core/money.js'
import { descriptionsOf, fragmentRows } from '../queries.js'
import type { CatalogDb, FragmentRow } from '../queries.js'
import { CLASS_CODES, PRODUCT_CLASSES } from '../../distributors/product-classes.js'
import type { Row } from '../snapshot/snapshot.js'
import type { View } from '../view/view.js'
import { TextWriter } from './text-writer.js'

/**
 * A fragment in two pieces, between which the prices go; `detail`, which is the tail with the
 * descriptions, is null until somebody asks for it. `numbers` are those that a view showed last,
 * with the view's number and the row in it.
 */
interface Pieces {
  readonly head: string
  readonly tail: string
  detail: string | null
  numbers: string
  view: number
  row: Row
}

/** JSON that stands around the products: `before`, products joined by commas, `after`. */
export interface Around {
  before: string
  after: string
}

export interface Records {
  /** Products as search returns them; the JSON in UTF-8. */
  products(view: View, rows: ArrayLike<Row>, around?: Around): Promise<Buffer>
  /** Products with their descriptions. */
  details(view: View, rows: ArrayLike<Row>, around?: Around): Promise<Buffer>
  /**
   * Another catalog file is there: its texts are not those that snapshots of before this revision
   * name.
   */
  replaced(revision: number): void
}

/** Fragments that are kept serialized, about 600 bytes each. */
const KEPT = 50_000

const NOTHING: Around = { before: '', after: '' }

export function openRecords(catalog: CatalogDb): Records {
  const rowOf = fragmentRows(catalog)
  const textsOf = descriptionsOf(catalog)
  const kept = new LRUCache<number, Pieces>({ max: KEPT })
  const writer = new TextWriter()
  const numberOf = numbering<View>()
  let oldest = 0

  function piecesOf(fragment: number): Pieces {
    let pieces = kept.get(fragment)
    if (pieces) return pieces
    const row = rowOf(fragment)
    // Only a catalog file that was removed under a running server loses a fragment that a snapshot
    // names.
    if (!row) throw new ApiError('feed_unavailable')
    pieces = { ...serialize(row), detail: null, numbers: '', view: 0, row: 0 }
    kept.set(fragment, pieces)
    return pieces
  }

  function detailOf(fragment: number, productClass: number): string {
    const pieces = piecesOf(fragment)
    if (pieces.detail === null) {
      const row = textsOf(fragment)
      if (!row) throw new ApiError('feed_unavailable')
      const about = JSON.stringify(PRODUCT_CLASSES[CLASS_CODES[productClass]!])
      pieces.detail =
        `${pieces.tail.slice(0, -1)},"product_class_description":${about}` +
        `,"short_description":${JSON.stringify(row.short_description)}` +
        `,"description":${JSON.stringify(row.description)}}`
    }
    return pieces.detail
  }

  function write(view: View, row: Row, number: number, detailed: boolean): void {
    const { snapshot } = view
    if (snapshot.revision < oldest) throw new ApiError('feed_unavailable')
    const fragment = snapshot.fragment[row]!
    const pieces = piecesOf(fragment)
    // Pages are asked for again and again, and numbers are half of the work of an offer. A view
    // never changes: a new price or document makes another one.
    if (pieces.view !== number || pieces.row !== row) {
      pieces.numbers = numbersOf(view, row)
      pieces.view = number
      pieces.row = row
    }
    writer.add(pieces.head)
    writer.add(pieces.numbers)
    writer.add(detailed ? detailOf(fragment, snapshot.productClass[row]!) : pieces.tail)
  }

  const join = (view: View, rows: ArrayLike<Row>, { before, after }: Around, detailed: boolean) => {
    const number = numberOf(view)
    writer.begin(before)
    for (let i = 0; i < rows.length; i++) {
      if (i > 0) writer.addComma()
      write(view, rows[i]!, number, detailed)
    }
    writer.add(after)
    return writer.take()
  }

  return {
    products: async (view, rows, around = NOTHING) => join(view, rows, around, false),
    details: async (view, rows, around = NOTHING) => join(view, rows, around, true),
    replaced(revision) {
      kept.clear()
      oldest = revision
    },
  }
}

function serialize(row: FragmentRow): { head: string; tail: string } {
  const head = JSON.stringify({
    distid: row.distid,
    distsku: row.distsku,
    stockid: row.stockid,
    upc: row.upc,
    name: row.name,
    mfg_name: row.mfg_name,
    mpn: row.mpn,
    product_class: row.product_class,
    item_cat: row.item_cat,
    item_gb_cat: row.category_id,
    item_gb_cat_name: row.category_name,
  })
  return {
    head: head.slice(0, -1),
    tail: `,"images":${row.images},"product_url":${JSON.stringify(row.product_url)}}`,
  }
}

/** The members that change often, in the contract's order. */
function numbersOf(view: View, row: Row): string {
  const { snapshot } = view
  const unitPrice = view.unitPrice(row)
  const shipping = view.shippingCost(row, 1)
  const retail = view.retailPrice ? `,"retail_price":${dollarsText(view.retailPrice(row))}` : ''
  return (
    `,"ffl_req":${snapshot.fflReq.has(row) ? 1 : 0}` +
    `,"unit_price":${dollarsText(unitPrice)},"shipping_cost":${dollarsText(shipping)}` +
    `,"total_cost":${dollarsText(unitPrice + shipping)}` +
    `,"map_price":${dollarsOrNull(snapshot.map[row]!)}` +
    `,"msrp":${dollarsOrNull(snapshot.msrp[row]!)}` +
    `,"qty_on_hand":${snapshot.qty[row]},"drop_ship_flg":${snapshot.dropShip.has(row) ? 1 : 0}${retail}`
  )
}

function dollarsOrNull(cents: number): string {
  return cents < 0 ? 'null' : dollarsText(cents)
}

/** Numbers things from 1, each the same way for as long as it lives; a number keeps none alive. */
function numbering<T extends object>(): (thing: T) => number {
  const numbers = new WeakMap<T, number>()
  let last = 0
  return (thing) => {
    let number = numbers.get(thing)
    if (number === undefined) numbers.set(thing, (number = ++last))
    return number
  }
}
