/** A server in Sports South's place, with an answer for each operation, and orders to send there. */
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { OrderSession, PurchaseOrder } from '../../../lib/distributors/fulfillment.js'
import { Logins, loginsOf } from '../../../lib/distributors/session/logins.js'
import { openSession } from '../../../lib/distributors/session/open-session.js'

export const CUSTOMER = {
  name: 'Pat Doe',
  email: 'pat@customer.example',
  address1: '12 Main St',
  address2: 'Apt 3',
  city: 'Phoenix',
  state: 'az',
  zip: '85001-1234',
  phone: '+1 (602) 555-0100',
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
  distsku: '50001',
  upc: '012345678905',
  name: 'Sling & Swivel',
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
    lane: 'all',
    fflRequired: false,
    shipToStore: false,
    lines: [LINE],
    shipTo: CUSTOMER,
    customer: CUSTOMER,
    ffl: null,
    takenAt: Date.UTC(2026, 10, 21, 12),
    ...more,
  }
}

export const FIREARM = orderOf({
  fflRequired: true,
  lines: [{ ...LINE, distsku: '50004', qty: 1, unitPrice: 30_262, fflRequired: true }],
  shipTo: DEALER,
  ffl: { licenseNumber: '9-86-013-01-8A-12345', name: 'Desert Arms LLC', expiresOn: '2028-01-01' },
})
export const TWO_LINES = orderOf({ lines: [LINE, { ...LINE, distsku: '50002', qty: 1 }] })

export interface Call {
  /** `orders.asmx/Submit`, for short `Submit`. */
  path: string
  operation: string
  /** As it was posted. */
  body: string
  fields: Record<string, string>
}
export type Answer = (call: Call, response: ServerResponse, n: number) => void

const xml = (type: string, text: string): Answer => {
  const body =
    `<?xml version="1.0" encoding="utf-8"?>\r\n<${type} ` +
    `xmlns="http://webservices.theshootingwarehouse.com/smart/Orders">${text}</${type}>`
  return raw(body)
}
export const raw =
  (body: string, status = 200, headers: Record<string, string> = {}): Answer =>
  (_call, response) =>
    void response
      .writeHead(status, { 'content-type': 'text/xml; charset=utf-8', ...headers })
      .end(body)
export const int = (number: number | string): Answer => xml('int', String(number))
export const yes = xml('boolean', 'true')
export const no = xml('boolean', 'false')
export const text = (said: string): Answer => xml('string', said)
const escaped = (one: string) =>
  one.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
/** Rows as a document within the document. */
export const rows = (...all: Record<string, string>[]): Answer =>
  text(
    escaped(
      all.length === 0
        ? '<NewDataSet />'
        : `<NewDataSet>${all
            .map(
              (row) =>
                `<Table>${Object.entries(row)
                  .map(([name, value]) => `<${name}>${escaped(value)}</${name}>`)
                  .join('')}</Table>`,
            )
            .join('')}</NewDataSet>`,
    ),
  )
/** The first of them for the first call, and so on; the last one for all that follow. */
export const inTurn =
  (...answers: Answer[]): Answer =>
  (call, response, n) =>
    answers[Math.min(n, answers.length) - 1]!(call, response, n)
export const broken: Answer = (_call, response) => void response.destroy()

export const header = (STATUS: string, more: Record<string, string> = {}): Answer =>
  rows({ ORDNO: '1200099', ORPO: 'W-1-ABCD-010', ORCONO: 'REF00000000000000001', STATUS, ...more })
export const detail = (ORITEM: string, ORQTY: string, ORQTYF = '0') => ({
  ORDNO: '1200099',
  ORLINE: '1',
  ORITEM,
  ORQTY,
  ORQTYF,
})

/** All goes well. */
export const GOOD: Readonly<Record<string, Answer>> = {
  TransferDocumentsRequired: text('Y'),
  AddHeader: int(1_200_099),
  AddShipInstructions: yes,
  AddDetail: yes,
  Submit: yes,
  DeleteOpenOrder: yes,
  GetHeader: header('D'),
  GetDetail: rows(detail('50001', '2')),
  GetTrackingByPo: rows(),
  GetEmailPrefs: rows({ CUEML: 'store@shop.example' }),
}

export const SETTINGS = { api_user: 4711, api_customer_number: 4712, api_password: 'pass&word' }

export interface Wired {
  session: OrderSession
  calls: Call[]
  /** What was kept. */
  stages: string[]
  /** The operations that were called. */
  called(): string[]
}

export interface WireOptions {
  stage?: string | null
  settings?: Record<string, unknown>
  logins?: Logins
}

/** Runs with a server that answers so, where it differs from all going well. */
export async function withServer<R>(
  answers: Readonly<Record<string, Answer>>,
  work: (wired: Wired) => Promise<R>,
  { stage = null, settings = SETTINGS, logins = new Logins(() => 0) }: WireOptions = {},
): Promise<R> {
  const calls: Call[] = []
  const stages: string[] = []
  const server = createServer((request: IncomingMessage, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const path = request.url!.slice(1)
      const body = Buffer.concat(pieces).toString()
      const operation = path.replace(/^.*\//, '')
      const fields = Object.fromEntries(new URLSearchParams(body))
      calls.push({ path, operation, body, fields })
      const answer = answers[operation] ?? GOOD[operation]!
      const n = calls.filter((call) => call.operation === operation).length
      answer(calls.at(-1)!, response, n)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const { signal } = new AbortController()
  const now = () => Date.UTC(2026, 10, 21, 20)
  try {
    const login = loginsOf({ logins }, { distid: 'TSW', mode: 'live' })
    const plain = openSession({ name: 'Sports South' }, { settings, signal, now, login })
    const session: OrderSession = {
      ...plain,
      http: plain.httpAt(address, { hosts: [], simulator: {} }),
      stage,
      keepStage: async (kept) => {
        await new Promise(setImmediate)
        stages.push(`${kept} after ${calls.at(-1)?.operation}`)
      },
    }
    return await work({
      session,
      calls,
      stages,
      called: () => calls.map(({ operation }) => operation),
    })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
