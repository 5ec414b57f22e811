/** The columns of a snapshot that a price-and-stock update changes. */
import { firstPlace } from '../../core/binary-search.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import { packArena, readColumn } from './arena.js'
import type { Arena, Column } from './arena.js'
import { Bits } from './bits.js'
import type { SnapshotParts } from './parts.js'
import { ownPriceRows, tickRows } from './queries.js'
import type { TickRow } from './queries.js'
import { sortByNumber } from './permutation.js'

const MAX_INT = 2 ** 31 - 1
const NONE = -1

/** Cents, -1 for none; by row. */
export interface Tick {
  readonly price: Int32Array
  readonly map: Int32Array
  readonly msrp: Int32Array
  readonly shipping: Int32Array
  readonly qty: Int32Array
  readonly fflReq: Bits
  readonly dropShip: Bits
  readonly inStock: Bits
}

const NUMBERS = ['price', 'map', 'msrp', 'shipping', 'qty'] as const
const FLAGS = ['fflReq', 'dropShip', 'inStock'] as const

export function emptyTick(rows: number): Tick {
  const column = () => new Int32Array(rows)
  return {
    price: column(),
    map: column(),
    msrp: column(),
    shipping: column(),
    qty: column(),
    fflReq: new Bits(rows),
    dropShip: new Bits(rows),
    inStock: new Bits(rows),
  }
}

/** A copy of the columns of an earlier snapshot, to be changed. */
export function previousTick({ tick, rows }: SnapshotParts): Tick {
  return {
    ...(Object.fromEntries(
      NUMBERS.map((name) => [name, readColumn(tick, name, 'i32').slice()]),
    ) as Record<(typeof NUMBERS)[number], Int32Array>),
    ...(Object.fromEntries(
      FLAGS.map((name) => [name, new Bits(rows, readColumn(tick, name, 'u32').slice())]),
    ) as Record<(typeof FLAGS)[number], Bits>),
  }
}

/**
 * Writes offers changed since a revision, or all of them, into the columns. False when the text
 * arena does not know one.
 */
export function applyOffers(raw: Raw, tick: Tick, text: Arena, since: number | null): boolean {
  const rowOf = rowFinder(text)
  const fragment = readColumn(text, 'fragment', 'u32')
  for (const offer of tickRows(raw, since)) {
    const row = rowOf(offer[0])
    if (row === null || fragment[row] !== offer[1]) return false
    applyOffer(tick, row, offer)
  }
  return true
}

function applyOffer(
  tick: Tick,
  row: number,
  [, , price, map, msrp, shipping, qty, fflReq, dropShip]: TickRow,
): void {
  tick.price[row] = price ?? NONE
  tick.map[row] = map ?? NONE
  tick.msrp[row] = msrp ?? NONE
  tick.shipping[row] = shipping ?? NONE
  // A larger number would turn negative in a 32-bit column.
  tick.qty[row] = Math.min(qty, MAX_INT)
  set(tick.fflReq, row, fflReq === 1)
  set(tick.dropShip, row, dropShip === 1)
  set(tick.inStock, row, qty > 0)
}

function set(bits: Bits, row: number, value: boolean): void {
  if (value) bits.add(row)
  else bits.delete(row)
}

/** Sorts, reads the subscribers' own prices and packs it all. */
export function packTick(raw: Raw, tick: Tick, text: Arena): { tick: Arena; ownPriceOf: string[] } {
  const byTie = readColumn(text, 'byTie', 'u32')
  const columns: Record<string, Column> = {
    byPrice: sortByNumber(byTie, tick.price),
    byQty: sortByNumber(byTie, tick.qty),
  }
  for (const name of NUMBERS) columns[name] = tick[name]
  for (const name of FLAGS) columns[name] = tick[name].words
  const own = readOwnPrices(raw, text)
  own.forEach(({ rows, prices }, i) => {
    columns[`ownRows ${i}`] = Uint32Array.from(rows)
    columns[`ownPrices ${i}`] = Int32Array.from(prices)
  })
  return { tick: packArena(columns), ownPriceOf: own.map(({ subscriber }) => subscriber) }
}

interface OwnPrices {
  subscriber: string
  rows: number[]
  prices: number[]
}

function readOwnPrices(raw: Raw, text: Arena): OwnPrices[] {
  const rowOf = rowFinder(text)
  const own: OwnPrices[] = []
  let last: OwnPrices | undefined
  for (const [subscriber, offer, price] of ownPriceRows(raw)) {
    const row = rowOf(offer)
    if (row === null) continue
    if (last?.subscriber !== subscriber) own.push((last = { subscriber, rows: [], prices: [] }))
    last.rows.push(row)
    last.prices.push(price)
  }
  return own
}

/** The row of an offer id, null when there is none. */
function rowFinder(text: Arena): (offerId: number) => number | null {
  const byOfferId = readColumn(text, 'byOfferId', 'u32')
  const offerId = readColumn(text, 'offerId', 'u32')
  return (id) => {
    const row =
      byOfferId[firstPlace(byOfferId.length, (place) => offerId[byOfferId[place]!]! >= id)]
    return row !== undefined && offerId[row] === id ? row : null
  }
}
