/** Premises of dealers: an order that ships to one says nothing of its buyer (decisions 9.4). */
import type { OperatorCtx } from '../core/ctx.js'
import { normalizeAddress } from './address.js'
import type { FraudSignals } from './shapes.js'
import { addressOf } from './signals.js'
import type { Signals } from './signals.js'

interface Premise {
  premise_street: string
  premise_city: string
  premise_state: string
  premise_zip: string
}

/** Without the addresses that are a dealer's premise, the one for billing neither: whoever ships there is not the buyer. */
export function withoutPremises(ctx: Pick<OperatorCtx, 'engine'>, body: FraudSignals, signals: Signals): Signals {
  const strong = new Map(signals.strong)
  if (body.shipping_is_ffl || isPremise(ctx, body, 'shipping')) strong.delete('shipping_address_1')
  if (isPremise(ctx, body, 'billing')) strong.delete('billing_address_1')
  return { ...signals, strong }
}

/** True when the address is that of a dealer in the directory, however it is spelt. */
function isPremise({ engine }: Pick<OperatorCtx, 'engine'>, body: FraudSignals, kind: 'shipping' | 'billing'): boolean {
  const address = addressOf(body, kind)
  if (address === null) return false
  const zip = /^\s*(\d{5})/.exec(body[`${kind}_postcode`] ?? '')?.[1]
  const [city, state] = [body[`${kind}_city`], body[`${kind}_state`]]
  const { prepare } = engine.reader
  const columns = 'SELECT premise_street, premise_city, premise_state, premise_zip FROM dealer'
  const near = (zip !== undefined ? prepare(`${columns} WHERE substr(premise_zip, 1, 5) = ?`).all(zip)
    : state === null || city === null ? [] : prepare(`${columns} WHERE premise_state = ? AND premise_city = ? COLLATE NOCASE`).all(state.toUpperCase(), city)) as Premise[]
  return near.some((dealer) => normalizeAddress({
    address1: dealer.premise_street, address2: null, city: dealer.premise_city, state: dealer.premise_state, postcode: zip === undefined ? null : dealer.premise_zip, country: body[`${kind}_country`],
  }) === address)
}
