/** Clients of the test's own, and what they are refused with. */
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { RemoteError, connect } from '../../lib/connect.js'
import type { ConnectOptions, Shop } from '../../lib/connect.js'
import { listen } from '../../server/index.js'
import type { TestApp } from '../../server/testing/index.js'
import { rawServer } from './raw-server.js'
import type { Reply } from './raw-server.js'

export const KEY = 'CANARY0123456789CANARY0123456789CANARY01'
export const PING = { pong: true, key_name: 'web shop', tier: 'standard' }
export const ORDER = {
  order_id: 'W-1',
  customer: {
    name: 'P',
    email: 'p@customer.example',
    address1: '1',
    city: 'P',
    state: 'AZ',
    zip: '85001',
  },
  items: [{ distid: 'RSR', distsku: 'A', upc: '1', qty: 1 }],
}

/** A client that notes how long it would wait, and waits no time. */
export function quick(url: string, options: ConnectOptions = {}) {
  const waits: number[] = []
  return {
    waits,
    shop: connect(url, KEY, {
      sleep: async (seconds) => {
        waits.push(seconds)
      },
      random: () => 0.5,
      ...options,
    }),
  }
}

/** What a call is refused with, once a server has said all this. */
export async function failureOf(
  replies: Reply[],
  call: (shop: Shop) => Promise<unknown>,
  options?: ConnectOptions,
) {
  await using server = await rawServer(...replies)
  const { shop, waits } = quick(server.url, options)
  const error = await call(shop).then(
    () => assert.fail('was answered'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof RemoteError, inspect(error))
  assert.ok(
    !inspect(error, { depth: 9, showHidden: true }).includes('CANARY') &&
      !JSON.stringify(error).includes('CANARY') &&
      !error.stack!.includes('CANARY'),
    'an error never shows the key',
  )
  return { error, waits, asked: server.asked }
}

/** A port at which nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** A server of a real app on a real socket. */
export async function served(t: TestApp) {
  const server = await listen(t.server, { port: 0, host: '127.0.0.1' })
  t.app.listensAt(server.url)
  return server
}
