import { firstMoment, metric, sumOf } from './metric.js'

export const newlyAvailable = metric({
  slug: 'newly-available',
  words:
    'The UPC was out of stock at all active distributors at once, ' +
    'and is back at one of them. Of each distributor the last time without stock counts, ' +
    'from its fall to zero to its return; a distributor without stock now has none until ' +
    'now, one that has listed the UPC only since it came in had none before. ' +
    'out_of_stock_since is the latest of the falls and back_in_stock the earliest of the ' +
    'returns; the fall comes before the return, and the return lies within the window. ' +
    "A UPC that was never out of stock at any of them, or only in one's first feed, " +
    'is not newly available. qty_on_hand is what the active distributors have together now, ' +
    'at least 1. The latest back_in_stock comes first, then the highest qty_on_hand.',
  hasWindow: true,
  columns: { gone: 'f64', back: 'f64', recent: 'u8', qty: 'i32' },
  sql: (days) => `
    SELECT item, dist, gone, back, (back >= ${firstMoment(days)})::UTINYINT AS recent, qty
    FROM pair WHERE item IN (SELECT item FROM pair
      WHERE back >= ${firstMoment(days)} AND back < 'infinity'::DOUBLE
      AND gone < 'infinity'::DOUBLE)`,
  measures: {
    out_of_stock_since: 'time',
    back_in_stock: 'time',
    qty_on_hand: 'count',
  },
  combine({ gone, back, recent, qty }, rows, out) {
    let [since, until] = [-Infinity, Infinity]
    for (const row of rows) {
      if (recent[row] === 0) return false
      since = Math.max(since, gone[row]!)
      until = Math.min(until, back[row]!)
    }
    out.out_of_stock_since = since
    out.back_in_stock = until
    out.qty_on_hand = sumOf(qty, rows)
    return since > -Infinity && until < Infinity && since < until && out.qty_on_hand > 0
  },
  order: ['back_in_stock', 'qty_on_hand'],
})
