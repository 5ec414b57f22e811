/**
 * Requests at a steady rate, whether the earlier ones were answered or not: each is timed from the
 * moment at which it was due, so a server that stands still shows in all that waited for it.
 */
import { Agent, request } from 'node:http'
import { randomFrom } from '../bench/offers.js'
import type { SoakShop } from './shop.js'

/** Milliseconds between two looks at what is due. */
const TICK = 10
/** A request that has no answer by then counts as failed, in milliseconds. */
const PATIENCE = 70_000
/** Orders that one key may place in an hour, with room for a clock that is a little ahead. */
const ORDERS_A_KEY = 58

export interface Answered {
  kind: string
  /** 0 where there was no answer. */
  status: number
  /** From when it was due to the last byte of the answer. */
  milliseconds: number
}

interface Call {
  kind: string
  method: 'GET' | 'POST'
  path: string
  key: string
  body?: unknown
}

/** What is asked, and how often in a thousand. */
const MIX: readonly (readonly [kind: string, share: number])[] = [
  ['ping', 100],
  ['search', 440],
  ['detail', 120],
  ['facets', 20],
  ['quote', 90],
  ['check', 70],
  ['dealers', 40],
  ['orders', 60],
  ['history', 30],
  ['analytics', 20],
  ['fraud', 7],
  ['configuration', 3],
]
const WORDS = ['pistol', 'rifle 9mm', 'acme model', 'range bag', 'bipod', '12ga pump', 'brand 7']
const PLACES = [
  { state: 'AZ', zip: '85001' },
  { state: 'TX', zip: '77002' },
  { state: 'FL', zip: '33130' },
  { state: 'CA', zip: '94105' },
  { state: 'CO', zip: '80202' },
  { state: 'NY', zip: '10001' },
]
const METRICS = ['top-products', 'on-sale', 'trending', 'price-gaps', 'new-arrivals']

export class Load {
  readonly #shop: SoakShop
  readonly #url: () => string
  readonly #onAnswer: (answer: Answered) => void
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 })
  readonly #random = randomFrom(7)
  readonly #minutes: number
  #timer: NodeJS.Timeout | undefined
  #turn = 0
  #orders = 0
  #inFlight = 0
  /** Order ids that were answered as placed or pending. */
  readonly placed: string[] = []

  constructor(
    shop: SoakShop,
    options: { url: () => string; minutes: number; onAnswer: (answer: Answered) => void },
  ) {
    this.#shop = shop
    this.#url = options.url
    this.#minutes = options.minutes
    this.#onAnswer = options.onAnswer
  }

  /** So many requests a second until `stop`. */
  start(rate: number): void {
    const begun = performance.now()
    let sent = 0
    let ordered = 0
    // As many orders as the keys may place in the time, evenly.
    const hours = Math.max(1, this.#minutes / 60)
    const mostOrders = Math.min(
      this.#shop.keys.length * ORDERS_A_KEY * hours,
      this.#minutes * 60 * (rate / 100),
    )
    this.#timer = setInterval(() => {
      const seconds = (performance.now() - begun) / 1_000
      for (; sent < seconds * rate; sent++) this.#send(this.#next(), begun + (sent / rate) * 1_000)
      const due = Math.floor((seconds / (this.#minutes * 60)) * mostOrders)
      for (; ordered < Math.min(due, mostOrders); ordered++)
        this.#send(this.#order(), performance.now())
    }, TICK)
  }

  /** Sends nothing more, and waits for what is on its way. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    while (this.#inFlight > 0) await new Promise((done) => setTimeout(done, 50))
    this.#agent.destroy()
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#random.below(list.length)]!
  }

  #next(): Call {
    let left = this.#random.below(MIX.reduce((all, [, share]) => all + share, 0))
    const [kind] = MIX.find(([, share]) => (left -= share) < 0)!
    const key = this.#shop.keys[this.#turn++ % this.#shop.keys.length]!
    const get = (path: string): Call => ({ kind, method: 'GET', path, key })
    const post = (path: string, body: unknown): Call => ({ kind, method: 'POST', path, key, body })
    const upc = this.#pick(this.#shop.upcs)
    switch (kind) {
      case 'search':
        return get(
          `/v1/products/search?q=${encodeURIComponent(this.#pick(WORDS))}&page_size=25` +
            `&sort=${this.#pick(['name', 'price', '-qty'])}&page=${1 + this.#random.below(4)}`,
        )
      case 'detail':
        return get(`/v1/products/${upc}`)
      case 'facets':
        return get('/v1/products/facets')
      case 'quote':
        return post('/v1/orders/quote', {
          items: [upc, this.#pick(this.#shop.upcs)].map((of) => ({ upc: of, qty: 1 })),
        })
      case 'check':
        return post('/v1/restrictions/check', {
          shipping: this.#pick(PLACES),
          items: [{ upc }],
        })
      case 'dealers':
        return get(`/v1/ffls?zip=${this.#pick(PLACES).zip}&radius=50`)
      case 'orders':
        return get('/v1/orders?limit=25')
      case 'history':
        return get('/v1/fulfillment/history?limit=25')
      case 'analytics':
        return get(`/v1/analytics/${this.#pick(METRICS)}`)
      case 'fraud':
        return post('/v1/fraud/check', { email: `buyer${this.#random.below(9999)}@mail.example` })
      case 'configuration':
        return get('/v1/config')
      default:
        return get('/v1/ping')
    }
  }

  #order(): Call {
    const number = ++this.#orders
    const { distid, distsku, upc } = this.#shop.items[number % this.#shop.items.length]!
    return {
      kind: 'order',
      method: 'POST',
      path: '/v1/orders',
      key: this.#shop.keys[number % this.#shop.keys.length]!,
      body: {
        order_id: `SOAK-${number}`,
        items: [{ distid, distsku, upc, qty: 1 }],
        customer: {
          name: 'Pat Doe',
          email: 'pat@customer.example',
          phone: '602-555-0100',
          address1: '12 Main St',
          city: 'Phoenix',
          state: 'AZ',
          zip: '85001',
        },
      },
    }
  }

  #send(call: Call, due: number): void {
    this.#inFlight++
    let isOver = false
    const over = (status: number, body?: Buffer) => {
      if (isOver) return
      isOver = true
      this.#inFlight--
      if (call.kind === 'order' && status === 200) this.#note(call, body!)
      this.#onAnswer({ kind: call.kind, status, milliseconds: performance.now() - due })
    }
    const sent = request(
      `${this.#url()}${call.path}`,
      {
        method: call.method,
        agent: this.#agent,
        headers: { 'x-api-key': call.key, 'content-type': 'application/json' },
        timeout: PATIENCE,
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => over(response.statusCode!, Buffer.concat(chunks)))
        response.on('error', () => over(0))
      },
    )
    sent.on('timeout', () => sent.destroy(new Error('no answer')))
    sent.on('error', () => over(0))
    sent.end(call.body === undefined ? undefined : JSON.stringify(call.body))
  }

  #note(call: Call, body: Buffer): void {
    const { success } = JSON.parse(body.toString('utf8')) as { success: boolean }
    if (success) this.placed.push((call.body as { order_id: string }).order_id)
  }
}
