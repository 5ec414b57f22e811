/** A subscriber's own exceptions to the rules, each with author, reason and end. */
import type { Override, RestrictionsCtx } from '../ctx.js'
import * as z from 'zod'
import type { Subscriber } from '../../accounts/caller.js'
import { audit } from '../../accounts/audit.js'
import { findSubscriber } from '../../accounts/subscribers.js'
import { dayOf } from '../../core/clock.js'
import { ApiError, invalid } from '../../core/errors.js'
import { touch } from '../../db/state.js'
import { compileRule, isEffective } from './compile.js'
import type { Place } from '../destination.js'
import { evaluate, meetsItem } from '../evaluate.js'
import type { Finding } from '../evaluate.js'
import { isFlagRule } from '../feed-flags.js'
import type { ItemFacts } from './predicates.js'
import { Day, Rule } from './rule.js'
import type { CheckResult, MatchedRule } from '../shapes.js'
import { present } from '../../core/present.js'

export const Detail = z.strictObject({
  rule_ids: z.array(z.string()).default([]).describe('rules that are lifted, by rule_id'),
  scope: Rule.shape.scope,
  match: Rule.shape.match,
  destination: Rule.shape.destination,
  customer_message: z
    .string()
    .max(1_000)
    .default('This item cannot be shipped to this destination.'),
})

export const NewOverride = Detail.extend({
  effect: z.enum(['allow', 'block']),
  author: z.string().trim().min(1).max(100).describe('who answers for it'),
  reason: z.string().trim().min(1).max(1_000).describe('why'),
  expires: Day.nullable().default(null).describe('the last day, YYYY-MM-DD'),
})
export type NewOverride = z.input<typeof NewOverride>

const DAY_END = 86_399_999

const firstIssue = ({ issues }: z.ZodError) => present(issues[0], 'what is wrong')

/**
 * Adds an override. An `allow` names the rules that it lifts; a `block` says what it blocks. Throws
 * 400.
 */
export async function addOverride(
  ctx: RestrictionsCtx,
  subscriber: Subscriber,
  input: NewOverride,
): Promise<{ id: string }> {
  const { effect, author, reason, expires, ...detail } = checkOverride(ctx, input)
  const id = `o_${ctx.random(8).toString('hex')}`
  await ctx.engine.atomic(ctx, async (tx) => {
    await tx.db
      .insertInto('rule_override')
      .values({
        id,
        subscriber_id: subscriber.id,
        effect,
        detail: JSON.stringify(detail),
        author,
        reason,
        expires_at: expires === null ? null : Date.parse(`${expires}T00:00:00Z`) + DAY_END,
        created_at: tx.now(),
        withdrawn_at: null,
      })
      .execute()
    await audit(tx, 'rules.override', {
      id,
      subscriber: subscriber.id,
      effect,
      author,
      reason,
      expires,
      ...detail,
    })
    await touch(tx.db, 'rules')
  })
  return { id }
}

function checkOverride(ctx: RestrictionsCtx, input: NewOverride): z.output<typeof NewOverride> {
  const parsed = NewOverride.safeParse(input)
  if (!parsed.success) {
    const { path, message } = firstIssue(parsed.error)
    throw invalid(path.join('.') || 'override', message)
  }
  const { effect, expires, author: _author, reason: _reason, ...detail } = parsed.data
  if (effect === 'allow' && detail.rule_ids.length === 0)
    throw invalid('rule_ids', 'is required: the rules that it lifts')
  if (expires !== null && expires < dayOf(ctx.now())) throw invalid('expires', 'lies in the past')
  if (
    effect === 'allow' &&
    detail.match.attributes?.some(({ op, value }) => op === 'exists' && value === false)
  )
    throw invalid('match.attributes', 'what is not known allows nothing: exists must be true')
  const unknown = detail.rule_ids.find(
    (id) =>
      !isFlagRule(id, (distid) => isDistributor(ctx, distid)) &&
      !ctx.rules.active().index.rules.some(({ rule }) => rule.rule_id === id),
  )
  if (unknown !== undefined) throw invalid('rule_ids', noRule(unknown))
  if (effect === 'block' && Object.keys(detail.match).length === 0 && !detail.scope.state)
    throw invalid('match', 'is required: what it blocks, or a state')
  const checked = Rule.safeParse(ruleOf(detail, 'override'))
  if (!checked.success) {
    const { path, message } = firstIssue(checked.error)
    throw invalid(path.join('.'), message)
  }
  return parsed.data
}

function isDistributor(ctx: RestrictionsCtx, distid: string): boolean {
  return (
    ctx.distributors.byDistid(distid) !== undefined ||
    ctx.catalog.current()?.distids.includes(distid) === true
  )
}

function noRule(id: string): string {
  return id.startsWith('feed:')
    ? `"${id}" is not a distributor's flag: name the distributor and the state, as feed:RSR:CA`
    : `there is no active rule "${id}"`
}

/** Ends an override at once; it stays in the list with its end. 404 for one that is not there. */
export async function withdrawOverride(ctx: RestrictionsCtx, id: string): Promise<void> {
  await ctx.engine.atomic(ctx, async (tx) => {
    const { numUpdatedRows } = await tx.db
      .updateTable('rule_override')
      .set({ withdrawn_at: tx.now() })
      .where('id', '=', id)
      .where('withdrawn_at', 'is', null)
      .executeTakeFirst()
    if (numUpdatedRows === 0n)
      throw new ApiError('not_found', { message: `there is no override ${id} that holds` })
    await audit(tx, 'rules.override.withdraw', { id })
    await touch(tx.db, 'rules')
  })
}

export interface ListedOverride {
  id: string
  /** Name of the shop. */
  subscriber: string
  effect: 'allow' | 'block'
  /** What it applies to. */
  detail: z.output<typeof Detail>
  author: string
  reason: string
  /** `YYYY-MM-DD`, through that day; null: never. */
  expires: string | null
  created_at: string
  withdrawn_at: string | null
  /** It decides something today. */
  holds: boolean
}

/**
 * The overrides of all shops, or of the one of this name or id, the newest first, those that ended
 * among them.
 */
export async function listOverrides(
  ctx: RestrictionsCtx,
  shop?: string,
): Promise<ListedOverride[]> {
  const owner = shop === undefined ? null : await findSubscriber(ctx, shop)
  const rows = await ctx.read
    .selectFrom('rule_override')
    .innerJoin('subscriber', 'subscriber.id', 'rule_override.subscriber_id')
    .selectAll('rule_override')
    .select('subscriber.name as subscriber')
    .$if(owner !== null, (query) => query.where('rule_override.subscriber_id', '=', owner!.id))
    .orderBy('rule_override.created_at', 'desc')
    .orderBy('rule_override.id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    subscriber: row.subscriber,
    effect: row.effect,
    detail: JSON.parse(row.detail) as z.output<typeof Detail>,
    author: row.author,
    reason: row.reason,
    expires: row.expires_at === null ? null : dayOf(row.expires_at),
    created_at: new Date(row.created_at).toISOString(),
    withdrawn_at: row.withdrawn_at === null ? null : new Date(row.withdrawn_at).toISOString(),
    holds: row.withdrawn_at === null && (row.expires_at === null || row.expires_at >= ctx.now()),
  }))
}

interface StoredOverride {
  id: string
  effect: 'allow' | 'block'
  detail: string
  author: string
  reason: string
  expires_at: number | null
}

/** An override of the database, ready to be applied. */
export function readOverride({
  id,
  effect,
  detail,
  author,
  reason,
  expires_at: end,
}: StoredOverride): Override {
  const parsed = JSON.parse(detail) as z.output<typeof Detail>
  return {
    id,
    effect,
    author,
    reason,
    ruleIds: new Set(parsed.rule_ids),
    expires: end === null ? null : dayOf(end),
    rule: compileRule(
      Rule.parse({
        ...ruleOf(parsed, id),
        effective_to: end === null ? null : dayOf(end),
      }),
      0,
    ),
  }
}

function ruleOf(
  { rule_ids: _ids, customer_message, ...detail }: z.output<typeof Detail>,
  id: string,
): z.input<typeof Rule> {
  return {
    ...detail,
    rule_id: `override.${id}`,
    kind: 'BLOCK',
    customer_message,
    legal_status: 'policy',
  }
}

type Lists = Pick<CheckResult['items'][number], 'blocking_rules' | 'warnings' | 'manual_review'>

/** Where an item goes, and the UTC day. */
export interface When {
  place: Place
  day: string
}

/**
 * Moves what an `allow` lifts to the warnings, with author and end; adds what a `block` forbids. An
 * `allow` that only may hold lifts nothing; a `block` that may hold is for a person to decide.
 */
export function applyOverrides(
  lists: Lists,
  overrides: readonly Override[],
  item: ItemFacts,
  { place, day }: When,
): void {
  for (const { override, finding } of findOverrides(overrides, item, { place, day })) {
    if (override.effect === 'allow' && finding.certain) lift(lists, override)
    else if (override.effect === 'block')
      (finding.certain ? lists.blocking_rules : lists.manual_review).push(
        blockedBy(override, [...new Set(finding.missing)]),
      )
  }
}

/** Overrides that hold for the item there, or may hold, in their order. */
export function findOverrides(
  overrides: readonly Override[],
  item: ItemFacts,
  { place, day }: When,
): { override: Override; finding: Finding }[] {
  return overrides.flatMap((override) => {
    const finding = isEffective(override.rule.rule, day)
      ? evaluate(override.rule, item, place)
      : null
    return finding ? [{ override, finding }] : []
  })
}

/** Whether an `allow` may hold for the item at some destination. */
export function mayLift({ effect, rule }: Override, item: ItemFacts, day: string): boolean {
  if (effect !== 'allow' || !isEffective(rule.rule, day)) return false
  return meetsItem(rule, item, { met: [], missing: [] })
}

function lift(lists: Lists, { ruleIds, author, reason, expires }: Override): void {
  for (const name of ['blocking_rules', 'manual_review'] as const) {
    const lifted = lists[name].filter(({ rule_id: id }) => ruleIds.has(id))
    lists[name] = lists[name].filter(({ rule_id: id }) => !ruleIds.has(id))
    lists.warnings.push(
      ...lifted.map((rule) => ({ ...rule, overridden_by: { author, reason, expires } })),
    )
  }
}

function blockedBy(
  { rule: { rule }, author, reason, expires }: Override,
  missing: string[],
): MatchedRule {
  return {
    rule_id: rule.rule_id,
    kind: missing.length === 0 ? 'BLOCK' : 'MANUAL_REVIEW',
    customer_message: rule.customer_message,
    reason: `blocked by ${author}: ${reason}`,
    missing,
    would_change: [],
    citations: [],
    effective_from: null,
    overridden_by: { author, reason, expires },
  }
}
