/**
 * `npm run tables` writes the row types of quartermaster.db, meter.db and decisions.db into
 * `lib/db/tables`, from what their migrations make and from `notes.ts`. With `--check` it writes
 * nothing, and fails where what is there is not what it would write.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSqlite } from '../../lib/db/sqlite/driver.js'
import type { Raw } from '../../lib/db/sqlite/driver.js'
import { decisionsSchema } from '../../lib/db/migrations/decisions.js'
import { meterSchema } from '../../lib/db/migrations/meter.js'
import { quartermasterSchema } from '../../lib/db/migrations/quartermaster.js'
import { NOTES } from './notes.js'
import type { ColumnNote, TableNote } from './notes.js'

const FOLDER = join('lib', 'db', 'tables')
const WIDTH = 100
/** Types of a STRICT table. */
const TYPES: Record<string, string> = { INTEGER: 'number', TEXT: 'string', BLOB: 'Buffer' }

/** Files whose tables are not the system of record's, and the interface that names them. */
const APART: Record<string, string> = { meter: 'MeterTables', decisions: 'DecisionTables' }
/** What Kysely never sees: how one process counts the last minute. */
const UNSEEN = ['recent']

interface Column {
  name: string
  type: string
  notnull: number
  dflt_value: string | null
  /** Its place in the primary key, from 1; 0 where it is in none. */
  pk: number
  /** 0: a column as any other. */
  hidden: number
}

/** Text of every file, by its name. */
function filesOf(raw: Raw): Map<string, string> {
  for (const step of [...quartermasterSchema, ...meterSchema, ...decisionsSchema]) raw.exec(step)
  const known = raw.prepare('PRAGMA table_list').all() as { name: string; type: string }[]
  const noted = new Set(Object.values(NOTES).flatMap((tables) => Object.keys(tables)))
  const isSeen = (name: string) => !name.startsWith('sqlite_') && !UNSEEN.includes(name)
  for (const { name, type } of known)
    if (type === 'table' && isSeen(name) && !noted.has(name))
      throw new Error(`${name} has no place in scripts/tables/notes.ts`)
  for (const name of noted)
    if (!known.some((table) => table.name === name))
      throw new Error(`scripts/tables/notes.ts tells of ${name}, which no migration makes`)
  const files = new Map(
    Object.entries(NOTES).map(([file, tables]) => [file, fileText(raw, tables)]),
  )
  return files.set('tables', overview())
}

function fileText(raw: Raw, tables: Record<string, TableNote>): string {
  const texts = Object.entries(tables).map(([name, note]) => tableText(raw, name, note))
  const body = texts.join('\n')
  const named = (names: readonly string[]) =>
    names.filter((name) => new RegExp(`\\b${name}\\b`).test(body))
  const imports = [
    ['kysely', named(['Generated'])],
    ['./column-types.js', named(columnTypes())],
  ] as const
  const lines = imports
    .filter(([, names]) => names.length > 0)
    .map(([from, names]) => `import type { ${names.join(', ')} } from '${from}'\n`)
  return `${doc(0, 'Made from the migrations by `npm run tables`.')}${lines.join('')}\n${body}`
}

/** Types that notes may name. */
function columnTypes(): string[] {
  const text = readFileSync(join(FOLDER, 'column-types.ts'), 'utf8')
  return [...text.matchAll(/^export type (\w+)/gm)].map(([, name]) => name!)
}

function tableText(raw: Raw, table: string, { about, columns: notes = {} }: TableNote): string {
  const columns = columnsOf(raw, table)
  for (const name of Object.keys(notes))
    if (!columns.some((column) => column.name === name))
      throw new Error(`scripts/tables/notes.ts tells of ${table}.${name}, which no migration makes`)
  const allowed = valuesAllowed(raw, table)
  const foreign = raw.prepare(`PRAGMA foreign_key_list(${table})`).all() as { from: string }[]
  const isForeign = (name: string) => foreign.some(({ from }) => from === name)
  let before = ''
  let members = ''
  for (const column of columns) {
    const note = noteOf(notes[column.name])
    const values = allowed.get(column.name)
    if (note.name) {
      if (!values) throw new Error(`${table}.${column.name} has no CHECK (... IN (...))`)
      before += `${doc(0, note.about)}${unionText(note.name, values)}\n`
    }
    const base = note.type ?? note.name ?? values?.join(' | ') ?? TYPES[column.type]
    if (base === undefined) throw new Error(`${table}.${column.name}: its type has to be noted`)
    const type = column.notnull === 1 || column.pk > 0 ? base : `${base} | null`
    // SQLite gives numbers to the rows of a table whose key is one number that refers to nothing.
    const isNumbered =
      column.pk === 1 &&
      column.type === 'INTEGER' &&
      columns.every(({ pk }) => pk < 2) &&
      !isForeign(column.name) &&
      !values &&
      !note.isGiven
    const isFilled = isNumbered || column.dflt_value !== null
    members +=
      `${doc(2, note.name ? undefined : note.about)}  ${column.name}: ` +
      `${isFilled ? `Generated<${type}>` : type}\n`
  }
  return `${before}${doc(0, about)}export interface ${typeName(table)} {\n${members}}\n`
}

function columnsOf(raw: Raw, table: string): Column[] {
  const all = raw.prepare(`PRAGMA table_xinfo(${table})`).all() as Column[]
  const { type } = raw.prepare('SELECT type FROM pragma_table_list WHERE name = ?').get(table) as {
    type: string
  }
  const columns = all.filter(({ hidden }) => hidden === 0).map((column) => ({ ...column }))
  if (type === 'table') return columns
  // A virtual table, or one that keeps its content: it declares no types, and nothing is ever null.
  const declared = columns.map((column) => ({ ...column, notnull: 1 }))
  const rowid = { name: 'rowid', type: 'INTEGER', notnull: 1, dflt_value: null, pk: 0, hidden: 0 }
  return type === 'virtual' ? [rowid, ...declared] : declared
}

/** What CHECKs leave of columns, as types: `CHECK (tier IN ('standard', 'pro'))`, `(one = 1)`. */
function valuesAllowed(raw: Raw, table: string): Map<string, string[]> {
  const { sql } = raw.prepare('SELECT sql FROM sqlite_master WHERE name = ?').get(table) as {
    sql: string
  }
  const allowed = new Map<string, string[]>()
  for (const [, name, list, value] of sql.matchAll(/CHECK \((\w+) (?:IN \(([^)]*)\)|= (\d+))\)/g))
    allowed.set(name!, list?.split(/,\s*/) ?? [value!])
  return allowed
}

const noteOf = (note: ColumnNote = {}) => (typeof note === 'string' ? { about: note } : note)

const typeName = (table: string) =>
  `${table.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Table`

function unionText(name: string, values: readonly string[]): string {
  const line = `export type ${name} = ${values.join(' | ')}\n`
  return line.length <= WIDTH
    ? line
    : `export type ${name} =\n${values.map((value) => `  | ${value}\n`).join('')}`
}

/** A comment as the formatter leaves it; nothing where there is nothing to say. */
function doc(indent: number, text: string | undefined): string {
  if (text === undefined) return ''
  const margin = ' '.repeat(indent)
  if (`${margin}/** ${text} */`.length <= WIDTH) return `${margin}/** ${text} */\n`
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`
    if (lines.length > 0 && `${margin} * ${longer}`.length <= WIDTH)
      lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return `${margin}/**\n${lines.map((line) => `${margin} * ${line}\n`).join('')}${margin} */\n`
}

const ABOUT = 'Every table, as Kysely sees it. Made from the migrations by `npm run tables`.'

/** The file that names every table. */
function overview(): string {
  const imports = Object.entries(NOTES).map(([file, tables]) => {
    const names = Object.keys(tables).map(typeName).sort()
    const line = `import type { ${names.join(', ')} } from './${file}.js'\n`
    return line.length <= WIDTH
      ? line
      : `import type {\n${names.map((name) => `  ${name},\n`).join('')}} from './${file}.js'\n`
  })
  const interfaces = [...new Set(Object.keys(NOTES).map(interfaceOf))].map((name) => {
    const members = Object.entries(NOTES)
      .filter(([file]) => interfaceOf(file) === name)
      .flatMap(([, tables]) => Object.keys(tables))
      .map((table) => `  ${table}: ${typeName(table)}\n`)
    return `\n${doc(0, ABOUT_EACH[name])}export interface ${name} {\n${members.join('')}}\n`
  })
  return `${doc(0, ABOUT)}${imports.join('')}${interfaces.join('')}`
}

const interfaceOf = (file: string) => APART[file] ?? 'Tables'
const ABOUT_EACH: Record<string, string> = {
  Tables: 'Of quartermaster.db, the system of record.',
  MeterTables: 'Of meter.db: what is counted. Several nodes have it in the system of record.',
  DecisionTables: 'Of decisions.db, the same.',
}

const raw = openSqlite(':memory:')
const files = filesOf(raw)
raw.close()
const isCheck = process.argv.includes('--check')
const stale = [...files].filter(([name, text]) => {
  const path = join(FOLDER, `${name}.ts`)
  return !existsSync(path) || readFileSync(path, 'utf8') !== text
})
for (const [name, text] of stale) {
  const path = join(FOLDER, `${name}.ts`)
  if (!isCheck) writeFileSync(path, text)
  console.log(isCheck ? `${path} is not what \`npm run tables\` writes` : `wrote ${path}`)
}
process.exit(isCheck && stale.length > 0 ? 1 : 0)
