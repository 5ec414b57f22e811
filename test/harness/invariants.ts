/**
 * What must hold of the books of an installation and of what its distributors really executed,
 * whatever happened. Plain data in, faults out, so that every harness can use it: one in this
 * process, one that kills real ones.
 */
import type { PurchaseOrder } from '../../lib/distributors/fulfillment.js'
import type { StoredOrder } from '../../lib/orders/history/records.js'
import type { ReadLine } from '../../lib/orders/journal/chain.js'
import type { StoredPo } from '../../lib/orders/stored.js'
import { answersLie } from './answers.js'
import type { Answered } from './answers.js'
import { journalDiffers } from './journal-rules.js'

const DAY = 86_400_000
const FAILED: readonly string[] = ['rejected', 'expired']

/** One order that a distributor really has. */
export interface Executed {
  distid: string
  /** Whose account there. */
  account: string
  clientRef: string
  /** Null where a distributor gives none. */
  number: string | null
  po: string
  lines: { distsku: string; qty: number }[]
  shipTo: { name: string; address1: string; zip: string }
}

export interface PlacementRow {
  id: number
  subscriber_id: string
  order_id: string
  attempt: number
  key_id: string | null
  request_digest: string
  placed_at: number
  holds_id: number
  was_refused: number
}

export type OrderRow = StoredPo & { content: PurchaseOrder }

/** The rows of a folder. */
export interface Books {
  placements: PlacementRow[]
  records: StoredOrder[]
  purchaseOrders: OrderRow[]
  failures: { placement_id: number; fulfillment_order_id: number; reason: string }[]
  counts: { key_id: string; placement_id: number; at: number }[]
  /** Lines that the database has, and what is wrong with their chain. */
  journal: ReadLine[]
  chainFault: string | null
  /** Lines of the database and of the file, as text. */
  lines: string[]
  file: string[]
}

export interface Expectations {
  /** Nothing is open any more and the journal is flushed. */
  isDrained: boolean
  /** The wall clock has always told the truth, so quotas can be counted by it. */
  clockIsTrue: boolean
  now: number
  /**
   * Of a distributor that does not tell our reference: its orders with the same PO and content are
   * one as good as the other.
   */
  tellsRef?: (distid: string) => boolean
  /** How a distributor keeps a PO. */
  echo?: (distid: string, po: string) => string
  /** The name of the account that an order was sent with; that of its subscriber by default. */
  accountOf?: (order: OrderRow) => string
}

export interface Violation {
  rule:
    | 'account'
    | 'premise'
    | 'double'
    | 'lost'
    | 'vanished'
    | 'refused but executed'
    | 'number'
    | 'content'
    | 'unfinished'
    | 'state'
    | 'holder'
    | 'failures'
    | 'quota'
    | 'record'
    | 'journal'
    | 'answer'
    | 'sent before it was written'
    | 'sent before the journal'
    | 'error'
    | 'review'
    | 'paused'
    | 'po'
  detail: string
}

export type Report = (rule: Violation['rule'], detail: string) => void

/** Everything that is wrong. */
export function violations(
  books: Books,
  executed: readonly Executed[],
  answers: readonly Answered[],
  expected: Expectations,
): Violation[] {
  const found: Violation[] = []
  const report: Report = (rule, detail) => void found.push({ rule, detail })
  executionsDiffer(books, executed, expected, report)
  numbersDiffer(books, executed, expected, report)
  for (const order of books.purchaseOrders) stateIsWrong(order, expected, report)
  placementsAreWrong(books, report)
  posRepeat(books, report)
  recordsAreWrong(books, report)
  quotasAreWrong(books, expected, report)
  journalDiffers(books, expected, report)
  answersLie(books, answers, report)
  return found
}

/** What makes two orders of a distributor the same to everybody. */
export function classOf(
  { tellsRef = () => true, echo = (_, po) => po }: Pick<Expectations, 'tellsRef' | 'echo'>,
  { distid, account, clientRef, po, lines, shipTo }: Omit<Executed, 'number'>,
): string {
  if (tellsRef(distid)) return `${distid} ${clientRef}`
  return JSON.stringify([
    distid,
    account,
    echo(distid, po).trim().toLowerCase(),
    contentText(lines),
    shipTo.name,
    shipTo.address1,
    shipTo.zip,
  ])
}

function contentText(lines: readonly { distsku: string; qty: number }[]): string {
  const units: Record<string, number> = {}
  for (const { distsku, qty } of lines) units[distsku] = (units[distsku] ?? 0) + qty
  return JSON.stringify(Object.entries(units).sort(([a], [b]) => (a < b ? -1 : 1)))
}

export function classOfRow(
  expected: Pick<Expectations, 'tellsRef' | 'echo' | 'accountOf'>,
  row: OrderRow,
): string {
  const { distid, client_ref: clientRef, content } = row
  return classOf(expected, {
    distid,
    account: expected.accountOf?.(row) ?? row.subscriber_id,
    clientRef,
    po: content.po,
    lines: content.lines,
    shipTo: content.shipTo,
  })
}

/** No order twice, none missing, none that nobody knows of. */
function executionsDiffer(
  { purchaseOrders }: Books,
  executed: readonly Executed[],
  expected: Expectations,
  report: Report,
): void {
  const classes = new Map<string, { rows: OrderRow[]; executed: Executed[] }>()
  const of = (name: string) => {
    let known = classes.get(name)
    if (!known) classes.set(name, (known = { rows: [], executed: [] }))
    return known
  }
  for (const row of purchaseOrders) of(classOfRow(expected, row)).rows.push(row)
  for (const execution of executed) of(classOf(expected, execution)).executed.push(execution)
  for (const { rows, executed: there } of classes.values()) {
    const wanted = rows.filter(({ state }) => !FAILED.includes(state))
    const told = rows.map(
      ({ client_ref: ref, state, sends }) => `${ref} ${state} after ${sends} sends`,
    )
    const tell = () =>
      `${told.join(', ') || 'no purchase order'}; executed: ` +
      `${there.map(({ number, clientRef }) => `${number} (${clientRef})`).join(', ') || 'none'}`
    if (there.length > 0 && rows.length === 0) report('vanished', tell())
    else if (there.length > rows.length) report('double', tell())
    else if (there.length > wanted.length) report('refused but executed', tell())
    // An order that a file holds is taken in before anybody has looked at it.
    if (there.length < rows.filter(({ state }) => state === 'placed').length) report('lost', tell())
  }
}

/** Every number stands on one record, and is that of an order with its content. */
function numbersDiffer(
  { purchaseOrders }: Books,
  executed: readonly Executed[],
  expected: Expectations,
  report: Report,
): void {
  const rows = new Map<string, OrderRow[]>()
  for (const row of purchaseOrders) {
    if (row.state !== 'placed' || row.distributor_order_id === null) continue
    const name = `${row.distid} ${row.distributor_order_id}`
    rows.set(name, [...(rows.get(name) ?? []), row])
  }
  const known = new Map(
    executed.map((execution) => [`${execution.distid} ${execution.number}`, execution]),
  )
  for (const [name, mine] of rows) {
    const execution = known.get(name)
    if (mine.length > 1)
      report('number', `${name} stands on ${mine.map(({ client_ref: ref }) => ref).join(' and ')}`)
    if (!execution) report('lost', `${mine[0]!.client_ref} is placed as ${name}, which nobody has`)
    else if (classOf(expected, execution) !== classOfRow(expected, mine[0]!))
      report(
        'number',
        `${mine[0]!.client_ref} is placed as ${name}, which is the order ${execution.clientRef}`,
      )
    else if (contentText(execution.lines) !== contentText(mine[0]!.content.lines))
      report(
        'content',
        `${name} holds ${contentText(execution.lines)}, and ${contentText(mine[0]!.content.lines)} was ordered`,
      )
  }
  if (!expected.isDrained) return
  // One that was taken in without a number stands for one of the orders like it.
  const numberless = new Map<string, number>()
  for (const row of purchaseOrders) {
    const name = classOfRow(expected, row)
    if (row.state === 'placed' && row.distributor_order_id === null)
      numberless.set(name, (numberless.get(name) ?? 0) + 1)
  }
  for (const [name, execution] of known) {
    if (execution.number === null || rows.has(name)) continue
    const left = numberless.get(classOf(expected, execution)) ?? 0
    if (left === 0) report('number', `${name} (${execution.clientRef}) stands on no record`)
    numberless.set(classOf(expected, execution), left - 1)
  }
}

function stateIsWrong(order: OrderRow, { isDrained }: Expectations, report: Report): void {
  const {
    client_ref: ref,
    state,
    sends,
    owner,
    first_sent_at: sentAt,
    ever_unknown: wasUnknown,
    next_at: nextAt,
    reason,
  } = order
  // A dealer may be gone before anything is sent.
  const isOurs =
    state === 'rejected' &&
    sentAt === null &&
    wasUnknown === 0 &&
    reason?.endsWith('nothing was sent')
  const wrong = (what: string) => report('state', `${ref} is ${state} and ${what}`)
  if (isDrained && !['placed', 'review', ...FAILED].includes(state))
    report('unfinished', `${ref} (${order.distid}) is ${state}: ${order.reason}`)
  if ((state === 'sending') !== (owner !== null))
    wrong(`has ${owner === null ? 'no owner' : 'an owner'}`)
  if (
    (state === 'placed' ||
      state === 'rejected' ||
      state === 'sending' ||
      state === 'unknown' ||
      state === 'review') &&
    sends < 1 &&
    !isOurs
  )
    wrong('was never sent')
  if (state === 'expired' && (sentAt !== null || wasUnknown === 1)) wrong('may have been sent')
  if ((state === 'planned' || state === 'unknown') && nextAt === null)
    wrong('is never looked at again')
  if (state === 'planned' && wasUnknown === 1) wrong('counts as never sent, which is not known')
  if (!['planned', 'unknown'].includes(state) && nextAt !== null) wrong('is still to be looked at')
}

/** A distributor may refuse a PO that it has refused before: every attempt has its own. */
function posRepeat({ placements, purchaseOrders }: Books, report: Report): void {
  const attempts = new Map<string, number>()
  const of = new Map(placements.map((placement) => [placement.id, placement]))
  for (const { placement_id: id, distid, subscriber_id: owner, content } of purchaseOrders) {
    const { order_id: orderId, attempt } = of.get(id)!
    const name = `${owner} ${orderId} ${distid} ${content.po}`
    const before = attempts.get(name)
    if (before !== undefined && before !== attempt)
      report('po', `attempts ${before} and ${attempt} of ${orderId} have the PO ${content.po}`)
    attempts.set(name, attempt)
  }
}

/** Who holds an order_id, and which failures are told. */
function placementsAreWrong(
  { placements, purchaseOrders, records, failures }: Books,
  report: Report,
): void {
  const holders = new Map<string, number>()
  for (const placement of placements) {
    const mine = purchaseOrders.filter(({ placement_id: of }) => of === placement.id)
    const failed = mine.filter(({ state }) => FAILED.includes(state))
    const name = `${placement.subscriber_id} ${placement.order_id}`
    const isOver = failed.length === mine.length
    if ((placement.holds_id === 0) !== isOver)
      report(
        'holder',
        `placement ${placement.id} of ${placement.order_id} ` +
          `${placement.holds_id === 1 ? 'holds' : 'does not hold'} its order_id, and is ` +
          `${mine.map(({ state }) => state).join(', ')}`,
      )
    if (
      (placement.was_refused === 1) !==
      (isOver && failed.some(({ state }) => state === 'rejected'))
    )
      report(
        'holder',
        `placement ${placement.id} of ${placement.order_id} ` +
          `${placement.was_refused ? 'counts' : 'does not count'} as refused`,
      )
    if (!isOver) holders.set(name, (holders.get(name) ?? 0) + 1)
    if (failures.filter(({ placement_id: of }) => of === placement.id).length !== failed.length)
      report(
        'failures',
        `placement ${placement.id} has ${failed.length} failed purchase orders, and another number of failures`,
      )
    if (
      records.filter(({ placement_id: of }) => of === placement.id).length === 0 ||
      mine.length === 0
    )
      report('record', `placement ${placement.id} has no records or no purchase orders`)
  }
  for (const [name, holding] of holders)
    if (holding > 1) report('double', `${holding} placements of ${name} have not failed`)
}

function recordsAreWrong({ records, purchaseOrders }: Books, report: Report): void {
  for (const record of records) {
    const mine = purchaseOrders.filter(({ fulfillment_order_id: of }) => of === record.id)
    const numbers =
      mine
        .flatMap(({ state, distributor_order_id: number }) =>
          state === 'placed' && number !== null ? [number] : [],
        )
        .join(', ') || null
    const isVisible = !mine.every(({ state }) => FAILED.includes(state))
    if ((record.visible === 1) !== isVisible)
      report(
        'record',
        `${record.po_number} is ${record.visible ? '' : 'not '}in the history, and its ` +
          `purchase orders are ${mine.map(({ state }) => state).join(', ')}`,
      )
    if (record.distributor_order_id !== numbers)
      report(
        'record',
        `${record.po_number} has the number ${record.distributor_order_id}, its purchase orders ${numbers}`,
      )
    const isOpen = mine.some(({ state }) =>
      ['planned', 'sending', 'unknown', 'review'].includes(state),
    )
    const status =
      isOpen || !isVisible
        ? 'Pending'
        : mine.every(({ state }) => state === 'placed')
          ? 'Submitted'
          : 'Partially Fulfilled'
    if (record.order_status !== status)
      report('record', `${record.po_number} is ${record.order_status}, and should be ${status}`)
  }
}

/** Every placement of a key counts, except where nobody was asked. */
function quotasAreWrong(
  { placements, purchaseOrders, counts }: Books,
  { clockIsTrue, now }: Expectations,
  report: Report,
): void {
  const times = new Map<string, number[]>()
  const counted = new Set(counts.map(({ key_id: key, placement_id: id }) => `${key} ${id}`))
  for (const { id, key_id: key, placed_at: at } of placements) {
    if (key === null) continue
    const mine = purchaseOrders.filter(({ placement_id: of }) => of === id)
    const asked = !mine.every(
      ({ state, first_sent_at: sent }) => FAILED.includes(state) && sent === null,
    )
    const counts = counted.delete(`${key} ${id}`)
    if (asked) times.set(key, [...(times.get(key) ?? []), at])
    if (counts && !asked) report('quota', `placement ${id} counts, and nobody was asked`)
    // Those of the day before yesterday are forgotten with the next order.
    if (!counts && asked && clockIsTrue && at > now - DAY)
      report('quota', `placement ${id} does not count`)
  }
  for (const name of counted) report('quota', `${name} counts, and there is no such placement`)
  // By the orders themselves: their rows are gone a day later.
  if (clockIsTrue) for (const mine of times.values()) tooMany(mine, report)
}

function tooMany(times: number[], report: Report): void {
  times.sort((a, b) => a - b)
  for (const { limit, window } of [
    { limit: 60, window: DAY / 24 },
    { limit: 500, window: DAY },
  ]) {
    const at = times.findIndex((time, i) => i >= limit && time - times[i - limit]! < window)
    if (at >= 0) report('quota', `more than ${limit} orders of a key within ${window / 1000} s`)
  }
}
