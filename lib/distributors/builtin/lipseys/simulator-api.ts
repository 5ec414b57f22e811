/** Lipsey's API as a simulator answers it: logins, orders, and the report of a day's shipments. */
import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { DAY } from '../../../core/clock.js'
import { LIFETIME, lifeOf } from '../../../simulator/engine/life.js'
import type { SalesOrder } from '../../../simulator/engine/order.js'
import { ordersSince } from '../../../simulator/engine/queries.js'
import { isLookupDown } from '../../../simulator/engine/sales-order.js'
import type { Db } from '../../../simulator/engine/store.js'
import type { Profile, World } from '../../../simulator/engine/world.js'
import type { Handled, WireAnswer, WireRequest } from '../../../simulator/wire/http-simulator.js'
import {
  jsonIn,
  lookAt,
  NOT_ASCII,
  poFault,
  takePosted,
} from '../../../simulator/wire/posted-order.js'
import type { Posted } from '../../../simulator/wire/posted-order.js'
import { memberOf } from '../../session/reply.js'
import { readDropShip, readFirearms, readStoreOrder } from './simulator-orders.js'
import type { Call } from './simulator-orders.js'
import { localDay } from './days.js'
import {
  catalogItem,
  itemNamed,
  itemsOf,
  nextUpdate,
  pricingItem,
  validItem,
} from './simulator-items.js'
import type { Item } from './simulator-items.js'

export const BASE = '/api/integration/'

/** Milliseconds for which a token is taken. */
const TOKEN_LIFE = DAY
/** Tokens that are remembered at a time. */
const TOKENS = 1_000
/** How often the rows of an order are repeated, where that is asked for. */
const REPEATED = 6

/** What each path does, in lower case and without the base: the real one does not mind capitals. */
const PATHS: Readonly<Record<string, (call: Call) => Handled>> = {
  'POST order/apiorder': (call) => takeOrder(call, readStoreOrder(call.body)),
  'POST order/allocationorder': (call) => takeOrder(call, readStoreOrder(call.body)),
  'POST order/dropship': (call) => takeOrder(call, readDropShip(call)),
  'POST order/dropshipfirearm': (call) => takeOrder(call, readFirearms(call)),
  'POST shipping/oneday': report,
  'GET items/catalogfeed': ({ world }) => told(itemsOf(world).map(catalogItem)),
  'GET items/pricingquantityfeed': ({ world }) =>
    told({ nextUpdate: nextUpdate(world.now()), items: itemsOf(world).map(pricingItem) }),
  'GET items/allocations': ({ world }) =>
    told({
      nextUpdate: nextUpdate(world.now()),
      items: itemsOf(world)
        .filter((item) => item['ALLOCATED'] === 'TRUE')
        .map(pricingItem),
    }),
  'POST items/catalogfeed/item': (call) => tellOne(call, catalogItem),
  'POST items/validateitem': (call) => tellOne(call, validItem),
}

const told = (data: unknown): Handled => ({ answer: envelope({ data }) })

/** One item: its number, model number or UPC is the whole body. */
function tellOne({ world, body }: Call, tell: (item: Item) => unknown): Handled {
  const item = typeof body === 'string' ? itemNamed(itemsOf(world), body) : undefined
  return item ? told(tell(item)) : { answer: envelope({ errors: ['Item was not found.'] }) }
}

/** Answers calls of this API, whoever makes them. */
export function lipseysApi(world: World, profile: Profile): (request: WireRequest) => Handled {
  const tokens = new LRUCache<string, { account: string; until: number }>({ max: TOKENS })
  return (request) => {
    const path = request.path.toLowerCase()
    const name = path.startsWith(BASE) ? path.slice(BASE.length) : ''
    const body = jsonIn(request.body)
    if (name === 'authentication/login' && request.method === 'POST') {
      const account = accountOf(profile, body)
      if (account === null) return { answer: refusedLogin() }
      const token = randomUUID()
      tokens.set(token, { account, until: world.now() + TOKEN_LIFE })
      return { answer: loggedIn(account, token) }
    }
    const act = PATHS[`${request.method} ${name}`]
    if (!act) return { answer: json({ message: `No resource was found at ${request.path}` }, 404) }
    const login = tokens.get(String(request.headers['token']))
    if (!login || login.until < world.now())
      return { answer: envelope({ authorized: false, errors: ['Authorization has been denied.'] }) }
    return act({ world, profile, request, account: login.account, body })
  }
}

const json = (value: unknown, status = 200): WireAnswer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(value),
})

function envelope({
  authorized = true,
  errors = [],
  data = null,
}: {
  authorized?: boolean
  errors?: readonly string[]
  data?: unknown
}): WireAnswer {
  return json({ authorized, success: authorized && errors.length === 0, errors, data })
}

/** The account that a login names; null for one that is not known. */
function accountOf({ credentials }: Profile, body: unknown): string | null {
  const [email, password] = [memberOf(body, 'Email'), memberOf(body, 'Password')]
  const known = [
    [credentials['api_user'], credentials['api_password']],
    [credentials['store_user'], credentials['store_password']],
  ]
  return known.some(([user, secret]) => user === email && secret === password)
    ? String(email)
    : null
}

const loggedIn = (account: string, token: string): WireAnswer =>
  json({
    token,
    econtact: { success: true, authorized: true, errors: [], data: { email: account } },
  })
const refusedLogin = (): WireAnswer =>
  json({
    token: null,
    econtact: {
      success: false,
      authorized: false,
      errors: ['The email or password is incorrect.'],
      data: null,
    },
  })

/** Judges an order and takes it, with whatever is to go wrong about it. */
function takeOrder(call: Call, order: Posted): Handled {
  const refused = (reason: string) => envelope({ errors: [reason] })
  const reason = order.fault ?? poFault(call.profile, order.po, NOT_ASCII)
  return takePosted(call, order, reason === null ? null : refused(reason), {
    accepted: (number) => envelope({ data: orderData(call, order, number) }),
    refused,
    done: envelope({}),
  })
}

/** The real one answers with an object or with a list of one. */
function orderData({ request: { path } }: Call, { po, lines }: Posted, orderNumber: string) {
  const order = {
    orderNumber,
    poNumber: po,
    lineItems: lines.map(({ distsku, qty }) => ({ itemNumber: distsku, fulfilledQuantity: qty })),
  }
  return /\/(api|allocation)order$/i.test(path) ? [order] : order
}

/** `shipping/oneday`: the parcels that left on a day, which is the whole body. */
function report(call: Call): Handled {
  const { world, profile, account, body, request } = call
  const day = dayAsked(body)
  if (day === null) return { answer: envelope({ errors: ['Please provide a valid date.'] }) }
  const { told, fault } = lookAt(
    { world, profile, account, visit: request.visit },
    {
      tell: (db) => envelope({ data: shipmentsOn(db, call, day) }),
      down: { status: 503, body: 'Service Unavailable' },
      ordersOf: (db) =>
        ordersSince(db, { distid: profile.distid, account }, world.now() - LIFETIME),
    },
  )
  return { answer: told ?? envelope({}), fault }
}

/** `MM/DD/YYYY`, or what JavaScript makes of a date; `YYYY-MM-DD` of it, null for another thing. */
function dayAsked(body: unknown): string | null {
  if (typeof body !== 'string') return null
  const [, month, day, year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(body) ?? []
  if (year !== undefined) return `${year}-${month!.padStart(2, '0')}-${day!.padStart(2, '0')}`
  const ms = Date.parse(body)
  return Number.isNaN(ms) ? null : localDay(ms)
}

function shipmentsOn(db: Db, { world, profile, account }: Call, day: string): unknown[] {
  const noon = Date.parse(`${day}T18:00:00Z`)
  return ordersSince(db, { distid: profile.distid, account }, noon - 2 * DAY)
    .filter((order) => !isLookupDown(order, world.now()))
    .flatMap((order) => rowsOf(profile, order, day, world.now()))
}

function rowsOf(profile: Profile, order: SalesOrder, day: string, now: number): unknown[] {
  const shipped = lifeOf(profile, order).find(({ parcels }) => parcels)
  if (!shipped || shipped.at > now || localDay(shipped.at) !== day) return []
  const rows = shipped.parcels!.map(({ trackingNumber, company, method }) => ({
    poNumber: order.listedPo,
    invoiceNumber: order.number.replace(/^.*-/, 'INV'),
    orderNumber: order.number,
    trackingNumber,
    shippingService: `${company} ${method}`,
    weight: '2.00',
    billName: 'Your store',
    shipName: order.shipTo.name,
  }))
  return order.scenario === 'DUPLICATE-ACK'
    ? Array.from({ length: REPEATED }, () => rows).flat()
    : rows
}
