/** A server in Zanders' place, with an answer for each operation, and orders to send there. */
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { OrderSession, PurchaseOrder } from '../../../lib/distributors/fulfillment.js'
import { Logins, loginsOf } from '../../../lib/distributors/session/logins.js'
import { openSession } from '../../../lib/distributors/session/open-session.js'
import { writeAnswer } from '../../../lib/distributors/builtin/zanders/soap.js'
import type { ValueMap } from '../../../lib/distributors/builtin/zanders/soap.js'

/** 14:00 in Central time. */
export const NOW = Date.UTC(2026, 10, 21, 20)

export const CUSTOMER = {
  name: 'Pat Doe',
  email: 'pat@customer.example',
  address1: '12 Main St',
  address2: 'Apt 3 & 4',
  city: 'Phoenix',
  state: 'az',
  zip: '85001-1234',
  phone: '602-555-0100',
}
const DEALER = {
  name: 'Desert Arms LLC',
  address1: '99 Range Rd',
  address2: null,
  city: 'Mesa',
  state: 'AZ',
  zip: '85201',
  phone: null,
}
const LINE = {
  distsku: 'AC100042',
  upc: '012345678905',
  name: 'Sling',
  qty: 2,
  unitPrice: 1_989,
  fflRequired: false,
}

export function orderOf(more: Partial<PurchaseOrder> = {}): PurchaseOrder {
  return {
    clientRef: 'REF00000000000000001',
    serial: 1,
    po: 'W-1-ABCD-010',
    poGiven: 'W-1-ABCD-010',
    poIsOurs: true,
    lane: 'accessories',
    fflRequired: false,
    shipToStore: false,
    lines: [LINE],
    shipTo: CUSTOMER,
    customer: CUSTOMER,
    ffl: null,
    takenAt: NOW,
    ...more,
  }
}

export const FIREARM = orderOf({
  lane: 'firearms',
  fflRequired: true,
  lines: [{ ...LINE, distsku: 'GSPEC0595A', qty: 1, unitPrice: 30_262, fflRequired: true }],
  shipTo: DEALER,
  ffl: { licenseNumber: '9-86-013-01-8A-12345', name: 'Desert Arms LLC', expiresOn: '2028-01-01' },
})

export interface Call {
  service: string
  operation: string
  body: string
}
export type Answer = (call: Call, response: ServerResponse, n: number) => void

export const raw =
  (body: string, status = 200, type = 'application/soap+xml; charset=utf-8'): Answer =>
  (_call, response) =>
    void response.writeHead(status, { 'content-type': type }).end(body)
export const map =
  (told: ValueMap): Answer =>
  (call, response) =>
    raw(writeAnswer(`http://shop2.gzanders.com/webservice/${call.service}`, call.operation, told))(
      call,
      response,
      0,
    )
export const code = (returnCode: number, reason?: string, more: ValueMap = {}): Answer =>
  map({ returnCode, ...more, ...(reason !== undefined && { reason }) })
export const broken: Answer = (_call, response) => void response.destroy()
/** The head promises more than comes. */
export const cut: Answer = (_call, response) => {
  response.writeHead(200, { 'content-type': 'application/soap+xml', 'content-length': '9999' })
  response.write('<?xml version="1.0"?><env:Env', () => response.destroy())
}

/** A dealer's ship-to as it is shown. */
export const shipTo = (more: ValueMap = {}): ValueMap => ({
  ShipToCustomerNo: '900007',
  ShipToNo: '0003',
  ShipToName: 'DESERT ARMS LLC',
  ShipToAddress1: '99 RANGE ROAD',
  ShipToState: 'AZ',
  ShipToZipCode: '85201-0001',
  ShipToFFLNo: '98612345',
  ShipToFFLExpDate: '2028-01-01T00:00:00',
  ...more,
})

/** All goes well. */
export const GOOD: Readonly<Record<string, Answer>> = {
  loginCheck: code(0),
  useShipTo: map({ returnCode: 0, shipToAddress: shipTo() }),
  createOrder: map({ returnCode: 0, orderNumber: 1_111_111 }),
  getOrderInfo: map({
    returnCode: 0,
    purchaseOrderNumber: 'W-1-ABCD-010',
    orderShipDate: '2026-11-21T00:00:00',
    datePicked: '',
  }),
  getTrackingInfo: map({ returnCode: 0, numberOfShipments: 0 }),
}

export const SETTINGS = {
  accessories_user: 'acc',
  accessories_password: 'pass&word',
  firearms_user: 'guns',
  firearms_password: 'guns-secret',
  store_user: 'main',
  store_password: 'main-secret',
}

export interface Wired {
  session: OrderSession
  calls: Call[]
  /** The operations that were called. */
  called(): string[]
}

/** Runs with a server that answers so, where it differs from all going well. */
export async function withServer<R>(
  answers: Readonly<Record<string, Answer>>,
  work: (wired: Wired) => Promise<R>,
  {
    settings = SETTINGS,
    logins = new Logins(() => 0),
  }: { settings?: Record<string, unknown>; logins?: Logins } = {},
): Promise<R> {
  const calls: Call[] = []
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString()
      const operation = /<ns1:(\w+) /.exec(body)?.[1] ?? ''
      const call = { service: request.url!.slice(1), operation, body }
      calls.push(call)
      const n = calls.filter((one) => one.operation === operation).length
      const answer = answers[operation] ?? GOOD[operation]!
      answer(call, response, n)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  try {
    const login = loginsOf({ logins }, { distid: 'ZND', mode: 'live' })
    const { signal } = new AbortController()
    const plain = openSession({ name: 'Zanders' }, { settings, signal, now: () => NOW, login })
    const session: OrderSession = {
      ...plain,
      http: plain.httpAt(address, { hosts: [], simulator: {} }),
      stage: null,
      keepStage: () => Promise.reject(new Error('no stage is kept')),
    }
    return await work({ session, calls, called: () => calls.map((one) => one.operation) })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
