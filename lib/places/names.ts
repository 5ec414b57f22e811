/** Names of cities and counties, so that two spellings of one place are equal. */
import { distance } from 'fastest-levenshtein'
import { STATES } from './states.js'
import type { StateCode } from './states.js'

const SHORT = new Map(
  Object.entries({
    st: 'saint',
    ste: 'sainte',
    ft: 'fort',
    mt: 'mount',
    mtn: 'mountain',
    n: 'north',
    s: 'south',
    e: 'east',
    w: 'west',
    pt: 'point',
    hts: 'heights',
    spgs: 'springs',
    vlg: 'village',
    jct: 'junction',
  }),
)

/**
 * `St. Louis`, `Saint Louis` and `SAINT-LOUIS` are one: lower case, no accents or punctuation,
 * abbreviations in full.
 */
export function placeName(text: string): string {
  const words = text
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/['’]/g, '')
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  return words.map((word) => SHORT.get(word) ?? word).join(' ')
}

/** What stands after a county's name, or before it. */
const COUNTY_WORDS =
  / (county|parish|city and borough|borough|census area|municipality|municipio|district|island|planning region|co)$/

/**
 * A county without its kind: `Cook County`, `Orleans Parish`, `City of Alexandria`, `Baltimore
 * city` -> the name alone.
 */
export function countyName(text: string): string {
  const name = placeName(text).replace(/^city and county of /, '')
  if (name.startsWith('city of ')) return `${name.slice(8)} city`
  return name.replace(/^(county|parish|borough|municipality) of /, '').replace(COUNTY_WORDS, '')
}

/** Boroughs and common names of cities that addresses use for them. */
const CITY_ALIASES = new Map(
  Object.entries({
    manhattan: 'new york',
    brooklyn: 'new york',
    bronx: 'new york',
    'the bronx': 'new york',
    queens: 'new york',
    'staten island': 'new york',
    'new york city': 'new york',
    nyc: 'new york',
    ny: 'new york',
    'washington dc': 'washington',
    'washington d c': 'washington',
    phila: 'philadelphia',
    'chi town': 'chicago',
    lodo: 'denver',
    la: 'los angeles',
    sf: 'san francisco',
    philly: 'philadelphia',
  }),
)

/** As `placeName`, with a borough as its city, and without the state behind it. */
export function cityName(text: string, state?: string): string {
  const name = placeName(text).replace(/^(?:the )?(?:city|town|village|borough) of /, '')
  const own = state === undefined ? name : withoutState(name, state)
  return CITY_ALIASES.get(own) ?? CITY_ALIASES.get(name) ?? own
}

/** `columbus oh` and `columbus ohio` are Columbus. */
function withoutState(name: string, state: string): string {
  for (const ending of [state.toLowerCase(), placeName(STATES[state as StateCode] ?? state)]) {
    if (name.endsWith(` ${ending}`) && name.length > ending.length + 1)
      return name.slice(0, -ending.length - 1)
  }
  return name
}

/** Whether two names differ by a slip of the hand only: `Colombus`, `Chigaco`. */
export function isNearName(a: string, b: string): boolean {
  return Math.min(a.length, b.length) >= 5 && distance(a, b) <= 2
}

/** Whether two names are one, blanks aside: `De Kalb` is `DeKalb`. */
export function isSameName(a: string, b: string): boolean {
  return a === b || a.replaceAll(' ', '') === b.replaceAll(' ', '')
}
