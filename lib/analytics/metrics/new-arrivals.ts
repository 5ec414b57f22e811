import { bestCost, firstMoment, metric, sumOf } from './metric.js'

export const newArrivals = metric({
  slug: 'new-arrivals',
  words:
    'first_seen is the time of the first feed in which any of the active distributors had ' +
    "the UPC; it lies within the window. What a distributor's first feed of all brought is " +
    'not new: nobody knows how long it had been there. unit_cost is the lowest cost of an ' +
    'offer with stock, else the lowest; qty_on_hand is what the active distributors have ' +
    'together. The latest first_seen comes first, then the highest qty_on_hand.',
  hasWindow: true,
  columns: { first: 'f64', recent: 'u8', price: 'i32', qty: 'i32' },
  sql: (days) => `
    SELECT item, dist, first_seen::DOUBLE AS first,
      (first_seen >= ${firstMoment(days)})::UTINYINT AS recent, coalesce(price, -1) AS price, qty
    FROM pair WHERE item IN (SELECT item FROM pair WHERE first_seen >= ${firstMoment(days)})`,
  measures: {
    first_seen: 'time',
    unit_cost: 'money',
    qty_on_hand: 'count',
  },
  combine(columns, rows, out) {
    const { first, recent, qty } = columns
    out.unit_cost = bestCost(columns, rows)
    if (Number.isNaN(out.unit_cost) || rows.some((row) => recent[row] === 0)) return false
    out.first_seen = Infinity
    for (const row of rows) out.first_seen = Math.min(out.first_seen, first[row]!)
    out.qty_on_hand = sumOf(qty, rows)
    return true
  },
  order: ['first_seen', 'qty_on_hand'],
})
