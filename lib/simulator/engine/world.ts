/**
 * What the simulated distributors live in, and how each of them is played: how it takes an order,
 * and what it shows of it afterwards.
 */
import { MINUTE, SECOND } from '../../core/clock.js'
import type { Log } from '../../core/log.js'
import type { Distributor } from '../../distributors/distributor.js'
import type { Fulfillment, FulfillmentLimits, Recovery } from '../../distributors/fulfillment.js'
import type { Session } from '../../distributors/session/session.js'
import type { Arrival } from './order.js'
import type { Db, Store } from './store.js'

export interface World {
  readonly store: Store
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Units that the catalog shows now, null where it does not know the SKU. */
  readonly stockOf: (distid: string, sku: string) => number | null
  /** Where the catalog of a distributor lies as a file of its own format; null where nowhere. */
  readonly feedFile: (distid: string) => string | null
  /** How simulators that speak over a socket listen. */
  readonly listen: ListenOptions
  readonly log: Log
  /** Has something closed with the simulators. */
  whenClosed(close: () => void): void
  /** Every distributor that takes orders here, by distid. */
  readonly profiles: ReadonlyMap<string, Profile>
}

/** By default a port that the system chooses, without TLS; the address is always loopback. */
export interface ListenOptions {
  readonly ports?: Readonly<Record<string, number>>
  readonly tls?: { readonly certificate: string; readonly key: string }
}

/** How a built-in distributor is played. */
export interface DistributorSimulator {
  /** The demo's credentials: it takes no others. */
  readonly credentials: Readonly<Record<string, string>>
  /** How it takes orders; absent where it takes none. */
  readonly orders?: OrderProfile
}

/** A connector with a simulator behind it; `check` where it speaks the distributor's protocol. */
export type SimulatedConnector = Fulfillment &
  Pick<Distributor, 'check'> & {
    /** Where its simulator listens; it does so from then on. */
    address?(): Promise<string>
    /** The same of its FTP server, where it has one. */
    filesAddress?(): Promise<string>
    /** The session, with calls that go to its simulator. */
    there?(session: Session): Promise<Session>
  }

/** What a distributor tells of an order besides that a parcel of it has left. */
export interface News {
  /** That it was taken in. */
  readonly confirmed: boolean
  /** What of it will not be shipped; `at_once` where that is told with its number alone. */
  readonly committed: boolean | 'at_once'
  /** That it is held or waits for stock. */
  readonly held: boolean
  readonly cancelled: boolean
  /** How far a parcel has got. */
  readonly journey: boolean
  /**
   * Parcels are told by their PO alone, which under one that a caller chose proves nothing;
   * `of_one_order`: with the number, where one order alone is shown under the PO.
   */
  readonly parcelsByPo?: true | 'of_one_order'
}

export const ALL_NEWS: News = {
  confirmed: true,
  committed: true,
  held: true,
  cancelled: true,
  journey: true,
}
export const SHIPMENTS_ALONE: News = {
  confirmed: false,
  committed: false,
  held: false,
  cancelled: false,
  journey: false,
}

export interface OrderProfile {
  connector(world: World, profile: Profile): SimulatedConnector
  readonly recovery: Recovery
  readonly limits: FulfillmentLimits
  /** The setting that names the account; undefined where a token alone does. */
  readonly account?: string
  readonly words: Words
  /** From when its lists show an order: at once, confirmed, or only shipped. */
  readonly shows: 'at_once' | 'confirmed' | 'shipped'
  /** What they tell of it besides number and PO: our reference, or items and ZIP. */
  readonly tells: { readonly reference: boolean; readonly content: boolean }
  /** An order of which a part is missing is not taken at all. */
  readonly isAllOrNothing?: boolean
  /** What becomes of it as far as they tell; everything by default. */
  readonly news?: News
  /** Carrier and method for what goes to a dealer, and for the rest. */
  readonly firearms: readonly [carrier: string, method: string]
  readonly others: readonly [carrier: string, method: string]
  /** What happens there later by itself, by its kind; an order that arrives whole needs none. */
  readonly due?: Readonly<Record<string, (db: Db, world: World, happening: Happening) => void>>
}

export interface Profile extends OrderProfile {
  readonly distid: string
  readonly settings: Distributor['settings']
  readonly credentials: DistributorSimulator['credentials']
}

/** Something that happens at a distributor by itself. */
export interface Happening {
  readonly profile: Profile
  readonly account: string
  readonly arrival: Arrival
  /** Of a stage, cart or file. */
  readonly id?: string | number | undefined
  /** Milliseconds since 1970. */
  readonly at: number
}

/** How a distributor says no, shortened. Known codes are the distributors' own. */
export interface Words {
  unknownItem(sku: string): string
  outOfStock(sku: string): string
  /** The account is not served. */
  credit: string
  phone: string
  po(fault: string): string
  missingFfl: string
  badFfl: string
  badZip(zip: string): string
  /** Firearms and accessories in one order. */
  mixed: string
  /** The reference belongs to an order with other content. */
  otherContent: string
}

/** For what is not known of a distributor's own words. */
export const PLAIN_WORDS: Words = {
  unknownItem: (sku) => `item ${sku} is not in the catalog`,
  outOfStock: (sku) => `item ${sku} is out of stock`,
  credit: 'the account is on credit hold',
  phone: "the customer's phone number is required",
  po: (fault) => `the PO number ${fault}`,
  missingFfl: 'a firearm needs the FFL of the receiving dealer',
  badFfl: 'the FFL number is not valid',
  badZip: (zip) => `"${zip}" is not a ZIP code`,
  mixed: 'firearms and accessories cannot be in one order',
  otherContent: 'the reference was used for another order',
}

export const COMMON_LIMITS: FulfillmentLimits = {
  po: { max: 30 },
  sendTimeout: 60 * SECOND,
  visibilityLag: MINUTE,
  updatesEvery: 10 * SECOND,
}

/** Milliseconds until an order stands in reports that show it once it is shipped. */
export const IN_REPORTS = 5 * MINUTE
