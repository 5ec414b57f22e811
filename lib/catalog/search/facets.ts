/** The values that the filters of a search can take (contract "Facets"). */
import { byCodePoint } from '../../core/text.js'
import type { Bits } from '../snapshot/bits.js'
import { CLASS_CODES } from '../../distributors/product-classes.js'
import { isList } from '../snapshot/row-set.js'
import type { RowSet } from '../snapshot/row-set.js'
import type { Facets } from '../shapes.js'
import type { View } from '../view/view.js'

type FacetedView = Pick<View, 'snapshot' | 'visible'>

const known = new WeakMap<FacetedView, Facets>()

/** Sorted distinct values over the visible offers, by code point; computed once per view. */
export function facetsOf(view: FacetedView): Facets {
  let facets = known.get(view)
  if (!facets) known.set(view, (facets = computeFacets(view)))
  return facets
}

function computeFacets({ snapshot, visible }: FacetedView): Facets {
  const { brands, categories } = snapshot
  const names = categories
    .filter((_, place) => overlaps(snapshot.categorySet(place), visible))
    .map(({ name }) => name)
  return {
    manufacturers: brands.filter((_, place) => overlaps(snapshot.brandSet(place), visible)),
    categories: [...new Set(names)].filter((name) => name !== '').sort(byCodePoint),
    product_classes: CLASS_CODES.filter((_, place) =>
      overlaps(snapshot.classRows(place), visible),
    ).sort(byCodePoint),
  }
}

/** Stops at the first row that both have, which for a value that is there comes after a few. */
function overlaps(set: RowSet, visible: Bits): boolean {
  if (isList(set)) {
    for (let i = 0; i < set.length; i++) if (visible.has(set[i]!)) return true
    return false
  }
  for (let i = 0; i < set.words.length; i++)
    if ((set.words[i]! & visible.words[i]!) !== 0) return true
  return false
}
