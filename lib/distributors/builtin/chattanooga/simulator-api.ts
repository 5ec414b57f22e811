/** Chattanooga's API as a simulator answers it: orders, shipments, licenses and items. */
import { LIFETIME, lifeOf } from '../../../simulator/engine/life.js'
import type { SalesOrder } from '../../../simulator/engine/order.js'
import { perform } from '../../../simulator/engine/perform.js'
import {
  ordersFrom,
  ordersLike,
  ordersNumbered,
  ordersSince,
} from '../../../simulator/engine/queries.js'
import { isLookupDown, poKey } from '../../../simulator/engine/sales-order.js'
import type { Db } from '../../../simulator/engine/store.js'
import type { Profile, World } from '../../../simulator/engine/world.js'
import type { Handled, WireAnswer, WireRequest } from '../../../simulator/wire/http-simulator.js'
import { isOutside, lookAt } from '../../../simulator/wire/posted-order.js'
import type { Call } from '../../../simulator/wire/posted-order.js'
import { authorizationOf } from './api.js'
import { fault, json, pageOf } from './simulator-answers.js'
import { productFeeds } from './simulator-feed.js'
import { tellItems } from './simulator-items.js'
import { licenseFlags, takeOrder } from './simulator-orders.js'

export const BASE = '/rest/v5/'

/** Versions that are served alike. */
const BASES = /^\/rest\/v[56]\//
const ORDERS_A_PAGE = 20
const SHIPMENTS_A_PAGE = 25
/** How often the parcels of an order are repeated, where that is asked for. */
const REPEATED = 6

type Act = (call: Call, name: string) => Handled

/** What each path does, without the base. */
const PATHS: readonly [path: RegExp, act: Act][] = [
  [/^POST orders$/, takeOrder],
  [/^GET orders$/, listOrders],
  [/^GET orders\/([^/]+)$/, (call, number) => tellOrder(call, number, ordersTold)],
  [/^GET orders\/([^/]+)\/shipments$/, (call, number) => tellOrder(call, number, shipmentsTold)],
  [/^GET shipments\/by-purchase-order$/, listShipments],
  [/^GET federal-firearms-licenses\/([^/]+)$/, tellLicense],
  [/^GET items$/, (call) => ({ answer: tellItems(call) })],
]

/** Answers calls of this API, whoever makes them. */
export function chattanoogaApi(world: World, profile: Profile): (request: WireRequest) => Handled {
  const { api_sid: account = '', api_token: token = '' } = profile.credentials
  const feeds = productFeeds(world)
  return (request) => {
    const file = feeds.download(request)
    if (file) return { answer: file }
    if (!BASES.test(request.path))
      return { answer: json({ message: `There is nothing at ${request.path}` }, 404) }
    // As it stands: not in Base64, and not with the token itself.
    if (request.headers['authorization'] !== authorizationOf(account, token))
      return { answer: fault(401, 4001, 'The credentials are invalid or not active') }
    const asked = `${request.method} ${request.path.replace(BASES, '')}`
    const call: Call = { world, profile, request, account }
    if (asked === 'GET items/product-feed') return { answer: feeds.ask(call) }
    for (const [path, act] of PATHS) {
      const found = path.exec(asked)
      if (found) return act(call, found[1] ?? '')
    }
    return { answer: json({ message: `There is nothing at ${request.path}` }, 404) }
  }
}

/** A look at what the account has, with whatever is to go wrong about it. */
function look({ request, ...caller }: Call, tell: (db: Db) => WireAnswer): Handled {
  const { world, profile, account } = caller
  const { told, fault: seen } = lookAt(
    { ...caller, visit: request.visit },
    {
      tell,
      down: { status: 503, body: 'Service Unavailable' },
      ordersOf: (db) =>
        ordersSince(db, { distid: profile.distid, account }, world.now() - LIFETIME),
    },
  )
  return { answer: told ?? json({}), fault: seen }
}

const isTold =
  ({ world }: Call) =>
  (order: SalesOrder) =>
    order.executedAt <= world.now() && !isLookupDown(order, world.now())

function listOrders(call: Call): Handled {
  const { account, profile } = call
  return look(call, (db) => {
    const page = pageOf(call, ORDERS_A_PAGE)
    if ('status' in page) return page
    const { orders, count } = ordersFrom(db, { distid: profile.distid, account }, page)
    return json({
      orders: orders.filter(isTold(call)).map(orderRow),
      pagination: page.pagination(count),
    })
  })
}

/** What was posted; neither a status nor a date is known to be told. */
function orderRow({ number, listedPo, lines, shipTo, clientRef }: SalesOrder) {
  const reference = clientRef === null || isOutside(clientRef) ? null : clientRef
  return {
    order_number: number,
    purchase_order_number: listedPo,
    ship_to_address: { name: shipTo.name, line_1: shipTo.address1, zip: shipTo.zip },
    order_items: lines.map(({ distsku, qty }) => ({
      item_number: distsku,
      order_quantity: qty,
      customer_reference: reference,
    })),
  }
}

type Tell = (orders: readonly SalesOrder[], call: Call) => unknown

const ordersTold: Tell = (orders) => ({ orders: orders.map(orderRow) })
const shipmentsTold: Tell = (orders, call) => ({
  order_shipments: orders.map((order) => shipmentRow(order, call)),
})

function tellOrder(call: Call, number: string, tell: Tell): Handled {
  const { account, profile } = call
  return look(call, (db) => {
    const orders = ordersNumbered(db, { distid: profile.distid, account }, number)
    const told = orders.filter(isTold(call))
    return told.length === 0
      ? fault(404, 9000, `order_number ${number} does not exist`)
      : json(tell(told, call))
  })
}

/** The parcels of an order that have left. */
function shipmentRow(order: SalesOrder, { profile, world }: Call) {
  const shipped = lifeOf(profile, order).find(({ parcels }) => parcels)
  const parcels = shipped && shipped.at <= world.now() ? shipped.parcels! : []
  const rows = parcels.map(({ trackingNumber, company }) => ({
    tracking_number: trackingNumber,
    carrier_name: company,
  }))
  const isRepeated = order.scenario === 'DUPLICATE-ACK'
  return {
    order_number: order.number,
    shipments: isRepeated ? Array.from({ length: REPEATED }, () => rows).flat() : rows,
  }
}

function listShipments(call: Call): Handled {
  const { account, profile, request } = call
  const asked = (request.query.get('purchase_order_numbers') ?? '').split(',')
  const keys = [...new Set(asked.map((po) => poKey(po.trim(), profile)))].filter((po) => po !== '')
  if (keys.length === 0) return { answer: fault(422, 9000, 'purchase_order_numbers is required') }
  return look(call, (db) => {
    const page = pageOf(call, SHIPMENTS_A_PAGE)
    if ('status' in page) return page
    const found = keys.flatMap((key) => {
      const orders = ordersLike(db, { distid: profile.distid, account }, key, null)
        .filter(isTold(call))
        .map((order) => ({ po: order.listedPo, row: shipmentRow(order, call) }))
        .filter(({ row }) => row.shipments.length > 0)
      return orders.length === 0
        ? []
        : { purchase_order_number: orders[0]!.po, orders: orders.map(({ row }) => row) }
    })
    return json({
      shipments: found.slice(page.offset, page.offset + page.limit),
      pagination: page.pagination(found.length),
    })
  })
}

function tellLicense(call: Call, license: string): Handled {
  const tell = () => {
    const flags = licenseFlags(license)
    return json({
      federal_firearms_licenses: flags
        ? [
            {
              federal_firearms_license_number: license,
              on_file_flag: flags.isOnFile ? 1 : 0,
              drop_ship_opted_out_flag: flags.isOptedOut ? 1 : 0,
            },
          ]
        : [],
    })
  }
  const own = call.request.visit?.send
  if (!own) return { answer: tell() }
  const { fault: seen, result } = perform(call.world, own, { name: 'license', step: 'look' }, tell)
  return { answer: result ?? json({}), fault: seen }
}
