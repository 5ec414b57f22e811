/**
 * A caller that does what the contract tells it: it repeats an order under its order_id until there
 * is a final answer.
 */
import { timeOf } from './clock.js'
import type { FastClock } from './clock.js'
import type { Caller, Door } from './doors.js'
import type { AnswerBody, DuplicateDetails, HttpAnswer } from './http.js'
import type { OrderBody } from './orders.js'
import { sleep } from './process.js'

/**
 * One answer to a POST of an order, with the times of the shop's clock at which it was asked for
 * and came.
 */
export interface Told {
  shop: string
  key: string | null
  orderId: string
  sentAt: number
  at: number
  status: number
  code: string | null
  body: AnswerBody
  /** Others placed the same order at the same time. */
  isShared: boolean
}

/** Where a caller places its orders. */
export interface Target {
  /** Waits until somebody is there; null once there will be nobody any more. */
  door(): Promise<Door | null>
  /** Told when that one gave no answer. */
  lost(door: Door): void
  clock(): FastClock
  /** No caller waits any longer for a better time. */
  readonly isEnding: boolean
}

export interface Ledger {
  answers: Told[]
  /** What no answer should have been. */
  faults: string[]
  posts: number
  /** Posts without an answer. */
  broken: number
}

export const openLedger = (): Ledger => ({ answers: [], faults: [], posts: 0, broken: 0 })

/**
 * Final for the caller: the order is held (`placed`, `partial`, `pending`, or it was before), or
 * refused.
 */
export type Final = 'held' | 'refused' | 'gave up'

const TRIES = 400

/** Repeats a POST until its answer is final. */
export async function placeUntilFinal(
  target: Target,
  ledger: Ledger,
  caller: Caller,
  body: OrderBody,
  { isShared = false } = {},
): Promise<Final> {
  let unreachable = 0
  for (let tries = 0; tries < TRIES; tries++) {
    const told = await postOnce(target, ledger, caller, body, isShared)
    if (told === 'nobody') return 'gave up'
    if (!told) continue
    const { status, code, retryAfter } = told
    if (status === 200 || code === 'duplicate_order') return 'held'
    if (code === 'order_rejected') return 'refused'
    // Nobody was asked: the same order_id may be placed anew.
    if (code === 'distributor_unavailable' && ++unreachable >= 4) return 'refused'
    if (!(await pause(target, 3 + ((retryAfter ?? 1) * 1_000) / target.clock().speed)))
      return 'gave up'
  }
  ledger.faults.push(`${body.order_id} had no final answer after ${TRIES} tries`)
  return 'gave up'
}

/** Sleeps; false where it was cut short. */
async function pause(target: Target, ms: number): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end;) {
    if (target.isEnding) return false
    await sleep(Math.min(50, Math.max(1, end - performance.now())))
  }
  return true
}

/** One POST, noted in the ledger; null when no answer came. */
export async function postOnce(
  target: Target,
  ledger: Ledger,
  caller: Caller,
  body: OrderBody,
  isShared = false,
): Promise<(Told & { retryAfter: number | null }) | null | 'nobody'> {
  const door = await target.door()
  if (!door) return 'nobody'
  // A millisecond of ours is more than half a second of the shop's: no two posts of one order share
  // a moment.
  await sleep(3)
  const sentAt = timeOf(target.clock())
  ledger.posts++
  const answer = await door.place(caller, body)
  if (!answer) {
    ledger.broken++
    target.lost(door)
    return null
  }
  const told = {
    ...caller,
    isShared,
    orderId: body.order_id,
    sentAt,
    at: timeOf(target.clock()),
    status: answer.status,
    code: answer.body.error?.code ?? null,
    body: answer.body,
  }
  ledger.answers.push(told)
  const fault = faultIn(answer, body)
  if (fault)
    ledger.faults.push(
      `${body.order_id}: ${fault}: ${answer.status} ${JSON.stringify(answer.body)}`,
    )
  return { ...told, retryAfter: answer.retryAfter }
}

const EXPECTED: Record<number, readonly string[]> = {
  409: ['duplicate_order', 'order_rejected'],
  429: ['order_volume_limit'],
  503: ['distributor_unavailable', 'service_unavailable'],
}

/** What is wrong with an answer taken by itself. */
function faultIn(
  { status, body: { data, error } }: HttpAnswer,
  { order_id: orderId }: OrderBody,
): string | null {
  if (status === 200) {
    if (data?.order_id !== orderId) return 'an answer without the order'
    const numbers = data.fulfillment_orders.map(({ distributor_order_id: number }) => number)
    if (data.status === 'placed' && (data.errors.length > 0 || numbers.length === 0))
      return '"placed" with errors or without orders'
    if (data.status === 'partial' && (data.errors.length === 0 || numbers.length === 0))
      return '"partial" without errors or without orders'
    return null
  }
  if (!error || !EXPECTED[status]?.includes(error.code)) return 'an answer that nobody expects'
  if (error.code === 'duplicate_order') {
    const details = error.details as Partial<DuplicateDetails> | undefined
    if (
      details?.order_id !== orderId ||
      (details.fulfillment_orders?.length ?? 0) + (details.errors?.length ?? 0) === 0 ||
      details.same_request !== true
    )
      return 'a duplicate without its records'
  }
  return null
}
