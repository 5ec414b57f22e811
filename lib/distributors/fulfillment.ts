/**
 * How a connector places purchase orders. A connector tells what it saw
 * and guesses nothing: what follows from it is the order engine's business.
 */
import type { OrderStatus, ShipStatus } from '../db/tables/column-types.js'
import type { Session } from './session/session.js'

/**
 * What can be done about an order of which nobody knows whether it arrived (reliability, classes A
 * to E): `resend` the distributor dedups on a reference that is ours alone; `lookup` it can be
 * asked by that reference; `staged` an order is built up under a number and only the last call has
 * an effect; `file` a file is dropped, and whether it was read is only told later; `one_shot`
 * nothing but a later report tells.
 */
export type Recovery = 'resend' | 'lookup' | 'staged' | 'file' | 'one_shot'

/** Where something ships to. ZIP as 5 digits or 5+4, state as two letters. */
export interface Destination {
  name: string
  address1: string
  address2: string | null
  city: string
  state: string
  zip: string
  phone: string | null
}

export interface PurchaseOrderLine {
  distsku: string
  upc: string
  name: string
  qty: number
  /** Cents, as the subscriber's view had it when the order was placed. */
  unitPrice: number
  /** The item itself goes to a dealer only. */
  fflRequired: boolean
}

/**
 * One purchase order as it was frozen before the first send; every later send has the very same
 * content.
 */
export interface PurchaseOrder {
  /**
   * 20 letters and digits that no other purchase order ever has: what a distributor dedups by, and
   * is asked by.
   */
  clientRef: string
  /** Ascending over all purchase orders of the installation. */
  serial: number
  /** The PO within the distributor's limits: what is sent. */
  po: string
  /** The PO before it was shortened. */
  poGiven: string
  /**
   * Made by us for this order, so that nobody else's order has it; false for one that the caller
   * supplied.
   */
  poIsOurs: boolean
  /** Which part of its fulfillment order this is, as the connector's plan names it. */
  lane: string
  fflRequired: boolean
  /** An item of it goes to one with SOT only. */
  sotRequired?: boolean
  shipToStore: boolean
  lines: PurchaseOrderLine[]
  shipTo: Destination
  customer: Destination & { email: string }
  /**
   * The dealer that receives it, with dashes; null for what ships to the customer. `expiresOn` is
   * `YYYY-MM-DD`.
   */
  ffl: { licenseNumber: string; name: string; expiresOn: string } | null
  /** Milliseconds since 1970. */
  takenAt: number
}

/** A part of a fulfillment order that is sent as a purchase order of its own. */
export interface OrderPart {
  name: string
  /** Indexes of the fulfillment order's lines. */
  lines: number[]
}

/** What an acceptance tells of an order, and nobody may tell again. */
export interface ToldAtOnce {
  status: Extract<OrderStatus, 'FFL Hold' | 'Partially Fulfilled' | 'Not Fulfilled'>
  reason: string
}

/** What became of one send. */
export type Submission =
  /**
   * The reply was read whole and says so. `number` is null only where it comes later, with the
   * confirmation.
   */
  | { outcome: 'accepted'; number: string | null; told?: ToldAtOnce }
  /** The distributor says that it has this reference already. */
  | { outcome: 'duplicate'; number: string | null }
  /** Refused for good, in the distributor's own words. */
  | { outcome: 'rejected'; reason: string }
  /** Nothing was sent: this distributor takes such an order from a person alone. */
  | { outcome: 'review'; reason: string }
  /** Anything may have happened: a timeout, a reset, a cut or unreadable reply, a 5xx. */
  | { outcome: 'unknown'; reason: string }
  /**
   * No byte of the order left, or it was refused before anything was looked at. `retryAfter` in
   * seconds.
   */
  | { outcome: 'not_sent'; reason: string; retryAfter?: number }

/** An order that a distributor has, as far as it tells. What it does not tell is absent. */
export interface FoundOrder {
  /** Null where the number comes later. */
  number: string | null
  po: string
  clientRef?: string
  /** Milliseconds since 1970. */
  placedAt?: number
  lines?: { distsku: string; qty: number }[]
  shipTo?: { name?: string; address1?: string; zip?: string }
  /** Of a staged order: false while the last call has not had its effect. */
  submitted?: boolean
}

/** `answered` with no order means: the distributor was asked and shows none. */
export type Search =
  | {
      outcome: 'answered'
      orders: FoundOrder[]
      /**
       * It shows one order of a PO at most: another one that it shows may hide the one that is looked
       * for, and proves no absence.
       */
      showsOne?: boolean
    }
  | { outcome: 'unreachable'; reason: string }

export interface Parcel {
  trackingNumber: string
  company: string | null
  method: string | null
  /** `YYYY-MM-DD`. */
  shippedOn: string | null
  url: string | null
  status: ShipStatus | null
}

/**
 * News of one order: a confirmation, a shipment, a cancellation. Whatever is absent stays as it is.
 */
export interface OrderUpdate {
  number: string | null
  clientRef?: string
  po: string
  /** When it happened at the distributor, milliseconds since 1970. */
  at: number
  status?: OrderStatus
  /** Why, where it says that nothing comes of the order. */
  reason?: string
  parcels?: Parcel[]
  /**
   * As in `FoundOrder`: without a reference or a known number they alone tell whose order it is.
   */
  lines?: { distsku: string; qty: number }[]
  shipTo?: { name?: string; address1?: string; zip?: string }
}

/** An order that was placed, and of which more may be heard. */
export interface OpenOrder {
  /** Null where the number is not known yet. */
  number: string | null
  po: string
  clientRef: string
  /** As in its purchase order. */
  serial: number
  /** When it was taken in, milliseconds since 1970. */
  takenAt: number
  /** The part of its fulfillment order, as the connector's plan named it. */
  lane: string
  shipToStore: boolean
  /** When it was first sent, milliseconds since 1970. */
  placedAt: number
  /** What was told of it so far; absent where nothing was. */
  status?: OrderStatus
}

/** A session for one purchase order. */
export interface OrderSession<Values = Readonly<Record<string, unknown>>> extends Session<Values> {
  /**
   * The number under which a staged order was built up in an earlier send; null where it is to be
   * begun.
   */
  readonly stage: string | null
  /**
   * Keeps that number; on the disk once it resolves. To be awaited before the call that has the
   * effect. Refuses another one while the first may still become the order.
   */
  keepStage(stage: string): Promise<void>
}

export interface FulfillmentLimits {
  /** Longest PO, and one character that it may hold (any printable one by default). */
  po: { max: number; chars?: RegExp }
  /** The customer's phone must be given for every order, or for those that go to a dealer. */
  needsConsumerPhone?: 'always' | 'ffl'
  /**
   * Sends at a time of one account, 4 by default; 1 where the distributor has one cart an account.
   */
  concurrency?: number
  /** Milliseconds after which a send counts as unknown, 60,000 by default. */
  sendTimeout?: number
  /** Milliseconds until an order that arrived can be looked up. */
  visibilityLag?: number
  /** Milliseconds from one look for updates to the next, 15 minutes by default. */
  updatesEvery?: number
}

/** What a distributor says of the dealer that an order would go to. Null where it does not say. */
export interface DealerAnswer {
  /** It would ship there. */
  takes: boolean | null
  /** It has a copy of the license. */
  onFile: boolean | null
  /** In plain words. */
  reason: string
}

/** Papers that a distributor wants by mail before it ships. */
export interface Paperwork {
  what: string
  /** E-mail addresses; empty where the shop has entered none. */
  recipients: string[]
  subject: string
  /** Working days from the placement. */
  businessDays: number
}

/** One thing that would go over the wire: a call, or a file. */
export interface Rendered {
  /** `POST https://...` or `STOR folder/name.txt`. */
  what: string
  headers: Record<string, string>
  body: string
}

export interface Fulfillment<Values = Readonly<Record<string, unknown>>> {
  readonly recovery: Recovery
  /** An order that it accepts without a number is placed all the same: news of it bring the number. */
  readonly numberComesLater?: boolean
  readonly limits: FulfillmentLimits
  /**
   * Pure: the parts of a fulfillment order, where one purchase order cannot hold all of it;
   * `settings` are those of the account.
   */
  plan?(lines: readonly PurchaseOrderLine[], settings: Values): OrderPart[]
  /** Pure: how parts of that name are sent, where it is by another protocol than the rest. */
  inLane?(lane: string): Fulfillment<Values> | undefined
  /**
   * Pure: what one attempt would send, byte for byte. What a distributor would have to be asked for
   * first, such as a token, stands in angle brackets; what cannot be sent is thrown.
   */
  preview?(order: PurchaseOrder, settings: Values): Rendered[]
  /**
   * Asks about the dealer of an order that is not placed yet; nothing is ordered. Throws where nobody
   * can be asked.
   */
  askDealer?(session: Session<Values>, order: PurchaseOrder): Promise<DealerAnswer>
  /** One attempt, without any retry of its own. What it throws counts as `unknown`. */
  submit(session: OrderSession<Values>, order: PurchaseOrder): Promise<Submission>
  /**
   * Every order that may be this one: by stage, by reference, then by PO. What it throws counts as
   * `unreachable`.
   */
  find?(session: OrderSession<Values>, order: PurchaseOrder): Promise<Search>
  /** Pure: the papers that it wants for an order; null for one that needs none. */
  paperwork?(order: PurchaseOrder, settings: Values): Paperwork | null
  /**
   * News since a time, in any order, repeated as often as it likes. `open` are the orders of the
   * account of which more may be heard, for a distributor that has to be asked for each.
   */
  updates?(
    session: Session<Values>,
    since: number,
    open: readonly OpenOrder[],
  ): AsyncIterable<OrderUpdate>
  /** Once all of an order is shipped, nothing more is heard of it: it is not asked for any longer. */
  readonly endsWithShipment?: boolean
  /** It tells of the orders alone that it is asked for, and lists none that nobody here knows. */
  readonly asksByOrder?: boolean
}
