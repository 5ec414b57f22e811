/** News of a distributor that has to be asked for each order by itself. */
import type { OpenOrder, OrderUpdate } from './fulfillment.js'
import type { Session } from './session/session.js'

/** Orders that are asked for at a time. */
const SIDE_BY_SIDE = 4
/** After so many without a single answer nobody is there. */
const IN_VAIN = 8

/**
 * Asks for each order. One that cannot be asked for keeps no other from being told of, and is asked
 * for again with the next look; what kept it is thrown where nothing at all is answered.
 */
export async function* askEach(
  { signal }: Pick<Session, 'signal'>,
  open: readonly OpenOrder[],
  newsOf: (order: OpenOrder) => Promise<OrderUpdate[]>,
): AsyncGenerator<OrderUpdate> {
  const faults: unknown[] = []
  let asked = 0
  for (let first = 0; first < open.length; first += SIDE_BY_SIDE) {
    const some = open.slice(first, first + SIDE_BY_SIDE)
    const told = await Promise.allSettled(some.map(newsOf))
    signal.throwIfAborted()
    const failed = told.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
    faults.push(...failed)
    for (const one of told) if (one.status === 'fulfilled') yield* one.value
    asked += some.length
    if (asked >= IN_VAIN && faults.length === asked) break
  }
  if (asked > 0 && faults.length === asked) throw faults[0]
}
