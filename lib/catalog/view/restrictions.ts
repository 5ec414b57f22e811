/**
 * A subscriber's product restrictions as sets of rows (contract "Configuration document"). Every
 * rule says what it hides and where it stands, so that one piece of code computes the view and
 * answers "why is it hidden?".
 */
import { gtinKey } from '../../core/gtin.js'
import { toCents } from '../../core/money.js'
import type {
  CostRange,
  DistributorEntry,
  ListRule,
  ProductGroup,
  ProductRestrictions,
} from '../../configuration/document/document.js'
import { pointerStep } from '../../core/pointer.js'
import { Bits } from '../snapshot/bits.js'
import { UNCATEGORIZED } from '../../distributors/feed-offer.js'
import { CLASS_CODES } from '../../distributors/product-classes.js'
import type { ProductClass } from '../../distributors/product-classes.js'
import type { RuleRows } from '../snapshot/slice.js'

/** One rule of a layer. */
export interface HidingRule {
  /** JSON Pointer into the document. */
  readonly pointer: string
  /** What it does, in plain words. */
  readonly reason: string
  readonly hides: Bits
  /** The part of the document that it was made from. */
  readonly rule: Rule
}

export type Rule =
  | { kind: 'exclude'; list: ListName; values: readonly (string | number)[] }
  | { kind: 'group'; name: string; criteria: ProductGroup['criteria'] }
  | { kind: 'include'; layer: ProductRestrictions }
  | { kind: 'quantity'; least: number }
  | { kind: 'uncategorized' }
  | { kind: 'cost'; range: CostRange }
  | { kind: 'drop_ship' }

export const LISTS = ['sku', 'upc', 'brand', 'category', 'product_class'] as const
export type ListName = (typeof LISTS)[number]

/** Rows that hold one of the values, under one kind of list. */
export function listed(
  snapshot: RuleRows,
  list: ListName,
  values: readonly (string | number)[],
): Bits {
  const rows = new Bits(snapshot.rows)
  for (const text of new Set(values.map(String))) {
    if (list === 'sku') rows.addAll(snapshot.skuRows(text))
    else if (list === 'upc') rows.addAll(snapshot.upcRows(gtinKey(text.padStart(8, '0')) ?? -1))
    else if (list === 'product_class')
      rows.or(snapshot.classRows(CLASS_CODES.indexOf(text as ProductClass)))
    else if (list === 'brand') rows.addAll(snapshot.brandRows(snapshot.brands.indexOf(text)))
    else
      snapshot.categories.forEach(
        (category, place) => category.name === text && rows.addAll(snapshot.categoryRows(place)),
      )
  }
  return rows
}

/** Rows of the scope whose number lies within bounds, both inclusive. */
export function within(scope: Bits, column: Int32Array, least: number, most: number): Bits {
  const rows = new Bits(scope.size)
  const { words } = scope
  for (let i = 0; i < words.length; i++) {
    let found = 0
    // As a signed number: above 2^31 it would be computed in floating point, five times slower.
    for (let word = words[i]! | 0; word !== 0;) {
      const lowest = word & ((~word + 1) | 0)
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

/**
 * The rules of one layer: the root's or one distributor's `product_restrictions`. They may name
 * rows outside of the scope.
 */
export function layerRules(
  input: LayerInput,
  layer: ProductRestrictions,
  pointer: string,
): HidingRule[] {
  const { snapshot, scope } = input
  const rules: HidingRule[] = []
  const hide = (at: string, reason: string, hides: Bits, rule: Rule) =>
    rules.push({ pointer: pointer + at, reason, hides, rule })
  for (const list of LISTS) {
    const values = layer[list]?.exclude ?? []
    if (values.length > 0)
      hide(`/${list}/exclude`, `its ${list} is excluded`, listed(snapshot, list, values), {
        kind: 'exclude',
        list,
        values,
      })
  }
  for (const [i, group] of groupsOf(layer, 'exclude')) {
    const name = groupName(group, i)
    hide(
      `/product_groups/${i}`,
      `it belongs to the excluded group ${name}`,
      groupRows(input, group),
      { kind: 'group', name, criteria: group.criteria },
    )
  }
  const admitted = admittedRows(input, layer)
  if (admitted)
    hide('', 'no include rule admits it', scope.copy().andNot(admitted), { kind: 'include', layer })
  const least = layer.min_quantity_to_list
  if (least !== undefined)
    hide(
      '/min_quantity_to_list',
      `fewer than ${least} are in stock`,
      within(scope, snapshot.qty, -1, Math.ceil(least) - 1),
      { kind: 'quantity', least },
    )
  if (layer.include_uncategorized_product === false) {
    hide(
      '/include_uncategorized_product',
      'it has no category',
      listed(snapshot, 'category', [UNCATEGORIZED]),
      { kind: 'uncategorized' },
    )
  }
  for (const { at, range, hides } of costRules(input, layer.cost ?? {}))
    hide(`/cost${at}`, 'its dealer cost is outside of the allowed range', hides, {
      kind: 'cost',
      range,
    })
  return rules
}

/** The include lists of a layer that hold anything. */
export function includeLists(layer: ProductRestrictions): [ListName, ListRule][] {
  return LISTS.map((list) => [list, layer[list]] as [ListName, ListRule | undefined]).filter(
    (pair): pair is [ListName, ListRule] => (pair[1]?.include?.length ?? 0) > 0,
  )
}

/**
 * The product groups of one type with their places; one without any criterion is as if absent, like
 * an empty list.
 */
export function groupsOf(
  layer: ProductRestrictions,
  type: ProductGroup['type'],
): [number, ProductGroup][] {
  return [...(layer.product_groups ?? []).entries()].filter(
    ([, group]) => group.type === type && hasCriteria(group),
  )
}

function hasCriteria({ criteria }: ProductGroup): boolean {
  return (
    LISTS.some((list) => (criteria[list]?.length ?? 0) > 0) ||
    criteria.min_quantity_to_list !== undefined ||
    hasBounds(criteria)
  )
}

export function hasBounds({ cost }: ProductGroup['criteria']): boolean {
  return cost?.min_cost !== undefined || cost?.max_cost !== undefined
}

/** What to call a group in a sentence. */
export function groupName({ name, id }: ProductGroup, place: number): string {
  return name ?? id ?? `${place}`
}

/** Null when nothing is included explicitly, which admits everything. */
function admittedRows(input: LayerInput, layer: ProductRestrictions): Bits | null {
  const { snapshot, scope } = input
  const rules = includeLists(layer)
  const groups = groupsOf(layer, 'include')
  if (rules.length === 0 && groups.length === 0) return null
  const admitted = new Bits(snapshot.rows)
  const together = rules.filter(([, rule]) => rule.include_operand !== 'OR')
  if (together.length > 0) {
    const all = scope.copy()
    for (const [list, rule] of together) all.and(listed(snapshot, list, rule.include!))
    admitted.or(all)
  }
  for (const [list, rule] of rules)
    if (rule.include_operand === 'OR') admitted.or(listed(snapshot, list, rule.include!))
  for (const [, group] of groups) admitted.or(groupRows(input, group))
  return admitted
}

/** Rows that meet every given criterion of a group; a group without any criterion has no rows. */
export function groupRows({ snapshot, costs, scope }: LayerInput, group: ProductGroup): Bits {
  const { criteria } = group
  const parts: Bits[] = LISTS.filter((list) => (criteria[list]?.length ?? 0) > 0).map((list) =>
    listed(snapshot, list, criteria[list]!),
  )
  if (criteria.min_quantity_to_list !== undefined)
    parts.push(within(scope, snapshot.qty, Math.ceil(criteria.min_quantity_to_list), Infinity))
  if (hasBounds(criteria)) {
    const { min_cost, max_cost } = criteria.cost!
    parts.push(
      within(
        scope,
        costs,
        min_cost === undefined ? 0 : toCents(min_cost),
        max_cost === undefined ? Infinity : toCents(max_cost),
      ),
    )
  }
  const [first, ...more] = parts
  return first ? more.reduce((rows, part) => rows.and(part), first) : new Bits(snapshot.rows)
}

/** Rows outside of each range: a class's own replaces the global one. */
function costRules(
  { snapshot, costs, scope }: LayerInput,
  cost: NonNullable<ProductRestrictions['cost']>,
): { at: string; range: CostRange; hides: Bits }[] {
  const rest = scope.copy()
  const named = new Set<string>()
  const rules: ReturnType<typeof costRules> = []
  for (const [i, range] of (cost.product_class_restrictions ?? []).entries()) {
    // The first range that names a class counts, as everywhere else in the document.
    const codes = range.product_class.filter((code) => !named.has(code))
    if (codes.length === 0) continue
    const rows = listed(snapshot, 'product_class', codes).and(rest)
    rest.andNot(rows)
    for (const code of codes) named.add(code)
    rules.push({
      at: `/product_class_restrictions/${i}`,
      range,
      hides: outside(rows, costs, range),
    })
  }
  if (cost.global_restrictions)
    rules.push({
      at: '/global_restrictions',
      range: cost.global_restrictions,
      hides: outside(rest, costs, cost.global_restrictions),
    })
  return rules
}

function outside(
  rows: Bits,
  costs: Int32Array,
  { min_distributor_cost: least, max_distributor_cost: most }: CostRange,
): Bits {
  return rows.copy().andNot(within(rows, costs, toCents(least), toCents(most)))
}

/** The rules of a distributor's entry; the scope is its own rows. */
export function entryRules(input: LayerInput, name: string, entry: DistributorEntry): HidingRule[] {
  const pointer = entryPointer(name)
  const rules = layerRules(input, entry.product_restrictions, `${pointer}/product_restrictions`)
  if (entry.drop_ship_only_items) {
    const hides = input.scope.copy().andNot(input.snapshot.dropShip)
    rules.push({
      pointer: `${pointer}/drop_ship_only_items`,
      reason: 'the distributor does not drop-ship it',
      hides,
      rule: { kind: 'drop_ship' },
    })
  }
  return rules
}

/** Where a distributor's entry stands in the document. */
export function entryPointer(name: string): string {
  return `/distributors${pointerStep(name)}`
}
