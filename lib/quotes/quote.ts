/**
 * The cheapest fulfillment source of each line, and the plan that follows from it (contract
 * "Quote"). Cents until the answer is written.
 */
import { gtinKey } from '../core/gtin.js'
import { toDollars, toDollarsOrNull } from '../core/money.js'
import type { ConfigurationDocument } from '../configuration/document/document.js'
import type { Row } from '../catalog/snapshot/snapshot.js'
import type { View, ViewDistributor } from '../catalog/view/view.js'
import type { FindBlockers, QuotedItem } from './blockers.js'
import type { Blocker, Option, Quote, UNFULFILLABLE } from './shapes.js'
import { compareTies, stockOf } from '../catalog/snapshot/offer.js'
import { present } from '../core/present.js'

export interface Line {
  upc: string
  qty: number
}

type Reason = (typeof UNFULFILLABLE)[number]

/** One way to fill one line. */
interface Candidate {
  row: Row
  qty: number
  unitPrice: number
  shipping: number
  total: number
  /** What the lines before this one left. */
  stock: number
}

/** What the lines before have used up. */
interface Taken {
  /** Units of each offer. */
  stock: Map<Row, number>
  /** Units of each order line: lines with one distsku are merged, also over warehouses. */
  lines: Map<string, number>
}

const orderLineOf = ({ snapshot }: View, row: Row) =>
  `${snapshot.distributor[row]} ${snapshot.sku(row)}`

const MAX_ALTERNATIVES = 5
const NOTE =
  'Shipping is estimated line by line and summed per distributor; what ships together may ' +
  'cost less.'

/** Quotes lines in the order given: each against the stock that the ones before it left. */
export function quoteLines(
  view: View,
  document: ConfigurationDocument,
  lines: readonly Line[],
  blockersOf: FindBlockers = (items) => items.map(() => []),
): Quote {
  const taken: Taken = { stock: new Map(), lines: new Map() }
  const chosen: { line: Line; best: Candidate }[] = []
  const items: Quote['items'] = []
  const unfulfillable: Quote['unfulfillable'] = []
  for (const line of lines) {
    const found = candidates(view, document, line, taken)
    const [best, ...others] = typeof found === 'string' ? [] : found
    if (best) {
      taken.stock.set(best.row, (taken.stock.get(best.row) ?? 0) + line.qty)
      const orderLine = orderLineOf(view, best.row)
      taken.lines.set(orderLine, (taken.lines.get(orderLine) ?? 0) + line.qty)
      chosen.push({ line, best })
    } else {
      unfulfillable.push({ ...line, reason: found as Reason })
    }
    const optionOf = (candidate: Candidate) =>
      toOption(
        view,
        candidate,
        present(blockersOf([itemOf(view, line, candidate)])[0], 'what keeps an item from an order'),
      )
    items.push({
      upc: line.upc,
      qty: line.qty,
      best: best ? optionOf(best) : null,
      alternatives: others.slice(0, MAX_ALTERNATIVES).map(optionOf),
    })
  }
  return {
    fulfillable: unfulfillable.length === 0,
    plan: planOf(view, chosen, blockersOf),
    items,
    unfulfillable,
  }
}

/** Every offer that can fill the line, cheapest first; or why there is none. */
function candidates(
  view: View,
  document: ConfigurationDocument,
  { upc, qty }: Line,
  taken: Taken,
): Candidate[] | Reason {
  const key = gtinKey(upc)
  const offers =
    key === null ? [] : view.snapshot.upcRows(key).filter((row) => view.visible.has(row))
  if (offers.length === 0) return 'upc_not_found'
  const stocked = offers.filter(
    (row) => stockOf(view.snapshot, row) - (taken.stock.get(row) ?? 0) >= qty,
  )
  if (stocked.length === 0) return 'insufficient_stock'
  const allowed = stocked.filter(
    (row) =>
      (taken.lines.get(orderLineOf(view, row)) ?? 0) + qty <=
      purchaseLimit(document, distributorOf(view, row)),
  )
  if (allowed.length === 0) return 'purchase_limit_exceeded'
  return allowed
    .map((row) => candidate(view, row, qty, taken.stock.get(row) ?? 0))
    .sort((a, b) => compare(view, a, b))
}

function candidate(view: View, row: Row, qty: number, taken: number): Candidate {
  const unitPrice = view.unitPrice(row)
  const shipping = view.shippingCost(row, qty)
  return {
    row,
    qty,
    unitPrice,
    shipping,
    total: unitPrice * qty + shipping,
    stock: stockOf(view.snapshot, row) - taken,
  }
}

/** Cheapest line first; ties: higher stock, then distid, then stockid. */
function compare({ snapshot }: View, a: Candidate, b: Candidate): number {
  return a.total - b.total || b.stock - a.stock || compareTies(snapshot, a.row, b.row)
}

function distributorOf(view: View, row: Row): ViewDistributor {
  return present(
    view.distributors.get(view.snapshot.distributor[row]!),
    `the distributor of row ${row}`,
  )
}

/** The stricter of the root's and the distributor's limit of one order line. */
export function purchaseLimit(document: ConfigurationDocument, { entry }: ViewDistributor): number {
  return Math.min(
    document.product_restrictions.purchase_limit ?? Infinity,
    entry.product_restrictions.purchase_limit ?? Infinity,
  )
}

/** As an order would name it. */
function itemOf(view: View, { upc }: Line, { row, qty }: Candidate): QuotedItem {
  return {
    distid: distributorOf(view, row).entry.distid,
    distsku: view.snapshot.sku(row),
    upc,
    qty,
  }
}

function toOption(
  view: View,
  { row, unitPrice, shipping, total }: Candidate,
  blockers: Blocker[],
): Option {
  const { snapshot } = view
  const { name, entry } = distributorOf(view, row)
  return {
    distid: entry.distid,
    distributor: name,
    distsku: snapshot.sku(row),
    qty_on_hand: stockOf(snapshot, row),
    unit_price: toDollars(unitPrice),
    shipping_cost: toDollars(shipping),
    map_price: toDollarsOrNull(snapshot.map[row]!),
    msrp: toDollarsOrNull(snapshot.msrp[row]!),
    drop_ship_flg: snapshot.dropShip.has(row) ? 1 : 0,
    line_total: toDollars(total),
    order_blockers: blockers,
  }
}

/** Each line's best, grouped by distributor in the order in which they first appear. */
function planOf(
  view: View,
  chosen: readonly { line: Line; best: Candidate }[],
  blockersOf: FindBlockers,
): Quote['plan'] {
  const groups = new Map<
    string,
    { name: string; lines: { line: Line; best: Candidate }[]; blockers: Blocker[] }
  >()
  const blockers = blockersOf(chosen.map(({ line, best }) => itemOf(view, line, best)))
  for (const [i, entry] of chosen.entries()) {
    const {
      name,
      entry: { distid },
    } = distributorOf(view, entry.best.row)
    const group = groups.get(distid) ?? { name, lines: [], blockers: [] }
    group.lines.push(entry)
    for (const blocker of present(blockers[i], `what keeps item ${i} from an order`))
      if (!group.blockers.some(({ message }) => message === blocker.message))
        group.blockers.push(blocker)
    groups.set(distid, group)
  }
  const sum = (lines: { best: Candidate }[], pick: (best: Candidate) => number) =>
    lines.reduce((total, { best }) => total + pick(best), 0)
  return {
    orders: [...groups].map(([distid, { name, lines, blockers: found }]) => ({
      distid,
      distributor: name,
      items: lines.map(({ line, best }) => ({
        upc: line.upc,
        distsku: view.snapshot.sku(best.row),
        qty: line.qty,
        unit_price: toDollars(best.unitPrice),
        line_total: toDollars(best.unitPrice * line.qty),
      })),
      product_subtotal: toDollars(sum(lines, (best) => best.unitPrice * best.qty)),
      shipping_estimate: toDollars(sum(lines, (best) => best.shipping)),
      order_blockers: found,
    })),
    total_estimate: toDollars(chosen.reduce((total, { best }) => total + best.total, 0)),
    note: NOTE,
    orderable: chosen.length > 0 && blockers.every((found) => found.length === 0),
  }
}
