/** What both engines say of their tables, in the same words. */
import { sql } from 'kysely'
import type { Raw } from '../../lib/db/sqlite/driver.js'
import type { Postgres } from '../../lib/db/postgres/connect.js'

export interface ColumnFacts {
  kind: 'text' | 'number' | 'bytes'
  isNotNull: boolean
  /** As SQL; null where there is none. */
  default: string | null
}

export interface TableFacts {
  columns: Record<string, ColumnFacts>
  /** Columns; '' where there is none. */
  primaryKey: string
  /** Whether a row without its key is given one. */
  isNumbered: boolean
  /** Of constraints and indexes alike: columns, and behind them the condition. */
  unique: string[]
  indexes: string[]
  foreignKeys: string[]
  checks: string[]
}

/** Tables whose numbers our code gives itself: a row without one is a mistake. */
const GIVEN = ['console_place', 'dealer_list', 'fraud_installation', 'journal', 'lane_status']

type Schema = Record<string, TableFacts>

/** Whether the words that both engines say of it differ: quotes, casts, brackets and case. */
const plain = (text: string) =>
  text
    .replace(/::(text|bigint|integer|bpchar|character varying)(\[\])?/g, '')
    .replace(/\bcollate\s+("C"|nocase)/gi, '')
    .replace(/'(\d+)'/g, '$1')
    .replace(/= ANY \(?\(?ARRAY\[(.*?)\]\)?\)?/g, 'in ($1)')
    .replace(/<> ALL \(?\(?ARRAY\[(.*?)\]\)?\)?/g, 'not in ($1)')
    .replace(/["()\s]/g, '')
    .toLowerCase()

/** Two kinds of SQLite's that PostgreSQL has as an expression. */
const noCase = (column: string) => `lower(${column})`

export function schemaOfSqlite(raw: Raw): Schema {
  const all = <T>(text: string) => raw.prepare(text).all() as T[]
  const tables = all<{ name: string; sql: string }>(
    `select name, sql from sqlite_master where type = 'table' and name not like 'sqlite_%'
      and name not like 'fulfillment_search%'`,
  )
  const texts = new Map(
    all<{ name: string; sql: string | null }>(
      "select name, sql from sqlite_master where type = 'index'",
    ).map(({ name, sql: text }) => [name, text]),
  )
  const facts = tables.map(({ name, sql: text }): [string, TableFacts] => {
    const columns = all<{
      name: string
      type: string
      notnull: number
      dflt_value: string | null
      pk: number
    }>(`select * from pragma_table_xinfo('${name}')`)
    const indexes = all<{ name: string; unique: number; origin: string; partial: number }>(
      `select * from pragma_index_list('${name}')`,
    ).map((index) => ({ ...index, words: indexOf(index.name, texts.get(index.name) ?? null) }))
    return [
      name,
      {
        columns: Object.fromEntries(
          columns
            .map((column): [string, ColumnFacts] => [
              column.name,
              {
                kind: ({ TEXT: 'text', INTEGER: 'number', BLOB: 'bytes' } as const)[
                  column.type as 'TEXT'
                ],
                isNotNull: column.notnull === 1 || column.pk > 0,
                default: column.dflt_value === null ? null : plain(column.dflt_value),
              },
            ])
            .toSorted(([a], [b]) => (a < b ? -1 : 1)),
        ),
        isNumbered: isNumbered(name, columns),
        primaryKey: columns
          .filter(({ pk }) => pk > 0)
          .toSorted((a, b) => a.pk - b.pk)
          .map((column) => column.name)
          .join(),
        unique: indexes
          .filter((index) => index.unique === 1 && index.origin !== 'pk')
          .map(({ words }) => words)
          .concat(caselessKeyOf(name))
          .toSorted(),
        indexes: indexes
          .filter((index) => index.unique === 0)
          .map(({ words }) => words)
          .toSorted(),
        foreignKeys: all<{ table: string; from: string; on_delete: string }>(
          `select * from pragma_foreign_key_list('${name}')`,
        )
          .map((key) => `${key.from} ${key.table} ${key.on_delete.toLowerCase()}`)
          .toSorted(),
        checks: [...text.matchAll(/\bCHECK \(((?:[^()]|\([^()]*\))*)\)/g)]
          .map(([, check]) => plain(check!))
          .toSorted(),
      },
    ]
  })
  return Object.fromEntries(facts)

  /** SQLite numbers every INTEGER PRIMARY KEY; of some, our code gives each number itself. */
  function isNumbered(table: string, columns: { name: string; type: string; pk: number }[]) {
    const keys = columns.filter(({ pk }) => pk > 0)
    const [key] = keys
    if (keys.length !== 1 || key!.type !== 'INTEGER') return false
    return !GIVEN.includes(table)
  }

  /** A primary key that leaves case aside is a second key in PostgreSQL. */
  function caselessKeyOf(table: string): string[] {
    return all<{ name: string; coll: string }>(
      `select x.name, x.coll from pragma_index_list('${table}') as l,
        pragma_index_xinfo(l.name) as x where l.origin = 'pk' and x.key = 1 and x.coll = 'NOCASE'`,
    ).map((column) => plain(noCase(column.name)))
  }

  function indexOf(index: string, text: string | null): string {
    const columns = all<{ name: string | null; coll: string; key: number; cid: number }>(
      `select * from pragma_index_xinfo('${index}') where key = 1`,
    )
    const expressions = text === null ? [] : expressionsOf(text)
    const condition = /\bWHERE\b([^]*)$/i.exec(text ?? '')?.[1]
    const words = columns.map((column, i) => {
      if (column.name === null) return plain(expressions[i]!)
      return column.coll === 'NOCASE' ? plain(noCase(column.name)) : column.name
    })
    return `${words.join(',')}${condition === undefined ? '' : ` where ${plain(condition)}`}`
  }
}

/** What an index lists, also where it is an expression with commas. */
function expressionsOf(text: string): string[] {
  const list = text.slice(text.indexOf('(') + 1)
  const found: string[] = ['']
  for (let i = 0, depth = 0; depth >= 0 && i < list.length; i++) {
    const char = list[i]!
    if (char === '(') depth++
    if (char === ')') depth--
    if (char === ',' && depth === 0) found.push('')
    else if (depth >= 0) found[found.length - 1] += char
  }
  return found
}

interface PgColumn {
  table: string
  column: string
  type: string
  not_null: number
  default: string | null
}

export async function schemaOfPostgres({ db }: Pick<Postgres, 'db'>): Promise<Schema> {
  const { rows: columns } = await sql<PgColumn>`select c.relname as table, a.attname as column,
      format_type(a.atttypid, null) as type, a.attnotnull as not_null,
      pg_get_expr(d.adbin, d.adrelid) as default
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where c.relnamespace = 'quartermaster'::regnamespace and c.relkind = 'r' and a.attnum > 0
      and not a.attisdropped and c.relname <> 'fulfillment_search' order by 1, 2`.execute(db)
  const { rows: indexes } = await sql<{
    table: string
    isUnique: number
    isPrimary: number
    text: string
    condition: string | null
    columns: string[]
  }>`select c.relname as table, i.indisunique as "isUnique", i.indisprimary as "isPrimary",
      pg_get_expr(i.indpred, i.indrelid) as condition,
      array(select pg_get_indexdef(i.indexrelid, n, true) from generate_series(1, i.indnkeyatts) n)
        as columns
    from pg_index i join pg_class c on c.oid = i.indrelid
    where c.relnamespace = 'quartermaster'::regnamespace`.execute(db)
  const { rows: constraints } = await sql<{
    table: string
    kind: string
    column: string | null
    other: string | null
    ending: string
    text: string
  }>`select c.relname as table, k.contype as kind, a.attname as column, o.relname as other,
      case k.confdeltype when 'c' then 'cascade' else 'no action' end as ending,
      pg_get_constraintdef(k.oid) as text
    from pg_constraint k join pg_class c on c.oid = k.conrelid
    left join pg_class o on o.oid = k.confrelid
    left join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
    where c.relnamespace = 'quartermaster'::regnamespace and k.contype in ('c', 'f')`.execute(db)
  const { rows: numbered } = await sql<{ table: string }>`select c.relname as table
    from pg_class c where c.relnamespace = 'quartermaster'::regnamespace and (
      exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attidentity <> '')
      or exists (select 1 from pg_trigger t where t.tgrelid = c.oid and t.tgtype & 7 = 7))`.execute(
    db,
  )
  const names = [...new Set(columns.map(({ table }) => table))]
  return Object.fromEntries(
    names.map((name): [string, TableFacts] => {
      const mine = indexes.filter(({ table }) => table === name)
      const words = (index: (typeof mine)[number]) =>
        index.columns.map((column) => (/\W/.test(column) ? plain(column) : column)).join(',') +
        (index.condition === null ? '' : ` where ${plain(index.condition)}`)
      return [
        name,
        {
          isNumbered: numbered.some(({ table }) => table === name),
          columns: Object.fromEntries(
            columns
              .filter(({ table }) => table === name)
              .map((column): [string, ColumnFacts] => [
                column.column,
                {
                  kind: ({ text: 'text', bigint: 'number', bytea: 'bytes' } as const)[
                    column.type as 'text'
                  ],
                  isNotNull: column.not_null === 1,
                  default: column.default === null ? null : plain(column.default),
                },
              ])
              .toSorted(([a], [b]) => (a < b ? -1 : 1)),
          ),
          primaryKey:
            mine
              .find(({ isPrimary }) => isPrimary === 1)
              ?.columns.join()
              .replaceAll('"', '') ?? '',
          unique: mine
            .filter(({ isUnique, isPrimary }) => isUnique === 1 && isPrimary === 0)
            .map(words)
            .toSorted(),
          indexes: mine
            .filter(({ isUnique }) => isUnique === 0)
            .map(words)
            .toSorted(),
          foreignKeys: constraints
            .filter(({ table, kind }) => table === name && kind === 'f')
            .map((key) => `${key.column} ${key.other} ${key.ending}`)
            .toSorted(),
          checks: constraints
            .filter(({ table, kind }) => table === name && kind === 'c')
            .map(({ text }) => plain(text.replace(/^CHECK /, '')))
            .toSorted(),
        },
      ]
    }),
  )
}
