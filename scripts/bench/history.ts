/**
 * The order history of a subscriber with 1,000,000 records, ten others beside it, against bare
 * SQLite: a table made by hand with just the right index for each question, a count(*) and a page.
 * Query by query, in one run; answers must agree.
 *   npx tsx scripts/bench/history.ts [records] [rounds]
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ctx } from '../../lib/app/ctx.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import type { Raw } from '../../lib/db/sqlite/sqlite.js'
import { historyPage, orderPage } from '../../lib/orders/history/history.js'
import { HistoryQuery, ListQuery, SORTS } from '../../lib/orders/history/shapes.js'
import { open } from '../../lib/app/open.js'
import { SHARED_PO, fillHistory } from './records.js'

const RECORDS = Number(process.argv[2] ?? 1_000_000)
const ROUNDS = Number(process.argv[3] ?? 7)
const OTHERS = 10
/** Of each other subscriber. */
const OTHER_RECORDS = RECORDS / 50
/** Records that are written one by one at the end. */
const WRITES = 2_000
/**
 * What the counts and the search cost whoever writes: single transactions, without the wait for the
 * disk, with the triggers and then without.
 */
function writeSome(raw: Raw, subscriber: string): void {
  const last = raw.prepare('SELECT max(id) FROM fulfillment_order').pluck().get() as number
  const record = raw.prepare(
    'INSERT INTO fulfillment_order SELECT @id, placement_id, @id, subscriber_id, order_id, ' +
      "order_source, order_date, distid, mode, 1, 'Pending', NULL, po_number, po_given, ffl, " +
      'customer_name, 0, 0, dist_order_items, NULL, NULL, NULL, NULL, NULL, NULL FROM ' +
      'fulfillment_order WHERE id = @of',
  )
  const number = raw.prepare(
    "UPDATE fulfillment_order SET order_status = 'Submitted', distributor_order_id = ? WHERE id = ?",
  )
  const parcel = raw.prepare(
    'INSERT INTO parcel (fulfillment_order_id, subscriber_id, tracking_number, updated_at) VALUES (?, ?, ?, 0)',
  )
  const shipped = raw.prepare(
    "UPDATE fulfillment_order SET order_status = 'Fulfilled', ship_status = 'in_transit' WHERE id = ?",
  )
  const write = (what: string, from: number) => {
    const times: number[] = []
    for (let id = from + 1; id <= from + WRITES; id++) {
      for (const work of [
        () => record.run({ id, of: id - from }),
        () => number.run(`N${id}`, id),
        () => {
          parcel.run(id, subscriber, `1Z${id * 7_919}`)
          shipped.run(id)
        },
      ]) {
        const start = performance.now()
        raw.exec('BEGIN IMMEDIATE')
        work()
        raw.exec('COMMIT')
        times.push(performance.now() - start)
      }
    }
    times.sort((a, b) => a - b)
    console.log(
      `a write ${what}: p50 ${times[times.length >> 1]!.toFixed(3)} ms, p99 ` +
        `${times[Math.floor(times.length * 0.99)]!.toFixed(2)} ms, worst ` +
        `${times.at(-1)!.toFixed(1)} ms of ${times.length}`,
    )
  }
  write('with counts and search   ', last)
  const triggers = raw
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    .pluck()
    .all() as string[]
  raw.exec('BEGIN')
  for (const trigger of triggers) raw.exec(`DROP TRIGGER ${trigger}`)
  raw.exec('COMMIT')
  write('without counts and search', last + WRITES)
}

/**
 * The yardstick: one table, the index that each question wants, and the same index of parts of
 * texts.
 */
function fillByHand(raw: Raw, record: string): void {
  raw.exec(`ATTACH '${record}' AS record;
    CREATE TABLE history AS SELECT * FROM record.fulfillment_order WHERE visible = 1 ORDER BY id;
    CREATE UNIQUE INDEX by_id ON history (id);
    CREATE TABLE failure AS SELECT * FROM record.failed_placement ORDER BY id;
    CREATE INDEX failure_at ON failure (subscriber_id, failed_at, id);
    CREATE TABLE tracking AS SELECT subscriber_id, tracking_number, fulfillment_order_id AS id FROM record.parcel;
    CREATE INDEX tracking_number ON tracking (subscriber_id, tracking_number);
    CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = 'trigram');
    INSERT INTO texts (rowid, text) SELECT id, text FROM record.fulfillment_text;
    DETACH record`)
  for (const columns of INDEXES)
    raw.exec(`CREATE INDEX ${nameOf(columns)} ON history (subscriber_id, ${columns})`)
}

const INDEXES = [
  'order_date, id',
  'order_id, id',
  'ship_date, id',
  'order_status, id',
  'order_source, id',
  'distid, order_date, id',
  'order_status, order_date, id',
  'ship_status, order_date, id',
  'order_source, order_date, id',
  'distid, order_status, order_date, id',
  'po_number, order_date, id',
  'distributor_order_id',
]
const nameOf = (columns: string) => `h_${columns.replaceAll(', ', '_')}`

interface Case {
  name: string
  run(
    ctx: Ctx,
  ): Promise<{ count: number; orders: { order_id: string }[]; errors?: { order_id: string }[] }>
  /** A count and a page of it. */
  count: string
  page: string
  values: (string | number)[]
  offset: number
  failures?: boolean
}

/** From the index named; with no terms, all records. */
function byHand(index: string, terms: string, order: string): { count: string; page: string } {
  const from = `FROM history INDEXED BY ${nameOf(index)} WHERE subscriber_id = ?${terms}`
  return {
    count: `SELECT count(*) ${from}`,
    page: `SELECT * ${from} ORDER BY ${order} LIMIT 25 OFFSET ?`,
  }
}

const list = (
  name: string,
  query: Partial<ListQuery>,
  yardstick: { count: string; page: string; values?: (string | number)[] },
): Case => ({
  name: `list ${name}`,
  run: (ctx) => orderPage(ctx, ListQuery.parse(query)),
  values: [],
  ...yardstick,
  offset: query.offset ?? 0,
})
const history = (
  name: string,
  query: Partial<HistoryQuery>,
  yardstick: { count: string; page: string; values?: (string | number)[] },
): Case => ({
  name: `history ${name}`,
  run: (ctx) => historyPage(ctx, HistoryQuery.parse({ include_errors: false, ...query })),
  values: [],
  ...yardstick,
  offset: query.offset ?? 0,
})

function cases(): Case[] {
  const newest = 'order_date DESC, id DESC'
  const middle = Math.floor(RECORDS / 2)
  const found: Case[] = []
  for (const sort of SORTS)
    for (const offset of [0, middle, RECORDS - 25])
      found.push(
        list(
          `${sort} at ${offset}`,
          { sort, offset },
          byHand(`${sort}, id`, '', `${sort} DESC, id DESC`),
        ),
      )
  found.push(
    list(
      `order_date asc at ${middle}`,
      { direction: 'asc', offset: middle },
      byHand('order_date, id', '', 'order_date, id'),
    ),
  )
  const match = (text: string) => ({
    count:
      'SELECT count(*) FROM texts CROSS JOIN history ON id = texts.rowid WHERE subscriber_id = ? AND texts MATCH ?',
    page:
      'SELECT history.* FROM texts CROSS JOIN history ON id = texts.rowid WHERE subscriber_id = ' +
      `? AND texts MATCH ? ORDER BY ${newest} LIMIT 25 OFFSET ?`,
    values: [`"${text}"`],
  })
  for (const [text, offset] of [
    ['W-567890', 0],
    ['1Z1234', 0],
    ['zzz', 0],
    ['peña', 0],
    ['peña', 50_000],
    ['-010', 0],
  ] as const)
    found.push(list(`search ${text} at ${offset}`, { search: text, offset }, match(text)))
  const scan =
    'FROM texts CROSS JOIN history ON id = texts.rowid WHERE subscriber_id = ? AND instr(lower(text), ?) > 0'
  found.push(
    list(
      'search z3',
      { search: 'z3' },
      {
        count: `SELECT count(*) ${scan}`,
        page: `SELECT history.* ${scan} ORDER BY ${newest} LIMIT 25 OFFSET ?`,
        values: ['z3'],
      },
    ),
  )
  for (const offset of [0, middle, RECORDS - 25])
    found.push(history(`at ${offset}`, { offset }, byHand('order_date, id', '', newest)))
  const filters: [HistoryQuery | Partial<HistoryQuery>, string, string, (string | number)[]][] = [
    [{ distid: 'RSR' }, 'distid, order_date, id', ' AND distid = ?', ['RSR']],
    [
      { order_status: 'Backordered' },
      'order_status, order_date, id',
      ' AND order_status = ?',
      ['Backordered'],
    ],
    [
      { ship_status: 'delivered' },
      'ship_status, order_date, id',
      ' AND ship_status = ?',
      ['delivered'],
    ],
    [
      { order_source: 'cockpit_cart' },
      'order_source, order_date, id',
      ' AND order_source = ?',
      ['cockpit_cart'],
    ],
    [
      { distid: 'RSR', order_status: 'Submitted' },
      'distid, order_status, order_date, id',
      ' AND distid = ? AND order_status = ?',
      ['RSR', 'Submitted'],
    ],
    [
      { order_status: 'Pending' },
      'order_status, order_date, id',
      ' AND order_status = ?',
      ['Pending'],
    ],
    [
      { from: '2025-01-01', to: '2025-01-31' },
      'order_date, id',
      ' AND order_date >= ? AND order_date < ?',
      [Date.UTC(2025, 0, 1), Date.UTC(2025, 1, 1)],
    ],
    [
      { from: '2025-01-01', distid: 'LIP' },
      'distid, order_date, id',
      ' AND distid = ? AND order_date >= ?',
      ['LIP', Date.UTC(2025, 0, 1)],
    ],
    [{ po_number: SHARED_PO }, 'po_number, order_date, id', ' AND po_number = ?', [SHARED_PO]],
  ]
  for (const [query, index, terms, values] of filters)
    found.push(
      history(Object.values(query).join(' '), query, { ...byHand(index, terms, newest), values }),
    )
  found.push(
    history(
      'cockpit_cart, deep',
      { order_source: 'cockpit_cart', offset: middle },
      {
        ...byHand('order_source, order_date, id', ' AND order_source = ?', newest),
        values: ['cockpit_cart'],
      },
    ),
  )
  found.push(
    history(
      'reference, a number',
      { reference: String(7_000_000 + middle) },
      {
        ...byHand('distributor_order_id', ' AND distributor_order_id = ?', newest),
        values: [String(7_000_000 + middle)],
      },
    ),
  )
  found.push({
    ...history('with errors', { include_errors: true }, byHand('order_date, id', '', newest)),
    failures: true,
  })
  return found
}

const median = (times: number[]) => times.sort((a, b) => a - b)[times.length >> 1]!
const worst = (times: number[]) => Math.max(...times)

/** The longest that the loop was held while something ran. */
async function held<T>(
  run: () => Promise<T>,
): Promise<{ result: T; total: number; longest: number }> {
  const start = performance.now()
  let [last, longest, going] = [start, 0, true]
  const turn = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (going) setImmediate(turn)
  }
  setImmediate(turn)
  const result = await run()
  going = false
  const end = performance.now()
  return { result, total: end - start, longest: Math.max(longest, end - last) }
}

async function compare(
  ctx: Ctx,
  raw: Raw,
  { name, run, count, page, values, offset, failures }: Case,
): Promise<void> {
  const times = { ours: [] as number[], theirs: [] as number[], longest: [] as number[] }
  const theirs = () => {
    const start = performance.now()
    const total = raw
      .prepare(count)
      .pluck()
      .get(ctx.subscriber.id, ...values) as number
    const rows = raw.prepare(page).all(ctx.subscriber.id, ...values, offset) as {
      order_id: string
    }[]
    const errors = failures
      ? (raw
          .prepare(
            'SELECT * FROM failure WHERE subscriber_id = ? ORDER BY failed_at DESC, id DESC LIMIT 25',
          )
          .all(ctx.subscriber.id) as { order_id: string }[])
      : []
    times.theirs.push(performance.now() - start)
    return JSON.stringify([
      total,
      rows.map(({ order_id: id }) => id),
      errors.map(({ order_id: id }) => id),
    ])
  }
  const ours = async () => {
    const { result, total, longest } = await held(() => run(ctx))
    times.ours.push(total)
    times.longest.push(longest)
    return JSON.stringify([
      result.count,
      result.orders.map(({ order_id: id }) => id),
      (result.errors ?? []).map(({ order_id: id }) => id),
    ])
  }
  for (let round = 0; round < ROUNDS + 1; round++) {
    // Whoever comes second finds the processor's caches the colder.
    const [a, b] = round % 2 === 0 ? [await ours(), theirs()] : [theirs(), await ours()].reverse()
    if (a !== b)
      throw new Error(`${name}: answers differ: ${a!.slice(0, 200)} and ${b!.slice(0, 200)}`)
    if (round === 0) for (const list of Object.values(times)) list.length = 0
  }
  const [a, b] = [median(times.ours), median(times.theirs)]
  console.log(
    `${name.padEnd(36)} ${a.toFixed(2).padStart(9)} ms ${b.toFixed(2).padStart(9)} ms   ratio ` +
      `${(a / b).toFixed(3).padStart(7)}   loop held ` +
      `${worst(times.longest).toFixed(1).padStart(6)} ms`,
  )
}

const dir = mkdtempSync(join(tmpdir(), 'bench-history-'))
try {
  const app = await open({ dir, worker: false })
  const subscribers = []
  for (let i = 0; i <= OTHERS; i++)
    subscribers.push(
      await app.operator.subscribers.create({ name: `Shop ${i}`, email: 'bench@shop.example' }),
    )
  await app.close()
  const file = filesIn(dir).record
  const writer = openFile(file, { synchronous: 'NORMAL' })
  writer.pragma('cache_size = -262144')
  let start = performance.now()
  const [first, ...others] = subscribers.map(({ id }) => id)
  fillHistory(writer, { subscriber: first!, records: RECORDS, others, ofEach: OTHER_RECORDS })
  console.log(
    `${(RECORDS + OTHERS * OTHER_RECORDS).toLocaleString('en-US')} records written in ` +
      `${((performance.now() - start) / 1_000).toFixed(0)} s`,
  )
  writer.pragma('wal_checkpoint(TRUNCATE)')
  const searched = writer
    .prepare("SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'fulfillment_search%'")
    .pluck()
    .get() as number
  console.log(
    `${(statSync(file).size / 1e6).toFixed(0)} MB in all; counts: ` +
      `${writer.prepare('SELECT count(*) FROM fulfillment_count').pluck().get() as number} ` +
      'rows, what a search looks into: ' +
      `${(searched / 1e6).toFixed(0)} MB`,
  )
  writer.close()
  start = performance.now()
  const handMade = openFile(join(dir, 'yardstick.db'), { synchronous: 'NORMAL' })
  fillByHand(handMade, file)
  handMade.close()
  console.log(
    `yardstick written in ${((performance.now() - start) / 1_000).toFixed(0)} s\n${' '.repeat(41)}ours       SQLite`,
  )
  const yardstick = openFile(join(dir, 'yardstick.db'), { synchronous: 'NORMAL', readonly: true })
  const served = await open({ dir, worker: false })
  const ctx: Ctx = { ...served.ctx, subscriber: subscribers[0]!, key: null }
  for (const one of cases()) await compare(ctx, yardstick, one)
  yardstick.close()
  await served.close()
  const last = openFile(file, { synchronous: 'NORMAL' })
  writeSome(last, subscribers[0]!.id)
  last.close()
} finally {
  rmSync(dir, { recursive: true, force: true })
}
