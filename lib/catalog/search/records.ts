/**
 * Rows of a snapshot as the JSON of the wire. Cold text comes from catalog.db and is kept
 * serialized; quantity, flags and every price come from the snapshot, so that a page agrees with
 * its total and its sort while a feed is taken in.
 */
import { LRUCache } from 'lru-cache'
import { ApiError } from '../../core/errors.js'
import { dollarsText } from '../../core/money.js'
import { numbering } from '../../core/numbering.js'
import { descriptionsOf, itemTexts } from '../queries.js'
import type { CatalogDb } from '../queries.js'
import { CLASS_CODES, PRODUCT_CLASSES } from '../../distributors/product-classes.js'
import type { Row } from '../snapshot/snapshot.js'
import type { View } from '../view/view.js'

/**
 * An offer as the view of that number showed it last: its whole JSON, of which the first `head` and
 * the last `tail` units are the fragment's, and what is between them, the numbers, is the view's.
 * `detail`, which is the tail with the descriptions, is null until somebody asks for it.
 *
 * Texts here hold UTF-8, one byte in each unit (see bytesOf).
 */
interface Shown {
  text: string
  readonly head: number
  readonly tail: number
  detail: string | null
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

/** Offers that are kept serialized: 700 bytes each with their place, 35 MB in all. */
const KEPT = 50_000

const NOTHING: Around = { before: '', after: '' }

export function openRecords(catalog: CatalogDb): Records {
  const read = itemTexts(catalog)
  const textsOf = descriptionsOf(catalog)
  const kept = new LRUCache<number, Shown>({ max: KEPT })
  const numberOf = numbering<View>()
  let oldest = 0

  /** What is kept of the texts that rows have, and of all others what the catalog says. */
  function textsFor({ snapshot }: View, rows: ArrayLike<Row>): Shown[] {
    if (snapshot.revision < oldest) throw new ApiError('feed_unavailable')
    const fragments = Array.from(rows, (row) => snapshot.fragment[row]!)
    const known = fragments.map((fragment) => kept.get(fragment))
    const missing = fragments.filter((_, i) => !known[i])
    const made = new Map(
      missing.length === 0
        ? []
        : read(missing).map(([fragment, ...texts]) => [fragment, withoutNumbers(...texts)]),
    )
    for (const [fragment, shown] of made) kept.set(fragment, shown)
    return fragments.map((fragment, i) => {
      const shown = known[i] ?? made.get(fragment)
      // Only a catalog file that was removed under a running server loses a fragment that a snapshot
      // names.
      if (!shown) throw new ApiError('feed_unavailable')
      return shown
    })
  }

  /** The offer's JSON with the numbers that this view has for it. */
  function show(shown: Shown, view: View, row: Row, number: number): string {
    // A view never changes: a new price or document makes another one.
    if (shown.view !== number || shown.row !== row) {
      const { text, head, tail } = shown
      shown.text = flat(text.slice(0, head) + numbersOf(view, row) + text.slice(text.length - tail))
      shown.view = number
      shown.row = row
    }
    return shown.text
  }

  /** What is behind the numbers, with the descriptions. */
  function detailOf(shown: Shown, { snapshot }: View, row: Row): string {
    if (shown.detail === null) {
      const texts = textsOf(snapshot.fragment[row]!)
      if (!texts) throw new ApiError('feed_unavailable')
      const about = JSON.stringify(PRODUCT_CLASSES[CLASS_CODES[snapshot.productClass[row]!]!])
      const descriptions =
        `,"product_class_description":${about}` +
        `,"short_description":${JSON.stringify(texts.short_description)}` +
        `,"description":${JSON.stringify(texts.description)}}`
      shown.detail = flat(shown.text.slice(-shown.tail, -1) + bytesOf(descriptions))
    }
    return shown.detail
  }

  const join = (view: View, rows: ArrayLike<Row>, { before, after }: Around, detailed: boolean) => {
    const number = numberOf(view)
    const offers = textsFor(view, rows).map((shown, i) => {
      const text = show(shown, view, rows[i]!, number)
      return detailed ? text.slice(0, -shown.tail) + detailOf(shown, view, rows[i]!) : text
    })
    return Buffer.from(bytesOf(before) + offers.join(',') + bytesOf(after), 'latin1')
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

/**
 * The text's UTF-8, as a text with a byte in each unit: itself where all of it is ASCII. A page of
 * such texts is joined and becomes bytes by two copies of memory, without encoding them anew.
 */
function bytesOf(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1')
}

/** In one piece, which holds on to none of the texts that it was put together from. */
function flat(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('latin1')
}

function withoutNumbers(before: string, behind: string): Shown {
  const [head, tail] = [bytesOf(before), bytesOf(behind)]
  return {
    text: head + tail,
    head: head.length,
    tail: tail.length,
    detail: null,
    view: 0,
    row: 0,
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
