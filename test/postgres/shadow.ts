/**
 * Writes down every statement that Kysely runs on a system of record, with its values and its
 * answer, and runs all of them again on PostgreSQL: in the same order, in the same transactions.
 */
import assert from 'node:assert/strict'
import type { CompiledQuery } from 'kysely'
import { openSqlite } from '../../lib/db/sqlite/driver.js'
import type { Raw, Statement } from '../../lib/db/sqlite/driver.js'
import { PostgresCompiler } from '../../lib/db/postgres/compiler.js'
import { openPostgres } from '../../lib/db/postgres/connect.js'
import { DatabaseAway } from '../../lib/db/postgres/faults.js'
import type { Client } from '../../lib/db/postgres/driver.js'
import { QueryCompiler } from '../../lib/db/sqlite/sqlite.js'

interface Written {
  text: string
  values: readonly unknown[]
}

interface Ran extends Written {
  kind: 'statement'
  sqlite: string
  /** It saw what was committed, whatever is under way. */
  isReader: boolean
  /** Rows as texts, in any order, or how many were changed. */
  answer: string[] | number | 'failed'
}

type Entry = Ran | { kind: 'begin' | 'commit' | 'rollback' }

export interface Shadow {
  /** Of one file of the record: what it held at first, and what was done to it. */
  readonly records: ReadonlyMap<string, { tables: Table[]; entries: Entry[] }>
  stop(): void
}

const isPlain = (row: unknown) =>
  typeof row === 'object' && row !== null && Object.getPrototypeOf(row) === Object.prototype

const textsOf = (rows: readonly unknown[]) =>
  rows.map((row) => JSON.stringify(Object.entries(row as object).toSorted())).toSorted()

interface Table {
  name: string
  rows: Record<string, unknown>[]
}

type Native = Statement & { source: string; database: { name: string; readonly: boolean } }

/** From here on, everything is written down. */
export function castShadow(): Shadow {
  const records = new Map<string, { tables: Table[]; entries: Entry[] }>()
  const written = new Map<string, Written>()
  const compiler = new PostgresCompiler()
  const keyOf = (sql: string, values: readonly unknown[]) =>
    `${sql} ${JSON.stringify(values, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))}`

  const probe = openSqlite(':memory:')
  const statement = Object.getPrototypeOf(probe.prepare('select 1')) as Statement
  const database = Object.getPrototypeOf(probe) as Raw
  probe.close()
  const compile = QueryCompiler.prototype.compileQuery
  const { all, run } = statement
  const { exec } = database

  QueryCompiler.prototype.compileQuery = function (node, id) {
    const made = compile.call(this, node, id) as CompiledQuery
    const { sql: text, parameters: values } = compiler.compileQuery(node, id)
    written.set(keyOf(made.sql, made.parameters), { text, values })
    return made as never
  }

  const isRecord = (path: string) => path.endsWith('quartermaster.db')
  function entriesOf(path: string): Entry[] {
    let record = records.get(path)
    if (!record) records.set(path, (record = { tables: contentOf(path, all), entries: [] }))
    return record.entries
  }

  const watched = (act: Statement['all'] | Statement['run']) =>
    function (this: Native, ...values: unknown[]): unknown {
      const { name, readonly } = this.database
      const flat =
        values.length === 1 && Array.isArray(values[0]) ? (values[0] as unknown[]) : values
      const known = isRecord(name) ? written.get(keyOf(this.source, flat)) : undefined
      if (!known) return Reflect.apply(act, this, values)
      const entries = entriesOf(name)
      const note = (answer: Ran['answer']) =>
        void entries.push({
          kind: 'statement',
          ...known,
          sqlite: this.source,
          isReader: readonly,
          answer,
        })
      try {
        const answer = Reflect.apply(act, this, values) as unknown[] | { changes: number }
        // A synchronous read may have them as lists, or as their first values.
        if (!Array.isArray(answer)) note(answer.changes)
        else if (answer.every(isPlain)) note(textsOf(answer))
        return answer
      } catch (error) {
        note('failed')
        throw error
      }
    }
  statement.all = watched(all) as never
  statement.run = watched(run) as never
  database.exec = function (this: Raw & { name: string }, text: string) {
    const word = /^(begin|commit|rollback)( immediate)?$/.exec(text)?.[1]
    if (word === 'begin' && isRecord(this.name)) entriesOf(this.name)
    const result = exec.call(this, text)
    if (word && isRecord(this.name)) entriesOf(this.name).push({ kind: word as 'begin' })
    return result
  }

  return {
    records,
    stop() {
      QueryCompiler.prototype.compileQuery = compile
      Object.assign(statement, { all, run })
      database.exec = exec
    },
  }
}

function contentOf(path: string, all: Statement['all']): Table[] {
  const raw = openSqlite(path, { readonly: true })
  try {
    const list = (text: string) =>
      all.call(raw.prepare(text).safeIntegers()) as Record<string, unknown>[]
    const names = list(`select name from sqlite_master where type = 'table'
      and name not like 'sqlite_%' and name not like 'fulfillment_search%'`)
    const search = list('select rowid, text from fulfillment_search')
    return [
      ...names.map(({ name }) => ({
        name: name as string,
        rows: list(`select * from "${name as string}"`),
      })),
      { name: 'fulfillment_search', rows: search },
      {
        name: 'given_number',
        rows: list("select name, seq from sqlite_sequence where name = 'audit'"),
      },
    ]
  } finally {
    raw.close()
  }
}

/** Numbers that each engine gives by itself: what was undone leaves a gap in PostgreSQL's. */
const NUMBERED = {
  active_rule_set: 'seq',
  event: 'id',
  failed_placement: 'id',
  fraud_report: 'id',
  fulfillment_change: 'seq',
  transcript: 'id',
}

/** Runs all that was written down of one record; returns how many different statements there were. */
export async function replay(
  address: string,
  { tables, entries }: { tables: Table[]; entries: Entry[] },
): Promise<Set<string>> {
  const postgres = await openPostgres(address)
  const [writer, reader] = [postgres.newClient(), postgres.newClient()]
  try {
    for (const client of [writer, reader]) {
      client.on('error', () => {})
      await client.connect()
    }
    await copyIn(writer, tables)
    await align(writer)
    const seen = new Set<string>()
    let isInside = false
    for (const entry of entries) {
      if (entry.kind !== 'statement') {
        await writer.query(entry.kind)
        isInside = entry.kind === 'begin'
        if (entry.kind === 'rollback') await align(writer)
        continue
      }
      seen.add(entry.text)
      await repeat(entry.isReader ? reader : writer, entry, isInside && !entry.isReader)
    }
    return seen
  } finally {
    await writer.end()
    await reader.end()
    await postgres.close()
  }
}

async function repeat(client: Client, ran: Ran, isInside: boolean): Promise<void> {
  const { text, values, answer } = ran
  const what = `${ran.sqlite}\n${text}\n${String(values)}`
  if (isInside && answer === 'failed') await client.query('savepoint before')
  let ours: Ran['answer']
  try {
    const { rows, rowCount, command } = await client.query(text, values)
    ours = command === 'SELECT' || rows.length > 0 ? textsOf(rows) : (rowCount ?? 0)
  } catch (error) {
    if (answer !== 'failed' || error instanceof DatabaseAway)
      throw new Error(`${(error as Error).message}\n${what}`, { cause: error })
    ours = 'failed'
  }
  if (isInside && answer === 'failed') await client.query('rollback to before')
  // A RETURNING of no row.
  const theirs = Array.isArray(answer) && answer.length === 0 && ours === 0 ? 0 : answer
  assert.deepEqual(ours, theirs, what)
}

/** As it is, with the counts and texts that triggers would make. */
async function copyIn(client: Client, tables: readonly Table[]): Promise<void> {
  await client.query('set session_replication_role = replica')
  for (const { name, rows } of tables) {
    await client.query(`delete from "${name}"`)
    for (const row of rows) {
      const columns = Object.keys(row)
      await client.query(
        `insert into "${name}" (${columns.map((column) => `"${column}"`).join()})
          values (${columns.map((_, i) => `$${i + 1}`).join()})`,
        Object.values(row),
      )
    }
  }
  await client.query('set session_replication_role = origin')
}

async function align(client: Client): Promise<void> {
  for (const [table, column] of Object.entries(NUMBERED))
    await client.query(`select setval(pg_get_serial_sequence('${table}', '${column}'),
      (select coalesce(max(${column}), 0) + 1 from ${table}), false)`)
}
