/** The calls of an order: each by its name, as the account makes them. */
import type { PurchaseOrder } from '../../fulfillment.js'
import { memberOf, NoReply, textOf } from '../../session/reply.js'
import type { Session } from '../../session/session.js'
import { ask, Refused } from './api.js'
import type { Call, SecondAmendmentSettings } from './api.js'
import { cartIn } from './cart.js'
import type { Cart } from './cart.js'
import {
  AddressFault,
  agreementsIn,
  billingAddress,
  cheapestOf,
  itemOf,
  noteFor,
  ownAddress,
  paymentInformation,
  paymentOf,
  poOf,
  regionsIn,
  shippingAddress,
  shippingInformation,
} from './payload.js'
import type { Address } from './payload.js'

/** What is asked before anything is put into the cart. */
export interface Prepared {
  readonly shipping: Address
  readonly billing: Address
  readonly agreements: readonly string[]
}

export const CALLS = {
  open: { method: 'POST', path: 'carts/mine' },
  cart: { method: 'GET', path: 'carts/mine' },
  regions: { method: 'GET', path: 'directory/countries/US' },
  ownAddress: { method: 'GET', path: 'customers/me/billingAddress' },
  agreements: { method: 'GET', path: 'carts/licence' },
  note: { method: 'PUT', path: 'carts/mine/set-customer-note' },
  po: { method: 'PUT', path: 'carts/mine/set-po-number' },
  item: { method: 'POST', path: 'carts/mine/items' },
  methods: { method: 'POST', path: 'carts/mine/estimate-shipping-methods' },
  shipping: { method: 'POST', path: 'carts/mine/shipping-information' },
  pay: { method: 'POST', path: 'carts/mine/payment-information' },
} as const satisfies Record<string, Call>

/** Why an order cannot be placed, whatever is tried: found out before it is paid for. */
export class Impossible extends Error {
  override readonly name = 'Impossible'
}

/** The account of a session. All of its calls throw a Refused or a NoReply. */
export class CartAccount {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  #ask(call: Call, body?: unknown): Promise<unknown> {
    return ask(this.#session, body === undefined ? call : { ...call, body })
  }

  /** The account's cart, with whatever is in it. */
  async openCart(): Promise<Cart> {
    const id = textOf(await this.#ask(CALLS.open))
    if (id === null) throw new NoReply('the cart has no number')
    const cart = await this.cart()
    if (cart.id !== id) throw new NoReply('the cart is another one than was opened')
    return cart
  }

  async cart(): Promise<Cart> {
    return cartIn(await this.#ask(CALLS.cart))
  }

  /** The cart that is being filled now; null where there is none. */
  async cartIfAny(): Promise<Cart | null> {
    try {
      return await this.cart()
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return null
      throw error
    }
  }

  /** Takes everything out, and makes sure of it. */
  async empty(cart: Cart): Promise<void> {
    if (cart.items.length === 0) return
    for (const { id } of cart.items)
      await this.#ask({ method: 'DELETE', path: `${CALLS.item.path}/${encodeURIComponent(id)}` })
    const left = await this.cart()
    if (left.id !== cart.id || left.items.length > 0)
      throw new NoReply('the cart could not be emptied')
  }

  /** What has to be known of addresses and terms. Throws an Impossible too. */
  async askFirst(order: PurchaseOrder): Promise<Prepared> {
    const settings = this.#session.settings as SecondAmendmentSettings
    const regionOf = regionsIn(await this.#ask(CALLS.regions))
    try {
      const billing = billingAddress(settings, regionOf) ?? (await this.#ownAddress())
      const shipping = shippingAddress(order, regionOf, billing.telephone)
      return { billing, shipping, agreements: agreementsIn(await this.#ask(CALLS.agreements)) }
    } catch (error) {
      if (error instanceof AddressFault) throw new Impossible(error.message)
      throw error
    }
  }

  async #ownAddress(): Promise<Address> {
    const told = await this.#ask(CALLS.ownAddress).catch((error: unknown) => {
      if (error instanceof Refused && error.status === 404) return null
      throw error
    })
    const address = ownAddress(told)
    if (address === null)
      throw new Impossible(
        'the account has no billing address: enter fulfillment.billing_address in the configuration',
      )
    return address
  }

  async note(cart: string, note: string): Promise<void> {
    await this.#ask(CALLS.note, noteFor(cart, note))
  }

  async fill(cart: string, { po, lines }: PurchaseOrder): Promise<void> {
    await this.#ask(CALLS.po, poOf(cart, po))
    for (const line of lines) await this.#ask(CALLS.item, itemOf(cart, line))
  }

  /** Has it shipped the cheapest way. Returns how it is to be paid; throws an Impossible too. */
  async ship({ shipping, billing }: Prepared): Promise<string> {
    const method = cheapestOf(await this.#ask(CALLS.methods, { address: shipping }))
    if (method === null) throw new Impossible('no way of shipping it there is offered')
    const payment = paymentOf(
      await this.#ask(CALLS.shipping, shippingInformation({ shipping, billing }, method)),
    )
    if (payment === null)
      throw new Impossible(
        'the account is offered no way to pay without a card: ask your representative for terms',
      )
    return payment
  }

  /** The one call that buys. Returns the shop's own key of the order, which is no number of it. */
  async pay(payment: string, { agreements }: Prepared, po: string): Promise<string> {
    const key = textOf(await this.#ask(CALLS.pay, paymentInformation(payment, agreements, po)))
    if (key === null || !/^\d+$/.test(key))
      throw new NoReply('the reply to the payment has no number of an order')
    return key
  }

  /** The number of an order by the shop's own key. */
  async numberOf(key: string): Promise<string> {
    const order = await this.#ask({ method: 'GET', path: `orders/${encodeURIComponent(key)}` })
    const number = textOf(memberOf(order, 'increment_id'))
    if (number === null) throw new NoReply('the order is shown without its number')
    return number
  }
}
