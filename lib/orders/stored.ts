/** A purchase order as it is stored, and what a change of it may say. */
import type { Selectable } from 'kysely'
import type { OrderStatus } from '../db/tables/column-types.js'
import type { FulfillmentOrderTable } from '../db/tables/fulfillment.js'
import type { PoState, PurchaseOrderTable } from '../db/tables/orders.js'

export type StoredPo = Selectable<PurchaseOrderTable>

/**
 * What can be changed with a state; `reason` is told to the operator, and to the caller where it
 * ends in a failure. `told` is where the order stands, as its acceptance says.
 */
export type Change = { to: PoState; told?: OrderStatus } & Partial<
  Pick<
    StoredPo,
    | 'sends'
    | 'owner'
    | 'account'
    | 'stage'
    | 'distributor_order_id'
    | 'ever_unknown'
    | 'unknown_since'
    | 'refusal'
    | 'misses'
    | 'missed_at'
    | 'next_at'
    | 'failures'
    | 'reason'
    | 'planned_at'
    | 'first_sent_at'
  >
>

/** A purchase order after a change, and its record. */
export interface Moved {
  order: StoredPo
  record: Selectable<FulfillmentOrderTable>
}

/**
 * What became of a placement. `through`: each part was sent, or could not be. `paused`: none is being
 * sent, and the others wait for the operator. `open`: a part is being sent, or soon will be.
 */
export type Outcome = 'through' | 'paused' | 'open'

/** States from which a purchase order goes on by itself, or by an operator's word. */
export const OPEN: readonly PoState[] = ['planned', 'sending', 'unknown', 'review']
/** States that produced no distributor order. */
export const FAILED: readonly PoState[] = ['rejected', 'expired']

/** Nobody has tried to send it yet. */
export const isUntried = ({ state, failures }: Pick<StoredPo, 'state' | 'failures'>): boolean =>
  state === 'planned' && failures === 0

/** Whether the outcome of any of these is still open. */
export function isPending(orders: readonly Pick<StoredPo, 'state'>[]): boolean {
  return orders.some(({ state }) => OPEN.includes(state))
}
