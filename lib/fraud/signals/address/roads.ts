/**
 * Numbered roads: `US Hwy 41`, `US Route 41` and `US 41` are one; `State Rd 41`, `County Rd 41` and
 * `Hwy 41` are others.
 */
import { stateCode } from '../../../places/states.js'
import { direction, suffix, wordAt } from './postal-words.js'

export interface Road {
  /** System, number and branch: `us 41 bus`. */
  readonly name: string
  /** Directionals behind the number. */
  readonly after: string
  /** Where the road ends. */
  readonly next: number
  /**
   * Whether anything stood behind the number that ends it, so that a bare number there is a unit.
   */
  readonly isEnded: boolean
}

const HIGHWAY = new Set([
  'hwy',
  'highway',
  'hiway',
  'highwy',
  'hway',
  'hgwy',
  'hghwy',
  'hiwy',
  'hywy',
  'hwys',
  'highways',
  'hghwys',
])
const ROUTE = new Set(['route', 'rte', 'rt'])
const ROAD = new Set(['road', 'rd'])
const BRANCHES = new Map(
  Object.entries({
    business: 'bus',
    bus: 'bus',
    bypass: 'byp',
    byp: 'byp',
    alternate: 'alt',
    alt: 'alt',
    altn: 'alt',
    truck: 'truck',
    spur: 'spur',
    loop: 'loop',
    scenic: 'scenic',
    frontage: 'frontage',
    frtg: 'frontage',
    connector: 'connector',
  }),
)
/** Branches that are told before the road as well: `Business US 41`, `US Alt 41`. */
const LEADING_BRANCHES = new Set(['business', 'bus', 'bypass', 'byp', 'alternate', 'alt', 'altn'])
const NUMBER_SIGNS = new Set(['#', 'no', 'num', 'number'])
const PREFIXES = new Set(['old', 'new', 'historic', 'former'])
/** A road word and its number in one: `us41`, `rt17`. */
const GLUED = /^(us|ih?|sr|sh|cr|fm|rm|rt|rte|route|hwy|highway)(\d+[a-z]?)$/

const isKind = (word: string | undefined) =>
  word !== undefined && (HIGHWAY.has(word) || ROUTE.has(word) || ROAD.has(word))
const isNumber = (word: string | undefined) =>
  word !== undefined && /^\d+[a-z]?$|^\d+-\d+$|^a1a$/.test(word)
/** Letters that name roads: `County Road AA`, Missouri's `Highway Y`. */
const isLettered = (word: string | undefined) =>
  word !== undefined &&
  /^[a-z]{1,2}$/.test(word) &&
  (word.length === 1 || (suffix(word) === undefined && direction(word) === undefined))

interface System {
  readonly name: string
  /** Where its number should stand. */
  readonly at: number
  /** Whether letters may stand for a number; `safe` ones are not directionals. */
  readonly letters: 'none' | 'safe' | 'all'
  /** Words that may follow the number and say nothing more. */
  readonly tail: ReadonlySet<string> | null
}

/**
 * `North Carolina Hwy 42`, `NC Hwy 42`, `NC 42`: the state's own road where it is that of the
 * address.
 */
function stateSystem(tokens: readonly string[], at: number, state: string): System | null {
  for (const words of [2, 1]) {
    if (at + words >= tokens.length) continue
    const code = stateCode(words === 2 ? `${tokens[at]} ${tokens[at + 1]}` : wordAt(tokens, at))
    if (code === null) continue
    let next = at + words
    if (tokens[next] === 'state') next++
    const kind = wordAt(tokens, next)
    const isRoad = isKind(kind)
    // `Co Rd 12` is the county's, and in Colorado `Co Hwy 12` may be either's.
    if (code === 'CO' && words === 1 && isRoad) return null
    // `Georgia Rd 5` is a door of Georgia Road.
    if (isRoad && ROAD.has(kind) && tokens[next - 1] !== 'state') return null
    if (!isRoad && code !== state) continue
    return {
      name: code === state ? 'sr' : `${code.toLowerCase()} hwy`,
      at: isRoad ? next + 1 : next,
      letters: 'none',
      tail: isRoad ? null : HIGHWAY,
    }
  }
  return null
}

/** The system that words name, by the words alone; null where they name none. */
function systemAt(tokens: readonly string[], at: number, state: string): System | null {
  return (
    federalSystem(tokens, at) ??
    ownStateSystem(tokens, at) ??
    countySystem(tokens, at, state) ??
    marketSystem(tokens, at) ??
    plainHighway(tokens, at)
  )
}

/** Behind some words, and a road word that follows them. */
function afterKind(tokens: readonly string[], at: number): number {
  return isKind(tokens[at]) ? at + 1 : at
}

/** `US 41`, `U S 41`, `Interstate 75`. */
function federalSystem(tokens: readonly string[], at: number): System | null {
  switch (tokens[at]) {
    case 'us':
      return { name: 'us', at: afterKind(tokens, at + 1), letters: 'none', tail: HIGHWAY }
    case 'u':
      return tokens[at + 1] === 's'
        ? { name: 'us', at: afterKind(tokens, at + 2), letters: 'none', tail: HIGHWAY }
        : null
    case 'interstate':
    case 'i':
    case 'ih':
      return { name: 'i', at: afterKind(tokens, at + 1), letters: 'none', tail: null }
    default:
      return null
  }
}

/** `State Rd 41`, `SR 41`, `S R 41`, `State Trunk Hwy 41`. */
function ownStateSystem(tokens: readonly string[], at: number): System | null {
  const [word, second, third] = [tokens[at], tokens[at + 1], tokens[at + 2]]
  switch (word) {
    case 's':
      return second === 'r' || second === 'h'
        ? { name: 'sr', at: at + 2, letters: 'none', tail: null }
        : null
    case 'sr':
    case 'sh':
    case 'srt':
    case 'srte':
    case 'sth':
      return { name: 'sr', at: at + 1, letters: 'safe', tail: null }
    case 'state':
    case 'st':
      return isKind(second)
        ? { name: 'sr', at: at + 2, letters: 'safe', tail: null }
        : second === 'trunk' && isKind(third)
          ? { name: 'sr', at: at + 3, letters: 'safe', tail: null }
          : null
    default:
      return null
  }
}

/** Roads of counties and townships: `County Rd 12`, `CR 12`, `C R 12`, `Twp Rd 12`. */
function countySystem(tokens: readonly string[], at: number, state: string): System | null {
  const [word, second] = [tokens[at], tokens[at + 1]]
  switch (word) {
    case 'c':
      return second === 'r' ? { name: 'cr', at: at + 2, letters: 'none', tail: null } : null
    case 'cr':
    case 'cth':
    case 'csah':
      return { name: 'cr', at: at + 1, letters: 'all', tail: null }
    case 'county':
    case 'cnty':
    case 'cty':
    case 'co':
      // In Colorado `Co Hwy 12` may be the state's.
      if (word === 'co' && state === 'CO' && second !== undefined && HIGHWAY.has(second))
        return null
      return isKind(second)
        ? { name: 'cr', at: at + 2, letters: 'all', tail: null }
        : second === 'trunk'
          ? { name: 'cr', at: afterKind(tokens, at + 2), letters: 'all', tail: null }
          : null
    case 'township':
    case 'twp':
      return isKind(second) ? { name: 'twp', at: at + 2, letters: 'none', tail: null } : null
    case 'tr':
      return { name: 'twp', at: at + 1, letters: 'none', tail: null }
    default:
      return null
  }
}

/** Texas' `FM 12`, `Farm to Market 12`, `Ranch Rd 12`. */
function marketSystem(tokens: readonly string[], at: number): System | null {
  const [word, second, third] = [tokens[at], tokens[at + 1], tokens[at + 2]]
  const toMarket = second === 'to' && third === 'market'
  switch (word) {
    case 'f':
      return second === 'm' ? { name: 'fm', at: at + 2, letters: 'none', tail: ROAD } : null
    case 'fm':
      return { name: 'fm', at: afterKind(tokens, at + 1), letters: 'none', tail: ROAD }
    case 'farm':
      return toMarket
        ? { name: 'fm', at: afterKind(tokens, at + 3), letters: 'none', tail: ROAD }
        : null
    case 'rm':
    case 'rr':
      return { name: 'rm', at: afterKind(tokens, at + 1), letters: 'none', tail: ROAD }
    case 'ranch':
      return toMarket
        ? { name: 'rm', at: afterKind(tokens, at + 3), letters: 'none', tail: ROAD }
        : second !== undefined && ROAD.has(second)
          ? { name: 'rm', at: at + 2, letters: 'none', tail: null }
          : null
    default:
      return null
  }
}

/** `Hwy 41`, `Hwy US 41`, `Route 9`: whose road it is, it does not say. */
function plainHighway(tokens: readonly string[], at: number): System | null {
  const word = wordAt(tokens, at)
  if (HIGHWAY.has(word) && tokens[at + 1] === 'us')
    return { name: 'us', at: at + 2, letters: 'none', tail: null }
  if (HIGHWAY.has(word)) return { name: 'hwy', at: at + 1, letters: 'safe', tail: null }
  return ROUTE.has(word) ? { name: 'rt', at: at + 1, letters: 'safe', tail: null } : null
}

/** Road words apart from the numbers they are glued to. */
export function unglued(tokens: string[], from: number): string[] {
  for (let i = from; i < tokens.length; i++) {
    const match = GLUED.exec(wordAt(tokens, i))
    if (match) tokens.splice(i, 1, ...match.slice(1))
  }
  return tokens
}

/**
 * The numbered road at a token, `state` being the address's own; null where a name stands there.
 */
export function roadAt(tokens: readonly string[], from: number, state: string): Road | null {
  const { prefix, branches, at } = leadingWords(tokens, from)
  // Missouri's "13 Hwy".
  if (isNumber(tokens[at]) && HIGHWAY.has(wordAt(tokens, at + 1)))
    return ended(tokens, at + 2, {
      name: `${prefix}hwy ${tokens[at]}`,
      branch: '',
      leading: branches,
    })
  const system = stateSystem(tokens, at, state) ?? systemAt(tokens, at, state)
  if (!system) return null
  const branch = isNumber(tokens[system.at + 1]) ? leadingBranch(tokens[system.at]) : undefined
  const start = branch === undefined ? system.at : system.at + 1
  const number = numberAt(tokens, isSigned(tokens, start, system) ? start + 1 : start, system)
  if (!number) return null
  const isTailed = system.tail?.has(wordAt(tokens, number.next)) === true
  return ended(tokens, isTailed ? number.next + 1 : number.next, {
    name: `${prefix}${system.name} ${number.text}`,
    branch: number.branch,
    leading: branch === undefined ? branches : [...branches, branch],
  })
}

const leadingBranch = (word: string | undefined) =>
  word !== undefined && LEADING_BRANCHES.has(word) ? BRANCHES.get(word) : undefined

/** What stands before a road: `Old`, `Business`. */
function leadingWords(
  tokens: readonly string[],
  from: number,
): { prefix: string; branches: readonly string[]; at: number } {
  let prefix = ''
  const branches: string[] = []
  for (let at = from; ; at++) {
    const word = wordAt(tokens, at)
    const branch = leadingBranch(word)
    if (PREFIXES.has(word)) prefix += `${word} `
    else if (branch !== undefined) branches.push(branch)
    else return { prefix, branches, at }
  }
}

/**
 * Whether a sign stands before the road's number: `Highway #33` and `County Rd No 33` are numbered
 * 33; `State Rd #33` is a door. No house of a road that is called County Road has as many doors as
 * `County Rd #100` would take.
 */
function isSigned(tokens: readonly string[], at: number, { name }: System): boolean {
  const [sign, number] = [wordAt(tokens, at), wordAt(tokens, at + 1)]
  if (!NUMBER_SIGNS.has(sign) || !isNumber(number)) return false
  const isDoor = sign === '#' && ROAD.has(wordAt(tokens, at - 1))
  return !isDoor || (name === 'cr' && /^\d{3,}$/.test(number))
}

/** The number of a road, or several of one: `12`, `12 and 14`; `branch` is the N of `12n`. */
function numberAt(
  tokens: readonly string[],
  at: number,
  system: System,
): { text: string; branch: string; next: number } | null {
  const first = wordAt(tokens, at)
  const isCounty = system.name === 'cr'
  const isSafe =
    system.letters === 'all' || (system.letters === 'safe' && direction(first) === undefined)
  if (!isNumber(first) && !(isSafe && isLettered(first)) && !(isCounty && /^[a-z]\d+$/.test(first)))
    return null
  const [, digits = first, branch = ''] = /^(\d+)([nsew])$/.exec(first) ?? []
  let next = at + 1
  // Iowa's County Road E 29 is E29.
  const isApart = isCounty && /^[a-z]$/.test(first) && /^\d+$/.test(wordAt(tokens, next))
  const numbers = [isApart ? digits + wordAt(tokens, next++) : digits]
  for (; ; next++) {
    const word = wordAt(tokens, next)
    const isMore = word === 'and' && isNumber(tokens[next + 1])
    if (isNumber(word) && !/[a-z]/.test(word)) numbers.push(word)
    else if (!isMore) return { text: numbers.join('-'), branch, next }
  }
}

/** Directionals and branches behind the number, in either order: `70 W Bus` is `70 Bus W`. */
function ended(
  tokens: readonly string[],
  from: number,
  { name, branch, leading }: { name: string; branch: string; leading: readonly string[] },
): Road {
  const branches = [...leading]
  let after = branch
  let at = from
  for (; at < tokens.length; at++) {
    const word = wordAt(tokens, at)
    const kind = BRANCHES.get(word)
    const way = direction(word)
    if (kind !== undefined) {
      branches.push(kind)
      if (kind === 'frontage' && ROAD.has(tokens[at + 1] ?? '')) at++
    } else if (way !== undefined && word !== 'no' && word !== 'so')
      after += `${after === '' ? '' : ' '}${way}`
    else break
  }
  return {
    name: [name, ...branches.sort()].join(' '),
    after,
    next: at,
    isEnded: at > from || branch !== '',
  }
}
