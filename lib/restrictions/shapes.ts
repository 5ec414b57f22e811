/** Shapes of the restriction check (contract "Restrictions"). */
import * as z from 'zod'
import { CLASS_CODES } from '../distributors/product-classes.js'
import { Citation, KINDS } from './rules/rule.js'

const name = (most: number) =>
  z
    .string()
    .max(most)
    .nullish()
    .transform((value) => value ?? undefined)
const SCALAR =
  'must be a text of at most 1,000 characters, a number, true or false, an object, or a list ' +
  'of at most 100 of these'
/**
 * An object is kept and says nothing that a rule could compare: what it would tell counts as not
 * known.
 */
const scalar = z.union(
  [z.string().max(1_000), z.number(), z.boolean(), z.record(z.string(), z.unknown())],
  SCALAR,
)

export const CheckItem = z
  .strictObject({
    upc: name(40).describe('Any text; one that is not a UPC matches nothing'),
    sku: name(100).describe('distsku'),
    distid: name(20).describe('The distributor'),
    product_class: z
      .enum(CLASS_CODES)
      .nullish()
      .transform((value) => value ?? undefined)
      .describe('Product class code'),
    category: name(200).describe('Category name'),
    attributes: z
      .record(z.string().max(100), z.union([scalar, z.array(scalar).max(100), z.null()], SCALAR))
      .nullish()
      .transform((value) => value ?? undefined)
      .describe(
        'By name, as your feed or shop calls them: { "magazine_capacity": 30 }; an object is ' +
          'kept and tells no rule anything',
      ),
  })
  .meta({
    component: 'CheckItem',
    about:
      'An item to be checked; what is left out comes from the catalog by UPC, or by distid and sku',
  })
export type CheckItem = z.output<typeof CheckItem>

export const CheckBody = z
  .strictObject({
    shipping: z
      .strictObject({
        state: z.string().min(1).max(60).describe('Two letters, or the name'),
        city: name(100).describe('Where it is not given, that of the ZIP'),
        county: name(100).describe('Where it is not given, the counties of the ZIP'),
        zip: name(10).describe('5 digits, or 5 and 4'),
        country: name(2).describe('US by default'),
      })
      .describe('Where the items go'),
    items: z.array(CheckItem).min(1).max(100).describe('What goes there'),
    target: z.string().max(60).nullish().describe('Logged, without effect'),
  })
  .meta({ component: 'RestrictionQuestion', about: 'Items and where they go' })
export type CheckBody = z.output<typeof CheckBody>

export const MatchedRule = z
  .object({
    rule_id: z
      .string()
      .describe(
        "The rule; feed:RSR:CA is the flag for California in the distributor RSR's own feed",
      ),
    kind: z
      .enum(KINDS)
      .describe(
        'BLOCK: must not be sold there; MANUAL_REVIEW: hold for a person; WARNING: tell the ' +
          'customer',
      ),
    customer_message: z.string().describe('What to tell the customer'),
    reason: z.string().describe('The predicates, and the values that they met'),
    missing: z
      .array(z.string())
      .describe('Facts that would tell whether the rule applies; empty where it does'),
    would_change: z.array(z.string()).describe('What would keep the rule from applying'),
    citations: z
      .array(
        Citation.extend({
          cite: Citation.shape.cite.describe('The law, or the policy'),
          url: Citation.shape.url.describe('Where it is to be read'),
          retrieved: Citation.shape.retrieved.describe('When it was read, YYYY-MM-DD'),
        }),
      )
      .describe('What the rule rests on'),
    effective_from: z.string().nullable().describe('YYYY-MM-DD; null: for as long as it is known'),
    overridden_by: z
      .object({
        author: z.string().describe('Who'),
        reason: z.string().describe('Why'),
        expires: z.string().nullable().describe('YYYY-MM-DD, through that day; null: never'),
      })
      .optional()
      .describe('In warnings alone: a BLOCK that an override of yours lifts'),
  })
  .meta({ component: 'MatchedRule', about: 'A rule that applies, or might' })
export type MatchedRule = z.output<typeof MatchedRule>

export const CheckResult = z
  .object({
    approved: z.boolean().describe('Every item is approved'),
    items: z
      .array(
        z.object({
          upc: z.string().nullable().describe('As sent'),
          sku: z.string().nullable().describe('As sent'),
          approved: z
            .boolean()
            .describe(
              'No BLOCK and no MANUAL_REVIEW. false with empty blocking_rules: hold for a person',
            ),
          blocking_rules: z.array(MatchedRule).describe('Rules of kind BLOCK'),
          warnings: z.array(MatchedRule).describe('Rules of kind WARNING, and overridden ones'),
          manual_review: z
            .array(MatchedRule)
            .describe('Rules of kind MANUAL_REVIEW, and those of which a fact is missing'),
        }),
      )
      .describe('In the order of the question'),
  })
  .meta({ component: 'RestrictionCheck', about: 'May these items go there?' })
export type CheckResult = z.output<typeof CheckResult>
