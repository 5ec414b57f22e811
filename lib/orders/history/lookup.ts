/**
 * Which records a text may belong to. What is found is checked against the subscriber by whoever
 * makes a page of it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { filesIn } from '../../db/engine.js'
import type { Engine, RawHandle } from '../../db/engine.js'
import { openFile } from '../../db/sqlite.js'

/**
 * Where single texts stand. Each query has the subscriber, the text and the last place seen, and
 * goes on by its index.
 */
const PLACES = {
  order_id:
    'SELECT id AS place, id FROM fulfillment_order WHERE subscriber_id = ? AND visible = 1 AND order_id = ? AND id > ? ORDER BY id',
  po_number:
    'SELECT id AS place, id FROM fulfillment_order WHERE subscriber_id = ? AND po_number = ? AND id > ? ORDER BY id',
  po_given:
    'SELECT id AS place, id FROM fulfillment_order WHERE subscriber_id = ? AND po_given = ? AND id > ? ORDER BY id',
  number:
    'SELECT id AS place, fulfillment_order_id AS id FROM purchase_order WHERE subscriber_id = ? AND distributor_order_id = ? AND id > ? ORDER BY id',
  numbers:
    'SELECT id AS place, id FROM fulfillment_order WHERE subscriber_id = ? AND distributor_order_id = ? AND id > ? ORDER BY id',
  parcel:
    'SELECT fulfillment_order_id AS place, fulfillment_order_id AS id FROM parcel WHERE subscriber_id = ? AND tracking_number = ? AND fulfillment_order_id > ? ORDER BY fulfillment_order_id',
} as const

/** What a parameter of the history looks at (contract "Order history and tracking"). */
const FIELDS = {
  reference: ['order_id', 'po_number', 'po_given', 'number', 'numbers', 'parcel'],
  order_id: ['order_id'],
  po_number: ['po_number', 'po_given'],
  distributor_order_id: ['number', 'numbers'],
  tracking_number: ['parcel'],
} as const satisfies Record<string, readonly (keyof typeof PLACES)[]>

export type Lookup = keyof typeof FIELDS
export const LOOKUPS = Object.keys(FIELDS) as Lookup[]

/** Rows that one statement reads: a PO that a caller puts on every order belongs to all of them. */
const STEP = 20_000
/** Texts that one step looks through, or finds. */
const FEW_TEXTS = 5_000

/** Ids of the records that have this very text. */
async function having(
  reader: RawHandle,
  subscriberId: string,
  lookup: Lookup,
  text: string,
): Promise<Set<number>> {
  const ids = new Set<number>()
  for (const place of FIELDS[lookup]) {
    const statement = reader.prepare(`${PLACES[place]} LIMIT ${STEP}`).raw()
    for (let last = 0, isMore = true; isMore;) {
      const rows = statement.all(subscriberId, text, last) as [place: number, id: number][]
      for (const [, id] of rows) ids.add(id)
      isMore = rows.length === STEP
      if (isMore) {
        last = rows.at(-1)![0]
        await nextTurn()
      }
    }
  }
  return ids
}

/** Ids of the records that have each of these texts; null where none is given. */
export async function lookUp(
  reader: RawHandle,
  subscriberId: string,
  texts: Partial<Record<Lookup, string | undefined>>,
): Promise<number[] | null> {
  let ids: number[] | null = null
  for (const lookup of LOOKUPS) {
    const text = texts[lookup]
    if (text === undefined) continue
    const found = await having(reader, subscriberId, lookup, text)
    ids = ids === null ? [...found] : ids.filter((id) => found.has(id))
    if (ids.length === 0) break
  }
  return ids
}

/**
 * Ids of the records, of any subscriber, that have a text somewhere in what can be searched; case
 * aside.
 */
export async function search(
  { dir, reader }: Pick<Engine, 'dir' | 'reader'>,
  text: string,
): Promise<number[]> {
  // The index knows parts of three characters.
  if ([...text].length < 3) return lookThrough(reader, text)
  const sql = 'SELECT rowid FROM fulfillment_search WHERE fulfillment_search MATCH ?'
  const phrase = `"${text.replaceAll('"', '""')}"`
  const first = reader.prepare(`${sql} LIMIT ${FEW_TEXTS}`).pluck().all(phrase) as number[]
  return first.length < FEW_TEXTS ? first : searchWidely(dir, sql, phrase)
}

/**
 * Reads many matches in steps, with a handle of its own: the index would begin anew for each, and
 * others read in between.
 */
async function searchWidely(dir: string, sql: string, phrase: string): Promise<number[]> {
  const own = openFile(filesIn(dir).record, { synchronous: 'FULL', readonly: true })
  try {
    const ids: number[] = []
    for (const id of own.prepare(sql).pluck().iterate(phrase)) {
      ids.push(id as number)
      if (ids.length % FEW_TEXTS === 0) await nextTurn()
    }
    return ids
  } finally {
    own.close()
  }
}

/** The same for one or two characters: a look at every text, in the index's own table of them. */
async function lookThrough(reader: RawHandle, text: string): Promise<number[]> {
  const last =
    (reader.prepare('SELECT max(id) FROM fulfillment_order').pluck().get() as number | null) ?? 0
  // lower() of SQLite leaves all but A-Z as it is.
  const scan = reader
    .prepare(
      'SELECT id FROM fulfillment_search_content WHERE id BETWEEN ? AND ? AND (instr(lower(c0), ?) > 0 OR instr(lower(c0), lower(?)) > 0)',
    )
    .pluck()
  const ids: number[] = []
  for (let from = 1; from <= last; from += FEW_TEXTS) {
    for (const id of scan.all(
      from,
      from + FEW_TEXTS - 1,
      text.toLowerCase(),
      text.toUpperCase(),
    ) as number[])
      ids.push(id)
    await nextTurn()
  }
  return ids
}
