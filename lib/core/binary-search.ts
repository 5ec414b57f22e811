/** Binary searches. */

/** The first place in 0..length for which `reached` is true; it must stay true from there on. */
export function firstPlace(length: number, reached: (place: number) => boolean): number {
  let from = 0
  let to = length
  while (from < to) {
    const middle = (from + to) >>> 1
    if (reached(middle)) to = middle
    else from = middle + 1
  }
  return from
}

/**
 * The first place of an ascending list that is not below `value`, or where it would stand. Written
 * out for numbers: the catalog's searches spend their time here.
 */
export function lowerBound(
  list: Uint32Array | Float64Array,
  value: number,
  from = 0,
  to = list.length,
): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (list[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}
