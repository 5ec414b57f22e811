/**
 * Statements of one transaction of which none needs the answer of another. PostgreSQL gets them
 * together, in their order, and they cost one round trip; SQLite runs one after the other.
 *
 *     const [order, parts] = await together([orderOf(tx, id), partsOf(tx, id)])
 */

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
