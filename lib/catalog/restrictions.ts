/**
 * A subscriber's product restrictions as sets of rows (contract "Configuration document", decisions 4.4). Every rule
 * says what it hides and where it stands, so that one piece of code computes the view and answers "why is it hidden?".
 */
import { gtinKey } from '../core/gtin.js'
import { toCents } from '../core/money.js'
import type { CostRange, DistributorEntry, ListRule, ProductGroup, ProductRestrictions } from '../configuration/document.js'
import { Bits } from './bits.js'
import { UNCATEGORIZED } from './feed-offer.js'
import { CLASS_CODES } from './product-classes.js'
import type { ProductClass } from './product-classes.js'
import type { RuleRows } from './slice.js'

/** One rule of a layer. */
export interface HidingRule {
  /** JSON Pointer into the document. */
  readonly pointer: string
  /** What it does, in plain words. */
  readonly reason: string
  readonly hides: Bits
}

const LISTS = ['sku', 'upc', 'brand', 'category', 'product_class'] as const
type ListName = (typeof LISTS)[number]

/** Rows that hold one of the values, under one kind of list. */
function listed(snapshot: RuleRows, list: ListName, values: readonly (string | number)[]): Bits {
  const rows = new Bits(snapshot.rows)
  for (const value of values) {
    const text = String(value)
    if (list === 'sku') rows.addAll(snapshot.skuRows(text))
    else if (list === 'upc') rows.addAll(snapshot.upcRows(gtinKey(text.padStart(8, '0')) ?? -1))
    else if (list === 'product_class') rows.or(snapshot.classRows(CLASS_CODES.indexOf(text as ProductClass)))
    else if (list === 'brand') rows.addAll(snapshot.brandRows(snapshot.brands.indexOf(text)))
    else snapshot.categories.forEach((category, place) => category.name === text && rows.addAll(snapshot.categoryRows(place)))
  }
  return rows
}

/** Rows of the scope whose number lies within bounds, both inclusive. */
function within(scope: Bits, column: Int32Array, least: number, most: number): Bits {
  const rows = new Bits(scope.size)
  const { words } = scope
  for (let i = 0; i < words.length; i++) {
    let found = 0
    // As a signed number: above 2^31 it would be computed in floating point, five times slower.
    for (let word = words[i]! | 0; word !== 0;) {
      const lowest = word & (~word + 1 | 0)
      word ^= lowest
      const value = column[i * 32 + 31 - Math.clz32(lowest)]!
      if (value >= least && value <= most) found |= lowest
    }
    rows.words[i] = found
  }
  return rows
}

/** What a layer is applied to. */
export interface LayerInput {
  snapshot: RuleRows
  /** Dealer costs in cents by row, before handling. */
  costs: Int32Array
  /** The rows that the layer concerns. */
  scope: Bits
}

/** The rules of one layer: the root's or one distributor's `product_restrictions`. They may name rows outside of the scope. */
export function layerRules(input: LayerInput, layer: ProductRestrictions, pointer: string): HidingRule[] {
  const { snapshot, scope } = input
  const rules: HidingRule[] = []
  const hide = (at: string, reason: string, hides: Bits) => rules.push({ pointer: pointer + at, reason, hides })
  for (const list of LISTS) {
    const values = layer[list]?.exclude ?? []
    if (values.length > 0) hide(`/${list}/exclude`, `its ${list} is excluded`, listed(snapshot, list, values))
  }
  for (const [i, group] of (layer.product_groups ?? []).entries()) {
    if (group.type !== 'exclude') continue
    hide(`/product_groups/${i}`, `it belongs to the excluded group ${group.name ?? group.id ?? i}`, groupRows(input, group))
  }
  const admitted = admittedRows(input, layer)
  if (admitted) hide('', 'no include rule admits it', scope.copy().andNot(admitted))
  if (layer.min_quantity_to_list !== undefined) {
    hide('/min_quantity_to_list', `fewer than ${layer.min_quantity_to_list} are in stock`, within(scope, snapshot.qty, -1, Math.ceil(layer.min_quantity_to_list) - 1))
  }
  if (layer.include_uncategorized_product === false) {
    hide('/include_uncategorized_product', 'it has no category', listed(snapshot, 'category', [UNCATEGORIZED]))
  }
  if (layer.cost) hide('/cost', 'its dealer cost is outside of the allowed range', costRows(input, layer.cost))
  return rules
}

/** Null when nothing is included explicitly, which admits everything. */
function admittedRows(input: LayerInput, layer: ProductRestrictions): Bits | null {
  const { snapshot, scope } = input
  const rules = LISTS.map((list) => [list, layer[list]] as [ListName, ListRule | undefined])
    .filter((pair): pair is [ListName, ListRule] => (pair[1]?.include?.length ?? 0) > 0)
  const groups = (layer.product_groups ?? []).filter((group) => group.type === 'include')
  if (rules.length === 0 && groups.length === 0) return null
  const admitted = new Bits(snapshot.rows)
  const together = rules.filter(([, rule]) => rule.include_operand !== 'OR')
  if (together.length > 0) {
    const all = scope.copy()
    for (const [list, rule] of together) all.and(listed(snapshot, list, rule.include!))
    admitted.or(all)
  }
  for (const [list, rule] of rules) if (rule.include_operand === 'OR') admitted.or(listed(snapshot, list, rule.include!))
  for (const group of groups) admitted.or(groupRows(input, group))
  return admitted
}

/** Rows that meet every given criterion of a group; a group without any criterion has no rows. */
function groupRows({ snapshot, costs, scope }: LayerInput, group: ProductGroup): Bits {
  const { criteria } = group
  const parts: Bits[] = LISTS.filter((list) => (criteria[list]?.length ?? 0) > 0).map((list) => listed(snapshot, list, criteria[list]!))
  if (criteria.min_quantity_to_list !== undefined) parts.push(within(scope, snapshot.qty, Math.ceil(criteria.min_quantity_to_list), Infinity))
  if (criteria.cost) {
    const { min_cost, max_cost } = criteria.cost
    parts.push(within(scope, costs, min_cost === undefined ? 0 : toCents(min_cost), max_cost === undefined ? Infinity : toCents(max_cost)))
  }
  const [first, ...more] = parts
  return first ? more.reduce((rows, part) => rows.and(part), first) : new Bits(snapshot.rows)
}

/** Rows outside of the cost bounds: a class's own range replaces the global one. */
function costRows({ snapshot, costs, scope }: LayerInput, cost: NonNullable<ProductRestrictions['cost']>): Bits {
  const hidden = new Bits(snapshot.rows)
  const rest = scope.copy()
  // The first range that names a class counts, as everywhere else in the document.
  for (const range of cost.product_class_restrictions ?? []) {
    for (const code of range.product_class) {
      const rows = snapshot.classRows(CLASS_CODES.indexOf(code as ProductClass)).copy().and(rest)
      rest.andNot(rows)
      hidden.or(outside(rows, costs, range))
    }
  }
  return cost.global_restrictions ? hidden.or(outside(rest, costs, cost.global_restrictions)) : hidden
}

function outside(rows: Bits, costs: Int32Array, { min_distributor_cost: least, max_distributor_cost: most }: CostRange): Bits {
  return rows.copy().andNot(within(rows, costs, toCents(least), toCents(most)))
}

/** The rules of a distributor's entry; the scope is its own rows. */
export function entryRules(input: LayerInput, name: string, entry: DistributorEntry): HidingRule[] {
  const pointer = `/distributors/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
  const rules = layerRules(input, entry.product_restrictions, `${pointer}/product_restrictions`)
  if (entry.drop_ship_only_items) {
    const hides = input.scope.copy().andNot(input.snapshot.dropShip)
    rules.push({ pointer: `${pointer}/drop_ship_only_items`, reason: 'the distributor does not drop-ship it', hides })
  }
  return rules
}
