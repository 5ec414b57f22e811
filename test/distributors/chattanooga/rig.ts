/** Orders for Chattanooga, and a server over a socket that answers as a test wants it to. */
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chattanoogaOrders } from '../../../lib/distributors/builtin/chattanooga/orders.js'
import type { OrderSession, PurchaseOrder } from '../../../lib/distributors/fulfillment.js'
import { Logins, loginsOf } from '../../../lib/distributors/session/logins.js'
import { openSession } from '../../../lib/distributors/session/open-session.js'
import { Transcript } from '../../../lib/distributors/session/transcript.js'

export const NOW = Date.UTC(2026, 10, 21, 20)
/** Whose MD5 is known from elsewhere than our own code: RFC 1321. */
export const SETTINGS = { api_sid: 'SID-1', api_token: 'message digest' }
export const AUTHORIZATION = 'Basic SID-1:f96b697d7cb7938d525a2f31aaf161d0'

const CUSTOMER = {
  name: 'Pat Doe',
  email: 'pat@customer.example',
  address1: '12 Main St',
  address2: 'Apt 3',
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
  phone: '480-555-0199',
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
    lines: [
      {
        distsku: 'SLW-07919',
        upc: '012345678905',
        name: 'Sling',
        qty: 2,
        unitPrice: 1_999,
        fflRequired: false,
      },
    ],
    shipTo: CUSTOMER,
    customer: CUSTOMER,
    ffl: null,
    takenAt: NOW,
    ...more,
  }
}

/** A pistol and a sling in one order: at Chattanooga they may be. */
export const FIREARM = orderOf({
  fflRequired: true,
  lines: [
    { ...orderOf().lines[0]!, distsku: 'GLK-G19', qty: 1, fflRequired: true },
    orderOf().lines[0]!,
  ],
  shipTo: DEALER,
  ffl: { licenseNumber: '9-86-013-01-8A-12345', name: 'Desert Arms LLC', expiresOn: '2028-01-01' },
})

export interface Call {
  method: string
  /** With its query, and without a slash in front. */
  path: string
  headers: IncomingHttpHeaders
  body: string
}
export type Answer = (call: Call, response: ServerResponse) => void

export const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  (_call, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(value))
export const text =
  (value: string, status = 200, type = 'application/json'): Answer =>
  (_call, response) =>
    void response.writeHead(status, { 'content-type': type }).end(value)
export const broken: Answer = (_call, response) => void response.destroy()

/** The license that every dealer has where a test says nothing else of it. */
const ON_FILE = json({
  federal_firearms_licenses: [{ on_file_flag: 1, drop_ship_opted_out_flag: 0 }],
})

export interface Scene {
  session: OrderSession
  calls: Call[]
  transcript: Transcript
}

/** A server that gives one answer to all but questions about licenses. */
export async function withServer<R>(
  answer: Answer,
  work: (scene: Scene) => Promise<R>,
  {
    license = ON_FILE,
    settings = SETTINGS as Record<string, unknown>,
    logins = new Logins(() => 0),
  } = {},
): Promise<R> {
  const calls: Call[] = []
  const server = createServer((request: IncomingMessage, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const { method, url, headers } = request
      const call: Call = {
        method: method!,
        path: url!.slice(1),
        headers,
        body: Buffer.concat(pieces).toString(),
      }
      calls.push(call)
      ;(call.path.startsWith('federal-firearms-licenses/') ? license : answer)(call, response)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const transcript = new Transcript(() => NOW, [String(settings['api_token'])])
  try {
    const plain = openSession(
      { name: 'Chattanooga' },
      {
        settings,
        signal: new AbortController().signal,
        now: () => NOW,
        login: loginsOf({ logins }, { distid: 'CSSI', mode: 'live' }),
        transcript,
      },
    )
    const session: OrderSession = {
      ...plain,
      http: plain.httpAt(address, { hosts: [], simulator: {} }),
      stage: null,
      keepStage: () => Promise.reject(new Error('it has no stages')),
    }
    return await work({ session, calls, transcript })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

export const { submit, find, updates, limits } = chattanoogaOrders()

/** What comes of an order that is answered so. */
export const outcomeOf = (answer: Answer, order = orderOf(), license?: Answer) =>
  withServer(answer, ({ session }) => submit(session, order), { ...(license && { license }) })
