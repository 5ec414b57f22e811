/**
 * Writes down once more what the database has lost and the journal's file still has.
 */
import type { OrdersCall, OrdersCtx } from '../ctx.js'
import type { AdoptionData } from '../operator/adopt.js'
import { contentOf } from '../sealed-content.js'
import type { IntentData } from '../place/intent.js'
import type { ReadLine } from './chain.js'
import { countOrder } from '../quota.js'
import { follow, keepTold } from '../engine/transitions.js'
import type { StoredPo } from '../stored.js'
import type { StateData } from '../engine/transitions.js'
import { present } from '../../core/present.js'

/** A verified line with its text. */
export type LostLine = ReadLine & { text: string }

/**
 * Applies lines that follow the database's last one, all in one transaction. Returns the order ids
 * that they are about. Throws when a line does not fit to what is there: then nothing is changed.
 */
export async function replay(ctx: OrdersCtx, lines: readonly LostLine[]): Promise<string[]> {
  return ctx.engine.atomic(ctx, async (tx) => {
    const concerned = new Set<string>()
    for (const line of lines) {
      // Everything happens at the time of the line.
      const then = { ...tx, now: () => line.at }
      if (line.kind === 'intent' || isAdoption(line.data))
        concerned.add(await replayIntent(then, line.data as IntentData | AdoptionData))
      if (line.kind === 'state') concerned.add(await replayState(then, line.data as StateData))
      await tx.db.insertInto('journal').values({ seq: line.seq, line: line.text }).execute()
    }
    return [...concerned]
  })
}

const isAdoption = (data: unknown) => typeof data === 'object' && data !== null && 'adopted' in data

async function replayIntent(
  tx: OrdersCtx,
  { placement, orders, purchaseOrders }: IntentData | AdoptionData,
): Promise<string> {
  const [first] = purchaseOrders
  const { customer } = contentOf(tx as OrdersCall, present(first, 'a purchase order'))
  if (placement) await tx.db.insertInto('placement').values(placement).execute()
  await tx.db
    .insertInto('fulfillment_order')
    .values(orders.map((order) => ({ ...order, customer_name: customer.name })))
    .execute()
  await tx.db.insertInto('purchase_order').values(purchaseOrders).execute()
  if (placement && placement.key_id !== null)
    await countOrder(tx, placement.key_id, placement.id, placement.placed_at)
  return present(orders[0], 'an order').order_id
}

async function replayState(tx: OrdersCtx, line: StateData): Promise<string> {
  const { id, ref, from, set, told } = line
  const order = await tx.db
    .selectFrom('purchase_order')
    .selectAll()
    .where('id', '=', id)
    .where('client_ref', '=', ref)
    .where('state', '=', from)
    .executeTakeFirst()
  if (!order)
    throw new Error(
      `the journal tells of purchase order ${id} (${ref}) in state ${from}, which the ` +
        'database does not have',
    )
  await tx.db.updateTable('purchase_order').set(set).where('id', '=', id).execute()
  if (told) await keepTold(tx, order, told)
  await follow(tx, { ...order, ...set } as StoredPo, { before: from })
  const { order_id: orderId } = await tx.db
    .selectFrom('fulfillment_order')
    .select('order_id')
    .where('id', '=', order.fulfillment_order_id)
    .executeTakeFirstOrThrow()
  return orderId
}
