/**
 * What must hold of orders, whatever died in between; over plain data, once everything had time to
 * settle.
 */
import { DAY, HOUR } from '../../../lib/core/clock.js'
import { ORDER_QUOTAS } from '../../../lib/orders/quota.js'
import { FAILED, OPEN } from '../../../lib/orders/stored.js'
import { ALL_NEWS } from '../../../lib/simulator/engine/world.js'
import type { SimulatorOrder } from '../../../lib/simulator/inspect.js'
import type { Told } from './caller.js'
import { natureOf } from './documents.js'
import { EACH_BY_ITSELF } from './drain.js'
import { isRefused } from './facts.js'
import type { Facts, PurchaseOrderFact } from './facts.js'
import type { DuplicateDetails } from './http.js'

/** Faults by kind. */
export const KINDS = [
  'double',
  'lost',
  'wrong',
  'unfinished',
  'answer',
  'journal',
  'record',
  'quota',
  'opinion',
  'error',
] as const
export type Kind = (typeof KINDS)[number]

export interface Fault {
  kind: Kind
  text: string
}

export interface Checked {
  faults: Fault[]
  /** Orders that wait for a person, by distributor and by whether it has them. */
  reviews: Record<string, number>
}

export function check(facts: Facts, told: readonly Told[]): Checked {
  const faults: Fault[] = []
  const report = (kind: Kind, text: string) => {
    faults.push({ kind, text })
  }
  const world = worldOf(facts)
  checkExecutions(world, report)
  checkStates(world, report)
  checkPlacements(world, report)
  checkRecords(world, report)
  checkEnds(world, report)
  checkJournal(world, report)
  for (const answer of told) checkAnswer(world, answer, report)
  checkQuotas(world, told, report)
  for (const { rule, detail } of facts.secondOpinion) report('opinion', `${rule}: ${detail}`)
  const reviews: Record<string, number> = {}
  for (const { state, distid, client_ref: ref } of facts.purchaseOrders) {
    if (state !== 'review') continue
    const name = `${distid} ${world.executedByRef.has(ref) ? '(executed)' : '(not executed)'}`
    reviews[name] = (reviews[name] ?? 0) + 1
  }
  return { faults, reviews }
}

export type Report = (kind: Kind, text: string) => void

interface World {
  facts: Facts
  executedByRef: Map<string, SimulatorOrder[]>
  byPlacement: Map<number, PurchaseOrderFact[]>
  byRecord: Map<number, PurchaseOrderFact[]>
  /** Placements of a shop's order_id. */
  byOrder: Map<string, Facts['placements']>
}

function worldOf(facts: Facts): World {
  return {
    facts,
    executedByRef: groupBy(
      facts.executed.filter(({ clientRef }) => clientRef !== null),
      ({ clientRef }) => clientRef!,
    ),
    byPlacement: groupBy(facts.purchaseOrders, ({ placement_id: id }) => id),
    byRecord: groupBy(facts.purchaseOrders, ({ fulfillment_order_id: id }) => id),
    byOrder: groupBy(
      facts.placements,
      ({ subscriber_id: shop, order_id: orderId }) => `${shop} ${orderId}`,
    ),
  }
}

function groupBy<K, T>(list: readonly T[], keyOf: (one: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const one of list) {
    const key = keyOf(one)
    const group = groups.get(key)
    if (group) group.push(one)
    else groups.set(key, [one])
  }
  return groups
}

const linesOf = (lines: readonly { distsku: string; qty: number }[]) =>
  lines
    .map(({ distsku, qty }) => `${qty} x ${distsku}`)
    .sort()
    .join(', ')

/** Orders that distributors have: each is one of ours, once. */
function checkExecutions({ facts, executedByRef }: World, report: Report): void {
  const known = new Map(facts.purchaseOrders.map((order) => [order.client_ref, order]))
  for (const [ref, executed] of executedByRef) {
    const order = known.get(ref)
    const [first] = executed
    const twin = order
      ? undefined
      : facts.executed.find(
          ({ clientRef, distid, po, lines }) =>
            clientRef !== ref &&
            distid === first!.distid &&
            po === first!.po &&
            linesOf(lines) === linesOf(first!.lines),
        )
    if (twin)
      report(
        'double',
        `${first!.distid} has ${first!.po} under ${ref}, of which nothing is written down, and under ${twin.clientRef}`,
      )
    else if (!order)
      report(
        'lost',
        `${first!.distid} has ${ref} (${first!.po}, ${first!.number}), of which nothing is written down`,
      )
    if (executed.length > 1)
      report(
        'double',
        `${first!.distid} has ${ref} (${first!.po}) ${executed.length} times: ` +
          `${executed.map(({ number }) => number).join(', ')}`,
      )
    if (order && linesOf(order.lines) !== linesOf(first!.lines))
      report(
        'wrong',
        `${ref} is ${linesOf(first!.lines)} at ${first!.distid}, and was ${linesOf(order.lines)}`,
      )
    if (order && FAILED.includes(order.state) && !isRefused(first!))
      report(
        'wrong',
        `${ref} is ${order.state} (${order.reason}), and ${first!.distid} has it as ${first!.number}`,
      )
  }
}

/** After all that time every purchase order has come to its end, and its end is the truth. */
function checkStates({ facts, executedByRef, byRecord }: World, report: Report): void {
  const numbers = new Map<string, number>()
  for (const order of facts.purchaseOrders) {
    const { id, distid, client_ref: ref, state, distributor_order_id: number, reason } = order
    const [executed] = executedByRef.get(ref) ?? []
    if (state === 'placed') {
      if (!executed)
        report(
          'lost',
          `purchase order ${id} (${ref}) is placed as ${number}, and ${distid} does not have it`,
        )
      else if (number !== null && executed.number !== number)
        report(
          'wrong',
          `purchase order ${id} (${ref}) has the number ${number}, and is ${executed.number} at ${distid}`,
        )
      if (number !== null && numbers.has(number))
        report('wrong', `${number} stands on purchase orders ${numbers.get(number)} and ${id}`)
      if (number !== null) numbers.set(number, id)
    } else if (state === 'review') {
      const hasOtherParts = byRecord.get(order.fulfillment_order_id)!.length > 1
      if (!mayWait(order, { isExecuted: executed !== undefined, hasOtherParts }))
        report(
          'unfinished',
          `purchase order ${id} (${ref}) of ${distid} waits for a person: ${reason}`,
        )
    } else if (OPEN.includes(state)) {
      report(
        'unfinished',
        `purchase order ${id} (${ref}) of ${distid} is still ${state}: ${reason}; executed: ` +
          `${executed?.number ?? 'no'}`,
      )
    }
  }
}

const CONFLICT =
  /under our reference with another content|orders like this one|stands on another order/
/**
 * Of Sports South: it was deleted in a call that died, and what is not shown proves nothing. Of 2nd
 * Amendment Wholesale: its cart was emptied for another order before it could tell.
 */
const GONE = /is not shown any more|the cart does not hold the order any more/

interface Seen {
  isExecuted: boolean
  /** Its record has another purchase order under the same PO. */
  hasOtherParts: boolean
}

/**
 * Scenarios in which a person is asked also where a distributor can be: nobody else should have a
 * PO that we made. A stranger alone has it as well where the call died before ours was taken in, or
 * ours was refused when it was sent again.
 */
function asksPerson(
  { distid, scenario, poIsOurs }: PurchaseOrderFact,
  { isExecuted, hasOtherParts }: Seen,
): boolean {
  // Under a caller's PO nothing proves whose order it is that bears it.
  const { reference, content } = natureOf(distid)?.tells ?? { reference: true, content: true }
  if (!poIsOurs && !reference && !content) return true
  // Where one order of a PO is shown, the other part hides this one.
  if (hasOtherParts && !reference && !content) return true
  // Killed while it was being sent, it may have arrived; whoever sends it again never gets through.
  if (scenario === 'UNREACHABLE' && !isExecuted) return true
  return poIsOurs && (scenario === 'STRANGER-ONLY' || (scenario === 'STRANGER' && !isExecuted))
}

/**
 * A person is only asked where no distributor can be: files, calls that tell nothing afterwards,
 * and contradictions.
 */
function mayWait(order: PurchaseOrderFact, seen: Seen): boolean {
  const { recovery, reason } = order
  return (
    asksPerson(order, seen) ||
    recovery === 'file' ||
    recovery === 'one_shot' ||
    CONFLICT.test(reason ?? '') ||
    GONE.test(reason ?? '')
  )
}

/**
 * An order_id is held by one placement at most, and exactly while something came or may come of it.
 */
function checkPlacements({ facts, byPlacement, byOrder }: World, report: Report): void {
  for (const { id, order_id: orderId, holds_id: holds } of facts.placements) {
    const orders = byPlacement.get(id) ?? []
    if (orders.length === 0) report('lost', `placement ${id} of ${orderId} has no purchase order`)
    const mayHold = orders.some(({ state }) => !FAILED.includes(state))
    if ((holds === 1) !== mayHold)
      report(
        'wrong',
        `placement ${id} of ${orderId} ${holds === 1 ? 'holds' : 'does not hold'} its order_id ` +
          `with ${orders.map(({ state }) => state).join(', ')}`,
      )
  }
  for (const [name, placements] of byOrder) {
    if (placements.filter(({ holds_id: holds }) => holds === 1).length > 1)
      report('double', `${name} is held by placements ${placements.map(({ id }) => id).join(', ')}`)
  }
}

/** What callers are shown is what came of the purchase orders. */
function checkRecords({ facts, byRecord }: World, report: Report): void {
  const failures = groupBy(facts.failures, ({ fulfillment_order_id: id }) => id)
  for (const {
    id,
    order_id: orderId,
    visible,
    distributor_order_id: number,
    order_status: status,
  } of facts.records) {
    const orders = byRecord.get(id) ?? []
    const failed = orders.filter(({ state }) => FAILED.includes(state)).length
    if ((failures.get(id)?.length ?? 0) !== failed)
      report(
        'record',
        `record ${id} of ${orderId} lists ${failures.get(id)?.length ?? 0} failures and has ${failed}`,
      )
    if ((visible === 1) !== failed < orders.length)
      report(
        'record',
        `record ${id} of ${orderId} is ${visible === 1 ? 'shown' : 'hidden'} with ` +
          `${orders.map(({ state }) => state).join(', ')}`,
      )
    const numbers =
      orders
        .flatMap(({ state, distributor_order_id: one }) =>
          state === 'placed' && one !== null ? [one] : [],
        )
        .join(', ') || null
    if (number !== numbers)
      report(
        'record',
        `record ${id} of ${orderId} shows the number ${number}, its purchase orders have ${numbers}`,
      )
    if (status === 'Pending' && orders.every(({ state }) => state === 'placed'))
      report('record', `record ${id} of ${orderId} is Pending, and all of it is placed`)
  }
}

/**
 * How each order ended: as its scenario says and its distributor has it, and with nothing of a
 * stranger's.
 */
function checkEnds({ facts, executedByRef, byRecord }: World, report: Report): void {
  const strangers = facts.executed.filter(({ clientRef }) => clientRef === null)
  const strangersNumbers = new Set(strangers.map(({ number }) => number))
  for (const {
    id,
    distid,
    client_ref: ref,
    state,
    distributor_order_id: number,
    scenario,
  } of facts.purchaseOrders) {
    const [executed] = executedByRef.get(ref) ?? []
    const say = (text: string) =>
      report(
        'wrong',
        `purchase order ${id} (${ref}) of ${distid} with ${scenario ?? 'no scenario'} ${text}`,
      )
    if (number !== null && strangersNumbers.has(number))
      say(`has the number ${number} of somebody else's order`)
    // Some tell it with the parcels alone.
    const { parcelsByPo } = natureOf(distid)?.news ?? ALL_NEWS
    if (state === 'placed' && number === null && parcelsByPo !== 'of_one_order')
      say('has no number, though it was told in the news')
    // A file is taken in, and refused later.
    if (
      (scenario === 'REJECT' || scenario === 'OUT-OF-STOCK') &&
      natureOf(distid)?.recovery !== 'file' &&
      (executed !== undefined || state === 'placed')
    )
      say(`is ${state}, and was refused`)
  }
  for (const {
    id,
    order_id: orderId,
    order_status: status,
    ship_status: shipStatus,
  } of facts.records) {
    const orders = byRecord.get(id) ?? []
    const [order] = orders
    const [executed] = executedByRef.get(order?.client_ref ?? '') ?? []
    const own = new Set(
      orders
        .flatMap(({ client_ref: ref }) => executedByRef.get(ref) ?? [])
        .map(({ number }) => digitsOf(number)),
    )
    for (const { tracking_number: tracking } of facts.parcels.filter(
      ({ fulfillment_order_id: of }) => of === id,
    )) {
      if (!own.has(tracking.slice('1ZSIM'.length, -1)))
        report(
          'wrong',
          `record ${id} of ${orderId} has the parcel ${tracking}, which is none of its orders'`,
        )
    }
    if (orders.length !== 1 || order!.state !== 'placed' || !executed) continue
    // It may not have been asked for yet, however often that was tried.
    const isUnheard = EACH_BY_ITSELF.includes(order!.distid) && order!.chaos > 0
    if (isUnheard && status === 'Submitted') continue
    const underPo = facts.executed.filter(
      ({ distid, po }) => distid === order!.distid && po === executed.po,
    )
    const [end, ship] = endOf(order!, executed, underPo.length > 1)
    if (status !== end || shipStatus !== ship)
      report(
        'record',
        `record ${id} of ${orderId} is ${status} and ${shipStatus}, and should be ${end} and ${ship}`,
      )
  }
}

/** The digits of a number that stand in the tracking numbers of its parcels. */
const digitsOf = (number: string | null) => (number ?? '').replace(/^.*-/, '').padStart(10, '0')

/** What a record says in the end of an order and its parcels, as far as its distributor tells. */
function endOf(
  { distid, scenario, poIsOurs }: PurchaseOrderFact,
  { status, lines }: SimulatorOrder,
  isPoShared: boolean,
): [status: string, ship: string | null] {
  const { committed, cancelled, journey, parcelsByPo } = natureOf(distid)?.news ?? ALL_NEWS
  if (status === 'Not Fulfilled') return [committed ? status : 'Submitted', null]
  if (status === 'Cancelled') return [cancelled ? status : 'Submitted', null]
  if (status === 'Submitted') return [status, null]
  // RSR's API tells of each item whether it has left, and not how much of it.
  const isSeen = committed || (distid === 'RSR' && lines.some((line) => line.committed === 0))
  const end = status === 'Partially Fulfilled' && !isSeen ? 'Fulfilled' : status
  if (parcelsByPo === 'of_one_order' && isPoShared) return ['Submitted', null]
  if (parcelsByPo === true && (!poIsOurs || scenario?.startsWith('STRANGER'))) return [end, null]
  if (!journey) return [end, 'in_transit']
  const ends = { RETURN: 'return_to_sender', FAILURE: 'failure' } as Record<string, string>
  return [end, ends[scenario?.replace('LOST-', '') ?? ''] ?? 'delivered']
}

/** Members of a purchase order that stand in no row of it. */
const ADDED: ReadonlySet<keyof PurchaseOrderFact> = new Set([
  'recovery',
  'lines',
  'scenario',
  'poIsOurs',
  'chaos',
] as const)

/** The journal alone tells the same of every purchase order as the database. */
function checkJournal({ facts: { journal, purchaseOrders, paused } }: World, report: Report): void {
  for (const fault of journal.faults) report('journal', fault)
  if (paused !== null) report('journal', `orders are paused: ${paused}`)
  if (journal.told.size !== purchaseOrders.length)
    report(
      'journal',
      `the journal tells of ${journal.told.size} purchase orders, the database of ${purchaseOrders.length}`,
    )
  for (const order of purchaseOrders) {
    const told = journal.told.get(order.id)
    const differs = (Object.keys(order) as (keyof PurchaseOrderFact)[]).filter(
      (name) => !ADDED.has(name) && told?.[name] !== order[name],
    )
    if (differs.length > 0)
      report(
        'journal',
        `purchase order ${order.id}: the journal tells another ${differs.join(', ')}`,
      )
  }
}

/**
 * No answer was a lie, then or later. Unless it is shared, an order_id is posted by one caller, one
 * post after the other.
 */
function checkAnswer(
  { facts, byPlacement, byOrder, executedByRef }: World,
  told: Told,
  report: Report,
): void {
  const { shop, orderId, sentAt, at, status, code, body, isShared } = told
  const say = (text: string) =>
    report(
      'answer',
      `${orderId} was answered ${status} ${code ?? body.data?.status} at ${at}, and ${text}`,
    )
  const isHeld = status === 200 || code === 'duplicate_order'
  // What somebody else had taken in meanwhile, a refusal says nothing about.
  const until = isShared && !isHeld ? sentAt : at
  const before = (byOrder.get(`${facts.subscribers.get(shop)} ${orderId}`) ?? []).filter(
    ({ placed_at: placedAt }) => placedAt <= until,
  )
  // Who could not get at the books says nothing of what others have in them.
  if (isShared && code === 'service_unavailable') return
  if (!isHeld) {
    // Whatever was taken in before this answer has come to nothing, for ever.
    for (const { id, holds_id: holds } of before) {
      const executed = (byPlacement.get(id) ?? []).flatMap(
        ({ client_ref: ref }) => executedByRef.get(ref) ?? [],
      )
      if (executed.length > 0) say(`${executed[0]!.distid} has it as ${executed[0]!.number}`)
      else if (holds === 1) say(`placement ${id} holds its order_id`)
    }
    return
  }
  if (before.length === 0) return say('nothing of it is written down')
  const held = before.filter(({ holds_id: holds }) => holds === 1)
  const answer = body.data ?? (body.error!.details as DuplicateDetails)
  const isPlaced = status === 200 && body.data!.status !== 'pending'
  if (isPlaced && held.length !== 1) say('does not hold its order_id')
  const placed = new Set(
    held
      .flatMap(({ id }) => byPlacement.get(id) ?? [])
      .flatMap(({ state, distributor_order_id: number }) =>
        state === 'placed' && number !== null ? [number] : [],
      ),
  )
  for (const { distributor_order_id: numbers } of answer.fulfillment_orders) {
    for (const number of numbers?.split(', ') ?? [])
      if (!placed.has(number)) say(`${number} is not placed`)
  }
  if (
    status === 200 &&
    body.data!.status === 'placed' &&
    held.flatMap(({ id }) => byPlacement.get(id) ?? []).some(({ state }) => state !== 'placed')
  )
    say('not all of it is placed')
}

/**
 * Quotas are true rolling windows: never one order more, and no refusal that they do not explain.
 */
function checkQuotas({ facts, byPlacement }: World, told: readonly Told[], report: Report): void {
  const isRefunded = (id: number) =>
    (byPlacement.get(id) ?? []).every(
      ({ state, first_sent_at: sent }) => FAILED.includes(state) && sent === null,
    )
  for (const [key, placements] of groupBy(
    facts.placements.filter(({ key_id: id }) => id !== null),
    ({ key_id: id }) => id,
  )) {
    const counted = placements.filter(({ id }) => !isRefunded(id))
    const times = counted.map(({ placed_at: at }) => at).sort((a, b) => a - b)
    for (const { limit, window } of ORDER_QUOTAS) {
      const i = times.findIndex(
        (at, place) => place >= limit && at - times[place - limit]! < window,
      )
      if (i >= 0)
        report(
          'quota',
          `key ${key} placed ${limit + 1} orders within ${times[i]! - times[i - limit]!} ms from ` +
            `${times[i - limit]} on`,
        )
    }
    const rows = new Set(
      facts.counts.filter(({ key_id: id }) => id === key).map(({ placement_id: id }) => id),
    )
    const newest = times.at(-1) ?? 0
    for (const { id, placed_at: at } of counted)
      if (at > newest - DAY && !rows.has(id))
        report('quota', `placement ${id} of key ${key} is not counted`)
    for (const { id } of placements)
      if (isRefunded(id) && rows.has(id))
        report('quota', `placement ${id} of key ${key} is counted, and nobody was asked`)
  }
  checkRefusals(facts, told, report)
}

function checkRefusals({ placements }: Facts, told: readonly Told[], report: Report): void {
  const keys = new Map<string | null, string | null>()
  const keyOf = new Map(placements.map(({ order_id: orderId, key_id: id }) => [orderId, id]))
  for (const { key, orderId } of told)
    if (!keys.has(key) && keyOf.has(orderId)) keys.set(key, keyOf.get(orderId)!)
  for (const { key, code, body, sentAt, at, orderId } of told) {
    if (code !== 'order_volume_limit') continue
    const { limit, window_seconds: seconds } = body.error!.details as {
      limit: number
      window_seconds: number
    }
    const within = placements.filter(
      ({ key_id: id, placed_at: placedAt }) =>
        id === keys.get(key) && placedAt > sentAt - seconds * 1_000 && placedAt <= at,
    )
    if (within.length < limit)
      report(
        'quota',
        `${orderId} was refused for ${limit} orders in ${seconds} s, and there were ${within.length}`,
      )
  }
}

/** The most orders of a key within an hour and a day: that a limit was reached at all. */
export function busiest({ placements }: Facts, keyId: string): { hour: number; day: number } {
  const times = placements
    .filter(({ key_id: id }) => id === keyId)
    .map(({ placed_at: at }) => at)
    .sort((a, b) => a - b)
  const most = (window: number) =>
    times.reduce(
      (best, at) =>
        Math.max(best, times.filter((other) => other > at - window && other <= at).length),
      0,
    )
  return { hour: most(HOUR), day: most(DAY) }
}
