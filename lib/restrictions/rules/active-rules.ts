/**
 * The active rules, and how they change: whole sets by digest, so that every decision names what it
 * was made by.
 */
import type { ActiveRules, Override, RestrictionsCtx, Rules } from '../ctx.js'
import { createHash } from 'node:crypto'
import { audit } from '../../accounts/audit.js'
import { DAY, dayOf } from '../../core/clock.js'
import { invalid, refusalOf } from '../../core/errors.js'
import { byCodePoint } from '../../core/text.js'
import type { Engine } from '../../db/engine.js'
import { query } from '../../db/query.js'
import type { RowOf } from '../../db/query.js'
import { all, first } from '../../db/reading.js'
import { touch } from '../../db/state.js'
import type { ProductClass } from '../../distributors/product-classes.js'
import type { StateCode } from '../../places/states.js'
import { indexRules } from './compile.js'
import { readOverride } from './overrides.js'
import { Rule, overlaps } from './rule.js'
import { readRules } from './read-file.js'
import { STARTER_FAMILIES, starterRules } from './starter.js'
import type { StarterFamily } from './starter.js'

const activeSet = query((db) =>
  db
    .selectFrom('rule_set')
    .select(['rules', 'digest'])
    .where('digest', '=', (query) =>
      query.selectFrom('active_rule_set').select('digest').orderBy('seq', 'desc').limit(1),
    ),
)
const overridesInForce = query((db) =>
  db
    .selectFrom('rule_override')
    .select(['subscriber_id', 'id', 'effect', 'detail', 'author', 'reason', 'expires_at'])
    .where('withdrawn_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id'),
)

interface StoredOverrides {
  rows: RowOf<typeof overridesInForce>[]
  /** Compiled when they are first asked for. */
  overrides?: readonly Override[]
}

const NONE: readonly Override[] = []

/** Active rules and overrides in memory, read again when anybody changed them. */
export function openRules(engine: Engine): Rules {
  let last: ActiveRules | undefined
  const active = engine.remember('rules', function* () {
    const row = yield* first(activeSet)
    const digest = row?.digest ?? digestOf('[]')
    // An override touches the same state; the rules need not be compiled anew for it.
    return last?.digest === digest
      ? last
      : (last = { digest, index: indexRules(row ? (JSON.parse(row.rules) as Rule[]) : []) })
  })
  const stored = engine.remember('rules', function* () {
    const bySubscriber = new Map<string, StoredOverrides>()
    for (const row of yield* all(overridesInForce)) {
      const rows = bySubscriber.get(row.subscriber_id)?.rows
      if (rows) rows.push(row)
      else bySubscriber.set(row.subscriber_id, { rows: [row] })
    }
    return bySubscriber
  })
  return {
    active,
    overridesOf({ id }) {
      const own = stored().get(id)
      return own ? (own.overrides ??= own.rows.map(readOverride)) : NONE
    },
  }
}

const digestOf = (json: string) => createHash('sha256').update(json).digest('hex')

/** One text for one set, whatever the order of its rules. */
function serialize(rules: readonly Rule[]): string {
  return JSON.stringify(
    [...rules].sort((a, b) => byCodePoint(a.rule_id, b.rule_id) || a.version - b.version),
  )
}

export interface RuleChanges {
  added: string[]
  changed: string[]
  removed: string[]
  unchanged: number
  /**
   * Versions that were there, as `rule_id version`: those that incoming ones of the same rule take
   * the place of, and those that hold on beside them.
   */
  replaced: string[]
  kept: string[]
}

export interface RuleImport extends RuleChanges {
  digest: string
  rules: number
}

export interface ImportInput {
  /** JSON: an array of rules, or a rule a line. */
  text: string
  /** Where it comes from, such as the file's name. */
  origin: string
  /** Drops every rule that the text does not have; without it they stay. */
  replace?: boolean
  /**
   * Refuses an empty list, which is a slip more often than a wish and with `replace` leaves no
   * rule.
   */
  refuseEmpty?: boolean
}

/**
 * Takes rules in and makes them active at once: a rule takes the place of versions of its `rule_id`
 * that hold on one of its days or bear its number; other versions and rules stay. Throws 400 with
 * all faults, each with its line and reason, and with `refuseEmpty` for an empty list; then nothing
 * changes.
 */
export async function importRules(ctx: RestrictionsCtx, input: ImportInput): Promise<RuleImport> {
  const incoming = parseOrRefuse(ctx, input.text)
  if (incoming.length === 0 && input.refuseEmpty)
    throw invalid('rules', `the list is empty${input.replace ? ' and would leave no rule' : ''}`)
  return activate(ctx, incoming, { origin: input.origin, replace: input.replace ?? false })
}

/** What an import would change, rule by rule; nothing is written. */
export function diffRules(
  ctx: RestrictionsCtx,
  input: Pick<ImportInput, 'text' | 'replace'>,
): RuleChanges & { rules: Rule[] } {
  const { changes, rules } = mergeRules(
    currentRules(ctx),
    parseOrRefuse(ctx, input.text),
    input.replace ?? false,
  )
  return { ...changes, rules }
}

/**
 * Makes the starter set active beside the rules that are there, or some families of it. The
 * operator accepts that it is no legal advice.
 */
export async function acceptStarter(
  ctx: RestrictionsCtx,
  families?: readonly StarterFamily[],
): Promise<RuleImport> {
  const { rules, date } = starterRules(families)
  const origin = ['starter', date, ...(families ? [families.join(' ')] : [])].join(' ')
  return activate(ctx, rules, { origin, replace: false })
}

export interface StarterPart {
  family: StarterFamily
  rules: Rule[]
  /** How many of them are active as they stand here. */
  active: number
}

/** The starter set by families, with its date. */
export function showStarter(ctx: RestrictionsCtx): { date: string; families: StarterPart[] } {
  const known = new Set(currentRules(ctx).map((rule) => JSON.stringify(rule)))
  return {
    date: starterRules([]).date,
    families: STARTER_FAMILIES.map((family) => {
      const { rules } = starterRules([family])
      return {
        family,
        rules,
        active: rules.filter((rule) => known.has(JSON.stringify(rule))).length,
      }
    }),
  }
}

export interface RuleFilter {
  /** Those that name this state, or none. */
  state?: StateCode | undefined
  /** Those that name this product class, or none. */
  productClass?: ProductClass | undefined
}

/** The active rules that may concern a state or a class. */
export function findRules(ctx: RestrictionsCtx, { state, productClass }: RuleFilter): Rule[] {
  return currentRules(ctx).filter(
    ({ scope, match }) =>
      (state === undefined || !scope.state || scope.state.includes(state)) &&
      (productClass === undefined ||
        !match.product_class ||
        match.product_class.includes(productClass)),
  )
}

/** The rules that are active, in the order of their ids. */
export function currentRules(ctx: RestrictionsCtx): Rule[] {
  return ctx.rules.active().index.rules.map(({ rule }) => rule)
}

function parseOrRefuse(ctx: RestrictionsCtx, text: string): Rule[] {
  const { rules, faults } = readRules(text, dayOf(ctx.now()))
  if (faults.length === 0) return rules
  const details = faults.map(({ line, rule_id: id, reason }) => ({
    path: `line ${line}`,
    message: id === null ? reason : `${id}: ${reason}`,
  }))
  throw refusalOf('invalid_parameter', details)
}

/**
 * The set after an import. A version that begins later ends the one that holds now on the day
 * before; one that overlaps in any other way, or bears the same number, takes its place.
 */
function mergeRules(
  before: readonly Rule[],
  incoming: readonly Rule[],
  replace: boolean,
): { rules: Rule[]; changes: RuleChanges } {
  const byId = byRuleId(incoming)
  const isReplaced = (old: Rule) =>
    replace ||
    (byId.get(old.rule_id) ?? []).some(
      (rule) => rule.version === old.version || overlaps(rule, endedBy(old, rule)),
    )
  const kept = before
    .filter((old) => !isReplaced(old))
    .map((old) => (byId.get(old.rule_id) ?? []).reduce(endedBy, old))
  const rules = [...kept, ...incoming]
  const versions = before.filter(({ rule_id: id }) => byId.has(id))
  const named = (some: readonly Rule[]) =>
    some.map(({ rule_id: id, version }) => `${id} ${version}`)
  return {
    rules,
    changes: {
      ...changesOf(before, rules),
      replaced: named(versions.filter(isReplaced)),
      kept: named(versions.filter((old) => !isReplaced(old))),
    },
  }
}

/** The versions of each rule. */
function byRuleId(rules: readonly Rule[]): Map<string, Rule[]> {
  const byId = new Map<string, Rule[]>()
  for (const rule of rules) byId.set(rule.rule_id, [...(byId.get(rule.rule_id) ?? []), rule])
  return byId
}

/** An older version up to the day before a newer one begins, if it began before that. */
function endedBy(old: Rule, { effective_from: from }: Rule): Rule {
  const begunBefore = from !== null && (old.effective_from === null || old.effective_from < from)
  if (!begunBefore || (old.effective_to !== null && old.effective_to < from)) return old
  return { ...old, effective_to: dayOf(Date.parse(`${from}T00:00:00Z`) - DAY) }
}

function changesOf(
  before: readonly Rule[],
  after: readonly Rule[],
): Omit<RuleChanges, 'replaced' | 'kept'> {
  const texts = (rules: readonly Rule[]) =>
    new Map([...byRuleId(rules)].map(([id, versions]) => [id, serialize(versions)]))
  const [old, now] = [texts(before), texts(after)]
  const ids = [...now.keys()].sort(byCodePoint)
  return {
    added: ids.filter((id) => !old.has(id)),
    changed: ids.filter((id) => old.has(id) && old.get(id) !== now.get(id)),
    removed: [...old.keys()].filter((id) => !now.has(id)).sort(byCodePoint),
    unchanged: ids.filter((id) => old.get(id) === now.get(id)).length,
  }
}

/**
 * Merged inside the transaction: an import that ended a moment ago, here or in another process,
 * keeps its rules.
 */
async function activate(
  ctx: RestrictionsCtx,
  incoming: readonly Rule[],
  { origin, replace }: { origin: string; replace: boolean },
): Promise<RuleImport> {
  return ctx.engine.atomic(ctx, async (tx) => {
    const stored = await tx.db
      .selectFrom('active_rule_set')
      .innerJoin('rule_set', 'rule_set.digest', 'active_rule_set.digest')
      .select('rules')
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst()
    const before = stored ? (JSON.parse(stored.rules) as Rule[]) : []
    const { rules, changes } = mergeRules(before, incoming, replace)
    const json = serialize(rules)
    const digest = digestOf(json)
    await tx.db
      .insertInto('rule_set')
      .values({
        digest,
        rules: json,
        rule_count: rules.length,
        origin,
        imported_at: tx.now(),
        imported_by: ctx.actor,
      })
      .onConflict((conflict) => conflict.column('digest').doNothing())
      .execute()
    await tx.db
      .insertInto('active_rule_set')
      .values({ digest, activated_at: tx.now(), activated_by: ctx.actor })
      .execute()
    await audit(tx, 'rules.import', {
      digest,
      origin,
      rules: rules.length,
      added: changes.added.length,
      changed: changes.changed.length,
      removed: changes.removed.length,
    })
    await touch(tx.db, 'rules')
    return { digest, rules: rules.length, ...changes }
  })
}
