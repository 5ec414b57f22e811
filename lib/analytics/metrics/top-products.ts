import { bestCost, firstMoment, metric, sumOf } from './metric.js'

export const topProducts = metric({
  slug: 'top-products',
  words:
    'movement_score = sales_proxy × (1 + 0.1 × (sellers − 1)) + restocks, ' +
    'over the days of the window. sales_proxy is the sum of the units that left stock at the ' +
    'active distributors, sellers is how many of them lost any, ' +
    'restocks is how often stock rose between two feeds at any of them: ' +
    'each one hides sales that no feed shows. is_new: every active distributor that has the ' +
    'UPC first had it within the window, and not in its first feed. ' +
    'unit_cost is the lowest cost of an offer with stock, else the lowest. ' +
    'UPCs of which nothing sold are left out. The highest movement_score comes first, ' +
    'then the highest sales_proxy.',
  hasWindow: true,
  columns: { sold: 'i32', restocks: 'i32', price: 'i32', qty: 'i32', recent: 'u8' },
  sql: (days) => `
    SELECT item, dist, sold_${days} AS sold, restocks_${days} AS restocks,
      coalesce(price, -1) AS price, qty, (first_seen >= ${firstMoment(days)})::UTINYINT AS recent
    FROM pair WHERE item IN (SELECT item FROM pair WHERE sold_${days} > 0)`,
  measures: {
    sales_proxy: 'count',
    restocks: 'count',
    movement_score: 'tenths',
    unit_cost: 'money',
    is_new: 'flag',
  },
  combine(columns, rows, out) {
    const { sold, restocks, recent } = columns
    out.sales_proxy = sumOf(sold, rows)
    out.unit_cost = bestCost(columns, rows)
    if (out.sales_proxy === 0 || Number.isNaN(out.unit_cost)) return false
    const sellers = rows.filter((row) => sold[row]! > 0).length
    out.restocks = sumOf(restocks, rows)
    out.movement_score = out.sales_proxy * (10 + sellers - 1) + out.restocks * 10
    out.is_new = rows.every((row) => recent[row] === 1) ? 1 : 0
    return true
  },
  order: ['movement_score', 'sales_proxy'],
})
