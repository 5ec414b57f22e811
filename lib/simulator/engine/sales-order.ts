/** An order as it arrives at a distributor, and as the distributor keeps it. */
import type { Arrival, SalesOrder } from './order.js'
import { createHash } from 'node:crypto'
import { MINUTE } from '../../core/clock.js'
import type { PurchaseOrder } from '../../distributors/fulfillment.js'
import { lifeOf } from './life.js'
import type { Profile } from './world.js'
import { insertSalesOrder, nextInSequence, ordersLike } from './queries.js'
import type { Db } from './store.js'

/**
 * Milliseconds for which a distributor that is down for questions cannot be asked about an order.
 */
export const LOOKUP_DOWN = 10 * MINUTE

export function arrivalOf(order: PurchaseOrder, scenario: string | null): Arrival {
  const {
    clientRef,
    po,
    lane,
    lines,
    shipTo: { name, address1, zip },
    ffl,
  } = order
  const content = createHash('sha256')
    .update(
      JSON.stringify([
        po,
        lane,
        lines.map(({ distsku, qty }) => [distsku, qty]),
        order.shipTo,
        ffl?.licenseNumber ?? null,
      ]),
    )
    .digest('hex')
  return {
    clientRef,
    po,
    scenario,
    content,
    lines: lines.map(({ distsku, qty }) => ({ distsku, qty })),
    shipTo: { name, address1, zip },
    firearms: ffl !== null,
  }
}

/** A PO as lists are searched by it: distributors change its case and cut it. */
export function poKey(po: string, { limits }: Pick<Profile, 'limits'>): string {
  return po.toUpperCase().slice(0, limits.po.max)
}

export function insertOrder(
  db: Db,
  profile: Profile,
  order: Omit<SalesOrder, 'id' | 'listedPo'>,
): void {
  const key = poKey(order.po, profile)
  const listedPo = order.scenario === 'OTHER-PO' ? key : order.po
  insertSalesOrder(db, { ...order, listedPo }, key)
}

/**
 * Seconds since 1970 at which numbers would begin with 0: a file that was lost begins after what
 * the last one gave out.
 */
const EPOCH = 1_600_000_000

/** The next distributor's number; no order of the installation ever had it. */
export function nextNumber(db: Db, distid: string, now: number): string {
  const first = Math.max(0, Math.floor(now / 1_000) - EPOCH)
  return `SIM-${distid}-${nextInSequence(db, first)}`
}

/**
 * When a distributor's lists begin to show an order; never for one that is only in a report of
 * shipments and is not shipped.
 */
export function shownFrom(profile: Profile, order: SalesOrder): number {
  if (profile.shows === 'at_once') return order.executedAt
  const life = lifeOf(profile, order)
  return (
    (profile.shows === 'confirmed' ? life[0] : life.find(({ parcels }) => parcels))?.at ?? Infinity
  )
}

/**
 * Orders of an account that may be this one, by reference or PO, as the distributor's lists show
 * them now.
 */
export function listedOrders(
  db: Db,
  { profile, account }: { profile: Profile; account: string },
  { clientRef, po }: Pick<Arrival, 'clientRef' | 'po'>,
  now: number,
): SalesOrder[] {
  const { distid, tells } = profile
  const ref = tells.reference ? clientRef : null
  return ordersLike(db, { distid, account }, poKey(po, profile), ref).filter(
    (order) => shownFrom(profile, order) <= now,
  )
}

/** True while questions about this order find the distributor down. */
export function isLookupDown(
  { scenario, placedAt }: Pick<SalesOrder, 'scenario' | 'placedAt'>,
  now: number,
): boolean {
  return scenario === 'LOOKUP-DOWN' && now < placedAt + LOOKUP_DOWN
}
