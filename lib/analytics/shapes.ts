/** Shapes of the metrics (contract "Analytics result", decisions 5). */
import * as z from 'zod'
import { SLUGS } from './metrics/index.js'
import { WINDOWS } from './metrics/metric.js'

export const MetricParams = z.object({ metric: z.string().describe(`One of ${SLUGS.join(', ')}`) })

const WINDOW_NAMES = ['7d', '30d', '60d', '90d'] as const satisfies readonly `${(typeof WINDOWS)[number]}d`[]

export const MetricQuery = z.object({
  window: z.enum(WINDOW_NAMES).default('7d').describe('Days up to the one on which the metrics were built; margin-opportunities, trending and price-gaps have no window'),
  limit: z.int().min(1).max(200).default(50),
  product_class: z.string().regex(/^\s*[a-z]{2}(\s*,\s*[a-z]{2})*\s*$/i, { error: 'must be 2-letter codes, separated by commas: FA,HS' }).optional().describe('Product class codes, separated by commas; a row has one of them'),
  category_id: z.string().regex(/^\s*\d{1,15}(\s*,\s*\d{1,15})*\s*$/, { error: 'must be numeric category ids, separated by commas: 3024,3025' }).optional().describe('Numeric category ids, separated by commas; a row has one of them'),
  sort_by: z.enum(['gross_profit', 'margin_pct']).optional().describe('margin-opportunities only; gross_profit by default'),
  min_confidence: z.number().min(0).max(1).optional().describe('margin-opportunities only: rows of at least this confidence, 0 to 1'),
  min_7d_units: z.number().min(0).default(3).describe('trending only: rows of at least so many units in 7 days'),
  min_30d_units: z.number().min(0).default(5).describe('trending only: rows of at least so many units in 30 days'),
})
export type MetricQuery = z.output<typeof MetricQuery>

const money = z.number()
const percent = z.number().describe('0 to 100, one decimal')
const time = z.string().describe('ISO 8601, UTC')

const Item = z.object({ upc: z.string(), name: z.string(), mfg_name: z.string().nullable(), category_id: z.int().nullable(), category_name: z.string() })

/** What a row of each metric has beside the item, in the order of the answer. */
export const ROWS = {
  'top-products': Item.extend({
    sales_proxy: z.int().describe('Units that left stock'), restocks: z.int().describe('How often stock rose'), movement_score: z.number(),
    unit_cost: money.describe('Lowest cost with stock, else the lowest'), is_new: z.boolean().describe('First seen within the window'),
  }),
  'on-sale': Item.extend({ reference_price: money.describe('Cost on most days of the window before the change'), current_price: money.describe('Lowest cost with stock now'), drop_percent: percent }),
  'margin-opportunities': Item.extend({
    unit_cost: money.describe('Lowest cost with stock'), map_price: money.nullable(), msrp: money.nullable(),
    gross_profit: money.describe('MAP, else MSRP, less unit_cost'), margin_pct: percent, confidence: z.number().describe('0 to 1; the description says what it is made of'),
  }),
  'trending': Item.extend({ units_7d: z.int(), units_30d: z.int(), trend_ratio: z.number().nullable().describe('null where nothing sold in the 23 days before') }),
  'new-arrivals': Item.extend({ first_seen: time, unit_cost: money.describe('Lowest cost with stock, else the lowest'), qty_on_hand: z.int() }),
  'newly-available': Item.extend({ out_of_stock_since: time, back_in_stock: time, qty_on_hand: z.int() }),
  'price-gaps': Item.extend({ distid: z.string(), price: money, peer_average: money, gap_percent: percent, offers: z.int().describe('Distributors that were compared') }),
} as const

function resultOf<S extends keyof typeof ROWS>(metric: S) {
  return z.object({
    metric: z.literal(metric),
    as_of: z.string().nullable().describe('When the data were read, ISO 8601 UTC; null before the metrics were built for the first time'),
    window_days: z.int().nullable().describe('null for a metric without a window'),
    count: z.int().describe('Rows in results'),
    results: z.array(ROWS[metric]).max(200),
  })
}

export const MetricResult = z.discriminatedUnion('metric', [
  resultOf('top-products'), resultOf('on-sale'), resultOf('margin-opportunities'), resultOf('trending'), resultOf('new-arrivals'), resultOf('newly-available'), resultOf('price-gaps'),
])
export type MetricResult = z.output<typeof MetricResult>
