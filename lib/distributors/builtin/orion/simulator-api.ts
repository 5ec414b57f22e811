/** Orion's API as a simulator answers it: the key, the lists, orders, and their parcels. */
import { DAY } from '../../../core/clock.js'
import { lifeOf } from '../../../simulator/engine/life.js'
import type { SalesOrder } from '../../../simulator/engine/order.js'
import { ordersSince } from '../../../simulator/engine/queries.js'
import { isLookupDown } from '../../../simulator/engine/sales-order.js'
import type { Profile, World } from '../../../simulator/engine/world.js'
import type { Handled, WireRequest } from '../../../simulator/wire/http-simulator.js'
import { lookAt } from '../../../simulator/wire/posted-order.js'
import type { Call } from '../../../simulator/wire/posted-order.js'
import { centralDay } from '../../days.js'
import { KEY_HEADER } from './api.js'
import { catalogOf, inventoryOf, itemsOf, manufacturersOf } from './simulator-items.js'
import { fault, json, placeOrder } from './simulator-orders.js'

/** A key names no account. */
const ACCOUNT = 'token'
/** How often the parcels of an order are repeated, where that is asked for. */
const REPEATED = 6

const METHODS: Readonly<Record<string, (call: Call) => Handled>> = {
  'GET test_credentials': () => ({ answer: json({ result: 'OK' }) }),
  'GET get_catalog': ({ world }) => ({ answer: json(catalogOf(itemsOf(world))) }),
  'GET get_catalog_inventory': ({ world }) => ({ answer: json(inventoryOf(itemsOf(world))) }),
  'GET get_manufacturers': ({ world }) => ({ answer: json(manufacturersOf(itemsOf(world))) }),
  'POST place_order': placeOrder,
  'GET get_shipment_data': tellShipments,
}

/** Answers calls of this API, whoever makes them. */
export function orionApi(world: World, profile: Profile): (request: WireRequest) => Handled {
  const key = profile.credentials['connection_key']!
  return (request) => {
    if (request.path !== '/api.php') return { answer: { status: 404, body: 'Not Found' } }
    if (request.headers[KEY_HEADER] !== key) return { answer: fault('Invalid Connection Key') }
    const act = METHODS[`${request.method} ${request.query.get('method') ?? ''}`]
    return (
      act?.({ world, profile, request, account: ACCOUNT }) ?? { answer: fault('Invalid method') }
    )
  }
}

/** The parcels of the last days, each with the number of its order. */
function tellShipments(call: Call): Handled {
  const { world, profile, account, request } = call
  const since = world.now() - Number(request.query.get('days') ?? 1) * DAY
  const owner = { distid: profile.distid, account }
  const { told, fault: broken } = lookAt(
    { world, profile, account, visit: request.visit },
    {
      tell: (db) =>
        json({
          result: 'OK',
          shipments: ordersSince(db, owner, since)
            .filter((order) => !isLookupDown(order, world.now()))
            .flatMap((order) => rowsOf(call, order)),
        }),
      down: { status: 503, body: 'Service Unavailable' },
      ordersOf: (db) => ordersSince(db, owner, since),
    },
  )
  return { answer: told ?? json({}), fault: broken }
}

function rowsOf({ world, profile }: Call, order: SalesOrder) {
  const shipped = lifeOf(profile, order).find(({ parcels, at }) => parcels && at <= world.now())
  const rows = (shipped?.parcels ?? []).map(({ trackingNumber, company, method }) => ({
    order_id: Number(order.number.replace(/^.*-/, '')),
    date_shipped: centralDay(shipped!.at),
    tracking_identifier: trackingNumber,
    carrier_description: company,
    shipping_method: method,
  }))
  const times = order.scenario === 'DUPLICATE-ACK' ? REPEATED : 1
  return Array.from({ length: times }, () => rows).flat()
}
