/** Iterators over what comes in pages, from a server or from the library. */
import type { Shop } from '../app/shop.js'

type Input<F extends (input: never) => unknown> = Exclude<Parameters<F>[0], undefined>
type Yielded<F extends (input: never) => unknown, M extends string> =
  Awaited<ReturnType<F>> extends Record<M, (infer E)[]> ? E : never

type HistoryFilters = Omit<
  Input<Shop['fulfillment']['history']>,
  'limit' | 'offset' | 'include_errors'
>
type ListFilters = Omit<Input<Shop['orders']['list']>, 'limit' | 'offset' | 'sort'>
type None<T> = { [K in keyof T]?: never }

/**
 * The filters of `GET /v1/fulfillment/history`, or `search` and `direction` of `GET /v1/orders`;
 * and the records of a page, 2 to 100.
 */
export type OrderQuery = (
  | (HistoryFilters & None<ListFilters>)
  | (ListFilters & None<HistoryFilters>)
) & { page_size?: number }
/** The parameters of `GET /v1/products/search`; and the offers of a page, 1 to 100. */
export type OfferQuery = Omit<Input<Shop['products']['search']>, 'page'>

export type Order = Yielded<Shop['orders']['list'], 'orders'>
export type Offer = Yielded<Shop['products']['search'], 'products'>

const MOST = 100

/**
 * Every fulfillment order that fits, the newest first (with `direction: 'asc'` the oldest first),
 * read page by page as it is asked for (contract "Order history and tracking").
 *
 * Each record that is there from beginning to end comes once, whatever is placed, refused or
 * changed meanwhile. One that comes later may or may not be among them; one that changes comes as
 * it was when its page was read. Throws what the calls throw, and a RangeError for filters that no
 * one call takes.
 */
export async function* eachOrder(
  shop: Shop,
  query: OrderQuery = {},
): AsyncGenerator<Order, void, undefined> {
  const { page_size: size = MOST, search, direction, ...filters } = query
  if (!Number.isInteger(size) || size < 2 || size > MOST)
    throw new RangeError('page_size must be a whole number from 2 to 100')
  const isList = search !== undefined || direction !== undefined
  if (isList && Object.values(filters).some((value) => value !== undefined))
    throw new RangeError(
      'search and direction go with no other filter: GET /v1/orders and GET ' +
        '/v1/fulfillment/history are two calls',
    )
  const read = async (offset: number) =>
    isList
      ? shop.orders.list({
          ...(search !== undefined && { search }),
          direction: direction ?? 'desc',
          sort: 'order_date',
          limit: size,
          offset,
        })
      : shop.fulfillment.history({ ...filters, include_errors: false, limit: size, offset })
  const passed = passedOrders(direction ?? 'desc')
  for (let offset = 0; ;) {
    const { orders } = await read(offset)
    // Each page begins with the last record of the one before it. Where it does not, records before
    // it went away, and others moved up unseen.
    const [first] = orders
    if (offset > 0 && (!first || passed.isNew(first))) {
      offset = Math.max(0, offset - size + 1)
      continue
    }
    for (const order of orders) {
      if (!passed.isNew(order)) continue
      passed.note(order)
      yield order
    }
    if (orders.length < size) return
    offset += size - 1
  }
}

/**
 * Tells what an iteration has passed: all up to the date of the last record, and of that very
 * second those that were seen.
 */
function passedOrders(direction: 'asc' | 'desc') {
  let date: string | null = null
  const ofDate = new Set<string>()
  // Numbers, statuses and tracking come later, so they name nothing.
  const nameOf = (order: Order) =>
    JSON.stringify([
      order.order_id,
      order.distid,
      order.ffl_required,
      order.ship_to_store,
      order.po_number,
      order.dist_order_items,
    ])
  return {
    isNew: (order: Order) =>
      date === null ||
      (order.order_date === date
        ? !ofDate.has(nameOf(order))
        : order.order_date < date === (direction === 'desc')),
    note(order: Order) {
      if (order.order_date !== date) ofDate.clear()
      date = order.order_date
      ofDate.add(nameOf(order))
    },
  }
}

/** Rows that paging reaches (contract "Product search"). */
const DEPTH = 10_000

/**
 * Every offer that fits, in the order of the search, read page by page as it is asked for (contract
 * "Product search").
 *
 * Search reaches 10,000 rows: who asks for one beyond them gets a RangeError, since the whole
 * catalog is what `downloadCatalog` is for. No offer comes twice; when the catalog changes between
 * two pages, one that moved may be missed.
 */
export async function* eachOffer(
  shop: Shop,
  query: OfferQuery = {},
): AsyncGenerator<Offer, void, undefined> {
  const { page_size: size = MOST, ...rest } = query
  const seen = new Set<string>()
  for (let [page, rows] = [1, size]; ; page++) {
    // Pages of other sizes than 100 need not end where search does.
    if (page > 1 && page * rows > DEPTH) [page, rows] = [DEPTH / MOST, MOST]
    const { products, total } = await shop.products.search({ ...rest, page, page_size: rows })
    for (const offer of products) {
      const name = JSON.stringify([offer.distid, offer.stockid])
      if (seen.has(name)) continue
      seen.add(name)
      yield offer
    }
    if (page * rows >= total) return
    if (page * rows >= DEPTH)
      throw new RangeError(
        `${total} offers fit, and search reaches ${DEPTH} of them: narrow the search, or take ` +
          'the whole catalog with downloadCatalog',
      )
  }
}
