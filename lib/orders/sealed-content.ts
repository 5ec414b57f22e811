/**
 * The content of a purchase order, frozen before its first send: sealed, and with a digest that
 * says whether it still is that.
 */
import { createHash } from 'node:crypto'
import type { OrdersCtx } from './ctx.js'
import type { PurchaseOrder } from '../distributors/fulfillment.js'
import type { StoredPo } from './stored.js'

/** The content as it is kept: it names a person. */
export function sealContent(
  { secrets }: Pick<OrdersCtx, 'secrets'>,
  owner: string,
  content: PurchaseOrder,
): Pick<StoredPo, 'payload' | 'payload_digest'> {
  const text = JSON.stringify(content)
  return {
    payload: secrets.of(owner).seal(text, payloadPlace(content.clientRef)),
    payload_digest: digestOf(text),
  }
}

const payloadPlace = (clientRef: string) => `purchase order ${clientRef}`
export const digestOf = (text: string) => createHash('sha256').update(text).digest('base64url')

type Frozen = Pick<StoredPo, 'subscriber_id' | 'client_ref' | 'payload' | 'payload_digest'>

/** The frozen content. Throws when it is not what was frozen. */
export function contentOf(
  { secrets }: Pick<OrdersCtx, 'secrets'>,
  { subscriber_id: owner, client_ref: ref, payload, payload_digest: digest }: Frozen,
): PurchaseOrder {
  const text = secrets.of(owner).open(payload, payloadPlace(ref))
  if (digestOf(text) !== digest) throw new Error(`the content of ${ref} is not what was frozen`)
  return JSON.parse(text) as PurchaseOrder
}

/** The frozen content; null where it is not what was frozen. */
export function contentOrNull(
  ctx: Pick<OrdersCtx, 'secrets'>,
  order: Frozen,
): PurchaseOrder | null {
  try {
    return contentOf(ctx, order)
  } catch {
    return null
  }
}
