/** Orders as Sports South's simulator takes them: begun, filled, and submitted. */
import { admit } from '../../../simulator/engine/admit.js'
import type { Arrival } from '../../../simulator/engine/order.js'
import { perform, reachOf } from '../../../simulator/engine/perform.js'
import type { Arriving, CallKind } from '../../../simulator/engine/perform.js'
import {
  deleteStage,
  insertStage,
  orderAt,
  setStageArrival,
  setStageLines,
  stageOf,
} from '../../../simulator/engine/queries.js'
import type { Stage } from '../../../simulator/engine/queries.js'
import { nextNumber } from '../../../simulator/engine/sales-order.js'
import { scenarioOf } from '../../../simulator/engine/scenarios/scenarios.js'
import { stockLeft } from '../../../simulator/engine/stock.js'
import type { Db } from '../../../simulator/engine/store.js'
import type { Happening, Profile, World } from '../../../simulator/engine/world.js'
import { LONGEST_PO } from './payloads.js'
import type { Call, Operation, Told } from './simulator-operation.js'
import { isFirearm } from './simulator-items.js'

/** An order that was begun, with what is kept of it besides its lines. */
export interface Begun extends Arrival {
  /** As it was given. */
  readonly reference: string
  /** Open, or not placed for an error. */
  readonly status: 'W' | 'E'
  readonly isToStore: boolean
  /** It was told whose license it goes to. */
  readonly isInstructed: boolean
}

export const begunOf = ({ arrival }: Stage): Begun => arrival as Begun

/** Our simulators' numbers begin with SIM-; the protocol has the digits alone. */
export const numberAt = ({ distid }: Pick<Profile, 'distid'>, digits: string) =>
  `SIM-${distid}-${digits}`
export const digitsOf = (number: string) => number.replace(/^.*-/, '')

const HEADER =
  'PO CustomerOrderNumber SalesMessage ShipVia ShipToName ShipToAttn ShipToAddr1 ShipToAddr2 ' +
  'ShipToCity ShipToState ShipToZip ShipToPhone AdultSignature Signature Insurance'
const DETAIL =
  'OrderNumber SSItemNumber Quantity OrderPrice CustomerItemNumber CustomerItemDescription'
const LICENSE = /^\d-\d{2}-\d{3}-\d{2}-\d[A-HJ-M]-\d{5}$/
/** A year from now there is no license that ends sooner. */
const VALID_UNTIL = '1/1/2030'

/** What makes and changes orders. */
export const ORDERS: Readonly<Record<string, Operation>> = {
  TransferDocumentsRequired: { params: ['FFL'], act: transferDocuments },
  FFLAcceptsTransfer: {
    params: ['FFL'],
    act: ({ field }) => ({
      told: { string: LICENSE.test(field('FFL')) ? VALID_UNTIL : 'UNKNOWN' },
    }),
  },
  AddHeader: { params: HEADER.split(' '), act: addHeader },
  AddShipInstructions: {
    params: ['SystemOrderNumber', 'ShipInst1', 'ShipInst2'],
    act: (call) => atStage(call, 'SystemOrderNumber', { name: 'instructions' }, instruct),
  },
  AddDetail: {
    params: DETAIL.split(' '),
    act: (call) => atStage(call, 'OrderNumber', { name: 'line' }, addDetail),
  },
  Submit: { params: ['OrderNumber'], act: submit },
  DeleteOpenOrder: {
    params: ['OrderNumber'],
    act: (call) => atStage(call, 'OrderNumber', { name: 'delete' }, remove),
  },
}

/** What is told where a fault takes the place of the answer. */
const NOTHING: Told = { string: '' }

type Answered = ReturnType<Operation['act']>

/** One call for an order, with the fault that it asks for. */
function performed(
  { world, visit, isFirst }: Call,
  send: Arriving,
  { name, step, late }: Pick<CallKind, 'name' | 'late'> & Partial<Pick<CallKind, 'step'>>,
  effect: (db: Db) => Told,
): Answered {
  // Whether it can be reached at all was looked at before the first call.
  const kind = { name, step: step ?? (visit && !isFirst ? 'middle' : 'first'), isReached: true }
  const { fault, result } = perform(world, send, { ...kind, ...(late && { late }) }, effect)
  return { told: result ?? NOTHING, fault }
}

/** Nobody's order yet; asked before one is begun. */
function transferDocuments(call: Call): Answered {
  const told = { string: LICENSE.test(call.field('FFL')) ? 'Y' : 'N' }
  return call.visit ? performed(call, call.visit.send, { name: 'transfer' }, () => told) : { told }
}

function addHeader(call: Call): Answered {
  const { world, profile, account, visit, field } = call
  const po = field('PO')
  const isToStore = field('ShipToZip') === '0' && field('ShipToName') === ''
  const own = visit?.send
  const begun: Begun = {
    clientRef: own?.arrival.clientRef ?? (field('CustomerOrderNumber') || `outside ${po}`),
    reference: field('CustomerOrderNumber'),
    po,
    scenario: own ? own.arrival.scenario : scenarioOf({ poGiven: po, lines: [] }),
    content: own?.arrival.content ?? '',
    lines: [],
    shipTo: isToStore
      ? { name: 'Your store', address1: '', zip: '' }
      : { name: field('ShipToName'), address1: field('ShipToAddr1'), zip: field('ShipToZip') },
    firearms: own?.arrival.firearms ?? false,
    status: 'W',
    isToStore,
    isInstructed: false,
  }
  const reach = own?.reach ?? reachOf(profile, account, { lane: 'all', poGiven: po })
  const send: Arriving = { profile, account, arrival: begun, reach }
  return performed(call, send, { name: 'header' }, (db) => {
    if (isFaulty(call, isToStore)) return { int: '0' }
    // The real one counts: its numbers are digits alone.
    const number = digitsOf(nextNumber(db, profile.distid, world.now()))
    insertStage(db, { distid: profile.distid, account }, number, begun)
    return { int: number }
  })
}

function isFaulty({ field }: Call, isToStore: boolean): boolean {
  const po = field('PO')
  if (po.trim() === '' || po.length > LONGEST_PO || /[^\x20-\x7e]/.test(po)) return true
  if (isToStore) return false
  const filled = ['ShipToName', 'ShipToAddr1', 'ShipToCity'].every((name) => field(name) !== '')
  return (
    !filled ||
    !/^[A-Z]{2}$/.test(field('ShipToState')) ||
    !/^\d{5}$/.test(field('ShipToZip')) ||
    !/^\d{10}$/.test(field('ShipToPhone'))
  )
}

/** An operation on an order that is open; `false` where it is not. */
function atStage(
  call: Call,
  numberIn: string,
  kind: Pick<CallKind, 'name' | 'late'> & Partial<Pick<CallKind, 'step'>>,
  act: (db: Db, call: Call, stage: Stage) => boolean,
): Answered {
  const { world, profile, account, visit } = call
  const number = call.field(numberIn)
  const effect = (db: Db): Told => {
    const stage = stageOf(db, number)
    return { boolean: stage !== undefined && act(db, call, stage) }
  }
  if (visit) return performed(call, visit.send, { step: 'middle', ...kind }, effect)
  const stage = world.store.transact((db) => stageOf(db, number))
  if (!stage) return { told: { boolean: false } }
  const arrival = { ...stage.arrival, scenario: scenarioIn(stage) }
  const reach = reachOf(profile, account, { lane: 'all', poGiven: arrival.po })
  const send: Arriving = { profile, account, arrival, reach }
  return performed(call, send, { step: 'middle', ...kind }, effect)
}

/** By the PO, or once they are there by the items. */
const scenarioIn = ({ arrival: { scenario, po }, lines }: Stage): string | null =>
  scenario ?? scenarioOf({ poGiven: po, lines })

function instruct(db: Db, { field }: Call, stage: Stage): boolean {
  const license = field('ShipInst1').replace(/^FFL # /, '')
  const isGood = LICENSE.test(license) && /^PHONE # \d{10}$/.test(field('ShipInst2'))
  if (isGood)
    setStageArrival(db, stage.number, { ...begunOf(stage), isInstructed: true } as Arrival)
  return isGood
}

function addDetail(db: Db, { world, profile, field }: Call, stage: Stage): boolean {
  const [distsku, qty] = [field('SSItemNumber'), Number(field('Quantity'))]
  const isGood =
    begunOf(stage).status === 'W' &&
    Number.isSafeInteger(qty) &&
    qty > 0 &&
    stockLeft(db, world, profile.distid, distsku) !== null
  if (isGood) setStageLines(db, stage.number, [...stage.lines, { distsku, qty }])
  return isGood
}

function remove(db: Db, _call: Call, { number }: Stage): boolean {
  deleteStage(db, number)
  return true
}

function submit(call: Call): Answered {
  const number = call.field('OrderNumber')
  const { world, profile, account } = call
  const there = world.store.transact((db) =>
    orderAt(db, { distid: profile.distid, account }, numberAt(profile, number)),
  )
  // What is placed already stays as it is.
  if (there) return { told: { boolean: true } }
  const kind: CallKind = { name: 'submit', step: 'last', late: { kind: 'submit', id: number } }
  return atStage(call, 'OrderNumber', kind, (db, _call, stage) =>
    place(db, world, { profile, account, arrival: stage.arrival, id: number, at: world.now() }),
  )
}

/** Has an order placed, which it then is, or shows an error for good. */
export function place(db: Db, world: World, { profile, account, id, at }: Happening): boolean {
  const number = String(id)
  const stage = stageOf(db, number)
  if (!stage || begunOf(stage).status === 'E') return false
  const begun = begunOf(stage)
  const arrival = { ...begun, scenario: scenarioIn(stage), lines: stage.lines }
  const lacksLicense =
    !begun.isToStore &&
    !begun.isInstructed &&
    stage.lines.some(({ distsku }) => isFirearm(world, distsku))
  const isPlaced =
    !lacksLicense &&
    stage.lines.length > 0 &&
    admit(db, world, {
      profile,
      account,
      arrival,
      placedAt: at,
      executedAt: at,
      number: numberAt(profile, number),
    }).outcome === 'accepted'
  if (isPlaced) deleteStage(db, number)
  else setStageArrival(db, number, { ...begun, status: 'E' } as Arrival)
  return isPlaced
}
