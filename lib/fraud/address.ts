/** One string per place: every spelling of an address meets in it, and two places never do (decisions 9.1). */
import { placeName } from '../places/names.js'
import { stateCode } from '../places/states.js'
import { BUILDING_WORDS, designator, nameWord, numberWord, oneName, standalone } from './address-words.js'
import { takeBoxes } from './address-boxes.js'
import { COMMA, tokensOf } from './address-tokens.js'
import { readStreet } from './address-street.js'
import type { Street } from './address-street.js'
import { readUnits, unitText } from './address-units.js'
import type { Unit } from './address-units.js'
import { folded, wordsOf } from './fold.js'

export interface PostalAddress {
  readonly address1?: string | null
  readonly address2?: string | null
  readonly city?: string | null
  readonly state?: string | null
  readonly postcode?: string | null
  readonly country?: string | null
}

const LONGEST_FIELD = 100
const US = new Set(['', 'us', 'usa', 'unitedstates', 'unitedstatesofamerica', 'america', 'pr', 'vi', 'gu', 'as', 'mp', 'puertorico', 'guam', 'americansamoa', 'northernmarianaislands', 'usvirginislands'])
const COUNTRIES = new Map(Object.entries({ canada: 'ca', can: 'ca', mexico: 'mx', mex: 'mx', unitedkingdom: 'gb', uk: 'gb', greatbritain: 'gb', gbr: 'gb', england: 'gb', germany: 'de', deutschland: 'de', deu: 'de', france: 'fr', fra: 'fr', australia: 'au', aus: 'au' }))
/** States whose ZIP codes begin with 0, which spreadsheets lose. */
const ZERO_STATES = new Set(['CT', 'MA', 'ME', 'NH', 'NJ', 'PR', 'RI', 'VT', 'VI', 'AE'])
/** What people write where nothing is to be said. */
const NOTHING = new Set(['na', 'n a', 'none', 'null', 'nil', 'no', 'same', 'same as above', 'same as billing', 'same as shipping'])

/** Where an address lies, and what of it may be repeated in its lines. */
interface Zone {
  readonly key: string
  readonly zip: string
  readonly state: string
  readonly city: readonly string[]
}

const squeezed = (text: string | null | undefined) => wordsOf(folded(text ?? '', LONGEST_FIELD)).join('')

/**
 * The string that every spelling of a US address shares: `12 N. Main Street, Apt. 4-B` and `12 north main st # 4b` with
 * ZIP 85001 are `us|85001|12|n|main|st||4b||`. The ZIP alone says the place, or the city and state where there is none.
 * Other countries' addresses are folded only. Null where no house or box is told (`Main St`, `RR 2`, `n/a`), or no place.
 */
export function normalizeAddress(address: PostalAddress): string | null {
  const country = squeezed(address.country)
  if (!US.has(country)) return foreign(address, COUNTRIES.get(country) ?? country)
  const zone = zoneOf(address)
  if (!zone) return null
  const lines = [address.address1, address.address2].map((line) => line ? tokensOf(line) : []).filter((tokens) => tokens.length > 0 && !NOTHING.has(tokens.join(' ')))
  const words = lines.length === 2 ? [...lines[0]!, COMMA, ...lines[1]!] : lines[0]
  if (!words) return null
  const { boxes, rest } = takeBoxes(words)
  const segments = segmentsOf(rest).map((segment) => withoutCareOf(withoutPlace(segment, zone), zone)).filter((segment) => segment.length > 0)
  const { street, units, extras } = placeIn(segments, zone)
  if (!street && boxes.length === 0) return null
  const { number, before, name, suffix, after } = street ?? { number: '', before: '', name: '', suffix: '', after: '' }
  return ['us', zone.key, number, before, name, suffix, after, unitText(units), [...boxes].sort().join(','), extras.join(',')].join('|')
}

/** Other countries write addresses by rules of their own, so that only case, accents and punctuation are taken away. */
function foreign(address: PostalAddress, country: string): string | null {
  const lines = wordsOf(folded(`${address.address1 ?? ''} ${address.address2 ?? ''}`, 2 * LONGEST_FIELD)).join(' ')
  const [postcode, city, state] = [squeezed(address.postcode), squeezed(address.city), squeezed(address.state)]
  return lines === '' || postcode === '' && city === '' ? null : [country, postcode, city, postcode === '' ? state : '', lines].join('|')
}

/** The ZIP's five digits, or city and state; null where neither is told. */
function zoneOf({ city, state, postcode }: PostalAddress): Zone | null {
  const code = stateCode(state ?? '') ?? squeezed(state)
  const known = { state: code, city: city ? tokensOf(city.slice(0, LONGEST_FIELD)).filter((word) => word !== COMMA) : [] }
  const match = /^(\d{4,5})(?:[\s-]*\d{4})?$/.exec((postcode ?? '').trim())
  const zip = match && (match[1]!.length === 5 ? match[1]! : ZERO_STATES.has(code) ? `0${match[1]}` : null)
  if (zip && zip !== '00000') return { key: zip, zip, ...known }
  const name = placeName((city ?? '').slice(0, LONGEST_FIELD)).replaceAll(' ', '')
  return name === '' || code === '' ? null : { key: `${name}/${code.toLowerCase()}`, zip: '', ...known }
}

function segmentsOf(words: readonly string[]): string[][] {
  const segments: string[][] = [[]]
  for (const word of words) {
    if (word === COMMA) segments.push([])
    else segments.at(-1)!.push(word)
  }
  return segments.filter((segment) => segment.length > 0)
}

/** A segment without the city, state and ZIP that are told again at its end. */
function withoutPlace(segment: string[], { zip, state, city }: Zone): string[] {
  let end = segment.length
  const country = segment[end - 1]
  if (country === 'usa' && end === 1) return []
  if (end > 1 && (country === 'usa' || country === 'us' && segment[end - 2]!.slice(0, 5) === zip)) end--
  if (zip !== '' && segment[end - 1]?.slice(0, 5) === zip && (end === 1 || stateCode(segment[end - 2]!) === state)) end--
  if (end > 0 && stateCode(segment[end - 1]!) === state && (end < segment.length || endsWith(segment, end - 1, city))) end--
  if (endsWith(segment, end, city) && (end < segment.length || end === city.length)) end -= city.length
  return end === segment.length ? segment : segment.slice(0, end)
}

const endsWith = (segment: readonly string[], end: number, city: readonly string[]) => city.length > 0 && city.length <= end && city.every((word, i) => segment[end - city.length + i] === word)

const CARE_OF = new Set(['c/o', 'attn', 'attention'])

/** A segment without who it is for: `c/o Pat Doe 12 Main St` is `12 Main St`, `12 Main St Attn: Pat Doe` too. */
function withoutCareOf(segment: string[], zone: Zone): string[] {
  const at = segment.findIndex((word, i) => CARE_OF.has(word) || word === 'care' && segment[i + 1] === 'of')
  if (at < 0) return segment
  const from = at + (segment[at] === 'care' ? 2 : 1)
  const behind = segment.findIndex((word, i) => i >= from && (at === 0 && /^\d/.test(word) && readStreet(segment.slice(i), zone.state, zone.zip)?.isSure === true || word === '#' || designator(word) !== undefined && hasDigit(segment.slice(i + 1, i + 2))))
  return [...segment.slice(0, at), ...behind < 0 ? [] : segment.slice(behind)]
}

interface Told {
  street: Street | null
  units: Unit[]
  /** What is neither: it stays, so that it tells two places apart. */
  extras: string[]
}

/** There the same number of the same street may stand in several urbanizations of one ZIP, told in a line of their own. */
const PUERTO_RICO = /^00[679]/
const LINE = { bare: true, words: true }
const hasDigit = (words: readonly string[]) => words.some((word) => /\d/.test(word))
const textOf = (words: readonly string[]) => oneName(words.map((word, i) => nameWord(word, i === 0)))

/** The street among the segments of an address, and the units of all of them. */
function placeIn(segments: readonly string[][], { state, zip }: Zone): Told {
  const read = segments.map((segment) => streetIn(segment, state, zip))
  const joined = read[0] === null && segments.length > 1 && segments[0]!.length === 1 && read.every((one) => one === null) ? readStreet([...segments[0]!, ...segments[1]!], state, zip) : null
  const sure = read.findIndex((one) => one?.street.isSure)
  const at = joined ? 1 : sure >= 0 ? sure : read.findIndex((one) => one !== null)
  const found = joined ? { street: joined, units: [], extra: null } : read[at]
  const told: Told = { street: found?.street ?? null, units: [], extras: found?.extra ? [found.extra] : [] }
  segments.forEach((segment, i) => {
    if (i === at && found) told.units.push(...found.units, ...found.street.units)
    else if (joined && i === 0) return
    else if (segments.findIndex((other) => other.join(' ') === segment.join(' ')) < i) return
    else {
      const units = readUnits(segment, 0, segment.length, LINE)
      if (units) told.units.push(...units)
      else if (!(i < at && found?.street.isSure && state !== 'PR' && !PUERTO_RICO.test(zip) && isName(segment))) told.extras.push(textOf(segment))
    }
  })
  return told
}

interface Found {
  readonly street: Street
  /** What stands before it in its segment. */
  readonly units: readonly Unit[]
  readonly extra: string | null
}

/** A street, with what stands before it: `Apt 4 12 Main St` has a unit, `Acme Guns 12 Main St` a name that may be a building's. */
function streetIn(segment: string[], state: string, zip: string): Found | null {
  const whole = readStreet(segment, state, zip)
  if (whole) return { street: whole, units: [], extra: null }
  const isUnit = segment[0] === '#' || designator(segment[0]) !== undefined
  const from = isUnit ? 2 : segment.findIndex((word) => /^\d/.test(word))
  const street = from > 0 ? readStreet(segment.slice(from), state, zip) : null
  if (!street?.isSure) return null
  const units = readUnits(segment, 0, from, LINE)
  return { street, units: units ?? [], extra: units ? null : textOf(segment.slice(0, from)) }
}

/** Whether a segment before a street can only be who lives there: no number, and no word of a building or a unit. */
const isName = (segment: readonly string[]) => !hasDigit(segment) && segment.length > 1 && segment.at(-1)!.length > 1 && numberWord(segment.at(-1)) === undefined && !segment.some((word) => BUILDING_WORDS.has(word) || designator(word) !== undefined || standalone(word) !== undefined)
