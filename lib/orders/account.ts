/** Which account an order of a subscriber belongs to. */
import type { Subscriber } from '../accounts/caller.js'
import { accountSettings, fingerprintOf } from '../configuration/account.js'
import type { OrdersCtx } from './ctx.js'
import type { StoredPo } from './stored.js'

/** The account that a subscriber has at a distributor now; null where none is configured. */
export async function accountNow(
  ctx: OrdersCtx,
  of: Pick<StoredPo, 'subscriber_id' | 'distid' | 'mode'>,
): Promise<string | null> {
  const settings = await accountSettings(ctx, { id: of.subscriber_id } as Subscriber, of.distid)
  return settings && fingerprintOf(ctx, of, settings)
}
