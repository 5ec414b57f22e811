/** The dealer of an order, looked at once more before each send. */
import { isApiError } from '../../../core/errors.js'
import type { PurchaseOrder } from '../../../distributors/fulfillment.js'
import { findDealer, whyUnfit } from '../../../ffls/find.js'
import type { StoredDealer } from '../../../ffls/find.js'
import type { OrdersCtx } from '../../ctx.js'

/**
 * Why an order must not go to its dealer any more, or null: between two sends a license may end, or
 * its premise move.
 */
export async function dealerFault(
  ctx: Pick<OrdersCtx, 'read' | 'now'>,
  {
    ffl,
    fflRequired,
    sotRequired,
    shipTo,
    shipToStore,
  }: Pick<PurchaseOrder, 'ffl' | 'fflRequired' | 'sotRequired' | 'shipTo' | 'shipToStore'>,
): Promise<string | null> {
  if (!fflRequired) return null
  if (!ffl) return 'it holds a firearm, and names no dealer'
  const dealer = await findDealer(ctx, ffl.licenseNumber).catch((error: unknown) => {
    if (isApiError(error)) return null
    throw error
  })
  const invalid = (reason: string) =>
    `the license ${ffl.licenseNumber} is no longer valid: ${reason}`
  if (!dealer) return invalid('it is no longer in the directory')
  const unfit = whyUnfit(dealer, ctx.now())
  if (unfit !== null) return invalid(unfit)
  if (sotRequired === true && dealer.sot_on_file !== 1)
    return `the dealer ${ffl.licenseNumber} no longer has an SOT on file`
  // The store's address is the subscriber's own, and need not be the licensed premise.
  if (!shipToStore && !isPremise(dealer, shipTo))
    return `the premise of ${ffl.licenseNumber} is no longer where the order would ship to`
  return null
}

function isPremise(dealer: StoredDealer, shipTo: PurchaseOrder['shipTo']): boolean {
  const bare = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  return (
    bare(
      dealer.premise_street +
        dealer.premise_city +
        dealer.premise_state +
        dealer.premise_zip.slice(0, 5),
    ) === bare(shipTo.address1 + shipTo.city + shipTo.state + shipTo.zip.slice(0, 5))
  )
}
