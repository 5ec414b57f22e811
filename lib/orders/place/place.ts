/**
 * Places an order (contract "Place order"). Up to the commit of the intent
 * anything may refuse it; after it, whatever happens, the caller is told of an order that is
 * placed, refused, or still being found out.
 */
import type { OrdersCall } from '../ctx.js'
import { ApiError } from '../../core/errors.js'
import { isCommitUnknown, isDuplicate } from '../../db/faults.js'
import { isIoError } from '../../db/sqlite/sqlite.js'
import { accountNow } from '../account.js'
import type { PlaceBody, PlacedOrder } from '../shapes.js'
import { answerOf } from './answer.js'
import { checkOrder } from './check-order.js'
import type { CheckedOrder } from './check-order.js'
import { sendIntent, waitForSender } from './deliver.js'
import { OrderIdHeld, requestDigest } from './holder.js'
import { writeIntent } from './intent.js'
import type { Intent, PlannedGroup } from './intent.js'
import { rememberOrder } from '../quota.js'
import { refuseDuplicate, refuseFullDisk } from './refusals.js'
import { partsOf } from './split.js'

/**
 * Places an order; the same one at the same moment is placed once, and the others are told what
 * became of it.
 */
export async function placeOrder(ctx: OrdersCall, body: PlaceBody): Promise<PlacedOrder> {
  const { placing } = ctx.orders
  const name = `${ctx.subscriber.id} ${body.order_id}`
  for (let other; (other = placing.get(name));) await other
  const run = placeOnce(ctx, body)
  const settled = run
    .then(
      () => {},
      () => {},
    )
    .finally(() => placing.delete(name))
  placing.set(name, settled)
  return run
}

async function placeOnce(ctx: OrdersCall, body: PlaceBody): Promise<PlacedOrder> {
  // First of all: the first lease of a life brings back what the journal alone still knows of, and
  // this may be one of those.
  const release = await ctx.orders.lease()
  let order: CheckedOrder
  let intent: Intent
  try {
    await refuseDuplicate(ctx, body)
    order = await checkOrder(ctx, body)
    refuseFullDisk(ctx)
    ctx.orders.refuseFailed()
    intent = await takeIn(ctx, body, order, release !== null)
  } catch (error) {
    release?.()
    throw error
  }
  // The right to send is kept until all is sent, also when the answer does not wait for it.
  const sending = (
    release ? sendIntent(ctx, intent).finally(release) : waitForSender(ctx, intent)
  ).catch((error: unknown) => {
    ctx.log.error(
      { err: error, orderId: order.orderId },
      'an order was taken in, and not all about it could be written down; it is taken up again',
    )
  })
  return answerOf(ctx, order, intent, sending)
}

/** Writes the intent down. Whatever goes wrong here, nothing was sent. */
async function takeIn(
  ctx: OrdersCall,
  body: PlaceBody,
  order: CheckedOrder,
  isSender: boolean,
): Promise<Intent> {
  const groups = await plannedGroups(ctx, order, isSender)
  try {
    const intent = await writeIntent(ctx, {
      order,
      groups,
      digest: requestDigest(body),
      owner: ctx.orders.owner,
      counts: ctx.orders.counts,
    })
    if (ctx.key) rememberOrder(ctx.orders.counts, ctx.key.id, intent)
    return intent
  } catch (error) {
    for (const group of groups)
      for (const { isSentNow } of group.parts) if (isSentNow) ctx.orders.free(group.account)
    if (error instanceof OrderIdHeld || isDuplicate(error)) {
      await refuseDuplicate(ctx, body)
      // Whoever held it has just let it go.
      throw new ApiError('service_unavailable', {
        message:
          'The same order was being placed at this moment, and nothing came of it. Try again.',
        headers: { 'retry-after': '1' },
      })
    }
    if (isIoError(error) || isCommitUnknown(error))
      throw new ApiError('service_unavailable', {
        message:
          `The ${isIoError(error) ? 'disk' : 'database'} failed while the order was written down, ` +
          'so it is not known whether it was. Nothing was sent; try the same order_id again later.',
      })
    throw error
  }
}

/** The parts of each group, and whether each may be sent at once. */
async function plannedGroups(
  ctx: OrdersCall,
  order: CheckedOrder,
  isSender: boolean,
): Promise<PlannedGroup[]> {
  const subscriber = { subscriber_id: ctx.subscriber.id, mode: order.mode }
  const groups = await Promise.all(
    order.groups.map(async (group) => ({
      ...group,
      parts: partsOf(group),
      account: (await accountNow(ctx, { ...subscriber, distid: group.distid })) ?? '',
    })),
  )
  return groups.map((group) => ({
    ...group,
    parts: group.parts.map((part) => ({
      ...part,
      isSentNow: isSender && ctx.orders.tryTake(group.account, group.connector),
    })),
  }))
}
