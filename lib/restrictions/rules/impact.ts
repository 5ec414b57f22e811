/** What a change of the rules would do to the live catalog, state by state. */
import { nextTurn } from '../../core/async/wait.js'
import { attributesOf, restrictedStatesOf } from '../../catalog/queries.js'
import type { Snapshot } from '../../catalog/snapshot/snapshot.js'
import { dayOf } from '../../core/clock.js'
import type { RestrictionsCtx } from '../ctx.js'
import { NO_STATES, statesIn } from '../../places/state-set.js'
import { STATES } from '../../places/states.js'
import { NO_FLAGS } from '../feed-flags.js'
import { judge } from '../check.js'
import { indexRules } from './compile.js'
import type { CompiledRule } from './compile.js'
import { placeOf } from '../destination.js'
import type { ItemFacts } from './predicates.js'
import { itemFacts } from '../item-facts.js'
import type { FactSources } from '../item-facts.js'
import type { Rule } from './rule.js'
import { distidOf, productClassOf, upcKeyOf } from '../../catalog/snapshot/offer.js'

/** Offers by what the rules say of them. */
export interface Verdicts {
  approved: number
  held: number
  blocked: number
}

export interface StateImpact {
  state: string
  before: Verdicts
  after: Verdicts
  /** Offers whose verdict changes. */
  changed: number
}

/** Offers that are alike in everything that a rule may ask of. */
interface Group {
  facts: ItemFacts
  offers: number
  /** Of these, those that their distributor does not ship to a state: blocked, whatever the rules. */
  flagged: Map<string, number>
}

/** How many steps are taken before others have their turn. */
const STEPS = 2_000

/**
 * Judges every offer of the catalog for every state and territory, before and after a change; of a
 * destination only the state is taken for known, so rules of cities and counties hold an offer.
 * States in which nothing changes are left out.
 */
export async function rulesImpact(
  ctx: RestrictionsCtx,
  after: readonly Rule[],
): Promise<{ offers: number; states: StateImpact[] }> {
  const snapshot = ctx.catalog.current()
  if (!snapshot) return { offers: 0, states: [] }
  const sets = [ctx.rules.active(), { digest: '', index: indexRules(after) }] as const
  const groups = await groupOffers(snapshot, [...sets[0].index.rules, ...sets[1].index.rules], {
    readAttributes: attributesOf(ctx.engine.catalog),
    readStates: restrictedStatesOf(ctx.engine.catalog),
  })
  const day = dayOf(ctx.now())
  const states: StateImpact[] = []
  for (const state of Object.keys(STATES)) {
    const place = placeOf({ state })
    const impact = { state, before: nobody(), after: nobody(), changed: 0 }
    let step = 0
    for (const { facts, offers, flagged } of groups) {
      const blocked = flagged.get(state) ?? 0
      const free = offers - blocked
      const [was, is] = sets.map((set) =>
        verdict(judge({ active: set, overrides: [] }, facts, { place, day }, {})),
      ) as [keyof Verdicts, keyof Verdicts]
      for (const verdicts of [impact.before, impact.after]) verdicts.blocked += blocked
      impact.before[was] += free
      impact.after[is] += free
      if (was !== is) impact.changed += free
      if (++step % STEPS === 0) await nextTurn()
    }
    if (impact.changed > 0) states.push(impact)
  }
  return { offers: snapshot.rows, states }
}

const nobody = (): Verdicts => ({ approved: 0, held: 0, blocked: 0 })

function verdict({ approved, blocking_rules: blocked }: ReturnType<typeof judge>): keyof Verdicts {
  return approved ? 'approved' : blocked.length > 0 ? 'blocked' : 'held'
}

/**
 * A million offers are some thousand kinds: rules ask for classes, categories and a few attributes.
 */
async function groupOffers(
  snapshot: Snapshot,
  rules: readonly CompiledRule[],
  texts: Pick<FactSources, 'readAttributes' | 'readStates'>,
): Promise<Group[]> {
  const asked = {
    upcs: new Set(rules.flatMap(({ upcs }) => [...(upcs ?? [])])),
    skus: new Set(rules.flatMap(({ skus }) => [...(skus ?? [])])),
    attributes: new Set(rules.flatMap(({ predicates }) => predicates.map(({ name }) => name))),
    distids: rules.some(({ distids }) => distids !== null),
  }
  const groups = new Map<string, Group>()
  for (let row = 0; row < snapshot.rows; row++) {
    const distid = distidOf(snapshot, row)
    const sku = snapshot.sku(row)
    const upcKey = upcKeyOf(snapshot, row)
    const { flags, ...rest } = itemFacts({ distid, sku } as Parameters<typeof itemFacts>[0], {
      snapshot: only(snapshot, row),
      ...texts,
    })
    const facts = { ...rest, flags: NO_FLAGS }
    const values = [...facts.attributes].filter(([name]) => asked.attributes.has(name))
    const key = JSON.stringify([
      productClassOf(snapshot, row),
      snapshot.category[row],
      snapshot.fflReq.has(row),
      asked.distids ? distid : '',
      values,
      asked.upcs.has(upcKey) ? upcKey : 0,
      asked.skus.has(sku.toLowerCase()) ? sku : '',
    ])
    let group = groups.get(key)
    if (!group) groups.set(key, (group = { facts, offers: 0, flagged: new Map() }))
    group.offers++
    for (const state of statesIn(flags.offers[0]?.states ?? NO_STATES))
      group.flagged.set(state, (group.flagged.get(state) ?? 0) + 1)
    if (row % STEPS === 0) await nextTurn()
  }
  return [...groups.values()]
}

/** The snapshot as if it held one offer. */
function only(snapshot: Snapshot, row: number): Snapshot {
  return { ...snapshot, skuRows: () => [row], upcRows: () => [row] }
}
