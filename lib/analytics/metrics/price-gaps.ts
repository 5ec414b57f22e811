import { metric, sumOf } from './metric.js'

/**
 * Distributors that must have the item in stock: with two, nobody knows which price is the odd one.
 */
const PEERS = 3

export const priceGaps = metric({
  slug: 'price-gaps',
  words:
    'gap_percent = (peer_average − price) ÷ peer_average × 100. ' +
    'Compared are the offers with stock of at least 3 active distributors, ' +
    'of each its lowest cost. price is the lowest of them and distid whose it is; ' +
    'peer_average is the average of the others. Only gaps of at least 10 % are listed; ' +
    'offers says how many were compared. The largest gap_percent comes first, ' +
    'then the highest peer_average.',
  hasWindow: false,
  columns: { price: 'i32' },
  sql: () => `
    SELECT item, dist, price FROM pair WHERE price IS NOT NULL AND qty > 0
      AND item IN (SELECT item FROM pair WHERE price IS NOT NULL AND qty > 0 GROUP BY item
        HAVING count(*) >= ${PEERS})`,
  measures: {
    distid: 'distid',
    price: 'money',
    peer_average: 'money',
    gap_percent: 'tenths',
    offers: 'count',
  },
  combine({ price, dist }, rows, out) {
    if (rows.length < PEERS) return false
    let lowest = rows[0]!
    for (const row of rows) if (price[row]! < price[lowest]!) lowest = row
    const others = rows.length - 1
    const sum = sumOf(price, rows) - price[lowest]!
    const gap = sum - price[lowest]! * others
    // At least a tenth, in whole numbers.
    if (gap * 10 < sum) return false
    out.distid = dist[lowest]!
    out.price = price[lowest]!
    out.peer_average = Math.round(sum / others)
    out.gap_percent = Math.round((gap * 1_000) / sum)
    out.offers = rows.length
    return true
  },
  order: ['gap_percent', 'peer_average'],
})
