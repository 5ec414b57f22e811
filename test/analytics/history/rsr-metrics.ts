/**
 * Three metrics of one distributor, counted by plain loops over its stock files: for comparison
 * with what the metrics say of the same month.
 */
import { DAY } from '../../../lib/core/clock.js'

export interface StockFile {
  at: number
  /** Stock by the item's place in the first file; -1 where the file does not name it. */
  counts: Int32Array
}

export interface Counted {
  place: number
  /** Units that left stock, by UTC day since 1970. */
  sold: Map<number, number>
  restocks: Map<number, number>
  /** The last time without stock; null where there was none, or none that is over. */
  gone: number
  back: number | null
}

/** A fall that is seen after a longer gap is not counted. */
const GAP = 3 * DAY

/**
 * Item by item, file by file. `firstAt`: when the catalog came in, with the stock of the first
 * file.
 */
export function countMonth(files: readonly StockFile[], items: number, firstAt: number): Counted[] {
  return Array.from({ length: items }, (_, place) => {
    const counted: Counted = {
      place,
      sold: new Map(),
      restocks: new Map(),
      gone: firstAt,
      back: null,
    }
    let stock = files[0]!.counts[place]!
    let lastFall = { day: -1, units: 0 }
    for (let n = 1; n < files.length; n++) {
      const { at, counts } = files[n]!
      const now = Math.max(0, counts[place]!)
      const day = Math.floor(at / DAY)
      const add = (to: Map<number, number>, units: number) =>
        to.set(day, (to.get(day) ?? 0) + units)
      if (now === stock) continue
      if (now < stock) {
        const units = at - files[n - 1]!.at > GAP ? 0 : stock - now
        add(counted.sold, units)
        lastFall = { day, units }
      } else {
        // What the last change of the day took away is given back.
        if (lastFall.day === day && lastFall.units === now - stock)
          add(counted.sold, -lastFall.units)
        else add(counted.restocks, 1)
        lastFall = { day, units: 0 }
      }
      if (now === 0) [counted.gone, counted.back] = [at, null]
      if (stock === 0) counted.back = at
      stock = now
    }
    return counted
  })
}

/** What a map of days holds in the last days up to that of `now`. */
export function within(units: Map<number, number>, days: number, now: number): number {
  const today = Math.floor(now / DAY)
  let sum = 0
  for (const [day, count] of units) if (day > today - days && day <= today) sum += count
  return sum
}
