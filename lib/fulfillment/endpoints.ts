import { endpoint } from '../core/endpoint.js'
import { historyPage, orderById, orderPage } from './history.js'
import { HistoryQuery, HistoryResult, ListQuery, ListResult, OrderParams, OrderResult } from './shapes.js'
import type { FailedPlacement, FulfillmentOrder } from './shapes.js'

const EXAMPLE: FulfillmentOrder = {
  order_date: '2026-11-19 15:04:05', order_id: 'W-10452', distid: 'RSR', distributor_order_id: '7715120', ffl: '1-62-037-01-8E-90211', customer_name: 'Jane Doe',
  order_status: 'Fulfilled', order_source: 'cockpit_cart', po_number: 'W-10452-AB9Z-110', ship_date: '2026-11-20', ship_company: 'UPS', ship_method: 'Ground',
  ship_status: 'in_transit', ship_tracking_number: '1Z999AA10123456784', ship_tracking_url: 'https://www.ups.com/track?tracknum=1Z999AA10123456784',
  ship_to_store: 0, ffl_required: 1, dist_order_items: '[{"distsku":"RL-15-556","upc":"860001234503","qty":1}]',
}
const FAILED: FailedPlacement = {
  failure_timestamp: '2026-11-18 09:30:00', order_source: 'cockpit_cart', order_id: 'W-10440', po_number: 'W-10440-AB9Z-010', distid: 'LIP', failure_reason: 'Item is no longer available',
}

export const listOrders = endpoint('orders.list', {
  summary: 'Paged order history',
  description: 'Orders that produced a distributor order, or of which that is not known yet. A page never repeats what another one has, as long as nothing is placed meanwhile.',
  query: ListQuery,
  result: ListResult,
  errors: [],
  example: { request: { search: '1Z999AA1', limit: 1 }, result: { count: 1, orders: [EXAMPLE] } },
  run: async (ctx, { query }) => orderPage(ctx, query),
})

export const getOrder = endpoint('orders.get', {
  summary: 'The fulfillment orders of one order',
  params: OrderParams,
  result: OrderResult,
  errors: ['invalid_parameter', 'not_found'],
  example: { request: { order_id: 'W-10452' }, result: { order_id: 'W-10452', fulfillment_orders: [EXAMPLE] } },
  run: async (ctx, { params }) => orderById(ctx, params.order_id),
})

export const fulfillmentHistory = endpoint('fulfillment.history', {
  summary: 'Orders by reference, status and date, with their tracking, and failed placements',
  description: 'All parameters are optional and must all fit. Shipping data is updated in place as distributors ship; ask every 15 to 30 minutes.',
  query: HistoryQuery,
  result: HistoryResult,
  errors: [],
  example: { request: { from: '2026-11-01' }, result: { count: 1, orders: [EXAMPLE], errors: [FAILED] } },
  run: async (ctx, { query }) => historyPage(ctx, query),
})
