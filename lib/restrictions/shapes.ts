/** Shapes of the restriction check (contract "Restrictions", decisions 7). */
import * as z from 'zod'
import { CLASS_CODES } from '../catalog/product-classes.js'
import { Citation, KINDS } from './rule.js'

const name = (most: number) => z.string().max(most).nullish().transform((value) => value ?? undefined)
const SCALAR = 'must be a text of at most 1,000 characters, a number, true or false, or a list of at most 100 of these'
const scalar = z.union([z.string().max(1_000), z.number(), z.boolean()], SCALAR)

export const CheckItem = z.strictObject({
  upc: name(40),
  sku: name(100),
  distid: name(20),
  product_class: z.enum(CLASS_CODES).nullish().transform((value) => value ?? undefined),
  category: name(200),
  attributes: z.record(z.string().max(100), z.union([scalar, z.array(scalar).max(100), z.null()], SCALAR)).nullish()
    .transform((value) => value ?? undefined).describe('By name, as your feed or shop calls them: { "magazine_capacity": 30 }'),
})
export type CheckItem = z.output<typeof CheckItem>

export const CheckBody = z.strictObject({
  shipping: z.strictObject({
    state: z.string().min(1).max(60).describe('Two letters, or the name'),
    city: name(100),
    county: name(100).describe('Where it is not given, the counties of the ZIP'),
    zip: name(10).describe('5 digits, or 5 and 4'),
    country: name(2).describe('US by default'),
  }),
  items: z.array(CheckItem).min(1).max(100),
  target: z.string().max(60).nullish().describe('Logged, without effect'),
})
export type CheckBody = z.output<typeof CheckBody>

export const MatchedRule = z.object({
  rule_id: z.string(),
  kind: z.enum(KINDS),
  customer_message: z.string(),
  reason: z.string().describe('The predicates, and the values that they met'),
  missing: z.array(z.string()).describe('Facts that would tell whether the rule applies; empty where it does'),
  would_change: z.array(z.string()).describe('What would keep the rule from applying'),
  citations: z.array(Citation),
  effective_from: z.string().nullable(),
  overridden_by: z.object({ author: z.string(), reason: z.string(), expires: z.string().nullable() }).optional(),
})
export type MatchedRule = z.output<typeof MatchedRule>

export const CheckResult = z.object({
  approved: z.boolean(),
  items: z.array(z.object({
    upc: z.string().nullable(),
    sku: z.string().nullable(),
    approved: z.boolean().describe('No BLOCK and no MANUAL_REVIEW. false with empty blocking_rules: hold for a person'),
    blocking_rules: z.array(MatchedRule),
    warnings: z.array(MatchedRule),
    manual_review: z.array(MatchedRule),
  })),
})
export type CheckResult = z.output<typeof CheckResult>
