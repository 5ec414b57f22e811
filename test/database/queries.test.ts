/** Queries that Kysely writes once and that run within one turn: their values, and their indexes. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { openSqlite } from '../../lib/db/sqlite/driver.js'
import { quartermasterSchema } from '../../lib/db/migrations/quartermaster.js'
import { compile, eachOf, members, query, readerOver } from '../../lib/db/query.js'
import type { Query } from '../../lib/db/query.js'
import * as fraud from '../../lib/fraud/reports/queries.js'
import * as ffls from '../../lib/ffls/queries.js'
import * as history from '../../lib/orders/history/queries.js'
import * as engine from '../../lib/orders/engine/queries.js'
import * as matching from '../../lib/orders/matching/queries.js'
import * as tracking from '../../lib/orders/tracking/queries.js'
import { pattern } from '../harness/pattern.js'

function openRecord() {
  const raw = openSqlite(':memory:')
  for (const step of quartermasterSchema) raw.exec(step)
  return raw
}

describe('a query', () => {
  test('takes each value at its place, also where one stands twice, and keeps what it says itself', () => {
    const reader = readerOver(openRecord())
    const given = query<{ a: number; b: string; c: number; d: number }, { n: number; s: string }>(
      (_, { n, s }) => sql`select ${n} as a, ${s} as b, ${n} + 1 as c, ${7} as d`,
    )
    for (const n of [1, 2])
      assert.deepEqual(reader.all(given, { n, s: `s${n}` }), [{ a: n, b: `s${n}`, c: n + 1, d: 7 }])
    assert.deepEqual(reader.first(given, { n: 3, s: '' }), { a: 3, b: '', c: 4, d: 7 })
    assert.deepEqual(reader.lists(given, { n: 4, s: 'x' }), [[4, 'x', 5, 7]])
    assert.deepEqual(reader.column(given, { n: 5, s: '' }), [5])
    assert.equal(reader.value(given, { n: 6, s: '' }), 6)
    assert.deepEqual([...reader.iterateColumn(given, { n: 8, s: 'y' })], [8])
  })

  test('takes a list of any length as one value, 64 bits too', () => {
    const reader = readerOver(openRecord())
    const numbers = query((db, given: { list: readonly number[] }) =>
      db.selectFrom(eachOf(given.list).as('each')).select(['key', 'value']),
    )
    const texts = query<{ n: number }, { list: readonly string[] }>(
      (_, { list }) => sql`select 'b' in ${members(list)} as n`,
    )
    const hashes = query<{ n: number }, { list: readonly bigint[]; hash: bigint }>(
      (_, { list, hash }) => sql`select ${hash} in ${members(list)} as n`,
    )
    assert.deepEqual(reader.all(numbers, { list: [] }), [])
    assert.deepEqual(reader.all(numbers, { list: [5, 3] }), [
      { key: 0, value: 5 },
      { key: 1, value: 3 },
    ])
    assert.equal(reader.value(texts, { list: ['a"', 'b'] }), 1)
    assert.equal(reader.value(texts, { list: [] }), 0)
    const [big, other] = [-9_223_372_036_854_775_807n, -9_223_372_036_854_775_806n]
    assert.equal(reader.value(hashes, { list: [1n, big], hash: big }), 1)
    assert.equal(reader.value(hashes, { list: [1n, big], hash: other }), 0)
  })

  test('has its number of rows in its text: bound to it, it would be planned anew each time', () => {
    const few = query((db, given: { id: string }) =>
      db.selectFrom('subscriber').select('id').where('id', '>', given.id).limit(3).offset(1),
    )
    const { text, takes } = compile(few)
    assert.match(text, /limit 3 offset \?$/)
    assert.equal(takes.length, 2)
  })

  test('is written once for each form', () => {
    const reader = readerOver(openRecord())
    let written = 0
    const of = (name: 'id' | 'name') =>
      query((db) => {
        written++
        return db.selectFrom('subscriber').select(name)
      }, `subscribers ${name}`)
    for (const name of ['id', 'name', 'id'] as const) reader.all(of(name))
    assert.equal(written, 2)
  })

  test('of no row has no value', () => {
    const reader = readerOver(openRecord())
    const none = query((db) => db.selectFrom('subscriber').select('id'))
    assert.equal(reader.first(none), undefined)
    assert.equal(reader.value(none), undefined)
  })
})

const { from, to } = { from: 1, to: 2 }
/** A query that counts on an index, and what SQLite says that it does first. */
const PLANS: [name: string, query: Query<never, unknown>, plan: RegExp][] = [
  [
    'what is due',
    engine.due,
    /^SEARCH purchase_order USING INDEX purchase_order_open \(state=\?\)$/m,
  ],
  [
    'what is due while orders are paused, in the order of the index',
    engine.dueWhilePaused,
    /^SEARCH purchase_order USING INDEX purchase_order_open \(state=\?\)$(?![^]*TEMP B-TREE)/m,
  ],
  ['what is being sent', engine.beingSent, /INDEX purchase_order_open \(state=\?\)$/m],
  ['orders of ids', engine.ordersOfIds, /purchase_order USING INTEGER PRIMARY KEY \(rowid=\?\)/],
  [
    'orders without a number',
    matching.numberless,
    /INDEX purchase_order_numberless \(distid=\? AND mode=\? AND planned_at>\?\)$/m,
  ],
  [
    'accounts that are watched',
    tracking.accountsWatched,
    /^SEARCH fulfillment_order USING INDEX fulfillment_order_open \(order_date>\?\)$/m,
  ],
  [
    'reports that match',
    fraud.reportsWith,
    /SCAN asked.*\n.*fraud_signal USING PRIMARY KEY \(hash=\?\)\n.*fraud_report USING INTEGER PRIMARY KEY/,
  ],
  [
    'values of reports',
    fraud.valuesOfKinds,
    /SEARCH fraud_evidence USING PRIMARY KEY \(report=\? AND own=\? AND kind<\?\)/,
  ],
  [
    'items that are shared',
    fraud.itemsShared,
    /SEARCH fraud_evidence USING PRIMARY KEY \(report=\? AND own=\? AND kind>\?\)/,
  ],
  ['keys in use', fraud.keysInUse, /USING INDEX fraud_report_key/],
  ['premises in a ZIP', fraud.premisesInZip, /USING INDEX dealer_zip \(<expr>=\?\)/],
  [
    'premises in a city',
    fraud.premisesInCity,
    /USING INDEX dealer_city \(premise_state=\? AND premise_city=\?\)/,
  ],
  ['cities of a state', fraud.citiesBetween, /USING COVERING INDEX dealer_city/],
  ['dealers of the list', ffls.listedDealers, /dealer USING INTEGER PRIMARY KEY \(rowid=\?\)/],
  ['the directory', ffls.directoryRows, /dealer USING INTEGER PRIMARY KEY \(rowid>\?\)/],
  [
    'counts of spans',
    history.countsOfSpans({ distid: 'RSR' }, 'desc'),
    /fulfillment_count USING PRIMARY KEY \(subscriber_id=\? AND days=\? AND span>\? AND span<\?\)$/m,
  ],
  ...(['order_date', 'order_id', 'ship_date', 'order_status', 'order_source'] as const).flatMap(
    (sort): typeof PLANS =>
      (['asc', 'desc'] as const).flatMap((direction): typeof PLANS => {
        const index = `fulfillment_order_${sort.replace(/^order_/, '')}`
        const name = `a page by ${sort}, ${direction}`
        const plan = new RegExp(
          '^SEARCH fulfillment_order USING (COVERING )?INDEX ' +
            `${index.replace('order_id', 'order_order').replace('_id', '_order')} .*$(?!\\n.*TEMP)`,
          'm',
        )
        return [
          [name, history.idsInOrder({}, { sort, direction }), plan],
          [`${name} from a key`, history.idsInOrderFrom({}, { sort, direction }), plan],
        ]
      }),
  ),
  [
    'a day of the history',
    history.idsInOrder({ from, to, distid: 'RSR' }, { sort: 'order_date', direction: 'desc' }),
    pattern(
      /^SEARCH fulfillment_order USING COVERING INDEX fulfillment_order_date /,
      /\(subscriber_id=\? AND visible=\? AND order_date>\? AND order_date<\?\)$/,
    ),
  ],
  ['records of a page', history.recordsOfIds, /fulfillment_order USING INTEGER PRIMARY KEY/],
  [
    'entries',
    history.entriesOf({}, 'order_id'),
    /^SCAN given.*\nSEARCH o USING INTEGER PRIMARY KEY/,
  ],
  [
    'an order',
    history.idsOfOrder,
    /INDEX fulfillment_order_order \(subscriber_id=\? AND visible=\? AND order_id=\?\)$/,
  ],
  [
    'an order id',
    history.PLACES.order_id,
    /INDEX fulfillment_order_order \(subscriber_id=\? AND visible=\? AND order_id=\? AND rowid>\?\)$/,
  ],
  [
    'a PO',
    history.PLACES.po_number,
    /INDEX fulfillment_order_po \(subscriber_id=\? AND po_number=\? AND rowid>\?\)$/,
  ],
  [
    'a PO as given',
    history.PLACES.po_given,
    /INDEX fulfillment_order_po_given \(subscriber_id=\? AND po_given=\? AND rowid>\?\)$/,
  ],
  [
    'a number',
    history.PLACES.number,
    /INDEX purchase_order_number \(distributor_order_id=\? AND rowid>\?\)$/m,
  ],
  [
    'numbers',
    history.PLACES.numbers,
    /INDEX fulfillment_order_number \(subscriber_id=\? AND distributor_order_id=\? AND rowid>\?\)$/,
  ],
  [
    'a parcel',
    history.PLACES.parcel,
    /INDEX parcel_tracking \(subscriber_id=\? AND tracking_number=\? AND fulfillment_order_id>\?\)$/,
  ],
  [
    'failures',
    history.failures({ from, to }),
    /INDEX failed_placement_at \(subscriber_id=\? AND failed_at>\? AND failed_at<\?\)$/,
  ],
  [
    'failures with a text',
    history.failures({ reference: 'x', from }),
    pattern(
      /^(?!.*failed_placement_at)/,
      /(?=[^]*failed_placement_order \(subscriber_id=\? AND order_id=\?\))/,
      /(?=[^]*failed_placement_po )(?=[^]*failed_placement_po_given )/,
    ),
  ],
]

describe('goes by its index', () => {
  for (const [name, asked, plan] of PLANS)
    test(name, () => {
      const { text, takes } = compile(asked)
      const rows = openRecord()
        .prepare(`explain query plan ${text}`)
        .all(...takes.map(() => null)) as { detail: string }[]
      assert.match(rows.map(({ detail }) => detail).join('\n'), plan)
    })
})
