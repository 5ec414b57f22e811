/** What is not well with orders: those that wait for a person, and a journal that is broken. */
import { orWell } from '../../core/finding.js'
import type { Finding } from '../../core/finding.js'
import type { OrdersCtx } from '../ctx.js'
import { readPause } from '../engine/pause.js'
import { isOpenPurchase } from '../queries.js'

/** Orders in review that are named one by one. */
const MOST = 100

export async function orderFindings(ctx: Pick<OrdersCtx, 'read'>): Promise<Finding[]> {
  const [review, pause] = await Promise.all([ordersInReview(ctx), readPause(ctx)])
  const paused: Finding[] = pause
    ? [
        {
          check: pause.damage ? 'journal_broken' : 'orders_paused',
          subject: '',
          severity: 'bad',
          message: `orders are paused since ${new Date(pause.since).toISOString()}: ${pause.reason}`,
          mend: pause.damage
            ? 'quartermaster orders journal verify'
            : 'quartermaster orders reconcile --since ' +
              `${new Date(pause.lookBackTo ?? pause.since).toISOString()} --resume`,
        },
      ]
    : []
  const of = (check: string) => paused.filter((finding) => finding.check === check)
  return [
    ...orWell(review, 'order_in_review', 'no order waits for a person'),
    ...orWell(of('journal_broken'), 'journal_broken', 'the order journal is whole'),
    ...orWell(of('orders_paused'), 'orders_paused', 'orders are not paused'),
  ]
}

async function ordersInReview({ read }: Pick<OrdersCtx, 'read'>): Promise<Finding[]> {
  const rows = await read
    .selectFrom('purchase_order')
    .select(['client_ref', 'distid', 'po_number'])
    .where(isOpenPurchase)
    .where('state', '=', 'review')
    .orderBy('id')
    .limit(MOST)
    .execute()
  return rows.map(({ client_ref: ref, distid, po_number: po }) => ({
    check: 'order_in_review',
    subject: ref,
    severity: 'bad',
    // Without the reason: it may be the distributor's words about a customer.
    message: `the purchase order ${po} at ${distid} waits for a person to decide about it`,
    mend: `quartermaster orders show ${ref}`,
  }))
}
