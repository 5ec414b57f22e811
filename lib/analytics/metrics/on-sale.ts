import { firstDay, metric } from './metric.js'

/** A drop of a twentieth, 5 %, in whole numbers. */
export const isDrop = (price: string, reference: string) =>
  `${price}::BIGINT * 20 <= ${reference}::BIGINT * 19`

export const onSale = metric({
  slug: 'on-sale',
  words:
    'drop_percent = (reference_price − current_price) ÷ reference_price × 100. ' +
    'current_price is the lowest cost of an offer with stock at the active distributors. ' +
    'reference_price is what that distributor asked on most days of the window before its ' +
    'last change of price: the median of the daily prices from the first day of the window ' +
    'to the day before the change, the lower one of two. ' +
    'The change must lie within the window and the drop be at least 5 %. ' +
    "A distributor that always was as cheap or cheaper makes another one's drop no sale. " +
    'The largest drop_percent comes first, then the highest reference_price.',
  hasWindow: true,
  columns: { price: 'i32', reference: 'i32' },
  sql: (days) => `
    WITH held AS (
      SELECT item, dist, price, least(until, changed_on) - greatest(day, ${firstDay(days)}) AS days
      FROM price_run WHERE changed_on >= ${firstDay(days)}
        AND least(until, changed_on) > greatest(day, ${firstDay(days)})
    ), weighed AS (
      SELECT item, dist, price,
        sum(days) OVER (PARTITION BY item, dist ORDER BY price) AS days_up_to,
        sum(days) OVER (PARTITION BY item, dist) AS all_days FROM held
    ), usual AS (
      SELECT item, dist, min(price) AS reference FROM weighed WHERE days_up_to * 2 >= all_days GROUP BY item, dist
    ), dropped AS (
      SELECT item, dist, reference FROM usual JOIN pair USING (item, dist)
        WHERE pair.qty > 0 AND ${isDrop('pair.price', 'reference')}
    )
    SELECT item, dist, price, coalesce(reference, -1) AS reference
    FROM pair LEFT JOIN dropped USING (item, dist)
      WHERE price IS NOT NULL AND qty > 0 AND item IN (SELECT item FROM dropped)`,
  measures: {
    reference_price: 'money',
    current_price: 'money',
    drop_percent: 'tenths',
  },
  combine({ price, reference }, rows, out) {
    let best = rows[0]!
    for (const row of rows)
      if (
        price[row]! < price[best]! ||
        (price[row] === price[best] && reference[row]! > reference[best]!)
      )
        best = row
    if (reference[best]! < 0) return false
    out.reference_price = reference[best]!
    out.current_price = price[best]!
    out.drop_percent = Math.round(
      ((out.reference_price - out.current_price) * 1_000) / out.reference_price,
    )
    return true
  },
  order: ['drop_percent', 'reference_price'],
})
