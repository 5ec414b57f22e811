/** Tells other handles and processes that something which they keep in memory has changed. */
import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { query } from './query.js'
import type { Reader, Reading } from './query.js'
import { value } from './reading.js'
import type { Tables } from './tables/tables.js'
import type { StateName } from './tables/column-types.js'

/** Raises the number of one kind of state, inside the transaction of the change itself. */
export async function touch(tx: Kysely<Tables>, name: StateName): Promise<void> {
  touchedBy.get(tx)?.add(name)
  await tx
    .updateTable('state')
    .set({ value: sql`value + 1` })
    .where('name', '=', name)
    .execute()
}

/**
 * What a transaction has touched, for an engine that cannot be asked within the turn: it reads that
 * again before it says that the transaction is done.
 */
const touchedBy = new WeakMap<Kysely<Tables>, Set<StateName>>()

/** Notes from here on what a transaction touches. */
export function noteTouches(tx: Kysely<Tables>): ReadonlySet<StateName> {
  const names = new Set<StateName>()
  touchedBy.set(tx, names)
  return names
}

export const valueOf = query((db, given: { name: StateName }) =>
  db.selectFrom('state').select('value').where('name', '=', given.name),
)

/** An engine, as far as it remembers. */
export interface Memory {
  /**
   * A value that is computed from the database once and again only after somebody touched its state.
   * What is remembered is read as a whole: of 10,000 subscribers it takes 13 ms, and of their
   * overrides, one each, 60 ms.
   */
  remember<T>(name: StateName, load: () => Reading<T>): Remembered<T>
}

/** What is kept in memory of one kind of state. */
export interface Remembered<T> {
  /**
   * As of this turn of the event loop: two microseconds a call as long as nobody commits. It may be
   * called within a reading.
   */
  (): T
  /** As of the reading that asks, for what must not miss a change of this very moment. */
  now(): Reading<T>
}

/**
 * A number that moves when somebody touched a state, for what is too large to be remembered whole:
 * a look at it is all that a call costs while nobody changes anything.
 */
export function changesOf(memory: Memory, name: StateName): () => number {
  const state = memory.remember(name, () => value(valueOf, { name }))
  return () => state() ?? 0
}

/** Remembers over SQLite, which can be asked within the turn: `version` moves with each commit. */
export function rememberedOver<T>(
  reader: Reader,
  version: () => number,
  { name, load }: { name: StateName; load: () => Reading<T> },
): Remembered<T> {
  let seen = -1
  let state: number | undefined = -1
  let held: T
  const asOfTurn = () => {
    const now = version()
    if (now !== seen) {
      const current = reader.value(valueOf, { name })
      if (current !== state) held = reader.run(load)
      ;[seen, state] = [now, current]
    }
    return held
  }
  return withReading(asOfTurn, { name, load, stateOf: () => state })
}

/** Lets a reading ask, too: what it sees may be newer than what is remembered. */
export function withReading<T>(
  asOfTurn: () => T,
  {
    name,
    load,
    stateOf,
  }: { name: StateName; load: () => Reading<T>; stateOf: () => number | undefined },
): Remembered<T> {
  return Object.assign(() => asOfTurn(), {
    *now() {
      // Both before it is asked: what is remembered may be another value when the answer comes.
      const [known, state] = [asOfTurn(), stateOf()]
      const current = yield* value(valueOf, { name })
      // Not kept: what a transaction has written so far may never be committed.
      return current === state ? known : yield* load()
    },
  })
}
