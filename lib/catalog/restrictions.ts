/**
 * A subscriber's product restrictions as sets of rows (contract "Configuration document", decisions 4.4). Every rule
 * says what it hides and where it stands, so that one piece of code computes the view and answers "why is it hidden?".
 */
import { gtinKey } from '../core/gtin.js'
import { toCents } from '../core/money.js'
import type { DistributorEntry, ListRule, ProductGroup, ProductRestrictions } from '../configuration/document.js'
import { Bits } from './bits.js'
import { UNCATEGORIZED } from './feed-offer.js'
import { CLASS_CODES } from './product-classes.js'
import type { ProductClass } from './product-classes.js'
import type { Snapshot } from './snapshot.js'

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
function listed(snapshot: Snapshot, list: ListName, values: readonly (string | number)[]): Bits {
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

/** Rows whose number lies within bounds, both inclusive. */
function within(column: Int32Array, least: number, most: number): Bits {
  const rows = new Bits(column.length)
  for (let row = 0; row < column.length; row++) if (column[row]! >= least && column[row]! <= most) rows.add(row)
  return rows
}

function not(rows: Bits): Bits {
  return Bits.full(rows.size).andNot(rows)
}

/** The rules of one layer: the root's or one distributor's `product_restrictions`. `costs` are cents by row, before handling. */
export function* layerRules(snapshot: Snapshot, costs: Int32Array, layer: ProductRestrictions, pointer: string): Generator<HidingRule> {
  for (const list of LISTS) {
    const values = layer[list]?.exclude ?? []
    if (values.length > 0) yield { pointer: `${pointer}/${list}/exclude`, reason: `its ${list} is excluded`, hides: listed(snapshot, list, values) }
  }
  for (const [i, group] of (layer.product_groups ?? []).entries()) {
    if (group.type !== 'exclude') continue
    yield { pointer: `${pointer}/product_groups/${i}`, reason: `it belongs to the excluded group ${group.name ?? group.id ?? i}`, hides: groupRows(snapshot, costs, group) }
  }
  const admitted = admittedRows(snapshot, costs, layer)
  if (admitted) yield { pointer, reason: 'no include rule admits it', hides: not(admitted) }
  if (layer.min_quantity_to_list !== undefined) {
    yield { pointer: `${pointer}/min_quantity_to_list`, reason: `fewer than ${layer.min_quantity_to_list} are in stock`, hides: within(snapshot.qty, -1, Math.ceil(layer.min_quantity_to_list) - 1) }
  }
  if (layer.include_uncategorized_product === false) {
    yield { pointer: `${pointer}/include_uncategorized_product`, reason: 'it has no category', hides: listed(snapshot, 'category', [UNCATEGORIZED]) }
  }
  if (layer.cost) yield { pointer: `${pointer}/cost`, reason: 'its dealer cost is outside of the allowed range', hides: costRows(snapshot, costs, layer.cost) }
}

/** Null when nothing is included explicitly, which admits everything. */
function admittedRows(snapshot: Snapshot, costs: Int32Array, layer: ProductRestrictions): Bits | null {
  const rules = LISTS.map((list) => [list, layer[list]] as [ListName, ListRule | undefined])
    .filter((pair): pair is [ListName, ListRule] => (pair[1]?.include?.length ?? 0) > 0)
  const groups = (layer.product_groups ?? []).filter((group) => group.type === 'include')
  if (rules.length === 0 && groups.length === 0) return null
  const admitted = new Bits(snapshot.rows)
  const together = rules.filter(([, rule]) => rule.include_operand !== 'OR')
  if (together.length > 0) {
    const all = Bits.full(snapshot.rows)
    for (const [list, rule] of together) all.and(listed(snapshot, list, rule.include!))
    admitted.or(all)
  }
  for (const [list, rule] of rules) if (rule.include_operand === 'OR') admitted.or(listed(snapshot, list, rule.include!))
  for (const group of groups) admitted.or(groupRows(snapshot, costs, group))
  return admitted
}

/** Rows that meet every given criterion of a group; a group without any criterion has no rows. */
function groupRows(snapshot: Snapshot, costs: Int32Array, group: ProductGroup): Bits {
  const { criteria } = group
  const parts: Bits[] = LISTS.filter((list) => (criteria[list]?.length ?? 0) > 0).map((list) => listed(snapshot, list, criteria[list]!))
  if (criteria.min_quantity_to_list !== undefined) parts.push(within(snapshot.qty, Math.ceil(criteria.min_quantity_to_list), Infinity))
  if (criteria.cost) {
    const { min_cost, max_cost } = criteria.cost
    parts.push(within(costs, min_cost === undefined ? 0 : toCents(min_cost), max_cost === undefined ? Infinity : toCents(max_cost)))
  }
  const [first, ...more] = parts
  return first ? more.reduce((rows, part) => rows.and(part), first) : new Bits(snapshot.rows)
}

/** Rows outside of the cost bounds: a class's own range replaces the global one. */
function costRows(snapshot: Snapshot, costs: Int32Array, cost: NonNullable<ProductRestrictions['cost']>): Bits {
  const least = new Float64Array(CLASS_CODES.length).fill(cost.global_restrictions ? toCents(cost.global_restrictions.min_distributor_cost) : -Infinity)
  const most = new Float64Array(CLASS_CODES.length).fill(cost.global_restrictions ? toCents(cost.global_restrictions.max_distributor_cost) : Infinity)
  // The first range that names a class counts, as everywhere else in the document.
  for (const range of [...cost.product_class_restrictions ?? []].reverse()) {
    for (const code of range.product_class) {
      const place = CLASS_CODES.indexOf(code as ProductClass)
      if (place < 0) continue
      least[place] = toCents(range.min_distributor_cost)
      most[place] = toCents(range.max_distributor_cost)
    }
  }
  const hidden = new Bits(snapshot.rows)
  const { productClass, rows } = snapshot
  for (let row = 0; row < rows; row++) {
    const place = productClass[row]!
    if (costs[row]! < least[place]! || costs[row]! > most[place]!) hidden.add(row)
  }
  return hidden
}

/** The rules of a distributor's entry; they concern its rows alone. */
export function* entryRules(snapshot: Snapshot, costs: Int32Array, name: string, entry: DistributorEntry): Generator<HidingRule> {
  const pointer = `/distributors/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
  yield* layerRules(snapshot, costs, entry.product_restrictions, `${pointer}/product_restrictions`)
  if (entry.drop_ship_only_items) {
    yield { pointer: `${pointer}/drop_ship_only_items`, reason: 'the distributor does not drop-ship it', hides: not(snapshot.dropShip) }
  }
}
