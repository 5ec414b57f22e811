import type { OrdersCall } from '../ctx.js'
import { endpointsOf } from '../../core/endpoint/endpoint.js'
import { historyPage, orderById, orderPage } from './history.js'
import {
  HistoryQuery,
  HistoryResult,
  ListQuery,
  ListResult,
  OrderParams,
  OrderResult,
} from './shapes.js'
import type { FailedPlacement, FulfillmentOrder } from './shapes.js'

const endpoint = endpointsOf<OrdersCall>()

const EXAMPLE: FulfillmentOrder = {
  order_date: '2026-11-21 12:00:00',
  order_id: 'W-1001',
  distid: 'RSR',
  distributor_order_id: 'SIM-RSR-195262401',
  ffl: '9-86-013-01-9J-37570',
  customer_name: 'Pat Doe',
  order_status: 'Fulfilled',
  order_source: 'cockpit_cart',
  po_number: 'W-1001-AB9Z-110',
  ship_date: '2026-11-21',
  ship_company: 'UPS',
  ship_method: null,
  ship_status: 'in_transit',
  ship_tracking_number: '1ZSIM01952624011',
  ship_tracking_url: 'https://www.ups.com/track?tracknum=1ZSIM01952624011',
  ship_to_store: 0,
  ffl_required: 1,
  dist_order_items: '[{"distsku":"RLA-07919","upc":"410000079195","qty":1}]',
}
const FAILED: FailedPlacement = {
  failure_timestamp: '2026-11-21 12:00:00',
  order_source: 'cockpit_cart',
  order_id: 'W-1002',
  po_number: 'W-1002-SIM-REJECT',
  distid: 'RSR',
  failure_reason: '10999 Account on hold, contact your sales representative',
}
const NO_LIMIT = {
  request: { limit: 0 },
  message: 'limit: must be at least 1',
  details: [{ path: 'limit', message: 'must be at least 1' }],
}

export const listOrders = endpoint('orders.list', {
  summary: 'Paged order history',
  description:
    'Orders that produced a distributor order, or of which that is not known yet. A page ' +
    'never repeats what another one has, as long as nothing is placed meanwhile.',
  query: ListQuery,
  result: ListResult,
  errors: [],
  example: { result: { count: 1, orders: [EXAMPLE] }, refused: { invalid_parameter: NO_LIMIT } },
  run: async (ctx, { query }) => orderPage(ctx, query),
})

export const getOrder = endpoint('orders.get', {
  summary: 'The fulfillment orders of one order',
  description: 'One for each distributor and need of a dealer, with what is known of it now.',
  params: OrderParams,
  result: OrderResult,
  errors: ['not_found'],
  example: {
    result: { order_id: 'W-1001', fulfillment_orders: [EXAMPLE] },
    refused: {
      not_found: {
        request: { order_id: 'W-9999' },
        message:
          'You have no order with this order_id. One that every distributor refused is among ' +
          'the errors of GET /v1/fulfillment/history.',
      },
    },
  },
  run: async (ctx, { params }) => orderById(ctx, params.order_id),
})

export const fulfillmentHistory = endpoint('fulfillment.history', {
  summary: 'Orders by reference, status and date, with their tracking, and failed placements',
  description:
    'All parameters are optional and must all fit. Shipping data is updated in place as ' +
    'distributors ship; ask every 15 to 30 minutes.',
  query: HistoryQuery,
  result: HistoryResult,
  errors: [],
  example: {
    request: { from: '2026-11-21', to: '2026-11-21', limit: 10 },
    result: { count: 1, orders: [EXAMPLE], errors: [FAILED] },
    refused: { invalid_parameter: NO_LIMIT },
  },
  run: async (ctx, { query }) => historyPage(ctx, query),
})
