/** Brands and categories that the document names and no offer has. */
import { figure } from '../../core/figures.js'
import { nearest } from '../../core/text.js'
import type {
  ConfigurationDocument,
  ProductRestrictions,
} from '../../configuration/document/document.js'
import { UNCATEGORIZED } from '../../distributors/feed-offer.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import { entryPointer } from '../view/restrictions.js'
import { shippingLevels } from '../view/shipping.js'
import { levelsPointer } from './shipping.js'
import { short, suggestion, warning } from './warning.js'
import type { RuleWarning } from './warning.js'

/** A brand or category that the document names. */
interface Named {
  pointer: string
  kind: 'brand' | 'category'
  value: string
}

/**
 * Brands and categories that no offer of the whole catalog has; where there is no room for all, the
 * last tells how many.
 */
export function nameWarnings(
  snapshot: Snapshot,
  document: ConfigurationDocument,
  room: number,
): RuleWarning[] {
  const known = {
    brand: new Set(snapshot.brands),
    category: new Set([...snapshot.categories.map(({ name }) => name), UNCATEGORIZED]),
  }
  const unknown = namesOf(document).filter(({ kind, value }) => !known[kind].has(value))
  const named = unknown.slice(0, unknown.length > room ? Math.max(0, room - 1) : room)
  const warnings = named.map(({ pointer, kind, value }) =>
    warning(
      pointer,
      `names the ${kind} "${short(value)}", which no offer has; ` +
        suggestion(nearest(value, known[kind]), 'correct it, or remove it'),
    ),
  )
  const next = unknown[named.length]
  const more = unknown.length - named.length
  return next && room > 0
    ? [
        ...warnings,
        warning(
          next.pointer,
          `is one of ${figure(more)} more brands and categories ` +
            'that no offer has; take them from GET /v1/products/facets',
        ),
      ]
    : warnings
}

function namesOf({
  distributors,
  pricing,
  product_restrictions: root,
}: ConfigurationDocument): Named[] {
  return [
    ...restrictionNames('/product_restrictions', root),
    ...Object.entries(distributors).flatMap(([name, { product_restrictions: own, shipping }]) => [
      ...restrictionNames(`${entryPointer(name)}/product_restrictions`, own),
      ...shippingLevels(shipping).flatMap(({ category }, i) =>
        names(`${levelsPointer(name, shipping)}/${i}/category`, 'category', category),
      ),
    ]),
    ...Object.entries(pricing.margin ?? {}).flatMap(([name, group]) =>
      KINDS.flatMap((kind) => names(`/pricing/margin/${name}/${kind}`, kind, group[kind])),
    ),
    ...(pricing.cost_adjustments ?? []).flatMap((adjustment, i) =>
      KINDS.flatMap((kind) => {
        const value = adjustment[kind]
        return value === undefined
          ? []
          : [{ pointer: `/pricing/cost_adjustments/${i}/${kind}`, kind, value }]
      }),
    ),
    ...names('/pricing/ignore_map_brands', 'brand', pricing.ignore_map_brands),
  ]
}

const KINDS = ['brand', 'category'] as const

function restrictionNames(pointer: string, layer: ProductRestrictions): Named[] {
  return KINDS.flatMap((kind) => [
    ...names(`${pointer}/${kind}/include`, kind, layer[kind]?.include),
    ...names(`${pointer}/${kind}/exclude`, kind, layer[kind]?.exclude),
    ...(layer.product_groups ?? []).flatMap(({ criteria }, i) =>
      names(`${pointer}/product_groups/${i}/criteria/${kind}`, kind, criteria[kind]),
    ),
  ])
}

function names(
  pointer: string,
  kind: Named['kind'],
  values: readonly (string | number)[] = [],
): Named[] {
  return values.map((value, i) => ({ pointer: `${pointer}/${i}`, kind, value: String(value) }))
}
