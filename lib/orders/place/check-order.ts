/**
 * Everything that must hold before an order is written down. Nothing is written but what was
 * decided, nobody is asked.
 */
import { itemsOf } from '../../catalog/queries.js'
import type { Row, Snapshot } from '../../catalog/snapshot/snapshot.js'
import type { View } from '../../catalog/view/view.js'
import type { Saved } from '../../configuration/document/saved.js'
import type { OrdersCall } from '../ctx.js'
import { nextTurn } from '../../core/async/wait.js'
import { ApiError, invalid, isApiError, refusalOf } from '../../core/errors.js'
import type { Fault } from '../../core/errors.js'
import type { Mode } from '../../db/tables/column-types.js'
import type {
  Destination,
  Fulfillment,
  PurchaseOrder,
  PurchaseOrderLine,
} from '../../distributors/fulfillment.js'
import { together } from '../../db/together.js'
import { checkRestrictions } from '../../restrictions/check.js'
import type { CheckInput } from '../../restrictions/check.js'
import { placeOf } from '../../restrictions/destination.js'
import type { CheckResult } from '../../restrictions/shapes.js'
import { checkDealer, customerDestination, storeReceiver } from './check-destination.js'
import type { Receiver } from './check-destination.js'
import { checkDistributors, notConfigured } from './check-distributors.js'
import type { CartDistributor } from './check-distributors.js'
import { checkItems } from './check-items.js'
import type { KnownItem } from './check-items.js'
import { enforcesRestrictions } from './enforcement.js'
import type { PlaceBody } from '../shapes.js'
import { splitOrder } from './split.js'
import { fragmentOf } from '../../catalog/snapshot/offer.js'
import { present } from '../../core/present.js'

/** One fulfillment order to be. */
export interface CheckedGroup {
  distid: string
  distributor: string
  connector: Fulfillment
  settings: CartDistributor['settings']
  fflRequired: boolean
  sotRequired: boolean
  shipTo: Destination
  ffl: PurchaseOrder['ffl']
  lines: PurchaseOrderLine[]
  /** Cents, by the subscriber's shipping model. */
  shippingEstimate: number
}

export interface CheckedOrder {
  orderId: string
  mode: Mode
  shipToStore: boolean
  poNumber: string | null
  customer: Destination & { email: string }
  groups: CheckedGroup[]
  /** What the restriction rules say of the items, in their order. */
  restrictions: CheckResult
  /** Resolves once that is in the log of decisions. */
  logged: Promise<unknown>
}

/**
 * Checks an order against catalog, configuration, dealers and rules. Throws 400 `invalid_parameter`
 * with all faults at once, then 409 `fulfillment_not_configured`, then 409
 * `restricted_destination`, and 503 `feed_unavailable` without any catalog; before all that, and
 * before anything is logged, as `first` does.
 */
export async function checkOrder(
  ctx: OrdersCall,
  body: PlaceBody,
  first?: Promise<void>,
): Promise<CheckedOrder> {
  const logs: (() => Promise<void>)[] = []
  const examined = async () => {
    // A server that is asked first has the question by then, and answers meanwhile.
    if (first && ctx.engine.lead) await nextTurn()
    return examineOrder(ctx, body, (log) => void logs.push(log))
  }
  const [, order] = await together([first, examined()])
  const logged = together(logs.map((log) => log()))
  logged.catch(() => {})
  const { restrictions } = order
  if (restrictions.items.some(({ blocking_rules: rules }) => rules.length > 0)) {
    await logged
    if (await enforcesRestrictions(ctx))
      throw new ApiError('restricted_destination', { details: restrictions })
  }
  return { ...order, logged }
}

async function examineOrder(
  ctx: OrdersCall,
  body: PlaceBody,
  logLater: CheckInput['logLater'],
): Promise<Omit<CheckedOrder, 'logged'>> {
  const saved = await ctx.configurations.of(ctx.subscriber)
  const catalog = await catalogOf(ctx, saved)
  const { items, dealer } = await checkRequest(ctx, body, saved, catalog)
  const distids = new Set(items.map(({ distid }) => distid))
  const { mode, distributors } = checkDistributors(ctx, saved, distids)
  const store = body.ship_to_store ? await checkStore(ctx, saved, items) : null
  const customer = customerDestination(body)
  const receiverOf = (toDealer: boolean): Receiver => {
    if (store) return store
    if (!toDealer) return { shipTo: customer, ffl: null, isSot: false }
    if (!dealer) throw new Error('an item goes to a dealer that was not checked')
    return dealer
  }
  const restrictions = await checkDestinations(ctx, {
    items,
    snapshot: catalog.snapshot,
    receiverOf,
    toStore: store !== null,
    logLater,
  })
  return {
    orderId: body.order_id,
    mode,
    shipToStore: body.ship_to_store,
    poNumber: body.po_number,
    customer,
    restrictions,
    groups: groupsOf(items, { view: catalog.view, distributors, receiverOf, store }),
  }
}

interface OrderCatalog {
  snapshot: Snapshot
  /** Null where no distributor of the subscriber is validated. */
  view: View | null
}

async function catalogOf(ctx: OrdersCall, saved: Saved): Promise<OrderCatalog> {
  const view = await viewOf(ctx, saved)
  const snapshot = view?.snapshot ?? ctx.catalog.current()
  if (!snapshot) throw new ApiError('feed_unavailable')
  return { snapshot, view }
}

/** What is wrong with the request itself, all faults at once. */
async function checkRequest(
  ctx: OrdersCall,
  body: PlaceBody,
  { document }: Saved,
  { snapshot, view }: OrderCatalog,
): Promise<{ items: KnownItem[]; dealer: Receiver | null }> {
  const faults: Fault[] = []
  checkCustomerPlace(body, faults)
  const entryOf = (distid: string) =>
    Object.values(document.distributors).find((entry) => entry.distid === distid)
  const sources = { snapshot, view, document, entryOf, textOf: textsIn(ctx, snapshot) }
  const items = checkItems(ctx, body, sources, faults)
  const needsDealer = !body.ship_to_store && body.items.some(({ ffl_req: toDealer }) => toDealer)
  const dealer = needsDealer
    ? await checkDealer(ctx, body.ffl?.licenseNumber ?? undefined, faults)
    : null
  if (dealer && !dealer.isSot) {
    for (const { item, needsSot } of items)
      if (needsSot && item.ffl_req)
        faults.push({
          path: 'ffl.licenseNumber',
          message: `the dealer has no SOT on file, which ${item.distsku} needs`,
        })
  }
  checkPhone(ctx, body, items, faults)
  if (faults.length > 0) throw refusalOf('invalid_parameter', faults)
  return { items, dealer }
}

async function checkStore(
  ctx: OrdersCall,
  { document }: Saved,
  items: readonly KnownItem[],
): Promise<Receiver> {
  const store = await storeReceiver(ctx, document, {
    hasFirearms: items.some(({ fflRequired }) => fflRequired),
  })
  if (!store.isSot && items.some(({ needsSot }) => needsSot))
    throw notConfigured({
      distid: null,
      distributor: null,
      reason: 'it has no SOT on file, which an item needs',
    })
  return store
}

interface GroupSources {
  view: View | null
  distributors: ReadonlyMap<string, CartDistributor>
  receiverOf: (toDealer: boolean) => Receiver
  store: Receiver | null
}

/** The fulfillment orders that the items make. */
function groupsOf(
  items: readonly KnownItem[],
  { view, distributors, receiverOf, store }: GroupSources,
): CheckedGroup[] {
  const lines = items.map(({ distid, distsku, upc, item: { qty }, fflRequired }) => ({
    distid,
    distsku,
    upc,
    qty,
    fflRequired,
  }))
  const itemOf = (distid: string, distsku: string) =>
    items.find((item) => item.distid === distid && item.distsku === distsku)
  return splitOrder(lines, store !== null).map((group) => {
    const distributor = distributors.get(group.distid)
    // Both were checked: an item without them was refused.
    if (!distributor || !view) throw new Error(`${group.distid} was not checked`)
    const known = group.lines.flatMap((line) => {
      const item = itemOf(group.distid, line.distsku)
      return item ? [{ line, item }] : []
    })
    const { shipTo, ffl } = receiverOf(group.fflRequired)
    return {
      distid: group.distid,
      distributor: distributor.name,
      connector: distributor.connector,
      settings: distributor.settings,
      fflRequired: group.fflRequired,
      sotRequired: known.some(({ item }) => item.needsSot),
      shipTo,
      ffl: ffl && (group.fflRequired || store) ? ffl : null,
      lines: known.map(({ line, item }) => ({
        distsku: item.distsku,
        upc: item.upc,
        name: item.name,
        qty: line.qty,
        unitPrice: view.unitPrice(item.row),
        fflRequired: item.needsFfl,
      })),
      shippingEstimate: known.reduce(
        (sum, { line, item }) => sum + view.shippingCost(item.row, line.qty),
        0,
      ),
    }
  })
}

/**
 * The subscriber's view without its restrictions, which do not hide an item from an order; null
 * where none is validated.
 */
async function viewOf(ctx: OrdersCall, saved: Saved): Promise<View | null> {
  return ctx.catalog.view(ctx.subscriber, true, saved).catch((error: unknown) => {
    if (
      isApiError(error) &&
      (error.code === 'no_active_distributors' || error.code === 'no_validated_distributors')
    )
      return null
    throw error
  })
}

function textsIn(
  ctx: OrdersCall,
  snapshot: Snapshot,
): (row: Row) => { name: string; upc: string | null } {
  const read = itemsOf(ctx.engine.catalog)
  return (row) => {
    const text = read(fragmentOf(snapshot, row))
    // Only a catalog file that was removed under a running server loses a fragment that a snapshot
    // names.
    if (!text) throw new ApiError('feed_unavailable')
    return text
  }
}

/** State and ZIP must be such, and lie in one another. */
function checkCustomerPlace({ customer }: PlaceBody, faults: Fault[]): void {
  try {
    placeOf(
      { state: customer.state, city: customer.city, zip: customer.zip, lines: [customer.address1] },
      'customer',
    )
  } catch (error) {
    if (!isApiError(error)) throw error
    faults.push(...(error.details as Fault[]))
  }
}

function checkPhone(
  ctx: OrdersCall,
  { customer, ship_to_store: toStore }: PlaceBody,
  items: readonly KnownItem[],
  faults: Fault[],
): void {
  if (customer.phone !== null) return
  const asking = new Set(
    items
      .filter(({ distid, fflRequired }) => {
        const distributor = ctx.distributors.byDistid(distid)
        const needs = (
          ctx.modes.of(distid) === 'live' ? distributor?.fulfillment : distributor?.simulator
        )?.limits.needsConsumerPhone
        return needs === 'always' || (needs === 'ffl' && (fflRequired || toStore))
      })
      .map(({ distid }) => distid),
  )
  if (asking.size > 0)
    faults.push({ path: 'customer.phone', message: `is required by ${[...asking].join(', ')}` })
}

interface Destinations {
  items: readonly KnownItem[]
  snapshot: Snapshot
  receiverOf: (toDealer: boolean) => Receiver
  toStore: boolean
  logLater: CheckInput['logLater']
}

/** Each item against the place that it really goes to. */
async function checkDestinations(
  ctx: OrdersCall,
  { items, snapshot, receiverOf, toStore, logLater }: Destinations,
): Promise<CheckResult> {
  const results: CheckResult['items'] = []
  for (const toDealer of [false, true]) {
    const group = items
      .map((item, i) => ({ item, i }))
      .filter(({ item }) => item.fflRequired === toDealer)
    if (group.length === 0) continue
    const {
      shipTo: { state, city, zip, address1, address2 },
    } = receiverOf(toDealer)
    const check = await checkRestrictions(ctx, ctx.subscriber, {
      shipping: { state, city, zip, lines: [address1, address2 ?? ''] },
      snapshot,
      target: 'placement',
      ...(logLater && { logLater }),
      items: group.map(({ item: { upc, distid, distsku } }) => ({
        upc,
        sku: distsku,
        distid,
        product_class: undefined,
        category: undefined,
        attributes: undefined,
        to: toDealer || toStore ? 'ffl' : 'consumer',
      })),
    }).catch((error: unknown) => {
      throw isApiError(error) && error.code === 'invalid_parameter'
        ? badAddress(error, toStore)
        : error
    })
    group.forEach(({ i }, at) => {
      results[i] = present(check.items[at], `the verdict on item ${i}`)
    })
  }
  return { approved: results.every(({ approved }) => approved), items: results }
}

/**
 * An address of the directory or the configuration that cannot be one is none of the caller's
 * members.
 */
function badAddress({ message }: ApiError, toStore: boolean): ApiError {
  const reason = `its address cannot be right (${message.replace(/^shipping\./, '')})`
  return toStore
    ? notConfigured({ distid: null, distributor: null, reason })
    : invalid('ffl.licenseNumber', `the dealer: ${reason}`)
}
