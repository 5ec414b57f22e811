/** The plan of distributors that refuse firearms and accessories in one order. */
import type { Lane, PurchaseOrderLine } from './fulfillment.js'

/**
 * Pure: one lane for what goes to a dealer only, one for the rest; only one of them where the group
 * has no other kind.
 */
export function firearmLanes(lines: readonly Pick<PurchaseOrderLine, 'fflRequired'>[]): Lane[] {
  const placesOf = (firearm: boolean) =>
    lines.flatMap(({ fflRequired }, place) => (fflRequired === firearm ? [place] : []))
  return [
    { name: 'firearms', lines: placesOf(true) },
    { name: 'accessories', lines: placesOf(false) },
  ].filter(({ lines: places }) => places.length > 0)
}
