/** Stands between a client and a server, and cuts the connection at a chosen moment. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** What happens to what a client sends: it is passed on, kept back, or passed on with no answer. */
export type Verdict = 'pass' | 'cut' | 'cut once done'

/** PostgreSQL has done all that it was told, and is in no transaction. */
const IDLE = 'Z\0\0\0\x05I'
/** Milliseconds after which who says nothing more has done it. */
const QUIET = 100

export interface TcpProxy {
  readonly port: number
  /** Asked for each piece that a client sends, by its connection. */
  judge: (bytes: Buffer, connection: object) => Verdict
  /** Told of each piece that the server answers. */
  heard: (bytes: Buffer, connection: object) => void
  /** While it is set, nothing moves in either direction, and no connection ends. */
  isStalled: boolean
  cutAll(): void
  close(): Promise<void>
}

export async function startProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  const self: TcpProxy = {
    port: 0,
    judge: () => 'pass',
    heard: () => {},
    isStalled: false,
    cutAll() {
      for (const socket of sockets) socket.destroy()
    },
    async close() {
      self.cutAll()
      server.close()
      await once(server, 'close')
    },
  }
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    const both = [client, upstream]
    const end = () => {
      for (const socket of both) {
        sockets.delete(socket)
        socket.destroy()
      }
    }
    for (const socket of both) {
      sockets.add(socket)
      // As its ends do: else a second small piece waits until the first one is acknowledged.
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', end)
    }
    let isMuted = false
    let quiet: NodeJS.Timeout | undefined
    client.on('data', (bytes) => {
      if (self.isStalled) return
      const verdict = self.judge(bytes, client)
      if (verdict === 'cut') end()
      else upstream.write(bytes)
      if (verdict === 'cut once done') isMuted = true
    })
    upstream.on('data', (bytes) => {
      self.heard(bytes, client)
      // The answer is what tells that it was done: the last one, of several that go together.
      if (isMuted && bytes.includes(IDLE)) end()
      else if (isMuted) {
        clearTimeout(quiet)
        quiet = setTimeout(end, QUIET)
      } else if (!self.isStalled) client.write(bytes)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return Object.assign(self, { port: (server.address() as AddressInfo).port })
}
