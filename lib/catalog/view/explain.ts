/**
 * "Why is it hidden?": the offers of one UPC, each with everything that hides it from a subscriber.
 * The view's own rules judge them, as a small snapshot of their own, so that the answer is what
 * search shows.
 */
import { amount, figure } from '../../core/figures.js'
import { gtinKey } from '../../core/gtin.js'
import { toCents, toDollarsOrNull } from '../../core/money.js'
import type { ProductGroup, ProductRestrictions } from '../../configuration/document/document.js'
import { Bits } from '../snapshot/bits.js'
import { costColumn, shownColumn } from './costs.js'
import {
  LISTS,
  entryPointer,
  groupName,
  groupRows,
  groupsOf,
  hasBounds,
  includeLists,
  listed,
} from './restrictions.js'
import type { HidingRule, LayerInput, ListName, Rule } from './restrictions.js'
import { sliceOf } from '../snapshot/slice.js'
import type { Slice } from '../snapshot/slice.js'
import {
  brandOf,
  categoryOf,
  compareTies,
  distidOf,
  fragmentOf,
  productClassOf,
  stockOf,
} from '../snapshot/offer.js'
import type { Row, Snapshot } from '../snapshot/snapshot.js'
import { placed, viewRules } from './view.js'
import type { ViewInput } from './view.js'

export type ExplainInput = Omit<ViewInput, 'ignoreRestrictions'>

/** One reason why an offer is hidden. */
export interface Cause {
  /** JSON Pointer into the document; null where no member of it is the reason. */
  pointer: string | null
  reason: string
}

export interface Explanation {
  distid: string
  stockid: string
  distsku: string
  name: string
  visible: boolean
  /** Dollars, as shown; null where the subscriber has no price. */
  unit_price: number | null
  qty_on_hand: number
  /** Everything that hides it, so that who mends one knows of the next. */
  hidden_by: Cause[]
}

/**
 * Every offer of a UPC, visible or not, by (distid, stockid); none for a UPC that nobody has.
 * `nameOf` looks up the name of a fragment, which a snapshot does not hold.
 */
export function explainOffers(
  snapshot: Snapshot,
  input: ExplainInput,
  upc: string,
  nameOf: (fragment: number) => string,
): Explanation[] {
  const judged = judge(snapshot, input, upc)
  return judgedOffers(snapshot, input, judged)
    .sort((a, b) => compareTies(snapshot, a.row, b.row))
    .map(({ row, shown, causes }) => ({
      distid: distidOf(snapshot, row),
      stockid: snapshot.stockid(row),
      distsku: snapshot.sku(row),
      name: nameOf(fragmentOf(snapshot, row)),
      visible: causes.length === 0,
      unit_price: toDollarsOrNull(shown),
      qty_on_hand: stockOf(snapshot, row),
      hidden_by: causes,
    }))
}

/** Offers as places in a slice, and the rules over them. */
interface Judged {
  upc: string
  slice: Slice
  costs: Int32Array
  shown: Int32Array
  rules: HidingRule[]
}

/** One offer, by its place in the slice. */
interface JudgedOffer {
  row: Row
  place: number
  /** Cents, -1 where there is none. */
  cost: number
  shown: number
  causes: Cause[]
}

function judge(snapshot: Snapshot, input: ExplainInput, upc: string): Judged {
  const key = gtinKey(upc)
  const slice = sliceOf(snapshot, Uint32Array.from(key === null ? [] : snapshot.upcRows(key)))
  const own = snapshot.ownPrices(input.subscriberId)
  const ownPrices = () => own && Int32Array.from(slice.of, (row) => own[row]!)
  const costs = costColumn(
    { ...slice, ownPrices },
    input.subscriberId,
    input.document.pricing.cost_adjustments ?? [],
  )
  // Restrictions of an entry that is not eligible are told too; of two entries with one distid the
  // eligible one counts.
  const entries = Object.entries(input.document.distributors).map(([name, entry]) => ({
    name,
    entry,
  }))
  const distributors = [...placed(snapshot, [...entries, ...input.eligible]).values()]
  const judged = { upc, slice, costs, shown: shownColumn(slice, costs, distributors) }
  return { ...judged, rules: viewRules(layerInput(judged), input.document, distributors) }
}

/** All offers of the UPC, whether seen or not. */
function layerInput({ slice, costs }: Pick<Judged, 'slice' | 'costs'>): LayerInput {
  return { snapshot: slice, costs, scope: Bits.full(slice.rows) }
}

function judgedOffers(snapshot: Snapshot, input: ExplainInput, judged: Judged): JudgedOffer[] {
  const offers = Array.from(judged.slice.of, (row, place): JudgedOffer => {
    const cost = judged.costs[place]!
    const causes = distributorCauses(distidOf(snapshot, row), input)
    return {
      row,
      place,
      cost,
      shown: judged.shown[place]!,
      causes: cost < 0 ? [...causes, NO_PRICE] : causes,
    }
  })
  for (const { pointer, rule, hides } of judged.rules) {
    const causeOf = causeFinder(snapshot, judged, pointer, rule)
    for (const { place, cost, causes } of offers)
      // What has no price is outside of no range.
      if (hides.has(place) && (rule.kind !== 'cost' || cost >= 0)) causes.push(...causeOf(place))
  }
  return offers
}

const NO_PRICE: Cause = {
  pointer: null,
  reason: "it has no price: neither a feed of your own nor the operator's gives one",
}

/** Why nothing of a distributor is seen. */
function distributorCauses(distid: string, { document, eligible }: ExplainInput): Cause[] {
  if (eligible.some(({ entry }) => entry.distid === distid)) return []
  const entries = Object.entries(document.distributors).filter(
    ([, entry]) => entry.distid === distid,
  )
  const entry = entries.find(([, { active }]) => active) ?? entries[0]
  if (!entry)
    return [
      {
        pointer: null,
        reason: `${distid} is not configured: \`distributors\` has no entry for it`,
      },
    ]
  const [name, { active }] = entry
  return [
    active
      ? {
          pointer: entryPointer(name),
          reason:
            `the credentials of ${name} have not passed validation; ` +
            'call POST /v1/config/validate, which checks them',
        }
      : { pointer: `${entryPointer(name)}/active`, reason: `${name} is not active` },
  ]
}

/** Tells of one rule what it has against an offer that it hides. */
type Finder = (place: number) => Cause[]

function causeFinder(snapshot: Snapshot, judged: Judged, pointer: string, rule: Rule): Finder {
  const { slice, costs } = judged
  const own = (list: ListName, place: number) => ownValue(snapshot, judged, list, place)
  const one =
    (reasonOf: (place: number) => string): Finder =>
    (place) => [{ pointer, reason: reasonOf(place) }]
  switch (rule.kind) {
    case 'exclude':
      return excludeFinder(
        judged,
        pointer,
        rule,
        (place) => `its ${own(rule.list, place)} is excluded`,
      )
    case 'group':
      return one(
        (place) =>
          `it belongs to the excluded group "${rule.name}": ` +
          metCriteria(rule.criteria, place, judged, own),
      )
    case 'include':
      return includeFinder(judged, pointer, rule.layer, own)
    case 'quantity':
      return one(
        (place) =>
          `${stock(slice.qty[place]!)}, fewer than the ${rule.least} of min_quantity_to_list`,
      )
    case 'uncategorized':
      return one(() => 'it has no category, and include_uncategorized_product is off')
    case 'cost':
      return one(
        (place) =>
          `its dealer cost of ${amount(costs[place]!)} is outside of ` +
          `${amount(toCents(rule.range.min_distributor_cost))} to ` +
          `${amount(toCents(rule.range.max_distributor_cost))}`,
      )
    case 'drop_ship':
      return one(() => 'the distributor does not drop-ship it, and drop_ship_only_items is on')
  }
}

/** The very entries of the list that an offer is in: all of them would have to go. */
function excludeFinder(
  { slice }: Judged,
  pointer: string,
  { list, values }: Extract<Rule, { kind: 'exclude' }>,
  reasonOf: (place: number) => string,
): Finder {
  const entries = values.map((value, i) => ({
    at: `${pointer}/${i}`,
    rows: listed(slice, list, [value]),
  }))
  return (place) =>
    entries
      .filter(({ rows }) => rows.has(place))
      .map(({ at }) => ({ pointer: at, reason: reasonOf(place) }))
}

/**
 * Each include list and group that an offer fails. The pointer is that one's where it is the only
 * one.
 */
function includeFinder(
  judged: Judged,
  pointer: string,
  layer: ProductRestrictions,
  own: OwnValue,
): Finder {
  const rules = [
    ...includeLists(layer).map(([list, { include }]) => ({
      at: `${pointer}/${list}/include`,
      rows: listed(judged.slice, list, include!),
      reasonOf: (place: number) => `its ${own(list, place)} is not in ${list}.include`,
    })),
    ...groupsOf(layer, 'include').map(([i, group]) => ({
      at: `${pointer}/product_groups/${i}`,
      rows: groupRows(layerInput(judged), group),
      reasonOf: () => `it does not belong to the included group "${groupName(group, i)}"`,
    })),
  ]
  return (place) => {
    const failed = rules.filter(({ rows }) => !rows.has(place))
    const [first, ...others] = failed
    const reasons = failed.map(({ reasonOf }) => reasonOf(place)).join('; ')
    return [
      {
        pointer: first && others.length === 0 ? first.at : pointer,
        reason: `no include rule admits it: ${reasons}`,
      },
    ]
  }
}

/** The offer's own value of one kind of list, in words. */
type OwnValue = (list: ListName, place: number) => string

function ownValue(
  snapshot: Snapshot,
  { slice, upc }: Judged,
  list: ListName,
  place: number,
): string {
  const row = slice.of[place]!
  const brand = brandOf(snapshot, row)
  switch (list) {
    case 'sku':
      return `SKU "${snapshot.sku(row)}"`
    case 'upc':
      return `UPC ${upc}`
    case 'brand':
      return brand === null ? 'brand (none)' : `brand "${brand}"`
    case 'category':
      return `category "${categoryOf(snapshot, row)}"`
    case 'product_class':
      return `product class ${productClassOf(snapshot, row)}`
  }
}

function metCriteria(
  criteria: ProductGroup['criteria'],
  place: number,
  { slice, costs }: Judged,
  own: OwnValue,
): string {
  const met = LISTS.filter((list) => (criteria[list]?.length ?? 0) > 0).map(
    (list) => `its ${own(list, place)}`,
  )
  if (criteria.min_quantity_to_list !== undefined) met.push(stock(slice.qty[place]!))
  if (hasBounds(criteria)) met.push(`its dealer cost of ${amount(costs[place]!)}`)
  return met.join(', ')
}

function stock(qty: number): string {
  return qty > 1 ? `${figure(qty)} are in stock` : `${qty === 1 ? 'one' : 'none'} is in stock`
}
