/** A restriction rule as it is written, imported and shown. */
import * as z from 'zod'
import { CLASS_CODES } from '../../distributors/product-classes.js'
import { gtinKey } from '../../core/gtin.js'
import { textFault } from '../../core/text.js'
import { countyOf, findCounties } from '../../places/counties.js'
import { STATES } from '../../places/states.js'

const plain = (most: number) =>
  z
    .string()
    .trim()
    .max(most)
    .superRefine((value, issues) => {
      const fault = textFault(value)
      if (fault) issues.addIssue(fault)
    })
const text = (most: number) => plain(most).min(1, 'must not be empty')
/** `YYYY-MM-DD`, a day of the calendar. */
export const Day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/, { error: 'must be YYYY-MM-DD', abort: true })
  .refine(
    (date) =>
      !Number.isNaN(Date.parse(`${date}T00:00:00Z`)) &&
      new Date(`${date}T00:00:00Z`).toISOString().startsWith(date),
    'is not a day of the calendar',
  )
const SCALAR = 'must be a text, a number, true or false, or a list of these'
const scalar = z.union([z.string(), z.number(), z.boolean()], SCALAR)

export const OPS = ['eq', 'ne', 'in', 'gt', 'gte', 'lt', 'lte', 'exists'] as const

const Predicate = z
  .strictObject({
    name: text(100),
    op: z.enum(OPS),
    value: z.union([scalar, z.array(scalar).min(1).max(1_000)], SCALAR),
  })
  .superRefine(({ op, value }, issues) => {
    const fault =
      op === 'in'
        ? !Array.isArray(value) && 'must be a list for in'
        : op === 'exists'
          ? typeof value !== 'boolean' && 'must be true or false for exists'
          : op === 'eq' || op === 'ne'
            ? Array.isArray(value) && `must be one value for ${op}`
            : typeof value !== 'number' && `must be a number for ${op}`
    if (fault) issues.addIssue({ code: 'custom', path: ['value'], message: fault })
  })
export type Predicate = z.output<typeof Predicate>

const Scope = z.strictObject({
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, 'must be two capital letters')
    .default('US'),
  state: z
    .array(
      z
        .string()
        .refine(
          (code) => Object.hasOwn(STATES, code),
          'must be the two letters of a state or territory',
        ),
    )
    .min(1)
    .optional(),
  county: z.array(text(100)).min(1).optional(),
  city: z.array(text(100)).min(1).optional(),
  zip: z
    .array(z.string().regex(/^\d{5}$|^\d{1,4}\*$/, 'must be 5 digits, or fewer and a star'))
    .min(1)
    .optional(),
  /** What kind of place it is, whatever its state. */
  place: z
    .array(z.enum(['po_box', 'military', 'territory']))
    .min(1)
    .optional(),
})

const Match = z.strictObject({
  upc: z
    .array(z.string().refine((upc) => gtinKey(upc) !== null, 'must be a UPC'))
    .min(1)
    .optional(),
  sku: z.array(text(100)).min(1).optional(),
  distid: z.array(text(20)).min(1).optional(),
  product_class: z.array(z.enum(CLASS_CODES)).min(1).optional(),
  category: z.array(text(200)).min(1).optional(),
  attributes: z.array(Predicate).min(1).max(50).optional(),
})

export const Citation = z.strictObject({
  cite: text(500),
  url: z
    .url({ protocol: /^https?$/, error: 'must be an http(s) address' })
    .nullable()
    .default(null),
  retrieved: Day.nullable().default(null),
})

export const KINDS = ['BLOCK', 'WARNING', 'MANUAL_REVIEW'] as const

export const Rule = z
  .strictObject({
    rule_id: z
      .string()
      .regex(
        /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/,
        'must be up to 100 letters, digits, dots, dashes and underscores',
      ),
    version: z.int().min(1).default(1),
    kind: z.enum(KINDS),
    scope: Scope.default(() => ({ country: 'US' })),
    match: Match.default(() => ({})),
    destination: z.enum(['consumer', 'ffl', 'any']).default('any'),
    customer_message: text(1_000),
    effective_from: Day.nullable().default(null),
    effective_to: Day.nullable().default(null),
    legal_status: z
      .enum(['enacted', 'in_force', 'stayed', 'enjoined', 'struck', 'repealed', 'policy'])
      .default('in_force'),
    citations: z.array(Citation).max(20).default([]),
    unknown_attribute: z.enum(['review', 'ignore', 'block']).default('review'),
    /** A: text of the law seen. B: corroborated. C: from knowledge, to be verified. */
    confidence: z.enum(['A', 'B', 'C']).nullable().default(null),
    /** When somebody last looked whether it still holds. */
    reviewed: Day.nullable().default(null),
    operator_note: plain(2_000).nullable().default(null),
  })
  .superRefine((rule, issues) => {
    const fault = (path: string[], message: string) =>
      issues.addIssue({ code: 'custom', path, message })
    if (rule.effective_from && rule.effective_to && rule.effective_from > rule.effective_to)
      fault(['effective_to'], `lies before effective_from, ${rule.effective_from}`)
    const { state = [], county = [], city, country } = rule.scope
    if (country !== 'US' && (state.length > 0 || county.length > 0))
      fault(['scope', 'country'], 'must be US where states or counties are named')
    if ((county.length > 0 || city) && state.length === 0)
      fault(['scope', 'state'], 'is required where counties or cities are named')
    county.forEach((name, i) => {
      const known = countyOf(name)
      if (
        !(known
          ? state.includes(known.state)
          : state.some((code) => findCounties(code, name).length > 0))
      )
        fault(['scope', 'county', String(i)], `"${name}" is not a county of ${state.join(', ')}`)
    })
    if (rule.legal_status !== 'policy' && rule.citations.length === 0)
      fault(['citations'], 'must name the law, but for a policy')
  })
/** A rule with its defaults filled in. */
export type Rule = z.output<typeof Rule>

/** Overlapping versions of one rule: which of them held on a day could not be told. */
export function overlaps(a: Rule, b: Rule): boolean {
  if (a.rule_id !== b.rule_id) return false
  const [from, to] = [
    (rule: Rule) => rule.effective_from ?? '',
    (rule: Rule) => rule.effective_to ?? '9999',
  ]
  return from(a) <= to(b) && from(b) <= to(a)
}

/** The FIPS codes that a rule's counties are. */
export function countyCodes({ scope: { state = [], county } }: Rule): ReadonlySet<string> | null {
  if (!county) return null
  return new Set(
    county.flatMap((name) =>
      countyOf(name)
        ? [name]
        : state.flatMap((code) => findCounties(code, name).map(({ fips }) => fips)),
    ),
  )
}
