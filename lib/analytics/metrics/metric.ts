/**
 * What a metric is: its formula in words, a DuckDB query that does the heavy part once for all
 * subscribers (one row for each UPC and distributor), and how the rows of somebody's active
 * distributors become one result for a UPC.
 */
import type { ColumnKind } from '../../catalog/snapshot/arena.js'

/** Days that a caller may ask for; the last of them is the UTC day on which the build was made. */
export const WINDOWS = [7, 30, 60, 90] as const
export type Window = (typeof WINDOWS)[number]

/**
 * How a measure is kept and shown. `count`, `flag` and `time` (milliseconds) as they are, `money`
 * in cents, `tenths` and `hundredths` as whole numbers, `distid` as a place in the build's list.
 */
export type Form = 'count' | 'money' | 'tenths' | 'hundredths' | 'time' | 'flag' | 'distid'

/** Rows of a build in columns; `dist` is a distributor's place in the build's list. */
export type Columns<C extends string> = Readonly<Record<C | 'dist', ArrayLike<number>>>

export interface Definition<C extends string, M extends string> {
  slug: string
  /** The formula in plain English; the guide and the endpoint's documentation print it. */
  words: string
  /** False: the parameter `window` means nothing here. */
  hasWindow: boolean
  /** What the query selects beside `item` and `dist`. */
  columns: Readonly<Record<C, ColumnKind>>
  /**
   * A query over the tables of prepare.ts; `days` is 0 for a metric without a window. Its order
   * does not matter.
   */
  sql(days: number): string
  measures: Readonly<Record<M, Form>>
  /**
   * Puts the measures of one UPC into `out`, NaN for null, and returns true; false where it is no
   * result. `rows` are the places of the UPC's rows of the active distributors in the order of
   * their distids, at least one.
   */
  combine(
    columns: Columns<NoInfer<C>>,
    rows: readonly number[],
    out: Record<NoInfer<M>, number>,
  ): boolean
  /** Measures by which results are sorted, the greatest first and null last; ties by UPC. */
  order: readonly NoInfer<M>[]
  /** Other orders, by the value of `sort_by`. */
  orders?: Readonly<Record<string, readonly NoInfer<M>[]>>
  /** Parameters that set the least value of a measure. */
  least?: Readonly<Record<string, NoInfer<M>>>
}

export type Metric = Definition<string, string>

/** Ties a definition's parts together by their names, which nobody else needs to know. */
export function metric<const C extends string, const M extends string>(
  definition: Definition<C, M>,
): Metric {
  return definition as unknown as Metric
}

/** A first day of a window, in SQL. */
export function firstDay(days: number): string {
  return `(getvariable('today') - ${days - 1})`
}

/** The first millisecond of a window, in SQL. */
export function firstMoment(days: number): string {
  return `(epoch_ms(${firstDay(days)}))`
}

/**
 * The lowest price of an offer with stock, else the lowest; NaN where nothing is offered. `price`
 * has -1 for none.
 */
export function bestCost(
  { price, qty }: Readonly<Record<'price' | 'qty', ArrayLike<number>>>,
  rows: readonly number[],
): number {
  let [inStock, any] = [Infinity, Infinity]
  for (const row of rows) {
    if (price[row]! < 0) continue
    any = Math.min(any, price[row]!)
    if (qty[row]! > 0) inStock = Math.min(inStock, price[row]!)
  }
  if (inStock < Infinity) return inStock
  return any < Infinity ? any : NaN
}

export function sumOf(column: ArrayLike<number>, rows: readonly number[]): number {
  let sum = 0
  for (const row of rows) sum += column[row]!
  return sum
}
