/**
 * Queries of quartermaster.db that Kysely writes once. Readings are made of them (reading.ts):
 * several queries over one state, which SQLite runs within one turn of the event loop. A query that
 * stands for itself Kysely writes and runs for each call (`ctx.db`, `ctx.read`).
 */
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, sql } from 'kysely'
import type { Compilable, RawBuilder } from 'kysely'
import type { Raw, Statement } from './sqlite/driver.js'
import { QueryCompiler } from './sqlite/sqlite.js'
import type { DecisionTables, MeterTables, Tables } from './tables/tables.js'
import { byEngine } from './words.js'

/** A query with named places for values, `P`, and rows of type `R`. */
export interface Query<P, R> {
  readonly build: (db: Kysely<Tables>, given: P) => Compilable<R> | RawBuilder<R>
  /** Tells queries apart that are built for each call: one for each form that they can have. */
  readonly form: string | undefined
}

/** A row of a query. */
export type RowOf<Q> = Q extends Query<never, infer R> ? R : never

/** A query that needs no values. */
export type NoValues = Record<never, never>

/**
 * Describes a query. `build` is called once for each reader, with a place in place of each value:
 * it must not look at values, and must make the same query for the same `form`.
 */
export function query<R, P extends object = NoValues>(
  build: Query<P, R>['build'],
  form?: string,
): Query<P, R> {
  return { build, form }
}

/** The same of what is counted and noted beside the system of record, which may change it. */
export function meteredQuery<R, P extends object = NoValues>(
  build: (db: Kysely<MeterTables & DecisionTables>, given: P) => Compilable<R> | RawBuilder<R>,
): Query<P, R> {
  // Which of the tables are where, only types tell.
  return query(build as never)
}

/** What a call passes to a query: nothing where it needs no values. */
export type Values<P> = NoValues extends P ? [given?: P] : [given: P]

/** A query with its values, and what of its rows is wanted, in the words of `Reader`. */
export interface Question {
  readonly wanted: 'all' | 'lists' | 'first' | 'column' | 'value'
  readonly query: Query<unknown, unknown>
  readonly given: unknown
}

/** Questions, each answered before the next is put, and what comes of the answers: reading.ts. */
export type Reading<T> = Generator<Question, T, unknown>

/** A query that changes something, with its values; the answer is the number of rows. */
export interface Change extends Omit<Question, 'wanted'> {
  readonly wanted: 'change'
}

/** The same as a reading, and changes among the questions. */
export type Work<T> = Generator<Question | Change, T, unknown>

/** Synchronous reads over one handle; what they see is committed. */
export interface Reader {
  /** For what is SQLite's own: pragmas, plans, and the steps of a long read. */
  readonly raw: Raw
  all<P, R>(query: Query<P, R>, ...values: Values<P>): R[]
  /** Rows as lists of values, in the order of the query: half the cost of thousands of rows. */
  lists<P, R>(query: Query<P, R>, ...values: Values<P>): R[keyof R][][]
  first<P, R>(query: Query<P, R>, ...values: Values<P>): R | undefined
  /** The values of a query for one column. */
  column<P, R>(query: Query<P, R>, ...values: Values<P>): R[keyof R][]
  /** The one value of a query for one column; undefined where there is no row. */
  value<P, R>(query: Query<P, R>, ...values: Values<P>): R[keyof R] | undefined
  /**
   * The values of a query for one column, one by one; nothing else may be asked of this handle
   * meanwhile.
   */
  iterateColumn<P, R>(query: Query<P, R>, ...values: Values<P>): IterableIterator<R[keyof R]>
  /**
   * Runs a reading to its end, over one state of the database: at once, as it is called. A reading
   * that is run while another one is joins it.
   */
  run<T>(read: () => Reading<T>): T
}

/** Reads and changes over one handle, which nobody else writes through meanwhile. */
export interface Writer extends Reader {
  /** The number of rows that were changed. */
  change<P, R>(query: Query<P, R>, ...values: Values<P>): number
  /** Runs a work to its end, in one transaction: at once, as it is called. */
  work<T>(work: () => Work<T>): T
}

/** What stands for a value until the query is run. */
class Place {
  readonly name: string
  readonly isList: boolean
  constructor(name: string, isList = false) {
    this.name = name
    this.isList = isList
  }
}

/** Answers to every name with its place. */
const PLACES = new Proxy({}, { get: (_, name) => new Place(String(name)) })

/**
 * The members of a list as a subquery, `id in (...)`: however long the list is, the statement is
 * one and takes one value.
 */
export function members<T extends number | string | bigint>(list: readonly T[]): RawBuilder<T> {
  return byEngine<T>({
    sqlite: sql`(select value from ${eachOf(list)})`,
    postgres: sql`(select unnest(cast(${listOf(list)} as bigint[])))`,
    list: listOf(list),
  })
}

/**
 * The members of a list as a table, with columns `key` (from 0) and `value`. Whole numbers, since
 * PostgreSQL has to be told what they are.
 */
export function eachOf<T extends number | string | bigint>(
  list: readonly T[],
): RawBuilder<{ key: number; value: T }> {
  const value = listOf(list)
  return byEngine({
    sqlite: sql`json_each(${value instanceof Place ? value : textOf(list)})`,
    postgres: sql`(select value, number - 1 as key
      from unnest(cast(${value} as bigint[])) with ordinality as list (value, number))`,
  })
}

/** A list, or its place. */
const listOf = (list: unknown) => (list instanceof Place ? new Place(list.name, true) : list)

/** As JSON has them: 64 bits do not fit into its numbers, but SQLite reads them as they are. */
const textOf = (list: readonly unknown[]) =>
  typeof list[0] === 'bigint' ? `[${list.join()}]` : JSON.stringify(list)

/** How a statement gives its rows: as objects, as lists of values, or as their first value. */
type Shape = 'objects' | 'lists' | 'column'

interface Prepared {
  text: string
  /** What it takes, in its order: values, and places for values. */
  takes: readonly unknown[]
  /** Made when they are first asked for. */
  statements: Partial<Record<Shape, Statement>>
}

/** Kysely that writes statements, and runs none. */
const makeCompiler = () =>
  new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new QueryCompiler(),
    },
  })

/** The text of a query, and what it takes: values, and places for them. */
export function compile<P, R>(
  { build }: Query<P, R>,
  compiler = makeCompiler(),
): Pick<Prepared, 'text' | 'takes'> {
  const built = build(compiler, PLACES as P)
  const { sql: text, parameters } =
    'isRawBuilder' in built ? built.compile(compiler) : built.compile()
  return { text, takes: parameters }
}

/** Runs one statement that changes something, before anything else has the file. */
export function runOnce(raw: Raw, build: (db: Kysely<Tables>) => Compilable): void {
  const { sql: text, parameters } = build(makeCompiler()).compile()
  raw.prepare(text).run(...parameters)
}

/** Reads through Kysely's queries over one handle of quartermaster.db. */
export function readerOver(raw: Raw): Reader {
  return writerOver(raw)
}

/** Reads and changes through Kysely's queries over one handle. */
export function writerOver(raw: Raw): Writer {
  const compiler = makeCompiler()
  const known = new Map<unknown, Prepared>()

  function prepare<P, R>(query: Query<P, R>): Prepared {
    const { text, takes } = compile(query, compiler)
    const made = { text, takes, statements: {} }
    known.set(query.form ?? query.build, made)
    return made
  }

  function run<P, R, T>(
    query: Query<P, R>,
    shape: Shape,
    given: P | undefined,
    read: (statement: Statement, values: unknown[]) => T,
  ): T {
    const { statements, text, takes } = known.get(query.form ?? query.build) ?? prepare(query)
    const statement = (statements[shape] ??= shaped(raw.prepare(text), shape))
    return read(statement, valuesFor(takes, given))
  }

  const all = (statement: Statement, values: unknown[]) => statement.all(...values)
  const first = (statement: Statement, values: unknown[]) => statement.get(...values)
  const iterate = (statement: Statement, values: unknown[]) => statement.iterate(...values)
  const change = (statement: Statement, values: unknown[]) => statement.run(...values).changes
  const writer: Writer = {
    raw,
    all: <P, R>(query: Query<P, R>, given?: P) => run(query, 'objects', given, all) as R[],
    lists: <P, R>(query: Query<P, R>, given?: P) =>
      run(query, 'lists', given, all) as R[keyof R][][],
    first: <P, R>(query: Query<P, R>, given?: P) =>
      run(query, 'objects', given, first) as R | undefined,
    column: <P, R>(query: Query<P, R>, given?: P) =>
      run(query, 'column', given, all) as R[keyof R][],
    value: <P, R>(query: Query<P, R>, given?: P) =>
      run(query, 'column', given, first) as R[keyof R] | undefined,
    iterateColumn: <P, R>(query: Query<P, R>, given?: P) =>
      run(query, 'column', given, iterate) as IterableIterator<R[keyof R]>,
    run: <T>(read: () => Reading<T>) =>
      raw.inTransaction ? runNow(writer, read()) : (overOneState(read) as T),
    change: <P, R>(query: Query<P, R>, given?: P) => run(query, 'objects', given, change),
    work: <T>(work: () => Work<T>) => alone(work) as T,
  }
  // Made once: it costs as much as three short queries.
  const { deferred: overOneState, immediate: alone } = raw.transaction(
    (read: () => Work<unknown>) => runNow(writer, read()),
  )
  return writer
}

/** Runs it to its end within this turn. What a query throws is thrown at its place. */
function runNow<T>(writer: Writer, reading: Work<T>): T {
  let step = reading.next()
  while (!step.done) {
    const { wanted, query, given } = step.value
    let answer: unknown
    try {
      answer = writer[wanted](query, given as never)
    } catch (error) {
      step = reading.throw(error)
      continue
    }
    step = reading.next(answer)
  }
  return step.value
}

function shaped(statement: Statement, shape: Shape): Statement {
  if (shape === 'lists') return statement.raw()
  return shape === 'column' ? statement.pluck() : statement
}

function valuesFor(takes: readonly unknown[], given: unknown): unknown[] {
  return takes.map((place) => {
    if (!(place instanceof Place)) return place
    const value = (given as Record<string, unknown>)[place.name]
    return place.isList ? textOf(value as readonly unknown[]) : value
  })
}

/** Reads of many turns of the event loop over one state of the database. */
export interface Snapshot {
  /** As `Engine.look`; over SQLite it has run when this returns. */
  look<T>(read: () => Reading<T>): Promise<T>
  /** The values of a query for one column, so many at a time. */
  inSteps<P, R>(query: Query<P, R>, given: P, step: number): AsyncIterable<readonly R[keyof R][]>
  /** From here on, reads see what is committed then. */
  release(): Promise<void>
  close(): Promise<void>
}

/** A snapshot over a handle that nobody else has: it is closed with it. */
export function snapshotOver(raw: Raw): Snapshot {
  raw.exec('BEGIN')
  const reader = readerOver(raw)
  return {
    look: async (read) => reader.run(read),
    async *inSteps<P, R>(query: Query<P, R>, given: P, step: number) {
      let values: R[keyof R][] = []
      // One statement for all: an index would begin anew for each of several.
      for (const value of reader.iterateColumn(query, given)) {
        values.push(value)
        if (values.length < step) continue
        yield values
        values = []
      }
      yield values
    },
    release: async () => void raw.exec('COMMIT'),
    close: async () => void raw.close(),
  }
}
