/**
 * One string per place: every spelling of an address meets in it, and two places never do.
 */
import {
  BUILDING_WORDS,
  designator,
  direction,
  nameWord,
  numberWord,
  oneName,
  standalone,
  suffix,
  wordAt,
} from './postal-words.js'
import { takeBoxes } from './boxes.js'
import { withoutCareOf } from './care-of.js'
import { COMMA, tokensOf } from './tokens.js'
import { readStreet } from './street.js'
import type { Street } from './street.js'
import { NUMBER_SIGNS, readUnits, unitText } from './units.js'
import type { Unit } from './units.js'
import { isPuertoRico, squeezed, withoutPlaces, zoneOf } from './zone.js'
import type { PostalAddress, Segment, Zone } from './zone.js'
import { countryCode } from '../countries.js'
import { folded, wordsOf } from '../fold.js'

export type { PostalAddress } from './zone.js'

/** A place in the United States, in normal form; parts that are not told are empty. */
export interface Place {
  /** The ZIP, or `city/state` where none is told; empty where no place is. */
  readonly zone: string
  readonly number: string
  readonly before: string
  readonly name: string
  readonly suffix: string
  readonly after: string
  readonly units: string
  readonly boxes: string
  /**
   * What is none of these: a building, an urbanization, the name of a business that may be a
   * building's.
   */
  readonly extras: string
}

const LONGEST_FIELD = 100
/** What people write where nothing is to be said. */
const NOTHING = new Set([
  'na',
  'n a',
  'none',
  'null',
  'nil',
  'no',
  'same',
  'same as above',
  'same as billing',
  'same as shipping',
])
/** What a place is, and not which: a `Blue House` is told by more. */
const KINDS_OF_HOMES = new Set(['house', 'home', 'residence'])

/**
 * The string that every spelling of a US address shares: `12 N. Main Street, Apt. 4-B` and `12
 * north main st # 4b` with ZIP 85001 are `us|85001|12|n|main|st||4b||`. The ZIP alone says the
 * place, or the city and state where there is none. An address without place has a string of its
 * own. Other countries' addresses are folded only. Null where no house or box is told (`Main St`,
 * `RR 2`, `n/a`).
 */
export function normalizeAddress(address: PostalAddress): string | null {
  const country = countryCode(address.country)
  if (country !== 'us') return foreign(address, country)
  const place = placeOf(address, country)
  return (
    place &&
    [
      'us',
      place.zone,
      place.number,
      place.before,
      place.name,
      place.suffix,
      place.after,
      place.units,
      place.boxes,
      place.extras,
    ].join('|')
  )
}

/**
 * The parts of a US address; null where `normalizeAddress` is, and for other countries' addresses.
 */
export function placeOf(
  address: PostalAddress,
  country = countryCode(address.country),
): Place | null {
  if (country !== 'us') return null
  const zone = zoneOf(address)
  const lines = [address.address1, address.address2]
    .map((line) => (line ? tokensOf(line) : []))
    .filter((tokens) => tokens.length > 0 && !NOTHING.has(tokens.join(' ')))
  // Two commas part the lines, one the parts of a line.
  const [first, second] = lines
  const words = first && second ? [...first, COMMA, COMMA, ...second] : first
  if (!words) return null
  const { boxes, rest } = takeBoxes(words)
  const segments = withoutCareOf(withoutPlaces(segmentsOf(rest), zone), zone).filter(
    (segment) => segment.words.length > 1 || !KINDS_OF_HOMES.has(wordAt(segment.words, 0)),
  )
  const { street, units, extras } = placeIn(segments, zone)
  if (!street && boxes.length === 0) return null
  const {
    number,
    before,
    name,
    suffix: kind,
    after,
  } = street ?? { number: '', before: '', name: '', suffix: '', after: '' }
  return {
    zone: zone.key,
    number,
    before,
    name,
    suffix: kind,
    after,
    units: unitText(units),
    boxes: [...boxes].sort().join(','),
    extras: extras.join(','),
  }
}

/**
 * Other countries write addresses by rules of their own, so that only case, accents and punctuation
 * are taken away.
 */
function foreign(address: PostalAddress, country: string): string | null {
  const lines = wordsOf(
    folded(`${address.address1 ?? ''} ${address.address2 ?? ''}`, 2 * LONGEST_FIELD),
  ).join(' ')
  const [postcode, city, state] = [
    squeezed(address.postcode),
    squeezed(address.city),
    squeezed(address.state),
  ]
  return lines === ''
    ? null
    : [country, postcode, city, postcode === '' ? state : '', lines].join('|')
}

function segmentsOf(words: readonly string[]): Segment[] {
  let last: { words: string[]; line: number } = { words: [], line: 0 }
  const segments = [last]
  words.forEach((word, i) => {
    if (word !== COMMA) last.words.push(word)
    else segments.push((last = { words: [], line: last.line + (words[i - 1] === COMMA ? 1 : 0) }))
  })
  return segments.filter((segment) => segment.words.length > 0)
}

interface Told {
  readonly street: Street | null
  readonly units: readonly Unit[]
  /** What is neither: it stays, so that it tells two places apart. */
  readonly extras: readonly string[]
}

const LINE = { bare: true, words: true }
const hasDigit = (words: readonly string[]) => words.some((word) => /\d/.test(word))
const textOf = (words: readonly string[]) =>
  oneName(words.map((word, i) => nameWord(word, i === 0)))

/** The street among the segments of an address, and the units of all of them. */
function placeIn(all: readonly Segment[], zone: Zone): Told {
  const { segments, at, found } = streetAmong(all, zone)
  const turn = found ? quadrantIn(segments[at + 1]?.words ?? [], found.street, zone.state) : null
  const units: LineUnit[] = []
  const extras = found?.extra ? [found.extra] : []
  segments.forEach(({ words, line }, i) => {
    const isStreet = i === at && found !== null
    if (!isStreet && segments.findIndex((other) => other.words.join(' ') === words.join(' ')) < i)
      return
    const told = isStreet
      ? [...found.units, ...found.street.units]
      : turn && i === at + 1
        ? turn.units
        : readUnits(words, 0, words.length, LINE)
    if (told) addUnits(units, told, line)
    else if (!(i < at && found?.street.isSure && !isPuertoRico(zone.key) && isName(words)))
      extras.push(textOf(words))
  })
  return {
    street: found && turn ? { ...found.street, after: turn.after } : (found?.street ?? null),
    units: units.map(({ unit }) => unit),
    extras,
  }
}

interface LineUnit {
  readonly unit: Unit
  readonly line: number
}

/** Adds what a line tells; what an earlier line told is told again. */
function addUnits(all: LineUnit[], told: readonly Unit[], line: number): void {
  const earlier = all.filter((one) => one.line < line)
  for (const unit of told) {
    const again = earlier.findIndex(
      (one) => one.unit.level === unit.level && one.unit.id === unit.id,
    )
    if (again >= 0) earlier.splice(again, 1)
    else all.push({ unit, line })
  }
}

interface Found {
  readonly street: Street
  /** What stands before it in its segment. */
  readonly units: readonly Unit[]
  readonly extra: string | null
}

/**
 * The segment with the street: a sure one before others, and one whose number is a word only where
 * there is none in figures.
 */
function streetAmong(
  segments: readonly Segment[],
  zone: Zone,
): { segments: readonly Segment[]; at: number; found: Found | null } {
  const { state, zip } = zone
  const read = segments.map(({ words }) => streetIn(words, zone))
  const found = read.find((one) => one?.street.isSure) ?? read.find((one) => one !== null)
  if (found) return { segments, at: read.indexOf(found), found }
  const [first, second, ...others] = segments
  if (first?.words.length === 1 && second) {
    const words = [...first.words, ...second.words]
    const street = readStreet(words, state, zip)
    if (street)
      return {
        segments: [{ words, line: second.line }, ...others],
        at: 0,
        found: { street, units: [], extra: null },
      }
  }
  const inWords = segments.map(({ words }) => {
    const figures = inFigures(words)
    return figures && readStreet(figures, state, zip)
  })
  const counted = inWords.find((street) => street?.isSure) ?? null
  return {
    segments,
    at: counted ? inWords.indexOf(counted) : -1,
    found: counted && { street: counted, units: [], extra: null },
  }
}

/**
 * Words that a number of a name goes with, one or several: Ten Mile Road, Two Notch Road, Seven Oak
 * Lane, Ten Eyck Street.
 */
const COUNTED = new Set(
  'mile notch eyck chopt rod rods tree rock acre bar lick pond oak pine bit penny'.split(' '),
)

/**
 * The words with the house number in figures that they tell as a word: `Two Penn Plaza` has one;
 * null for `Seven Oaks Dr`, `Two Notch Rd` and `Three Lakes Dr`, which are names without one.
 */
function inFigures([first, ...rest]: readonly string[]): readonly string[] | null {
  const number = numberWord(first)
  const name = wordAt(rest, direction(rest[0]) === undefined ? 0 : 1)
  return number !== undefined &&
    /^[a-z]{3,}$/.test(name) &&
    !/[^s]s$/.test(name) &&
    !COUNTED.has(name) &&
    suffix(name) === undefined
    ? [number, ...rest]
    : null
}

/**
 * A street, with what stands before it: `Apt 4 12 Main St` has a unit, `Acme Guns 12 Main St` a
 * name that may be a building's.
 */
function streetIn(words: readonly string[], { state, zip }: Zone): Found | null {
  const whole = readStreet(words, state, zip)
  if (whole) return { street: whole, units: [], extra: null }
  const isSign = NUMBER_SIGNS.has(wordAt(words, 0))
  const from =
    isSign || designator(words[0]) !== undefined ? 2 : words.findIndex((word) => /^\d/.test(word))
  const street = from > 0 ? readStreet(words.slice(from), state, zip) : null
  if (!street?.isSure) {
    // `#12 Main St`, where `#4 12 Main St` has a unit.
    const numbered = isSign ? readStreet(words.slice(1), state, zip) : null
    return numbered?.isSure ? { street: numbered, units: [], extra: null } : null
  }
  const units = readUnits(words, 0, from, LINE)
  return { street, units: units ?? [], extra: units ? null : textOf(words.slice(0, from)) }
}

/**
 * A quadrant that a comma parts from its street, `1600 H St, NW`, and the units behind it. One
 * letter is a unit.
 */
function quadrantIn(
  words: readonly string[],
  street: Street,
  state: string,
): { after: string; units: readonly Unit[] } | null {
  if (
    !street.isSure ||
    street.after !== '' ||
    street.before.length === 2 ||
    street.units.length > 0
  )
    return null
  const [first, second] = [direction(words[0]), direction(words[1])]
  const isSplit = (first === 'n' || first === 's') && (second === 'e' || second === 'w')
  const after = isSplit ? first + second : first?.length === 2 ? first : null
  // In Nebraska it may be the state.
  if (after === null || after.toUpperCase() === state) return null
  const units = readUnits(words, isSplit ? 2 : 1, words.length, LINE)
  return units && { after, units }
}

/**
 * Whether a segment before a street can only be who lives there: no number, and no word of a
 * building or a unit.
 */
const isName = (words: readonly string[]) =>
  !hasDigit(words) &&
  words.length > 1 &&
  wordAt(words, words.length - 1).length > 1 &&
  numberWord(words.at(-1)) === undefined &&
  !words.some(
    (word) =>
      BUILDING_WORDS.has(word) || designator(word) !== undefined || standalone(word) !== undefined,
  )
