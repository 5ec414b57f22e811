/**
 * Is an order that a distributor shows the one that we sent? By its content, never by a PO alone: one PO may stand on a
 * whole split and on last week's order (design, "Orders"). What can neither be proved nor ruled out is said to be unclear:
 * it proves no absence.
 */
import { DAY } from '../core/clock.js'
import type { FoundOrder, PurchaseOrder } from '../distributors/fulfillment.js'

/** `ours`: proven. `other`: surely somebody else's. `unclear`: may be ours. `conflict`: carries our reference, and cannot be ours. */
export type Match = 'ours' | 'other' | 'unclear' | 'conflict'

export interface MatchContext {
  /** When the first send began, milliseconds since 1970. */
  firstSentAt: number
  /** No other purchase order of ours that a distributor may have has its PO. */
  poIsAlone: boolean
  /** Its number stands on another record. */
  isTaken: boolean
  /** The account that shows it is not the one that ours was sent with: there, what looks like ours may be another one of ours. */
  isElsewhere?: boolean
}

/** Compares what the distributor tells with what was frozen; what it does not tell neither proves nor disproves. */
export function matchOrder(found: FoundOrder, sent: PurchaseOrder, { firstSentAt, poIsAlone, isTaken, isElsewhere = false }: MatchContext): Match {
  const lines = found.lines === undefined ? null : linesText(found.lines) === linesText(sent.lines)
  if (found.clientRef !== undefined && !sameText(found.clientRef, sent.clientRef)) return 'other'
  if (found.clientRef !== undefined) return isTaken || lines === false || sameDestination(found.shipTo ?? {}, sent) === false ? 'conflict' : 'ours'
  // A distributor may tell the day alone, another day than ours, and our clock may have been a day ahead.
  const age = found.placedAt === undefined ? 0 : firstSentAt - found.placedAt
  if (isTaken || age > LONG_BEFORE) return 'other'
  const destination = sameDestination(found.shipTo ?? {}, sent)
  const po = samePo(found.po, sent.po)
  // Nobody else makes this PO, so whatever else differs may be the distributor's way of writing it.
  const isAlone = sent.poIsOurs && poIsAlone && po === 'same'
  if (isAlone && lines !== false && destination !== false) return 'ours'
  if (age > DAY && po !== 'other' && lines !== false && destination !== false) return 'unclear'
  if (lines && destination && po !== 'other') return isElsewhere ? 'unclear' : 'ours'
  if (po === 'other') return lines && destination ? 'unclear' : 'other'
  return (lines === false || destination === false) && !(sent.poIsOurs && po === 'same') ? 'other' : 'unclear'
}

/** What a distributor had so long before the first send is an earlier order. */
const LONG_BEFORE = 3 * DAY

const sameText = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase()
const bare = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/** So long after it was sent an order is still found by a PO that is only alike. */
export const LONGEST_AGO = 30 * DAY

/** Distributors change the case of a PO, drop its dashes, pad it, or cut it off: then it is only `alike`. */
export function samePo(found: string, sent: string): 'same' | 'alike' | 'other' {
  const [a, b] = [bare(found), bare(sent)]
  if (a === b) return 'same'
  return a.length >= SIGNIFICANT && b.startsWith(a) ? 'alike' : 'other'
}

/** So much of a PO must be left of one that was cut off. */
const SIGNIFICANT = 6

function linesText(lines: readonly { distsku: string; qty: number }[]): string {
  const units = new Map<string, number>()
  for (const { distsku, qty } of lines) units.set(distsku.trim().toLowerCase(), (units.get(distsku.trim().toLowerCase()) ?? 0) + qty)
  return JSON.stringify([...units].sort(([a], [b]) => a < b ? -1 : 1))
}

/** Null where too little is told, or it is written in another way: only another ZIP is surely another place. */
function sameDestination(found: NonNullable<FoundOrder['shipTo']>, { shipTo }: PurchaseOrder): boolean | null {
  const same = (told: string | undefined, known: string) => told === undefined ? null : bare(told) === bare(known)
  if (found.zip !== undefined && bare(found.zip).slice(0, 5) !== bare(shipTo.zip).slice(0, 5)) return false
  const parts = [same(found.name, shipTo.name), same(found.address1, shipTo.address1), found.zip === undefined ? null : true]
  return parts.every((part) => part !== false) && parts.filter((part) => part === true).length >= 2 ? true : null
}
