/** Shapes of the metrics (contract "Analytics result"). */
import * as z from 'zod'
import { SLUGS } from './metrics/index.js'
import { WINDOWS } from './metrics/metric.js'

/** Any text: one that is not a metric is a 404 that lists them. */
export const MetricParams = z.object({
  metric: z
    .string()
    .meta({ description: 'The metric; see above', enum: SLUGS, example: 'on-sale' }),
})

const WINDOW_NAMES = [
  '7d',
  '30d',
  '60d',
  '90d',
] as const satisfies readonly `${(typeof WINDOWS)[number]}d`[]

export const MetricQuery = z.object({
  window: z
    .enum(WINDOW_NAMES)
    .default('7d')
    .meta({
      description:
        'Days up to the one on which the metrics were built; margin-opportunities, ' +
        'trending and price-gaps have no window',
      example: '30d',
    }),
  limit: z.int().min(1).max(200).default(50).meta({ description: 'Rows', example: 1 }),
  product_class: z
    .string()
    .regex(/^\s*[A-Za-z]{2}(\s*,\s*[A-Za-z]{2})*\s*$/, {
      error: 'must be 2-letter codes, separated by commas: FA,HS',
    })
    .optional()
    .meta({
      description: 'Product class codes of two letters, separated by commas; a row has one of them',
      example: 'AC,FA',
    }),
  category_id: z
    .string()
    .regex(/^\s*\d{1,15}(\s*,\s*\d{1,15})*\s*$/, {
      error: 'must be numeric category ids, separated by commas: 3024,3025',
    })
    .optional()
    .meta({
      description: 'Numeric category ids, separated by commas; a row has one of them',
      example: '983,3026',
    }),
  sort_by: z.enum(['gross_profit', 'margin_pct']).optional().meta({
    description: 'margin-opportunities only: gross_profit, the default, or margin_pct',
    example: 'margin_pct',
  }),
  min_confidence: z.number().min(0).max(1).optional().meta({
    description: 'margin-opportunities only: rows of at least this confidence, 0 to 1',
    example: 0.5,
  }),
  min_7d_units: z
    .number()
    .min(0)
    .default(3)
    .meta({ description: 'trending only: rows of at least so many units in 7 days', example: 3 }),
  min_30d_units: z
    .number()
    .min(0)
    .default(5)
    .meta({ description: 'trending only: rows of at least so many units in 30 days', example: 5 }),
})
export type MetricQuery = z.output<typeof MetricQuery>

const money = (description: string) => z.number().describe(`${description}, dollars`)
const percent = (description: string) =>
  z.number().describe(`${description}, 0 to 100, one decimal`)
const time = (description: string) =>
  z.string().meta({ description: `${description}, ISO 8601 UTC`, format: 'date-time' })
const units = (description: string) => z.int().describe(`${description}, units`)

const Item = z.object({
  upc: z.string().describe('The item'),
  name: z.string().describe('What it is called'),
  mfg_name: z.string().nullable().describe('Brand'),
  category_id: z.int().nullable().describe('Numeric category id, as item_gb_cat of an offer'),
  category_name: z.string().describe('Name of the category'),
})

/** What a row of each metric has beside the item, in the order of the answer. */
export const ROWS = {
  'top-products': Item.extend({
    sales_proxy: units('What left stock'),
    restocks: z.int().describe('How often stock rose'),
    movement_score: z
      .number()
      .describe('What the rows are sorted by; the description says what it is made of'),
    unit_cost: money('Lowest cost with stock, else the lowest'),
    is_new: z.boolean().describe('First seen within the window'),
  }),
  'on-sale': Item.extend({
    reference_price: money('Cost on most days of the window before the change'),
    current_price: money('Lowest cost with stock now'),
    drop_percent: percent('How far it dropped'),
  }),
  'margin-opportunities': Item.extend({
    unit_cost: money('Lowest cost with stock'),
    map_price: money('Minimum advertised price').nullable(),
    msrp: money('Suggested retail price').nullable(),
    gross_profit: money('MAP, else MSRP, less unit_cost'),
    margin_pct: percent('gross_profit of that price'),
    confidence: z.number().describe('0 to 1; the description says what it is made of'),
  }),
  trending: Item.extend({
    units_7d: units('What left stock in 7 days'),
    units_30d: units('What left stock in 30 days'),
    trend_ratio: z
      .number()
      .nullable()
      .describe(
        'Daily pace of the 7 days by that of the 23 before; null where nothing sold in the 23 days before',
      ),
  }),
  'new-arrivals': Item.extend({
    first_seen: time('When it was listed first'),
    unit_cost: money('Lowest cost with stock, else the lowest'),
    qty_on_hand: units('Stock at your distributors'),
  }),
  'newly-available': Item.extend({
    out_of_stock_since: time('When the last one was gone'),
    back_in_stock: time('When there was stock again'),
    qty_on_hand: units('Stock at your distributors'),
  }),
  'price-gaps': Item.extend({
    distid: z.string().describe('The distributor that is well below'),
    price: money('Its cost'),
    peer_average: money('Average cost at the others'),
    gap_percent: percent('How far it is below'),
    offers: z.int().describe('Distributors that were compared'),
  }),
} as const

/** `top-products` -> `TopProducts`: what the documentation calls its schema. */
function named(metric: string): string {
  return metric.replaceAll(/(^|-)(\w)/g, (_, dash: string, letter: string) => letter.toUpperCase())
}

function resultOf<S extends keyof typeof ROWS>(metric: S) {
  return z
    .object({
      metric: z.literal(metric).describe('As asked for'),
      as_of: z.string().nullable().meta({
        description:
          'When the data were read, ISO 8601 UTC; null before the metrics were built for the first time',
        format: 'date-time',
      }),
      window_days: z.int().nullable().describe('null for a metric without a window'),
      count: z.int().describe('Rows in results'),
      results: z
        .array(ROWS[metric].meta({ component: `${named(metric)}Row`, about: `A row of ${metric}` }))
        .max(200)
        .describe('The first is the most so'),
    })
    .meta({ component: named(metric), about: `The answer to ${metric}` })
}

export const MetricResult = z
  .discriminatedUnion('metric', [
    resultOf('top-products'),
    resultOf('on-sale'),
    resultOf('margin-opportunities'),
    resultOf('trending'),
    resultOf('new-arrivals'),
    resultOf('newly-available'),
    resultOf('price-gaps'),
  ])
  .meta({ component: 'Metric', about: 'The answer to one metric' })
export type MetricResult = z.output<typeof MetricResult>
