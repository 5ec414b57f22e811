/** Rows of the record by chance, the same for both engines. */
import type { Kysely } from 'kysely'
import { DAY } from '../../lib/core/clock.js'
import { ORDER_STATUSES, SHIP_STATUSES } from '../../lib/db/tables/column-types.js'
import type { Tables } from '../../lib/db/tables/tables.js'
import type { Rng } from '../harness/random.js'

/** The day on which everything happens, give or take. */
export const TODAY = Date.UTC(2026, 10, 21)

/** Texts that engines tell apart in different ways, if they may: case, order, patterns, length. */
export const TEXTS = [
  'abc',
  'ABC',
  'aBc',
  'Abd',
  'ab',
  'b',
  'É',
  'école',
  'ÉCOLE',
  'Straße',
  'STRASSE',
  'İstanbul',
  'ıI',
  'ſtop',
  'Kelvin K',
  'ΣΊΣΥΦΟΣ σίσυφος',
  'Ёлка ёлка',
  'Zebra',
  'zebra',
  '10',
  '9',
  '1-2',
  '12 %_\\ "x" \'y\'',
  '*[^a]?',
  '  two  blanks ',
  'snow ☃ 😀 𐐀𐐨',
  'e\u0301',
  'tab\tline\nend',
  '中文字',
  'PO-77-Ab',
  'po-77-aB',
] as const

export type Row = Record<string, unknown>
export type Rows = readonly [table: keyof Tables, rows: Row[]][]

const SHOPS = ['s_a', 's_B', 's_c']
const DISTIDS = ['RSR', 'rsr', 'CSSI']
const SOURCES = ['cockpit_cart', 'api', 'Api']
const STATES = ['planned', 'sending', 'placed', 'rejected', 'unknown', 'review', 'expired']

/** Rows in an order in which each finds what it refers to. */
export function makeRows(random: Rng): Rows {
  const number = (most: number) => random.int(0, most - 1)
  const of = <T>(list: readonly T[]): T => random.pick(list)
  const maybe = <T>(value: T): T | null => (number(3) === 0 ? null : value)
  const some = (count: number, make: (i: number) => Row): Row[] =>
    Array.from({ length: count }, (_, i) => make(i))
  const time = () => TODAY - number(70) * DAY + number(DAY)
  const text = () => of(TEXTS)
  const hash = () => BigInt.asIntN(64, BigInt(of(HASHES)) * 0x9e37_79b9_7f4a_7c15n)

  const placements = some(60, (i) => ({
    id: i + 1,
    subscriber_id: of(SHOPS),
    order_id: `${text()}${i % 7}`,
    attempt: 1,
    key_id: maybe('k1'),
    mode: of(['simulator', 'live']),
    request_digest: 'd',
    placed_at: time(),
    holds_id: 0,
    was_refused: 0,
  }))
  const records = some(160, (i) =>
    recordOf(random, i + 1, placements[i % 60]!, i < 60 ? 0 : 1 + (i % 5) + i),
  )
  const purchases = some(90, (i) => {
    const record = records[i]!
    return {
      id: i + 1,
      fulfillment_order_id: record['id'],
      placement_id: record['placement_id'],
      subscriber_id: record['subscriber_id'],
      distid: record['distid'],
      mode: record['mode'],
      lane: `l${i}`,
      client_ref: `ref${i}`,
      po_number: text(),
      payload: '{}',
      payload_digest: 'd',
      state: of(STATES),
      sends: number(3),
      owner: maybe(of(['me', 'other'])),
      account: maybe(of(['a1', 'A1'])),
      stage: null,
      distributor_order_id: maybe(text()),
      ever_unknown: number(2),
      unknown_since: null,
      refusal: null,
      misses: 0,
      missed_at: null,
      next_at: maybe(time()),
      failures: 0,
      reason: null,
      planned_at: time() + i,
      first_sent_at: maybe(time()),
      updated_at: time(),
    }
  })
  return [
    [
      'subscriber',
      SHOPS.map((id, i) => ({ id, name: `Shop ${TEXTS[i]}${i}`, email: 'e', created_at: i })),
    ],
    [
      'api_key',
      some(4, (i) => ({
        id: `k${i}`,
        subscriber_id: of(SHOPS),
        name: text(),
        contact_email: 'e',
        tier: 'pro',
        hash: Buffer.from([i, 255]),
        po_tag: 'AB',
        allowlist: '[]',
        status: 'enabled',
        created_at: i,
      })),
    ],
    [
      'distributor_mode',
      ['RSR', 'rsr'].map((distid, i) => ({
        distid,
        mode: i ? 'live' : 'simulator',
        changed_at: 1,
        changed_by: 'x',
      })),
    ],
    ['placement', placements],
    ['fulfillment_order', records],
    ['purchase_order', purchases],
    [
      'lane_status',
      some(30, (i) => ({ purchase_order_id: i + 1, order_status: of(ORDER_STATUSES), at: time() })),
    ],
    [
      'parcel',
      some(70, (i) => ({
        fulfillment_order_id: 1 + (i % 50),
        subscriber_id: records[i % 50]!['subscriber_id'],
        tracking_number: `${text()}${i}`,
        company: null,
        method: null,
        shipped_on: null,
        url: null,
        status: null,
        updated_at: time(),
        times: '{}',
      })),
    ],
    [
      'failed_placement',
      some(80, (i) => ({
        id: i + 1,
        placement_id: placements[i % 60]!['id'],
        fulfillment_order_id: records[i]!['id'],
        subscriber_id: placements[i % 60]!['subscriber_id'],
        failed_at: time(),
        order_source: of(SOURCES),
        order_id: text(),
        po_number: text(),
        po_given: text(),
        distid: of(DISTIDS),
        reason: text(),
      })),
    ],
    [
      'monitor',
      SHOPS.flatMap((subscriber_id) =>
        DISTIDS.slice(0, 2).map((distid) => ({
          subscriber_id,
          distid,
          mode: 'live',
          since: time(),
          next_at: time(),
          failures: number(3),
        })),
      ),
    ],
    ['order_count', some(10, (i) => ({ key_id: `k${i % 3}`, placement_id: i, at: time() }))],
    ['journal', some(25, (i) => ({ seq: i + 1, line: text() }))],
    [
      'order_engine',
      [
        { name: 'journaled', value: '17' },
        { name: 'paused', value: text() },
      ],
    ],
    [
      'audit',
      some(12, () => ({
        at: time(),
        actor: text(),
        action: of(['backup', 'keys.create']),
        detail: text(),
        mac: 'm',
      })),
    ],
    ['dealer', some(120, (i) => dealerOf(random, i))],
    ['dealer_on_file', some(40, (i) => ({ distid: DISTIDS[i % 3], dealer_id: `d${i * 2}` }))],
    ['fraud_partner', [{ name: 'partner', sender: 'x', batch: 2, made_at: 1, reports: 5 }]],
    [
      'fraud_report',
      some(50, (i) => ({
        id: i + 1,
        subscriber_id: maybe(of(SHOPS)),
        dealer: text(),
        partner: of([null, null, 'partner', 'gone']),
        batch: 1 + number(2),
        key: of(['k1', 'k2', 'K2']),
        mirrors: '',
        unreadable: number(2),
        strong: 's',
        reported_at: time(),
        updated_at: of([1, 2, 3]),
        payload: '',
        notes: of(['', text()]),
        extra: '',
      })),
    ],
    ['fraud_signal', unique(some(300, () => ({ hash: hash(), report: 1 + number(50) })))],
    [
      'fraud_evidence',
      unique(
        some(600, () => ({
          report: 1 + number(50),
          own: number(2),
          kind: number(12),
          hash: hash(),
        })),
      ),
    ],
    [
      'event',
      some(20, (i) => ({
        id: i + 1,
        uid: `u${i}`,
        kind: 'k',
        subject: `s${i}`,
        state: 'told',
        severity: 'info',
        message: text(),
        mend: null,
        at: time(),
      })),
    ],
    [
      'event_receiver',
      ['r1', 'R1', 'r2', 'é'].map((id) => ({
        id,
        kind: 'mail',
        address: 'a',
        secret: null,
        allow_private: 0,
        created_at: 1,
      })),
    ],
    [
      'event_delivery',
      unique(
        some(15, () => ({ event_id: 1 + number(20), receiver_id: of(['r1', 'R1', 'é']) })),
      ).map((row) => ({
        ...row,
        state: of(['waiting', 'delivered']),
        attempts: 0,
        next_at: time(),
        ended_at: null,
        fault: null,
      })),
    ],
  ]
}

/** Few, so that many rows share one. */
export const HASHES = Array.from({ length: 40 }, (_, i) => i + 1)

export function recordOf(random: Rng, id: number, placement: Row, group: number): Row {
  const of = <T>(list: readonly T[]): T => random.pick(list)
  const maybe = <T>(value: T): T | null => (random.int(0, 2) === 0 ? null : value)
  return {
    id,
    placement_id: placement['id'],
    group_no: group,
    subscriber_id: placement['subscriber_id'],
    order_id: placement['order_id'],
    order_source: of(SOURCES),
    // Some before 1970, where a span is negative.
    order_date:
      random.int(0, 19) === 0 ? -random.int(0, 100 * DAY) : TODAY - random.int(0, 90 * DAY),
    distid: of(DISTIDS),
    mode: of(['simulator', 'live']),
    visible: random.int(0, 4) === 0 ? 0 : 1,
    order_status: of(ORDER_STATUSES),
    distributor_order_id: maybe(of(TEXTS)),
    po_number: of(TEXTS),
    po_given: of(TEXTS),
    ffl: maybe(of(TEXTS)),
    customer_name: of(TEXTS),
    ffl_required: 0,
    ship_to_store: random.int(0, 1),
    dist_order_items: JSON.stringify([{ qty: random.int(0, 8) }, { qty: 1 }]),
    ship_date: maybe(of(['2026-11-01', '2026-10-09', ''])),
    ship_company: null,
    ship_method: null,
    ship_status: maybe(of(SHIP_STATUSES)),
    ship_tracking_number: maybe('t'),
    ship_tracking_url: null,
  }
}

const STREETS = [
  '12 Main St',
  'Twelve Main',
  '1-23 Queens Blvd',
  '123 A',
  'Box 12',
  '12',
  '112 Elm',
  'TWELVE Oak',
]
const CITIES = [
  'Phoenix',
  'PHOENIX',
  'phoenix',
  'Paris',
  'Österly',
  'Queens',
  'St. Paul',
  'saint paul',
]

function dealerOf(random: Rng, i: number): Row {
  const of = <T>(list: readonly T[]): T => random.pick(list)
  return {
    row: i + 1,
    id: `d${i}`,
    license_number: `1-57-033-01-${i}A-${10_000 + i}`,
    license_type: '01',
    expires_on: of(['2026-11-01', '2027-01-31', '2028-02-28']),
    valid_until: of([null, '2026-12-31', '2029-01-01']),
    license_name: of(TEXTS),
    business_name: of([null, ...TEXTS]),
    premise_street: of(STREETS),
    premise_city: of(CITIES),
    premise_state: of(['AZ', 'NY']),
    premise_zip: of(['85001', '85001-1234', '10001']),
    marked_on_file: random.int(0, 1),
    listed: random.int(0, 3) === 0 ? 0 : 1,
    source: of(['atf', 'operator']),
    updated_at: 1,
  }
}

function unique(rows: Row[]): Row[] {
  return [...new Map(rows.map((row) => [Object.values(row).join(' '), row])).values()]
}

export async function fill(db: Kysely<Tables>, rows: Rows): Promise<void> {
  for (const [table, each] of rows)
    for (const row of each)
      await db
        .insertInto(table)
        .values(row as never)
        .execute()
}
