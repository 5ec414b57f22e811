/**
 * A distributor whose books are the truth: it keeps every order that it took, also one that nobody
 * was told of, in the process that proves. Nodes reach it over a socket.
 */
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { pause } from '../../lib/core/async/wait.js'
import { ACME } from '../../test/feeds/bench.js'
import { defineDistributor } from '../../lib/distributors/distributor.js'
import type { Distributor } from '../../lib/distributors/distributor.js'
import type {
  FoundOrder,
  Fulfillment,
  PurchaseOrder,
  Search,
  Submission,
} from '../../lib/distributors/fulfillment.js'

/** One is asked what it has before anything is sent again, the other knows a purchase order's number. */
export const WAREHOUSES = [
  { distid: 'LKP', name: 'Lookup Wholesale', recovery: 'lookup' },
  { distid: 'RSD', name: 'Resend Wholesale', recovery: 'resend' },
] as const

export interface Taken {
  distid: string
  number: string
  order: PurchaseOrder
}

export interface Warehouse {
  readonly url: string
  readonly books: readonly Taken[]
  /** It takes all that comes, and answers. */
  isCalm: boolean
  /** Calls that are under way. */
  readonly underWay: number
  close(): Promise<void>
}

/** What becomes of a send, by chance. */
const ACTS: readonly [share: number, act: 'take' | 'lose' | 'slow' | 'refuse' | 'busy' | 'drop'][] =
  [
    [0.55, 'take'],
    // Takes it, and nobody is told.
    [0.15, 'lose'],
    // Takes it seconds later, whoever still waits.
    [0.1, 'slow'],
    [0.08, 'refuse'],
    [0.07, 'busy'],
    // Takes nothing, and says nothing.
    [0.05, 'drop'],
  ]

export async function openWarehouse(random: () => number): Promise<Warehouse> {
  const books: Taken[] = []
  /** Purchase orders that it was sent, whatever became of them. */
  const seen = new Set<string>()
  let underWay = 0

  function take(distid: string, order: PurchaseOrder): Submission {
    const number = `${distid}-${books.length + 1}`
    books.push({ distid, number, order })
    return { outcome: 'accepted', number }
  }

  function chooseAct(distid: string, isSecond: boolean) {
    let left = random()
    const act = ACTS.find(([share]) => (left -= share) < 0)?.[1] ?? 'take'
    // It says nothing of the first send, and where nobody can ask, a person would have to decide.
    return act === 'refuse' && isSecond && distid === 'RSD' ? 'take' : act
  }

  async function submit(distid: string, order: PurchaseOrder): Promise<Submission | 'silence'> {
    await pause(random() * 200)
    const known = books.find((one) => one.distid === distid && one.order.po === order.po)
    // That one knows its purchase orders: a second send changes nothing.
    if (known && distid === 'RSD') return { outcome: 'accepted', number: known.number }
    if (self.isCalm) return take(distid, order)
    const isSecond = seen.has(order.po)
    seen.add(order.po)
    switch (chooseAct(distid, isSecond)) {
      case 'take':
        return take(distid, order)
      case 'lose':
        take(distid, order)
        return 'silence'
      case 'slow':
        await pause(1_000 + random() * 3_000)
        return books.some((one) => distid === 'RSD' && one.order.po === order.po)
          ? 'silence'
          : take(distid, order)
      case 'refuse':
        return { outcome: 'rejected', reason: 'it is sold out' }
      case 'busy':
        return { outcome: 'not_sent', reason: 'HTTP 503' }
      case 'drop':
        await pause(random() * 2_000)
        return 'silence'
    }
  }

  function find(distid: string, { po, clientRef }: PurchaseOrder): Search {
    const orders = books
      .filter((one) => one.distid === distid)
      .filter(({ order }) => order.po === po || order.clientRef === clientRef)
      .map(({ number, order }): FoundOrder => ({
        number,
        po: order.po,
        clientRef: order.clientRef,
        lines: order.lines.map(({ distsku, qty }) => ({ distsku, qty })),
        shipTo: {
          name: order.shipTo.name,
          address1: order.shipTo.address1,
          zip: order.shipTo.zip,
        },
      }))
    return { outcome: 'answered', orders }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, distid = '', what] = request.url!.split('/')
    const order = JSON.parse(Buffer.concat(await request.toArray()).toString()) as PurchaseOrder
    const said = what === 'find' ? find(distid, order) : await submit(distid, order)
    if (said === 'silence') return void response.destroy()
    response.end(JSON.stringify(said))
  }

  const server = createServer((request, response) => {
    underWay++
    answer(request, response)
      .catch(() => response.destroy())
      .finally(() => underWay--)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const self: Warehouse = {
    isCalm: false,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    books,
    get underWay() {
      return underWay
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return self
}

/** The warehouses as distributors of a node, and one that has a feed and takes no orders. */
export function warehousesAt(url: string): Distributor[] {
  const warehouses = WAREHOUSES.map(({ distid, name, recovery }) => {
    const ask = async (what: string, order: PurchaseOrder, signal: AbortSignal) => {
      const answer = await fetch(`${url}/${distid}/${what}`, {
        method: 'POST',
        headers: { connection: 'close' },
        body: JSON.stringify(order),
        signal,
      })
      return (await answer.json()) as unknown
    }
    const connector: Fulfillment = {
      recovery,
      limits: { po: { max: 60 }, sendTimeout: 5_000 },
      submit: async ({ signal }, order) => (await ask('submit', order, signal)) as Submission,
      ...(recovery === 'lookup' && {
        find: async ({ signal }, order) =>
          (await ask('find', order as PurchaseOrder, signal)) as Search,
      }),
    }
    return defineDistributor({
      distid,
      name,
      automatedFulfillment: true,
      settings: {},
      simulator: connector,
      fulfillment: connector,
    })
  })
  const fed = defineDistributor({
    distid: ACME.distid,
    name: 'Acme Wholesale',
    automatedFulfillment: false,
    settings: {},
    presets: [ACME],
  })
  return [...warehouses, fed]
}
