import { metric, sumOf } from './metric.js'

/** Units in stock and units sold that count in full. */
const ENOUGH = 10

export const marginOpportunities = metric({
  slug: 'margin-opportunities',
  words:
    'gross_profit = price − unit_cost and margin_pct = gross_profit ÷ price × 100, ' +
    'where price is map_price, or msrp where there is no MAP, ' +
    'and unit_cost is the lowest cost of an offer with stock at the active distributors. ' +
    'Where they name different MAPs (or MSRPs), the one that most of them name is taken, ' +
    'of two the lower. Only UPCs with a gross_profit above 0 are listed. confidence, 0 to 1, ' +
    'adds up four parts. Agreement, 0.40: the share of the distributors naming a MAP that ' +
    'name this one, halved when only one names it, and halved once more when the price is an ' +
    'MSRP. Stock, 0.20: 0.02 for each unit at hand, up to 10. Sales, 0.20: ' +
    '0.02 for each unit sold in 30 days, up to 10. Cost, 0.20: ' +
    'in full when the next cheapest offer with stock costs at most a quarter more, ' +
    'half when there is no other offer, nothing when the lowest cost stands alone. ' +
    'The highest gross_profit comes first, with sort_by=margin_pct the highest margin_pct. ' +
    'min_confidence leaves out what is below it.',
  hasWindow: false,
  columns: { price: 'i32', qty: 'i32', map: 'i32', msrp: 'i32', sold: 'i32' },
  sql: () => `
    SELECT item, dist, coalesce(price, -1) AS price, qty, coalesce(map, -1) AS map,
      coalesce(msrp, -1) AS msrp, sold_30 AS sold
    FROM pair WHERE item IN (SELECT item FROM pair GROUP BY item
      HAVING greatest(max(map), max(msrp)) > min(price) FILTER (qty > 0))`,
  measures: {
    unit_cost: 'money',
    map_price: 'money',
    msrp: 'money',
    gross_profit: 'money',
    margin_pct: 'tenths',
    confidence: 'hundredths',
  },
  combine({ price, qty, map, msrp, sold }, rows, out) {
    let [cost, next] = [Infinity, Infinity]
    for (const row of rows) {
      if (price[row]! < 0 || qty[row]! < 1) continue
      if (price[row]! < cost) [cost, next] = [price[row]!, cost]
      else next = Math.min(next, price[row]!)
    }
    const [byMap, byMsrp] = [mostNamed(map, rows), mostNamed(msrp, rows)]
    const named = byMap ?? byMsrp
    if (!named || cost === Infinity || named.value <= cost) return false
    out.unit_cost = cost
    out.map_price = byMap?.value ?? NaN
    out.msrp = byMsrp?.value ?? NaN
    out.gross_profit = named.value - cost
    out.margin_pct = Math.round((out.gross_profit * 1_000) / named.value)
    const agreement =
      (40 * (named.agreeing / named.naming)) / (named.agreeing === 1 ? 2 : 1) / (byMap ? 1 : 2)
    const enough = (units: number) => 2 * Math.min(units, ENOUGH)
    const standing = next === Infinity ? 10 : next * 4 <= cost * 5 ? 20 : 0
    out.confidence = Math.round(
      agreement + enough(sumOf(qty, rows)) + enough(sumOf(sold, rows)) + standing,
    )
    return true
  },
  order: ['gross_profit', 'margin_pct'],
  orders: {
    gross_profit: ['gross_profit', 'margin_pct'],
    margin_pct: ['margin_pct', 'gross_profit'],
  },
  least: { min_confidence: 'confidence' },
})

/** The value that most distributors name, of two the lower; null where nobody names one. */
function mostNamed(
  column: ArrayLike<number>,
  rows: readonly number[],
): { value: number; agreeing: number; naming: number } | null {
  let [value, agreeing, naming] = [0, 0, 0]
  for (const row of rows) {
    const candidate = column[row]!
    if (candidate < 0) continue
    naming++
    let count = 0
    for (const other of rows) if (column[other] === candidate) count++
    if (count > agreeing || (count === agreeing && candidate < value))
      [value, agreeing] = [candidate, count]
  }
  return naming === 0 ? null : { value, agreeing, naming }
}
