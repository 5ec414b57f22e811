/**
 * What a feed looks like as a whole, and what about it moved out of proportion since the last one.
 */
import { amount, figure } from '../../core/figures.js'
import { CLASS_CODES } from '../../distributors/product-classes.js'
import { MARKS, MARK_CLASS } from '../../distributors/generic/marks.js'
import type { Preset } from '../../distributors/generic/generic.js'

/** Kept of the last taken feed of each source. */
export interface Shape {
  /**
   * Names how the rows were read; what another preset or another release read cannot be compared.
   */
  reading: string
  offers: number
  /** Columns of the file that the preset reads; empty without a header. */
  columns: string[]
  /** Offers that fill each of `MARKS`. */
  filled: Record<string, number>
  classes: Record<string, number>
  /** Of those in stock, and of those with a price in cents. */
  qty: Amounts
  price: Amounts
}

export interface Amounts {
  count: number
  sum: number
  median: number
}

/** What the lines of a feed say, one entry each. */
export interface Facts {
  marks: Uint32Array
  prices: Uint32Array
  qtys: Uint32Array
}

/** The shape of a feed from its lines. */
export function shapeOf(facts: Facts, { kind }: Preset, reading: string, columns: string[]): Shape {
  const counts = new Map<number, number>()
  for (const mark of facts.marks) counts.set(mark, (counts.get(mark) ?? 0) + 1)
  const shape: Shape = {
    reading,
    offers: facts.marks.length,
    columns,
    filled: {},
    classes: {},
    qty: amountsOf(facts.qtys),
    price: amountsOf(facts.prices),
  }
  if (kind === 'quantity') return shape
  for (const [mark, count] of counts) {
    MARKS.forEach((name, bit) => {
      if (((mark >>> bit) & 1) === 1) shape.filled[name] = (shape.filled[name] ?? 0) + count
    })
    const code = CLASS_CODES[mark >>> MARK_CLASS]!
    shape.classes[code] = (shape.classes[code] ?? 0) + count
  }
  return shape
}

function amountsOf(values: Uint32Array): Amounts {
  let count = 0
  let sum = 0
  for (const value of values) {
    if (value === 0) continue
    count++
    sum += value
  }
  return { count, sum, median: count === 0 ? 0 : medianOf(values, count) }
}

/** The lower median of the values above 0: first its upper 16 bits, then the lower ones. */
function medianOf(values: Uint32Array, count: number): number {
  const place = (counts: Uint32Array, rank: number) => {
    let at = 0
    for (; rank >= counts[at]!; at++) rank -= counts[at]!
    return { at, rank }
  }
  const high = new Uint32Array(1 << 16)
  for (const value of values) if (value !== 0) high[value >>> 16]!++
  const upper = place(high, (count - 1) >>> 1)
  const low = new Uint32Array(1 << 16)
  for (const value of values) if (value !== 0 && value >>> 16 === upper.at) low[value & 0xffff]!++
  return upper.at * 0x1_0000 + place(low, upper.rank).at
}

/** Fewer than this are chance, not a shape. */
const FEW = 20
/** What is judged as a column. `keptMap` follows from price and MAP, which are judged. */
const JUDGED = MARKS.filter((mark) => mark !== 'keptMap')

/** Sentences with both figures, one for each loss. None where the feeds cannot be compared. */
export function movedShape(before: Shape, now: Shape, preset: Preset): string[] {
  if (before.reading !== now.reading || before.offers === 0 || now.offers === 0) return []
  const reasons = before.columns
    .filter((column) => !now.columns.includes(column))
    .map((column) => `the file has no column "${column}" any more, and the last one had it`)
  const share = (part: number, of: number) =>
    `${figure(part)} of ${figure(of)} offers (${((part / of) * 100).toFixed(1)} %)`
  const compare = (what: string, had: number, has: number) => {
    const expected = (had / before.offers) * now.offers
    if (expected - has < FEW || (expected - has) * 10 <= expected * 3) return
    reasons.push(
      `${what} ${share(has, now.offers)}, in the last feed ${share(had, before.offers)}; ` +
        'at most 30 % of that share may go',
    )
  }
  for (const mark of JUDGED)
    compare(labelOf(preset, mark), before.filled[mark] ?? 0, now.filled[mark] ?? 0)
  for (const code of Object.keys(before.classes))
    compare(`class ${code} has`, before.classes[code]!, now.classes[code] ?? 0)
  return [...reasons, ...movedAmounts(before, now)]
}

/** One outlier moves a sum, and new goods a median; both together move only when all values do. */
function movedAmounts(before: Shape, now: Shape): string[] {
  const beyond = (a: number, b: number, ratio: number) => Math.max(a, b) >= Math.min(a, b) * ratio
  const dollars = (cents: number) => `$${amount(cents)}`
  const judge = (
    what: string,
    [a, b]: readonly [before: Amounts, now: Amounts],
    ratio: number,
    show: (value: number) => string,
  ) => {
    if (
      Math.min(a.count, b.count) < FEW ||
      !beyond(a.sum / a.count, b.sum / b.count, ratio) ||
      !beyond(a.median, b.median, ratio)
    )
      return []
    return [
      `${what} have a median of ${show(b.median)} and a sum of ${show(b.sum)}, ` +
        `in the last feed ${show(a.median)} and ${show(a.sum)}; ` +
        `both may not move by a factor of ${ratio} or more`,
    ]
  }
  return [
    ...judge('the quantities', [before.qty, now.qty], 3, figure),
    ...judge('the prices', [before.price, now.price], 1.25, dollars),
  ]
}

function labelOf(preset: Preset, mark: (typeof MARKS)[number]): string {
  if (mark === 'noDropShip') return 'not to be drop-shipped are'
  if (mark === 'dropShip') return 'drop-shippable by their flag are'
  if (mark === 'ffl') return 'a license is needed for'
  if (mark === 'held') return 'held back (allocated) are'
  if (mark === 'attributes') return 'attributes have'
  if (mark === 'stateFlags') return 'not to be shipped to some state are'
  const field = preset.kind === 'catalog' && mark !== 'keptMap' ? preset.map[mark] : undefined
  const names = field && 'from' in field ? field.from.join('" or "') : mark
  return `"${names}" is filled in`
}
