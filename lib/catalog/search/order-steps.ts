/**
 * Bitsets of the first 1/32, 2/32, ... of an order: they find a place in it by counting, however
 * the hits are spread over it, and make a bitset of any slice. They take as much memory as the
 * order; made on first use, in about 3 ms per million.
 */
import { Bits } from '../snapshot/bits.js'
import { countBoth } from '../snapshot/row-set.js'

const STEPS = 32

export interface Steps {
  readonly order: Uint32Array
  readonly width: number
  /**
   * Set `i` holds the rows of the first `i * width` places; as many sets as fit, and one of all
   * rows.
   */
  readonly sets: readonly Bits[]
}

const known = new WeakMap<Uint32Array, Steps>()

export function stepsOf(order: Uint32Array): Steps {
  let steps = known.get(order)
  if (!steps) known.set(order, (steps = cumulate(order)))
  return steps
}

function cumulate(order: Uint32Array): Steps {
  const width = Math.max(1, Math.ceil(order.length / STEPS))
  const sets = [new Bits(order.length)]
  for (let from = 0; from < order.length; from += width) {
    const next = sets.at(-1)!.copy()
    change(next.words, order, from, Math.min(from + width, order.length), true)
    sets.push(next)
  }
  return { order, width, sets }
}

/** Writes the rows of the places from `from` up to `to` to `out`. */
export function sliceToBits(
  { order, width, sets }: Steps,
  from: number,
  to: number,
  out: Bits,
): void {
  const first = Math.round(from / width)
  const last = Math.min(Math.round(to / width), sets.length - 1)
  const placeOf = (step: number) => Math.min(step * width, order.length)
  out.words.set(sets[last]!.words)
  change(out.words, order, placeOf(last), to, true)
  change(out.words, order, to, placeOf(last), false)
  out.andNot(sets[first]!)
  change(out.words, order, from, placeOf(first), true)
  change(out.words, order, placeOf(first), from, false)
}

function change(
  words: Uint32Array,
  order: Uint32Array,
  from: number,
  to: number,
  add: boolean,
): void {
  if (add)
    for (let place = from; place < to; place++)
      words[order[place]! >>> 5]! |= 1 << (order[place]! & 31)
  else
    for (let place = from; place < to; place++)
      words[order[place]! >>> 5]! &= ~(1 << (order[place]! & 31))
}

/** The last step with no more than `hits` rows of the set before it, and how many those are. */
export function stepBefore(
  { width, sets }: Steps,
  set: Bits,
  hits: number,
): { place: number; before: number } {
  let from = 0
  let before = 0
  for (let to = sets.length; to - from > 1;) {
    const middle = (from + to) >>> 1
    const count = countBoth(set, sets[middle]!)
    if (count <= hits) [from, before] = [middle, count]
    else to = middle
  }
  return { place: from * width, before }
}
