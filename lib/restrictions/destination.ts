/** Where an item goes, as far as it is known: every fact is the set of what it may be. */
import { invalid } from '../core/errors.js'
import { cityOfZip, hasZips, zipInCity } from '../places/cities.js'
import { countyOf, findCounties } from '../places/counties.js'
import { cityName, isNearName, isSameName } from '../places/names.js'
import { isMilitary, isTerritory, stateCode } from '../places/states.js'
import { countiesOfArea, placeOfZip } from '../places/zips.js'

/** What a fact may be. `known` false: it may be anything else too. */
export interface Possible<T> {
  readonly values: ReadonlySet<T>
  readonly known: boolean
}

export const UNKNOWN: Possible<never> = { values: new Set(), known: false }

export interface Address {
  country?: string | undefined
  state: string
  county?: string | undefined
  city?: string | undefined
  zip?: string | undefined
  /** Lines of the street, where they are known. */
  lines?: readonly string[]
}

export interface Place {
  readonly country: string
  /** Two-letter codes. */
  readonly states: Possible<string>
  /** FIPS codes. */
  readonly counties: Possible<string>
  /** The city as it was given; null where it was not. */
  readonly city: string | null
  /** 5 digits; null where it was not given. */
  readonly zip: string | null
  readonly kinds: ReadonlySet<'po_box' | 'military' | 'territory'>
}

/**
 * Throws 400 for a state that is none, and for a ZIP of another form; `path` is where the address
 * stands in the request.
 */
export function placeOf(address: Address, path = 'shipping'): Place {
  const country = (address.country ?? 'US').trim().toUpperCase()
  if (!/^[A-Z]{2}$/.test(country))
    throw invalid(`${path}.country`, 'must be the two letters of a country')
  const zip = address.zip?.trim() || null
  if (country !== 'US')
    return {
      country,
      states: single(address.state.trim().toUpperCase()),
      counties: UNKNOWN,
      city: givenCity(address),
      zip,
      kinds: new Set(),
    }
  const state = stateCode(address.state)
  if (!state)
    throw invalid(
      `${path}.state`,
      `"${address.state.slice(0, 40)}" is not a state; send its two letters`,
    )
  const digits = zip === null ? null : (/^(\d{5})(-?\d{4})?$/.exec(zip)?.[1] ?? null)
  if (zip !== null && digits === null) throw invalid(`${path}.zip`, 'must be 5 digits, or 5 and 4')
  const counties = countiesOf(state, address.county, digits, path)
  return {
    country,
    states: single(state),
    counties,
    city: givenCity(address, state) ?? (digits === null ? null : cityOfZip(digits)),
    zip: digits,
    kinds: kindsOf(state, address, digits),
  }
}

const single = <T>(value: T): Possible<T> => ({ values: new Set([value]), known: true })

function givenCity({ city }: Address, state?: string): string | null {
  return city === undefined || city.trim() === '' ? null : cityName(city, state)
}

/**
 * The county that was given, else those of the ZIP. A county that nobody knows is as if it were not
 * given. Throws 400 where ZIP and state, or ZIP and county, contradict each other: one of them is
 * wrong, and the rules of either might hold.
 */
function countiesOf(
  state: string,
  name: string | undefined,
  zip: string | null,
  path: string,
): Possible<string> {
  const ofZip = zip === null ? null : placeOfZip(zip)
  const near = (ofZip?.counties ?? []).filter((fips) => countyOf(fips)?.state === state)
  const isElsewhere = (digits: string) =>
    ofZip !== null &&
    ofZip.counties.length > 0 &&
    near.length === 0 &&
    (ofZip.exact || !areaStates(digits).has(state))
  if (zip !== null && (isElsewhere(zip) || contradictsIsland(zip, state)))
    throw invalid(`${path}.zip`, `${zip} does not lie in ${state}: one of the two is wrong`)
  const nearby: Possible<string> =
    near.length === 0 ? UNKNOWN : { values: new Set(near), known: true }
  if (name === undefined || name.trim() === '') return nearby
  const given = findCounties(state, name).map(({ fips }) => fips)
  if (given.length === 0) return nearby
  if (near.length === 0) return { values: new Set(given), known: true }
  const both = given.filter((fips) => near.includes(fips))
  if (both.length > 0) return { values: new Set(both), known: true }
  if (ofZip?.exact)
    throw invalid(
      `${path}.county`,
      `"${name.slice(0, 60)}" and ZIP ${zip} do not meet: one of the two is wrong`,
    )
  return { values: new Set(given), known: true }
}

/** ZIP codes of territories, which the Census has no areas of. */
const ISLANDS: [zips: RegExp, states: readonly string[]][] = [
  [/^00[679]/, ['PR']],
  [/^008/, ['VI']],
  [/^96799/, ['AS']],
  [/^969/, ['GU', 'MP', 'FM', 'MH', 'PW']],
]

function contradictsIsland(zip: string, state: string): boolean {
  const island = ISLANDS.find(([zips]) => zips.test(zip))
  return island ? !island[1].includes(state) : isTerritory(state)
}

/**
 * States that a ZIP, or every ZIP that begins as `606*`, may lie in; null where no figures tell, as
 * for military mail. It never leaves one out: of digits that are not ZIP area, all states of the
 * areas with the same first three count.
 */
export function statesOfZips(zips: string): ReadonlySet<string> | null {
  const prefix = zips.replace('*', '')
  const island = ISLANDS.find(([pattern]) => pattern.test(prefix))
  if (island) return new Set(island[1])
  const found = prefix.length === 5 ? placeOfZip(prefix) : null
  if (found?.exact) return new Set(found.counties.map((fips) => countyOf(fips)?.state ?? ''))
  const states = new Set<string>()
  const first = Number(prefix.slice(0, 3).padEnd(3, '0'))
  for (let area = first; area < first + 10 ** Math.max(0, 3 - prefix.length); area++) {
    const known = areaStates(String(area * 100))
    if (known.size === 0) return null
    for (const state of known) states.add(state)
  }
  // American Samoa's one ZIP lies among those of Hawaii.
  if ('96799'.startsWith(prefix)) states.add('AS')
  return states
}

/** States of every ZIP area with the same three digits. */
function areaStates(zip: string): Set<string> {
  return new Set(
    countiesOfArea(Math.floor(Number(zip) / 100)).map((fips) => countyOf(fips)?.state ?? ''),
  )
}

const PO_BOX =
  /\b(?:p[\s.-]*o[\s.-]*bo?x|post[\s.-]+office[\s.-]+box)(?![a-z])|\bp\.?o\.?b\.?\s*#?\d/i

/** ZIP codes of military mail, wherever the address says that it is. */
const MILITARY_ZIP = /^(09\d|340|96[2-6])/
const MILITARY_POST = /\b[afd]\.?\s?p\.?\s?o\b/i

function kindsOf(
  state: string,
  { lines = [], city = '' }: Address,
  zip: string | null,
): Place['kinds'] {
  const kinds = new Set<'po_box' | 'military' | 'territory'>()
  if ([...lines, city].some((line) => PO_BOX.test(line))) kinds.add('po_box')
  if (
    isMilitary(state) ||
    [...lines, city].some((line) => MILITARY_POST.test(line)) ||
    MILITARY_ZIP.test(zip ?? '')
  )
    kinds.add('military')
  if (isTerritory(state)) kinds.add('territory')
  return kinds
}

/** Whether a place is in a city, as far as its name and ZIP tell; `wanted` as `cityName` has it. */
export function isInCity(place: Place, state: string, wanted: string): boolean | null {
  const byZip = place.zip === null ? null : zipInCity(place.zip, state, wanted)
  if (place.city !== null && isSameName(place.city, wanted)) return true
  if (place.city === null) return byZip
  if (isNearName(place.city, wanted)) return null
  if (!hasZips(state, wanted)) return false
  // Another name may be that of a part of the city, or of a neighbour that shares its ZIP.
  return byZip === false ? false : null
}
