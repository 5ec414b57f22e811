/** How a distributor judges an order that arrived, and what it does about a good one. */
import type { Submission } from '../../distributors/fulfillment.js'
import type { Profile } from './world.js'
import { countCall, ordersByRef } from './queries.js'
import { insertOrder, nextNumber } from './sales-order.js'
import type { Arrival, CommittedLine } from './order.js'
import { names, scenario } from './scenarios/scenarios.js'
import { stockLeft, takeStock } from './stock.js'
import type { Db } from './store.js'
import type { World } from './world.js'

export interface Admission {
  profile: Profile
  account: string
  arrival: Arrival
  /** When it reached the distributor, and when it becomes an order, milliseconds since 1970. */
  placedAt: number
  executedAt: number
  /** The number that a staged order has already. */
  number?: string
}

/** Judges SKUs and stock, and makes the order: the effect that everything else is about. */
export function admit(
  db: Db,
  world: World,
  { profile, account, arrival, placedAt, executedAt, number: given }: Admission,
): Submission {
  const { words, distid, recovery } = profile
  const known = ordersByRef(db, { distid, account }, arrival.clientRef)
  const { refuses } = scenario(arrival.scenario) ?? {}
  if (refuses === 'credit' && recovery !== 'file')
    return { outcome: 'rejected', reason: words.credit }
  const isRepeated = arrival.scenario === 'REJECT-ON-RESEND' && known.length > 0
  if (isRepeated || (refuses === 'stock' && recovery !== 'file'))
    return { outcome: 'rejected', reason: words.outOfStock(arrival.lines[0]!.distsku) }
  // Stock is looked at before the reference, as at the real one: the first sending may have taken
  // the last unit.
  const lines = committedOf(db, world, profile, arrival)
  if ('reason' in lines) return { outcome: 'rejected', reason: lines.reason }
  if (recovery === 'resend' && known.length > 0) {
    const same = known.find(({ content }) => content === arrival.content)
    return same
      ? { outcome: 'duplicate', number: same.number }
      : { outcome: 'rejected', reason: words.otherContent }
  }
  const number = given ?? nextNumber(db, distid, world.now())
  for (const { distsku, committed } of lines)
    if (committed > 0) takeStock(db, distid, distsku, committed)
  insertOrder(db, profile, { ...arrival, distid, account, number, lines, placedAt, executedAt })
  return { outcome: 'accepted', number }
}

/**
 * What can be shipped of each line, or why the order is refused: for a short line, unless it is one
 * that is told later.
 */
function committedOf(
  db: Db,
  world: World,
  { distid, recovery, words, isAllOrNothing = false }: Profile,
  arrival: Arrival,
): CommittedLine[] | { reason: string } {
  const { fate, refuses } = scenario(arrival.scenario) ?? {}
  const left = new Map<string, number>()
  const lines: CommittedLine[] = []
  for (const { distsku, qty } of arrival.lines) {
    const stock = left.get(distsku) ?? stockLeft(db, world, distid, distsku)
    if (stock === null && recovery !== 'file') return { reason: words.unknownItem(distsku) }
    const units = stock ?? 0
    if (units < qty && recovery !== 'file' && fate !== 'partial')
      return { reason: words.outOfStock(distsku) }
    const wanted =
      fate === 'none' || refuses
        ? 0
        : fate === 'partial' && fallsShort(arrival, distsku)
          ? Math.floor(qty / 2)
          : qty
    const committed = Math.min(wanted, units)
    left.set(distsku, units - committed)
    lines.push({ distsku, qty, committed })
  }
  return isAllOrNothing && lines.some(({ qty, committed }) => committed < qty)
    ? lines.map((line) => ({ ...line, committed: 0 }))
    : lines
}

/** The lines whose SKU asks for it, or the last one. */
function fallsShort({ lines }: Arrival, sku: string): boolean {
  const asked = lines.filter(({ distsku }) => names(distsku, 'PARTIAL'))
  return (asked.length > 0 ? asked : lines.slice(-1)).some(({ distsku }) => distsku === sku)
}

/**
 * Somebody else's order with the same PO, of the same account; one for each order that asks for it.
 */
export function addStranger(
  db: Db,
  { profile, account, arrival }: Pick<Admission, 'profile' | 'account' | 'arrival'>,
  now: number,
): void {
  if (countCall(db, arrival.clientRef, 'stranger') > 1) return
  insertOrder(db, profile, {
    distid: profile.distid,
    account,
    clientRef: null,
    po: arrival.po,
    number: nextNumber(db, profile.distid, now),
    content: "somebody else's",
    scenario: null,
    lines: arrival.lines.map(({ distsku, qty }) => ({ distsku, qty: qty + 1, committed: qty + 1 })),
    shipTo: { name: 'Walk-in Customer', address1: '1 Other Street', zip: '99999' },
    firearms: arrival.firearms,
    placedAt: now,
    executedAt: now,
  })
}
