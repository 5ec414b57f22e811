/** Orders as they are posted to Zanders, read and judged as its services do. */
import { DAY } from '../../../core/clock.js'
import { centralDay } from '../../days.js'
import { orderAt } from '../../../simulator/engine/queries.js'
import type { Db } from '../../../simulator/engine/store.js'
import type { Handled } from '../../../simulator/wire/http-simulator.js'
import { areBroken, NOT_ASCII, poFault, takePosted } from '../../../simulator/wire/posted-order.js'
import type { Posted } from '../../../simulator/wire/posted-order.js'
import { mapsIn, textIn } from './api.js'
import { answer, refusal } from './simulator-operation.js'
import type { Call } from './simulator-operation.js'
import { isSerialized } from './simulator-ship-to.js'
import type { AnsweredMap, Value, ValueMap } from './soap.js'

const STORE = '0001'
const LONGEST_WAIT = 30 * DAY
const NAMED = ['shipToName', 'shipToAddress1', 'shipToCity', 'shipToState', 'shipToZip']

/** Judges an order and takes it, with whatever is to go wrong about it. */
export function createOrder(call: Call): Handled {
  const order = call.params.get('order')
  const map =
    order !== undefined && typeof order === 'object' && 'size' in order ? order : new Map()
  const posted = readOrder(call, map)
  // An order that is only tried is kept by nobody.
  if (textIn(call.params, 'testing') === 'true')
    return {
      answer:
        posted.fault === null
          ? answer(call, { returnCode: 0, orderNumber: 0 })
          : refusal(call, posted.fault),
    }
  return takePosted(call, posted, posted.fault === null ? null : refusal(call, posted.fault), {
    accepted: (number, db) => answer(call, accepted(call, db, number)),
    refused: (reason) => refusal(call, reason, removedOf(posted)),
    done: answer(call, { returnCode: 0 }),
    isLast: !call.isFirst,
  })
}

function readOrder(call: Call, order: AnsweredMap): Posted {
  const { world, profile, account, request, shipTos } = call
  const lines = mapsIn(order, 'items').map((item) => ({
    distsku: textIn(item, 'itemNumber') ?? '',
    qty: Number(textIn(item, 'quantity')),
  }))
  const shipToNo = textIn(order, 'shipToNo')
  const known = shipToNo === null ? undefined : shipTos.get(`${account} ${shipToNo}`)
  const own = request.visit?.send.order
  const po = textIn(order, 'purchaseOrderNumber') ?? ''
  const isToDealer = shipToNo !== null && shipToNo !== STORE
  const posted = {
    po,
    lines,
    to:
      shipToNo === STORE
        ? { name: 'Your store', address1: '', zip: '' }
        : isToDealer
          ? (own?.shipTo ?? known ?? { name: `Ship-to ${shipToNo}`, address1: '', zip: '' })
          : {
              name: textIn(order, 'shipToName') ?? '',
              address1: textIn(order, 'shipToAddress1') ?? '',
              zip: textIn(order, 'shipToZip') ?? '',
            },
    firearms: isToDealer,
  }
  return {
    ...posted,
    to: { name: posted.to.name, address1: posted.to.address1, zip: posted.to.zip },
    fault:
      dateFault(textIn(order, 'shipDate') ?? '', world.now()) ??
      poFault(profile, po, NOT_ASCII) ??
      linesFault(lines) ??
      addressFault(call, order, { shipToNo, isKnown: own !== undefined || known !== undefined }) ??
      accountFault(call, lines),
  }
}

function dateFault(shipDate: string, now: number): string | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(shipDate)) return 'return code 2: shipDate is not valid'
  if (shipDate < centralDay(now)) return 'return code 10: Ship date cannot be before today'
  return shipDate > centralDay(now + LONGEST_WAIT)
    ? 'return code 11: Ship date cannot be more than 30 days in the future'
    : null
}

function linesFault(lines: Posted['lines']): string | null {
  if (lines.length === 0) return 'return code 5: Cannot create order with no items'
  return areBroken(lines) ? 'return code 31: Can not add item with quantity of less than 1' : null
}

function addressFault(
  { profile: { words } }: Call,
  order: AnsweredMap,
  { shipToNo, isKnown }: { shipToNo: string | null; isKnown: boolean },
): string | null {
  if (textIn(order, 'shipViaCode') === null) return 'return code 2: shipViaCode is missing'
  if (shipToNo !== null)
    return shipToNo === STORE || isKnown ? null : `return code 2: shipToNo ${shipToNo} is not known`
  const missing = NAMED.find((name) => textIn(order, name) === null)
  if (missing !== undefined) return `return code 2: ${missing} is missing`
  const zip = textIn(order, 'shipToZip') ?? ''
  return /^\d{5}$/.test(zip) ? null : words.badZip(zip)
}

/** What each of the two drop-ship accounts may order. */
function accountFault(call: Call, lines: Posted['lines']): string | null {
  const { account, profile } = call
  const { credentials, words } = profile
  const firearms = lines.filter(({ distsku }) => isSerialized(call, distsku)).length
  const isMixed =
    (account === credentials['accessories_user'] && firearms > 0) ||
    (account === credentials['firearms_user'] && firearms < lines.length)
  return isMixed ? words.mixed : null
}

/** Its number, and what was taken out of it. */
function accepted({ profile, account }: Call, db: Db, number: string): ValueMap {
  const order = orderAt(db, { distid: profile.distid, account }, number)
  const removed = (order?.lines ?? []).filter(({ qty, committed }) => committed < qty)
  return {
    returnCode: 0,
    orderNumber: Number(number.replace(/^.*-/, '')),
    ...(removed.length > 0 && {
      removedItems: removed.map(({ distsku, qty, committed }) => ({
        itemNumber: distsku,
        quantityRequested: String(qty),
        quantityAvailable: committed,
      })),
    }),
  }
}

const removedOf = ({ lines }: Posted): Value =>
  lines.map(({ distsku, qty }) => ({
    itemNumber: distsku,
    quantityRequested: String(qty),
    quantityAvailable: 0,
  }))
