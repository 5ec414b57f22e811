/** Sports South: a header that gets a number, lines, and a submit, which alone has an effect. */
import { MINUTE } from '../../../core/clock.js'
import { admit, contentFault } from '../../../simulator/engine/admit.js'
import { call } from '../../../simulator/engine/call.js'
import type { Send } from '../../../simulator/engine/call.js'
import { simulatedConnector } from '../../../simulator/engine/simulated-connector.js'
import type { Arrival, Line } from '../../../simulator/engine/order.js'
import {
  deleteStage,
  hasOrder,
  insertStage,
  setStageLines,
  stageOf,
  stagesLike,
} from '../../../simulator/engine/queries.js'
import { nextNumber } from '../../../simulator/engine/sales-order.js'
import type { Db } from '../../../simulator/engine/store.js'
import { findListed } from '../../../simulator/engine/single-call-orders.js'
import { COMMON_LIMITS, PLAIN_WORDS } from '../../../simulator/engine/world.js'
import type {
  DistributorSimulator,
  Happening,
  Words,
  World,
} from '../../../simulator/engine/world.js'
import type { FoundOrder, Search, Submission } from '../../fulfillment.js'

type Status = { state: 'submitted' } | { state: 'open'; lines: Line[] } | { state: 'none' }

/** Goes on where an earlier send ended; begins anew where there is nothing to go on with. */
async function buildUp(world: World, send: Send): Promise<Submission> {
  const { session, arrival } = send
  const begun = session.stage
  const status =
    begun === null
      ? { state: 'none' as const }
      : await call(world, send, { name: 'status', step: 'first' }, (db) =>
          statusOf(db, begun, arrival),
        )
  if (status.state === 'submitted') return { outcome: 'accepted', number: begun }
  let number = begun ?? ''
  if (status.state === 'none') {
    const header = await call(
      world,
      send,
      { name: 'header', step: begun === null ? 'first' : 'middle' },
      (db) => openStage(db, world, send),
    )
    if ('reason' in header) return { outcome: 'rejected', reason: header.reason }
    number = header.number
    await session.keepStage(number)
  }
  const there = status.state === 'open' ? status.lines : []
  for (const line of arrival.lines.slice(there.length))
    await call(world, send, { name: 'line', step: 'middle' }, (db) => addLine(db, number, line))
  return call<Submission>(
    world,
    send,
    { name: 'submit', step: 'last', late: { kind: 'submit', id: number } },
    (db) => submitStage(db, world, { ...send, id: number, at: world.now() }),
  )
}

function statusOf(db: Db, number: string, { content }: Arrival): Status {
  if (hasOrder(db, number)) return { state: 'submitted' }
  const stage = stageOf(db, number)
  return stage?.arrival.content === content
    ? { state: 'open', lines: stage.lines }
    : { state: 'none' }
}

function openStage(
  db: Db,
  world: World,
  { profile, account, order, arrival }: Send,
): { number: string } | { reason: string } {
  const reason = contentFault(profile, order)
  if (reason !== null) return { reason }
  const number = nextNumber(db, profile.distid, world.now())
  insertStage(db, { distid: profile.distid, account }, number, arrival)
  return { number }
}

function addLine(db: Db, number: string, line: Line): void {
  setStageLines(db, number, [...(stageOf(db, number)?.lines ?? []), line])
}

/**
 * Orders by reference and PO, and what is still being built up under our number or reference: a PO
 * alone makes no stage ours.
 */
async function findStaged(world: World, send: Send): Promise<Search> {
  const listed = await findListed(world, send)
  if (listed.outcome !== 'answered') return listed
  const { profile, account, arrival, session } = send
  const owner = { distid: profile.distid, account }
  const open = world.store
    .transact((db) => stagesLike(db, owner, session.stage, arrival.clientRef))
    .map(({ number, arrival: { po, clientRef, shipTo }, lines }): FoundOrder => {
      return { number, po, clientRef, lines, shipTo, submitted: false }
    })
  return { outcome: 'answered', orders: [...listed.orders, ...open] }
}

/**
 * What Sports South does with an order that is submitted: the first time it becomes one, from then
 * on it is that one.
 */
function submitStage(db: Db, world: World, { profile, account, id, at }: Happening): Submission {
  const number = String(id)
  const stage = stageOf(db, number)
  if (hasOrder(db, number)) return { outcome: 'accepted', number }
  if (!stage) return { outcome: 'not_sent', reason: `the order ${number} is not open` }
  const answer = admit(db, world, {
    profile,
    account,
    arrival: { ...stage.arrival, lines: stage.lines },
    placedAt: at,
    executedAt: at,
    number,
  })
  deleteStage(db, number)
  return answer
}

const words: Words = {
  ...PLAIN_WORDS,
  unknownItem: (sku) => `AddDetail: false (item ${sku})`,
  outOfStock: (sku) => `Submit: false, STATUS E: insufficient on-hand for ${sku}`,
  credit: 'Submit: false, STATUS E: account on hold',
  phone: 'AddHeader: ShipToPhone is required',
  po: (fault) => `AddHeader: PO ${fault}`,
  missingFfl: 'Submit: false, STATUS E: no FFL for the ship-to',
  badFfl: 'FFLAcceptsTransfer: UNKNOWN',
  badZip: (zip) => `AddHeader: ShipToZip "${zip}" is invalid`,
}

export const simulator: DistributorSimulator = {
  credentials: {
    api_user: '99904',
    api_customer_number: '99905',
    api_password: 'demo-sports-south',
  },
  orders: {
    due: { submit: submitStage },
    connector: (world, profile) =>
      simulatedConnector(world, profile, { submit: buildUp, find: findStaged }),
    recovery: 'staged',
    account: 'api_customer_number',
    refusesMix: false,
    words,
    shows: 'at_once',
    tells: { reference: true, content: true },
    // Several calls, each of which it may take its time for.
    limits: {
      ...COMMON_LIMITS,
      needsConsumerPhone: 'always',
      sendTimeout: 5 * MINUTE,
      visibilityLag: 2 * MINUTE,
    },
    firearms: ['UPS', 'Next Day Air'],
    others: ['UPS', 'Ground'],
  },
}
