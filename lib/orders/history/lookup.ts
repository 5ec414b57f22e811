/**
 * Which records a text may belong to. What is found is checked against the subscriber by whoever
 * makes a page of it.
 */
import { nextTurn } from '../../core/async/wait.js'
import type { Engine } from '../../db/engine.js'
import { column, lists, value } from '../../db/reading.js'
import {
  FEW_TEXTS,
  PLACES,
  STEP,
  lastRecord,
  recordsWithPhrase,
  recordsWithText,
  someWithPhrase,
} from './queries.js'

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

/** Ids of the records that have this very text. */
async function having(
  engine: Pick<Engine, 'look'>,
  subscriber: string,
  lookup: Lookup,
  text: string,
): Promise<Set<number>> {
  const ids = new Set<number>()
  for (const place of FIELDS[lookup]) {
    for (let after = 0, isMore = true; isMore;) {
      const rows = await engine.look(() => lists(PLACES[place], { subscriber, text, after }))
      for (const [place, id] of rows as [place: number, id: number][]) {
        ids.add(id)
        after = place
      }
      isMore = rows.length === STEP
      if (isMore) await nextTurn()
    }
  }
  return ids
}

/** Ids of the records that have each of these texts; null where none is given. */
export async function lookUp(
  engine: Pick<Engine, 'look'>,
  subscriberId: string,
  texts: Partial<Record<Lookup, string | undefined>>,
): Promise<number[] | null> {
  let ids: number[] | null = null
  for (const lookup of LOOKUPS) {
    const text = texts[lookup]
    if (text === undefined) continue
    const found = await having(engine, subscriberId, lookup, text)
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
  engine: Pick<Engine, 'openSnapshot' | 'look'>,
  text: string,
): Promise<number[]> {
  // The index knows parts of three characters.
  if ([...text].length < 3) return lookThrough(engine, text)
  const phrase = `"${text.replaceAll('"', '""')}"`
  const first = await engine.look(() => column(someWithPhrase, { phrase }))
  return first.length < FEW_TEXTS ? first : searchWidely(engine, phrase)
}

/**
 * Reads many matches in steps, with a handle of its own: the index would begin anew for each, and
 * others read in between.
 */
async function searchWidely(
  { openSnapshot }: Pick<Engine, 'openSnapshot'>,
  phrase: string,
): Promise<number[]> {
  const own = await openSnapshot()
  try {
    const ids: number[] = []
    for await (const some of own.inSteps(recordsWithPhrase, { phrase }, FEW_TEXTS)) {
      for (const id of some) ids.push(id)
      await nextTurn()
    }
    return ids
  } finally {
    await own.close()
  }
}

/** The same for one or two characters: a look at every text, in the index's own table of them. */
async function lookThrough(engine: Pick<Engine, 'look'>, text: string): Promise<number[]> {
  const last = (await engine.look(() => value(lastRecord))) ?? 0
  const cases = { lower: text.toLowerCase(), upper: text.toUpperCase() }
  const ids: number[] = []
  for (let from = 1; from <= last; from += FEW_TEXTS) {
    const to = from + FEW_TEXTS - 1
    const some = await engine.look(() => column(recordsWithText, { from, to, ...cases }))
    for (const id of some) ids.push(id)
    await nextTurn()
  }
  return ids
}
