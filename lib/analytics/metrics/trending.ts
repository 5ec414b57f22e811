import { metric, sumOf } from './metric.js'

export const trending = metric({
  slug: 'trending',
  words:
    'trend_ratio = (units_7d ÷ 7) ÷ ((units_30d − units_7d) ÷ 23): ' +
    'the pace of the last 7 days against that of the 23 days before them; ' +
    'null where nothing sold in those 23 days. units_7d and units_30d are the units that ' +
    'left stock at the active distributors in the last 7 and 30 days. ' +
    'UPCs with fewer than min_7d_units (3 where it is not given) or min_30d_units (5) ' +
    'are left out. The highest trend_ratio comes first and null last, ' +
    'then the highest units_7d.',
  hasWindow: false,
  columns: { sold7: 'i32', sold30: 'i32', offered: 'u8' },
  sql: () => `
    SELECT item, dist, sold_7 AS sold7, sold_30 AS sold30, (price IS NOT NULL)::UTINYINT AS offered
    FROM pair WHERE item IN (SELECT item FROM pair WHERE sold_30 > 0)`,
  measures: {
    units_7d: 'count',
    units_30d: 'count',
    trend_ratio: 'hundredths',
  },
  combine({ sold7, sold30, offered }, rows, out) {
    out.units_7d = sumOf(sold7, rows)
    out.units_30d = sumOf(sold30, rows)
    if (out.units_30d === 0 || sumOf(offered, rows) === 0) return false
    const before = out.units_30d - out.units_7d
    out.trend_ratio = before === 0 ? NaN : Math.round((out.units_7d * 23 * 100) / (7 * before))
    return true
  },
  order: ['trend_ratio', 'units_7d'],
  least: { min_7d_units: 'units_7d', min_30d_units: 'units_30d' },
})
