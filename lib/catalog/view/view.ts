/**
 * What one subscriber sees of a snapshot: which offers, at which price. Search, facets, detail,
 * quotes, export and impact all read it; there is no second implementation of a rule or a price.
 */
import type { ConfigurationDocument } from '../../configuration/document/document.js'
import type { EligibleDistributor } from '../../configuration/document/saved.js'
import { Bits } from '../snapshot/bits.js'
import { costColumn, shownColumn } from './costs.js'
import { sortByNumber } from '../snapshot/permutation.js'
import { CLASS_CODES } from '../../distributors/product-classes.js'
import { entryRules, layerRules } from './restrictions.js'
import type { HidingRule, LayerInput } from './restrictions.js'
import { retailRule } from './retail.js'
import type { Priced } from './retail.js'
import { shippingModel } from './shipping.js'
import type { ShippingModel } from './shipping.js'
import { pick, sliceOf } from '../snapshot/slice.js'
import type { RuleRows, Slice } from '../snapshot/slice.js'
import type { Row, Snapshot } from '../snapshot/snapshot.js'

/**
 * Shown dealer costs of a view: cents by row (-1 where there is none), and the rows in ascending
 * order of (cost, tie).
 */
export interface PriceOrder {
  readonly column: Int32Array
  readonly order: Uint32Array
}

/** A distributor of the view with its place in `snapshot.distids`. */
export interface ViewDistributor extends EligibleDistributor {
  readonly place: number
}

export interface View {
  readonly snapshot: Snapshot
  /** Offers of eligible distributors that have a price and that no restriction hides. */
  readonly visible: Bits
  readonly total: number
  /** Active, validated distributors that the snapshot holds offers of, by place. */
  readonly distributors: ReadonlyMap<number, ViewDistributor>
  /** Dealer costs before handling, cents by row: what every rule looks at. */
  readonly costs: Int32Array
  /**
   * True when the price of a visible offer differs from the operator's feed; computed on first use.
   */
  customPricing(): boolean
  /** Computed on first use; the snapshot's own order where no price differs. */
  prices(): PriceOrder
  /** Shown dealer cost of one row in cents. */
  unitPrice(row: Row): number
  /** The shipping model for a line of `qty` units, in cents. */
  shippingCost(row: Row, qty: number): number
  /** Retail price in cents; null when the document asks for none. */
  retailPrice: ((row: Row) => number) | null
}

export interface ViewInput {
  subscriberId: string
  document: ConfigurationDocument
  eligible: readonly EligibleDistributor[]
  ignoreRestrictions: boolean
}

/** A subscriber's prices on one snapshot; the same whether restrictions are ignored or not. */
export interface Prices {
  /** Dealer costs before handling, cents by row. */
  readonly costs: Int32Array
  /** As shown, cents by row. */
  readonly shown: Int32Array
  /** Rows in ascending order of what is shown; computed on first use. */
  order(): Uint32Array
}

export function makePrices(snapshot: Snapshot, input: ViewInput): Prices {
  const costs = costColumn(
    snapshot,
    input.subscriberId,
    input.document.pricing.cost_adjustments ?? [],
  )
  const shown = shownColumn(snapshot, costs, [...placed(snapshot, input.eligible).values()])
  let order: Uint32Array | undefined
  return {
    costs,
    shown,
    order: () =>
      (order ??= shown === snapshot.price ? snapshot.byPrice : sortByNumber(snapshot.byTie, shown)),
  }
}

/** The eligible distributors that the snapshot has offers of, by place. */
export function placed(
  snapshot: Snapshot,
  eligible: readonly EligibleDistributor[],
): Map<number, ViewDistributor> {
  return new Map(
    eligible
      .map(({ name, entry }) => ({ name, entry, place: snapshot.distids.indexOf(entry.distid) }))
      .filter(({ place }) => place >= 0)
      .map((distributor) => [distributor.place, distributor]),
  )
}

/**
 * Computes a view: about 14 ms per million offers. `previous` is the view of the same input on the
 * snapshot before; when only prices and stock have moved since, just the rows that changed are
 * judged again.
 */
export function makeView(
  snapshot: Snapshot,
  input: ViewInput,
  prices = makePrices(snapshot, input),
  previous?: View,
): View {
  const distributors = placed(snapshot, input.eligible)
  const { costs, shown } = prices
  const visible = visibleRows(snapshot, costs, input, distributors, previous)
  const models: ShippingModel[] = []
  for (const { place, entry } of distributors.values())
    models[place] = shippingModel(entry.shipping)
  let isCustom: boolean | undefined
  const shippingOf = (row: Row, qty: number) =>
    models[snapshot.distributor[row]!]!(
      {
        cost: costs[row]!,
        productClass: CLASS_CODES[snapshot.productClass[row]!]!,
        category: snapshot.categories[snapshot.category[row]!]!.name,
        feedEstimate: snapshot.shipping[row]!,
      },
      qty,
    )
  return {
    snapshot,
    visible,
    distributors,
    costs,
    total: visible.count(),
    customPricing: () =>
      (isCustom ??= shown !== snapshot.price && differs(visible, shown, snapshot.price)),
    prices: () => ({ column: shown, order: prices.order() }),
    unitPrice: (row) => shown[row]!,
    shippingCost: shippingOf,
    retailPrice: retailOf(snapshot, input.document.pricing, costs, shown, shippingOf),
  }
}

function differs(rows: Bits, a: Int32Array, b: Int32Array): boolean {
  let found = false
  rows.forEach((row) => !(found = a[row] !== b[row]))
  return found
}

function visibleRows(
  snapshot: Snapshot,
  costs: Int32Array,
  input: ViewInput,
  distributors: ReadonlyMap<number, ViewDistributor>,
  previous: View | undefined,
): Bits {
  const moved = previous && movedRows(previous, snapshot, input.subscriberId)
  if (!moved) return judge(snapshot, costs, input, distributors)
  const visible = previous.visible.copy()
  const among = costs === snapshot.price ? moved.price : pick(costs, moved.of)
  const seen = judge(moved, among, input, distributors)
  for (let place = 0; place < moved.rows; place++) {
    if (seen.has(place)) visible.add(moved.of[place]!)
    else visible.delete(moved.of[place]!)
  }
  return visible
}

/** Rows of eligible distributors that have a price and that no restriction hides. */
function judge(
  rows: RuleRows,
  costs: Int32Array,
  input: ViewInput,
  distributors: ReadonlyMap<number, ViewDistributor>,
): Bits {
  const visible = pricedRows(rows, costs, distributors.keys())
  if (!input.ignoreRestrictions) {
    for (const { hides } of viewRules(
      { snapshot: rows, costs, scope: visible.copy() },
      input.document,
      distributors.values(),
    ))
      visible.andNot(hides)
  }
  return visible
}

/** Moved rows are the same for every subscriber. */
const compared = new WeakMap<Snapshot, { revision: number; moved: Slice | null }>()
/**
 * Above so many moved rows, or this share of all, judging everything is no slower and holds the
 * loop for less.
 */
const MANY_ROWS = 100_000
const MANY_SHARE = 1 / 8
/** A catalog of so few rows is judged in no time either way. */
const FEW_ROWS = 1_000

/**
 * Rows whose price, stock or drop-ship flag moved; null when the rows themselves are others, or
 * prices of one's own may have moved.
 */
function movedRows(
  { snapshot: before }: View,
  after: Snapshot,
  subscriberId: string,
): Slice | null {
  if (before.textRevision !== after.textRevision || before.rows !== after.rows) return null
  if (before.ownPrices(subscriberId) || after.ownPrices(subscriberId)) return null
  const known = compared.get(after)
  if (known?.revision === before.revision) return known.moved
  const moved = differing(before, after)
  const slice =
    moved.length > Math.min(MANY_ROWS, after.rows * MANY_SHARE) && after.rows > FEW_ROWS
      ? null
      : sliceOf(after, Uint32Array.from(moved))
  // The number of the one before, not itself: each snapshot would keep its predecessor alive.
  compared.set(after, { revision: before.revision, moved: slice })
  return slice
}

/** Written out, since the first search after an update waits for a pass over all rows. */
function differing(before: Snapshot, after: Snapshot): number[] {
  const { price, qty, dropShip, rows } = after
  const [oldPrice, oldQty, oldDropShip] = [before.price, before.qty, before.dropShip]
  const moved: number[] = []
  for (let row = 0; row < rows;) {
    const flags = dropShip.words[row >>> 5]! ^ oldDropShip.words[row >>> 5]!
    for (const end = Math.min(row + 32, rows); row < end; row++) {
      if (
        price[row] !== oldPrice[row] ||
        qty[row] !== oldQty[row] ||
        ((flags >>> (row & 31)) & 1) === 1
      )
        moved.push(row)
    }
  }
  return moved
}

function pricedRows(snapshot: RuleRows, costs: Int32Array, places: Iterable<number>): Bits {
  const rows = new Bits(snapshot.rows)
  for (const place of places) rows.or(snapshot.distributorRows(place))
  // Rows without a price stand first in the order of price; own prices may have filled some of
  // them.
  if (costs === snapshot.price) {
    for (const row of snapshot.byPrice) {
      if (costs[row]! >= 0) break
      rows.delete(row)
    }
  } else {
    for (let row = 0; row < costs.length; row++) if (costs[row]! < 0) rows.delete(row)
  }
  return rows
}

/**
 * Every hiding rule of a document: the root layer's for all rows in scope, each distributor's for
 * its own.
 */
export function viewRules(
  input: LayerInput,
  document: ConfigurationDocument,
  distributors: Iterable<ViewDistributor>,
): HidingRule[] {
  const rules = layerRules(input, document.product_restrictions, '/product_restrictions')
  for (const { name, entry, place } of distributors) {
    const scope = input.snapshot.distributorRows(place).copy().and(input.scope)
    for (const rule of entryRules({ ...input, scope }, name, entry))
      rules.push({ ...rule, hides: rule.hides.and(scope) })
  }
  return rules
}

function retailOf(
  snapshot: Snapshot,
  pricing: ConfigurationDocument['pricing'],
  costs: Int32Array,
  shown: Int32Array,
  shippingOf: (row: Row, qty: number) => number,
): View['retailPrice'] {
  const rule = retailRule(pricing)
  if (!rule) return null
  let at = 0
  // One for all rows, which looks up no more than the rule asks for: most ask for three of these.
  const offer: Priced = {
    get distid() {
      return snapshot.distids[snapshot.distributor[at]!]!
    },
    get sku() {
      return snapshot.sku(at)
    },
    get upcKey() {
      return snapshot.upcKey[at]!
    },
    get brand() {
      return snapshot.brand[at] === snapshot.noBrand ? null : snapshot.brands[snapshot.brand[at]!]!
    },
    get category() {
      return snapshot.categories[snapshot.category[at]!]!.name
    },
    get productClass() {
      return CLASS_CODES[snapshot.productClass[at]!]!
    },
    get cost() {
      return costs[at]!
    },
    get unitPrice() {
      return shown[at]!
    },
    get shippingCost() {
      return shippingOf(at, 1)
    },
    get map() {
      return snapshot.map[at]!
    },
  }
  return (row) => {
    at = row
    return rule(offer)
  }
}
