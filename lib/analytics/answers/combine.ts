/**
 * How the rows of a build become one subscriber's results: UPC by UPC, in turns of the event loop.
 */
import { nextTurn } from '../../core/async/wait.js'
import { PASSES, identity, sortByDigit } from '../../catalog/snapshot/permutation.js'
import type { ListingColumns, SectionColumns } from '../builds/columns.js'
import type { Metric } from '../metrics/metric.js'

/**
 * Results of one metric for one set of distributors, in the order of their UPCs. NaN stands for
 * null.
 */
export interface Combined {
  items: Uint32Array
  values: Readonly<Record<string, Float64Array>>
}

/** With the row of the listings that each result is shown by. */
export interface Listed extends Combined {
  listings: Uint32Array
}

/** Rows that are looked at in one turn of the loop: about a millisecond. */
const ROWS_A_TURN = 4_096

/** Combines the rows of the distributors whose place is in `active`. */
export async function combine(
  metric: Metric,
  columns: SectionColumns,
  active: ReadonlySet<number>,
): Promise<Combined> {
  const { item, dist } = columns as { item: Uint32Array; dist: Uint16Array }
  const isActive = flags(active)
  const names = Object.keys(metric.measures)
  const results = new Results(names)
  const out = Object.fromEntries(names.map((name) => [name, NaN]))
  const rows: number[] = []
  for (let from = 0, done = 0; from < item.length;) {
    const upc = item[from]!
    rows.length = 0
    for (; from < item.length && item[from] === upc; from++)
      if (isActive[dist[from]!] === 1) rows.push(from)
    if (rows.length > 0 && metric.combine(columns as never, rows, out)) results.push(upc, out)
    if (from - done >= ROWS_A_TURN) {
      done = from
      await nextTurn()
    }
  }
  return results.take()
}

const flags = (places: ReadonlySet<number>) =>
  Uint8Array.from({ length: Math.max(0, ...places) + 1 }, (_, place) => (places.has(place) ? 1 : 0))

/**
 * Finds by which words each result is shown: those of the first of the active distributors that
 * puts the item into a category, else of the first. One of them offers it now, or it would be no
 * result.
 */
export async function list(
  combined: Combined,
  { first, dist, category }: ListingColumns,
  active: ReadonlySet<number>,
): Promise<Listed> {
  const { items } = combined
  const isActive = flags(active)
  const listings = new Uint32Array(items.length)
  for (let place = 0; place < items.length; place++) {
    let found = -1
    for (let row = first[items[place]!]!; row < first[items[place]! + 1]!; row++) {
      if (isActive[dist[row]!] !== 1) continue
      if (found < 0 || !Number.isNaN(category[row])) found = row
      if (!Number.isNaN(category[found])) break
    }
    if (found < 0) throw new Error(`a result that nobody offers: item ${items[place]}`)
    listings[place] = found
    if (place % ROWS_A_TURN === ROWS_A_TURN - 1) await nextTurn()
  }
  return { ...combined, listings }
}

/** Columns that grow with every result. */
class Results {
  readonly #names: readonly string[]
  #length = 0
  #items = new Uint32Array(256)
  #values: Float64Array[]

  constructor(names: readonly string[]) {
    this.#names = names
    this.#values = names.map(() => new Float64Array(256))
  }

  push(item: number, out: Readonly<Record<string, number>>): void {
    if (this.#length === this.#items.length) this.#grow()
    this.#items[this.#length] = item
    for (let i = 0; i < this.#names.length; i++)
      this.#values[i]![this.#length] = out[this.#names[i]!]!
    this.#length++
  }

  #grow(): void {
    const larger = <T extends Uint32Array | Float64Array>(column: T, copy: T): T => {
      copy.set(column)
      return copy
    }
    this.#items = larger(this.#items, new Uint32Array(this.#length * 2))
    this.#values = this.#values.map((column) => larger(column, new Float64Array(this.#length * 2)))
  }

  take(): Combined {
    return {
      items: this.#items.subarray(0, this.#length),
      values: Object.fromEntries(
        this.#names.map((name, i) => [name, this.#values[i]!.subarray(0, this.#length)]),
      ),
    }
  }
}

/**
 * Places of the results, the greatest of the first measure first, then of the next; null comes
 * last, and ties stay in the order of their UPCs.
 */
export async function orderOf(
  { items, values }: Combined,
  measures: readonly string[],
): Promise<Uint32Array> {
  let order = identity(items.length)
  // The least important one first: each sort keeps what the one before it did.
  for (const measure of measures.toReversed()) {
    for (const keyOf of descendingKeys(values[measure]!)) {
      await nextTurn()
      const key = new Int32Array(items.length)
      for (let i = 0; i < key.length; i++) key[i] = keyOf(values[measure]![i]!)
      for (const shift of PASSES) {
        await nextTurn()
        order = sortByDigit(order, new Uint32Array(order.length), key, shift)
      }
    }
  }
  return order
}

const LOW = 2 ** 31
/** After every number. */
const LAST = 1

/**
 * What of a whole number from 0 on is sorted by, ascending, so that the numbers come out
 * descending: as much as goes into 32 bits, and then the rest.
 */
function descendingKeys(column: Float64Array): ((value: number) => number)[] {
  const isLarge = column.some((value) => value >= LOW)
  if (!isLarge) return [(value) => (Number.isNaN(value) ? LAST : -value)]
  const high = (value: number) => Math.floor(value / LOW)
  return [
    (value) => (Number.isNaN(value) ? LAST : high(value) * LOW - value),
    (value) => (Number.isNaN(value) ? LAST : -high(value)),
  ]
}
