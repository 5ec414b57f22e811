/**
 * Positions and counties of ZIP codes, from Census figures (data/places, made by
 * scripts/data/places.mjs).
 */
import { brotliDecompressSync } from 'node:zlib'
import { lowerBound } from '../core/binary-search.js'
import facts from '../../data/places/zips.json' with { type: 'json' }

export interface ZipPlace {
  /** Degrees. */
  readonly lat: number
  readonly lng: number
  /**
   * FIPS codes of the counties that it lies in, the most people first; all that it may lie in where
   * `exact` is false.
   */
  readonly counties: readonly string[]
  /**
   * False for a ZIP that is not a ZIP area, such as one of PO boxes: its place is that of its
   * nearest neighbour in number.
   */
  readonly exact: boolean
}

/** Numbers of the ZIP areas, ascending, with their places in the same order. */
export interface ZipTable {
  readonly numbers: Uint32Array
  readonly lat: Float64Array
  readonly lng: Float64Array
  readonly counties: readonly string[]
}

let table: ZipTable | undefined

/**
 * Every ZIP area; unpacked on first use, in about 20 ms. Reference facts, the same for every app of
 * the process.
 */
export function zipTable(): ZipTable {
  return (table ??= unpack(
    brotliDecompressSync(Buffer.from(facts.zips, 'base64')).toString('utf8').split(';'),
  ))
}

function unpack(columns: readonly string[]): ZipTable {
  const [steps, lats, lngs, counties] = columns.map((column) => column.split('\n')) as [
    string[],
    string[],
    string[],
    string[],
  ]
  const made = {
    numbers: new Uint32Array(steps.length),
    lat: new Float64Array(steps.length),
    lng: new Float64Array(steps.length),
    counties,
  }
  let [number, lat, lng] = [0, 0, 0]
  for (let i = 0; i < steps.length; i++) {
    made.numbers[i] = number += Number(steps[i])
    made.lat[i] = (lat += Number(lats[i])) / 1_000
    made.lng[i] = (lng += Number(lngs[i])) / 1_000
  }
  return made
}

/**
 * American Samoa's one ZIP: no ZIP area, and far from those of Hawaii that have its first digits.
 */
const PAGO_PAGO = 96_799

/**
 * The place of a ZIP (5 digits, or 5+4); null where nothing near it in number is known, as for
 * military mail.
 */
export function placeOfZip(zip: string): ZipPlace | null {
  const digits = /^(\d{5})(?:-?\d{4})?$/.exec(zip.trim())?.[1]
  if (digits === undefined) return null
  const { numbers, lat, lng, counties } = zipTable()
  const wanted = Number(digits)
  if (wanted === PAGO_PAGO) return null
  const at = lowerBound(numbers, wanted)
  if (numbers[at] === wanted && counties[at] !== '')
    return { lat: lat[at]!, lng: lng[at]!, counties: countiesOf(counties[at]!), exact: true }
  const area = Math.floor(wanted / 100)
  const near = [numbers[at] === wanted ? at : at - 1, at]
    .filter((i) => numbers[i] !== undefined && Math.floor(numbers[i]! / 100) === area)
    .sort((a, b) => Math.abs(numbers[a]! - wanted) - Math.abs(numbers[b]! - wanted))[0]
  if (near === undefined) return null
  return { lat: lat[near]!, lng: lng[near]!, counties: countiesOfArea(area), exact: false }
}

function countiesOf(codes: string): string[] {
  const all = codes.split(' ').filter((code) => code !== '')
  return all.map((code) => (code.length === 3 ? all[0]!.slice(0, 2) + code : code))
}

/** FIPS codes of every county that the ZIP areas of one three-digit area lie in. */
export function countiesOfArea(area: number): string[] {
  const { numbers, counties } = zipTable()
  const found = new Set<string>()
  for (
    let at = lowerBound(numbers, area * 100);
    at < numbers.length && numbers[at]! < (area + 1) * 100;
    at++
  ) {
    for (const fips of countiesOf(counties[at]!)) found.add(fips)
  }
  return [...found]
}

const EARTH_MILES = 3_958.8
const RADIANS = Math.PI / 180

/** A point of the unit sphere. */
export function unitVector(lat: number, lng: number): [number, number, number] {
  const cos = Math.cos(lat * RADIANS)
  return [cos * Math.cos(lng * RADIANS), cos * Math.sin(lng * RADIANS), Math.sin(lat * RADIANS)]
}

/** Great-circle miles of a chord of the unit sphere, given squared. */
export function chordMiles(squared: number): number {
  return 2 * EARTH_MILES * Math.asin(Math.min(1, Math.sqrt(squared) / 2))
}

/** The squared chord of so many miles: comparing chords needs no arc. */
export function milesChord(miles: number): number {
  return (2 * Math.sin(miles / (2 * EARTH_MILES))) ** 2
}
