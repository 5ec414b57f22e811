/** Shapes of the fraud endpoints (contract "Fraud signals", "Fraud"). */
import * as z from 'zod'

/** A caller sends what its shop has: an empty text counts as not given. */
const text = (most: number) => z.string().trim().max(most).nullish().transform((value) => value || null)

const address = (kind: 'shipping' | 'billing') => ({
  [`${kind}_name`]: text(200),
  [`${kind}_address_1`]: text(200),
  [`${kind}_address_2`]: text(200),
  [`${kind}_city`]: text(100),
  [`${kind}_state`]: text(100),
  [`${kind}_postcode`]: text(20),
  [`${kind}_country`]: text(60),
}) as Record<`${typeof kind}_${'name' | 'address_1' | 'address_2' | 'city' | 'state' | 'postcode' | 'country'}`, ReturnType<typeof text>>

/** Items of an order that are looked at and kept (contract "Limits"). */
export const MAX_ITEMS = 50

const OrderItem = z.strictObject({
  upc: text(40),
  sku: text(100),
  name: text(300),
  qty: z.number().nullish(),
  price: z.number().nullish(),
})

const signals = {
  ...address('shipping'),
  shipping_is_ffl: z.boolean().nullish().transform((value) => value ?? false).describe('true: the order ships to a licensed dealer, whose address is never a signal'),
  ...address('billing'),
  email: text(254),
  phone: text(40),
  ip_address: text(45),
  order_items: z.array(OrderItem).nullish().transform((items) => (items ?? []).slice(0, MAX_ITEMS)).describe('The first 50 are looked at'),
}

/** One body serves for all three calls (decisions 2.9). */
const ignored = z.unknown().optional().describe('Taken in by a report; ignored here')

export const FraudSignals = z.strictObject({ ...signals, order_source: ignored, order_id: ignored, order_json: ignored, notes: ignored })
export type FraudSignals = z.output<typeof FraudSignals>

export const FraudReport = z.strictObject({
  ...signals,
  order_source: text(100),
  order_id: text(50),
  order_json: z.unknown().optional().describe('The raw order, for yourself alone: sealed, and never shown to anybody else'),
  notes: text(4_000),
})
export type FraudReport = z.output<typeof FraudReport>

/** The signals that match; everything else only corroborates. */
export const STRONG = ['shipping_address_1', 'billing_address_1', 'email', 'phone'] as const
export type Strong = (typeof STRONG)[number]

export const FraudSummary = z.object({
  matched: z.boolean().describe('true: hold the order for a person; it is no reason to cancel it'),
  matched_on: z.array(z.enum(STRONG)),
  report_count: z.int().describe('Distinct dealers that reported one of these signals'),
  names_used: z.int().describe('Distinct names in those reports; likewise the following'),
  emails_used: z.int(),
  phones_used: z.int(),
  ips_used: z.int(),
  addresses_used: z.int(),
  billing_used: z.int(),
  items_used: z.int(),
  items_overlap: z.int().describe('Your items that were in one of those orders, by UPC or SKU'),
  items_similar: z.boolean().describe('An item of yours is named much like one of theirs'),
  reported_by_you: z.boolean(),
  first_reported: z.string().nullable().describe('YYYY-MM-DD'),
  last_reported: z.string().nullable().describe('YYYY-MM-DD'),
  notes: z.array(z.string()).describe('Your own, newest first, at most 50'),
})
export type FraudSummary = z.output<typeof FraudSummary>

export const FraudResult = z.object({ fraud: FraudSummary })
export const RemovedResult = z.object({ removed: z.int().describe('Your own reports that are gone'), fraud: FraudSummary })
