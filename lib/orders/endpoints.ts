import { endpoint } from '../core/endpoint.js'
import { placeOrder } from './place.js'
import { PlaceBody, PlacedOrder } from './shapes.js'

export const place = endpoint('orders.place', {
  summary: 'Place real purchase orders with distributors',
  description: 'Splits the cart into one order for each distributor and need of a dealer. The same order_id is never placed twice: retrying is always safe, and a 409 duplicate_order carries what is known of it. After a 200 with status pending do not order again, also not under another order_id.',
  body: PlaceBody,
  result: PlacedOrder,
  errors: ['duplicate_order', 'fulfillment_not_configured', 'restricted_destination', 'order_rejected', 'order_volume_limit', 'distributor_unavailable', 'feed_unavailable'],
  example: {
    request: {
      order_id: 'W-1001',
      customer: { name: 'Pat Doe', email: 'pat@customer.example', phone: '602-555-0100', address1: '12 Main St', city: 'Phoenix', state: 'AZ', zip: '85001' },
      items: [{ distid: 'RSR', distsku: 'HB-BPOD', upc: '860001234503', qty: 2 }],
    },
    result: {
      order_id: 'W-1001', status: 'placed', mode: 'simulator',
      fulfillment_orders: [{
        order_date: '2026-11-21 12:00:00', order_id: 'W-1001', distid: 'RSR', distributor_order_id: 'SIM-100001', ffl: null, customer_name: 'Pat Doe', order_status: 'Submitted',
        order_source: 'cockpit_cart', po_number: 'W-1001-AB9Z-010', ship_date: null, ship_company: null, ship_method: null, ship_status: null, ship_tracking_number: null,
        ship_tracking_url: null, ship_to_store: 0, ffl_required: 0, dist_order_items: '[{"distsku":"HB-BPOD","upc":"860001234503","qty":2}]',
      }],
      errors: [],
    },
  },
  run: (ctx, { body }) => placeOrder(ctx, body),
})
