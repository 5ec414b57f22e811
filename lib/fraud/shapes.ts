/** Shapes of the fraud endpoints (contract "Fraud signals", "Fraud"). */
import * as z from 'zod'
import { WHOLE_CENTS, hasWholeCents } from '../core/money.js'

/** A caller sends what its shop has: an empty text counts as not given. */
const text = (most: number) =>
  z
    .string()
    .trim()
    .max(most)
    .nullish()
    .transform((value) => value || null)

const address = (kind: 'shipping' | 'billing') =>
  ({
    [`${kind}_name`]: text(200).describe('Name; corroborates'),
    [`${kind}_address_1`]: text(200).describe(
      `Street, number and unit; a strong signal, held against reported ${kind} addresses`,
    ),
    [`${kind}_address_2`]: text(200).describe('Unit'),
    [`${kind}_city`]: text(100).describe('City'),
    [`${kind}_state`]: text(100).describe('State, two letters or the name'),
    [`${kind}_postcode`]: text(20).describe('ZIP or postcode'),
    [`${kind}_country`]: text(60).describe('Country; US by default'),
  }) as Record<
    `${typeof kind}_${'name' | 'address_1' | 'address_2' | 'city' | 'state' | 'postcode' | 'country'}`,
    ReturnType<typeof text>
  >

/** Items of an order that are looked at and kept (contract "Limits"). */
export const MAX_ITEMS = 50

const OrderItem = z
  .strictObject({
    upc: text(40).describe('UPC'),
    sku: text(100).describe('SKU'),
    name: text(300).describe('What it is called'),
    qty: z.number().nullish().describe('Units'),
    price: z
      .number()
      .refine(hasWholeCents, WHOLE_CENTS)
      .nullish()
      .describe('For one, dollars with at most two decimals'),
  })
  .meta({ component: 'FraudItem', about: 'An item of an order; corroborates' })

const signals = {
  ...address('shipping'),
  shipping_is_ffl: z
    .boolean()
    .nullish()
    .transform((value) => value ?? false)
    .describe('true: the order ships to a licensed dealer, whose address is never a signal'),
  ...address('billing'),
  email: text(254).describe('E-mail address; a strong signal, whatever its dots and plus-tags'),
  phone: text(40).describe('Phone number; a strong signal, however it is written'),
  ip_address: text(45).describe('Address that the order came from, IPv4 or IPv6; corroborates'),
  order_items: z
    .array(OrderItem)
    .nullish()
    .transform((items) => (items ?? []).slice(0, MAX_ITEMS))
    .describe('The first 50 are looked at'),
}

/** One body serves for all three calls. */
const ignored = z.unknown().optional().describe('Taken in by a report; ignored here')

export const FraudSignals = z
  .strictObject({
    ...signals,
    order_source: ignored,
    order_id: ignored,
    order_json: ignored,
    notes: ignored,
  })
  .meta({
    component: 'FraudSignals',
    about:
      'What is known of an order; at least one of shipping_address_1, billing_address_1, ' +
      'email and phone',
  })
export type FraudSignals = z.output<typeof FraudSignals>

export const FraudReport = z
  .strictObject({
    ...signals,
    order_source: text(100).describe('Where the order came from; for yourself alone'),
    order_id: text(50).describe('Your order; for yourself alone'),
    order_json: z
      .unknown()
      .optional()
      .describe('The raw order, for yourself alone: sealed, and never shown to anybody else'),
    notes: text(4_000).describe('Shown to you alone'),
  })
  .meta({
    component: 'FraudReport',
    about:
      'A confirmed fraud; shipping_address_1 is required, and the order must not ship to a dealer',
  })
export type FraudReport = z.output<typeof FraudReport>

/** The signals that match; everything else only corroborates. */
export const STRONG = ['shipping_address_1', 'billing_address_1', 'email', 'phone'] as const
export type Strong = (typeof STRONG)[number]

export const FraudSummary = z
  .object({
    matched: z
      .boolean()
      .describe('true: hold the order for a person; it is no reason to cancel it'),
    matched_on: z.array(z.enum(STRONG)).describe('Signals that match'),
    report_count: z.int().describe('Distinct dealers that reported one of these signals'),
    names_used: z.int().describe('Distinct names in those reports'),
    emails_used: z.int().describe('Distinct e-mail addresses in them'),
    phones_used: z.int().describe('Distinct phone numbers in them'),
    ips_used: z.int().describe('Distinct IP addresses in them'),
    addresses_used: z.int().describe('Distinct shipping addresses in them'),
    billing_used: z.int().describe('Distinct billing addresses in them'),
    items_used: z.int().describe('Distinct items in them'),
    items_overlap: z.int().describe('Your items that were in one of those orders, by UPC or SKU'),
    items_similar: z.boolean().describe('An item of yours is named much like one of theirs'),
    reported_by_you: z.boolean().describe('One of those reports is yours'),
    first_reported: z
      .string()
      .nullable()
      .meta({ description: 'Day of the oldest one, YYYY-MM-DD; null without any', format: 'date' }),
    last_reported: z
      .string()
      .nullable()
      .meta({ description: 'Day of the newest one, YYYY-MM-DD; null without any', format: 'date' }),
    notes: z.array(z.string()).describe('Your own, newest first, at most 50'),
  })
  .meta({
    component: 'FraudSummary',
    about: 'Privacy-safe evidence: counts, never what other dealers sent',
  })
export type FraudSummary = z.output<typeof FraudSummary>

export const FraudResult = z
  .object({ fraud: FraudSummary })
  .meta({ component: 'FraudAnswer', about: 'What is known of these signals' })
export const RemovedResult = z
  .object({ removed: z.int().describe('Your own reports that are gone'), fraud: FraudSummary })
  .meta({ component: 'FraudRemoval', about: 'What was removed, and what is still known' })
