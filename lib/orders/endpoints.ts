import type { OrdersCall } from './ctx.js'
import { endpointsOf } from '../core/endpoint/endpoint.js'
import type { FulfillmentOrder } from './history/shapes.js'
import { placeOrder } from './place/place.js'
import { PlaceBody, PlacedOrder } from './shapes.js'

const endpoint = endpointsOf<OrdersCall>()

const ORDER = {
  order_id: 'W-1001',
  customer: {
    name: 'Pat Doe',
    email: 'pat@customer.example',
    phone: '602-555-0100',
    address1: '12 Main St',
    city: 'Phoenix',
    state: 'AZ',
    zip: '85003',
  },
  items: [{ distid: 'RSR', distsku: 'RLA-07919', upc: '410000079195', qty: 1, ffl_req: true }],
  ffl: { licenseNumber: '9-86-013-01-9J-37570' },
}
const RECORD: FulfillmentOrder = {
  order_date: '2026-11-21 12:00:00',
  order_id: 'W-1001',
  distid: 'RSR',
  distributor_order_id: 'SIM-RSR-195262401',
  ffl: '9-86-013-01-9J-37570',
  customer_name: 'Pat Doe',
  order_status: 'Submitted',
  order_source: 'cockpit_cart',
  po_number: 'W-1001-AB9Z-110',
  ship_date: null,
  ship_company: null,
  ship_method: null,
  ship_status: null,
  ship_tracking_number: null,
  ship_tracking_url: null,
  ship_to_store: 0,
  ffl_required: 1,
  dist_order_items: '[{"distsku":"RLA-07919","upc":"410000079195","qty":1}]',
}
const failed = (order: string, po: string, reason: string) => ({
  failure_timestamp: '2026-11-21 12:00:00',
  order_source: 'cockpit_cart',
  order_id: order,
  po_number: po,
  distid: 'RSR',
  failure_reason: reason,
})
/**
 * A magazine that holds too many rounds for California, and that the distributor does not ship
 * there.
 */
const TO_CALIFORNIA = {
  ...ORDER,
  order_id: 'W-1004',
  customer: { ...ORDER.customer, city: 'Los Angeles', state: 'CA', zip: '90012' },
  items: [{ distid: 'RSR', distsku: 'FSMST07919', upc: '439010079193', qty: 1 }],
}
const STATUTES =
  'https://leginfo.legislature.ca.gov/faces/codes_displaySection.xhtml?lawCode=PEN&sectionNum='
const BLOCKED = {
  approved: false,
  items: [
    {
      upc: '439010079193',
      sku: 'FSMST07919',
      approved: false,
      warnings: [],
      blocking_rules: [
        {
          rule_id: 'feed:RSR:CA',
          kind: 'BLOCK',
          customer_message: 'This item cannot be shipped to California.',
          reason: 'the feed of RSR Group (RSR) flags FSMST07919 as not to be shipped to state CA',
          missing: [],
          would_change: ["a destination or an offer that no distributor's feed flags"],
          citations: [],
          effective_from: null,
        },
      ],
      manual_review: [
        {
          rule_id: 'us-ca-magazine-10',
          kind: 'MANUAL_REVIEW',
          customer_message:
            'California does not allow the sale of magazines that hold more than 10 rounds.',
          reason:
            'would apply, depending on magazine_capacity, which is not known (state is CA; ' +
            'product_class is MG)',
          missing: ['magazine_capacity'],
          would_change: ['a magazine_capacity of at most 10'],
          citations: [
            { cite: 'Cal. Penal Code § 32310', url: `${STATUTES}32310.`, retrieved: null },
            {
              cite: 'Cal. Penal Code § 16740 (definition)',
              url: `${STATUTES}16740.`,
              retrieved: null,
            },
          ],
          effective_from: '2000-01-01',
        },
      ],
    },
  ],
}

export const place = endpoint('orders.place', {
  summary: 'Place real purchase orders with distributors',
  description:
    'Splits the cart into one order for each distributor and need of a dealer. The same ' +
    'order_id is never placed twice: retrying is always safe, and a 409 duplicate_order ' +
    'carries what is known of it. After a 200 with status pending do not order again, also ' +
    'not under another order_id.',
  body: PlaceBody,
  result: PlacedOrder,
  errors: [
    'duplicate_order',
    'fulfillment_not_configured',
    'restricted_destination',
    'order_rejected',
    'order_volume_limit',
    'distributor_unavailable',
    'feed_unavailable',
  ],
  example: {
    request: ORDER,
    result: {
      order_id: 'W-1001',
      status: 'placed',
      mode: 'simulator',
      fulfillment_orders: [RECORD],
      errors: [],
    },
    refused: {
      invalid_parameter: {
        request: { ...ORDER, order_id: 'W 1001', items: [] },
        message:
          'order_id: must be 1 to 50 letters, digits, dashes and underscores (and 1 more, see ' +
          'details)',
        details: [
          { path: 'order_id', message: 'must be 1 to 50 letters, digits, dashes and underscores' },
          { path: 'items', message: 'must have at least 1 entry' },
        ],
      },
      duplicate_order: {
        request: ORDER,
        details: {
          order_id: 'W-1001',
          fulfillment_orders: [RECORD],
          errors: [],
          same_request: true,
        },
      },
      fulfillment_not_configured: {
        request: { ...ORDER, order_id: 'W-1005', ship_to_store: true },
        message: 'The store: fulfillment.ship_to_store.ffl is not configured',
        details: [
          {
            distid: null,
            distributor: null,
            reason: 'fulfillment.ship_to_store.ffl is not configured',
          },
        ],
      },
      restricted_destination: { request: TO_CALIFORNIA, details: BLOCKED },
      order_rejected: {
        request: { ...ORDER, order_id: 'W-1002', po_number: 'W-1002-SIM-REJECT' },
        details: [
          failed(
            'W-1002',
            'W-1002-SIM-REJECT',
            '10999 Account on hold, contact your sales representative',
          ),
        ],
      },
      distributor_unavailable: {
        request: { ...ORDER, order_id: 'W-1003', po_number: 'W-3-SIM-RATE-LIMITED' },
        details: [failed('W-1003', 'W-3-SIM-RATE-LIMITED', 'HTTP 429: too many requests')],
      },
      order_volume_limit: {
        message: 'This key may place 60 orders in any hour. Wait as long as Retry-After says.',
        details: { limit: 60, window_seconds: 3_600, retry_after_seconds: 1_740 },
      },
    },
  },
  run: (ctx, { body }) => placeOrder(ctx, body),
})
