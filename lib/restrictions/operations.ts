/** The operator's operations on rules of where a product may go. */
import * as z from 'zod'
import { undoableOf } from '../db/undoable.js'
import { findSubscriber } from '../accounts/subscribers.js'
import { operationsOf } from '../core/endpoint/operation.js'
import { Nothing, Subscriber, Time, nothing } from '../core/endpoint/operation-shapes.js'
import { CLASS_CODES } from '../distributors/product-classes.js'
import { STATES } from '../places/states.js'
import type { StateCode } from '../places/states.js'
import { checkRestrictions } from './check.js'
import type { RestrictionsCtx } from './ctx.js'
import {
  acceptStarter,
  diffRules,
  findRules,
  importRules,
  showStarter,
} from './rules/active-rules.js'
import { rulesImpact } from './rules/impact.js'
import {
  Detail,
  NewOverride,
  addOverride,
  listOverrides,
  withdrawOverride,
} from './rules/overrides.js'
import { Rule } from './rules/rule.js'
import { STARTER_FAMILIES } from './rules/starter.js'
import { CheckBody, CheckItem, CheckResult } from './shapes.js'
import { mapStates } from './state-map.js'
import type { StateMap } from './state-map.js'

const operation = operationsOf<RestrictionsCtx>()
const undoable = undoableOf<RestrictionsCtx>()

const StateCodes = Object.keys(STATES) as [StateCode, ...StateCode[]]
const Family = z.enum(STARTER_FAMILIES)
const ListedRule = z
  .looseObject({ rule_id: z.string(), version: z.int(), kind: Rule.shape.kind })
  .meta({ component: 'Rule', about: 'A restriction rule, as it is written in a file' })
const shown = (rule: Rule) => ({ ...rule })

const Text = z.string().describe('JSON: a list of rules, or a rule a line')
const Replace = z.boolean().default(false).describe('drop every rule that is not among them')

const CHANGES = {
  added: z.array(z.string()),
  changed: z.array(z.string()),
  removed: z.array(z.string()),
  unchanged: z.int(),
  replaced: z.array(z.string()).describe('Versions that are replaced, as rule_id version'),
  kept: z.array(z.string()).describe('Versions that hold on beside newer ones'),
}
const Imported = z
  .object({ ...CHANGES, digest: z.string(), rules: z.int() })
  .meta({ component: 'RuleImport', about: 'What an import of rules has changed' })

const Verdicts = z.object({ approved: z.int(), held: z.int(), blocked: z.int() })
const Impact = z.object({
  offers: z.int(),
  states: z.array(
    z.object({ state: z.string(), before: Verdicts, after: Verdicts, changed: z.int() }),
  ),
})

const Destination = z.enum(['consumer', 'ffl'])
const StateBlocks = z.object({
  state: z.enum(StateCodes),
  extent: z
    .enum(['none', 'some', 'all'])
    .describe('How much of the class is blocked here; all: whatever the item'),
  blocking: z.array(
    z.object({
      rule_id: z.string(),
      extent: z.enum(['some', 'all']),
      depends_on: z
        .array(z.string())
        .describe('What tells whether an item is blocked: attributes, upc, city and the like'),
    }),
  ),
  lifted: z
    .array(
      z.object({
        rule_id: z.string(),
        author: z.string(),
        reason: z.string(),
        expires: z.string().nullable().describe('The last day; null for no end'),
      }),
    )
    .describe('Rules that an override of the shop lifts for the whole class here'),
  reviews: z.int().describe('Rules that have a person decide'),
})

/** Each rule once, and the states by its id. */
function shownMap({ states, ...rest }: StateMap) {
  const rules = new Map(
    states.flatMap(({ blocking }) => blocking.map(({ rule }) => [rule.rule_id, rule] as const)),
  )
  return {
    ...rest,
    states: states.map((state) => ({
      ...state,
      blocking: state.blocking.map(({ rule, ...reach }) => ({ rule_id: rule.rule_id, ...reach })),
    })),
    rules: [...rules.values()].map(shown),
  }
}

export const ruleOperations = [
  operation('rules.list', {
    summary: 'The active rules',
    effect: 'reads',
    input: {
      state: z.enum(StateCodes).optional().describe('only those that name this state, or none'),
      product_class: z
        .enum(CLASS_CODES)
        .optional()
        .describe('only those that name this product class, or none'),
    },
    result: z.object({ digest: z.string(), rules: z.array(ListedRule) }),
    run: async (ctx, { state, product_class: productClass }) => ({
      digest: ctx.rules.active().digest,
      rules: findRules(ctx, { state, productClass }).map(shown),
    }),
  }),
  undoable('rules.import', {
    summary: 'Take in restriction rules, which are active at once',
    effect: 'writes',
    asksAgain: true,
    input: {
      text: Text,
      origin: z.string().min(1).max(200).describe("where they come from, such as a file's name"),
      replace: Replace,
    },
    result: Imported,
    run: (ctx, input) => importRules(ctx, { ...input, refuseEmpty: true }),
  }),
  operation('rules.diff', {
    summary: 'What importing rules would change: rules, and offers state by state',
    effect: 'reads',
    input: { text: Text, replace: Replace },
    result: z.object({ ...CHANGES, impact: Impact }),
    run: async (ctx, input) => {
      const { rules, ...changes } = diffRules(ctx, input)
      return { ...changes, impact: await rulesImpact(ctx, rules) }
    },
  }),
  operation('rules.starter', {
    summary: 'The starter set by families, and how much of it is active',
    effect: 'reads',
    input: {},
    result: z.object({
      date: z.string().describe('YYYY-MM-DD, of its last review'),
      families: z.array(z.object({ family: Family, rules: z.array(ListedRule), active: z.int() })),
    }),
    run: async (ctx) => {
      const { date, families } = showStarter(ctx)
      return {
        date,
        families: families.map(({ rules, ...part }) => ({ ...part, rules: rules.map(shown) })),
      }
    },
  }),
  undoable('rules.accept', {
    summary: 'Make the starter set active; it is not legal advice',
    effect: 'writes',
    asksAgain: true,
    input: { families: z.array(Family).min(1).optional().describe('all of them by default') },
    result: Imported,
    run: (ctx, { families }) => acceptStarter(ctx, families),
  }),
  operation('rules.test', {
    summary: 'Check items against one destination, and say why',
    effect: 'reads',
    input: {
      subscriber: Subscriber,
      shipping: CheckBody.shape.shipping,
      items: z
        .array(CheckItem.extend({ to: Destination.optional() }))
        .min(1)
        .max(100),
      as_of: z
        .string()
        .optional()
        .describe('the day whose law holds, YYYY-MM-DD; today by default'),
    },
    result: CheckResult,
    errors: ['not_found'],
    run: async (ctx, { subscriber, as_of: asOf, ...input }) =>
      checkRestrictions(ctx, await findSubscriber(ctx, subscriber), {
        ...input,
        ...(asOf !== undefined && { asOf }),
      }),
  }),
  operation('rules.map', {
    summary: 'What the rules block of a product class, state by state, as a check counts it',
    effect: 'reads',
    input: {
      product_class: z.enum(CLASS_CODES),
      to: Destination.optional().describe('where it goes; ffl for firearms, else consumer'),
      subscriber: z.string().optional().describe('name or id of the shop whose overrides count'),
    },
    result: z.object({
      digest: z.string().describe('Of the active rules'),
      to: Destination,
      states: z.array(StateBlocks),
      rules: z.array(ListedRule).describe('Those that block something somewhere, and overrides'),
    }),
    errors: ['not_found'],
    run: async (ctx, { product_class: productClass, to, subscriber }) =>
      shownMap(
        await mapStates(ctx, {
          productClass,
          to,
          subscriber: subscriber === undefined ? undefined : await findSubscriber(ctx, subscriber),
        }),
      ),
  }),
  operation('rules.overrides', {
    summary: "Shops' own exceptions to the rules, those that ended among them",
    effect: 'reads',
    input: { subscriber: z.string().optional().describe('name or id of a shop') },
    result: z.array(
      z.object({
        id: z.string(),
        subscriber: z.string().describe('Name of the shop'),
        effect: z.enum(['allow', 'block']),
        detail: z.looseObject({ rule_ids: Detail.shape.rule_ids }),
        author: z.string(),
        reason: z.string(),
        expires: z.string().nullable(),
        created_at: Time,
        withdrawn_at: Time.nullable(),
        holds: z.boolean(),
      }),
    ),
    errors: ['not_found'],
    run: async (ctx, { subscriber }) =>
      (await listOverrides(ctx, subscriber)).map((one) => ({ ...one, detail: { ...one.detail } })),
  }),
  undoable('rules.override', {
    summary: 'Allow or block something for one shop, whatever the rules say of it',
    effect: 'writes',
    asksAgain: true,
    input: { subscriber: Subscriber, ...NewOverride.shape },
    result: z.object({ id: z.string() }),
    errors: ['not_found'],
    run: async (ctx, { subscriber, ...input }) =>
      addOverride(ctx, await findSubscriber(ctx, subscriber), input),
  }),
  undoable('rules.withdraw', {
    summary: 'End an override at once',
    effect: 'writes',
    asksAgain: true,
    input: { id: z.string().min(1).describe('the id of the override') },
    result: Nothing,
    errors: ['not_found'],
    run: (ctx, { id }) => nothing(withdrawOverride(ctx, id)),
  }),
] as const
