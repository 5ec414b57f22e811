/** RSR's API as a simulator answers it: items, orders, and what became of an order item by item. */
import { lifeOf } from '../../../simulator/engine/life.js'
import type { SalesOrder } from '../../../simulator/engine/order.js'
import { isLookupDown, listedOrders } from '../../../simulator/engine/sales-order.js'
import type { Profile, World } from '../../../simulator/engine/world.js'
import type { Handled, WireAnswer, WireRequest } from '../../../simulator/wire/http-simulator.js'
import { lookAt, takePosted } from '../../../simulator/wire/posted-order.js'
import { textOf } from '../../session/reply.js'
import { inLowerCase } from './api.js'
import { checkedItem, itemsOf, listedItem } from './simulator-items.js'
import { readOrder } from './simulator-orders.js'
import type { Call } from './simulator-orders.js'

export const BASE = '/api/rsrbridge/1.0/pos/'
/** Items of an answer. */
const MOST = 9_999

/** What each path does, in lower case and without the base. */
const PATHS: Readonly<Record<string, (call: Call) => Handled>> = {
  'get-items': getItems,
  'check-catalog': checkCatalog,
  'place-order': takeOrder,
  'check-order': checkOrder,
}

/** Answers calls of this API, whoever makes them: with JSON or with a form. */
export function rsrApi(world: World, profile: Profile): (request: WireRequest) => Handled {
  return (request) => {
    const path = request.path.toLowerCase()
    const act = path.startsWith(BASE) ? PATHS[path.slice(BASE.length)] : undefined
    if (!act || request.method !== 'POST') return { answer: { status: 404, body: 'Not Found' } }
    const body = bodyOf(request)
    const account = accountOf(profile, body)
    if (account === null) return { answer: says('99', 'Invalid Username or Password') }
    if (body.get('pos') !== 'I') return { answer: says('99', 'POS is invalid') }
    return act({ world, profile, request, account, body })
  }
}

function bodyOf({ body, headers }: WireRequest): ReadonlyMap<string, unknown> {
  const text = body.toString('utf8')
  if (headers['content-type']?.includes('form'))
    return inLowerCase(Object.fromEntries(new URLSearchParams(text)))
  try {
    return inLowerCase(JSON.parse(text))
  } catch {
    return new Map()
  }
}

function accountOf({ credentials }: Profile, body: ReadonlyMap<string, unknown>): string | null {
  const [user, password] = [textOf(body.get('username')), textOf(body.get('password'))]
  const known = [
    [credentials['api_user'], credentials['api_password']],
    [credentials['store_account'], credentials['store_password']],
  ]
  return known.some(([name, secret]) => name === user && secret === password) ? user : null
}

const json = (value: unknown): WireAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(value),
})

const says = (StatusCode: string, StatusMssg: string, more: Record<string, unknown> = {}) =>
  json({ StatusCode, StatusMssg, ...more })

function getItems({ world, body }: Call): Handled {
  const [limit, offset] = [Number(body.get('limit') ?? MOST), Number(body.get('offset') ?? 0)]
  const keywords = (textOf(body.get('keywords')) ?? '').toUpperCase()
  const departments = (textOf(body.get('departments')) ?? '').split(',').filter(Boolean)
  const found = itemsOf(world).filter(
    (item) =>
      (keywords === '' || item.get('description')!.toUpperCase().includes(keywords)) &&
      (departments.length === 0 || departments.includes(item.get('department')!)),
  )
  const shown = found.slice(offset, offset + Math.min(MOST, limit))
  return {
    answer: says('00', 'OK', { TotalFound: found.length, Items: shown.map(listedItem) }),
  }
}

/** One item, by stock number (`S`), manufacturer's number (`M`) or UPC (`U`). */
function checkCatalog({ world, body }: Call): Handled {
  const [column, asked] =
    {
      S: ['stock', 'partnum'],
      M: ['part number', 'manpartnum'],
      U: ['upc', 'upc'],
    }[String(body.get('lookupby')).toUpperCase()] ?? []
  const named = asked === undefined ? null : textOf(body.get(asked))
  const item = itemsOf(world).find((one) => named !== null && one.get(column!) === named)
  const license = textOf(body.get('shipffl'))
  const told = license === null ? {} : licenseAnswer(license)
  if (!item) return { answer: says('03', 'Item not found', told) }
  return { answer: says('00', 'OK', { ...checkedItem(item), ...told }) }
}

/** It knows every dealer but one whose license ends in 00000. */
const licenseAnswer = (license: string) =>
  /^[0-9A-Z]{15}$/i.test(license) && !license.endsWith('00000')
    ? { FFLErrCode: '00', FFLErrMsg: '' }
    : { FFLErrCode: '11002', FFLErrMsg: 'FFL not found' }

/** Codes of the files that the API tells by codes of its own. */
const OF_API: Readonly<Record<string, string>> = { '20007': '01', '20009': '82', '11007': '85' }

/** `20007 Item A1 out of stock` as the API says it. */
function refusal(reason: string): WireAnswer {
  const [, code = '99', text = reason] = /^(\d{5}) (.*)$/.exec(reason) ?? []
  return says(OF_API[code] ?? code, text)
}

/** Judges an order and takes it, with whatever is to go wrong about it. */
function takeOrder(call: Call): Handled {
  const order = readOrder(call)
  return takePosted(call, order, order.fault === null ? null : refusal(order.fault), {
    accepted: (number) =>
      says('00', 'Order accepted', {
        WebRef: number,
        ConfirmResp: number,
        ItemStatus: order.lines.map(({ distsku }) => `${distsku}: OK`).join(', '),
      }),
    refused: refusal,
    done: says('00', ''),
  })
}

/** The newest order of that PO, or the one that is named. */
function checkOrder(call: Call): Handled {
  const { world, profile, account, request, body } = call
  const [po, number] = [textOf(body.get('ponum')) ?? '', textOf(body.get('webref'))]
  const { told, fault } = lookAt(
    { world, profile, account, visit: request.visit },
    {
      tell: (db) => {
        const order = listedOrders(db, { profile, account }, { clientRef: '', po }, world.now())
          .filter((one) => number === null || one.number === number)
          .filter((one) => !isLookupDown(one, world.now()))
          .at(-1)
        return order ? orderAnswer(profile, order, world.now()) : says('04', 'Order not found')
      },
      down: { status: 503, body: 'Service Unavailable' },
      ordersOf: (db) => listedOrders(db, { profile, account }, { clientRef: '', po }, world.now()),
    },
  )
  return { answer: told ?? says('00', ''), fault }
}

function orderAnswer(profile: Profile, order: SalesOrder, now: number): WireAnswer {
  const shipped = lifeOf(profile, order).find(({ parcels, at }) => parcels && at <= now)
  const numbers = shipped?.parcels!.map(({ trackingNumber }) => trackingNumber).join(',')
  const day = shipped && new Date(shipped.at).toISOString().slice(0, 10).split('-')
  return says('00', 'OK', {
    PONum: order.listedPo,
    WebRef: order.number,
    Items: order.lines.map(({ distsku, qty, committed }) => {
      const isSent = shipped !== undefined && committed > 0
      return {
        PartNum: distsku,
        WishQTY: qty,
        TrackingNum: isSent ? numbers : 'Pending',
        DateShipped: isSent ? `${day![1]}/${day![2]}/${day![0]}` : 'Pending',
        Invoices: isSent ? order.number.replace(/^.*-/, 'INV') : 'Pending',
        Warehouse: 'TX',
      }
    }),
  })
}
