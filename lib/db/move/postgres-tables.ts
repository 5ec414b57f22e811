/** Tables of PostgreSQL, read and written as a move does it: on one connection. */
import type { MoveClient as Client } from './postgres-state.js'
import { quoted, whereOf } from './tables.js'
import type { Cell, MovedTable, Row, TableShape } from './tables.js'

/** Rows that a cursor gives at once: few, since a document may have a megabyte. */
const FETCH = 100
/** Tables whose numbers a row of `given_number` counts; others have sequences, or go by the last row. */
const COUNTED = ['audit']

const READ = {
  text: (name: string) => name,
  number: (name: string) => `${name}::text`,
  bytes: (name: string) => `encode(${name}, 'hex')`,
} as const
const WRITE = {
  text: (name: string) => name,
  number: (name: string) => name,
  bytes: (name: string) => `decode(${name}, 'hex')`,
} as const
const ARRAYS = { text: 'text[]', number: 'bigint[]', bytes: 'text[]' } as const

/** Rows in the order of the key, within the transaction of the connection. */
export async function* readTable(client: Client, shape: TableShape): AsyncGenerator<Row[]> {
  const columns = shape.columns.map((one, i) => `${READ[one.kind](quoted(one.name))} AS c${i}`)
  // Of its own: other texts than ours might stand in a column of another language.
  const by = shape.order.map(
    (one) => `${quoted(one.name)}${one.kind === 'text' ? ' COLLATE "C"' : ''}`,
  )
  await client.query(
    `DECLARE moving NO SCROLL CURSOR FOR SELECT ${columns.join()} FROM ${quoted(shape.name)}` +
      `${whereOf(shape)} ORDER BY ${by.join()}`,
  )
  for (;;) {
    const { rows } = await client.query(`FETCH ${FETCH} FROM moving`)
    if (rows.length === 0) break
    yield rows.map((row) => Object.values(row) as Cell[])
  }
  await client.query('CLOSE moving')
}

/** Adds rows to a table. */
export function writerOf(
  client: Client,
  { name, columns }: TableShape,
): (rows: readonly Row[]) => Promise<void> {
  const names = columns.map((_, i) => `c${i}`)
  const arrays = columns.map((one, i) => `$${i + 1}::${ARRAYS[one.kind]}`)
  const insert =
    `INSERT INTO ${quoted(name)} (${columns.map((one) => quoted(one.name)).join()}) ` +
    `SELECT ${columns.map((one, i) => WRITE[one.kind](`c${i}`)).join()} ` +
    `FROM unnest(${arrays.join()}) AS rows (${names.join()})`
  return async (rows) => {
    await client.query(
      insert,
      columns.map((_, i) => rows.map((row) => row[i])),
    )
  }
}

/** Whether rows come in without the triggers of our own; references are checked all the same. */
export async function setTriggers(
  client: Client,
  tables: readonly MovedTable[],
  state: 'DISABLE' | 'ENABLE',
): Promise<void> {
  for (const { name } of tables)
    await client.query(`ALTER TABLE ${quoted(name)} ${state} TRIGGER USER`)
}

/** Removes all that was moved in, and what follows from it. */
export async function emptyTables(client: Client, tables: readonly MovedTable[]): Promise<void> {
  const names = [...tables.map(({ name }) => name), 'fulfillment_search', 'given_number']
  await client.query(`TRUNCATE ${names.map(quoted).join()} RESTART IDENTITY`)
  await client.query('DELETE FROM moved_table')
  await client.query(`INSERT INTO state (name, value) VALUES ('catalog', 0)`)
}

/**
 * What a search looks into, which the triggers keep from then on. Its index is made anew over all of
 * it, in a fraction of the time that it would take row by row.
 */
export async function fillSearch(client: Client): Promise<void> {
  const { rows } = await client.query(
    `SELECT indexname AS name, indexdef AS text FROM pg_indexes
      WHERE schemaname = 'quartermaster' AND tablename = 'fulfillment_search'
        AND indexdef LIKE '% USING gin %'`,
  )
  const indexes = rows as unknown as { name: string; text: string }[]
  for (const { name } of indexes) await client.query(`DROP INDEX ${quoted(name)}`)
  await client.query('TRUNCATE fulfillment_search')
  await client.query(
    'INSERT INTO fulfillment_search (rowid, text) SELECT id, text FROM fulfillment_text',
  )
  for (const { text } of indexes) await client.query(text)
}

/** How many records a search finds under another text than theirs, or not at all. */
export async function searchFaults(client: Client): Promise<number> {
  const { rows } = await client.query(
    `SELECT count(*) AS faults FROM fulfillment_text FULL JOIN fulfillment_search ON id = rowid
      WHERE fulfillment_text.text IS DISTINCT FROM fulfillment_search.text`,
  )
  return rows[0]!['faults'] as number
}

/** The last number that each table with numbers of its own has ever given. */
export async function givenNumbers(
  client: Client,
  tables: readonly MovedTable[],
): Promise<Map<string, string>> {
  const numbers = new Map<string, string>()
  const { rows } = await client.query('SELECT name, seq::text AS seq FROM given_number')
  for (const row of rows) numbers.set(row['name'] as string, row['seq'] as string)
  for (const { table, sequence } of await sequencesOf(client, tables)) {
    const { rows: last } = await client.query(
      `SELECT last_value::text AS seq FROM ${sequence} WHERE is_called`,
    )
    if (last[0]) numbers.set(table, last[0]['seq'] as string)
  }
  return numbers
}

/** No number that was ever given is given again, and none that a row has. */
export async function keepNumbers(
  client: Client,
  tables: readonly MovedTable[],
  numbers: ReadonlyMap<string, string>,
): Promise<void> {
  for (const { table, column, sequence } of await sequencesOf(client, tables))
    await client.query(
      `SELECT setval($1::regclass, greatest(last, 1), last > 0)
        FROM (SELECT greatest(coalesce(max(${quoted(column)}), 0), $2::bigint) AS last
          FROM ${quoted(table)}) AS given`,
      [sequence, numbers.get(table) ?? '0'],
    )
  for (const table of COUNTED)
    await client.query(
      `INSERT INTO given_number (name, seq) SELECT $1, last
        FROM (SELECT greatest(coalesce(max(seq), 0), $2::bigint) AS last FROM ${quoted(table)})
          AS given WHERE last > 0
        ON CONFLICT (name) DO UPDATE SET seq = excluded.seq`,
      [table, numbers.get(table) ?? '0'],
    )
}

interface Sequence {
  table: string
  column: string
  sequence: string
}

async function sequencesOf(client: Client, tables: readonly MovedTable[]): Promise<Sequence[]> {
  const { rows } = await client.query(
    `SELECT table_name AS table, column_name AS column,
        pg_get_serial_sequence(quote_ident(table_name), column_name) AS sequence
      FROM information_schema.columns
      WHERE table_schema = 'quartermaster' AND is_identity = 'YES' AND table_name = any($1)`,
    [tables.map(({ name }) => name)],
  )
  return rows as unknown as Sequence[]
}
