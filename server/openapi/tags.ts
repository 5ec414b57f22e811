/** Sections of the reference, in the order of the contract. */
import type { Endpoint } from '../../lib/core/endpoint/endpoint.js'
import type { Json } from './schemas.js'

const TAGS = {
  account:
    'The key that calls: its limits, its allowlist, what it used; and the distributors ' +
    'that there are.',
  config: 'One document configures everything. It is read and replaced as a whole.',
  products:
    'Your own catalog: the offers of active, validated distributors, with your ' +
    'restrictions and prices applied. It is refreshed about every 20 minutes.',
  analytics: 'Seven metrics of prices, stock and sales, computed once a day.',
  ffls: 'The directory of licensed dealers.',
  restrictions: 'Whether an item may be sold to a destination.',
  orders: 'Quotes, real purchase orders and their history.',
  fulfillment:
    'Orders by any reference, with tracking, and failed placements. There are no webhooks: ' +
    'ask every 15 to 30 minutes.',
  fraud: 'Card-not-present fraud that dealers share, as counts and never as data.',
  documentation: 'Needs no key.',
} as const

/** The sections with their descriptions. */
export function tags(): Json[] {
  return Object.entries(TAGS).map(([name, description]) => ({ name, description }))
}

/** The section of an endpoint. */
export function tagOf(endpoint: Endpoint): string {
  const [head] = endpoint.id.split('.') as [string]
  return head in TAGS ? head : 'account'
}
