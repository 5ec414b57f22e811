/**
 * What a view knows of its offers beside their texts: prices, stock, flags, as columns of whole
 * numbers. A build joins them with the texts by position, so offers that the view hides have a row
 * too.
 */
import { nextTurn } from '../core/async/wait.js'
import type { Bits } from '../catalog/snapshot/bits.js'
import type { Row } from '../catalog/snapshot/snapshot.js'
import type { View } from '../catalog/view/view.js'

/**
 * Cents that a configuration can multiply beyond 32 bits. They come first, so that each column lies
 * where its type may.
 */
export const WIDE = ['shipping_cost', 'retail_price'] as const
const NARROW = ['fragment', 'flags', 'unit_price', 'map_price', 'msrp', 'qty_on_hand'] as const
/**
 * Cents, -1 for none; `flags` are bits of FLAGS. `retail_price` is 0 where the document asks for
 * none.
 */
export const COLUMNS = [...WIDE, ...NARROW] as const
export const FLAGS = { visible: 1, fflReq: 2, dropShip: 4 } as const

/** A distributor's offers, which stand next to each other in the order of (distid, stockid). */
export interface Section {
  distid: string
  from: number
  rows: number
}

/** What the file must agree with. Sums of cents and units; all are exact. */
export interface Totals {
  rows: number
  unitPrice: number
  totalCost: number
  qty: number
}

export interface Numbers {
  rows: number
  /** The columns, one after the other. */
  bytes: Uint8Array
  columns: Record<(typeof WIDE)[number], Float64Array> & Record<(typeof NARROW)[number], Int32Array>
  /** Of the distributors with a visible offer. */
  sections: Section[]
  totals: Totals
}

/**
 * True where the file has a retail price: the document asks for one, and there is an offer to have
 * it.
 */
export function isRetailPriced({ retailPrice, total }: View): boolean {
  return retailPrice !== null && total > 0
}

/** Rows computed in one turn of the loop, about two milliseconds. */
const ROWS_A_TURN = 8_192

/** Bytes of a row. */
const ROW =
  WIDE.length * Float64Array.BYTES_PER_ELEMENT + NARROW.length * Int32Array.BYTES_PER_ELEMENT

/** The columns that lie one after the other in these bytes. */
export function columnsIn(bytes: ArrayBuffer, rows: number): Numbers['columns'] {
  let at = 0
  const next = <T>(Column: {
    new (buffer: ArrayBuffer, at: number, length: number): T
    BYTES_PER_ELEMENT: number
  }) => {
    const column = new Column(bytes, at, rows)
    at += rows * Column.BYTES_PER_ELEMENT
    return column
  }
  return Object.fromEntries([
    ...WIDE.map((name) => [name, next(Float64Array)]),
    ...NARROW.map((name) => [name, next(Int32Array)]),
  ]) as Numbers['columns']
}

/**
 * Computes the columns of a view, in many turns of the loop. Offers are read in the snapshot's own
 * order and written where they belong: the other way round, half of the time would be spent on
 * waiting for memory.
 */
export async function makeNumbers(view: View): Promise<Numbers> {
  const { snapshot } = view
  const { sections, shifts, rows } = sectionsOf(view)
  const bytes = new Uint8Array(rows * ROW)
  const columns = columnsIn(bytes.buffer, rows)
  const totals: Totals = { rows: 0, unitPrice: 0, totalCost: 0, qty: 0 }
  for (let row = 0; row < snapshot.rows; row++) {
    const shift = shifts[snapshot.distributor[row]!]
    if (shift !== undefined) fillRow(columns, view, row, snapshot.tieRank[row]! - shift, totals)
    if (row % ROWS_A_TURN === ROWS_A_TURN - 1) await nextTurn()
  }
  return { rows, bytes, columns, sections, totals }
}

/**
 * The distributors that have a visible offer, in the order of (distid, stockid), and by place of a
 * distributor, how far its offers stand before their place in that order, since those of others are
 * left out.
 */
function sectionsOf({ snapshot, visible, distributors }: View): {
  sections: Section[]
  shifts: number[]
  rows: number
} {
  const sections: Section[] = []
  const shifts: number[] = []
  let from = 0
  for (let first = 0; first < snapshot.rows;) {
    const place = snapshot.distributor[snapshot.byTie[first]!]!
    const rows = snapshot.distributorRows(place).count()
    if (distributors.has(place) && meet(snapshot.distributorRows(place), visible)) {
      sections.push({ distid: snapshot.distids[place]!, from, rows })
      shifts[place] = first - from
      from += rows
    }
    first += rows
  }
  return { sections, shifts, rows: from }
}

function meet(a: Bits, b: Bits): boolean {
  return a.words.some((word, i) => (word & b.words[i]!) !== 0)
}

function fillRow(
  columns: Numbers['columns'],
  view: View,
  row: Row,
  at: number,
  totals: Totals,
): void {
  const { snapshot } = view
  columns.fragment[at] = snapshot.fragment[row]!
  if (!view.visible.has(row)) return
  const unitPrice = view.unitPrice(row)
  const shippingCost = view.shippingCost(row, 1)
  const qty = snapshot.qty[row]!
  columns.flags[at] =
    FLAGS.visible +
    (snapshot.fflReq.has(row) ? FLAGS.fflReq : 0) +
    (snapshot.dropShip.has(row) ? FLAGS.dropShip : 0)
  columns.unit_price[at] = unitPrice
  columns.shipping_cost[at] = shippingCost
  columns.map_price[at] = snapshot.map[row]!
  columns.msrp[at] = snapshot.msrp[row]!
  columns.qty_on_hand[at] = qty
  if (view.retailPrice) columns.retail_price[at] = view.retailPrice(row)
  totals.rows++
  totals.unitPrice += unitPrice
  totals.totalCost += unitPrice + shippingCost
  totals.qty += qty
}
