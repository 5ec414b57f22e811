/**
 * Reads that say what they ask, and leave it to the engine how it is answered: a generator that
 * yields one query after the other. SQLite answers all of them within one turn of the event loop;
 * an engine at the other end of a socket can wait for each.
 *
 *     function* ordersOf(shop: string): Reading<Order[]> {
 *       const ids = yield* column(idsOfShop, { shop })
 *       return yield* all(ordersOfIds, { ids })
 *     }
 *     const orders = await engine.look(() => ordersOf(shop))
 *
 * A reading may run again from its beginning, so it changes nothing. What may change something, a
 * work, is for who counts and notes (metered.ts).
 */
import type { Kysely } from 'kysely'
import type { Change, Query, Question, Reading, Values, Work } from './query.js'
import type { Tables } from './tables/tables.js'

export function* all<P, R>(query: Query<P, R>, ...[given]: Values<P>): Reading<R[]> {
  return (yield question('all', query, given)) as R[]
}

/** Rows as lists of values, in the order of the query: half the cost of thousands of rows. */
export function* lists<P, R>(query: Query<P, R>, ...[given]: Values<P>): Reading<R[keyof R][][]> {
  return (yield question('lists', query, given)) as R[keyof R][][]
}

export function* first<P, R>(query: Query<P, R>, ...[given]: Values<P>): Reading<R | undefined> {
  return (yield question('first', query, given)) as R | undefined
}

/** The values of a query for one column. */
export function* column<P, R>(query: Query<P, R>, ...[given]: Values<P>): Reading<R[keyof R][]> {
  return (yield question('column', query, given)) as R[keyof R][]
}

/** The one value of a query for one column; undefined where there is no row. */
export function* value<P, R>(
  query: Query<P, R>,
  ...[given]: Values<P>
): Reading<R[keyof R] | undefined> {
  return (yield question('value', query, given)) as R[keyof R] | undefined
}

/** A query that changes something; the number of rows that it changed. No reading may have it. */
export function* change<P, R>(query: Query<P, R>, ...[given]: Values<P>): Work<number> {
  return (yield { ...question('all', query, given), wanted: 'change' }) as number
}

// What takes its own values is held as one that takes any: who answers has only the pair.
const question = <P, R>(
  wanted: Question['wanted'],
  query: Query<P, R>,
  given: P | undefined,
): Question => ({ wanted, query: query as Query<unknown, unknown>, given })

/**
 * Runs it within a transaction: it sees what that has written so far. Outside of one, what it asks
 * is answered as it is then: a reading of one query needs no more.
 */
export async function lookWithin<T>(tx: Kysely<Tables>, read: () => Work<T>): Promise<T> {
  const reading = read()
  let step = reading.next()
  while (!step.done) {
    let answer: unknown
    try {
      answer = await answerWithin(tx, step.value)
    } catch (error) {
      step = reading.throw(error)
      continue
    }
    step = reading.next(answer)
  }
  return step.value
}

async function answerWithin(
  tx: Kysely<Tables>,
  { wanted, query, given }: Question | Change,
): Promise<unknown> {
  const built = query.build(tx, given)
  const { rows, numAffectedRows = 0n } = await tx.executeQuery<object>(
    'isRawBuilder' in built ? built.compile(tx) : built.compile(),
  )
  switch (wanted) {
    case 'all':
      return rows
    case 'first':
      return rows[0]
    case 'lists':
      return rows.map((row) => Object.values(row))
    case 'column':
      return rows.map((row) => Object.values(row)[0])
    case 'value':
      return rows[0] && Object.values(rows[0])[0]
    case 'change':
      return Number(numAffectedRows)
  }
}
