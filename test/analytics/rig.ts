/**
 * Metrics over small tables that a test makes by hand: DuckDB's part and the combination, without
 * files.
 */
import duckdb from '@duckdb/node-api'
import { DAY, dayOf, startOfDay } from '../../lib/core/clock.js'
import { combine, orderOf } from '../../lib/analytics/answers/combine.js'
import type { SectionColumns } from '../../lib/analytics/builds/columns.js'
import { findMetric } from '../../lib/analytics/metrics/index.js'
import { prepare } from '../../lib/analytics/builds/prepare.js'
import { readRows } from '../../lib/analytics/answers/rows.js'

/** Noon of the day on which everything is read. */
export const NOW = Date.UTC(2026, 10, 21, 12)

/** Noon of a day so many days ago. */
export const ago = (days: number) => NOW - days * DAY

export interface OfferRow {
  gtin: number
  distid: string
  price: number
  qty?: number
  map?: number | null
  msrp?: number | null
  categorized?: boolean
}

export interface DayRow {
  /** Days before the day of NOW. */
  ago: number
  gtin: number
  distid: string
  price?: number | null
  qty?: number
  sold?: number
  restocks?: number
  listed?: boolean
  /** What it cost before that day; a file of an earlier release does not say. */
  price_before?: number | null
}

/** Times in milliseconds. */
export interface ItemRow {
  gtin: number
  distid: string
  qty?: number
  price?: number | null
  zero_since?: number | null
  back_at?: number | null
  first_at?: number | null
  listed?: boolean
}

export interface World {
  offers: readonly OfferRow[]
  days?: readonly DayRow[]
  items?: readonly ItemRow[]
}

export type Result = Record<string, number | string | null>

export interface Rig {
  /**
   * Results in their order, measures as they are kept: cents, tenths, milliseconds; a distid by its
   * name.
   */
  results(
    slug: string,
    options: { days?: number; distids: readonly string[]; order?: readonly string[] },
  ): Promise<Result[]>
}

const DAILY =
  'day DATE, distid VARCHAR, gtin BIGINT, price INTEGER, qty INTEGER, sold INTEGER, restocks ' +
  'INTEGER, zero_since BIGINT, back_at BIGINT, first_at BIGINT, listed BOOLEAN, price_before ' +
  'INTEGER'
const ITEM_NOW =
  'distid VARCHAR, gtin BIGINT, qty INTEGER, price INTEGER, zero_since BIGINT, back_at ' +
  'BIGINT, first_at BIGINT, listed BOOLEAN'
const OFFER =
  'gtin BIGINT, distid VARCHAR, text INTEGER, categorized BOOLEAN, price INTEGER, map ' +
  'INTEGER, msrp INTEGER, qty INTEGER'

const value = (given: unknown) =>
  given === null || given === undefined
    ? 'NULL'
    : typeof given === 'string'
      ? `'${given}'`
      : String(given)

/** Statements that make a table with these rows, given in the order of its columns. */
export function tableOf(
  name: string,
  columns: string,
  rows: readonly (readonly unknown[])[],
): string {
  const insert =
    rows.length > 0
      ? `INSERT INTO ${name} VALUES ${rows.map((row) => `(${row.map(value).join(', ')})`).join(', ')};`
      : ''
  return `CREATE TABLE ${name} (${columns}); ${insert}`
}

let instance: Promise<duckdb.DuckDBInstance> | undefined

/** Tables `daily` and `item_now` as the history gives them. */
export function historyTables({ days = [], items = [] }: Omit<World, 'offers'>): string {
  return (
    tableOf(
      'daily',
      DAILY,
      days.map((row) => [
        dayOf(ago(row.ago)),
        row.distid,
        row.gtin,
        row.price === undefined ? 1_000 : row.price,
        row.qty ?? 5,
        row.sold ?? 0,
        row.restocks ?? 0,
        null,
        null,
        null,
        row.listed ?? true,
        row.price_before,
      ]),
    ) +
    tableOf(
      'item_now',
      ITEM_NOW,
      items.map((row) => [
        row.distid,
        row.gtin,
        row.qty ?? 5,
        row.price === undefined ? 1_000 : row.price,
        row.zero_since,
        row.back_at,
        row.first_at === undefined ? ago(400) : row.first_at,
        row.listed ?? true,
      ]),
    )
  )
}

/** Prepares the tables of a world; `now` in milliseconds. */
export async function rigOf(world: World, now = NOW): Promise<Rig> {
  const duck = await (
    await (instance ??= duckdb.DuckDBInstance.create(':memory:', { threads: '1' }))
  ).connect()
  // Worlds share one DuckDB, each in a schema of its own.
  const schema = `world_${++worlds}`
  await duck.run(`CREATE SCHEMA ${schema}; USE ${schema}`)
  await duck.run(
    historyTables(world) +
      tableOf(
        'catalog_offer',
        OFFER,
        world.offers.map((row, place) => [
          row.gtin,
          row.distid,
          place,
          row.categorized ?? true,
          row.price,
          row.map,
          row.msrp,
          row.qty ?? 5,
        ]),
      ),
  )
  await prepare(duck, now)
  const column = async (sql: string) =>
    (await duck.runAndReadAll(sql)).getRowsJson().map(([first]) => first)
  const gtins = (await column('SELECT gtin::DOUBLE FROM known_item ORDER BY item')) as number[]
  const known = (await column('SELECT distid FROM known_dist ORDER BY dist')) as string[]
  const sections = new Map<string, Promise<SectionColumns>>()
  return {
    async results(slug, { days = 0, distids, order }) {
      const metric = findMetric(slug)!
      const place = `${slug} ${days}`
      if (!sections.has(place)) sections.set(place, readRows(duck, metric, days))
      const combined = await combine(
        metric,
        await sections.get(place)!,
        new Set(distids.map((distid) => known.indexOf(distid)).filter((found) => found >= 0)),
      )
      return [...(await orderOf(combined, order ?? metric.order))].map((row) => ({
        gtin: gtins[combined.items[row]!]!,
        ...Object.fromEntries(
          Object.entries(metric.measures).map(([name, form]) => {
            const number = combined.values[name]![row]!
            return [name, Number.isNaN(number) ? null : form === 'distid' ? known[number]! : number]
          }),
        ),
      }))
    },
  }
}

let worlds = 0

/** Noon, as `ago`, of a day's first moment. */
export const morning = (days: number) => startOfDay(ago(days))
