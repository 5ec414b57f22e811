/** What Sports South's simulator shows of orders: headers, lines, and what was shipped of a PO. */
import { CONFIRMED, lifeOf, statusAt } from '../../../simulator/engine/life.js'
import type { CommittedLine, SalesOrder } from '../../../simulator/engine/order.js'
import { orderAt, ordersByRef, ordersLike, stagesLike } from '../../../simulator/engine/queries.js'
import type { Stage } from '../../../simulator/engine/queries.js'
import { isLookupDown, poKey } from '../../../simulator/engine/sales-order.js'
import { stockLeft } from '../../../simulator/engine/stock.js'
import type { Db } from '../../../simulator/engine/store.js'
import type { Profile } from '../../../simulator/engine/world.js'
import { lookAt } from '../../../simulator/wire/posted-order.js'
import type { Row } from './api.js'
import type { Call, Operation, Told } from './simulator-operation.js'
import { priceOf } from './simulator-items.js'
import { begunOf, digitsOf, numberAt } from './simulator-orders.js'

/** How often the rows of an order are repeated, where that is asked for. */
const REPEATED = 6

const getHeader: Operation['act'] = (call) =>
  shown(call, named, (_db, orders, stages) => [
    ...orders.map((order) => headerRow(call, order)),
    ...stages.map((stage) => {
      const { reference, po, status } = begunOf(stage)
      return headerColumns(call, { number: stage.number, po, reference, date: '', status })
    }),
  ])

const getDetail: Operation['act'] = (call) =>
  shown(call, named, (db, orders, stages) => [
    ...orders.flatMap((order) => {
      const isShipped = shipmentOf(call, order) !== undefined
      return detailRows(call, db, {
        number: digitsOf(order.number),
        lines: order.lines.map((line) => ({ ...line, committed: isShipped ? line.committed : 0 })),
      })
    }),
    ...stages.flatMap(({ number, lines }) =>
      detailRows(call, db, {
        number,
        lines: lines.map((line) => ({ ...line, committed: 0 })),
      }),
    ),
  ])

const getTracking: Operation['act'] = (call) =>
  shown(
    call,
    (db, { profile, account, field }) => ({
      orders: ordersLike(
        db,
        { distid: profile.distid, account },
        poKey(field('PONumber'), profile),
        null,
      ),
      stages: [],
    }),
    (_db, orders) => orders.flatMap((order) => trackingRows(call, order)),
  )

/** What shows orders. */
export const ORDER_LISTS: Readonly<Record<string, Operation>> = {
  GetHeader: { params: ['CustomerOrderNumber', 'OrderNumber'], act: getHeader },
  GetDetail: { params: ['CustomerOrderNumber', 'OrderNumber'], act: getDetail },
}
export const INVOICE_LISTS: Readonly<Record<string, Operation>> = {
  GetTrackingByPo: { params: ['PONumber'], act: getTracking },
}

interface Lists {
  orders: SalesOrder[]
  stages: Stage[]
}

/** By the number, or by the reference. */
function named(db: Db, { profile, account, field }: Call): Lists {
  const owner = { distid: profile.distid, account }
  const [number, reference] = [field('OrderNumber'), field('CustomerOrderNumber')]
  const known = numberAt(profile, number)
  const byNumber = orderAt(db, owner, known)
  const byReference = reference === '' ? [] : ordersByRef(db, owner, reference)
  return {
    orders: [
      ...(byNumber ? [byNumber] : []),
      ...byReference.filter((order) => order.number !== known),
    ],
    stages: stagesLike(db, owner, number, reference),
  }
}

/** The rows of what was asked for, or what keeps them from being told. */
function shown(
  call: Call,
  find: (db: Db, call: Call) => Lists,
  rows: (db: Db, orders: readonly SalesOrder[], stages: readonly Stage[]) => Row[],
): ReturnType<Operation['act']> {
  const { world, profile, account, visit } = call
  const now = world.now()
  const tell = (db: Db): Told => {
    const { orders, stages } = find(db, call)
    return {
      rows: rows(
        db,
        orders.filter((order) => !isLookupDown(order, now)),
        stages,
      ),
    }
  }
  const { told, fault } = lookAt<Told>(
    { world, profile, account, visit },
    { tell, down: { down: true }, ordersOf: (db) => find(db, call).orders },
  )
  return { told: told ?? { string: '' }, fault }
}

function headerRow(call: Call, order: SalesOrder): Row {
  const { number, listedPo: po, clientRef, executedAt } = order
  return headerColumns(call, {
    number: digitsOf(number),
    po,
    // What nobody gave has none.
    reference: clientRef === null || clientRef.startsWith('outside ') ? '' : clientRef,
    date: dateTime(executedAt),
    status: letterOf(call.profile, order, call.world.now()),
  })
}

/** It is verified until it is confirmed, and as long as it is held back; a cancellation is not told. */
function letterOf(profile: Profile, order: SalesOrder, now: number): 'D' | 'R' | 'E' {
  const status = statusAt(profile, order, now)
  if (status === 'Not Fulfilled') return 'E'
  const isKept = status === 'FFL Hold' || status === 'Backordered'
  return isKept || now < order.placedAt + CONFIRMED ? 'R' : 'D'
}

function headerColumns(
  { account, field }: Call,
  order: { number: string; po: string; reference: string; date: string; status: string },
): Row {
  return {
    ORDNO: order.number,
    ORCUST: account,
    ORPO: order.po,
    ORCONO: order.reference,
    ORDATE: order.date,
    MSG: '',
    ORAIR: '',
    ORSRC: field('Source'),
    STATUS: order.status,
  }
}

function detailRows(
  { world, profile }: Call,
  db: Db,
  { number, lines }: { number: string; lines: readonly CommittedLine[] },
): Row[] {
  return lines.map(({ distsku, qty, committed }, place) => ({
    ORDNO: number,
    ORLINE: String(place + 1),
    ORITEM: distsku,
    ORQTY: String(qty),
    ORPRC: priceOf(world, distsku),
    ORQTYF: String(committed),
    ORPRCF: committed > 0 ? priceOf(world, distsku) : '0.00',
    ORDCMT: '',
    ORPO2: '',
    QTYOH: String(stockLeft(db, world, profile.distid, distsku) ?? 0),
  }))
}

/** When it left, and in which parcels; undefined as long as it did not. */
const shipmentOf = ({ world, profile }: Call, order: SalesOrder) =>
  lifeOf(profile, order).find(({ parcels, at }) => parcels && at <= world.now())

function trackingRows(call: Call, order: SalesOrder): Row[] {
  const shipment = shipmentOf(call, order)
  if (!shipment) return []
  const rows = shipment.parcels!.map(({ trackingNumber, company, method, shippedOn }) => ({
    INVNO: digitsOf(order.number),
    CUSNO: call.account,
    PONBR: order.listedPo,
    SHPDTE: `${shippedOn}T00:00:00+00:00`,
    TRACKNO: trackingNumber,
    PKGWT: '2.00',
    CODAMT: '0.00',
    HAZMAT: 'N',
    SHPAMT: '0.00',
    SERVICE: `${company} ${method}`,
  }))
  return order.scenario === 'DUPLICATE-ACK'
    ? Array.from({ length: REPEATED }, () => rows).flat()
    : rows
}

/** As services of .NET write it. */
const dateTime = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, '+00:00')
