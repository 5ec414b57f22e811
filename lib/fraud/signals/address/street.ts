/** One line with a house number: its number, directionals, name, suffix and units. */
import {
  direction,
  directionWord,
  nameWord,
  numberWord,
  oneName,
  PLAIN_SUFFIXES,
  suffix,
  wordAt,
} from './postal-words.js'
import { roadAt, unglued } from './roads.js'
import { readUnits, unitsAtEnd } from './units.js'
import type { Unit } from './units.js'

export interface Street {
  readonly number: string
  readonly before: string
  readonly name: string
  readonly suffix: string
  readonly after: string
  readonly units: readonly Unit[]
  /**
   * Whether it is surely a street: it has a suffix, a numbered road or the figures of a grid, or is
   * a Broadway.
   */
  readonly isSure: boolean
}

const PLAIN_NUMBER = /\d+(?:-\d+)?[a-z]?|\d+\.\d+|\d+\/\d+|\d+-[1-7]\/[2348]/
const LETTERED_NUMBER = /[a-z]{1,2}\d+[a-z]?|[nsew]\d+[nsew]\d+[a-z]?|\d+[nsew]\d+/
const NUMBER = new RegExp(`^(?:${PLAIN_NUMBER.source}|${LETTERED_NUMBER.source})$`)
const FRACTION = /^[1-7]\/[2348]$/
/**
 * Two-digit second halves are how Queens numbers its houses, so there the hyphen may be left out.
 */
const QUEENS_ZIP = /^11[1346]/

const isPlainNumber = (word: string | undefined) => word !== undefined && /^\d+$/.test(word)
const isWord = (word: string | undefined) => word !== undefined && /^[^\d#]{2,}$/.test(word)

interface HouseNumber {
  readonly text: string
  readonly next: number
}

/** The house number that a line begins with; null where it begins with none. */
function houseNumber(tokens: readonly string[], state: string, zip: string): HouseNumber | null {
  const grid = gridNumber(tokens)
  if (grid) return grid
  const first =
    tokens[0] === 'one' && tokens.length > 1 && tokens[1] !== 'mile' ? '1' : wordAt(tokens, 0)
  if (!NUMBER.test(first) || FRACTION.test(first)) return null
  // A range of two numbers: 912/914, 912 914 and 912-914.
  const second = tokens[1]
  if (
    /^\d{3,}$/.test(first) &&
    second?.length === first.length &&
    isPlainNumber(second) &&
    Number(second) > Number(first) &&
    Number(second) - Number(first) < 100 &&
    isRangeName(tokens)
  )
    return { text: `${first}-${second}`, next: 2 }
  const slash = /^(\d+)-([1-7]\/[2348])$/.exec(first)
  let text = slash ? `${slash[1]} ${slash[2]}` : first.replace('/', '-')
  if (QUEENS_ZIP.test(zip) && /^\d{1,3}-\d\d$/.test(first)) text = text.replace('-', '')
  let next = 1
  if (FRACTION.test(tokens[next] ?? '')) text += ` ${tokens[next++]}`
  // `11500 B Independence Blvd` is 11500-B; in `12 A St` the letter is the street, and N, S, E and
  // W are directions.
  const letter = tokens[next]
  const isLetter =
    letter !== undefined &&
    /^[a-z]$/.test(letter) &&
    direction(letter) === undefined &&
    !(letter === 'u' && tokens[next + 1] === 's')
  if (
    isLetter &&
    /\d$/.test(text) &&
    (mayBeName(tokens, next + 1) ||
      (roadAt(tokens, next, state) === null && roadAt(tokens, next + 1, state) !== null))
  ) {
    text += letter
    next++
  }
  return { text, next }
}

/**
 * Whether a name begins at a token, and not the suffix of the letter before it: `J Spring Garden
 * St` has one, `B Court St` may not.
 */
function mayBeName(tokens: readonly string[], at: number): boolean {
  const word = tokens[at]
  const kind = suffix(word)
  if (direction(word) !== undefined) return tokens[at + 1] !== undefined
  return (
    isWord(word) &&
    (kind === undefined ||
      (!PLAIN_SUFFIXES.has(kind) &&
        isWord(tokens[at + 1]) &&
        tokens.slice(at + 1).some((other) => PLAIN_SUFFIXES.has(suffix(other) ?? ''))))
  )
}

/** What follows two numbers of a range is a name with its suffix, and no `Mile Rd`. */
const isRangeName = (tokens: readonly string[]) =>
  (direction(tokens[2]) !== undefined && tokens.length > 4) ||
  (isWord(tokens[2]) &&
    tokens[2] !== 'mile' &&
    suffix(tokens[2]) === undefined &&
    tokens.length > 3)

/**
 * Wisconsin's `N6 W23001` and `W 1234`, Illinois' `39W 123`: coordinates that stand for a house
 * number.
 */
function gridNumber(tokens: readonly string[]): HouseNumber | null {
  const [first, second, third, fourth] = tokens as [string, ...(string | undefined)[]]
  if (/^[nsew]\d+$/.test(first) && second !== undefined && /^[nsew]\d+[a-z]?$/.test(second))
    return { text: first + second, next: 2 }
  if (/^[nsew]$/.test(first) && isPlainNumber(second)) {
    if (third !== undefined && /^[nsew]\d+[a-z]?$/.test(third))
      return { text: first + second + third, next: 3 }
    return third !== undefined && /^[nsew]$/.test(third) && isPlainNumber(fourth)
      ? { text: first + second + third + fourth, next: 4 }
      : { text: first + second, next: 2 }
  }
  return /^\d+[nsew]$/.test(first) &&
    isPlainNumber(second) &&
    isWord(third) &&
    (suffix(third) === undefined || tokens.length > 3)
    ? { text: first + second, next: 2 }
    : null
}

/** `NW` or `N W` at a token, with its length; a name must be left behind it. */
function directionAt(
  tokens: readonly string[],
  at: number,
  to: number,
): { text: string; length: number } | null {
  const one = direction(tokens[at])
  // No Name Road is called so in many towns; `No Main St` is North Main.
  if (one === undefined || (tokens[at] === 'no' && tokens[at + 1] === 'name')) return null
  const two = at + 1 < to && (one === 'n' || one === 's') ? direction(tokens[at + 1]) : undefined
  return (two === 'e' || two === 'w') && at + 2 < to
    ? { text: one + two, length: 2 }
    : { text: one, length: 1 }
}

/**
 * Whether only what says the kind of a street is left between two tokens, with a door or none, so
 * that it has no name.
 */
function isNameless(tokens: readonly string[], from: number, to: number): boolean {
  return (
    from >= to ||
    (PLAIN_SUFFIXES.has(suffix(tokens[from]) ?? '') &&
      (from + 1 === to ||
        (/^\d+[a-z]?$/.test(wordAt(tokens, from + 1)) && !isKindBefore(tokens, from))))
  )
}

/** `Avenue B`, `N Avenue 52`, `Road 26`: the kind stands before the name. */
function isKindBefore(tokens: readonly string[], at: number): boolean {
  const kind = suffix(tokens[at])
  const name = tokens[at + 1]
  return (
    (kind === 'ave' || kind === 'rd') &&
    name !== undefined &&
    (/^\d+[a-z]?$/.test(name) ||
      (/^[a-z]{1,2}$/.test(name) &&
        suffix(name) === undefined &&
        (name.length === 1 || direction(name) === undefined)))
  )
}

/** Where the directional before the name ends: none where it would leave no name. */
function directionBefore(
  tokens: readonly string[],
  from: number,
  to: number,
): { text: string; next: number } {
  const none = { text: '', next: from }
  const first = direction(tokens[from])
  if (isKindBefore(tokens, from + 1) && first !== undefined && wordAt(tokens, from).length <= 2)
    return { text: first, next: from + 1 }
  const found = directionAt(tokens, from, to)
  if (!found) return none
  if (!isNameless(tokens, from + found.length, to))
    return { text: found.text, next: from + found.length }
  return found.length === 2 && first !== undefined && !isNameless(tokens, from + 1, to)
    ? { text: first, next: from + 1 }
    : none
}

function nameOf(words: readonly string[], hasSuffix: boolean): string {
  return oneName(
    words.map((word, i) => {
      const isFirst = i === 0
      const isLast = i === words.length - 1
      let full = nameWord(word, isFirst)
      if (word === 'st') full = saintOrStreet(words, i, hasSuffix)
      else if (word === 'mount' || word === 'fort') full = word
      else if (!isFirst && !isLast) full = directionWord(full)
      return full
    }),
  )
}

/** `St James Ave` has a saint, `5th St Rd` and `Main St Ext` a street. */
function saintOrStreet(words: readonly string[], at: number, hasSuffix: boolean): string {
  if (words.length === 1) return hasSuffix ? 'street' : 'st'
  if (at === words.length - 1 || (at > 0 && /^\d+(?:th)?$/.test(wordAt(words, at - 1))))
    return 'street'
  return 'saint'
}

/**
 * The directional behind the suffix, and where it begins; none in `Avenue E` and `N St`, where it
 * is the name.
 */
function directionAfter(
  tokens: readonly string[],
  from: number,
  to: number,
): { text: string; from: number } {
  const none = { text: '', from: to }
  const last = direction(tokens[to - 1])
  if (last === undefined || to - from < 2) return none
  // `No` may be a number's sign; in a grid (`842 E 1700 So`) nothing else can stand there.
  if (
    (tokens[to - 1] === 'no' || tokens[to - 1] === 'so') &&
    !(
      to - from === 3 &&
      direction(tokens[from]) !== undefined &&
      /^\d+(?:th)?$/.test(wordAt(tokens, to - 2))
    )
  )
    return none
  if (
    (to - from === 2 && isKindBefore(tokens, from)) ||
    (to - from === 3 &&
      wordAt(tokens, from).length === 1 &&
      isKindBefore(tokens, from + 1) &&
      direction(tokens[from]) !== undefined)
  )
    return none
  const first = direction(tokens[to - 2])
  if (
    to - from > 2 &&
    (first === 'n' || first === 's') &&
    (last === 'e' || last === 'w') &&
    suffix(tokens[to - 3]) !== undefined
  )
    return { text: first + last, from: to - 2 }
  return { text: last, from: to - 1 }
}

const isBroadway = (words: readonly string[]) =>
  words.at(-1) === 'broadway' && !words.some((word) => /\d/.test(word))

function namedStreet(number: string, tokens: readonly string[]): Street | null {
  const start = directionBefore(tokens, 0, tokens.length).next
  const { from: end, units } = unitsAtEnd(tokens, isKindBefore(tokens, start) ? start + 1 : start)
  const after = directionAfter(tokens, 0, end)
  const before = directionBefore(tokens, 0, after.from)
  const words = tokens.slice(before.next, after.from)
  if (words.length === 0) return null
  const kind = words.length > 1 ? suffix(words.at(-1)) : undefined
  const name = nameOf(kind === undefined ? words : words.slice(0, -1), kind !== undefined)
  const isGrid =
    words.length === 1 &&
    /^\d+(?:th)?$/.test(wordAt(words, 0)) &&
    (before.text !== '' || after.text !== '')
  return {
    number,
    before: before.text,
    name,
    suffix: kind ?? '',
    after: after.text,
    units,
    isSure: kind !== undefined || isGrid || isBroadway(words) || isKindBefore(words, 0),
  }
}

/**
 * A numbered road, a directional before it or not. What follows and is not a unit stays part of its
 * name.
 */
function numberedRoad(number: string, tokens: readonly string[], state: string): Street | null {
  const turn = direction(tokens[0]) ?? ''
  for (const from of turn === '' ? [0] : [0, 1]) {
    const road = roadAt(tokens, from, state)
    if (!road) continue
    const units = readUnits(tokens, road.next, tokens.length, { bare: road.isEnded, words: false })
    const rest = units ? '' : nameOf(tokens.slice(road.next), false)
    return {
      number,
      before: from === 0 ? '' : turn,
      name: rest === '' ? road.name : `${road.name} ${rest}`,
      suffix: '',
      after: road.after,
      units: units ?? [],
      isSure: true,
    }
  }
  return null
}

/**
 * A line that begins with a house number, `state` (two letters) and `zip` being the address's own.
 * Null where it begins with none, or nothing follows.
 */
export function readStreet(line: readonly string[], state: string, zip: string): Street | null {
  if (line.length < 2) return null
  const number = houseNumber(line, state, zip)
  if (!number || number.next >= line.length) return null
  const tokens = unglued(line.slice(number.next), 0)
  // "18 Mile Rd" and "Eighteen Mile Rd".
  if (tokens[1] === 'mile') tokens[0] = numberWord(tokens[0]) ?? wordAt(tokens, 0)
  return numberedRoad(number.text, tokens, state) ?? namedStreet(number.text, tokens)
}
