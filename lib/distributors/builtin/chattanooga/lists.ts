/** Lists of Chattanooga's API: page by page, and the orders and parcels in them. */
import { DAY } from '../../../core/clock.js'
import type { FoundOrder, Parcel } from '../../fulfillment.js'
import { listOf, memberOf, NoReply, textOf } from '../../session/reply.js'
import type { Session } from '../../session/session.js'
import { trackingUrl } from '../../tracking-url.js'
import { get, numberOf } from './api.js'

/** Orders, and purchase orders with shipments, that a page has at most. */
const ORDERS_A_PAGE = 20
export const SHIPMENTS_A_PAGE = 25
/** Pages of one list that are read: 4,000 orders. */
export const MOST_PAGES = 200
/** A list whose dates are days, in some time zone, may show an order as earlier than it was sent. */
const CLOCKS_DIFFER = 3 * DAY

/** An order in the list. */
export interface Listed extends FoundOrder {
  readonly number: string
  /** In Chattanooga's words, where it tells one. */
  readonly status: string | null
}

/**
 * The orders of the account, with those that have no shipment yet. Reads the whole list, unless it
 * is surely newest first: then those that were made before `since` (milliseconds since 1970) are
 * left out. Throws a NoReply where not all of it can be read: what may be in the rest nobody knows.
 */
export async function listOrders(session: Session, since: number): Promise<Listed[]> {
  const orders: Listed[] = []
  const pages = pagesOf(session, 'orders', { query: {}, perPage: ORDERS_A_PAGE })
  for await (const rows of pages) {
    orders.push(...rows.map(listedFrom))
    if (isPast(orders, since)) break
  }
  return orders
}

/**
 * Whether what follows was all made before: every date is told, none is later than the one above
 * it, and they do go down. A list that is oldest first begins with old orders too.
 */
function isPast(orders: readonly Listed[], since: number): boolean {
  const dates = orders.map(({ placedAt }) => placedAt)
  const [first, last] = [dates[0], dates.at(-1)]
  if (first === undefined || last === undefined || last >= since - CLOCKS_DIFFER) return false
  return (
    first > last && dates.every((date, i) => date !== undefined && date <= (dates[i - 1] ?? date))
  )
}

/** The rows of a list, page by page. Throws a NoReply. */
export async function* pagesOf(
  session: Session,
  list: string,
  { query, perPage }: { query: Readonly<Record<string, string>>; perPage: number },
  member = list,
): AsyncGenerator<readonly unknown[]> {
  const unread = (why: string) => new NoReply(why, { mayHaveArrived: true })
  for (let page = 1; page <= MOST_PAGES; page++) {
    const asked = new URLSearchParams({
      ...query,
      page: String(page),
      per_page: String(perPage),
    })
    const body = await get(session, `${list}?${asked}`)
    const rows = memberOf(body, member)
    const told = memberOf(body, 'pagination')
    const [shown, count] = [memberOf(told, 'page'), memberOf(told, 'page_count')].map(countOf)
    if (!Array.isArray(rows)) throw unread(`the reply has no list of ${member}`)
    if (count === null) throw unread(`the list of ${member} does not say how many pages it has`)
    if (shown !== null && shown !== page)
      throw unread(`page ${page} of the list of ${member} was asked for, and page ${shown} came`)
    if (rows.length === 0 && page < count!)
      throw unread(`page ${page} of ${count} of the list of ${member} is empty`)
    yield rows as unknown[]
    if (page >= count!) return
  }
  throw unread(`the list of ${member} has more than ${MOST_PAGES} pages`)
}

function countOf(value: unknown): number | null {
  const text = textOf(value)
  return text !== null && /^\d+$/.test(text) ? Number(text) : null
}

/** Where it was, or may be, told when an order was made. */
const DATES = ['order_date', 'ordered_at', 'placed_at', 'created_at', 'created_date']

/** Throws a NoReply for an order that does not say which it is: it may be the one looked for. */
function listedFrom(row: unknown): Listed {
  const number = numberOf(row)
  const po = memberOf(row, 'purchase_order_number')
  if (number === null || po === undefined)
    throw new NoReply('the list of orders has one without a number or a purchase order number', {
      mayHaveArrived: true,
    })
  const lines = linesOf(memberOf(row, 'order_items'))
  const clientRef = referenceIn(memberOf(row, 'order_items'))
  const placedAt = DATES.map((name) => momentOf(memberOf(row, name))).find((at) => at !== null)
  const shipTo = addressIn(memberOf(row, 'ship_to_address'))
  return {
    number,
    // An order by telephone may have none.
    po: textOf(po) ?? '',
    status: textOf(memberOf(row, 'status')) ?? textOf(memberOf(row, 'order_status')),
    ...(lines && { lines }),
    ...(clientRef !== undefined && { clientRef }),
    ...(placedAt !== undefined && placedAt !== null && { placedAt }),
    ...(shipTo && { shipTo }),
  }
}

/** Nothing where one of them cannot be read: a part proves as little as none. */
function linesOf(items: unknown): Listed['lines'] {
  if (!Array.isArray(items)) return undefined
  const lines = (items as unknown[]).map((item) => ({
    distsku: textOf(memberOf(item, 'item_number')) ?? '',
    qty: Number(textOf(memberOf(item, 'order_quantity')) ?? NaN),
  }))
  const isRead = lines.every(({ distsku, qty }) => distsku !== '' && Number.isSafeInteger(qty))
  return isRead && lines.length > 0 ? lines : undefined
}

/** References of ours have 20 letters and digits. One that was cut off proves nothing. */
function referenceIn(items: unknown): string | undefined {
  const told = listOf(items).map((item) => textOf(memberOf(item, 'customer_reference')) ?? '')
  const [first] = told
  const isOne = told.every((one) => one.toUpperCase() === first?.toUpperCase())
  return isOne && /^[0-9A-Z]{20}$/i.test(first ?? '') ? first : undefined
}

function addressIn(address: unknown): Listed['shipTo'] {
  const [name, address1, zip] = ['name', 'line_1', 'zip'].map((member) =>
    textOf(memberOf(address, member)),
  )
  const told = { ...(name && { name }), ...(address1 && { address1 }), ...(zip && { zip }) }
  return Object.keys(told).length > 0 ? told : undefined
}

/** Milliseconds since 1970; null for what is no date. Without a time zone it is taken for UTC. */
function momentOf(value: unknown): number | null {
  const text = typeof value === 'string' ? value.trim() : ''
  const [, day, time, zone] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?)?$/i.exec(text) ??
    []
  const ms = day === undefined ? NaN : Date.parse(`${day}T${time ?? '00:00'}${zone ?? 'Z'}`)
  return Number.isNaN(ms) ? null : ms
}

/** The parcels of an order in `shipments/by-purchase-order`. */
export interface Shipped {
  readonly number: string | null
  readonly po: string
  readonly parcels: readonly Parcel[]
}

/** What was shipped of these purchase orders. Throws a NoReply. */
export async function listShipments(session: Session, pos: readonly string[]): Promise<Shipped[]> {
  const query = {
    purchase_order_numbers: pos.join(','),
    only_return_unreceived_shipments: '0',
  }
  const shipped: Shipped[] = []
  const pages = pagesOf(
    session,
    'shipments/by-purchase-order',
    { query, perPage: SHIPMENTS_A_PAGE },
    'shipments',
  )
  for await (const rows of pages)
    for (const row of rows) {
      const po = textOf(memberOf(row, 'purchase_order_number')) ?? ''
      for (const order of listIn(row, 'orders'))
        shipped.push({
          number: numberOf(order),
          po,
          parcels: [...listIn(order, 'shipments'), ...listIn(order, 'packages')].flatMap(parcelsIn),
        })
    }
  return shipped
}

const listIn = (value: unknown, member: string): unknown[] => {
  const list = memberOf(value, member)
  return listOf(list)
}

const SHIP_DATES = ['ship_date', 'shipped_at', 'shipped_date', 'shipment_date']

/** What has a tracking number has left; what becomes of it, nobody tells. */
function parcelsIn(shipment: unknown): Parcel[] {
  // A shipment may hold its packages.
  const packages = listIn(shipment, 'packages')
  const trackingNumber = textOf(memberOf(shipment, 'tracking_number'))
  const company = textOf(memberOf(shipment, 'carrier_name'))
  const day = SHIP_DATES.map((name) => momentOf(memberOf(shipment, name))).find((at) => at !== null)
  const own: Parcel[] =
    trackingNumber === null
      ? []
      : [
          {
            trackingNumber,
            company,
            method: null,
            shippedOn: day === undefined || day === null ? null : dayText(day),
            url:
              trackingUrl(company, trackingNumber) ??
              trackingUrl(firstWord(company), trackingNumber),
            status: 'in_transit',
          },
        ]
  return [...own, ...packages.flatMap(parcelsIn)]
}

const dayText = (ms: number) => new Date(ms).toISOString().slice(0, 10)
const firstWord = (text: string | null) => text?.split(' ')[0] ?? null
