/**
 * Is an order that a distributor shows the one that we sent? By its content, never by a PO alone: one PO may stand on a
 * whole split and on last week's order (design, "Orders").
 */
import { DAY } from '../core/clock.js'
import type { FoundOrder, PurchaseOrder } from '../distributors/fulfillment.js'

/** `ours`: the same content. `other`: somebody else's. `conflict`: it carries our reference and another content. */
export type Match = 'ours' | 'other' | 'conflict'

export interface MatchContext {
  /** When the first send began, milliseconds since 1970. */
  firstSentAt: number
  /** No other purchase order of ours has its PO. */
  poIsAlone: boolean
}

/** Compares what the distributor tells with what was frozen; what it does not tell neither proves nor disproves. */
export function matchOrder(found: FoundOrder, sent: PurchaseOrder, { firstSentAt, poIsAlone }: MatchContext): Match {
  const named = found.clientRef !== undefined && sameText(found.clientRef, sent.clientRef)
  const differs = found.clientRef !== undefined && !named
    // A distributor's day may be another than ours.
    || found.placedAt !== undefined && found.placedAt < firstSentAt - DAY
    || found.lines !== undefined && linesText(found.lines) !== linesText(sent.lines)
    || found.shipTo !== undefined && !sameDestination(found.shipTo, sent)
  if (differs) return named ? 'conflict' : 'other'
  if (named) return 'ours'
  const told = found.lines !== undefined && found.shipTo !== undefined && samePo(found.po, sent.po)
  // Without the content, only a PO that we made for this very order is proof.
  return told || (sent.poIsOurs && poIsAlone && sameText(found.po, sent.po)) ? 'ours' : 'other'
}

const sameText = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase()

/** Distributors change the case of a PO, pad it, or cut it off. */
function samePo(found: string, sent: string): boolean {
  const [a, b] = [found.trim().toLowerCase(), sent.trim().toLowerCase()]
  return a === b || (a.length >= SIGNIFICANT && b.startsWith(a))
}

/** So much of a PO must be left of one that was cut off. */
const SIGNIFICANT = 12

function linesText(lines: readonly { distsku: string; qty: number }[]): string {
  const units = new Map<string, number>()
  for (const { distsku, qty } of lines) units.set(distsku.trim().toLowerCase(), (units.get(distsku.trim().toLowerCase()) ?? 0) + qty)
  return JSON.stringify([...units].sort(([a], [b]) => a < b ? -1 : 1))
}

function sameDestination(found: NonNullable<FoundOrder['shipTo']>, { shipTo }: PurchaseOrder): boolean {
  const bare = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  return (found.name === undefined || bare(found.name) === bare(shipTo.name))
    && (found.address1 === undefined || bare(found.address1) === bare(shipTo.address1))
    && (found.zip === undefined || bare(found.zip).slice(0, 5) === bare(shipTo.zip).slice(0, 5))
}
