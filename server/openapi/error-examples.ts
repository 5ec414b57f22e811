/** How refusals look, by code: as the demo answers. What an endpoint says in its own words stands in its definition. */
import type { ErrorCode } from '../../lib/core/errors.js'

export interface ErrorExample {
  message?: string
  details?: unknown
}

const RECORD = {
  order_date: '2026-11-21 12:00:00', order_id: 'W-1001', distid: 'RSR', distributor_order_id: 'SIM-RSR-195262401', ffl: '9-86-013-01-9J-37570', customer_name: 'Pat Doe',
  order_status: 'Submitted', order_source: 'cockpit_cart', po_number: 'W-1001-AAAA-110', ship_date: null, ship_company: null, ship_method: null, ship_status: null,
  ship_tracking_number: null, ship_tracking_url: null, ship_to_store: 0, ffl_required: 1, dist_order_items: '[{"distsku":"RLA-07919","upc":"410000079195","qty":1}]',
}

/** Codes that are not here have their sentence of the table and no details. */
export const EXAMPLES: Partial<Record<ErrorCode, ErrorExample>> = {
  rate_limited: { details: { retry_after_seconds: 12 } },
}
