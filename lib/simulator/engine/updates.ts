/**
 * News of an account's orders, as a distributor tells them: in no order, and some of it more than
 * once.
 */
import { nextTurn } from '../../core/async/wait.js'
import { MINUTE } from '../../core/clock.js'
import type { OrderUpdate } from '../../distributors/fulfillment.js'
import type { Session } from '../../distributors/session/session.js'
import { DEMO_SEED } from '../market/market.js'
import { createRandom } from '../market/random.js'
import { accountOf, NOT_LOGGED_IN } from './call.js'
import { runDue } from './due.js'
import { LIFETIME, lifeOf } from './life.js'
import type { News } from './life.js'
import type { Profile } from './world.js'
import { countCall, ordersSince } from './queries.js'
import { isLookupDown, toldOf } from './sales-order.js'
import type { SalesOrder } from './order.js'
import { chaosOf } from './scenarios/scenarios.js'
import type { Db } from './store.js'
import type { World } from './world.js'

/** Milliseconds before the time asked for from which news are told once more. */
const OVERLAP = MINUTE
/** How often a confirmation comes again, where that is asked for. */
const REPEATED = 5

/**
 * All news since a time (milliseconds since 1970), and some of before it. Throws where the
 * distributor cannot be reached.
 */
export async function* updatesOf(
  world: World,
  profile: Profile,
  session: Session,
  since: number,
): AsyncGenerator<OrderUpdate> {
  session.signal.throwIfAborted()
  const account = accountOf(profile, session.settings)
  if (account === undefined) throw new Error(NOT_LOGGED_IN)
  const { updates, failsAt } = world.store.transact((db) => {
    runDue(db, world)
    const { distid } = profile
    const orders = ordersSince(db, { distid, account }, since - LIFETIME - OVERLAP)
    const updates = orders
      .filter((order) => !isLookupDown(order, world.now()))
      .flatMap((order) => newsOf(profile, order, since - OVERLAP, world.now()))
    return { updates, failsAt: chanceToFail(db, { profile, account }, orders, updates.length) }
  })
  for (const [place, update] of updates.entries()) {
    if (place === failsAt) break
    session.signal.throwIfAborted()
    yield update
    // A real list comes page by page: others have their turn.
    if (place % 100 === 99) await nextTurn()
  }
  if (failsAt !== null) throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
}

function newsOf(profile: Profile, order: SalesOrder, since: number, now: number): OrderUpdate[] {
  const { number, po, clientRef, lines, shipTo } = toldOf(profile, order)
  const which = {
    number,
    po,
    ...(clientRef !== undefined && { clientRef }),
    ...(lines && { lines }),
    ...(shipTo && { shipTo }),
  }
  const tell = ({ at, status, parcels }: News): OrderUpdate => ({
    ...which,
    at,
    ...(status && { status }),
    ...(parcels && { parcels }),
  })
  const life = lifeOf(profile, order).filter(({ at }) => at <= now)
  const told = life.filter((news) => news.at > since && isTold(profile, news)).map(tell)
  return order.scenario === 'DUPLICATE-ACK' && life[0]
    ? [...told, ...Array.from({ length: REPEATED }, () => tell(life[0]!))]
    : told
}

/**
 * Where only a report of shipments is read, a plain confirmation is not in it; what went wrong with
 * an order is told by mail.
 */
function isTold({ shows }: Profile, { status, parcels }: News): boolean {
  return shows !== 'shipped' || parcels !== undefined || status !== 'Submitted'
}

/**
 * After how many news the connection breaks; null where it does not. Counted, so that a restart
 * goes on in the sequence.
 */
export function chanceToFail(
  db: Db,
  { profile: { distid }, account }: { profile: Profile; account: string },
  orders: readonly SalesOrder[],
  count: number,
): number | null {
  const chance = Math.max(0, ...orders.map(({ scenario }) => chaosOf(scenario)))
  if (chance === 0) return null
  const ref = `${distid} ${account}`
  const n = countCall(db, ref, 'updates')
  const random = createRandom(DEMO_SEED, `${ref} updates ${n}`)
  return random.chance(chance) ? random.int(0, count) : null
}
