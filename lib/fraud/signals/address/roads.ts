/**
 * Numbered roads: `US Hwy 41`, `US Route 41` and `US 41` are one; `State Rd 41`, `County Rd 41` and
 * `Hwy 41` are others.
 */
import { stateCode } from '../../../places/states.js'
import { direction, suffix } from './postal-words.js'

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
    const code = stateCode(words === 2 ? `${tokens[at]} ${tokens[at + 1]}` : tokens[at]!)
    if (code === null) continue
    let next = at + words
    if (tokens[next] === 'state') next++
    const kind = tokens[next]
    const isRoad = isKind(kind)
    // `Co Rd 12` is the county's, and in Colorado `Co Hwy 12` may be either's.
    if (code === 'CO' && words === 1 && isRoad) return null
    // `Georgia Rd 5` is a door of Georgia Road.
    if (isRoad && ROAD.has(kind!) && tokens[next - 1] !== 'state') return null
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
  const [word, second, third] = [tokens[at], tokens[at + 1], tokens[at + 2]]
  const after = (words: number) => (isKind(tokens[at + words]) ? at + words + 1 : at + words)
  switch (word) {
    case 'us':
      return { name: 'us', at: after(1), letters: 'none', tail: HIGHWAY }
    case 'u':
      return second === 's' ? { name: 'us', at: after(2), letters: 'none', tail: HIGHWAY } : null
    // S.R., C.R. and F.M. with blanks.
    case 's':
      return second === 'r' || second === 'h'
        ? { name: 'sr', at: at + 2, letters: 'none', tail: null }
        : null
    case 'c':
      return second === 'r' ? { name: 'cr', at: at + 2, letters: 'none', tail: null } : null
    case 'f':
      return second === 'm' ? { name: 'fm', at: at + 2, letters: 'none', tail: ROAD } : null
    case 'interstate':
    case 'i':
    case 'ih':
      return { name: 'i', at: after(1), letters: 'none', tail: null }
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
          ? { name: 'cr', at: after(2), letters: 'all', tail: null }
          : null
    case 'township':
    case 'twp':
      return isKind(second) ? { name: 'twp', at: at + 2, letters: 'none', tail: null } : null
    case 'tr':
      return { name: 'twp', at: at + 1, letters: 'none', tail: null }
    case 'fm':
      return { name: 'fm', at: after(1), letters: 'none', tail: ROAD }
    case 'farm':
      return second === 'to' && third === 'market'
        ? { name: 'fm', at: after(3), letters: 'none', tail: ROAD }
        : null
    case 'rm':
    case 'rr':
      return { name: 'rm', at: after(1), letters: 'none', tail: ROAD }
    case 'ranch':
      return second === 'to' && third === 'market'
        ? { name: 'rm', at: after(3), letters: 'none', tail: ROAD }
        : second !== undefined && ROAD.has(second)
          ? { name: 'rm', at: at + 2, letters: 'none', tail: null }
          : null
    default:
      if (word === undefined) return null
      if (HIGHWAY.has(word) && second === 'us')
        return { name: 'us', at: at + 2, letters: 'none', tail: null }
      if (HIGHWAY.has(word)) return { name: 'hwy', at: at + 1, letters: 'safe', tail: null }
      return ROUTE.has(word) ? { name: 'rt', at: at + 1, letters: 'safe', tail: null } : null
  }
}

/** Road words apart from the numbers they are glued to. */
export function unglued(tokens: string[], from: number): string[] {
  for (let i = from; i < tokens.length; i++) {
    const match = GLUED.exec(tokens[i]!)
    if (match) tokens.splice(i, 1, match[1]!, match[2]!)
  }
  return tokens
}

/**
 * The numbered road at a token, `state` being the address's own; null where a name stands there.
 */
export function roadAt(tokens: readonly string[], from: number, state: string): Road | null {
  let at = from
  let prefix = ''
  const branches: string[] = []
  for (; PREFIXES.has(tokens[at] ?? '') || LEADING_BRANCHES.has(tokens[at] ?? ''); at++) {
    if (PREFIXES.has(tokens[at]!)) prefix += `${tokens[at]} `
    else branches.push(BRANCHES.get(tokens[at]!)!)
  }
  // Missouri's "13 Hwy".
  if (isNumber(tokens[at]) && HIGHWAY.has(tokens[at + 1] ?? ''))
    return ended(tokens, at + 2, {
      name: `${prefix}hwy ${tokens[at]}`,
      branch: '',
      leading: branches,
    })
  const system = stateSystem(tokens, at, state) ?? systemAt(tokens, at, state)
  if (!system) return null
  at = system.at
  if (LEADING_BRANCHES.has(tokens[at] ?? '') && isNumber(tokens[at + 1]))
    branches.push(BRANCHES.get(tokens[at++]!)!)
  // `Highway #33` and `County Rd No 33` are numbered 33; `State Rd #33` is a door. No house of a
  // road that is called County Road has as many doors as `County Rd #100` would take.
  if (
    NUMBER_SIGNS.has(tokens[at] ?? '') &&
    isNumber(tokens[at + 1]) &&
    !(
      tokens[at] === '#' &&
      ROAD.has(tokens[at - 1]!) &&
      !(system.name === 'cr' && /^\d{3,}$/.test(tokens[at + 1]!))
    )
  )
    at++
  const first = tokens[at]
  const isSafe =
    system.letters === 'all' || (system.letters === 'safe' && direction(first) === undefined)
  if (
    !isNumber(first) &&
    !(isSafe && isLettered(first)) &&
    !(system.name === 'cr' && /^[a-z]\d+$/.test(first ?? ''))
  )
    return null
  const branch = /^(\d+)([nsew])$/.exec(first!)
  const numbers = [branch ? branch[1]! : first!]
  at++
  // Iowa's County Road E 29 is E29.
  if (system.name === 'cr' && /^[a-z]$/.test(first!) && /^\d+$/.test(tokens[at] ?? ''))
    numbers[0] += tokens[at++]!
  while (
    (isNumber(tokens[at]) && !/[a-z]/.test(tokens[at]!)) ||
    (tokens[at] === 'and' && isNumber(tokens[at + 1]))
  ) {
    if (tokens[at] !== 'and') numbers.push(tokens[at]!)
    at++
  }
  if (system.tail?.has(tokens[at] ?? '')) at++
  return ended(tokens, at, {
    name: `${prefix}${system.name} ${numbers.join('-')}`,
    branch: branch ? branch[2]! : '',
    leading: branches,
  })
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
    const word = tokens[at]!
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
