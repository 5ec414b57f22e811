/**
 * Places an order (contract "Place order"). Up to the commit of the intent
 * anything may refuse it; after it, whatever happens, the caller is told of an order that is
 * placed, refused, or still being found out.
 */
import type { OrdersCall } from '../ctx.js'
import { inTime } from '../../core/async/wait.js'
import { SECOND } from '../../core/clock.js'
import { accountNow } from '../account.js'
import type { PlaceBody, PlacedOrder } from '../shapes.js'
import { answerOf } from './answer.js'
import { checkOrder } from './check-order.js'
import type { CheckedOrder } from './check-order.js'
import { sendTaken } from './deliver.js'
import type { Intent, PlannedGroup } from './intent.js'
import { newReference } from '../rows.js'
import { refuseDuplicate, refuseFullDisk } from './refusals.js'
import { partsOf } from './split.js'
import { notKnown, takeIn } from './take-in.js'

/** How long an answer waits for a database that does not say whether it has the order, in ms. */
const PATIENCE = 25 * SECOND

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
  const lease = await ctx.orders.lease()
  let order: CheckedOrder | undefined
  let groups: PlannedGroup[]
  try {
    // A duplicate is refused as one, whatever else stands against it.
    order = await checkOrder(ctx, body, refuseDuplicate(ctx, body))
    refuseFullDisk(ctx)
    ctx.orders.refuseFailed()
    groups = await plannedGroups(ctx, order, lease !== null)
  } catch (error) {
    await order?.logged.catch(() => {})
    lease?.release()
    throw error
  }
  const { orderId } = order
  let isAnswered = false
  const takingIn = takeIn(ctx, {
    body,
    order,
    groups,
    epoch: lease?.epoch ?? null,
    isAnswered: () => isAnswered,
  })
  /** Resolves where orders were paused after it was taken in: it is answered as it is. */
  let hold = () => {}
  const held = new Promise<null>((resolve) => {
    hold = () => resolve(null)
  })
  // The right to send is kept until all is sent, also when the answer does not wait for it.
  const sending = takingIn
    .then((intent) =>
      sendTaken(ctx, intent, lease, hold).catch((error: unknown) => {
        ctx.log.error(
          { err: error, orderId },
          'an order was taken in, and not all about it could be written down; it is taken up again',
        )
        return null
      }),
    )
    .finally(() => lease?.release())
  // The caller hears of it by the other promise.
  sending.catch(() => {})
  const intent = await inPatience(ctx, takingIn).finally(() => {
    isAnswered = true
  })
  return answerOf(ctx, order, intent, Promise.race([sending, held]))
}

/** A file says at once whether it has an order; a database that is away may say so much later. */
function inPatience(ctx: OrdersCall, takingIn: Promise<Intent>): Promise<Intent> {
  if (ctx.engine.lead === null) return takingIn
  return inTime(() => takingIn, {
    ms: PATIENCE,
    late: () => {
      throw notKnown('database')
    },
  })
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
      clientRef: newReference(ctx.random),
    })),
  }))
}
