/**
 * What all metrics read: one row for each UPC and distributor, with what the catalog says now and
 * what the history says of it.
 *
 * Made of `catalog_offer` (read-catalog.ts), `daily` and `item_now` (history.ts). An item is a UPC
 * that somebody offers now at an operator's price; what has no such offer has no name to be shown
 * by. What is listed without a price of the operator's came with some subscriber's own credentials
 * and is left out.
 */
import type { DuckDBConnection } from '@duckdb/node-api'
import { dayOf } from '../../core/clock.js'
import { WINDOWS, firstDay } from '../metrics/metric.js'
import { isDrop } from '../metrics/on-sale.js'

/**
 * Items go through sums and joins a part at a time: all at once, the hash tables of a million
 * offers would take three times the memory. Each part reads the days anew, which costs a few
 * hundred milliseconds.
 */
const PARTS = 4
const IN_PART = `gtin % ${PARTS} = getvariable('part')`

/** Distributors and items by their places, which the columns of a build use. */
const PLACES = [
  `CREATE TABLE known_dist AS
    SELECT (row_number() OVER (ORDER BY distid) - 1)::USMALLINT AS dist, distid
      FROM (SELECT distid FROM catalog_offer UNION SELECT distid FROM item_now)`,
  'CREATE TABLE known_item AS SELECT (row_number() OVER (ORDER BY gtin) ' +
    '- 1)::UINTEGER AS item, gtin FROM (SELECT DISTINCT gtin FROM catalog_offer)',
]

/**
 * Of several offers of one distributor (warehouses) the lowest price with stock counts, else the
 * lowest; of MAPs and MSRPs the highest; of texts the first that puts the item into a category,
 * else the first.
 */
const OFFERS = `
  CREATE TABLE offer_now AS
  SELECT item, dist, coalesce(min(price) FILTER (qty > 0), min(price)) AS price, max(map) AS map,
    max(msrp) AS msrp, least(sum(qty), 2147483647)::INTEGER AS qty,
    arg_min(text, (NOT categorized)::BIGINT * 4294967296 + text) AS text
  FROM catalog_offer JOIN known_item USING (gtin) JOIN known_dist USING (distid) WHERE ${IN_PART} GROUP BY item, dist`

/** Days of the longest window. */
const LONGEST = Math.max(...WINDOWS)

const inWindow = (what: string, days: number) =>
  `least(coalesce(sum(${what}) FILTER (day > getvariable('today') - ${days}), 0), ` +
  `2147483647)::INTEGER AS ${what}_${days}`

/** Summed up first and joined then: a join of every day's rows would take longer than the sums. */
const MOVEMENT = `
  CREATE TABLE movement AS
  SELECT item, dist, sums.* EXCLUDE (gtin, distid) FROM (
    SELECT gtin, distid,
      ${WINDOWS.flatMap((days) => [inWindow('sold', days), inWindow('restocks', days)]).join(', ')},
      greatest(max(price), max(price_before)) AS highest
    FROM daily WHERE ${IN_PART} AND (price IS NOT NULL OR NOT listed) GROUP BY gtin, distid
  ) sums JOIN known_item USING (gtin) JOIN known_dist USING (distid)`

/**
 * `first_seen` is 0 where an item came with the distributor's first feed. The last time without
 * stock is [gone, back): from the fall to the return. Without stock now it lasts; what came in with
 * stock had none before; what was there from the first feed on and never fell to zero has no such
 * time.
 */
const SEEN = `
  CREATE TABLE seen_now AS
  WITH first_feed AS (SELECT distid, min(first_at) AS first_feed FROM item_now GROUP BY distid)
  SELECT item, dist, CASE WHEN first_at > first_feed THEN first_at ELSE 0 END AS first_seen,
    CASE WHEN qty = 0 OR back_at IS NOT NULL
        THEN coalesce(zero_since, first_at, '-infinity'::DOUBLE)::DOUBLE
      WHEN first_at > first_feed THEN '-infinity'::DOUBLE ELSE 'infinity'::DOUBLE END AS gone,
    CASE WHEN qty = 0 THEN 'infinity'::DOUBLE ELSE coalesce(back_at, first_at)::DOUBLE END AS back
  FROM item_now JOIN known_item USING (gtin) JOIN known_dist USING (distid)
    LEFT JOIN first_feed USING (distid) WHERE ${IN_PART} AND (price IS NOT NULL OR NOT listed)`

const orNone = (name: string) => `coalesce(${name}, 0) AS ${name}`

const PAIR = `
  SELECT item, dist, price, map, msrp, coalesce(qty, 0) AS qty, text, highest,
    ${WINDOWS.flatMap((days) => [orNone(`sold_${days}`), orNone(`restocks_${days}`)]).join(', ')},
    coalesce(first_seen, 0) AS first_seen,
    coalesce(gone, CASE WHEN coalesce(qty, 0) > 0 THEN 'infinity' ELSE '-infinity' END::DOUBLE) AS gone,
    coalesce(back, CASE WHEN coalesce(qty, 0) > 0 THEN 0 ELSE 'infinity'::DOUBLE END) AS back
  FROM offer_now FULL JOIN movement USING (item, dist) FULL JOIN seen_now USING (item, dist)`

/**
 * From each day with a change to the next the price at its end, and before the first of them what
 * it cost until then; only of offers that were dearer once. `changed_on` is NULL where no price
 * followed another one. A clock that was set back leaves days after today: they count as today, in
 * their order.
 */
const PRICES = `
  CREATE TABLE price_run AS
  WITH known AS (
    SELECT item, dist, day, daily.price AS price, price_before,
      row_number() OVER (PARTITION BY item, dist ORDER BY day) = 1 AS is_first
    FROM daily JOIN known_item USING (gtin) JOIN known_dist USING (distid)
      JOIN pair USING (item, dist) WHERE pair.qty > 0 AND ${isDrop('pair.price', 'pair.highest')}
      AND (daily.price IS NOT NULL OR NOT listed)
  ), told AS (
    SELECT item, dist, day, price FROM known
    UNION ALL SELECT item, dist, least(day - 1, ${firstDay(LONGEST)} - 1), price_before FROM known
      WHERE is_first AND price_before IS NOT NULL
  ), run AS (
    SELECT item, dist, least(day, getvariable('today')) AS day, price,
      coalesce(least(lead(day) OVER by_day, getvariable('today')), getvariable('today') + 1) AS until,
      lag(price IGNORE NULLS) OVER by_day AS before
    FROM told WINDOW by_day AS (PARTITION BY item, dist ORDER BY day)
  )
  SELECT item, dist, day, until, price, max(day) FILTER (price <> before)
    OVER (PARTITION BY item, dist) AS changed_on FROM run QUALIFY price IS NOT NULL`

const partOf = (part: number): [words: string, statements: readonly string[]] => [
  `what was sold and seen, ${part + 1} of ${PARTS}`,
  [
    `SET VARIABLE part = ${part}`,
    OFFERS,
    MOVEMENT,
    SEEN,
    `${part === 0 ? 'CREATE TABLE pair AS' : 'INSERT INTO pair'} ${PAIR}`,
    'DROP TABLE offer_now',
    'DROP TABLE movement',
    'DROP TABLE seen_now',
  ],
]

/** What is made, in this order, with words for whoever waits. */
const STEPS: readonly [words: string, statements: readonly string[]][] = [
  ['the offers of now', PLACES],
  ...Array.from({ length: PARTS }, (_, part) => partOf(part)),
  ['what was asked', ['DROP TABLE catalog_offer', PRICES]],
]

/** Steps that `prepare` tells of. */
export const PREPARING = STEPS.length

/**
 * Makes the tables `known_item`, `known_dist`, `pair` and `price_run`; `now` in milliseconds says
 * which day is the last of every window.
 */
export async function prepare(
  duck: DuckDBConnection,
  now: number,
  tell: (words: string) => void = () => {},
): Promise<void> {
  await duck.run(`SET VARIABLE today = DATE '${dayOf(now)}'`)
  for (const [words, statements] of STEPS) {
    tell(words)
    for (const statement of statements) await duck.run(statement)
  }
}
