/**
 * One rule against one item and one destination. Every predicate is true, false, or not known: a
 * rule that is false in any of them does not apply; one that is not known in some may apply, and
 * then a person decides.
 */
import type { AttributeFact, ItemFacts, ReadyPredicate } from './rules/predicates.js'
import { countyOf } from '../places/counties.js'
import type { CompiledRule } from './rules/compile.js'
import { isInCity } from './destination.js'
import type { Place, Possible } from './destination.js'
import { askFact, describeMatch, some } from './rules/predicates.js'
import type { Rule } from './rules/rule.js'

export interface Finding {
  readonly rule: CompiledRule
  /** False: the rule may apply; what is missing would tell. */
  readonly certain: boolean
  /** The predicates that held, with the values that they met. */
  readonly met: string[]
  /** Facts that are not known. */
  readonly missing: string[]
}

/** Null when the rule does not apply. */
export function evaluate(rule: CompiledRule, item: ItemFacts, place: Place): Finding | null {
  const notes: Notes = { met: [], missing: [] }
  if (!meetsPlace(rule, place, notes) || !meetsItem(rule, item, notes)) return null
  return {
    rule,
    certain: notes.missing.length === 0,
    met: notes.met.map((say) => say()),
    missing: notes.missing,
  }
}

/** Most rules end at a later predicate: what held is put into words for those that do not. */
interface Notes {
  met: (() => string)[]
  missing: string[]
}

/** Notes what a predicate tells; false ends the rule. */
function note(answer: boolean | null, name: string, met: () => string, notes: Notes): boolean {
  if (answer === true) notes.met.push(met)
  else if (answer === null) notes.missing.push(name)
  return answer !== false
}

/**
 * Whether a fact is among the values of a rule: null where some of what it may be is, and some is
 * not.
 */
function among<T>({ values, known }: Possible<T>, wanted: ReadonlySet<T>): boolean | null {
  let inside = 0
  for (const value of values) if (wanted.has(value)) inside++
  if (!known) return null
  return inside === 0 ? false : inside === values.size ? true : null
}

const list = (values: Iterable<unknown>) => [...values].join(', ')

function meetsPlace(
  { rule: { scope }, states, counties, cities, isZip, mayLieIn }: CompiledRule,
  place: Place,
  notes: Notes,
): boolean {
  if (scope.country !== place.country) return false
  if (scope.country !== 'US') notes.met.push(() => `country is ${scope.country}`)
  if (
    states &&
    !note(
      among(place.states, states),
      'state',
      () => `state is ${list(place.states.values)}`,
      notes,
    )
  )
    return false
  const kinds = scope.place
  if (kinds && !kinds.some((kind) => place.kinds.has(kind))) return false
  if (kinds)
    notes.met.push(
      () =>
        'the place is of the kind ' +
        `${list(kinds.filter((kind) => place.kinds.has(kind))).replaceAll('_', ' ')}`,
    )
  if (
    counties &&
    !note(
      among(place.counties, counties),
      'county',
      () => `county is ${list([...place.counties.values].map((fips) => countyOf(fips)?.name))}`,
      notes,
    )
  )
    return false
  const inZip =
    place.zip !== null ? isZip?.(place.zip) : [...place.states.values].some(mayLieIn) ? null : false
  if (isZip && !note(inZip ?? null, 'zip', () => `ZIP is ${place.zip}`, notes)) return false
  if (!cities) return true
  const inCity = some(cities.map(({ state, name }) => isInCity(place, state, name)))
  return note(
    inCity,
    place.city === null || place.zip !== null ? 'city' : 'zip',
    () => `city is ${place.city ?? scope.city!.join(', ')}`,
    notes,
  )
}

/** Whether a rule's predicates of the item may hold, wherever it goes. */
export function meetsItem(compiled: CompiledRule, item: ItemFacts, notes: Notes): boolean {
  const { rule, destinations, upcs, skus, distids, classes, categories, predicates } = compiled
  // Of one class, it may yet be that one distributor ships it to dealers alone.
  if (
    destinations &&
    !note(
      among(item.destination, destinations),
      item.productClass.values.size === 1 ? 'distid' : 'product_class',
      () => (rule.destination === 'ffl' ? 'ships to a licensed dealer' : 'ships to the consumer'),
      notes,
    )
  )
    return false
  if (
    classes &&
    !note(
      among(item.productClass, classes),
      'product_class',
      () => `product_class is ${list(item.productClass.values)}`,
      notes,
    )
  )
    return false
  if (
    categories &&
    !note(
      among(item.category, categories),
      'category',
      () => `category is ${list(item.category.values)}`,
      notes,
    )
  )
    return false
  if (upcs && !note(among(item.upc, upcs), 'upc', () => 'its UPC is listed', notes)) return false
  if (
    distids &&
    !note(
      among(item.distid, distids),
      'distid',
      () => `distid is ${list(item.distid.values)}`,
      notes,
    )
  )
    return false
  if (skus && !note(among(item.sku, skus), 'sku', () => `sku is ${list(item.sku.values)}`, notes))
    return false
  return predicates.every((ready) =>
    meetsAttribute(rule, ready, item.attributes.get(ready.name), notes),
  )
}

function meetsAttribute(
  { unknown_attribute: unknown }: Rule,
  ready: ReadyPredicate,
  fact: AttributeFact | undefined,
  notes: Notes,
): boolean {
  const { predicate } = ready
  const answer = askFact(ready, fact)
  if (answer !== null)
    return note(answer, predicate.name, () => describeMatch(predicate, fact), notes)
  // A value that is given and cannot tell is never ignored.
  if (unknown === 'ignore' && !fact) return false
  if (unknown !== 'block') return note(null, predicate.name, () => '', notes)
  notes.met.push(() => `${predicate.name} is not known, and the rule holds until it is`)
  return true
}
