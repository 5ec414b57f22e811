/**
 * A call at a simulated API that is about orders: the order that it posts, or its look at those
 * that there are, with whatever is to go wrong about it.
 */
import { createHash } from 'node:crypto'
import { admit } from '../engine/admit.js'
import { runDue } from '../engine/due.js'
import type { Arrival, SalesOrder } from '../engine/order.js'
import { perform, reachOf } from '../engine/perform.js'
import type { Arriving } from '../engine/perform.js'
import { countCall, ordersAnywhere } from '../engine/queries.js'
import { isLookupDown } from '../engine/sales-order.js'
import { chaosOf, scenarioOf } from '../engine/scenarios/scenarios.js'
import type { Db } from '../engine/store.js'
import type { Profile, World } from '../engine/world.js'
import { DEMO_SEED } from '../market/market.js'
import { createRandom } from '../market/random.js'
import type { Handled, Visit, WireAnswer, WireRequest } from './http-simulator.js'

/** Who makes a call, and at which distributor. */
export interface Caller {
  readonly world: World
  readonly profile: Profile
  /** What logged in. */
  readonly account: string
}

/** One call of an API. */
export interface Call extends Caller {
  readonly request: WireRequest
}

/** An order as it was posted. */
export interface Posted {
  readonly po: string
  readonly lines: Arrival['lines']
  readonly to: Arrival['shipTo']
  /** It goes to a dealer. */
  readonly firearms: boolean
  /** In the words of the real one; null for an order that can be read. */
  readonly fault: string | null
}

/** What an API answers to an order: `done` where a late effect leaves nothing to say. */
export interface OrderAnswers {
  accepted(number: string, db: Db): WireAnswer
  refused(reason: string): WireAnswer
  readonly done: WireAnswer
  /** Other calls of the same send came before it: whether it is reached, they have shown. */
  readonly isLast?: boolean
}

const OUTSIDE = 'outside '

/** Whether an order's reference is none of ours: a stranger's order has one made of its PO. */
export const isOutside = (clientRef: string): boolean => clientRef.startsWith(OUTSIDE)

/** An order as it arrived. `content` tells one order from another, `lane` one part from another. */
export function arrivingOf(
  { profile, account, visit }: Omit<Caller, 'world'> & { readonly visit: Visit | null },
  { po, lines, to, firearms }: Omit<Posted, 'fault'>,
  { content, lane }: { content: string; lane: string },
): Arriving {
  const own = visit?.send
  const arrival: Arrival = {
    clientRef: own?.arrival.clientRef ?? `${OUTSIDE}${account} ${po}`,
    po,
    scenario: own ? own.arrival.scenario : scenarioOf({ poGiven: po, lines }),
    content,
    lines,
    shipTo: to,
    firearms,
  }
  const reach = own?.reach ?? reachOf(profile, account, { lane, poGiven: po })
  return { profile, account, arrival, reach }
}

/** Takes an order that was posted, unless there is already an answer that refuses it. */
export function takePosted(
  { world, profile, account, request }: Call,
  posted: Posted,
  refusal: WireAnswer | null,
  answers: OrderAnswers,
): Handled {
  const lane = request.path.toLowerCase()
  const content = createHash('sha256').update(lane).update(request.body).digest('hex')
  const send = arrivingOf({ profile, account, visit: request.visit }, posted, { content, lane })
  const { arrival } = send
  const { fault, result } = perform(
    world,
    send,
    {
      name: 'submit',
      step: answers.isLast ? 'last' : 'only',
      isReached: true,
      ...(refusal === null && { late: { kind: 'order' } }),
    },
    (db): WireAnswer => {
      if (refusal !== null) return refusal
      const now = world.now()
      const taken = admit(db, world, { profile, account, arrival, placedAt: now, executedAt: now })
      return taken.outcome === 'accepted'
        ? answers.accepted(taken.number!, db)
        : answers.refused('reason' in taken ? taken.reason : taken.outcome)
    },
  )
  return { answer: result ?? answers.done, fault }
}

/** A look at the orders of an account: `ordersOf` are those that can make it fail. */
export function lookAt<Told>(
  { world, profile, account, visit }: Caller & { readonly visit: Visit | null },
  {
    tell,
    down,
    ordersOf,
  }: { tell: (db: Db) => Told; down: Told; ordersOf: (db: Db) => SalesOrder[] },
): { told: Told | undefined; fault: Handled['fault'] } {
  const own = visit?.send
  if (own) {
    const { fault, result } = perform(world, own, { name: 'find', step: 'look' }, (db) =>
      // Down for its own orders only: another order's search has nothing to do with it.
      ordersAnywhere(db, own.arrival.clientRef).some((order) => isLookupDown(order, world.now()))
        ? down
        : tell(db),
    )
    return { told: result, fault }
  }
  return world.store.transact((db) => {
    runDue(db, world)
    const fails = isBrokenOff(db, { profile, account }, ordersOf(db))
    return { told: tell(db), fault: fails ? ('reset_before' as const) : null }
  })
}

/** Whether a look is broken off by chance. Counted, so that a restart goes on in the sequence. */
function isBrokenOff(
  db: Db,
  { profile: { distid }, account }: Pick<Caller, 'profile' | 'account'>,
  orders: readonly SalesOrder[],
): boolean {
  const chance = Math.max(0, ...orders.map(({ scenario }) => chaosOf(scenario)))
  if (chance === 0) return false
  const ref = `${distid} ${account}`
  const n = countCall(db, ref, 'updates')
  return createRandom(DEMO_SEED, `${ref} updates ${n}`).chance(chance)
}

/** A body as JSON; undefined for what is none. */
export function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown
  } catch {
    return undefined
  }
}

/** What is wrong about a PO, in the distributor's words; `strange` finds a character it refuses. */
export function poFault({ limits, words }: Profile, po: string, strange: RegExp): string | null {
  if (po === '') return words.po('is missing')
  if (po.length > limits.po.max)
    return words.po(`has ${po.length} characters, ${limits.po.max} are the most`)
  const [found] = strange.exec(po) ?? []
  return found === undefined ? null : words.po(`holds "${found}"`)
}

/** What is not printable ASCII. */
export const NOT_ASCII = /[^\x20-\x7e]/u

/** Lines without an SKU or without a whole quantity from 1. */
export const areBroken = (lines: Arrival['lines']): boolean =>
  lines.some(({ distsku, qty }) => distsku === '' || !Number.isSafeInteger(qty) || qty < 1)
