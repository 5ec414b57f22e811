/**
 * What the changes of a few days mean, in SQL. `offer` and `item` are the state before the first of
 * them and become the state after the last; `day_row` is what the days' files hold. `ms` counts
 * from the first day on, and `ms // DAY` says which day it is. Units that left stock are counted so
 * (the guide says it for operators):
 *
 * - A fall of an offer's quantity is units that left, a rise is a restock. An offer that is seen
 *   for the first time is neither.
 * - An offer that vanishes, or that the catalog holds back (allocated), is not a sale; when it comes
 *   back it is none and no restock either, unless it comes back with more than it had: what is more
 *   is a restock.
 * - Falls and rises of an item's offers in one feed are added up first: moved from one warehouse to
 *   another is not sold.
 * - A rise by exactly what the item's last change on the same day took away gives that back: a
 *   reservation that was released is not a sale, and no restock. Of RSR's rises in September 2025 that
 *   was seven in ten, nearly all within two hours.
 * - A fall that is seen only after the distributor's feed was missing for more than three days is
 *   not counted.
 * - What vanished while the catalog was lost is not a sale either.
 */
import type { DuckDBConnection } from '@duckdb/node-api'
import { DAY } from '../../core/clock.js'
import { momentOf } from './files.js'
import { present } from '../../core/present.js'

/**
 * Columns of a day's file, in order. Times are milliseconds, money is cents. `price_before`: what
 * it cost before the day; files of earlier releases lack it.
 */
export const DAY_COLUMNS = {
  day: 'DATE',
  distid: 'VARCHAR',
  gtin: 'BIGINT',
  price: 'INTEGER',
  qty: 'INTEGER',
  sold: 'INTEGER',
  restocks: 'INTEGER',
  zero_since: 'BIGINT',
  back_at: 'BIGINT',
  first_at: 'BIGINT',
  listed: 'BOOLEAN',
  price_before: 'INTEGER',
} as const

/**
 * The state of offers with a UPC. `qty_before`: what it had before it vanished or was held back;
 * `changed_at`: when it last changed.
 */
export const OFFER_COLUMNS = {
  distid: 'VARCHAR',
  stockid: 'VARCHAR',
  gtin: 'BIGINT',
  price: 'INTEGER',
  qty: 'INTEGER',
  listed: 'BOOLEAN',
  held: 'BOOLEAN',
  qty_before: 'INTEGER',
  changed_at: 'BIGINT',
} as const
/** The state of an item at a distributor, over its offers there. */
export const ITEM_COLUMNS = {
  distid: 'VARCHAR',
  gtin: 'BIGINT',
  qty: 'INTEGER',
  price: 'INTEGER',
  zero_since: 'BIGINT',
  back_at: 'BIGINT',
  first_at: 'BIGINT',
  listed: 'BOOLEAN',
} as const

export const declared = (columns: Readonly<Record<string, string>>) =>
  Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')

const MAX_INT = 2_147_483_647
const whole = (sum: string) => `least(${sum}, ${MAX_INT})::INTEGER`

/**
 * Each change with what came before it for the same offer: another change, or the state before all
 * of them. `base` is what the offer had when it could last be ordered, `until` when the next change
 * came; a row without a UPC is of no item, and what comes after it begins anew.
 */
const STEPS = `CREATE OR REPLACE TEMP TABLE step AS
  WITH known AS (
    SELECT ms, distid, stockid, c.gtin, c.price, c.qty, NOT gone AND NOT c.held AS present, NOT gone AS listed, c.held,
      o.gtin AS state_gtin, coalesce(o.listed AND NOT o.held, false) AS state_present,
      coalesce(CASE WHEN o.listed AND NOT o.held THEN o.qty ELSE o.qty_before END, 0)
        AS state_base
    FROM change c LEFT JOIN offer o USING (distid, stockid)
  )
  SELECT ms, distid, stockid, gtin, price, qty, present, listed, held,
    CASE WHEN lag(ms) OVER offer_time IS NULL THEN state_gtin ELSE lag(gtin) OVER offer_time END AS old_gtin,
    lag(present, 1, state_present) OVER offer_time AS was_present, lead(ms) OVER offer_time AS until,
    coalesce(last_value(CASE WHEN gtin IS NULL THEN 0 WHEN present THEN qty END IGNORE NULLS)
      OVER (offer_time ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), state_base) AS base
  FROM known WINDOW offer_time AS (PARTITION BY distid, stockid ORDER BY ms)`

/**
 * What each feed changed of an item: its stock by `rise` (negative: a fall), and what of that is
 * trade.
 */
const MOVES = `SELECT netted.distid, gtin, netted.ms, rise,
  CASE WHEN trade < 0 AND late_feed.ms IS NOT NULL THEN 0 ELSE trade END AS trade
  FROM (SELECT distid, gtin, ms, sum(rise)::BIGINT AS rise, sum(trade)::BIGINT AS trade FROM (
    SELECT distid, gtin, ms,
      CASE WHEN present THEN qty ELSE 0 END - CASE WHEN was_present AND old_gtin = gtin THEN base ELSE 0 END AS rise,
      -- The same item number under another UPC is another item's offer, seen for the first time.
      CASE WHEN old_gtin IS DISTINCT FROM gtin OR NOT present THEN 0
        WHEN was_present THEN qty - base ELSE greatest(0, qty - base) END AS trade
    FROM step WHERE gtin IS NOT NULL
    UNION ALL
    SELECT distid, old_gtin, ms, CASE WHEN was_present THEN -base ELSE 0 END, 0 FROM step
      WHERE old_gtin IS NOT NULL AND old_gtin IS DISTINCT FROM gtin
  ) GROUP BY distid, gtin, ms) netted
  LEFT JOIN late_feed ON late_feed.distid = netted.distid AND late_feed.ms = netted.ms`

const OFFERS = `CREATE OR REPLACE TABLE new_offer AS
  SELECT * FROM offer ANTI JOIN change USING (distid, stockid)
  UNION ALL
  SELECT distid, stockid, gtin, price, qty, listed, held, CASE WHEN present THEN qty ELSE base END, ms + $from
  FROM step WHERE until IS NULL AND gtin IS NOT NULL`

/** What offers were at the end of some day, and are no longer at the end of the last one. */
const PAST = `
  SELECT distid, gtin, price, qty, listed, held, ms AS since, until FROM step
    WHERE gtin IS NOT NULL AND until // ${DAY} > ms // ${DAY}
  UNION ALL
  SELECT distid, gtin, price, qty, listed, held, -1, first FROM offer
    JOIN (SELECT distid, stockid, min(ms) AS first FROM step GROUP BY ALL HAVING first >= ${DAY})
    USING (distid, stockid)`

/**
 * With several days there may be several rows of an item, of which the one before says what it cost
 * before.
 */
const dayRows = (
  isOneDay: boolean,
  nth = isOneDay ? '' : 'nth, ',
) => `CREATE OR REPLACE TABLE day_row AS
  WITH move AS (${MOVES}), timed AS (
    SELECT move.*, ${isOneDay ? '' : `move.ms // ${DAY} AS nth, `}item.price AS price_before,
      coalesce(item.qty, 0) + (sum(rise) OVER (item_time ROWS UNBOUNDED PRECEDING))::BIGINT AS after,
      item.gtin IS NULL AND lag(ms) OVER item_time IS NULL AS is_new,
      lead(nullif(trade, 0) IGNORE NULLS) OVER item_day AS next_trade,
      lag(nullif(trade, 0) IGNORE NULLS) OVER item_day AS last_trade
    FROM move LEFT JOIN item USING (distid, gtin)
    WINDOW item_time AS (PARTITION BY distid, gtin ORDER BY ms),
      item_day AS (PARTITION BY distid, gtin${isOneDay ? '' : `, move.ms // ${DAY}`} ORDER BY ms)
  ), judged AS (
    SELECT *, after - rise AS before,
      coalesce(CASE WHEN trade < 0 THEN next_trade = -trade ELSE last_trade = -trade END, false)
      AS is_given_back FROM timed
  ), summed AS (
    SELECT ${nth}distid, gtin, sum(-trade) FILTER (trade < 0 AND NOT is_given_back) AS sold,
      count(*) FILTER (trade > 0 AND NOT is_given_back) AS restocks,
      max(ms) FILTER (before > 0 AND after = 0) AS zero_since,
      max(ms) FILTER (before = 0 AND after > 0 AND NOT is_new) AS back_at,
      min(ms) FILTER (is_new) AS first_at, any_value(price_before) AS price_before
    FROM judged GROUP BY ${nth}distid, gtin
  ), shelf AS (
    SELECT distid, gtin, price, qty, listed, held, changed_at - $from AS since, NULL AS until
      FROM new_offer${isOneDay ? '' : ` UNION ALL ${PAST}`}
  ), held_by AS (
    -- Not a condition of the join, which would be done by other means than by hashes.
    SELECT *,
      ${isOneDay ? 'true' : `since < (nth + 1) * ${DAY} AND coalesce(until >= (nth + 1) * ${DAY}, true)`}
      AS stands FROM summed LEFT JOIN shelf USING (distid, gtin)
  ), ended AS (
    SELECT $day::DATE${isOneDay ? '' : ' + nth::INTEGER'} AS day, distid, gtin,
      coalesce(min(price) FILTER (stands AND listed AND NOT held AND qty > 0),
      min(price) FILTER (stands AND listed)) AS price,
      ${whole('coalesce(sum(qty) FILTER (stands AND listed AND NOT held), 0)')} AS qty,
      ${whole('coalesce(any_value(sold), 0)')} AS sold,
      any_value(restocks)::INTEGER AS restocks,
      (any_value(zero_since) + $from)::BIGINT AS zero_since,
      (any_value(back_at) + $from)::BIGINT AS back_at,
      (any_value(first_at) + $from)::BIGINT AS first_at,
      coalesce(bool_or(stands AND listed), false) AS listed,
      any_value(price_before) AS price_before
    FROM held_by GROUP BY ${nth}distid, gtin
  )
  SELECT ${
    isOneDay
      ? '*'
      : '* REPLACE (CASE WHEN lag(day) OVER item_days IS NULL THEN price_before ELSE lag(price) ' +
        'OVER item_days END AS price_before)'
  }
  FROM ended${isOneDay ? '' : ' WINDOW item_days AS (PARTITION BY distid, gtin ORDER BY day)'}`

/** Of several rows of an item the last one says how it is now. */
const LAST_ROWS = `(
  SELECT distid, gtin, max(day) AS day, last(qty ORDER BY day) AS qty,
    last(price ORDER BY day) AS price, max(zero_since) AS zero_since, max(back_at) AS back_at,
    min(first_at) AS first_at,
    last(listed ORDER BY day) AS listed
  FROM day_row GROUP BY distid, gtin)`

const items = (isOneDay: boolean) => `CREATE OR REPLACE TABLE new_item AS
  SELECT distid, gtin, CASE WHEN day IS NULL THEN i.qty ELSE d.qty END AS qty,
    CASE WHEN day IS NULL THEN i.price ELSE d.price END AS price,
    coalesce(d.zero_since, i.zero_since) AS zero_since, coalesce(d.back_at, i.back_at) AS back_at,
      coalesce(i.first_at, d.first_at) AS first_at, coalesce(d.listed, i.listed) AS listed
  FROM item i FULL JOIN ${isOneDay ? 'day_row' : LAST_ROWS} d USING (distid, gtin)`

/**
 * Takes the state in `offer` and `item` over the changes of some days, given in their order, and
 * makes `day_row` of each.
 */
export async function advance(duck: DuckDBConnection, days: readonly string[]): Promise<void> {
  const first = present(days[0], 'a day')
  const [from, isOneDay] = [`${momentOf(first)}::BIGINT`, days.length === 1]
  for (const statement of [STEPS, OFFERS, dayRows(isOneDay), items(isOneDay)])
    await duck.run(statement.replaceAll('$from', from).replaceAll('$day', `'${first}'`))
  for (const table of ['offer', 'item'])
    await duck.run(`DROP TABLE ${table}; ALTER TABLE new_${table} RENAME TO ${table}`)
  await duck.run('DROP TABLE step')
}
