/** Which offers a candidate document would hide and show, for a person to look at. */
import type { Subscriber } from '../accounts/caller.js'
import { itemsOf } from '../catalog/queries.js'
import { Bits } from '../catalog/snapshot/bits.js'
import { distidOf, fragmentOf } from '../catalog/snapshot/offer.js'
import type { Row, Snapshot } from '../catalog/snapshot/snapshot.js'
import { makeView } from '../catalog/view/view.js'
import type { View } from '../catalog/view/view.js'
import { toDollars } from '../core/money.js'
import type { ConfigurationCtx } from './ctx.js'
import type { ConfigurationDocument } from './document/document.js'
import { eligibleUnder, liveView } from './impact.js'

export interface ChangedOffer {
  distid: string
  stockid: string
  upc: string | null
  name: string
  /** Dollars, as it is or would be shown. */
  unit_price: number
}

export interface CatalogChanges {
  /** Offers that are visible now, and that would be. */
  before: number
  after: number
  by_distributor: { distid: string; before: number; after: number }[]
  /** How many would go and come, and the first of each. */
  vanishing: number
  vanish: ChangedOffer[]
  appearing: number
  appear: ChangedOffer[]
}

/** So many offers of each kind are named. */
const NAMED = 10

/** Compares what is served now with what the candidate would show, by the code that search uses. */
export async function changesUnder(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  candidate: ConfigurationDocument,
): Promise<CatalogChanges> {
  const before = await liveView(ctx, subscriber)
  const snapshot = before?.snapshot ?? ctx.catalog.current()
  if (!snapshot)
    return {
      before: 0,
      after: 0,
      by_distributor: [],
      vanishing: 0,
      vanish: [],
      appearing: 0,
      appear: [],
    }
  const saved = await ctx.configurations.of(subscriber)
  const after = makeView(snapshot, {
    subscriberId: subscriber.id,
    document: candidate,
    eligible: eligibleUnder(ctx, subscriber, saved, candidate),
    ignoreRestrictions: false,
  })
  const visible = before?.visible ?? new Bits(after.visible.size)
  const gone = visible.copy().andNot(after.visible)
  const come = after.visible.copy().andNot(visible)
  return {
    before: visible.count(),
    after: after.total,
    by_distributor: countsByDistributor(snapshot, visible, after.visible),
    vanishing: gone.count(),
    vanish: before ? named(ctx, before, gone) : [],
    appearing: come.count(),
    appear: named(ctx, after, come),
  }
}

function countsByDistributor(
  snapshot: Snapshot,
  before: Bits,
  after: Bits,
): CatalogChanges['by_distributor'] {
  return snapshot.distids
    .map((distid, place) => {
      const own = snapshot.distributorRows(place)
      const count = (rows: Bits) => own.copy().and(rows).count()
      return { distid, before: count(before), after: count(after) }
    })
    .filter((one) => one.before + one.after > 0)
    .sort((a, b) => (a.distid < b.distid ? -1 : 1))
}

function named({ engine }: ConfigurationCtx, view: View, rows: Bits): ChangedOffer[] {
  const { snapshot } = view
  const textOf = itemsOf(engine.catalog)
  const first: Row[] = []
  rows.forEach((row) => {
    first.push(row)
    return first.length < NAMED
  })
  return first.map((row) => {
    const text = textOf(fragmentOf(snapshot, row))
    return {
      distid: distidOf(snapshot, row),
      stockid: snapshot.stockid(row),
      upc: text?.upc ?? null,
      name: text?.name ?? '',
      unit_price: toDollars(view.unitPrice(row)),
    }
  })
}
