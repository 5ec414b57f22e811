/** The plan of distributors that refuse firearms and accessories in one order. */
import type { OrderPart, PurchaseOrderLine } from './fulfillment.js'

/**
 * Pure: one part for what goes to a dealer only, one for the rest; only one of them where the group
 * has no other kind.
 */
export function planFirearmParts(
  lines: readonly Pick<PurchaseOrderLine, 'fflRequired'>[],
): OrderPart[] {
  const linesWhere = (firearm: boolean) =>
    lines.flatMap(({ fflRequired }, at) => (fflRequired === firearm ? [at] : []))
  return [
    { name: 'firearms', lines: linesWhere(true) },
    { name: 'accessories', lines: linesWhere(false) },
  ].filter((part) => part.lines.length > 0)
}
