/** May these items go there? (contract "Restrictions") */
import { nextTurn } from '../core/async/wait.js'
import type { Subscriber } from '../accounts/caller.js'
import { dayOf } from '../core/clock.js'
import { attributesOf, restrictedStatesOf } from '../catalog/queries.js'
import type { Snapshot } from '../catalog/snapshot/snapshot.js'
import type { ActiveRules, Override, RestrictionsCtx } from './ctx.js'
import { invalid } from '../core/errors.js'
import { logDecision } from './decision-log.js'
import { placeOf, UNKNOWN } from './destination.js'
import type { Address, Place } from './destination.js'
import { evaluate } from './evaluate.js'
import { flagMatches, isFlagOf } from './feed-flags.js'
import type { ItemFacts } from './rules/predicates.js'
import type { Finding } from './evaluate.js'
import { itemFacts } from './item-facts.js'
import type { FactSources } from './item-facts.js'
import { applyOverrides, mayLift } from './rules/overrides.js'
import type { When } from './rules/overrides.js'
import { Day } from './rules/rule.js'
import type { CheckItem, CheckResult, MatchedRule } from './shapes.js'

export interface CheckInput {
  shipping: Address
  items: readonly (CheckItem & { to?: 'consumer' | 'ffl' })[]
  target?: string | null | undefined
  /** The day whose law holds, `YYYY-MM-DD`; today by default. */
  asOf?: string
  /** The catalog to ask; the newest one by default. */
  snapshot?: Snapshot
  /** Takes over to log the decision. */
  logLater?: (log: () => Promise<void>) => void
}

/**
 * Checks items against the active rules and the subscriber's overrides; nothing but memory and the
 * catalog is asked. The decision is logged with the digest of the rules. Throws 400 for an address
 * that cannot be one.
 */
export async function checkRestrictions(
  ctx: RestrictionsCtx,
  subscriber: Subscriber,
  input: CheckInput,
): Promise<CheckResult> {
  const active = ctx.rules.active()
  const overrides = ctx.rules.overridesOf(subscriber)
  const day = input.asOf ?? dayOf(ctx.now())
  if (!Day.safeParse(day).success) throw invalid('asOf', 'must be a day as YYYY-MM-DD')
  const place = placeOf(input.shipping)
  const sources = factSources(ctx, input.snapshot ?? ctx.catalog.current())
  const items: ItemResult[] = []
  for (const item of input.items) {
    // A hundred items of a hundred attributes each are work for several turns of the loop.
    if (items.length > 0 && items.length % TURN === 0) await nextTurn()
    items.push(
      judge({ active, overrides }, itemFacts(item, sources, item.to), { place, day }, item),
    )
  }
  const result = { approved: items.every(({ approved }) => approved), items }
  const decision = { digest: active.digest, place, target: input.target ?? null, result }
  const log = () => logDecision(ctx, subscriber, decision)
  if (input.logLater) input.logLater(log)
  else await log()
  return result
}

function factSources(ctx: RestrictionsCtx, snapshot: Snapshot | null): FactSources {
  const attributes = attributesOf(ctx.engine.catalog)
  const distidOf = (text: string) =>
    ctx.distributors.byDistid(text)?.distid ??
    ctx.distributors.all.find(({ distid, name }) =>
      [distid, name].some((one) => one.toLowerCase() === text.toLowerCase()),
    )?.distid ??
    snapshot?.distids.find((distid) => distid === text)
  return {
    snapshot,
    readAttributes: attributes,
    readStates: restrictedStatesOf(ctx.engine.catalog),
    nameOf: (distid) => ctx.distributors.byDistid(distid)?.name ?? distid,
    distidOf,
  }
}

/** A place in the United States of which nothing is known. */
const SOMEWHERE: Place = {
  country: 'US',
  states: UNKNOWN,
  counties: UNKNOWN,
  city: null,
  zip: null,
  kinds: new Set(),
}

/**
 * A function that tells the active rules and blocks of the subscriber that an item meets wherever
 * in the United States it goes, or whatever its state: what can be known without a destination. A
 * rule that an override
 * lifts at some place is not told. Nothing is logged.
 */
export function blocksAnywhere(
  ctx: RestrictionsCtx,
  subscriber: Subscriber,
  snapshot: Snapshot,
): (item: Pick<CheckItem, 'upc' | 'sku' | 'distid'>, to: 'consumer' | 'ffl') => MatchedRule[] {
  const active = ctx.rules.active()
  const overrides = ctx.rules.overridesOf(subscriber)
  const day = dayOf(ctx.now())
  const sources = factSources(ctx, snapshot)
  return (item, to) => {
    const facts = itemFacts(
      { ...item, product_class: undefined, category: undefined, attributes: undefined },
      sources,
      to,
    )
    const blocking = judge(
      { active, overrides },
      facts,
      { place: SOMEWHERE, day },
      item,
    ).blocking_rules
    return blocking.filter(
      ({ rule_id: id }) =>
        !overrides.some(
          (override) =>
            [...override.ruleIds].some((lifted) => isFlagOf(id, lifted)) &&
            mayLift(override, facts, day),
        ),
    )
  }
}

type ItemResult = CheckResult['items'][number]

/** Items that are judged in one turn of the loop. */
const TURN = 20

/** Rules, and what the operator has decided otherwise. */
export interface RuleSet {
  active: ActiveRules
  overrides: readonly Override[]
}

/** One item against a set of rules and overrides. Pure. */
export function judge(
  { active, overrides }: RuleSet,
  facts: ItemFacts,
  { place, day }: When,
  { upc, sku }: Partial<Pick<CheckItem, 'upc' | 'sku'>>,
): ItemResult {
  const findings = active.index
    .candidates(facts, place, day)
    .map((rule) => evaluate(rule, facts, place))
    .filter((finding) => finding !== null)
    .sort((a, b) => a.rule.order - b.rule.order)
  const lists: Pick<ItemResult, 'blocking_rules' | 'warnings' | 'manual_review'> = {
    blocking_rules: [],
    warnings: [],
    manual_review: [],
  }
  for (const finding of findings) lists[listOf(finding)].push(matchedRule(finding))
  for (const match of flagMatches(facts.flags, place))
    lists[match.kind === 'BLOCK' ? 'blocking_rules' : 'warnings'].push(match)
  if (place.country !== 'US') lists.manual_review.push(ABROAD)
  applyOverrides(lists, overrides, facts, { place, day })
  return {
    upc: upc ?? null,
    sku: sku ?? null,
    approved: lists.blocking_rules.length === 0 && lists.manual_review.length === 0,
    ...lists,
  }
}

/** A rule that may apply is for a person to decide; a warning stays one. */
function listOf({
  rule: {
    rule: { kind },
  },
  certain,
}: Finding): 'blocking_rules' | 'warnings' | 'manual_review' {
  if (kind === 'WARNING') return 'warnings'
  return kind === 'BLOCK' && certain ? 'blocking_rules' : 'manual_review'
}

function matchedRule(finding: Finding): MatchedRule {
  const {
    rule: { rule },
    certain,
    met,
  } = finding
  const missing = [...new Set(finding.missing)]
  const reason = certain
    ? met.join('; ') || 'it holds for every item and destination'
    : `would apply, depending on ${missing.join(', ')}, which ` +
      `${missing.length === 1 ? 'is' : 'are'} not ` +
      `known${met.length > 0 ? ` (${met.join('; ')})` : ''}`
  // One that only may apply blocks nothing: a person decides.
  const kind = certain || rule.kind === 'WARNING' ? rule.kind : 'MANUAL_REVIEW'
  return {
    rule_id: rule.rule_id,
    kind,
    customer_message: rule.customer_message,
    reason,
    missing,
    would_change: [...finding.rule.wouldChange],
    citations: rule.citations,
    effective_from: rule.effective_from,
  }
}

/**
 * Distributors ship within the United States; whatever else is asked of them needs an export
 * license.
 */
const ABROAD: MatchedRule = {
  rule_id: 'builtin.abroad',
  kind: 'MANUAL_REVIEW',
  customer_message: 'We cannot ship this item abroad without a review.',
  reason: 'the destination is outside of the United States',
  missing: [],
  would_change: ['a destination in the United States'],
  citations: [{ cite: '22 CFR 120-130; 15 CFR 730-774', url: null, retrieved: null }],
  effective_from: null,
}
