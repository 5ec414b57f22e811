/**
 * Secondary units: `Apt 4B`, `#4-B`, `Unit 4 B` and a bare `4B` are one; `Fl 2`, `Bldg 2` and `Apt
 * 2` are three.
 */
import { designator, direction, numberWord, standalone, suffix, SURE_DESIGNATORS } from './words.js'
import type { UnitLevel } from './words.js'

export interface Unit {
  readonly level: UnitLevel
  readonly id: string
}

/** How a text of units may begin and go on. */
export interface UnitStyle {
  /** An identifier needs no designator, since nothing but a unit can stand there. */
  readonly bare: boolean
  /** A word may be an identifier: `Bldg East`. */
  readonly words: boolean
}

export const NUMBER_SIGNS: ReadonlySet<string> = new Set(['#', 'no', 'num', 'number', 'nbr'])
/** Designators that say nothing when no identifier follows. */
const EMPTY = new Set([
  'apt',
  'apartment',
  'unit',
  'ste',
  'suite',
  '#',
  'rm',
  'room',
  'lot',
  'spc',
  'space',
])
const GLUED =
  /^(?:(apt|unit|ste|suite|rm|lot|spc|trlr|bldg|fl|ph|pmb|box)(\d.*)|(apt|unit|ste|suite|bldg)([a-z]))$/

const hasDigit = (word: string) => /\d/.test(word)
const isLetter = (word: string) => word.length === 1 && word >= 'a' && word <= 'z'
const isOrdinal = (word: string | undefined) =>
  word !== undefined && word.endsWith('th') && hasDigit(word)
/** `#`, or `No.` before a number. */
const isSign = (tokens: readonly string[], at: number) =>
  tokens[at] === '#' || (NUMBER_SIGNS.has(tokens[at]!) && hasDigit(tokens[at + 1] ?? ''))
const isFloor = (word: string | undefined) => designator(word) === 'fl'

/** `4`, `4b`, `b`, `1-2`; not the `2nd` of a floor. */
function isIdentifier(tokens: readonly string[], at: number, to: number): boolean {
  const word = at < to ? tokens[at]! : ''
  if (!hasDigit(word)) return isLetter(word) || numberWord(word) !== undefined
  // A floor may be told behind its number; `4 fl 2` is a unit and a floor.
  return (
    word.length <= 10 &&
    !(
      at + 1 < to &&
      isFloor(tokens[at + 1]) &&
      !(at + 2 < to && hasDigit(tokens[at + 2]!) && !isOrdinal(word))
    )
  )
}

/**
 * Parts of an identifier in one: `4 b` and `4-b` are `4b`, but `1 1` stays apart from `11`. Zeros
 * in front do not count.
 */
function joined(parts: readonly string[]): string {
  let id = ''
  for (const part of parts) {
    const next = (numberWord(part) ?? part).replace(/^0+(?=\d)/, '')
    const last = id.at(-1)
    id += last !== undefined && /\d/.test(last) === /\d/.test(next[0]!) ? `-${next}` : next
  }
  return id
}

/** Where an identifier ends that begins at a token; the same place where there is none. */
function endOfIdentifier(
  tokens: readonly string[],
  from: number,
  to: number,
  words: boolean,
): number {
  if (from >= to) return from
  const first = tokens[from]!
  const short =
    first.length === 2 &&
    /^[a-z]{2}$/.test(first) &&
    suffix(first) === undefined &&
    designator(first) === undefined
  const word =
    words &&
    from + 1 === to &&
    first.length <= 12 &&
    /^[a-z]+$/.test(first) &&
    suffix(first) === undefined &&
    designator(first) === undefined &&
    standalone(first) === undefined
  if (!isIdentifier(tokens, from, to) && !(words && short) && !word) return from
  return restOfIdentifier(tokens, from + 1, to)
}

/** Letters and numbers go on with it: `4 b`, `a and b`. */
function restOfIdentifier(tokens: readonly string[], from: number, to: number): number {
  let end = from
  while (end < to) {
    const at = tokens[end] === 'and' ? end + 1 : end
    if (
      !isIdentifier(tokens, at, to) ||
      (designator(tokens[at]) !== undefined && !hasDigit(tokens[at]!))
    )
      break
    end = at + 1
  }
  return end
}

/** The units that tokens tell from one place to another; null where they tell anything else. */
export function readUnits(
  tokens: readonly string[],
  from: number,
  to: number,
  style: UnitStyle,
): Unit[] | null {
  const units: Unit[] = []
  const said: string[] = []
  // `Apt 2 Apt 2` and `2 Apt 2` are told twice; `Suite 2 Room 2` is a room of a suite, and not the
  // suite.
  const add = (level: UnitLevel, id: string, word: string) => {
    if (
      units.some(
        (unit, i) =>
          unit.level === level &&
          unit.id === id &&
          (word === '' || said[i] === '' || said[i] === word),
      )
    )
      return
    units.push({ level, id })
    said.push(word)
  }
  let i = from
  while (i < to) {
    const word = tokens[i]!
    if (word === 'and' && i > from) {
      i++
      continue
    }
    if (hasDigit(word) && isFloor(tokens[i + 1]) && i + 1 < to && !isIdentifier(tokens, i, to)) {
      add('fl', joined([word.replace(/th$/, '')]), 'fl')
      i += 2
      continue
    }
    const glued = designator(word) === undefined ? GLUED.exec(word) : null
    if (glued) {
      const end = restOfIdentifier(tokens, i + 1, to)
      add(
        designator(glued[1] ?? glued[3])!,
        joined([
          glued[2] ?? glued[4]!,
          ...tokens.slice(i + 1, end).filter((part) => part !== 'and'),
        ]),
        glued[1] ?? glued[3]!,
      )
      i = end
      continue
    }
    const level = isSign(tokens, i) ? '' : designator(word)
    if (level !== undefined) {
      let at = i + 1
      while (
        at < to &&
        (NUMBER_SIGNS.has(tokens[at]!) ||
          (designator(tokens[at]) === level &&
            !hasDigit(tokens[at]!) &&
            standalone(tokens[at]) === undefined))
      )
        at++
      const end = endOfIdentifier(tokens, at, to, style.words)
      if (end > at) {
        add(
          level,
          joined(
            tokens
              .slice(at, end)
              .filter((part) => part !== 'and')
              .map((part) => (level === 'fl' ? part.replace(/th$/, '') : part)),
          ),
          level === 'fl' ? 'fl' : word,
        )
        i = end
        continue
      }
      const named = standalone(word)
      if (named !== undefined) add('', named, named)
      else if (
        !EMPTY.has(word) ||
        !style.words ||
        (at < to && standalone(tokens[at]) === undefined && !hasDigit(tokens[at]!))
      )
        return null
      i = at
      continue
    }
    const named = standalone(word)
    if (named !== undefined) {
      add('', named, named)
      i++
      // `rear apt`: the word says which, the designator nothing more.
      const behind = i < to ? designator(tokens[i]) : undefined
      if (
        (behind === '' || (behind === 'fl' && (named === 'lowr' || named === 'uppr'))) &&
        endOfIdentifier(tokens, i + 1, to, false) === i + 1 &&
        !NUMBER_SIGNS.has(tokens[i + 1] ?? '')
      )
        i++
      continue
    }
    const end = style.bare ? endOfIdentifier(tokens, i, to, false) : i
    if (end === i) return null
    add('', joined(tokens.slice(i, end).filter((part) => part !== 'and')), '')
    i = end
  }
  return units
}

/**
 * Whether the street may end before a token: after its suffix anything that is a unit may stand,
 * elsewhere only a sure one.
 */
function mayBegin(tokens: readonly string[], at: number, isAfterSuffix: boolean): boolean {
  const word = tokens[at]!
  if (
    (isSign(tokens, at) && (word === '#' || isAfterSuffix)) ||
    SURE_DESIGNATORS.has(word) ||
    GLUED.test(word) ||
    (hasDigit(word) && isFloor(tokens[at + 1]))
  )
    return true
  return (
    isAfterSuffix &&
    (designator(word) !== undefined ||
      standalone(word) !== undefined ||
      hasDigit(word) ||
      (isLetter(word) && direction(word) === undefined))
  )
}

/**
 * Where the units at the end of a street begin, with the units. `name` is where its name begins:
 * `Lot St`, `Front St` and `Avenue B` are names. Without any, the end.
 */
export function unitsAtEnd(
  tokens: readonly string[],
  name: number,
): { from: number; units: Unit[] } {
  let suffixAt = -1
  for (let i = name + 1; i < tokens.length; i++) {
    const before = tokens[i - 1]!
    if (before === 'broadway' || (i - 1 > name && suffix(before) !== undefined)) suffixAt = i - 1
    // In a grid the second directional ends the street: `295 S 250 E 3`.
    const isGrid =
      name > 0 &&
      i - 2 === name &&
      /^\d+(?:th)?$/.test(tokens[name]!) &&
      direction(before) !== undefined
    const isAfterSuffix =
      isGrid ||
      (suffixAt >= 0 &&
        (suffixAt === i - 1 || (suffixAt === i - 2 && direction(before) !== undefined)))
    if (!mayBegin(tokens, i, isAfterSuffix)) continue
    const units = readUnits(tokens, i, tokens.length, { bare: isAfterSuffix, words: isAfterSuffix })
    if (units) return { from: i, units }
  }
  return { from: tokens.length, units: [] }
}

const LEVELS: readonly UnitLevel[] = [
  'bldg',
  'twr',
  'wing',
  'hngr',
  'pier',
  'slip',
  'fl',
  'dept',
  'ph',
  '',
  'key',
  'box',
  'pmb',
  'stop',
]

/** Units as one text, in whichever order they were told: building, floor, door, box. */
export function unitText(units: readonly Unit[]): string {
  // A word such as `rear` stands behind the number that it goes with, whichever was told first.
  const inOrder = [
    ...units.filter(({ id }) => standalone(id) === undefined),
    ...units.filter(({ id }) => standalone(id) !== undefined),
  ]
  return LEVELS.flatMap((level) =>
    inOrder
      .filter((unit) => unit.level === level)
      .map(({ id }) => (level === '' ? id : `${level} ${id}`)),
  ).join(',')
}
