/**
 * Is an order that a distributor shows, or tells news of, the one that we sent? By its content,
 * never by a PO alone: one PO may stand on a whole split, on last week's order, and on somebody
 * else's. What can neither be proved nor ruled out is said to be unclear: it
 * proves no absence, and nothing of it is written down.
 */
import { DAY } from '../../core/clock.js'
import type {
  FoundOrder,
  OrderUpdate,
  PurchaseOrder,
  Recovery,
} from '../../distributors/fulfillment.js'

/**
 * `ours`: proven. `other`: surely somebody else's. `unclear`: may be ours. `conflict`: carries our
 * reference, and cannot be ours.
 */
export type Match = 'ours' | 'other' | 'unclear' | 'conflict'

/** What a PO is worth as a proof. */
export interface PoContext {
  /** No other order of ours that a distributor may have has its PO. */
  poIsAlone: boolean
  /** Another part of the same order has: parts share a PO, and no item. */
  hasOtherParts: boolean
  /** Of the distributor. */
  recovery: Recovery
}

export interface MatchContext extends PoContext {
  /** When the first send began, milliseconds since 1970. */
  firstSentAt: number
  /** Its number stands on another record. */
  isTaken: boolean
  /**
   * The account that shows it is not the one that ours was sent with: there, what looks like ours
   * may be another one of ours.
   */
  isElsewhere?: boolean
}

/**
 * Compares what the distributor tells with what was frozen; what it does not tell neither proves
 * nor disproves.
 */
export function matchOrder(found: FoundOrder, sent: PurchaseOrder, context: MatchContext): Match {
  const { firstSentAt, isTaken, isElsewhere = false } = context
  const { lines, zip, isSamePlace } = compare(found, sent)
  const differs = lines === 'other' || zip === false
  if (found.clientRef !== undefined && !sameText(found.clientRef, sent.clientRef)) return 'other'
  if (found.clientRef !== undefined)
    return isTaken || differs || lines === 'part' ? 'conflict' : 'ours'
  // A distributor may tell the day alone, another day than ours, and our clock may have been a day
  // ahead.
  const age = found.placedAt === undefined ? 0 : firstSentAt - found.placedAt
  if (isTaken || age > LONG_BEFORE) return 'other'
  const po = samePo(found.po, sent.po)
  // Nobody else makes this PO, so whatever else differs may be the distributor's way of writing it.
  if (poProves(found, sent, context)) return 'ours'
  if (age > DAY && po !== 'other' && !differs) return 'unclear'
  const isAlike = lines === 'same' && isSamePlace
  if (po === 'other') return isAlike ? 'unclear' : 'other'
  if (isAlike) return isElsewhere ? 'unclear' : 'ours'
  return differs && !(sent.poIsOurs && po === 'same') ? 'other' : 'unclear'
}

/**
 * Whether news without our reference and without a number that we know are of this order: the items
 * told are ours or a part of them, and the ZIP told is ours. Where one of the two is not told, a PO
 * of our own must speak for it.
 */
export function isNewsOf(news: Content, sent: PurchaseOrder, context: PoContext): boolean {
  if (isOthers(news, sent)) return false
  const { isWhole, isNamed } = compare(news, sent)
  return (isWhole && isNamed !== false) || poProves(news, sent, context)
}

/** Whether what is told of items and destination is surely another order's. */
export function isOthers(shown: Content, sent: PurchaseOrder): boolean {
  const { lines, zip } = compare(shown, sent)
  return lines === 'other' || zip === false
}

/**
 * Whether both items and destination are told, and neither is ours: then not even our number makes
 * it ours.
 */
export function isWhollyOthers(shown: Content, sent: PurchaseOrder): boolean {
  const { lines, zip } = compare(shown, sent)
  return lines === 'other' && zip === false
}

/**
 * A PO that we made and no other order of ours has, with nothing told against it; where parts share
 * it, their items must be told, since they alone tell which part it is. Of a file it
 * proves nothing by itself: its order has no number for as long as it takes, and whoever uses the
 * same PO meanwhile would be taken for us.
 */
function poProves(
  shown: Content,
  sent: PurchaseOrder,
  { poIsAlone, hasOtherParts, recovery }: PoContext,
): boolean {
  const { lines, isWhole, isNamed } = compare(shown, sent)
  if (hasOtherParts && lines === null) return false
  const isOurs = sent.poIsOurs && poIsAlone && samePo(shown.po, sent.po) === 'same'
  return isOurs && !isOthers(shown, sent) && (isWhole || (recovery !== 'file' && isNamed !== false))
}

/** What tells one order from another. */
type Content = Pick<OrderUpdate, 'po' | 'lines' | 'shipTo'>

interface Compared {
  /** `part`: of ours, and not all of it. Null where none are told. */
  lines: 'same' | 'part' | 'other' | null
  /** Only another ZIP is surely another place. Null where none is told. */
  zip: boolean | null
  /** Both items and ZIP are told. */
  isWhole: boolean
  /** False where the name that is told resembles ours in nothing. Null where none is told. */
  isNamed: boolean | null
  /** Of name, street and ZIP at least two are told, and all that are told are ours. */
  isSamePlace: boolean
}

function compare(
  { lines, shipTo: { name, address1, zip } = {} }: Content,
  { lines: ours, shipTo: to }: PurchaseOrder,
): Compared {
  const same = (shown: string | undefined, known: string) =>
    shown === undefined ? null : bare(shown) === bare(known)
  // Of an order that was taken in later only so much is known as its distributor told.
  const isZip =
    zip === undefined || to.zip === '' ? null : bare(zip).slice(0, 5) === bare(to.zip).slice(0, 5)
  const parts = [same(name, to.name), same(address1, to.address1), isZip]
  const items = lines === undefined || ours.length === 0 ? null : compareLines(lines, ours)
  return {
    lines: items,
    zip: isZip,
    isWhole: items !== null && isZip !== null,
    isNamed: name === undefined ? null : resembles(name, to.name),
    isSamePlace:
      parts.every((part) => part !== false) && parts.filter((part) => part === true).length >= 2,
  }
}

/** Distributors turn names around, cut them off, and leave out what kind of company it is. */
function resembles(shown: string, known: string): boolean {
  const [a, b] = [wordsOf(shown), wordsOf(known)]
  const [whole, ours] = [a.join(''), b.join('')]
  return whole.startsWith(ours) || ours.startsWith(whole) || a.some((word) => b.includes(word))
}

const wordsOf = (text: string) =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')

type Line = { distsku: string; qty: number }

/** Partial shipments tell a part of the items; never another item, nor more of one. */
function compareLines(shown: readonly Line[], sent: readonly Line[]): Compared['lines'] {
  const [units, ours] = [unitsOf(shown), unitsOf(sent)]
  const isOther =
    shown.length === 0 ||
    shown.some(({ qty }) => qty < 0) ||
    [...units].some(([sku, qty]) => qty > (ours.get(sku) ?? -1))
  if (isOther) return 'other'
  return [...ours].every(([sku, qty]) => units.get(sku) === qty) ? 'same' : 'part'
}

function unitsOf(lines: readonly Line[]): Map<string, number> {
  const units = new Map<string, number>()
  for (const { distsku, qty } of lines)
    units.set(distsku.trim().toLowerCase(), (units.get(distsku.trim().toLowerCase()) ?? 0) + qty)
  return units
}

/** What a distributor had so long before the first send is an earlier order. */
const LONG_BEFORE = 3 * DAY

const sameText = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase()
const bare = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/** So long after it was sent an order is still found by a PO that is only alike. */
export const LONGEST_AGO = 30 * DAY

/**
 * Distributors change the case of a PO, drop its dashes, pad it, or cut it off: then it is only
 * `alike`.
 */
export function samePo(found: string, sent: string): 'same' | 'alike' | 'other' {
  const [a, b] = [bare(found), bare(sent)]
  if (a === b) return 'same'
  return a.length >= SIGNIFICANT && b.startsWith(a) ? 'alike' : 'other'
}

/** So much of a PO must be left of one that was cut off. */
const SIGNIFICANT = 6
