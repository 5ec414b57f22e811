/** Are the items of an order what the catalog has? */
import { distidOf, productClassOf, stockOf, upcKeyOf } from '../../catalog/snapshot/offer.js'
import type { Row, Snapshot } from '../../catalog/snapshot/snapshot.js'
import type { View } from '../../catalog/view/view.js'
import type {
  ConfigurationDocument,
  DistributorEntry,
} from '../../configuration/document/document.js'
import type { OrdersCtx } from '../ctx.js'
import type { Fault } from '../../core/errors.js'
import { gtinKey } from '../../core/gtin.js'

/** An item as an order names it (contract "Place order"). */
export interface OrderedItem {
  distid: string
  distsku: string
  upc: string
  qty: number
  ffl_req: boolean
}

export interface OrderedItems {
  items: readonly OrderedItem[]
  ship_to_store: boolean
}

/** Why an item cannot be ordered; a quote tells the code beforehand. */
export interface ItemProblem {
  /** Its index in the order. */
  item: number
  member: keyof OrderedItem
  code:
    | 'unknown_item'
    | 'ffl_required'
    | 'not_drop_shippable'
    | 'insufficient_stock'
    | 'purchase_limit_exceeded'
  message: string
}

/** An item as the catalog knows it. */
export interface KnownItem {
  item: OrderedItem
  distid: string
  distsku: string
  /** As the catalog has it; empty where it has none. */
  upc: string
  name: string
  /** The stock item that prices come from. */
  row: Row
  /** The offer or its class says that it goes to a dealer only. */
  needsFfl: boolean
  /** Goes to a dealer that may receive NFA items only. */
  needsSot: boolean
  /** Will be sent to a dealer, or counts as such on its way to the store. */
  fflRequired: boolean
}

export interface ItemSources {
  snapshot: Snapshot
  /**
   * Null where the subscriber has none at the moment; its distributors are then refused as a whole.
   */
  view: View | null
  document: ConfigurationDocument
  entryOf: (distid: string) => DistributorEntry | undefined
  /** Name and UPC of a row, as its feed has them. */
  textOf: (row: Row) => { name: string; upc: string | null }
}

/** Lines of one distsku count together. */
interface Wanted {
  qty: number
  stock: number
  limit: number
  /** Its first line. */
  at: number
}

/** Finds the items in the catalog. Every item that does not fit adds a fault that names it. */
export function checkItems(
  ctx: Pick<OrdersCtx, 'distributors'>,
  order: OrderedItems,
  sources: ItemSources,
  faults: Fault[],
): KnownItem[] {
  const { known, problems } = itemProblems(ctx, order, sources)
  faults.push(
    ...problems.map(({ item, member, message }) => ({ path: `items[${item}].${member}`, message })),
  )
  return known
}

/** The items that the catalog knows, and what keeps each of the others from being ordered. */
export function itemProblems(
  ctx: Pick<OrdersCtx, 'distributors'>,
  { items, ship_to_store: toStore }: OrderedItems,
  sources: ItemSources,
): { known: KnownItem[]; problems: ItemProblem[] } {
  const known: KnownItem[] = []
  const problems: ItemProblem[] = []
  const wanted = new Map<string, Wanted>()
  items.forEach((item, i) => {
    const at = (
      member: ItemProblem['member'],
      message: string,
      code: ItemProblem['code'] = 'unknown_item',
    ) => void problems.push({ item: i, member, code, message })
    if (!ctx.distributors.byDistid(item.distid))
      return at(
        'distid',
        `"${item.distid}" is not a distributor; take distid and distsku from a quote's best`,
      )
    const named = rowsNamed(sources, item)
    if (named.length === 0) return at('distsku', `${item.distid} has no item "${item.distsku}"`)
    const rows = named.filter((row) => fitsUpc(sources.snapshot, row, item.upc))
    if (rows.length === 0)
      return at('upc', `"${item.upc}" is not the UPC of ${item.distid} ${item.distsku}`)
    const found = knownItem(item, rows, sources, toStore)
    if (found.needsFfl && !item.ffl_req && !toStore)
      return at('ffl_req', 'must be true: this item goes to a licensed dealer only', 'ffl_required')
    const shippable =
      toStore || found.fflRequired ? rows : rows.filter((row) => sources.snapshot.dropShip.has(row))
    if (shippable.length === 0)
      return at(
        'distsku',
        `${item.distid} does not ship "${item.distsku}" to customers; order it to the store, ` +
          'or from another distributor',
        'not_drop_shippable',
      )
    count(wanted, sources, { item: found, rows: shippable, at: i })
    known.push(found)
  })
  for (const { qty, stock, limit, at } of wanted.values()) {
    const about = { item: at, member: 'qty' as const }
    if (qty > limit)
      problems.push({
        ...about,
        code: 'purchase_limit_exceeded',
        message: `${qty} is more than the purchase limit of ${limit}`,
      })
    else if (qty > stock)
      problems.push({
        ...about,
        code: 'insufficient_stock',
        message: `${qty} is more than the stock of ${stock}`,
      })
  }
  return { known, problems }
}

/** The distributor's stock items of a SKU: of this very spelling, else whatever its case. */
function rowsNamed(sources: ItemSources, { distid, distsku }: OrderedItem): Row[] {
  const { snapshot } = sources
  const rows = snapshot
    .skuRows(distsku)
    .filter((row) => distidOf(snapshot, row) === distid && isPriced(sources, row))
  const exact = rows.filter((row) => snapshot.sku(row) === distsku)
  return exact.length > 0 ? exact : rows
}

/** Without a view there are no prices to ask for. */
function isPriced({ view, snapshot }: ItemSources, row: Row): boolean {
  return !view || !view.distributors.has(snapshot.distributor[row]!) || view.costs[row]! >= 0
}

/** An item without a UPC is ordered with an empty one. */
function fitsUpc(snapshot: Snapshot, row: Row, upc: string): boolean {
  const key = upcKeyOf(snapshot, row)
  return key === 0 ? upc.trim() === '' : gtinKey(upc) === key
}

function knownItem(
  item: OrderedItem,
  rows: readonly Row[],
  { snapshot, textOf }: ItemSources,
  toStore: boolean,
): KnownItem {
  const needsSot = rows.some((row) => productClassOf(snapshot, row) === 'SO')
  const needsFfl =
    needsSot ||
    rows.some((row) => snapshot.fflReq.has(row) || productClassOf(snapshot, row) === 'FA')
  const row = rows.reduce((best, other) =>
    stockOf(snapshot, other) > stockOf(snapshot, best) ? other : best,
  )
  const { name, upc } = textOf(row)
  // As the distributor writes it, whatever the case of the request.
  return {
    item,
    distid: item.distid,
    distsku: snapshot.sku(row),
    upc: upc ?? '',
    name,
    row,
    needsFfl,
    needsSot,
    fflRequired: item.ffl_req || (toStore && needsFfl),
  }
}

/**
 * Lines of one distsku become one; its stock is that of all the distributor's stock items that can
 * be shipped there.
 */
function count(
  wanted: Map<string, Wanted>,
  { snapshot, document, entryOf }: ItemSources,
  { item, rows, at }: { item: KnownItem; rows: readonly Row[]; at: number },
): void {
  const { distid, distsku } = item
  const key = `${distid} ${distsku}`
  const before = wanted.get(key)
  const limit = Math.min(
    document.product_restrictions.purchase_limit ?? Infinity,
    entryOf(distid)?.product_restrictions.purchase_limit ?? Infinity,
  )
  const stock = rows.reduce((sum, row) => sum + Math.max(0, stockOf(snapshot, row)), 0)
  // Of two lines, the one that may be taken from fewer stock items sets the bound.
  wanted.set(key, {
    qty: (before?.qty ?? 0) + item.item.qty,
    stock: Math.min(stock, before?.stock ?? Infinity),
    limit,
    at: before?.at ?? at,
  })
}
