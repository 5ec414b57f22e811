/** Which dealers the list shows for a ZIP, best first (contract "FFL directory"). */
import { lowerBound } from '../core/binary-search.js'
import { milesChord, placeOfZip, unitVector } from '../places/zips.js'
import { bandOf, zipNumber } from './directory.js'
import type { Directory, PlaceColumns } from './directory.js'

export interface NearInput {
  /** Five digits. */
  zip: string
  /** Miles, inclusive. */
  radius: number
  /** A part of the business or license name, case aside. */
  name?: string | undefined
  /** As 20261121: dealers whose last day is earlier are left out. */
  today: number
}

/** The longest list (contract "Limits"). */
export const MOST = 150

/**
 * Dealers as places in the directory's columns: on file in the ZIP, on file nearby by distance,
 * others in the ZIP, others by distance, then by license number.
 */
export function nearDealers(
  directory: Directory,
  { zip, radius, name, today }: NearInput,
): number[] {
  const { dealers, places } = directory
  const home = zipNumber(zip)
  const here = directory.placeOfZip.get(home)
  const nearby = placesAround(
    places,
    here === undefined ? vectorOf(zip) : vectorAt(places, here),
    radius,
  )
  const wanted = name?.toLowerCase() ?? ''
  const found: number[] = []
  const take = (dealer: number, atHome: boolean) => {
    if (
      dealers.lastDay[dealer]! < today ||
      (dealers.zip[dealer] === home) !== atHome ||
      found.length === MOST
    )
      return
    if (wanted === '' || dealers.names[dealer]!.includes(wanted)) found.push(dealer)
  }
  for (const group of [onFileOf, othersOf]) {
    if (here !== undefined)
      for (let [dealer, end] = group(places, here); dealer < end; dealer++) take(dealer, true)
    for (let i = 0; i < nearby.count && found.length < MOST; i++) {
      const equal = runLength(nearby, i)
      if (equal === 1)
        for (let [dealer, end] = group(places, nearby.place[i]!); dealer < end; dealer++)
          take(dealer, false)
      else
        for (const dealer of merged(directory, nearby.place.subarray(i, i + equal), group))
          take(dealer, false)
      i += equal - 1
    }
  }
  return found
}

type Group = (places: PlaceColumns, place: number) => [from: number, end: number]
const onFileOf: Group = ({ from, others }, place) => [from[place]!, others[place]!]
const othersOf: Group = ({ from, others }, place) => [others[place]!, from[place + 1]!]

type Vector = readonly [number, number, number]

function vectorOf(zip: string): Vector | null {
  const at = placeOfZip(zip)
  return at && unitVector(at.lat, at.lng)
}

function vectorAt({ lng, vectors }: PlaceColumns, place: number): Vector | null {
  return Number.isNaN(lng[place]!)
    ? null
    : [vectors[place * 3]!, vectors[place * 3 + 1]!, vectors[place * 3 + 2]!]
}

/** How many places from here on are equally far. */
function runLength({ squared, count }: Nearby, from: number): number {
  let end = from + 1
  while (end < count && squared[end] === squared[from]) end++
  return end - from
}

/** Dealers of places that are equally far, by license number. */
function merged(
  { places, dealers: { license } }: Directory,
  some: Uint32Array,
  group: Group,
): number[] {
  const all = Array.from(some, (place) => {
    const [from, end] = group(places, place)
    return Array.from({ length: end - from }, (_, i) => from + i)
  })
  return all.flat().sort((a, b) => (license[a]! < license[b]! ? -1 : 1))
}

/** The nearest first, with their squared chords. */
interface Nearby {
  readonly count: number
  readonly place: Uint32Array
  readonly squared: Float64Array
}

const NOTHING: Nearby = { count: 0, place: new Uint32Array(), squared: new Float64Array() }
const DEGREES = 180 / Math.PI
/** Degrees, a few inches: what the bounds of a search may lose to rounding. */
const SLACK = 1e-6

/** Every place within so many miles of a point, the nearest first. */
function placesAround(
  { bands, lng, vectors }: PlaceColumns,
  vector: Vector | null,
  radius: number,
): Nearby {
  if (!vector) return NOTHING
  const [x, y, z] = vector
  const limit = milesChord(radius)
  const { from, to, west, east } = bounds(vector, limit)
  const place: number[] = []
  const squared: number[] = []
  for (let band = from; band <= to; band++) {
    const end = bands[band + 1]!
    // The band as it is, and as it goes on beyond the date line on either side.
    for (let shift = -360; shift <= 360; shift += 360) {
      if (west + shift >= 180 || east + shift <= -180) continue
      for (
        let at = lowerBound(lng, west + shift, bands[band]!, end);
        at < end && lng[at]! <= east + shift;
        at++
      ) {
        const distance =
          (vectors[at * 3]! - x) ** 2 +
          (vectors[at * 3 + 1]! - y) ** 2 +
          (vectors[at * 3 + 2]! - z) ** 2
        if (distance > limit) continue
        place.push(at)
        squared.push(distance)
      }
    }
  }
  return nearestFirst(place, squared, limit)
}

/** The bands and the longitudes, in degrees, that a circle touches. */
function bounds(
  [x, y, z]: Vector,
  limit: number,
): { from: number; to: number; west: number; east: number } {
  const lat = Math.asin(z) * DEGREES
  const lng = Math.atan2(y, x) * DEGREES
  const angle = 2 * Math.asin(Math.min(1, Math.sqrt(limit) / 2))
  const cos = Math.hypot(x, y)
  const tall = angle * DEGREES + SLACK
  const rows = { from: bandOf(lat - tall), to: bandOf(lat + tall) }
  // With a pole inside, every longitude.
  if (Math.sin(angle) >= cos) return { ...rows, west: -180, east: 180 }
  const reach = Math.asin(Math.sin(angle) / cos) * DEGREES + SLACK
  return { ...rows, west: lng - reach, east: lng + reach }
}

/**
 * Squared chords grow with the area of the circle, so rings of equal steps hold about as many
 * places each.
 */
const RINGS = 256

/** Sorted by ring first and then within the rings: a fifth of the time of a sort that compares. */
function nearestFirst(place: readonly number[], squared: readonly number[], limit: number): Nearby {
  const count = place.length
  const ringOf = (distance: number) => Math.min(RINGS - 1, Math.floor((distance / limit) * RINGS))
  const next = new Uint32Array(RINGS + 1)
  for (const distance of squared) next[ringOf(distance) + 1]!++
  for (let ring = 0; ring < RINGS; ring++) next[ring + 1]! += next[ring]!
  const sorted = { count, place: new Uint32Array(count), squared: new Float64Array(count) }
  for (let i = 0; i < count; i++) {
    const at = next[ringOf(squared[i]!)]!++
    sorted.place[at] = place[i]!
    sorted.squared[at] = squared[i]!
  }
  for (let i = 1; i < count; i++) {
    const [one, distance] = [sorted.place[i]!, sorted.squared[i]!]
    let at = i
    for (; at > 0 && sorted.squared[at - 1]! > distance; at--) {
      sorted.place[at] = sorted.place[at - 1]!
      sorted.squared[at] = sorted.squared[at - 1]!
    }
    sorted.place[at] = one
    sorted.squared[at] = distance
  }
  return sorted
}
