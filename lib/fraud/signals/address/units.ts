/**
 * Secondary units: `Apt 4B`, `#4-B`, `Unit 4 B` and a bare `4B` are one; `Fl 2`, `Bldg 2` and `Apt
 * 2` are three.
 */
import {
  designator,
  direction,
  numberWord,
  standalone,
  suffix,
  SURE_DESIGNATORS,
  wordAt,
} from './postal-words.js'
import type { UnitLevel } from './postal-words.js'

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
  tokens[at] === '#' || (NUMBER_SIGNS.has(wordAt(tokens, at)) && hasDigit(wordAt(tokens, at + 1)))
const isFloor = (word: string | undefined) => designator(word) === 'fl'

/** `4`, `4b`, `b`, `1-2`; not the `2nd` of a floor. */
function isIdentifier(tokens: readonly string[], at: number, to: number): boolean {
  const word = at < to ? wordAt(tokens, at) : ''
  if (!hasDigit(word)) return isLetter(word) || numberWord(word) !== undefined
  // A floor may be told behind its number; `4 fl 2` is a unit and a floor.
  return (
    word.length <= 10 &&
    !(
      at + 1 < to &&
      isFloor(tokens[at + 1]) &&
      !(at + 2 < to && hasDigit(wordAt(tokens, at + 2)) && !isOrdinal(word))
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
    id += last !== undefined && /\d/.test(last) === /\d/.test(next.charAt(0)) ? `-${next}` : next
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
  const first = wordAt(tokens, from)
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
      (designator(tokens[at]) !== undefined && !hasDigit(wordAt(tokens, at)))
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
  const reader = new UnitReader(tokens, from, to, style)
  return reader.readAll() ? reader.units : null
}

const withoutAnd = (words: readonly string[]) => words.filter((word) => word !== 'and')
const withoutTh = (word: string) => word.replace(/th$/, '')

/** Reads one unit after the other. Each method says whether it found one, and goes on behind it. */
class UnitReader {
  readonly units: Unit[] = []
  /** The word that each unit was told with; empty for a bare one. */
  readonly #said: string[] = []
  readonly #tokens: readonly string[]
  readonly #to: number
  readonly #style: UnitStyle
  #at: number

  constructor(tokens: readonly string[], from: number, to: number, style: UnitStyle) {
    this.#tokens = tokens
    this.#at = from
    this.#to = to
    this.#style = style
  }

  /** False where something is not a unit. */
  readAll(): boolean {
    const from = this.#at
    while (this.#at < this.#to) {
      if (this.#tokens[this.#at] === 'and' && this.#at > from) this.#at++
      else if (!this.#readOne()) return false
    }
    return true
  }

  #readOne(): boolean {
    const word = wordAt(this.#tokens, this.#at)
    if (this.#floor(word) || this.#glued(word)) return true
    const level = isSign(this.#tokens, this.#at) ? '' : designator(word)
    if (level !== undefined) return this.#designated(word, level)
    return this.#named(word) || this.#bare()
  }

  /**
   * `Apt 2 Apt 2` and `2 Apt 2` are told twice; `Suite 2 Room 2` is a room of a suite, and not the
   * suite.
   */
  #add(level: UnitLevel, id: string, word: string): void {
    const isTold = this.units.some((unit, i) => {
      const said = this.#said[i]
      return unit.level === level && unit.id === id && (word === '' || said === '' || said === word)
    })
    if (isTold) return
    this.units.push({ level, id })
    this.#said.push(word)
  }

  /** `2nd floor`. */
  #floor(word: string): boolean {
    const [tokens, at, to] = [this.#tokens, this.#at, this.#to]
    if (!hasDigit(word) || at + 1 >= to || !isFloor(tokens[at + 1]) || isIdentifier(tokens, at, to))
      return false
    this.#add('fl', joined([withoutTh(word)]), 'fl')
    this.#at += 2
    return true
  }

  /** `apt4`, `4fl`. */
  #glued(word: string): boolean {
    const glued = designator(word) === undefined ? GLUED.exec(word) : null
    const said = glued?.[1] ?? glued?.[3]
    const id = glued?.[2] ?? glued?.[4]
    const level = designator(said)
    if (said === undefined || id === undefined || level === undefined) return false
    const end = restOfIdentifier(this.#tokens, this.#at + 1, this.#to)
    const rest = withoutAnd(this.#tokens.slice(this.#at + 1, end))
    this.#add(level, joined([id, ...rest]), said)
    this.#at = end
    return true
  }

  /** `apt 4`, `# 4 b`, or a designator that stands alone. */
  #designated(word: string, level: UnitLevel): boolean {
    const [tokens, to] = [this.#tokens, this.#to]
    const at = this.#behindDesignators(level)
    const end = endOfIdentifier(tokens, at, to, this.#style.words)
    if (end > at) {
      const parts = withoutAnd(tokens.slice(at, end))
      if (level === 'fl') this.#add(level, joined(parts.map(withoutTh)), 'fl')
      else this.#add(level, joined(parts), word)
      this.#at = end
      return true
    }
    const named = standalone(word)
    const isFollowed =
      at < to && standalone(tokens[at]) === undefined && !hasDigit(wordAt(tokens, at))
    if (named !== undefined) this.#add('', named, named)
    else if (!EMPTY.has(word) || !this.#style.words || isFollowed) return false
    this.#at = at
    return true
  }

  /** Where the identifier begins behind a designator that may be said twice: `apt no 4`. */
  #behindDesignators(level: UnitLevel): number {
    const tokens = this.#tokens
    const isDesignator = (word: string) =>
      NUMBER_SIGNS.has(word) ||
      (designator(word) === level && !hasDigit(word) && standalone(word) === undefined)
    let at = this.#at + 1
    while (at < this.#to && isDesignator(wordAt(tokens, at))) at++
    return at
  }

  /** `rear`, and `rear apt`: the word says which, the designator nothing more. */
  #named(word: string): boolean {
    const named = standalone(word)
    if (named === undefined) return false
    this.#add('', named, named)
    const [tokens, to, at] = [this.#tokens, this.#to, ++this.#at]
    const behind = at < to ? designator(tokens[at]) : undefined
    if (
      (behind === '' || (behind === 'fl' && (named === 'lowr' || named === 'uppr'))) &&
      endOfIdentifier(tokens, at + 1, to, false) === at + 1 &&
      !NUMBER_SIGNS.has(wordAt(tokens, at + 1))
    )
      this.#at++
    return true
  }

  /** `4b`, where a bare one may stand. */
  #bare(): boolean {
    if (!this.#style.bare) return false
    const end = endOfIdentifier(this.#tokens, this.#at, this.#to, false)
    if (end === this.#at) return false
    this.#add('', joined(withoutAnd(this.#tokens.slice(this.#at, end))), '')
    this.#at = end
    return true
  }
}

/**
 * Whether the street may end before a token: after its suffix anything that is a unit may stand,
 * elsewhere only a sure one.
 */
function mayBegin(tokens: readonly string[], at: number, isAfterSuffix: boolean): boolean {
  const word = wordAt(tokens, at)
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
    const before = wordAt(tokens, i - 1)
    if (before === 'broadway' || (i - 1 > name && suffix(before) !== undefined)) suffixAt = i - 1
    // In a grid the second directional ends the street: `295 S 250 E 3`.
    const isGrid =
      name > 0 &&
      i - 2 === name &&
      /^\d+(?:th)?$/.test(wordAt(tokens, name)) &&
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
