/** Lipsey's API as a simulator answers it: logins, orders, and the report of a day's shipments. */
import { createHash, randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { DAY } from '../../../core/clock.js'
import { admit } from '../../../simulator/engine/admit.js'
import { perform, reachOf } from '../../../simulator/engine/perform.js'
import type { Arriving } from '../../../simulator/engine/perform.js'
import { runDue } from '../../../simulator/engine/due.js'
import { LIFETIME, lifeOf } from '../../../simulator/engine/life.js'
import type { Arrival, Line, SalesOrder } from '../../../simulator/engine/order.js'
import { ordersAnywhere, ordersSince } from '../../../simulator/engine/queries.js'
import { isLookupDown } from '../../../simulator/engine/sales-order.js'
import { scenarioOf } from '../../../simulator/engine/scenarios/scenarios.js'
import type { Db } from '../../../simulator/engine/store.js'
import { chanceToFail } from '../../../simulator/engine/updates.js'
import type { Profile, World } from '../../../simulator/engine/world.js'
import type { Handled, WireAnswer, WireRequest } from '../../../simulator/wire/http-simulator.js'
import { memberOf } from '../../session/reply.js'
import { readDropShip, readFirearms, readStoreOrder } from './simulator-orders.js'
import type { Desk, Posted } from './simulator-orders.js'
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
const PATHS: Readonly<Record<string, (desk: Desk) => Handled>> = {
  'POST order/apiorder': (desk) => takeOrder(desk, readStoreOrder(desk.body)),
  'POST order/allocationorder': (desk) => takeOrder(desk, readStoreOrder(desk.body)),
  'POST order/dropship': (desk) => takeOrder(desk, readDropShip(desk)),
  'POST order/dropshipfirearm': (desk) => takeOrder(desk, readFirearms(desk)),
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
  'POST items/catalogfeed/item': (desk) => tellOne(desk, catalogItem),
  'POST items/validateitem': (desk) => tellOne(desk, validItem),
}

const told = (data: unknown): Handled => ({ answer: envelope({ data }) })

/** One item: its number, model number or UPC is the whole body. */
function tellOne({ world, body }: Desk, tell: (item: Item) => unknown): Handled {
  const item = typeof body === 'string' ? itemNamed(itemsOf(world), body) : undefined
  return item ? told(tell(item)) : { answer: envelope({ errors: ['Item was not found.'] }) }
}

/** Answers calls of this API, whoever makes them. */
export function lipseysApi(world: World, profile: Profile): (request: WireRequest) => Handled {
  const tokens = new LRUCache<string, { account: string; until: number }>({ max: TOKENS })
  return (request) => {
    const path = request.path.toLowerCase()
    const name = path.startsWith(BASE) ? path.slice(BASE.length) : ''
    const body = parsed(request.body)
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

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown
  } catch {
    return undefined
  }
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
function takeOrder(desk: Desk, posted: Posted): Handled {
  const { world, profile } = desk
  const send = sendOf(desk, posted)
  const { account, arrival } = send
  const reason = posted.fault ?? poFault(profile, posted.po)
  const { fault, result } = perform(
    world,
    send,
    { name: 'submit', step: 'only', isReached: true, ...(reason === null && LATE) },
    (db): WireAnswer => {
      if (reason !== null) return envelope({ errors: [reason] })
      const now = world.now()
      const taken = admit(db, world, { profile, account, arrival, placedAt: now, executedAt: now })
      return taken.outcome === 'accepted'
        ? envelope({ data: orderData(desk, posted, taken.number!) })
        : envelope({ errors: ['reason' in taken ? taken.reason : taken.outcome] })
    },
  )
  return { answer: result ?? envelope({}), fault }
}

const LATE = { late: { kind: 'order' } } as const

/** The real one answers with an object or with a list of one. */
function orderData({ request: { path } }: Desk, { po, lines }: Posted, orderNumber: string) {
  const order = {
    orderNumber,
    poNumber: po,
    lineItems: lines.map(({ distsku, qty }) => ({ itemNumber: distsku, fulfilledQuantity: qty })),
  }
  return /\/(api|allocation)order$/i.test(path) ? [order] : order
}

function poFault({ limits, words }: Profile, po: string): string | null {
  if (po === '') return words.po('is missing')
  if (po.length > limits.po.max)
    return words.po(`has ${po.length} characters, ${limits.po.max} are the most`)
  const strange = [...po].find((char) => !/[\x20-\x7e]/.test(char))
  return strange === undefined ? null : words.po(`holds "${strange}"`)
}

/** The order as it arrived; a stranger's has no reference of ours, and asks by its PO. */
function sendOf(
  { profile, request, account }: Desk,
  { po, lines, to, firearms }: Posted,
): Arriving {
  const own = request.visit?.send
  const arrival: Arrival = {
    clientRef: own?.arrival.clientRef ?? `outside ${account} ${po}`,
    po,
    scenario: own ? own.arrival.scenario : scenarioOf({ poGiven: po, lines: outside(lines) }),
    content: createHash('sha256')
      .update(request.path.toLowerCase())
      .update(request.body)
      .digest('hex'),
    lines,
    shipTo: to,
    firearms,
  }
  const reach = own?.reach ?? reachOf(profile, account, { lane: request.path, poGiven: po })
  return { profile, account, arrival, reach }
}

const outside = (lines: readonly Line[]) =>
  lines.map(({ distsku, qty }) => ({
    distsku,
    qty,
    upc: '',
    name: '',
    unitPrice: 0,
    fflRequired: false,
  }))

/** `shipping/oneday`: the parcels that left on a day, which is the whole body. */
function report(desk: Desk): Handled {
  const { world, profile, account, body, request } = desk
  const day = dayAsked(body)
  if (day === null) return { answer: envelope({ errors: ['Please provide a valid date.'] }) }
  const rows = (db: Db) => envelope({ data: shipmentsOn(db, desk, day) })
  const own = request.visit?.send
  if (own) {
    const { fault, result } = perform(world, own, { name: 'find', step: 'look' }, (db) =>
      // Down for its own orders only: another order's search has nothing to do with it.
      ordersAnywhere(db, own.arrival.clientRef).some((order) => isLookupDown(order, world.now()))
        ? { status: 503, body: 'Service Unavailable' }
        : rows(db),
    )
    return { answer: result ?? envelope({}), fault }
  }
  return world.store.transact((db) => {
    runDue(db, world)
    const orders = ordersSince(db, { distid: profile.distid, account }, world.now() - LIFETIME)
    const fails = chanceToFail(db, { profile, account }, orders, 1) !== null
    return { answer: rows(db), fault: fails ? ('reset_before' as const) : null }
  })
}

/** `MM/DD/YYYY`, or what JavaScript makes of a date; `YYYY-MM-DD` of it, null for another thing. */
function dayAsked(body: unknown): string | null {
  if (typeof body !== 'string') return null
  const [, month, day, year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(body) ?? []
  if (year !== undefined) return `${year}-${month!.padStart(2, '0')}-${day!.padStart(2, '0')}`
  const ms = Date.parse(body)
  return Number.isNaN(ms) ? null : localDay(ms)
}

function shipmentsOn(db: Db, { world, profile, account }: Desk, day: string): unknown[] {
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
