/** Shipping levels that no offer takes, and offers that no level fits. */
import type { Shipping, ShippingLevel } from '../../configuration/document/document.js'
import type { Bits } from '../snapshot/bits.js'
import { entryPointer, listed, within } from '../view/restrictions.js'
import { levelBounds, shippingLevels } from '../view/shipping.js'
import { MOST_RULES, offers, offersOf, warning } from './warning.js'
import type { Checked, Warnings } from './warning.js'

/** Levels that no offer takes, and offers that no level fits. */
export function* shippingWarnings(checked: Checked): Warnings {
  const { snapshot } = checked
  for (const distributor of checked.open.distributors.values()) {
    const {
      name,
      entry: { shipping },
    } = distributor
    const pointer = levelsPointer(name, shipping)
    const all = offersOf(checked, distributor)
    const rest = all.copy()
    const levels = shippingLevels(shipping)
    for (const [i, level] of levels.slice(0, MOST_RULES).entries()) {
      const rows = levelRows(checked, rest, level)
      if (rows.count() === 0)
        yield warning(
          `${pointer}/${i}`,
          whyUnused(levels.slice(0, i), level, levelRows(checked, all, level).count(), name),
        )
      rest.andNot(rows)
    }
    if (levels.length === 0 || levels.length > MOST_RULES || shipping.flat_rate) continue
    const dearest = levels.reduce((most, { flat_rate: { cost } }) => Math.max(most, cost), 0)
    const fitless = within(rest, snapshot.shipping, -1, -1).count()
    if (fitless > 0)
      yield warning(
        pointer,
        `has no level for ${offers(fitless)}, which ${fitless === 1 ? 'takes' : 'take'} ` +
          `the dearest level's ${dearest.toFixed(2)}; ` +
          'add a level for the rest of the costs, classes and categories',
      )
  }
}

export function levelsPointer(name: string, shipping: Shipping): string {
  const list = shipping.price_based_shipping
    ? 'price_based_shipping'
    : 'price_based_shipping_levels'
  return `${entryPointer(name)}/shipping/${list}`
}

function levelRows({ snapshot, open }: Checked, scope: Bits, level: ShippingLevel): Bits {
  const { least, below } = levelBounds(level)
  const rows = within(scope, open.costs, least, below - 1)
  for (const list of ['product_class', 'category'] as const)
    if (level[list]?.length) rows.and(listed(snapshot, list, level[list]))
  return rows
}

/** Why a level is not used; `alone` offers would fit it if it stood first. */
function whyUnused(
  earlier: readonly ShippingLevel[],
  level: ShippingLevel,
  alone: number,
  name: string,
): string {
  const { least, below } = levelBounds(level)
  if (least >= below)
    return 'fits no cost: its max_unit_cost is below its min_unit_cost; correct them'
  const cover = earlier.findIndex((other) => covers(other, level))
  if (cover >= 0)
    return `is never used: the level [${cover}] before it takes all that it fits; move it up, or remove it`
  if (alone > 0)
    return `is not used: the levels before it take the ${offers(alone)} that it fits; move it up, or remove it`
  return `fits no offer of ${name} at the moment; remove it, unless such offers are to come`
}

function covers(other: ShippingLevel, level: ShippingLevel): boolean {
  const [a, b] = [levelBounds(other), levelBounds(level)]
  const holds = (all: readonly string[] = [], some: readonly string[] = []) =>
    all.length === 0 || (some.length > 0 && some.every((value) => all.includes(value)))
  return (
    a.least <= b.least &&
    a.below >= b.below &&
    holds(other.product_class, level.product_class) &&
    holds(other.category, level.category)
  )
}
