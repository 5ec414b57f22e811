/** A range of shown dealer costs is a slice of the price order. */
import { firstPlace } from '../../core/binary-search.js'
import { MAX_CENTS } from '../../core/money.js'
import type { Bits } from '../snapshot/bits.js'
import { sliceToBits, stepsOf } from './order-steps.js'
import { intersect } from '../snapshot/row-set.js'
import type { PriceOrder } from '../view/view.js'

export interface PriceRange {
  /** Cents, both inclusive. */
  readonly low: number
  readonly high: number
  /** Places in the price order, `to` exclusive. */
  readonly from: number
  readonly to: number
}

/** The slice between two inclusive bounds in dollars. */
export function priceRange({ column, order }: PriceOrder, min = 0, max = MAX_CENTS): PriceRange {
  const low = Math.ceil(cents(min))
  const high = Math.floor(cents(max))
  const from = firstPlace(order.length, (place) => column[order[place]!]! >= low)
  const to = firstPlace(order.length, (place) => column[order[place]!]! > high)
  return { low, high, from, to }
}

/** Not rounded: a bound of 12.344 lets 12.35 pass, but not 12.34. */
function cents(dollars: number): number {
  const exact = Number(`${dollars}e2`)
  return Number.isNaN(exact) ? dollars * 100 : exact
}

/**
 * Writes the rows of the range that are in every one of the sets to `out`; returns how many they
 * are.
 */
export function intersectRange(
  { order }: PriceOrder,
  { from, to }: PriceRange,
  sets: readonly Bits[],
  out: Bits,
): number {
  sliceToBits(stepsOf(order), from, to, out)
  return intersect([out, ...sets], out)
}
