/**
 * Places an order (contract "Place order"). Up to the commit of the intent
 * anything may refuse it; after it, whatever happens, the caller is told of an order that is
 * placed, refused, or still being found out.
 */
import type { OrdersCall } from '../ctx.js'
import { inTime, pause } from '../../core/async/wait.js'
import { SECOND } from '../../core/clock.js'
import { ApiError } from '../../core/errors.js'
import { isCommitUnknown, isDuplicate, isUnavailable } from '../../db/faults.js'
import { LeadLost } from '../../db/lead.js'
import { isIoError } from '../../db/sqlite/sqlite.js'
import { accountNow } from '../account.js'
import type { PlaceBody, PlacedOrder } from '../shapes.js'
import { answerOf } from './answer.js'
import { checkOrder } from './check-order.js'
import type { CheckedOrder } from './check-order.js'
import { sendTaken } from './deliver.js'
import { OrderIdHeld, requestDigest } from './holder.js'
import { writeIntent, writtenIntent } from './intent.js'
import type { Intent, PlannedGroup } from './intent.js'
import { rememberOrder } from '../quota.js'
import { newReference } from '../rows.js'
import { refuseDuplicate, refuseFullDisk } from './refusals.js'
import { partsOf } from './split.js'

/** How long an answer waits for a database that does not say whether it has the order, in ms. */
const PATIENCE = 25 * SECOND
/** Milliseconds until it is asked again. */
const AGAIN = 250

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
  let order: CheckedOrder
  let groups: PlannedGroup[]
  try {
    await refuseDuplicate(ctx, body)
    order = await checkOrder(ctx, body)
    refuseFullDisk(ctx)
    ctx.orders.refuseFailed()
    groups = await plannedGroups(ctx, order, lease !== null)
  } catch (error) {
    lease?.release()
    throw error
  }
  const takingIn = takeIn(ctx, { body, order, groups, epoch: lease?.epoch ?? null })
  // The right to send is kept until all is sent, also when the answer does not wait for it.
  const sending = takingIn
    .then((intent) =>
      sendTaken(ctx, intent, lease).catch((error: unknown) => {
        ctx.log.error(
          { err: error, orderId: order.orderId },
          'an order was taken in, and not all about it could be written down; it is taken up again',
        )
      }),
    )
    .finally(() => lease?.release())
  // The caller hears of it by the other promise.
  sending.catch(() => {})
  const intent = await inTime(() => takingIn, {
    ms: PATIENCE,
    late: () => {
      throw notKnown('database')
    },
  })
  return answerOf(ctx, order, intent, sending)
}

interface TakingIn {
  body: PlaceBody
  order: CheckedOrder
  groups: readonly PlannedGroup[]
  /** In which parts may be sent at once. */
  epoch: number | null
}

/**
 * Writes the intent down. Whatever goes wrong here, nothing was sent. Where a database does not say
 * whether it was written, it is written again until it does: of the same order_id there is one.
 */
async function takeIn(ctx: OrdersCall, { body, order, groups, epoch }: TakingIn): Promise<Intent> {
  const given = { order, digest: requestDigest(body), owner: ctx.orders.owner, epoch }
  let planned = groups
  for (let isDoubted = false; ;) {
    try {
      const intent = await writeIntent(ctx, {
        ...given,
        groups: planned,
        counts: ctx.orders.counts,
      })
      if (ctx.key) rememberOrder(ctx.orders.counts, ctx.key.id, intent)
      return intent
    } catch (error) {
      const own = isDoubted && isHeldByOther(error) ? await writtenIntent(ctx, groups) : null
      if (own) return own
      isDoubted ||= isCommitUnknown(error)
      if (isDoubted && (isCommitUnknown(error) || isUnavailable(error))) {
        if (ctx.orders.stopping.aborted) throw notKnown('database')
        await pause(AGAIN)
        continue
      }
      freeSlots(ctx, planned)
      if (!(error instanceof LeadLost)) throw await refusalOf(ctx, body, error)
      // Another node leads by now, and sends it.
      planned = planned.map(sentLater)
    }
  }
}

/** Somebody has the order_id, or a row that only one can have. */
const isHeldByOther = (error: unknown): boolean =>
  error instanceof OrderIdHeld || isDuplicate(error)

/** What the caller is told of an order that was not taken in. */
async function refusalOf(ctx: OrdersCall, body: PlaceBody, error: unknown): Promise<unknown> {
  if (isHeldByOther(error)) {
    await refuseDuplicate(ctx, body)
    // Whoever held it has just let it go.
    return new ApiError('service_unavailable', {
      message: 'The same order was being placed at this moment, and nothing came of it. Try again.',
      headers: { 'retry-after': '1' },
    })
  }
  return isIoError(error) ? notKnown('disk') : error
}

const notKnown = (what: 'disk' | 'database'): ApiError =>
  new ApiError('service_unavailable', {
    message:
      `The ${what} failed while the order was written down, so it is not known whether it was. ` +
      'Nothing was sent; try the same order_id again later.',
  })

function freeSlots({ orders }: OrdersCall, groups: readonly PlannedGroup[]): void {
  for (const { account, parts } of groups)
    for (const { isSentNow } of parts) if (isSentNow) orders.free(account)
}

const sentLater = (group: PlannedGroup): PlannedGroup => ({
  ...group,
  parts: group.parts.map((part) => ({ ...part, isSentNow: false })),
})

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
