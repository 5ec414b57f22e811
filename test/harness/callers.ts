/**
 * Shops that place orders, and do as the contract tells them: after a broken connection, the same
 * order_id once more.
 */
import { isApiError } from '../../lib/core/errors.js'
import type { FailedPlacement, FulfillmentOrder } from '../../lib/orders/history/shapes.js'
import { requestDigest } from '../../lib/orders/place/holder.js'
import { placeOrder } from '../../lib/orders/place/place.js'
import type { PlaceBody } from '../../lib/orders/shapes.js'
import { CUSTOMER, DEALER, GUN_UPC, UPC } from '../orders/shop.js'
import type { Answered } from './answers.js'
import type { Life } from './life.js'
import type { Rng } from './random.js'
import { NAMES } from './shop.js'
import type { Caller } from './shop.js'

interface Wanted {
  caller: Caller
  body: PlaceBody
  /** The caller will ask again. */
  isOpen: boolean
}

/** Ends that are no answer of the call: what the process would answer with 503. */
export const UNAVAILABLE = /^(SQLITE_(FULL|BUSY|IOERR|ERROR)|EIO|ENOSPC)/

const SKUS = [
  { distsku: 'A1', upc: UPC, ffl_req: false },
  { distsku: 'A2', upc: '012345678929', ffl_req: false },
  { distsku: 'G1', upc: GUN_UPC, ffl_req: true },
]
const CUSTOMERS = [
  CUSTOMER,
  { ...CUSTOMER, name: 'Lee Roe', address1: '9 Oak Ave', address2: 'Apt 4', phone: null },
].map((customer) => ({ address2: null, ...customer }))

export class Callers {
  readonly answers: Answered[] = []
  /** Errors that no caller may ever get. */
  readonly errors: string[] = []
  posts = 0
  losesAnswers = true
  readonly #wanted: Wanted[] = []

  constructor(
    readonly rng: Rng,
    readonly callers: readonly Caller[],
    readonly trace: (text: () => string) => void,
  ) {}

  get orders(): number {
    return this.#wanted.length
  }

  get hasOpen(): boolean {
    return this.#wanted.some(({ isOpen }) => isOpen)
  }

  /**
   * One or more calls at the same moment: a new order, one that was cut off, or one that is long
   * done.
   */
  act(life: Life, mayBeNew: boolean): Promise<void>[] {
    const { rng } = this
    const open = this.#wanted.filter(({ isOpen }) => isOpen)
    const wanted =
      open.length > 0 && (!mayBeNew || rng.chance(0.4))
        ? rng.pick(open)
        : mayBeNew
          ? this.#add()
          : rng.pick(this.#wanted)
    const calls = [this.#post(life, wanted, wanted.body)]
    if (rng.chance(0.1)) calls.push(this.#post(life, wanted, wanted.body))
    if (rng.chance(0.03))
      calls.push(
        this.#post(life, wanted, { ...wanted.body, customer: CUSTOMERS[1]!, po_number: 'ANOTHER' }),
      )
    if (rng.chance(0.05)) calls.push(this.#post(life, rng.pick(this.#wanted)))
    return calls
  }

  /**
   * Orders, or asks again for, an accessory to the customer and a pistol to the dealer of one
   * distributor.
   */
  order(life: Life, orderId: string, distid: string): Promise<void> {
    let wanted = this.#wanted.find(({ body }) => body.order_id === orderId)
    if (!wanted) {
      const items = [SKUS[0]!, SKUS[2]!].map((sku) => ({ distid, ...sku, qty: 1 }))
      this.#wanted.push(
        (wanted = {
          caller: this.callers.find(({ key }) => key === null)!,
          isOpen: true,
          body: {
            order_id: orderId,
            customer: CUSTOMERS[0]!,
            ffl: { licenseNumber: DEALER },
            ship_to_store: false,
            items,
            po_number: null,
          },
        }),
      )
    }
    return this.#post(life, wanted)
  }

  /** The caller has no answer yet that lets it rest. */
  isOpen(orderId: string): boolean {
    return this.#wanted.some(({ body, isOpen }) => isOpen && body.order_id === orderId)
  }

  /** One key orders as fast as it can, at the same moment with all of `lives`. */
  rush(lives: readonly Life[], calls: number): { life: Life; promise: Promise<void> }[] {
    const key = this.callers.find((caller) => caller.key !== null)!
    return Array.from({ length: calls }, (_, i) => {
      const wanted = this.#add()
      wanted.caller = key
      const life = lives[i % lives.length]!
      return { life, promise: this.#post(life, wanted) }
    })
  }

  /**
   * Shops of one account order the very same of one distributor, under one PO, at the same moment.
   */
  alike(life: Life, distid: string): Promise<void>[] {
    const { rng } = this
    const sharing = this.callers.filter(({ isSharing }) => isSharing)
    const body = {
      customer: CUSTOMERS[0]!,
      ffl: null,
      ship_to_store: false,
      items: [{ distid, ...SKUS[0]!, qty: 1 }],
      po_number: `WEEK ${rng.int(1, 3)}`,
    }
    return Array.from({ length: rng.int(2, 3) }, () => {
      const wanted = {
        caller: rng.pick(sharing),
        isOpen: true,
        body: { ...body, order_id: `A-${this.#wanted.length + 1}` },
      }
      this.#wanted.push(wanted)
      return this.#post(life, wanted)
    })
  }

  #add(): Wanted {
    const { rng } = this
    // What only a later report can tell of takes a day to come to its end: less of it.
    const distids = Object.keys(NAMES).filter((distid) =>
      rng.chance(distid === 'FIL' || distid === 'ONE' ? 0.1 : 0.27),
    )
    const items = (distids.length > 0 ? distids : [rng.pick(['RES', 'LOO', 'STA', 'CAR'])]).flatMap(
      (distid) =>
        SKUS.filter((_, i) => rng.chance(i === 0 ? 0.8 : 0.25)).map((sku) => ({
          distid,
          ...sku,
          qty: rng.int(1, 3),
        })),
    )
    const n = this.#wanted.length + 1
    // Somebody orders the very same once more, under the same PO; it may be the other shop of the
    // same account.
    const twin = rng.chance(0.15)
      ? this.#wanted.findLast(({ body }) => body.po_number !== null)
      : undefined
    const wanted: Wanted = twin
      ? {
          caller: rng.chance(0.3) ? rng.pick(this.callers) : twin.caller,
          isOpen: true,
          body: { ...twin.body, order_id: `T-${n}` },
        }
      : {
          caller: rng.pick(this.callers),
          isOpen: true,
          body: {
            order_id: rng.chance(0.5) ? `W-${n}` : `Web_Shop-2026-${String(n).padStart(5, '0')}`,
            customer: rng.pick(CUSTOMERS),
            ffl: { licenseNumber: DEALER },
            ship_to_store: rng.chance(0.15),
            items:
              items.length > 0
                ? items
                : [{ distid: rng.pick(Object.keys(NAMES)), ...SKUS[0]!, qty: 1 }],
            po_number: rng.chance(0.2)
              ? rng.pick(['MONDAY', 'a purchase order of the week 47'])
              : null,
          },
        }
    this.#wanted.push(wanted)
    return wanted
  }

  async #post(life: Life, wanted: Wanted, body = wanted.body): Promise<void> {
    const {
      caller: { subscriber, key },
      body: { order_id: orderId },
    } = wanted
    const isLost = this.losesAnswers && this.rng.chance(0.05)
    this.posts++
    this.trace(() => `POST ${orderId}`)
    const answer = await placeOrder(life.ctxFor({ subscriber, key }), body).then(
      ({ status, fulfillment_orders: orders, errors }) => told(status, orders, errors),
      (error: unknown) => this.#refusal(error, life),
    )
    // The process died before the answer had left, or it got lost on its way.
    if (life.isDead || isLost || answer === null) return
    this.trace(() => `ANSWER ${orderId} ${answer.said} ${answer.numbers.join(', ')}`)
    this.answers.push({
      subscriberId: subscriber.id,
      orderId,
      digest: requestDigest(body),
      ...answer,
    })
    wanted.isOpen = this.#asksAgain(answer.said)
  }

  #asksAgain(said: string): boolean {
    if (said === 'order_rejected') return this.rng.chance(0.5)
    // A login that was just changed is not validated yet.
    return (
      said === 'service_unavailable' ||
      said === 'distributor_unavailable' ||
      said === 'fulfillment_not_configured' ||
      (said === 'order_volume_limit' && this.rng.chance(0.5))
    )
  }

  #refusal(error: unknown, life: Life): ReturnType<typeof told> | null {
    if (life.isDead) return null
    if (isApiError(error)) {
      const details = error.details as
        | {
            fulfillment_orders?: FulfillmentOrder[]
            errors?: FailedPlacement[]
            same_request?: boolean
          }
        | FailedPlacement[]
        | undefined
      if (error.code === 'duplicate_order') {
        const {
          fulfillment_orders: orders = [],
          errors = [],
          same_request: said = false,
        } = details as Exclude<typeof details, FailedPlacement[] | undefined>
        return { ...told(error.code, orders, errors), sameRequest: said }
      }
      return told(error.code, [], Array.isArray(details) ? details : [])
    }
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    // The app was being closed: whoever serves it has ended the connection.
    if (error instanceof Error && error.message === 'closed') return null
    if (UNAVAILABLE.test(code)) return told('service_unavailable', [], [])
    this.errors.push(error instanceof Error ? (error.stack ?? error.message) : String(error))
    return null
  }
}

function told(
  said: string,
  orders: FulfillmentOrder[],
  errors: FailedPlacement[],
): Omit<Answered, 'subscriberId' | 'orderId' | 'digest'> {
  return {
    said,
    numbers: orders.flatMap(({ distributor_order_id: number }) =>
      number === null ? [] : number.split(', '),
    ),
    records: orders.length + errors.length,
  }
}
