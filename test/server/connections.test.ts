/** Connections that are many, idle or slow, over real sockets from addresses of this machine. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { descriptorLimit, roomFor } from '../../server/http/connections.js'
import { listen } from '../../server/http/listen.js'
import type { Listening } from '../../server/http/listen.js'
import type { Server } from '../../server/http/app.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'

const SHOP = '127.0.0.1'
const HEADS = 'GET /v1/ping HTTP/1.1\r\nHost: x\r\n'

interface Client {
  socket: Socket
  heard: () => string
  closed: Promise<void>
}

/** A connection from an address of this machine's loopback network. */
async function client(url: string, from: string): Promise<Client> {
  let heard = ''
  const socket = connect({ port: Number(new URL(url).port), host: SHOP, localAddress: from })
  socket.on('error', () => {})
  socket.on('data', (bytes) => {
    heard += bytes.toString('latin1')
  })
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await Promise.race([closed, new Promise((resolve) => socket.once('connect', resolve))])
  return { socket, heard: () => heard, closed }
}

/** Opens one after the other, and returns those that the server lets be. */
async function crowd(url: string, from: readonly string[]): Promise<Client[]> {
  const all: Client[] = []
  for (const address of from) all.push(await client(url, address))
  // The last one was seen by the server once it answers; all the others were before.
  await ping(url)
  return all
}

async function ping(url: string, key = t.key): Promise<number> {
  const response = await fetch(`${url}/v1/ping`, {
    headers: { 'x-api-key': key, connection: 'close' },
  })
  await response.arrayBuffer()
  return response.status
}

const leave = (clients: readonly Client[]) =>
  Promise.all(
    clients.map(({ socket, closed }) => {
      socket.destroy()
      return closed
    }),
  )

/** How many are left, once as many as that are: the end of a connection needs a moment. */
async function staysAt(clients: readonly Client[], wanted: number): Promise<number> {
  const left = () => clients.filter(({ socket }) => !socket.closed).length
  for (let tries = 0; left() !== wanted && tries < 200; tries++)
    await new Promise((resolve) => setTimeout(resolve, 20))
  return left()
}

const many = (count: number, address: string) => Array.from({ length: count }, () => address)

let t: TestApp
before(async () => {
  t = await createTestApp({
    ips: [SHOP],
    server: { trustedProxies: ['127.0.3.0/24'], trustProxyDirect: true },
  })
})
after(() => t.close())

describe('connections of a process', () => {
  test('are as many as its descriptors leave room for; the next is turned away and told', async () => {
    let dropped = 0
    const listening = await listen(t.server, {
      port: 0,
      host: SHOP,
      connections: { most: 20, onDrop: () => dropped++ },
    })
    const within = await crowd(listening.url, many(19, SHOP))
    assert.deepEqual([await staysAt(within, 19), dropped], [19, 0])
    const above = [await client(listening.url, SHOP), await client(listening.url, SHOP)]
    assert.deepEqual([await staysAt(above, 1), dropped], [1, 1])
    await assert.rejects(ping(listening.url))
    await leave([...within, ...above])
    await listening.close(100)
  })

  test('leave descriptors for files, however few there are', () => {
    assert.deepEqual(roomFor(100), { api: 25, admin: 12 })
    assert.deepEqual(roomFor(1_024), { api: 704, admin: 64 })
    assert.deepEqual(roomFor(Infinity), { api: Infinity, admin: 64 })
    for (const descriptors of [64, 426, 427, 1_024, 1_048_576]) {
      const { api, admin } = roomFor(descriptors)
      assert.ok(descriptors - api - admin >= Math.min(256, descriptors / 2))
    }
    if (process.platform === 'linux') {
      const { stdout } = spawnSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' })
      assert.equal(descriptorLimit(), Number(stdout))
    }
  })
})

describe('connections of strangers', () => {
  let listening: Listening
  before(async () => {
    // Idle ones are to stay for as long as the test takes.
    const patience = { headers: 300_000, request: 300_000 }
    listening = await listen(t.server, { port: 0, host: SHOP, patience })
  })
  after(() => listening.close(100))

  test('are sixteen for each address, while one that a key allows has as many as it opens', async () => {
    const strangers = await crowd(listening.url, many(40, '127.0.0.2'))
    const others = await crowd(listening.url, many(10, '127.0.0.4'))
    const shop = await crowd(listening.url, many(60, SHOP))
    const proxy = await crowd(listening.url, many(60, '127.0.3.9'))
    assert.deepEqual(
      [
        await staysAt(strangers, 16),
        await staysAt(others, 10),
        await staysAt(shop, 60),
        await staysAt(proxy, 60),
      ],
      [16, 10, 60, 60],
    )
    // Who leaves makes room, for itself too.
    await leave(strangers)
    let again = [] as Client[]
    for (let tries = 0; again.length < 16 && tries < 50; tries++) {
      const one = await crowd(listening.url, ['127.0.0.2'])
      again = again.concat(one.filter(({ socket }) => !socket.closed))
    }
    assert.equal(await staysAt(again, 16), 16)
    await leave([...again, ...others, ...shop, ...proxy])
  })

  test('of three thousand addresses leave the shop its answers', async () => {
    const addresses = Array.from({ length: 3_000 }, (_, i) => `127.1.${i >> 8}.${i & 255 || 1}`)
    const strangers = await crowd(listening.url, addresses)
    const left = await staysAt(strangers, 1_000)
    assert.ok(left <= 1_000 && left > 900, `${left} connections are open`)
    const shop = await crowd(listening.url, many(100, SHOP))
    assert.equal(await staysAt(shop, 100), 100)
    for (let i = 0; i < 20; i++) assert.equal(await ping(listening.url), 200)
    await leave([...strangers, ...shop])
  })

  test('are also those of an address whose only key was disabled', async () => {
    const { id, key } = await t.app.operator.keys.create({
      subscriber: t.subscriber,
      name: 'other',
      tier: 'standard',
      ips: ['127.0.0.7'],
    })
    const known = await crowd(listening.url, many(30, '127.0.0.7'))
    assert.equal(await staysAt(known, 30), 30)
    await leave(known)
    await t.app.operator.keys.setStatus(id, 'disabled')
    const unknown = await crowd(listening.url, many(30, '127.0.0.7'))
    assert.equal(await staysAt(unknown, 16), 16)
    assert.equal(await ping(listening.url, key), 403)
    await leave(unknown)
  })
})

describe('a slow client', () => {
  const patience = { headers: 1_500, request: 2_000, reader: 3_000 }
  const large = Buffer.alloc(30_000_000, 'quartermaster ')
  let answers: Listening
  let listening: Listening
  const ended = new Set<string>()
  before(async () => {
    listening = await listen(t.server, { port: 0, host: SHOP, patience })
    const nodeHandler: Server['nodeHandler'] = (request, response) => {
      response.once('close', () => ended.add(request.url!))
      // Longer than a reader is waited for: what is still being made is no fault of the reader.
      setTimeout(() => response.end(large), 1.5 * patience.reader)
    }
    answers = await listen({ ...t.server, nodeHandler }, { port: 0, host: SHOP, patience })
  })
  after(() => Promise.all([listening.close(100), answers.close(100)]))

  test('that never ends its headers or its body is dropped, and holds up nobody', async () => {
    const silent = await crowd(listening.url, many(50, SHOP))
    const headers = await crowd(listening.url, many(100, SHOP))
    const bodies = await crowd(listening.url, many(100, SHOP))
    for (const { socket } of headers) socket.write(HEADS)
    for (const { socket } of bodies)
      socket.write(
        `POST /v1/orders/quote HTTP/1.1\r\nHost: x\r\nx-api-key: ${t.key}\r\nContent-Length: 9999\r\n\r\n{`,
      )
    // One byte and then another one does not help; it may lose what the server says, though.
    const dripping = [...headers.splice(50), ...bodies.splice(50)]
    const drip = setInterval(() => {
      for (const { socket } of dripping) if (socket.writable) socket.write(' ')
    }, 100)
    try {
      for (let i = 0; i < 10; i++) assert.equal(await ping(listening.url), 200)
      await Promise.all([...silent, ...headers, ...bodies, ...dripping].map(({ closed }) => closed))
    } finally {
      clearInterval(drip)
    }
    assert.ok(headers.some(({ heard }) => heard().startsWith('HTTP/1.1 408 ')))
    assert.equal(await ping(listening.url), 200)
  })

  test('that takes nothing of its answer is dropped, one that takes it slowly gets all of it', async () => {
    const ask = async (path: string) => {
      const one = await client(answers.url, SHOP)
      one.socket.pause()
      one.socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
      return one
    }
    const [stalled, slow] = [await ask('/stalled'), await ask('/slow')]
    const reading = (async () => {
      let bytes = 0
      slow.socket.removeAllListeners('data').pause()
      while (!slow.socket.readableEnded && !slow.socket.closed) {
        const piece = slow.socket.read() as Buffer | null
        bytes += piece?.length ?? 0
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
      return bytes
    })()
    for (let tries = 0; !ended.has('/stalled') && tries < 1_000; tries++)
      await new Promise((resolve) => setTimeout(resolve, 20))
    assert.ok(ended.has('/stalled'), 'the answer of a reader that stands still is held')
    assert.ok((await reading) > large.length)
    stalled.socket.resume()
    await stalled.closed
    assert.ok(stalled.heard().length < large.length)
  })
})
