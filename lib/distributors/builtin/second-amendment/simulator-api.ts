/** 2nd Amendment Wholesale's API as a simulator answers it. */
import { DAY } from '../../../core/clock.js'
import { LIFETIME, lifeOf } from '../../../simulator/engine/life.js'
import type { SalesOrder } from '../../../simulator/engine/order.js'
import { orderById, ordersSince } from '../../../simulator/engine/queries.js'
import { isLookupDown } from '../../../simulator/engine/sales-order.js'
import type { Db } from '../../../simulator/engine/store.js'
import type { Profile, World } from '../../../simulator/engine/world.js'
import type { Handled, WireRequest } from '../../../simulator/wire/http-simulator.js'
import { lookAt } from '../../../simulator/wire/posted-order.js'
import { CART_CALLS, digitsOf, json, refusal, removeItem } from './simulator-cart.js'
import type { Call } from './simulator-cart.js'
import { listedProduct, productsOf, stockedItem } from './simulator-items.js'
import { STATES } from './feed.js'

export const BASE = '/rest/V1/'

/** How often the rows of an order are repeated, where that is asked for. */
const REPEATED = 6

const told = (value: unknown): Handled => ({ answer: json(value) })

/** What each path does that is no cart's. */
const PATHS: Readonly<Record<string, (call: Call) => Handled>> = {
  'GET token/validate': () => told(true),
  'GET feed/productV2': ({ world }) => told(productsOf(world).map(listedProduct)),
  'GET feed/stockV2': ({ world }) => told(productsOf(world).map(stockedItem)),
  'GET directory/countries/US': () => told({ id: 'US', available_regions: REGIONS }),
  'GET carts/licence': () =>
    told([{ agreement_id: 1, name: 'Terms', content: '', is_active: true, mode: 1 }]),
  'GET customers/me/billingAddress': () => told(STORE),
  'GET shipmentsInformation/me': shipments,
}

const REGIONS = STATES.map((code, place) => ({ id: String(place + 1), code, name: code }))

const STORE = {
  id: 7,
  region: { region_code: 'AZ', region: 'AZ', region_id: STATES.indexOf('AZ') + 1 },
  region_id: STATES.indexOf('AZ') + 1,
  country_id: 'US',
  street: ['1 Demo Plaza'],
  telephone: '602-555-0199',
  postcode: '85001',
  city: 'Phoenix',
  firstname: 'Demo',
  lastname: 'Shop',
}

/** Answers calls of this API, whoever makes them. */
export function secondAmendmentApi(
  world: World,
  profile: Profile,
): (request: WireRequest) => Handled {
  const begun = new WeakSet<object>()
  return (request) => {
    const { method, path, visit, headers } = request
    if (headers.authorization !== `Bearer ${profile.credentials['api_token']}`)
      return {
        answer: refusal(
          "The consumer isn't authorized to access %resources.",
          { resources: 'self' },
          401,
        ),
      }
    const name = path.startsWith(BASE) ? path.slice(BASE.length) : ''
    const isFirst = visit === null || !begun.has(visit)
    if (visit) begun.add(visit)
    const call: Call = { world, profile, request, account: 'token', isFirst }
    const [, below] = /^carts\/mine(\/[^/]*)?$/.exec(name) ?? []
    const act =
      name.startsWith('carts/mine') && (below !== undefined || name === 'carts/mine')
        ? CART_CALLS[`${method} ${below ?? ''}`]
        : PATHS[`${method} ${name}`]
    if (act) return act(call)
    const [, item] = /^carts\/mine\/items\/(\d+)$/.exec(name) ?? []
    if (item !== undefined && method === 'DELETE') return removeItem(call, item)
    const [, key] = /^orders\/(\d+)$/.exec(name) ?? []
    if (key !== undefined && method === 'GET') return oneOrder(call, Number(key))
    return { answer: refusal('Request does not match any route.', undefined, 404) }
  }
}

function oneOrder(call: Call, id: number): Handled {
  const { world, profile, account } = call
  const order = world.store.transact((db) => orderById(db, { distid: profile.distid, account }, id))
  return order
    ? told({ entity_id: id, increment_id: digitsOf(order.number), status: 'pending' })
    : { answer: refusal("The entity that was requested doesn't exist.", undefined, 404) }
}

/** The shipments since a day. */
function shipments(call: Call): Handled {
  const { world, profile, account, request } = call
  const day = request.query.get('fromShipmentCreateAt') ?? ''
  if (!/^\d{4}\/\d\d\/\d\d$/.test(day))
    return { answer: refusal('"%fieldName" is required.', { fieldName: 'fromShipmentCreateAt' }) }
  const since = Date.parse(`${day.replaceAll('/', '-')}T00:00:00Z`)
  const { told: rows, fault } = lookAt(
    { world, profile, account, visit: request.visit },
    {
      tell: (db) => json(rowsSince(db, call, since)),
      down: { status: 503, body: 'Service Unavailable' },
      ordersOf: (db) =>
        ordersSince(db, { distid: profile.distid, account }, world.now() - LIFETIME),
    },
  )
  return { answer: rows ?? json([]), fault }
}

function rowsSince(db: Db, { world, profile, account }: Call, since: number): unknown[] {
  return ordersSince(db, { distid: profile.distid, account }, since - DAY)
    .filter((order) => !isLookupDown(order, world.now()))
    .flatMap((order) => rowsOf(profile, order, since, world.now()))
}

function rowsOf(profile: Profile, order: SalesOrder, since: number, now: number): unknown[] {
  const shipped = lifeOf(profile, order).find(({ parcels }) => parcels)
  if (!shipped || shipped.at > now || shipped.at < since) return []
  const row = {
    entity_id: order.id,
    increment_id: `S${digitsOf(order.number)}`,
    order_id: order.id,
    order_increment_id: digitsOf(order.number),
    po_number: order.listedPo,
    created_at: new Date(shipped.at).toISOString().slice(0, 19).replace('T', ' '),
    items: order.lines
      .filter(({ committed }) => committed > 0)
      .map(({ distsku, committed }) => ({ sku: distsku, qty: committed })),
    shipping_address: addressOf(order),
    tracks: shipped.parcels!.map(({ trackingNumber, company, method }) => ({
      track_number: trackingNumber,
      carrier_code: company?.toLowerCase(),
      title: `${company} ${method}`,
    })),
  }
  return order.scenario === 'DUPLICATE-ACK' ? Array.from({ length: REPEATED }, () => row) : [row]
}

/** A dealer is a company, all others have two names. */
function addressOf({ shipTo: { name, zip }, firearms }: SalesOrder): Record<string, string> {
  const [firstname = '', ...rest] = name.split(' ')
  return { firstname, lastname: rest.join(' '), company: firearms ? name : '', postcode: zip }
}
