/** Rules made ready to be looked up: by the state and by the product that they speak of. */
import { gtinKey } from '../core/gtin.js'
import { attributeName, describeOpposite } from './attributes.js'
import { conditionsOf } from './conditions.js'
import type { Condition, Wanted } from './conditions.js'
import type { Place, Possible } from './destination.js'
import type { ItemFacts } from './evaluate.js'
import type { Rule } from './rule.js'

export interface CompiledRule extends Wanted {
  readonly rule: Rule
  /** Its place in the set, which is the order of answers. */
  readonly order: number
  /** All must hold; one that is not known leaves the rule open. */
  readonly conditions: readonly Condition[]
  /** Of `match.attributes`, as items call them. */
  readonly attributeNames: readonly string[]
  /** What would keep it from applying, in words; empty where nothing about the item would. */
  readonly wouldChange: readonly string[]
}

export interface RuleIndex {
  readonly rules: readonly CompiledRule[]
  /** Rules that may speak of an item and a place, on the day `YYYY-MM-DD`; each once, in no order. */
  candidates(item: ItemFacts, place: Place, day: string): CompiledRule[]
}

export function compileRule(rule: Rule, order: number): CompiledRule {
  const { scope, match } = rule
  const set = <T>(values: readonly T[] | undefined) => values ? new Set(values) : null
  const wanted: Wanted = {
    states: set(scope.state),
    upcs: set(match.upc?.map((upc) => gtinKey(upc)!)),
    skus: set(match.sku?.map((sku) => sku.toLowerCase())),
    distids: set(match.distid),
    classes: set<string>(match.product_class),
    categories: set(match.category?.map((category) => category.toLowerCase())),
  }
  return {
    rule, order, ...wanted,
    conditions: conditionsOf(rule, wanted),
    attributeNames: (match.attributes ?? []).map(({ name }) => attributeName(name)),
    wouldChange: [...(match.attributes ?? []).map(describeOpposite), ...rule.destination === 'consumer' ? ['shipment to a licensed dealer'] : []],
  }
}

/** Rules of one state by the narrowest thing that they ask of a product. */
interface Shelf {
  upc: Postings<number>
  sku: Postings<string>
  category: Postings<string>
  productClass: Postings<string>
  /** Rules that ask for none of these. */
  rest: CompiledRule[]
}

interface Postings<T> {
  by: Map<T, CompiledRule[]>
  /** Each rule once: what may apply when the fact is not known. */
  all: CompiledRule[]
}

const ANYWHERE = ''

/** Builds the index; about 50 ms for 10,000 rules. */
export function indexRules(rules: readonly Rule[]): RuleIndex {
  const compiled = rules.map(compileRule)
  const shelves = new Map<string, Shelf>()
  for (const rule of compiled) {
    for (const state of rule.states ?? [ANYWHERE]) {
      let shelf = shelves.get(state)
      if (!shelf) shelves.set(state, shelf = { upc: postings(), sku: postings(), category: postings(), productClass: postings(), rest: [] })
      place(shelf, rule)
    }
  }
  return {
    rules: compiled,
    candidates(item, { states }, day) {
      const found: CompiledRule[] = []
      for (const state of states.values) collect(shelves.get(state), item, day, found)
      collect(shelves.get(ANYWHERE), item, day, found)
      // A rule stands on one shelf of a state in one kind of postings: only a fact of several values meets it twice.
      const isPlain = [states, item.upc, item.sku, item.category, item.productClass].every(({ values }) => values.size < 2)
      return isPlain ? found : [...new Set(found)]
    },
  }
}

const postings = <T>(): Postings<T> => ({ by: new Map(), all: [] })

function place(shelf: Shelf, rule: CompiledRule): void {
  if (rule.upcs) post(shelf.upc, rule.upcs, rule)
  else if (rule.skus) post(shelf.sku, rule.skus, rule)
  else if (rule.categories) post(shelf.category, rule.categories, rule)
  else if (rule.classes) post(shelf.productClass, rule.classes, rule)
  else shelf.rest.push(rule)
}

function post<T>({ by, all }: Postings<T>, values: ReadonlySet<T>, rule: CompiledRule): void {
  all.push(rule)
  for (const value of values) {
    const known = by.get(value)
    if (known) known.push(rule)
    else by.set(value, [rule])
  }
}

function collect(shelf: Shelf | undefined, item: ItemFacts, day: string, found: CompiledRule[]): void {
  if (!shelf) return
  pick(shelf.upc, item.upc, day, found)
  pick(shelf.sku, item.sku, day, found)
  pick(shelf.category, item.category, day, found)
  pick(shelf.productClass, item.productClass, day, found)
  take(shelf.rest, day, found)
}

function pick<T>({ by, all }: Postings<T>, { values, known }: Possible<T>, day: string, found: CompiledRule[]): void {
  if (!known) return take(all, day, found)
  for (const value of values) take(by.get(value), day, found)
}

function take(rules: readonly CompiledRule[] | undefined, day: string, found: CompiledRule[]): void {
  if (rules) for (const rule of rules) if (isEffective(rule.rule, day)) found.push(rule)
}

/** Both days are inclusive. */
export function isEffective({ effective_from: from, effective_to: to }: Rule, day: string): boolean {
  return (from === null || from <= day) && (to === null || day <= to)
}
