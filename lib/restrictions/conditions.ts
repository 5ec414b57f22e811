/** The conditions of a rule, made ready to be asked of many items. */
import { countyOf } from '../places/counties.js'
import { cityName } from '../places/names.js'
import { attributeName, describeMatch, listMeets, meets, some, unanimous } from './attributes.js'
import { isInCity } from './destination.js'
import type { Place, Possible } from './destination.js'
import type { AttributeFact, ItemFacts } from './evaluate.js'
import { countyCodes } from './rule.js'
import type { Predicate, Rule } from './rule.js'

export interface Condition {
  /** True, false, or null where it is not known. */
  answer(item: ItemFacts, place: Place): boolean | null
  /** The fact that would tell. */
  missing(item: ItemFacts, place: Place): string
  /** That it held, with the value that it met; null for what goes without saying. */
  met(item: ItemFacts, place: Place): string | null
}

/** What a rule asks for; null where it does not. */
export interface Wanted {
  readonly states: ReadonlySet<string> | null
  /** GTIN-14 values. */
  readonly upcs: ReadonlySet<number> | null
  /** Lower case. */
  readonly skus: ReadonlySet<string> | null
  readonly distids: ReadonlySet<string> | null
  readonly classes: ReadonlySet<string> | null
  /** Lower case. */
  readonly categories: ReadonlySet<string> | null
}

/** In the order in which a reason names them. */
export function conditionsOf(rule: Rule, wanted: Wanted): Condition[] {
  const { scope, match, destination } = rule
  return [
    { answer: (_item, place) => place.country === scope.country, missing: () => 'country', met: () => scope.country === 'US' ? null : `country is ${scope.country}` },
    ...oneOf('state', wanted.states, (_item, place) => place.states),
    ...scope.place ? [kindOfPlace(scope.place)] : [],
    ...oneOf('county', countyCodes(rule), (_item, place) => place.counties, (_item, place) => `county is ${list([...place.counties.values].map((fips) => countyOf(fips)?.name))}`),
    ...scope.zip ? [inZips(scope.zip)] : [],
    ...scope.city ? [inCities(scope.city, scope.state!)] : [],
    ...destination === 'any' ? [] : [sentTo(destination)],
    ...oneOf('product_class', wanted.classes, (item) => item.productClass),
    ...oneOf('category', wanted.categories, (item) => item.category),
    ...oneOf('upc', wanted.upcs, (item) => item.upc, () => 'its UPC is listed'),
    ...oneOf('distid', wanted.distids, (item) => item.distid),
    ...oneOf('sku', wanted.skus, (item) => item.sku),
    ...(match.attributes ?? []).map((predicate) => attributeMeets(predicate, rule.unknown_attribute)),
  ]
}

const list = (values: Iterable<unknown>) => [...values].join(', ')

/** Whether a fact is among the values of a rule: null where some of what it may be is, and some is not. */
function among<T>({ values, known }: Possible<T>, wanted: ReadonlySet<T>): boolean | null {
  if (!known) return null
  let inside = 0
  for (const value of values) if (wanted.has(value)) inside++
  return inside === 0 ? false : inside === values.size ? true : null
}

function oneOf<T>(name: string, wanted: ReadonlySet<T> | null, pick: (item: ItemFacts, place: Place) => Possible<T>, met?: Condition['met']): Condition[] {
  if (!wanted) return []
  return [{ answer: (item, place) => among(pick(item, place), wanted), missing: () => name, met: met ?? ((item, place) => `${name} is ${list(pick(item, place).values)}`) }]
}

function kindOfPlace(kinds: NonNullable<Rule['scope']['place']>): Condition {
  return {
    answer: (_item, place) => kinds.some((kind) => place.kinds.has(kind)),
    missing: () => 'place',
    met: (_item, place) => `the place is of the kind ${list(kinds.filter((kind) => place.kinds.has(kind))).replaceAll('_', ' ')}`,
  }
}

function inZips(zips: readonly string[]): Condition {
  const exact = new Set(zips.filter((zip) => !zip.endsWith('*')))
  const prefixes = zips.filter((zip) => zip.endsWith('*')).map((zip) => zip.slice(0, -1))
  return {
    answer: (_item, { zip }) => zip === null ? null : exact.has(zip) || prefixes.some((prefix) => zip.startsWith(prefix)),
    missing: () => 'zip',
    met: (_item, { zip }) => `ZIP is ${zip}`,
  }
}

function inCities(names: readonly string[], states: readonly string[]): Condition {
  const cities = names.flatMap((name) => states.map((state) => ({ state, name: cityName(name, state) })))
  return {
    answer: (_item, place) => some(cities.map(({ state, name }) => isInCity(place, state, name))),
    missing: (_item, { city, zip }) => city === null || zip !== null ? 'city' : 'zip',
    met: (_item, { city }) => `city is ${city ?? names.join(', ')}`,
  }
}

function sentTo(destination: 'consumer' | 'ffl'): Condition {
  const wanted = new Set([destination])
  return {
    answer: (item) => among(item.destination, wanted),
    // Of one class, it may yet be that one distributor ships it to dealers alone.
    missing: (item) => item.productClass.values.size === 1 ? 'distid' : 'product_class',
    met: () => destination === 'ffl' ? 'ships to a licensed dealer' : 'ships to the consumer',
  }
}

function attributeMeets(predicate: Predicate, unknown: Rule['unknown_attribute']): Condition {
  const name = attributeName(predicate.name)
  // A value that is given and cannot tell is never ignored.
  const instead = (isGiven: boolean) => unknown === 'block' ? true : unknown === 'ignore' && !isGiven ? false : null
  return {
    answer: (item) => told(predicate, item.attributes.get(name), name) ?? instead(item.attributes.has(name)),
    missing: () => predicate.name,
    met: ({ attributes }) => told(predicate, attributes.get(name), name) === null ? `${predicate.name} is not known, and the rule holds until it is` : describeMatch(predicate, [...new Set(attributes.get(name)?.flat())]),
  }
}

/** That an attribute is not told of does not prove that there is none. */
function told(predicate: Predicate, fact: AttributeFact | undefined, name: string): boolean | null {
  if (!fact) return predicate.op === 'exists' && !predicate.value ? true : null
  if (fact.length === 1 && fact[0]!.length === 1) return meets(fact[0]![0]!, predicate, name)
  return unanimous(fact.map((values) => listMeets(values, predicate, name)))
}
