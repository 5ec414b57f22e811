/** Rules of `pricing` that set no price, name nobody, or sell below MAP. */
import { nearest } from '../../core/text.js'
import type { MarginGroup, PriceRange } from '../../configuration/document/document.js'
import { Bits } from '../snapshot/bits.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import { adjustedRows } from '../view/costs.js'
import { LISTS, listed } from '../view/restrictions.js'
import { boundsOf, marginGroups, rangeFinder } from '../view/retail.js'
import { MOST_RULES, MOST_WARNINGS, both, offers, short, suggestion, warning } from './warning.js'
import type { Checked, Warnings } from './warning.js'

export function* mapWarnings({ document: { pricing } }: Checked): Warnings {
  if (pricing.ignore_map_brands?.length)
    yield warning(
      '/pricing/ignore_map_brands',
      'is not empty: its brands may sell below MAP; list only brands whose MAP you are not bound to',
    )
}

/** Distids that nobody has: neither an entry of the document nor the catalog. */
export function* distidWarnings({
  snapshot,
  document: { distributors, pricing },
}: Checked): Warnings {
  const known = new Set([
    ...snapshot.distids,
    ...Object.values(distributors).map(({ distid }) => distid),
  ])
  const named = [
    ...Object.entries(pricing.margin ?? {}).flatMap(([group, { distributor = [] }]) =>
      distributor.map((distid, i) => ({
        pointer: `/pricing/margin/${group}/distributor/${i}`,
        distid,
      })),
    ),
    ...(pricing.cost_adjustments ?? []).flatMap(({ distributor: distid }, i) =>
      distid === undefined
        ? []
        : [{ pointer: `/pricing/cost_adjustments/${i}/distributor`, distid }],
    ),
  ]
  for (const { pointer, distid } of named
    .filter(({ distid }) => !known.has(distid))
    .slice(0, MOST_WARNINGS)) {
    yield warning(
      pointer,
      `names the distid "${short(distid)}", which no distributor has; ` +
        suggestion(nearest(distid, known), 'name the `distid` of a distributor'),
    )
  }
}

/** Groups and price ranges that set no price. */
export function* marginWarnings({ snapshot, open, document: { pricing } }: Checked): Warnings {
  const { margin } = pricing
  if (!margin?.default) return
  const groups = marginGroups(margin)
  const filtered = new Set(groups.map(({ name }) => name))
  for (const [name, group] of Object.entries(margin).slice(0, MOST_RULES)) {
    if (name !== 'default' && !filtered.has(name))
      yield warning(
        `/pricing/margin/${name}`,
        'has no filter, so it never applies; ' +
          'give it a product_class, category, brand, sku, upc or distributor, or remove it',
      )
    yield* rangeWarnings(
      `/pricing/margin/${name}/price_based_margin`,
      group.price_based_margin ?? [],
    )
  }
  /** By row: the place of the group that sets its price, one of the first `MOST_RULES`. */
  const takers = new Uint8Array(snapshot.rows)
  const rest = open.visible.copy()
  for (const [place, { name, group }] of groups.slice(0, MOST_RULES).entries()) {
    const rows = groupOffers(snapshot, group, open.visible)
    const free = both(rows, rest)
    const matched = rows.count()
    if (matched === 0)
      yield warning(
        `/pricing/margin/${name}`,
        'matches no offer of your distributors; correct its filters, or remove it',
      )
    else if (free.count() === 0)
      yield warning(
        `/pricing/margin/${name}`,
        `sets no price: the ${offers(matched)} that it matches ` +
          `${matched === 1 ? 'is' : 'are'} taken by ${takenBy(rows, takers, groups)}; ` +
          'narrow what is tried before it, or remove it',
      )
    free.forEach((row) => {
      takers[row] = place
    })
    rest.andNot(free)
  }
}

/** All filters that a group gives must hold, as in the price rule. */
function groupOffers(snapshot: Snapshot, group: MarginGroup, scope: Bits): Bits {
  const rows = scope.copy()
  for (const list of LISTS) if (group[list]?.length) rows.and(listed(snapshot, list, group[list]))
  if (group.distributor?.length)
    rows.and(
      group.distributor.reduce(
        (some, distid) => some.or(snapshot.distributorRows(snapshot.distids.indexOf(distid))),
        new Bits(snapshot.rows),
      ),
    )
  return rows
}

/** So many groups are named. */
const MOST_TAKERS = 3

function takenBy(rows: Bits, takers: Uint8Array, groups: readonly { name: string }[]): string {
  const places = new Set<number>()
  rows.forEach((row) => places.add(takers[row]!).size <= MOST_TAKERS)
  const names = [...places].sort((a, b) => a - b).map((place) => `\`${groups[place]!.name}\``)
  return names.length > MOST_TAKERS
    ? `${names.slice(0, MOST_TAKERS).join(', ')} and others`
    : names.join(', ')
}

function* rangeWarnings(pointer: string, ranges: readonly PriceRange[]): Warnings {
  const bounds = ranges.slice(0, MOST_RULES).map(boundsOf)
  // From one of these costs to the next the range is the same.
  const edges = bounds.flatMap(({ least, most, below }) => [least, most + 1, below])
  const used = new Set([0, ...edges].map(rangeFinder(bounds)))
  for (const [i, { least, most }] of bounds.entries()) {
    if (!used.has(i))
      yield warning(
        `${pointer}/${i}`,
        least > most
          ? 'holds no cost: its minimum_unit_cost is above its maximum_unit_cost; correct them'
          : 'is never used: the ranges before it hold all of its costs; move it up, or remove it',
      )
  }
}

export function* adjustmentWarnings({ snapshot, open, document: { pricing } }: Checked): Warnings {
  for (const [i, adjustment] of (pricing.cost_adjustments ?? []).slice(0, MOST_RULES).entries()) {
    if (adjustedRows(snapshot, adjustment).and(open.visible).count() === 0)
      yield warning(
        `/pricing/cost_adjustments/${i}`,
        'matches no offer of your distributors; correct it, or remove it',
      )
  }
}
