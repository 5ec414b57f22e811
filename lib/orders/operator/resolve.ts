/**
 * An operator settles a purchase order of which nobody could find out what became.
 */
import { audit } from '../../accounts/audit.js'
import type { OrdersCtx } from '../ctx.js'
import { ApiError, invalid } from '../../core/errors.js'
import { textFault } from '../../core/text.js'
import { appendJournal } from '../journal/chain.js'
import { standsElsewhere } from '../matching/order-numbers.js'
import type { PoState } from '../../db/tables/orders.js'
import { move } from '../engine/transitions.js'
import type { Change, StoredPo } from '../stored.js'

/** What the operator found out: the distributor has it under this number, or does not have it. */
export type Verdict =
  | { verdict: 'placed'; number: string; reason?: string | undefined }
  /** `resend` sends it once more, `refuse` ends it. */
  | { verdict: 'absent'; next: 'resend' | 'refuse'; reason: string }

export type ResolveInput = Verdict & {
  /** Id or reference of a purchase order, or the order_id of an order with one that is open. */
  order: string
  /** Id of the subscriber whose order_id it is; needed where two have the same. */
  subscriberId?: string | undefined
}

export interface Resolution {
  id: number
  ref: string
  order_id: string
  distid: string
  po_number: string
  before: PoState
  after: PoState
  distributor_order_id: string | null
  reason: string | null
}

/** What the journal has of it, before the line of what follows. */
export type VerdictData = Verdict & { resolved: string; by: string }

/** States that a person may settle. */
const UNSETTLED: readonly PoState[] = ['unknown', 'review']
const LONGEST_REASON = 300
const LONGEST_NUMBER = 100

/**
 * Settles it: one transaction with its line in the journal and in the audit. A server that runs
 * sends or goes on within a second; whatever it was doing about the order at this moment, it sees
 * that somebody else has moved it.
 */
export async function resolveOrder(ctx: OrdersCtx, input: ResolveInput): Promise<Resolution> {
  const { order: text, subscriberId, ...given } = input
  const verdict = trimmed(given)
  checkVerdict(verdict)
  return ctx.engine.atomic(ctx, async (tx) => {
    const { order_id: orderId, ...order } = await unsettled(tx, text, subscriberId)
    if (verdict.verdict === 'placed' && (await standsElsewhere(tx.db, order, verdict.number)))
      throw invalid(
        'number',
        `${verdict.number} stands on another purchase order of ${order.distid}`,
      )
    await appendJournal(tx, 'note', {
      resolved: order.client_ref,
      by: tx.actor,
      ...verdict,
    } satisfies VerdictData)
    const moved = await move(tx, order, changeOf(verdict, tx.now()))
    if (!moved) throw new Error('the order was moved in its own transaction')
    const resolution = {
      id: order.id,
      ref: order.client_ref,
      order_id: orderId,
      distid: order.distid,
      po_number: order.po_number,
      before: order.state,
      after: moved.order.state,
      distributor_order_id: moved.order.distributor_order_id,
    }
    await audit(tx, 'orders.resolve', { ...resolution, ...verdict })
    return { ...resolution, reason: verdict.reason ?? null }
  })
}

function trimmed(verdict: Verdict): Verdict {
  const reason = verdict.reason?.trim()
  return verdict.verdict === 'placed'
    ? { ...verdict, number: verdict.number.trim(), ...(reason !== undefined && { reason }) }
    : { ...verdict, reason: reason ?? '' }
}

function checkVerdict(verdict: Verdict): void {
  const check = (path: string, text: string, most: number) => {
    const fault =
      text === ''
        ? 'is required'
        : text.length > most
          ? `must have at most ${most} characters`
          : (textFault(text) ?? (/[\n\t]/.test(text) ? 'must be one line' : null))
    if (fault) throw invalid(path, fault)
  }
  if (verdict.verdict === 'placed') check('number', verdict.number, LONGEST_NUMBER)
  if (verdict.reason !== undefined || verdict.verdict === 'absent')
    check('reason', verdict.reason ?? '', LONGEST_REASON)
}

function changeOf(verdict: Verdict, now: number): Change {
  const settled = {
    refusal: null,
    owner: null,
    failures: 0,
    misses: 0,
    missed_at: null,
    unknown_since: null,
  }
  if (verdict.verdict === 'placed')
    return {
      ...settled,
      to: 'placed',
      distributor_order_id: verdict.number,
      reason: null,
      next_at: null,
    }
  if (verdict.next === 'refuse')
    return { ...settled, to: 'rejected', reason: verdict.reason, next_at: null }
  // As if it had never been sent, but for the count of its sends and for a stage that was begun,
  // which is gone on with.
  return {
    ...settled,
    to: 'planned',
    reason: null,
    ever_unknown: 0,
    account: null,
    first_sent_at: null,
    planned_at: now,
    next_at: now,
  }
}

type Named = StoredPo & { order_id: string }

/**
 * The one purchase order that is meant and may be settled. Throws 404, or 400 where several may be
 * meant.
 */
async function unsettled(
  ctx: OrdersCtx,
  text: string,
  subscriberId: string | undefined,
): Promise<Named> {
  const meant = await findPurchaseOrders(ctx, text, subscriberId)
  if (meant.length === 0)
    throw new ApiError('not_found', {
      message: `there is no order or purchase order "${text}"; \`orders list\` shows them`,
    })
  const named = ({ id, distid, state, order_id: orderId, client_ref: ref }: Named) =>
    `${id} (${distid}, ${state}, order_id ${orderId}, reference ${ref})`
  const ambiguous = () =>
    invalid(
      'order',
      `"${text}" may mean ${meant.map(named).join(' or ')}: name one by its reference`,
    )
  // A number may be the id of one and the order_id of another, and which is meant does not follow
  // from which is open.
  if (
    meant.some(({ order_id: orderId }) => orderId !== text) &&
    meant.some(({ order_id: orderId }) => orderId === text)
  )
    throw ambiguous()
  const [open, ...others] = meant.filter(({ state }) => UNSETTLED.includes(state))
  if (!open) {
    const states = meant.map(({ id, distid, state }) => `${id} (${distid}) is ${state}`).join(', ')
    throw invalid('order', `nothing of "${text}" waits for a person: ${states}`)
  }
  if (others.length > 0) throw ambiguous()
  return open
}

/**
 * Purchase orders of an id, a reference or an order_id, oldest first. Each by its own index: an OR
 * over two tables would read all of them.
 */
export async function findPurchaseOrders(
  { read }: Pick<OrdersCtx, 'read'>,
  text: string,
  subscriberId?: string | undefined,
): Promise<Named[]> {
  const owners =
    subscriberId === undefined
      ? (await read.selectFrom('subscriber').select('id').execute()).map(({ id }) => id)
      : [subscriberId]
  const placements = await read
    .selectFrom('placement')
    .select('id')
    .where('subscriber_id', 'in', owners)
    .where('order_id', '=', text)
    .execute()
  const all = read
    .selectFrom('purchase_order')
    .innerJoin('placement', 'placement.id', 'purchase_order.placement_id')
    .selectAll('purchase_order')
    .select('placement.order_id')
    .where('purchase_order.subscriber_id', 'in', owners)
  const found = [
    ...(placements.length === 0
      ? []
      : await all
          .where(
            'placement_id',
            'in',
            placements.map(({ id }) => id),
          )
          .execute()),
    ...(await all.where('client_ref', '=', text).execute()),
    ...(!/^\d{1,15}$/.test(text)
      ? []
      : await all.where('purchase_order.id', '=', Number(text)).execute()),
  ]
  return [...new Map(found.map((order) => [order.id, order])).values()].toSorted(
    (a, b) => a.id - b.id,
  )
}
