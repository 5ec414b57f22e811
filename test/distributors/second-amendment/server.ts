/** A server in 2nd Amendment Wholesale's place, with an answer for each call, and orders to send there. */
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { OrderSession, PurchaseOrder } from '../../../lib/distributors/fulfillment.js'
import { Logins, loginsOf } from '../../../lib/distributors/session/logins.js'
import { openSession } from '../../../lib/distributors/session/open-session.js'
import { Transcript } from '../../../lib/distributors/session/transcript.js'

export const NOW = Date.UTC(2026, 10, 21, 12)
export const SETTINGS: Readonly<Record<string, unknown>> = {
  api_token: 'secret-token-1',
  ffl_recipient_emails: ['ffl@shop.example'],
  billing_company: 'Main Street Guns',
  billing_first_name: 'Sam',
  billing_last_name: 'Smith',
  billing_street: '1 Shop Plaza',
  billing_city: 'Mesa',
  billing_state: 'AZ',
  billing_postal_code: '85201',
  billing_email: 'sam@shop.example',
  billing_phone: '480-555-0100',
}
const PERSON = {
  name: 'Pat van Doe',
  address1: '12 Main St',
  address2: 'Apt 3',
  city: 'Phoenix',
  state: 'az',
  zip: '85001-1234',
  phone: '602-555-0100',
}
export const DEALER = {
  name: 'Desert Arms LLC',
  address1: '99 Range Rd',
  address2: null,
  city: 'Austin',
  state: 'TX',
  zip: '73301',
  phone: null,
}
export const LINE = {
  distsku: 'TH1-BLK',
  upc: '856534007387',
  name: 'Tailhook "MOD 1"',
  qty: 2,
  unitPrice: 7_999,
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
    shipTo: PERSON,
    customer: { ...PERSON, email: 'pat@customer.example' },
    ffl: null,
    takenAt: NOW,
    ...more,
  }
}
export const FIREARM = orderOf({
  fflRequired: true,
  lines: [{ ...LINE, distsku: 'G-17', qty: 1, fflRequired: true }],
  shipTo: DEALER,
  ffl: { licenseNumber: '9-86-013-01-8A-12345', name: 'Desert Arms LLC', expiresOn: '2028-01-01' },
})

export interface Call {
  /** `POST carts/mine/items`. */
  what: string
  body: string
  authorization: string | undefined
}
export type Answer = (call: Call, response: ServerResponse, n: number) => void

export const json =
  (value: unknown, status = 200): Answer =>
  (_call, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
      .end(JSON.stringify(value))
export const raw =
  (body: string, status = 200, type = 'application/json'): Answer =>
  (_call, response) =>
    void response.writeHead(status, { 'content-type': type }).end(body)
export const broken: Answer = (_call, response) => void response.destroy()
/** The first of them for the first call, and so on; the last one for all that follow. */
export const inTurn =
  (...answers: Answer[]): Answer =>
  (call, response, n) =>
    answers[Math.min(n, answers.length) - 1]!(call, response, n)
export const refused = (message: string, parameters?: unknown, status = 400): Answer =>
  json({ message, parameters }, status)

export const LABEL = '[ref REF00000000000000001 2026-11-21T12:00:00.000Z]'
export const cart = (more: object = {}) => ({
  id: 17,
  items: [] as unknown[],
  customer_note: '',
  ...more,
})
/** As it is once the order is in it. */
export const filled = (more: object = {}) =>
  cart({
    items: [{ item_id: 5, sku: 'TH1-BLK', qty: 2, quote_id: '17' }],
    customer_note: LABEL,
    extension_attributes: {
      shipping_assignments: [{ shipping: { address: { postcode: '85001-1234' } } }],
    },
    ...more,
  })
export const rate = (more: object = {}) => ({
  carrier_code: 'ups',
  method_code: 'GND',
  carrier_title: 'UPS',
  method_title: 'Ground',
  amount: 11.99,
  available: true,
  ...more,
})

/** All goes well. */
export const GOOD: Readonly<Record<string, Answer>> = {
  'POST carts/mine': json('17'),
  'GET carts/mine': inTurn(json(cart()), json(filled())),
  'GET directory/countries/US': json({
    id: 'US',
    available_regions: [
      { id: '4', code: 'AZ', name: 'Arizona' },
      { id: '57', code: 'TX', name: 'Texas' },
    ],
  }),
  'GET carts/licence': json([{ agreement_id: 3, name: 'Terms' }]),
  'PUT carts/mine/set-customer-note': json(true),
  'PUT carts/mine/set-po-number': json(true),
  'POST carts/mine/items': json({ item_id: 5 }),
  'POST carts/mine/estimate-shipping-methods': json([rate()]),
  'POST carts/mine/shipping-information': json({
    payment_methods: [{ code: 'checkmo', title: 'Terms' }],
    totals: {},
  }),
  'POST carts/mine/payment-information': json('4711'),
  'GET orders/4711': json({ entity_id: 4711, increment_id: '000012345' }),
  'GET shipmentsInformation/me?fromShipmentCreateAt=2026/11/20': json([]),
}

export interface Scene {
  session: OrderSession
  calls: Call[]
  /** `what` of each call. */
  made(): string[]
  bodyOf(what: string): unknown
  /** What was kept, in turn. */
  stages: string[]
  transcript: Transcript
}

export interface SceneOptions {
  answers?: Readonly<Record<string, Answer>>
  settings?: Readonly<Record<string, unknown>>
  stage?: string | null
  now?: number
  keepStage?: (stage: string) => Promise<void>
}

/** Works with a server that answers these calls otherwise than well. */
export async function withServer<R>(
  { answers = {}, settings = SETTINGS, stage = null, now = NOW, keepStage }: SceneOptions,
  work: (scene: Scene) => Promise<R>,
): Promise<R> {
  const calls: Call[] = []
  const counts = new Map<string, number>()
  const server = createServer((request: IncomingMessage, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const what = `${request.method} ${request.url!.slice(1)}`
      const call = {
        what,
        body: Buffer.concat(pieces).toString(),
        authorization: request.headers.authorization,
      }
      calls.push(call)
      const n = (counts.get(what) ?? 0) + 1
      counts.set(what, n)
      const answer = answers[what] ?? GOOD[what] ?? refused('No such route', undefined, 404)
      answer(call, response, n)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const transcript = new Transcript(() => now, [String(settings['api_token'])])
  const stages: string[] = []
  const plain = openSession(
    { name: '2nd Amendment Wholesale' },
    {
      settings,
      signal: new AbortController().signal,
      now: () => now,
      login: loginsOf({ logins: new Logins(() => now) }, { distid: '2AW', mode: 'live' }),
      transcript,
    },
  )
  try {
    return await work({
      calls,
      stages,
      transcript,
      made: () => calls.map(({ what }) => what),
      bodyOf: (what) => {
        const found = calls.find((call) => call.what === what)
        return found && (JSON.parse(found.body) as unknown)
      },
      session: {
        ...plain,
        http: plain.httpAt(address, { hosts: [], simulator: {} }),
        stream: plain.streamAt(address, { hosts: [], simulator: {} }),
        stage,
        keepStage:
          keepStage ??
          (async (kept) => {
            stages.push(kept)
          }),
      },
    })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
