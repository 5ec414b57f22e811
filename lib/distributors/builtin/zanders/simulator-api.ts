/** Zanders' services as a simulator answers them: logins, addresses, orders, and their parcels. */
import { LRUCache } from 'lru-cache'
import { lifeOf } from '../../../simulator/engine/life.js'
import type { SalesOrder } from '../../../simulator/engine/order.js'
import { orderAt } from '../../../simulator/engine/queries.js'
import { isLookupDown } from '../../../simulator/engine/sales-order.js'
import type { Db } from '../../../simulator/engine/store.js'
import type { Profile, World } from '../../../simulator/engine/world.js'
import { centralDay } from '../../days.js'
import type { Handled, WireAnswer, WireRequest } from '../../../simulator/wire/http-simulator.js'
import { lookAt } from '../../../simulator/wire/posted-order.js'
import { XmlFault } from '../../session/xml.js'
import { textIn } from './api.js'
import type { Service } from './api.js'
import { itemsOf } from './simulator-items.js'
import { answer, refusal } from './simulator-operation.js'
import type { Call, Operation } from './simulator-operation.js'
import { createOrder } from './simulator-orders.js'
import { useShipTo } from './simulator-ship-to.js'
import { readCall, SOAP_HEADERS } from './soap.js'
import type { ValueMap } from './soap.js'

export const BASE = '/webservice/'
/** Ship-tos that are remembered at a time. */
const SHIP_TOS = 10_000
/** How often the parcels of an order are repeated, where that is asked for. */
const REPEATED = 6

const OPERATIONS: Readonly<Record<Service | 'items', Readonly<Record<string, Operation>>>> = {
  orders: {
    loginCheck: (call) => ({ answer: answer(call, { returnCode: 0 }) }),
    createOrder,
    getOrderInfo: (call) => shown(call, orderInfo),
    getTrackingInfo: (call) => shown(call, trackingInfo),
  },
  shiptoaddresses: { useShipTo },
  items: { getItemInfo: itemInfo, getItemInventory: itemInfo },
}

/** Answers calls of these services, whoever makes them. */
export function zandersApi(world: World, profile: Profile): (request: WireRequest) => Handled {
  const begun = new WeakSet<object>()
  const shipTos: Call['shipTos'] = new LRUCache({ max: SHIP_TOS })
  return (request) => {
    const { method, visit } = request
    const service = request.path.startsWith(BASE) ? request.path.slice(BASE.length) : ''
    if (!Object.hasOwn(OPERATIONS, service) || method !== 'POST')
      return { answer: { status: 404, body: 'Not Found' } }
    const read = callIn(request.body.toString('utf8'))
    const act = read && OPERATIONS[service as Service][read.operation]
    if (!read || !act) return { answer: fault('The request cannot be read') }
    const isFirst = visit === null || !begun.has(visit)
    if (visit) begun.add(visit)
    const account = accountOf(profile, read)
    const call: Call = {
      world,
      profile,
      request,
      service: service as Service,
      ...read,
      account: account ?? '',
      isFirst,
      shipTos,
    }
    return account === null
      ? { answer: refusal(call, 'return code 1: Username and/or Password were incorrect') }
      : act(call)
  }
}

function callIn(text: string): ReturnType<typeof readCall> | null {
  try {
    return readCall(text)
  } catch (error) {
    if (error instanceof XmlFault) return null
    throw error
  }
}

const fault = (reason: string): WireAnswer => ({
  status: 500,
  headers: SOAP_HEADERS,
  body:
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    '<env:Envelope xmlns:env="http://www.w3.org/2003/05/soap-envelope"><env:Body><env:Fault>' +
    '<env:Code><env:Value>env:Sender</env:Value></env:Code>' +
    `<env:Reason><env:Text>${reason}</env:Text></env:Reason></env:Fault></env:Body></env:Envelope>`,
})

/** The account that a login names; null for one that is not known. */
function accountOf(
  { credentials }: Profile,
  { params }: Pick<ReturnType<typeof readCall>, 'params'>,
): string | null {
  const [user, password] = [textIn(params, 'username'), textIn(params, 'password')]
  const isKnown = ['accessories', 'firearms', 'store'].some(
    (kind) => credentials[`${kind}_user`] === user && credentials[`${kind}_password`] === password,
  )
  return isKnown ? user : null
}

/** What is told of an order of this account, by its number. */
function shown(call: Call, tell: (call: Call, order: SalesOrder) => ValueMap): Handled {
  const { world, profile, account, request } = call
  const number = `SIM-${profile.distid}-${textIn(call.params, 'ordernumber') ?? ''}`
  const find = (db: Db) => orderAt(db, { distid: profile.distid, account }, number)
  const { told, fault: broken } = lookAt(
    { world, profile, account, visit: request.visit },
    {
      tell: (db): WireAnswer => {
        const order = find(db)
        if (order && isLookupDown(order, world.now()))
          return { status: 503, body: 'Service Unavailable' }
        return order
          ? answer(call, tell(call, order))
          : refusal(
              call,
              'return code 21: The order number is not connected to your customer number',
            )
      },
      down: { status: 503, body: 'Service Unavailable' },
      ordersOf: (db) => [find(db) ?? []].flat(),
    },
  )
  return { answer: told ?? { status: 200, body: '' }, fault: broken }
}

const shipmentOf = ({ profile, world }: Call, order: SalesOrder) =>
  lifeOf(profile, order).find(({ parcels, at }) => parcels && at <= world.now())

function orderInfo(call: Call, order: SalesOrder): ValueMap {
  const shipped = shipmentOf(call, order)
  const entered = centralDay(order.executedAt)
  return {
    returnCode: 0,
    purchaseOrderNumber: order.listedPo,
    orderDate: `${entered}T00:00:00`,
    orderEnteredDate: `${entered}T00:00:00`,
    orderShipDate: `${entered}T00:00:00`,
    subtotal: '0.00',
    freight: '0.00',
    miscFee: '0.00',
    selectionCode: '',
    datePicked: shipped ? `${centralDay(shipped.at)}T00:00:00` : '',
    grandTotal: '0.00',
  }
}

function trackingInfo(call: Call, order: SalesOrder): ValueMap {
  const parcels = shipmentOf(call, order)?.parcels ?? []
  const rows = parcels.map(({ company, method, trackingNumber, url }) => ({
    shipCompany: company ?? '',
    shipVia: method ?? '',
    trackingNumber,
    url: url ?? '',
    weight: '2.00',
  }))
  const times = order.scenario === 'DUPLICATE-ACK' ? REPEATED : 1
  return {
    returnCode: 0,
    numberOfShipments: parcels.length,
    ...(rows.length > 0 && { trackingNumbers: Array.from({ length: times }, () => rows).flat() }),
  }
}

function itemInfo(call: Call): Handled {
  const number = textIn(call.params, 'itemnumber') ?? textIn(call.params, 'itemNumber') ?? ''
  const item = itemsOf(call.world).find((one) => one['itemnumber'] === number)
  if (!item) return { answer: refusal(call, 'return code 2: the item is not known') }
  return {
    answer: answer(call, {
      returnCode: 0,
      itemNumber: number,
      ...(call.operation === 'getItemInfo' && {
        itemDescription: item['desc1']!,
        itemPrice: item['price1']!,
        itemWeight: item['weight']!,
      }),
      numberAvailable: Number(item['available']),
    }),
  }
}
