/**
 * Statements of one transaction of which none needs the answer of another. PostgreSQL gets them
 * together, in their order, and they cost one round trip, or none; SQLite runs one after the other.
 *
 *     const [order, parts] = await together([orderOf(tx, id), partsOf(tx, id)])
 *     await pipelined(tx.db, [tx.db.insertInto('journal').values(line)])
 */
import type { Compilable, Kysely, RawBuilder } from 'kysely'
import type { Tables } from './tables/tables.js'

/** What `together` resolves with. */
type Answers<T extends readonly unknown[]> = { -readonly [At in keyof T]: Awaited<T[At]> }

/**
 * Waits until all of them have ended, so that none is left to run when its transaction has ended.
 * Rejects as the first of them in the list that fails.
 */
export async function together<const T extends readonly unknown[]>(
  statements: T,
): Promise<Answers<T>> {
  const ended = await Promise.allSettled(statements)
  for (const one of ended) if (one.status === 'rejected') throw one.reason
  return ended.map((one) => (one as PromiseFulfilledResult<unknown>).value) as Answers<T>
}

type Statement = Compilable | RawBuilder<unknown>

/**
 * Has statements of a transaction run, in their order, whose answers nobody needs. PostgreSQL is not
 * waited for: what is asked next goes along with them, or the COMMIT. One that fails undoes the
 * transaction, which rejects with its error. Elsewhere this waits for them, and rejects as the first
 * that fails.
 *
 * They are given as they were built, and not as promises, so that all of them have left when this
 * resolves. `failed` is told as well of what failed.
 */
export async function pipelined(
  tx: Kysely<Tables>,
  statements: readonly Statement[],
  failed: (error: unknown) => void = () => {},
): Promise<void> {
  const asked = statements.map((statement) =>
    tx.executeQuery('isRawBuilder' in statement ? statement.compile(tx) : statement.compile()),
  )
  for (const one of asked) one.catch(failed)
  if (!('isPipelined' in tx)) await together(asked)
}
