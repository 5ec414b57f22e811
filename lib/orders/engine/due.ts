/** Which open orders are due, and which of them are taken up next. */
import { HOUR } from '../../core/clock.js'
import type { Reading } from '../../db/query.js'
import { all, first } from '../../db/reading.js'
import type { StoredPo } from '../stored.js'
import { due, dueWhilePaused, ordersOfIds, pauseRow } from './queries.js'
import { CONCURRENCY } from './account-limits.js'

/** Milliseconds further ahead than any pause. */
const FARTHEST = 2 * HOUR
/**
 * Orders that one look takes up: what was placed meanwhile waits for the database behind no more
 * than these.
 */
export const BATCH = 10

/** A server is asked at every so manieth tick where nothing tells that something is due. */
const TICKS_UNTOLD = 5

/** Tells of each tick whether it is time to look, although nothing tells that something is due. */
export function untold(): () => boolean {
  let ticks = 0
  return () => ++ticks % TICKS_UNTOLD === 0
}

/** One distributor of one shop: what its orders wait for, no other's do. */
export const shopAt = ({
  subscriber_id: shop,
  distid,
  mode,
}: Pick<StoredPo, 'subscriber_id' | 'distid' | 'mode'>): string => `${distid} ${mode} ${shop}`

export interface DueOptions {
  now: number
  /** Are not looked at: they are being worked on, or were in this pass. */
  except: readonly number[]
  /** Also what is due later. */
  force: boolean
  /** Orders of each shop at each distributor that are being worked on. */
  takenUp: ReadonlyMap<string, number>
}

export interface DueOrders {
  orders: StoredPo[]
  /** Others are due, too. */
  isMore: boolean
  /** Orders wait for the operator: those that were never sent are none of these. */
  isPaused: boolean
}

/**
 * The next open orders whose time has come, the longest due first. No shop has more taken up than
 * its slots, so that those that wait for a slow distributor stand in nobody's way.
 */
export function* dueOrders({ now, except, force, takenUp }: DueOptions): Reading<DueOrders> {
  const isPaused = (yield* first(pauseRow)) !== undefined
  const rows = yield* all(isPaused ? dueWhilePaused : due, {
    now,
    farthest: now + FARTHEST,
    force: force ? 1 : 0,
    except,
  })
  const counts = new Map(takenUp)
  const ids: number[] = []
  for (const order of rows) {
    const before = counts.get(shopAt(order)) ?? 0
    if (ids.length === BATCH) break
    if (before >= CONCURRENCY - 1) continue
    counts.set(shopAt(order), before + 1)
    ids.push(order.id)
  }
  const orders = ids.length === 0 ? [] : yield* all(ordersOfIds, { ids })
  return { orders, isMore: ids.length < rows.length, isPaused }
}
