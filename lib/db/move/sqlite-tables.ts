/** Tables of a folder's databases, read and written as a move does it. */
import type { Raw } from '../sqlite/sqlite.js'
import { batchesOf, quoted, whereOf } from './tables.js'
import type { MovedColumn, MovedTable, Row, TableShape } from './tables.js'

const KINDS: Readonly<Record<string, MovedColumn['kind']>> = {
  TEXT: 'text',
  INTEGER: 'number',
  BLOB: 'bytes',
}

/** The columns of a table, and what its rows are sorted by. */
export function shapeOf(raw: Raw, table: MovedTable): TableShape {
  const columns = (
    raw.pragma(`table_xinfo(${table.name})`) as { name: string; type: string; pk: number }[]
  ).map(({ name, type, pk }) => {
    const kind = KINDS[type]
    if (kind === undefined) throw new Error(`${table.name}.${name} is of a type that does not move`)
    return { name, kind, pk }
  })
  const key = columns.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk)
  const plain = ({ name, kind }: MovedColumn) => ({ name, kind })
  return {
    ...table,
    columns: columns.map(plain),
    order: (key.length > 0 ? key : columns).map(plain),
  }
}

const READ = {
  text: (name: string) => name,
  number: (name: string) => `CAST(${name} AS TEXT)`,
  bytes: (name: string) => `CASE WHEN ${name} IS NOT NULL THEN lower(hex(${name})) END`,
} as const
const WRITE = { text: '?', number: 'CAST(? AS INTEGER)', bytes: 'unhex(?)' } as const

/**
 * The rows of a table in the order of its key. The handle is busy until the last of them was taken.
 * `look` is another one: a text that PostgreSQL cannot hold is looked at by it, and throws an Error
 * that names the row.
 */
export function* readTable(raw: Raw, shape: TableShape, look: Raw = raw): Generator<Row[]> {
  const { columns, order, name } = shape
  // Of its own: a text that is compared without case has an order that is not PostgreSQL's.
  const by = order.map(
    (one) => `${quoted(one.name)}${one.kind === 'text' ? ' COLLATE BINARY' : ''}`,
  )
  const rows = raw
    .prepare(
      `SELECT ${columns.map((one) => READ[one.kind](quoted(one.name))).join()} ` +
        `FROM ${quoted(name)}${whereOf(shape)} ORDER BY ${by.join()}`,
    )
    .raw()
    .iterate() as Iterable<Row>
  for (const batch of batchesOf(rows)) {
    for (const row of batch) refuseUnfit(row, shape, look)
    yield batch
  }
}

/** Texts with a NUL, and bytes that are no text, which come as U+FFFD. */
// oxlint-disable-next-line no-control-regex
const SUSPECT = /[\0\ufffd]/

function refuseUnfit(row: Row, shape: TableShape, look: Raw): void {
  for (const [i, { name, kind }] of shape.columns.entries()) {
    const cell = row[i]
    if (kind !== 'text' || typeof cell !== 'string' || !SUSPECT.test(cell)) continue
    const key = keyOf(row, shape)
    const place = `${shape.name}.${name} in the row ${JSON.stringify(key)}`
    if (cell.includes('\0'))
      throw new Error(`${place} has a NUL character, which PostgreSQL cannot hold`)
    if (!bytesOf(look, { shape, name, key }).equals(Buffer.from(cell)))
      throw new Error(`${place} has bytes that are not UTF-8, which PostgreSQL cannot hold`)
  }
}

const keyOf = (row: Row, { columns, order }: TableShape) =>
  order.map((one) => row[columns.findIndex(({ name }) => name === one.name)] ?? null)

function bytesOf(
  look: Raw,
  { shape, name, key }: { shape: TableShape; name: string; key: Row },
): Buffer {
  const where = shape.order.map((one) => `${READ[one.kind](quoted(one.name))} IS ?`).join(' AND ')
  return look
    .prepare(`SELECT CAST(${quoted(name)} AS BLOB) FROM ${quoted(shape.name)} WHERE ${where}`)
    .pluck()
    .get(...key) as Buffer
}

/** Adds rows to a table. */
export function writerOf(raw: Raw, { name, columns }: TableShape): (rows: readonly Row[]) => void {
  const insert = raw.prepare(
    `INSERT INTO ${quoted(name)} (${columns.map((one) => quoted(one.name)).join()}) ` +
      `VALUES (${columns.map((one) => WRITE[one.kind]).join()})`,
  )
  return (rows) => {
    for (const row of rows) insert.run(...row)
  }
}

/**
 * Takes the triggers of a database away, so that rows come in as they are and quickly. Returns what
 * puts them back, and fills what they keep.
 */
export function withoutTriggers(raw: Raw): () => void {
  const triggers = raw
    .prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`)
    .all() as { name: string; sql: string }[]
  for (const { name } of triggers) raw.exec(`DROP TRIGGER ${quoted(name)}`)
  return () => {
    for (const { sql } of triggers) raw.exec(sql)
  }
}

/** What a search looks into, which the triggers keep from then on. */
export function fillSearch(raw: Raw): void {
  raw.exec(`DELETE FROM fulfillment_search;
    INSERT INTO fulfillment_search (rowid, text) SELECT id, text FROM fulfillment_text`)
}

/** The last number that each table with numbers of its own has ever given. */
export function givenNumbers(raw: Raw): Map<string, string> {
  // Where no table has any, SQLite has nothing to keep them in.
  if (!raw.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'`).get())
    return new Map()
  const rows = raw.prepare('SELECT name, CAST(seq AS TEXT) FROM sqlite_sequence').raw().all()
  return new Map(rows as [string, string][])
}

/** No number that was ever given is given again. */
export function keepNumbers(raw: Raw, numbers: ReadonlyMap<string, string>): void {
  const known = givenNumbers(raw)
  const isOwn = raw
    .prepare(`SELECT 1 FROM sqlite_schema WHERE name = ? AND sql LIKE '%AUTOINCREMENT%'`)
    .pluck()
  for (const [table, last] of numbers) {
    if (isOwn.get(table) === undefined || BigInt(known.get(table) ?? 0) >= BigInt(last)) continue
    raw.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(table)
    raw
      .prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, CAST(? AS INTEGER))')
      .run(table, last)
  }
}

/** Has every source pulled as soon as somebody serves the folder. */
export function makeDue(raw: Raw): void {
  raw.exec('UPDATE feed_source SET last_pull_at = NULL')
}

/** How far `orders.journal` goes, which is made of the table. */
export function noteJournalFile(raw: Raw): void {
  raw.exec(`INSERT INTO order_engine (name, value)
    SELECT 'journaled', CAST(max(seq) AS TEXT) FROM journal HAVING max(seq) > 0`)
}
