/**
 * Who an address is for: `c/o Pat Doe`, `Attn: Receiving`. It is not a part of the place, but what
 * may stand behind it is.
 */
import { readStreet } from './street.js'
import { designator, direction, standalone, SURE_DESIGNATORS, wordAt } from './postal-words.js'
import { NUMBER_SIGNS, readUnits } from './units.js'
import type { Unit } from './units.js'
import type { Segment, Zone } from './zone.js'

const CARE_OF = new Set(['c/o', 'attn', 'attention'])
/**
 * What may be called by a word (`Bldg Lincoln`); behind the others a word is a person's: `Attn: Spc
 * Smith`, `Attn: Office Manager`.
 */
const NAMED_LEVELS = new Set(['bldg', 'twr', 'wing'])
const LINE = { bare: true, words: true }
const hasDigit = (word: string | undefined) => word !== undefined && /\d/.test(word)

/**
 * The segments without who they are for: `c/o Pat Doe 12 Main St` is `12 Main St`, `12 Main St
 * Attn: Pat Doe Apt B` is its Apt B.
 */
export function withoutCareOf(segments: readonly Segment[], zone: Zone): Segment[] {
  return segments.flatMap((segment) => {
    const { words, line } = segment
    const at = words.findIndex(
      (word, i) => CARE_OF.has(word) || (word === 'care' && words[i + 1] === 'of'),
    )
    if (at < 0) return [segment]
    const from = at + (words[at] === 'care' ? 2 : 1)
    const street = words.slice(0, at).some(hasDigit) ? -1 : streetIn(words, from, zone)
    const name = words.slice(from, street < 0 ? words.length : street)
    const parts = [
      words.slice(0, at),
      name.slice(unitIn(name)),
      street < 0 ? [] : words.slice(street),
    ]
    return parts.filter((part) => part.length > 0).map((part) => ({ words: part, line }))
  })
}

/** Where a street begins, with a number that is none of a unit; -1 where there is none. */
function streetIn(words: readonly string[], from: number, { state, zip }: Zone): number {
  return words.findIndex(
    (word, i) =>
      i >= from &&
      hasDigit(word) &&
      !isUnitWord(words[i - 1]) &&
      readStreet(words.slice(i), state, zip)?.isSure === true,
  )
}

const isUnitWord = (word: string | undefined) => designator(word) !== undefined || word === '#'

/** Where the unit begins that stands behind a name, or within it; the end where there is none. */
function unitIn(words: readonly string[]): number {
  const tail = words.findIndex((_, i) => isUnit(words, i))
  if (tail >= 0) return tail
  const within = words.findIndex(
    (word, i) =>
      word === '#' ||
      /^\d+[a-z]$/.test(word) ||
      (hasDigit(word) && designator(words[i + 1]) === 'fl') ||
      (designator(word) !== undefined &&
        (hasDigit(words[i + 1]) || (SURE_DESIGNATORS.has(word) && words[i + 1]?.length === 1))),
  )
  return within < 0 ? words.length : within
}

/**
 * Whether words are units from one on to the end, as a name is not: a letter alone is an initial,
 * `2nd` a part of a name.
 */
function isUnit(words: readonly string[], from: number): boolean {
  const first = wordAt(words, from)
  const isOrdinal = /^\d+th$/.test(first) && designator(words[from + 1]) !== 'fl'
  if (
    isOrdinal ||
    (!hasDigit(first) &&
      !NUMBER_SIGNS.has(first) &&
      designator(first) === undefined &&
      standalone(first) === undefined &&
      !/^(?:apt|unit|ste|suite|bldg)[a-z]$/.test(first))
  )
    return false
  const units = readUnits(words, from, words.length, LINE)
  return units !== null && units.length > 0 && units.every(isTold)
}

/** Whether it is a unit for sure, and no title or trade: `Attn: Ms Doe`. */
function isTold({ level, id }: Unit): boolean {
  return (
    hasDigit(id) ||
    (id.length <= 2 && level !== 'stop') ||
    NAMED_LEVELS.has(level) ||
    direction(id) !== undefined ||
    standalone(id) !== undefined
  )
}
