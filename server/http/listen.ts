/** Listening, and stopping without cutting anyone off. */
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { codeOf } from '../../lib/core/errors.js'
import type { Server } from './app.js'
import { capStrangers, dropStalledReaders } from './connections.js'

export interface Listening {
  url: string
  /** Takes no more connections, waits for what runs, at most `patience` milliseconds. */
  close(patience?: number): Promise<void>
}

export interface ListenOptions {
  port: number
  host: string
  /** Speaks TLS with this certificate, PEM. */
  tls?: { cert: Buffer; key: Buffer } | null | undefined
  patience?: Partial<Patience>
  /** Connections at once, as many as come by default; `onDrop` hears of each that is too many. */
  connections?: { most: number; onDrop: () => void } | undefined
}

/** For how long a slow client is waited for, in milliseconds. */
export interface Patience {
  /** Until its headers are there. */
  headers: number
  /** Until its whole request is there. */
  request: number
  /** While it takes nothing of its answer. */
  reader: number
}

const PATIENCE: Patience = { headers: 10_000, request: 30_000, reader: 30_000 }

/** What a client hears that cannot be understood, by the code of its fault; else 400. */
const STATUS_OF: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** Listens with limits on slow and large requests. Port 0 takes a free one. */
export async function listen(
  server: Pick<Server, 'nodeHandler'> & Partial<Pick<Server, 'knows'>>,
  options: ListenOptions,
): Promise<Listening> {
  const patience = { ...PATIENCE, ...options.patience }
  const limits = {
    headersTimeout: patience.headers,
    requestTimeout: patience.request,
    keepAliveTimeout: 70_000,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: 16_384,
    noDelay: true,
  }
  const http = options.tls
    ? createHttpsServer({ ...limits, ...options.tls, minVersion: 'TLSv1.2' }, server.nodeHandler)
    : createHttpServer(limits, server.nodeHandler)
  http.maxRequestsPerSocket = 10_000
  if (options.connections) {
    http.maxConnections = options.connections.most
    http.on('drop', options.connections.onDrop)
  }
  if (server.knows) capStrangers(http, server.knows)
  dropStalledReaders(http, patience.reader)
  http.on('clientError', (error, socket) => {
    if (socket.writable) {
      const status = STATUS_OF[codeOf(error) ?? ''] ?? '400 Bad Request'
      socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
    }
    socket.destroy()
  })
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(options.port, options.host, resolve)
  })
  const { address, port, family } = http.address() as AddressInfo
  return {
    url: `${options.tls ? 'https' : 'http'}://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close: (patience = 30_000) =>
      new Promise((resolve) => {
        // Sockets that fall idle after close() would hold it until their keep-alive ends.
        const sweep = setInterval(() => http.closeIdleConnections(), 50)
        const force = setTimeout(() => http.closeAllConnections(), patience)
        http.close(() => {
          clearInterval(sweep)
          clearTimeout(force)
          resolve()
        })
        http.closeIdleConnections()
      }),
  }
}
