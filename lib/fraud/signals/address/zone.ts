/** Where an address lies: its ZIP, or city and state; and what its lines tell of that once more. */
import { placeName } from '../../../places/names.js'
import { STATES, stateCode } from '../../../places/states.js'
import { COMMA, tokensOf } from './tokens.js'
import { readStreet } from './street.js'
import { designator, direction, suffix, wordAt } from './postal-words.js'
import { NUMBER_SIGNS } from './units.js'
import { folded, wordsOf } from '../fold.js'

export interface PostalAddress {
  readonly address1?: string | null
  readonly address2?: string | null
  readonly city?: string | null
  readonly state?: string | null
  readonly postcode?: string | null
  readonly country?: string | null
}

/** Where an address lies, and what of it may be repeated in its lines. */
export interface Zone {
  /**
   * `85001`, or `saintlouis/mo` where no ZIP is told; `saintlouis/` or `/mo` where half of that is,
   * `?8500` for a ZIP that is none, empty where nothing is.
   */
  readonly key: string
  /** Empty where none is told. */
  readonly zip: string
  /** Two letters where it is a state. */
  readonly state: string
  readonly city: readonly string[]
}

/** Words between commas, and the line in which they stand. */
export interface Segment {
  readonly words: readonly string[]
  readonly line: number
}

const LONGEST_FIELD = 100
const LONGEST_POSTCODE = 20
/** States whose ZIP codes begin with 0, which spreadsheets lose. */
const ZERO_STATES = new Set(['CT', 'MA', 'ME', 'NH', 'NJ', 'PR', 'RI', 'VT', 'VI', 'AE'])
/**
 * There the same number of the same street may stand in several urbanizations of one ZIP, told in a
 * line of their own. By the zone's key.
 */
export const isPuertoRico = (key: string): boolean => /^00[679]|\/pr$/.test(key)

export const squeezed = (text: string | null | undefined): string =>
  wordsOf(folded(text ?? '', LONGEST_FIELD)).join('')

/**
 * The ZIP's five digits, or city and state as far as they are told: a street without place meets no
 * street with one.
 */
export function zoneOf({ city, state, postcode }: PostalAddress): Zone {
  const code = stateCode(state ?? '') ?? squeezed(state)
  const known = {
    state: code,
    city: city ? tokensOf(city.slice(0, LONGEST_FIELD)).filter((word) => word !== COMMA) : [],
  }
  const zip = zipIn((postcode ? folded(postcode, LONGEST_POSTCODE) : '').trim(), code)
  if (zip && zip !== '00000') return { key: zip, zip, ...known }
  const name = placeName((city ?? '').slice(0, LONGEST_FIELD)).replaceAll(' ', '')
  // A ZIP that cannot be read is not a place, but not no place either.
  const unread = /[1-9]/.test(postcode ?? '') ? `?${squeezed(postcode)}` : ''
  return {
    key: name === '' && code === '' ? unread : `${name}/${code.toLowerCase()}`,
    zip: '',
    ...known,
  }
}

/** The five digits of a postcode, with the 0 in front that it may have lost. */
function zipIn(postcode: string, state: string): string | null {
  const [, digits] = /^(\d{4,5})(?:[\s-]*\d{4}|\s*-)?$/.exec(postcode) ?? []
  if (digits === undefined || digits.length === 5) return digits ?? null
  return ZERO_STATES.has(state) ? `0${digits}` : null
}

/**
 * What of a place is told behind a word, from the end of the lines on: each may be told once, and
 * in this order.
 */
const [NOTHING, COUNTRY, ZIP, STATE, CITY] = [0, 1, 2, 3, 4] as const
const COUNTRIES = [['usa'], ['united', 'states'], ['united', 'states', 'of', 'america']] as const

/**
 * The segments without the city, state and ZIP that are told again at their ends, in one segment or
 * in several.
 */
export function withoutPlaces(segments: readonly Segment[], zone: Zone): Segment[] {
  const kept: Segment[] = []
  let told: number = NOTHING
  for (const [i, { words, line }] of [...segments.entries()].reverse()) {
    const cut = placeIn(words, { told, before: segments[i - 1]?.words ?? [], zone })
    // `12 Phoenix, AZ` is a house in Phoenix Street, and no house without a street.
    const end = i === 0 && cut.end === 1 && /^\d/.test(wordAt(words, 0)) ? words.length : cut.end
    if (end > 0) kept.unshift({ words: end === words.length ? words : words.slice(0, end), line })
    told = end > 0 ? NOTHING : cut.told
  }
  return kept
}

interface Around {
  /** What the segments behind told. */
  readonly told: number
  /** The segment before. */
  readonly before: readonly string[]
  readonly zone: Zone
}

/** Where the place that is told again begins in a segment; its end where there is none. */
function placeIn(
  words: readonly string[],
  { told: behind, before, zone }: Around,
): { end: number; told: number } {
  const { state, city } = zone
  let [end, told] = [words.length, behind]
  const isStreet = (to: number) => readStreet(words.slice(0, to), state, zone.zip)?.isSure === true
  const country = told < COUNTRY ? countryAt(words, before, zone) : 0
  if (country > 0) [end, told] = [end - country, COUNTRY]
  if (told < ZIP && isZipAt(words, end, zone)) [end, told] = [end - 1, ZIP]
  // A country or ZIP in the same segment leaves no doubt of what stands before it.
  const isClear = told > behind
  const letters = told < STATE ? stateAt(words, end, state) : 0
  if (letters > 0) {
    // NE is northeast, too.
    const isDirection = direction(words[end - 1]) !== undefined
    const isAlone =
      end === letters &&
      (endsWith(before, before.length, city) ||
        behind > NOTHING ||
        (before.length > 0 && wordAt(words, 0).length === 2 && !isDirection))
    if (
      isClear ||
      isAlone ||
      endsWith(words, end - letters, city) ||
      (behind > NOTHING && !isDirection && isStreet(end - letters))
    )
      [end, told] = [end - letters, STATE]
  }
  const start = end - city.length
  if (
    told < CITY &&
    endsWith(words, end, city) &&
    (isClear || start === 0 || (told > NOTHING && isStreet(start)))
  )
    [end, told] = [start, CITY]
  return { end, told }
}

/** How many words at the end are the country. `US` is one only behind the ZIP. */
function countryAt(words: readonly string[], before: readonly string[], { zip }: Zone): number {
  if (
    words.at(-1) === 'us' &&
    zip !== '' &&
    (words.length > 1 ? wordAt(words, words.length - 2) : wordAt(before, before.length - 1)).slice(
      0,
      5,
    ) === zip
  )
    return 1
  const last = words.at(-1)
  const name =
    last === 'usa' || last === 'states' || last === 'america'
      ? COUNTRIES.find((country) => endsWith(words, words.length, country))
      : undefined
  return name !== undefined &&
    (words.length === name.length
      ? before.length > 0 || name.length === 1
      : words.length > name.length + 1)
    ? name.length
    : 0
}

/** Whether the word before a place is the ZIP, and not the number of a unit or a highway. */
function isZipAt(words: readonly string[], end: number, { zip, state }: Zone): boolean {
  const word = words[end - 1]
  if (
    zip === '' ||
    word === undefined ||
    !word.startsWith(zip) ||
    !/^\d{5}(?:-?\d{4})?$/.test(word)
  )
    return false
  const before = words[end - 2]
  if (before === undefined || stateAt(words, end - 1, state) > 0) return true
  return (
    designator(before) === undefined &&
    !NUMBER_SIGNS.has(before) &&
    suffix(before) !== 'hwy' &&
    suffix(before) !== 'rte'
  )
}

const STATE_NAMES = new Map(
  Object.entries(STATES).map(([code, name]) => [
    code,
    { letters: code.toLowerCase(), name: wordsOf(name.toLowerCase()) },
  ]),
)

/** How many words before a place are the address's own state. */
function stateAt(words: readonly string[], end: number, state: string): number {
  const known = end > 0 ? STATE_NAMES.get(state) : undefined
  if (!known) return 0
  return words[end - 1] === known.letters
    ? 1
    : endsWith(words, end, known.name)
      ? known.name.length
      : 0
}

const endsWith = (words: readonly string[], end: number, city: readonly string[]) =>
  city.length > 0 &&
  city.length <= end &&
  city.every((word, i) => words[end - city.length + i] === word)
