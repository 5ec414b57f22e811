/** What the checks of a document's rules look at, and how they say what they found. */
import { figure } from '../../core/figures.js'
import { dotted } from '../../core/pointer.js'
import type { ConfigurationDocument } from '../../configuration/document/document.js'
import type { Bits } from '../snapshot/bits.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { View, ViewDistributor, ViewInput } from '../view/view.js'

export interface RuleWarning {
  /** JSON Pointer into the document. */
  pointer: string
  /** Begins with the member, as `pricing.margin.firearms`. */
  message: string
}

export const MOST_WARNINGS = 100
/**
 * Of each kind of rule so many are looked at: a document of 1 MB may hold ten thousand margin
 * groups.
 */
export const MOST_RULES = 200

/** What the checks look at. */
export interface Checked {
  snapshot: Snapshot
  input: ViewInput
  document: ConfigurationDocument
  /** What is seen when restrictions are ignored: every offer that has a price. */
  open: View
  /** What is seen. */
  shown: Bits
}

export type Warnings = Iterable<RuleWarning>

export function warning(pointer: string, text: string): RuleWarning {
  return { pointer, message: `\`${dotted(pointer)}\` ${text}` }
}

export const both = (a: Bits, b: Bits) => a.copy().and(b)
export const offers = (n: number) => (n === 1 ? 'one offer' : `${figure(n)} offers`)

/** Offers of a distributor that have a price. */
export function offersOf({ snapshot, open }: Checked, { place }: ViewDistributor): Bits {
  return both(open.visible, snapshot.distributorRows(place))
}

export function suggestion(close: string | null, otherwise: string): string {
  return close === null ? otherwise : `did you mean "${close}"?`
}

const LONGEST_NAME = 60
export const short = (name: string) =>
  name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name
