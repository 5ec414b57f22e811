/** Sends what was taken in: here, or through the process that has the right to send. */
import type { HeldLease, OrdersCall } from '../ctx.js'
import { pause } from '../../core/async/wait.js'
import { SECOND } from '../../core/clock.js'
import { isUnavailable } from '../../db/faults.js'
import { together } from '../../db/together.js'
import { laterIfAway } from '../engine/outcomes.js'
import { DISK_FULL, notSent } from '../engine/rules/after-send.js'
import { recordOf } from '../history/records.js'
import type { RecordsOfPlacement } from '../history/records.js'
import { FAILED, isUntried } from '../stored.js'
import type { Moved, StoredPo } from '../stored.js'
import type { Intent } from './intent.js'
import { purchaseOrdersOf } from '../rows.js'

/** What became of a placement. */
export interface Delivered {
  parts: StoredPo[]
  /** Null where they have to be looked at. */
  records: RecordsOfPlacement | null
}

/**
 * Has an order sent that was just taken in: here, as long as this process may, and else by who may.
 * The lease is the caller's to give back. Resolves with what became of it; null where that has to be
 * looked at. `held` is called where it waits until the operator lets orders go on: nobody else needs
 * to.
 */
export async function sendTaken(
  ctx: OrdersCall,
  intent: Intent,
  lease: HeldLease | null,
  held: () => void,
): Promise<Delivered | null> {
  if (lease) {
    const sent = await sendIntent(ctx, intent, lease.epoch)
    const delivered = intent.wasFound ? null : deliveredOf(sent)
    if (delivered?.parts.every(isThrough)) return delivered
    if (ctx.engine.lead === null) return null
    // Another node may lead by now, and it was given back.
    const orders = await laterIfAway(() => purchaseOrdersOf(ctx, intent.placementId))
    if (orders?.every(isThrough)) return { parts: orders, records: null }
  }
  await waitForSender(ctx, intent, held)
  return null
}

/**
 * Sends all parts side by side: at once where their account has room, else when their turn comes.
 * Under a lease. Resolves with what is known of each.
 */
async function sendIntent(
  ctx: OrdersCall,
  { purchaseOrders }: Pick<Intent, 'purchaseOrders'>,
  epoch: number | null,
): Promise<(Moved | null)[]> {
  await ctx.orders.step('intent committed')
  try {
    await ctx.orders.flush()
  } catch (error) {
    // The journal must have it before a distributor does: none of it has left.
    for (const order of purchaseOrders)
      if (order.state === 'sending') await giveBack(ctx, order, error)
    throw error
  }
  await ctx.orders.step('intent in the journal')
  const sent = await together(purchaseOrders.map((order) => ctx.orders.deliver(order, epoch)))
  await ctx.orders.flush()
  return sent
}

/** As they were written down; null where that is not known of each. */
function deliveredOf(sent: readonly (Moved | null)[]): Delivered | null {
  const moved = sent.filter((one) => one !== null)
  if (moved.length < sent.length) return null
  const parts = moved.map(({ order }) => order)
  const [only, another] = moved
  // Of several parts, one may have been written down after another with the same record.
  const isListed =
    only && !another && !FAILED.includes(only.order.state) && only.record.visible === 1
  return { parts, records: isListed ? { orders: [recordOf(only.record)], errors: [] } : null }
}

async function giveBack(ctx: OrdersCall, order: StoredPo, error: unknown): Promise<void> {
  ctx.orders.free(order.account ?? '')
  if (isUnavailable(error))
    await ctx.orders.record(order, notSent(order, { reason: DISK_FULL }, ctx.now()))
}

/**
 * Another process sends: what became of it is looked at now and then, also behind the answer; when
 * that one is gone, it is sent here.
 */
async function waitForSender(ctx: OrdersCall, intent: Intent, held: () => void): Promise<void> {
  for (;;) {
    const seen = await ctx.orders.outcomeOf(intent.placementId)
    if (seen === 'through') return
    // The next start of the sender, whoever it is, does the rest.
    if (ctx.orders.stopping.aborted) return
    if (seen === 'paused') {
      // Nothing is sent until the operator says so, and that takes its time.
      held()
      await pause(SECOND, ctx.orders.stopping)
      continue
    }
    const lease = await laterIfAway(() => ctx.orders.lease())
    if (lease) await sendPlanned(ctx, intent, lease).finally(lease.release)
  }
}

/** Sends here what nobody has begun to send: whatever was begun, its sender or the next one ends. */
async function sendPlanned(ctx: OrdersCall, intent: Intent, lease: HeldLease): Promise<void> {
  const orders = (await laterIfAway(() => purchaseOrdersOf(ctx, intent.placementId))) ?? []
  // What was tried and given back goes on in its time.
  const purchaseOrders = orders.filter(isUntried)
  if (purchaseOrders.length > 0) await sendIntent(ctx, { purchaseOrders }, lease.epoch)
}

/** It was sent, or could not be. */
function isThrough(order: StoredPo): boolean {
  return order.state !== 'sending' && !isUntried(order)
}
