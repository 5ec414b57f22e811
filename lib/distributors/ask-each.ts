/** News of a distributor that has to be asked for each order by itself. */
import type { OpenOrder, OrderUpdate } from './fulfillment.js'
import type { Session } from './session/session.js'

/** Orders that are asked for at a time. */
const SIDE_BY_SIDE = 4
/** After so many without a single answer nobody is there. */
const IN_VAIN = 8

/**
 * Asks for each order. One that cannot be asked for keeps no other from being told of; what kept it
 * is thrown in the end, or soon where nothing at all is answered.
 */
export async function* askEach(
  { signal }: Pick<Session, 'signal'>,
  open: readonly OpenOrder[],
  newsOf: (order: OpenOrder) => Promise<OrderUpdate[]>,
): AsyncGenerator<OrderUpdate> {
  const faults: unknown[] = []
  for (let first = 0; first < open.length; first += SIDE_BY_SIDE) {
    const some = open.slice(first, first + SIDE_BY_SIDE)
    const told = await Promise.allSettled(some.map(newsOf))
    signal.throwIfAborted()
    const failed = told.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
    faults.push(...failed)
    for (const one of told) if (one.status === 'fulfilled') yield* one.value
    const asked = first + some.length
    if (asked >= IN_VAIN && faults.length === asked) break
  }
  if (faults.length > 0) throw faults[0]
}
