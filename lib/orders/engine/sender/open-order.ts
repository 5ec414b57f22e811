/** Opens a purchase order: its connector, its account and its frozen content. */
import type { Subscriber } from '../../../accounts/caller.js'
import type { Distributor } from '../../../distributors/distributor.js'
import type { Fulfillment, PurchaseOrder } from '../../../distributors/fulfillment.js'
import { connectorFor } from '../../../distributors/modes.js'
import type { OrdersCtx } from '../../ctx.js'
import type { StoredPo } from '../../stored.js'
import { contentOf } from '../../sealed-content.js'
import { accountSettings, fingerprintOf } from '../../../configuration/account.js'
import { present } from '../../../core/present.js'

/** What is needed to talk to a distributor about a purchase order. */
export interface OpenedOrder {
  distributor: Distributor
  connector: Fulfillment
  content: PurchaseOrder
  settings: Readonly<Record<string, unknown>>
  /** Values of its secret settings, which nothing that is written down may repeat. */
  secrets: readonly string[]
  /** Tells accounts at the distributor apart without telling anything of them. */
  account: string
}

/** Opens a purchase order; a text says why it cannot be opened. */
export async function openOrder(ctx: OrdersCtx, order: StoredPo): Promise<OpenedOrder | string> {
  const connector = connectorFor(ctx, order)
  if (!connector) return `there is no connector for ${order.distid} in mode ${order.mode}`
  try {
    const subscriber = { id: order.subscriber_id } as Subscriber
    const settings = await accountSettings(ctx, subscriber, order.distid)
    return settings
      ? {
          distributor: present(ctx.distributors.byDistid(order.distid), order.distid),
          connector,
          settings,
          secrets: secretsIn(ctx, order.distid, settings),
          account: fingerprintOf(ctx, order, settings),
          content: contentOf(ctx, order),
        }
      : `${order.distid} is no longer configured`
  } catch (error) {
    ctx.log.error({ err: error, ref: order.client_ref }, 'an order cannot be opened')
    return 'its content or the credentials cannot be opened'
  }
}

function secretsIn(ctx: OrdersCtx, distid: string, settings: OpenedOrder['settings']): string[] {
  return Object.entries(present(ctx.distributors.byDistid(distid), distid).settings)
    .filter(([, { secret }]) => secret)
    .map(([name]) => String(settings[name] ?? ''))
}
