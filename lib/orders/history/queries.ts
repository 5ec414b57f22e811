/**
 * What the history asks of the database. Each statement goes by one index; what narrows a history
 * is part of its form, so that it names no column that was not asked for.
 */
import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import { DAY } from '../../core/clock.js'
import { eachOf, members, query } from '../../db/query.js'
import { byEngine, crossJoin } from '../../db/words.js'
import type { Direction, Sort } from './shapes.js'

export interface Order {
  sort: Sort
  direction: Direction
}

/** What narrows a history: values of columns, and order dates in ms, `to` exclusive. */
export interface Narrowing {
  distid?: string | undefined
  order_source?: string | undefined
  order_status?: string | undefined
  ship_status?: string | undefined
  from?: number | undefined
  to?: number | undefined
}

const KINDS = ['distid', 'order_source', 'order_status', 'ship_status'] as const

/** What each sort goes by, as its index has it. */
const KEYS: Record<Sort, RawBuilder<string | number>> = {
  order_date: sql`order_date`,
  order_id: sql`order_id`,
  ship_date: sql`coalesce(ship_date, '')`,
  order_status: sql`order_status`,
  order_source: sql`order_source`,
}

const ordering = ({ sort, direction }: Order) =>
  sql`order by ${KEYS[sort]} ${sql.raw(direction)}, id ${sql.raw(direction)}`

/** Which members are given: the form of a statement that is narrowed by them. */
const formOf = (narrowing: Narrowing) =>
  Object.entries(narrowing)
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name)
    .sort()
    .join(' ')

/** `and` with each kind that is given; values come from `given`, which may stand for them. */
function ofKinds(narrowing: Narrowing, given: Narrowing): RawBuilder<unknown> {
  const terms = KINDS.filter((name) => narrowing[name] !== undefined).map(
    (name) => sql` and ${sql.ref(name)} = ${given[name]}`,
  )
  return sql.join(terms, sql``)
}

/** The same with the order dates. */
function narrowedBy(narrowing: Narrowing, given: Narrowing): RawBuilder<unknown> {
  const from = narrowing.from === undefined ? sql`` : sql` and order_date >= ${given.from}`
  const to = narrowing.to === undefined ? sql`` : sql` and order_date < ${given.to}`
  return sql`${ofKinds(narrowing, given)}${from}${to}`
}

type Slice = { subscriber: string; limit: number; offset: number } & Narrowing

/** How many records there are in spans of so many days, from one span to another. */
export const countsOfSpans = (narrowing: Narrowing, direction: Direction) =>
  query<
    { span: number; orders: number },
    { subscriber: string; days: number; first: number; last: number } & Narrowing
  >(
    (_, given) =>
      sql`select span, sum(orders) as orders from fulfillment_count
        where subscriber_id = ${given.subscriber} and days = ${given.days}
        and span between ${given.first} and ${given.last}${ofKinds(narrowing, given)}
        group by span order by span ${sql.raw(direction)}`,
    `counts of spans ${direction} ${formOf(narrowing)}`,
  )

/** Ids of visible records in some order. */
export const idsInOrder = (narrowing: Narrowing, order: Order) =>
  query<{ id: number }, Slice>(
    (_, given) =>
      sql`select id from fulfillment_order
        where subscriber_id = ${given.subscriber} and visible = 1${narrowedBy(narrowing, given)}
        ${ordering(order)} limit ${given.limit} offset ${given.offset}`,
    `ids by ${order.sort} ${order.direction} ${formOf(narrowing)}`,
  )

/** The same from a key of that order on, itself included. */
export const idsInOrderFrom = (narrowing: Narrowing, order: Order) =>
  query<{ id: number }, Slice & { key: string | number }>(
    (_, given) =>
      sql`select id from fulfillment_order
        where subscriber_id = ${given.subscriber} and visible = 1${narrowedBy(narrowing, given)}
        and ${KEYS[order.sort]} ${sql.raw(order.direction === 'asc' ? '>=' : '<=')} ${given.key}
        ${ordering(order)} limit ${given.limit} offset ${given.offset}`,
    `ids by ${order.sort} ${order.direction} from a key ${formOf(narrowing)}`,
  )

/** How many visible records a subscriber has. */
export const countOfAll = query((db, given: { subscriber: string; days: number }) =>
  db
    .selectFrom('fulfillment_count')
    .select(({ fn }) => fn.sum<number | null>('orders').as('orders'))
    .where('subscriber_id', '=', given.subscriber)
    .where('days', '=', given.days),
)

/** By what a record stands where it does in an order. */
export const keyOf = (sort: Sort) =>
  query<{ key: string | number }, { id: number }>(
    (_, given) => sql`select ${KEYS[sort]} as key from fulfillment_order where id = ${given.id}`,
    `key of ${sort}`,
  )

/** Of these records those that are visible, the subscriber's and in the scope, with their keys. */
export const entriesOf = (narrowing: Narrowing, sort: Sort) =>
  query<
    { key: string | number; id: number },
    { ids: readonly number[]; subscriber: string } & Narrowing
  >(
    (_, given) =>
      // Crossed, the records are looked up one by one.
      sql`select ${KEYS[sort]} as key, o.id from ${eachOf(given.ids)} as given
        ${crossJoin()} fulfillment_order as o on o.id = given.value
        where subscriber_id = ${given.subscriber} and visible = 1${narrowedBy(narrowing, given)}`,
    `entries of ${sort} ${formOf(narrowing)}`,
  )

export const recordsOfIds = query((db, given: { ids: readonly number[] }) =>
  db.selectFrom('fulfillment_order').selectAll().where('id', 'in', members(given.ids)),
)

export const idsOfOrder = query((db, given: { subscriber: string; orderId: string }) =>
  db
    .selectFrom('fulfillment_order')
    .select('id')
    .where('subscriber_id', '=', given.subscriber)
    .where('visible', '=', 1)
    .where('order_id', '=', given.orderId)
    .orderBy('id'),
)

/** Rows that one look for a text reads: a PO that a caller puts on every order belongs to all. */
export const STEP = 20_000
/** Texts that one step of a search looks through, or finds. */
export const FEW_TEXTS = 5_000

/** Values of a place where single texts stand; `after` is the last place seen. */
interface LookedFor {
  subscriber: string
  text: string
  after: number
}

const inRecords = (column: 'po_number' | 'po_given' | 'distributor_order_id') =>
  query((db, given: LookedFor) =>
    db
      .selectFrom('fulfillment_order')
      .select(['id as place', 'id'])
      .where('subscriber_id', '=', given.subscriber)
      .where(column, '=', given.text)
      .where('id', '>', given.after)
      .orderBy('id')
      .limit(STEP),
  )

/** Where single texts stand: each query goes on behind the last place seen, by its index. */
export const PLACES = {
  order_id: query((db, given: LookedFor) =>
    db
      .selectFrom('fulfillment_order')
      .select(['id as place', 'id'])
      .where('subscriber_id', '=', given.subscriber)
      .where('visible', '=', 1)
      .where('order_id', '=', given.text)
      .where('id', '>', given.after)
      .orderBy('id')
      .limit(STEP),
  ),
  po_number: inRecords('po_number'),
  po_given: inRecords('po_given'),
  number: query((db, given: LookedFor) =>
    db
      .selectFrom('purchase_order')
      .select(['id as place', 'fulfillment_order_id as id'])
      .where('subscriber_id', '=', given.subscriber)
      .where('distributor_order_id', '=', given.text)
      .where('id', '>', given.after)
      .orderBy('id')
      .limit(STEP),
  ),
  numbers: inRecords('distributor_order_id'),
  parcel: query((db, given: LookedFor) =>
    db
      .selectFrom('parcel')
      .select(['fulfillment_order_id as place', 'fulfillment_order_id as id'])
      .where('subscriber_id', '=', given.subscriber)
      .where('tracking_number', '=', given.text)
      .where('fulfillment_order_id', '>', given.after)
      .orderBy('fulfillment_order_id')
      .limit(STEP),
  ),
}

/** Whether a text has a phrase, as SQLite's index of texts has it: with quotes around it. */
function hasPhrase(phrase: string): RawBuilder<boolean> {
  const text = sql`fold(phrase_text(${phrase}))`
  return byEngine({
    sqlite: sql`fulfillment_search match ${phrase}`,
    // By the index the few that have all of its parts, and of these the ones that have it whole.
    postgres: sql`(trigrams(folded) @> trigrams(${text}) and strpos(folded, ${text}) > 0)`,
  })
}

/** Records, of any subscriber, with a phrase in what can be searched. */
export const recordsWithPhrase = query<{ rowid: number }, { phrase: string }>(
  (_, given) => sql`select rowid from fulfillment_search where ${hasPhrase(given.phrase)}`,
)
export const someWithPhrase = query<{ rowid: number }, { phrase: string }>(
  (_, given) =>
    sql`select rowid from fulfillment_search where ${hasPhrase(given.phrase)}
      limit ${sql.lit(FEW_TEXTS)}`,
)

/** The same for a text that is too short for the index. `lower` leaves all but A-Z as it is. */
export const recordsWithText = query(
  (db, given: { from: number; to: number; lower: string; upper: string }) =>
    db
      .selectFrom('fulfillment_search_content')
      .select('id')
      .where('id', '>=', given.from)
      .where('id', '<=', given.to)
      .where(
        byEngine<boolean>({
          sqlite: sql`(instr(lower(c0), ${given.lower}) > 0
          or instr(lower(c0), lower(${given.upper})) > 0)`,
          postgres: sql`(strpos(lower(c0), ${given.lower}) > 0
          or strpos(lower(c0), lower(cast(${given.upper} as text) collate "C")) > 0)`,
        }),
      ),
)

export const lastRecord = query((db) =>
  db.selectFrom('fulfillment_order').select(({ fn }) => fn.max<number | null>('id').as('id')),
)

/** What narrows failed placements: texts that one of them has, and what narrows a history. */
export interface FailureNarrowing extends Pick<
  Narrowing,
  'distid' | 'order_source' | 'from' | 'to'
> {
  reference?: string | undefined
  order_id?: string | undefined
  po_number?: string | undefined
}

/** Columns in which each text may stand. */
const TEXTS = {
  reference: ['order_id', 'po_number', 'po_given'],
  order_id: ['order_id'],
  po_number: ['po_number', 'po_given'],
} as const

/** The newest failed placements that fit. */
export const failures = (narrowing: FailureNarrowing) =>
  query(
    (db, given: FailureNarrowing & { subscriber: string; limit: number }) => {
      const texts = (['reference', 'order_id', 'po_number'] as const).filter(
        (name) => narrowing[name] !== undefined,
      )
      // Few have a text, so they are sorted; the plus keeps SQLite from walking all failures by
      // date instead.
      const date = texts.length > 0 ? sql<number>`+failed_at` : sql<number>`failed_at`
      const having = (column: (typeof TEXTS)['reference'][number], text: string | undefined) =>
        sql`select id from failed_placement
          where subscriber_id = ${given.subscriber} and ${sql.ref(column)} = ${text}`
      const terms = [
        ...texts.map((name) => {
          const each = TEXTS[name].map((column) => having(column, given[name]))
          return sql<boolean>`id in (${sql.join(each, sql` union `)})`
        }),
        ...(['distid', 'order_source'] as const)
          .filter((name) => narrowing[name] !== undefined)
          .map((name) => sql<boolean>`${sql.ref(name)} = ${given[name]}`),
        ...(narrowing.from === undefined ? [] : [sql<boolean>`${date} >= ${given.from}`]),
        ...(narrowing.to === undefined ? [] : [sql<boolean>`${date} < ${given.to}`]),
      ]
      return db
        .selectFrom('failed_placement')
        .selectAll()
        .where('subscriber_id', '=', given.subscriber)
        .where(({ and }) => and(terms))
        .orderBy(date, 'desc')
        .orderBy('id', 'desc')
        .limit(given.limit)
    },
    `failures ${formOf(narrowing)}`,
  )

/** Pieces of the orders of each day; subscriber by subscriber, as the index of dates has them. */
export const unitsByDay = query<{ span: number; units: number }, { first: number }>(
  (_, { first }) =>
    byEngine({
      sqlite: sql`select order_date / ${sql.lit(DAY)} as span, sum(item.value ->> 'qty') as units
      from subscriber cross join fulfillment_order on subscriber_id = subscriber.id,
        json_each(dist_order_items) as item
      where visible = 1 and order_date >= ${first} group by span`,
      postgres: sql`select order_date / ${sql.lit(DAY)} as span,
        sum(cast(item.value ->> 'qty' as bigint)) as units
      from fulfillment_order, json_array_elements(cast(dist_order_items as json)) as item (value)
      where visible = 1 and order_date >= ${first} group by span`,
    }),
  'units by day',
)
