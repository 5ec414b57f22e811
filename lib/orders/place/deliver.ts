/** Sends what was taken in: here, or through the process that has the right to send. */
import type { HeldLease, OrdersCall } from '../ctx.js'
import { pause } from '../../core/async/wait.js'
import { SECOND } from '../../core/clock.js'
import { isUnavailable } from '../../db/faults.js'
import { laterIfAway } from '../engine/outcomes.js'
import { DISK_FULL, notSent } from '../engine/rules/after-send.js'
import type { StoredPo } from '../stored.js'
import type { Intent } from './intent.js'
import { purchaseOrdersOf } from '../rows.js'

/**
 * Has an order sent that was just taken in: here, as long as this process may, and else by who may.
 * The lease is the caller's to give back. Resolves with its purchase orders where it had to look at
 * them. `held` is called where it waits until the operator lets orders go on: nobody else needs to.
 */
export async function sendTaken(
  ctx: OrdersCall,
  intent: Intent,
  lease: HeldLease | null,
  held: () => void,
): Promise<StoredPo[] | null> {
  if (lease) {
    await sendIntent(ctx, intent, lease.epoch)
    if (ctx.engine.lead === null) return null
    // Another node may lead by now, and it was given back.
    const orders = await laterIfAway(() => purchaseOrdersOf(ctx, intent.placementId))
    if (orders?.every(isThrough)) return orders
  }
  await waitForSender(ctx, intent, held)
  return null
}

/**
 * Sends all parts side by side: at once where their account has room, else when their turn comes.
 * Under a lease.
 */
async function sendIntent(
  ctx: OrdersCall,
  { purchaseOrders }: Intent,
  epoch: number | null,
): Promise<void> {
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
  await Promise.allSettled(purchaseOrders.map((order) => ctx.orders.deliver(order, epoch)))
  await ctx.orders.flush()
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
  const purchaseOrders = orders.filter(
    ({ state, failures }) => state === 'planned' && failures === 0,
  )
  if (purchaseOrders.length > 0) await sendIntent(ctx, { ...intent, purchaseOrders }, lease.epoch)
}

/** It was sent, or could not be. */
function isThrough({ state, failures }: StoredPo): boolean {
  return state !== 'sending' && (state !== 'planned' || failures > 0)
}
