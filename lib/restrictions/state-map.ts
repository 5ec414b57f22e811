/** What the rules block of a product class, state by state: the check's own rules and overrides. */
import { nextTurn } from '../core/async/wait.js'
import { dayOf } from '../core/clock.js'
import type { Subscriber } from '../accounts/caller.js'
import type { ProductClass } from '../distributors/product-classes.js'
import { STATES } from '../places/states.js'
import type { StateCode } from '../places/states.js'
import type { RestrictionsCtx } from './ctx.js'
import { placeOf } from './destination.js'
import { evaluate } from './evaluate.js'
import { destinationOf, itemFacts } from './item-facts.js'
import type { RuleSet } from './check.js'
import type { CompiledRule } from './rules/compile.js'
import { findOverrides } from './rules/overrides.js'
import type { When } from './rules/overrides.js'
import type { ItemFacts } from './rules/predicates.js'
import type { Rule } from './rules/rule.js'

/** How much of a class a rule blocks in a state. */
export type Extent = 'some' | 'all'

export interface BlockingRule {
  rule: Rule
  /** `all`: whatever the item, wherever in the state. */
  extent: Extent
  /** What tells whether an item is blocked: attributes, `upc`, `city`, ... */
  depends_on: string[]
}

export interface LiftedRule {
  rule_id: string
  author: string
  reason: string
  /** The last day, `YYYY-MM-DD`; null for no end. */
  expires: string | null
}

export interface StateBlocks {
  state: StateCode
  extent: 'none' | Extent
  blocking: BlockingRule[]
  /** Rules that an override lifts for the whole class here. */
  lifted: LiftedRule[]
  /** How many rules have a person decide. */
  reviews: number
}

export interface MapInput {
  productClass: ProductClass
  /** As a check would take it by default: `ffl` for firearms, else `consumer`. */
  to?: 'consumer' | 'ffl' | undefined
  /** Whose overrides count; nobody's by default. */
  subscriber?: Subscriber | undefined
}

export interface StateMap {
  digest: string
  to: 'consumer' | 'ffl'
  states: StateBlocks[]
}

/**
 * Asks the active rules about an item of which nothing but the class is known, in each state. What
 * distributors' feeds flag belongs to an offer, not to a class, and does not count.
 */
export async function mapStates(ctx: RestrictionsCtx, input: MapInput): Promise<StateMap> {
  const { productClass, to = destinationOf(productClass), subscriber } = input
  const active = ctx.rules.active()
  const overrides = subscriber ? ctx.rules.overridesOf(subscriber) : []
  const item = itemFacts(
    { product_class: productClass },
    { snapshot: null, readAttributes: () => null },
    to,
  )
  const day = dayOf(ctx.now())
  const states: StateBlocks[] = []
  for (const state of Object.keys(STATES) as StateCode[]) {
    const when = { place: placeOf({ state }), day }
    states.push({ state, ...blocksOf({ active, overrides }, item, when) })
    await nextTurn()
  }
  return { digest: active.digest, to, states }
}

/** What a set of rules and overrides blocks of items of a kind, at a place. Pure. */
export function blocksOf(
  { active, overrides }: RuleSet,
  item: ItemFacts,
  { place, day }: When,
): Omit<StateBlocks, 'state'> {
  const found = active.index
    .candidates(item, place, day)
    .sort((a, b) => a.order - b.order)
    .flatMap((rule) => reachOf(rule, item, { place, day }))
  const held = findOverrides(overrides, item, { place, day })
  const allows = held.filter(({ override }) => override.effect === 'allow')
  const blocking: BlockingRule[] = []
  const lifted: LiftedRule[] = []
  for (const reach of found.filter(({ rule }) => rule.kind === 'BLOCK')) {
    const lifts = allows.filter(({ override }) => override.ruleIds.has(reach.rule.rule_id))
    const whole = lifts.find(({ finding }) => finding.certain)
    if (whole) {
      const { author, reason, expires } = whole.override
      lifted.push({ rule_id: reach.rule.rule_id, author, reason, expires })
    } else blocking.push(lifts.length > 0 ? { ...reach, extent: 'some' } : reach)
  }
  for (const { override } of held)
    if (override.effect === 'block') blocking.push(...reachOf(override.rule, item, { place, day }))
  return {
    extent: blocking.some(({ extent }) => extent === 'all')
      ? 'all'
      : blocking.length > 0
        ? 'some'
        : 'none',
    blocking,
    lifted,
    reviews: found.filter(({ rule }) => rule.kind === 'MANUAL_REVIEW').length,
  }
}

/**
 * A rule that speaks of the place and of some such item. Of its attributes none is asked: whatever
 * the rule does where one is not known, an item whose attribute is known may be blocked or not.
 */
function reachOf(compiled: CompiledRule, item: ItemFacts, { place }: When): BlockingRule[] {
  const finding = evaluate({ ...compiled, predicates: [] }, item, place)
  if (!finding) return []
  const names = compiled.predicates.map(({ name }) => name)
  const dependsOn = [...new Set([...finding.missing, ...names])]
  return [
    {
      rule: compiled.rule,
      extent: dependsOn.length === 0 ? 'all' : 'some',
      depends_on: dependsOn,
    },
  ]
}
