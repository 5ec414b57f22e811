/**
 * What sharing the catalog keeps in catalog.db beside its rows: which of them differ from what was
 * last published. Triggers note it in the transaction that changes them, whoever does, so that it
 * is right after a crash, too. Only a file that several nodes share has these.
 */
import type { Raw, Statement } from '../../../db/sqlite/sqlite.js'
import type { Value } from '../pages.js'

/** Of an offer, all columns: it is new, or gone. */
export const ALL = 2 ** 31 - 1

/** Tables whose rows belong to a source, and of which its changed rows are named by it alone. */
export const OF_SOURCE = ['feed', 'rejected_row', 'refusal'] as const

/** Names of the columns of a table, in their order. */
export function columnsOf(raw: Raw, table: string): string[] {
  return raw
    .prepare('SELECT name FROM pragma_table_info(?) ORDER BY cid')
    .pluck()
    .all(table) as string[]
}

/** The columns of an offer that may change, each with its bit. */
export function offerBits(raw: Raw): Map<string, number> {
  const columns = columnsOf(raw, 'offer').filter((name) => name !== 'id')
  return new Map(columns.map((name, i) => [name, 2 ** i]))
}

/** Begins to note what changes; does nothing where that has begun. */
export function installNotes(raw: Raw): void {
  const changed = [...offerBits(raw)]
    .map(([name, bit]) => `(NEW.${name} IS NOT OLD.${name}) * ${bit}`)
    .join(' + ')
  const offer = (id: string, mask: string) =>
    `INSERT INTO shared_offer VALUES (${id}, ${mask})
       ON CONFLICT (id) DO UPDATE SET mask = mask | excluded.mask;`
  // Not OR IGNORE, in place of which the clause of the statement that fires the trigger would count.
  const once = (table: string, values: string) =>
    `INSERT INTO ${table} VALUES (${values}) ON CONFLICT DO NOTHING;`
  const own = (row: string) => once('shared_own', `${row}.subscriber_id, ${row}.offer`)
  const source = (name: string, text: string) => once('shared_source', `'${name}', ${text}`)
  const on = (name: string, event: string, act: string) =>
    `CREATE TRIGGER IF NOT EXISTS shared_${name} AFTER ${event} BEGIN ${act} END;\n`
  const onEach = (table: string, act: (row: string) => string) =>
    on(`${table}_added`, `INSERT ON ${table}`, act('NEW')) +
    on(`${table}_changed`, `UPDATE ON ${table}`, act('NEW')) +
    on(`${table}_gone`, `DELETE ON ${table}`, act('OLD'))
  const fragment = (id: string) => once('shared_fragment', id)
  raw
    .transaction(() => {
      raw.exec(`
CREATE TABLE IF NOT EXISTS shared_offer (id INTEGER PRIMARY KEY, mask INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS shared_fragment (id INTEGER PRIMARY KEY) STRICT;
CREATE TABLE IF NOT EXISTS shared_own (
  subscriber_id TEXT NOT NULL, offer INTEGER NOT NULL, PRIMARY KEY (subscriber_id, offer)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS shared_source (
  name TEXT NOT NULL, source TEXT NOT NULL, PRIMARY KEY (name, source)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS shared_digest (  -- of what is written anew with each feed
  name TEXT NOT NULL, source TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (name, source)
) STRICT, WITHOUT ROWID;
`)
      raw.exec(
        on('offer_added', 'INSERT ON offer', offer('NEW.id', String(ALL))) +
          on('offer_changed', 'UPDATE ON offer', offer('NEW.id', changed)) +
          on('offer_gone', 'DELETE ON offer', offer('OLD.id', String(ALL))) +
          // A new one has a higher number than all before it.
          on('fragment_changed', 'UPDATE ON fragment', fragment('NEW.id')) +
          on('fragment_gone', 'DELETE ON fragment', fragment('OLD.id')) +
          onEach('own_price', own) +
          OF_SOURCE.map((table) => onEach(table, (row) => source(table, `${row}.source`))).join(
            '',
          ) +
          on('lines_added', 'INSERT ON feed', source('lines', 'NEW.source')) +
          on('lines_changed', 'UPDATE OF lines ON feed', source('lines', 'NEW.source')) +
          onEach('tally', () => source('tally', "''")) +
          on('state_changed', 'UPDATE ON state', source('state', "''")),
      )
    })
    .immediate()
}

/** Whether anything was noted that is in no publication yet. */
export function hasNotes(raw: Raw): boolean {
  const found = raw
    .prepare(`SELECT EXISTS (SELECT 1 FROM shared_offer) OR EXISTS (SELECT 1 FROM shared_fragment)
      OR EXISTS (SELECT 1 FROM shared_own) OR EXISTS (SELECT 1 FROM shared_source)
      OR (SELECT fragments FROM shared_point) < ${HIGHEST_FRAGMENT}`)
    .pluck()
  return found.get() === 1
}

/** Everything that was noted is published, or lies ready to be. */
export function clearNotes(raw: Raw): void {
  raw.exec(`DELETE FROM shared_offer; DELETE FROM shared_fragment; DELETE FROM shared_own;
    DELETE FROM shared_source`)
}

/**
 * Forgets what was last published of a source: a base may hold what came later, so that the next
 * change is not compared with what came before.
 */
export function clearDigests(raw: Raw): void {
  raw.exec('DELETE FROM shared_digest')
}

/** The highest number that was ever given to a text. */
const HIGHEST_FRAGMENT = `coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'fragment'), 0)`

export function highestFragment(raw: Raw): number {
  return raw.prepare(`SELECT ${HIGHEST_FRAGMENT}`).pluck().get() as number
}

/** Has the next text get a higher number than this one. */
export function raiseFragments(raw: Raw, to: number): void {
  if (highestFragment(raw) >= to) return
  raw.prepare("DELETE FROM sqlite_sequence WHERE name = 'fragment'").run()
  raw.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES ('fragment', ?)").run(to)
}

/** Tells this file from all others. */
export function nameAnew(raw: Raw): void {
  raw.prepare('UPDATE state SET made = lower(hex(randomblob(16)))').run()
}

export function formOf(raw: Raw): number {
  return raw.pragma('application_id', { simple: true }) as number
}

/** How many offers changed, and how many there are. */
export function countChanged(raw: Raw): { changed: number; added: number; all: number } {
  return raw
    .prepare(`SELECT (SELECT count(*) FROM shared_offer) AS changed,
      (SELECT count(*) FROM shared_offer WHERE mask = ${ALL}) AS added,
      (SELECT count(*) FROM offer) AS "all"`)
    .get() as { changed: number; added: number; all: number }
}

type Rows = IterableIterator<Value[]>
const rows = (statement: Statement, ...values: Value[]): Rows =>
  statement.raw().iterate(...values) as Rows

/** Offers, texts and prices that are not there any more. */
export const goneRows = {
  offer: (raw: Raw): Rows =>
    rows(
      raw.prepare(`SELECT id FROM shared_offer WHERE id NOT IN (SELECT id FROM offer)
      ORDER BY id`),
    ),
  fragment: (raw: Raw): Rows =>
    rows(
      raw.prepare(`SELECT id FROM shared_fragment WHERE id NOT IN (SELECT id FROM fragment)
      ORDER BY id`),
    ),
  own_price: (raw: Raw): Rows =>
    rows(
      raw.prepare(`SELECT subscriber_id, offer FROM shared_own AS s WHERE NOT EXISTS
      (SELECT 1 FROM own_price AS p WHERE p.subscriber_id = s.subscriber_id AND p.offer = s.offer)
      ORDER BY subscriber_id, offer`),
    ),
}

/** The texts that came after one, whole, and when older ones were retired. */
export function newFragments(raw: Raw, columns: readonly string[], after: number): Rows {
  return rows(
    raw.prepare(`SELECT ${columns.join(', ')} FROM fragment WHERE id > ? ORDER BY id`),
    after,
  )
}

export function retiredFragments(raw: Raw, upTo: number): Rows {
  return rows(
    raw.prepare(`SELECT id, retired_at FROM fragment WHERE id <= ? AND id IN
      (SELECT id FROM shared_fragment) ORDER BY id`),
    upTo,
  )
}

/** New offers. */
export function newOffers(raw: Raw, columns: readonly string[]): Rows {
  const wanted = columns.map((name) => `o.${name}`).join(', ')
  return rows(
    raw.prepare(`SELECT ${wanted} FROM shared_offer AS s JOIN offer AS o ON o.id = s.id
      WHERE s.mask = ${ALL} ORDER BY s.id`),
  )
}

/** Changed offers: id, which columns, and then all of these. */
export function changedOffers(raw: Raw, columns: readonly string[]): Rows {
  const wanted = columns.map((name) => `o.${name}`).join(', ')
  return rows(
    raw.prepare(`SELECT s.id, s.mask, ${wanted} FROM shared_offer AS s JOIN offer AS o ON o.id = s.id
      WHERE s.mask NOT IN (0, ${ALL}) ORDER BY s.id`),
  )
}

export function changedOwnPrices(raw: Raw, columns: readonly string[]): Rows {
  const wanted = columns.map((name) => `p.${name}`).join(', ')
  return rows(
    raw.prepare(`SELECT ${wanted} FROM shared_own AS s JOIN own_price AS p
      ON p.subscriber_id = s.subscriber_id AND p.offer = s.offer
      ORDER BY p.subscriber_id, p.offer`),
  )
}

/** Sources of which something in this table changed. */
export function changedSources(raw: Raw, table: string): string[] {
  return raw
    .prepare('SELECT source FROM shared_source WHERE name = ? ORDER BY source')
    .pluck()
    .all(table) as string[]
}

export function rowsOf(raw: Raw, table: string, columns: readonly string[]): Rows {
  return rows(raw.prepare(`SELECT ${columns.join(', ')} FROM ${table}`))
}

export function rowsOfSource(
  raw: Raw,
  table: string,
  columns: readonly string[],
  source: string,
): Rows {
  return rows(raw.prepare(`SELECT ${columns.join(', ')} FROM ${table} WHERE source = ?`), source)
}

export function sourcesWithLines(raw: Raw): string[] {
  return raw.prepare('SELECT source FROM feed ORDER BY source').pluck().all() as string[]
}

export function takenAt(raw: Raw): Map<string, number> {
  const rows = raw.prepare('SELECT source, taken_at FROM feed').raw().all() as [string, number][]
  return new Map(rows)
}

export function linesOf(raw: Raw, source: string): Buffer | undefined {
  return raw.prepare('SELECT lines FROM feed WHERE source = ?').pluck().get(source) as
    | Buffer
    | undefined
}

export function setLines(raw: Raw, source: string, lines: Buffer): void {
  raw.prepare('UPDATE feed SET lines = ? WHERE source = ?').run(lines, source)
}

export function digestOf(raw: Raw, name: string, source: string): string | undefined {
  return raw
    .prepare('SELECT digest FROM shared_digest WHERE name = ? AND source = ?')
    .pluck()
    .get(name, source) as string | undefined
}

export function setDigest(raw: Raw, name: string, source: string, digest: string): void {
  raw.prepare('REPLACE INTO shared_digest VALUES (?, ?, ?)').run(name, source, digest)
}

/** Tables as they are keyed. */
const KEYS: Record<string, readonly string[]> = {
  offer: ['id'],
  fragment: ['id'],
  own_price: ['subscriber_id', 'offer'],
  feed: ['source'],
  rejected_row: ['source', 'line'],
  refusal: ['source'],
  tally: ['distid'],
  state: ['only'],
}

function keysOf(table: string): readonly string[] {
  const keys = KEYS[table]
  if (!keys) throw new RangeError(`there is no table ${table}`)
  return keys
}

/** Statements that write what a page says. Their parts come from this file and the schema alone. */
export function writersOf(raw: Raw) {
  const known = new Map<string, Statement>()
  const prepared = (text: string) => {
    let statement = known.get(text)
    if (!statement) known.set(text, (statement = raw.prepare(text)))
    return statement
  }
  const names = new Map<string, ReadonlySet<string>>()
  /** Throws for a column that the table does not have. */
  const checked = (table: string, columns: readonly string[]) => {
    keysOf(table)
    let known = names.get(table)
    if (!known) names.set(table, (known = new Set(columnsOf(raw, table))))
    for (const name of columns)
      if (!known.has(name)) throw new RangeError(`${table} has no column ${name}`)
    return columns
  }
  return {
    put(table: string, columns: readonly string[]): Statement {
      const keys = keysOf(table)
      // What the leader alone has of a feed is set apart from it.
      const [more, value] = table === 'feed' ? [', lines', ", x''"] : ['', '']
      const values = checked(table, columns).map((name) => `${name} = excluded.${name}`)
      return prepared(`INSERT INTO ${table} (${columns.join(', ')}${more})
        VALUES (${columns.map(() => '?').join(', ')}${value})
        ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${values.join(', ')}`)
    },
    /** Takes the values of the columns, and then the key. */
    set(table: string, columns: readonly string[]): Statement {
      const values = checked(table, columns).map((name) => `${name} = ?`)
      const keys = keysOf(table).map((name) => `${name} = ?`)
      return prepared(`UPDATE ${table} SET ${values.join(', ')} WHERE ${keys.join(' AND ')}`)
    },
    drop(table: string, columns: readonly string[]): Statement {
      const keys = checked(table, columns).map((name) => `${name} = ?`)
      return prepared(
        `DELETE FROM ${table}${keys.length > 0 ? ` WHERE ${keys.join(' AND ')}` : ''}`,
      )
    },
  }
}
