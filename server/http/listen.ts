/** Listening, and stopping without cutting anyone off. */
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { codeOf } from '../../lib/core/errors.js'
import type { Server } from './app.js'

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
  /** Milliseconds for a whole request; 30 seconds by default. */
  requestTimeout?: number
}

/** Listens with limits on slow and large requests. Port 0 takes a free one. */
export async function listen(
  server: Pick<Server, 'nodeHandler'>,
  options: ListenOptions,
): Promise<Listening> {
  const limits = {
    headersTimeout: 10_000,
    requestTimeout: options.requestTimeout ?? 30_000,
    keepAliveTimeout: 70_000,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: 16_384,
    noDelay: true,
  }
  const http = options.tls
    ? createHttpsServer({ ...limits, ...options.tls, minVersion: 'TLSv1.2' }, server.nodeHandler)
    : createHttpServer(limits, server.nodeHandler)
  http.maxRequestsPerSocket = 10_000
  http.on('clientError', (error, socket) => {
    if (socket.writable)
      socket.write(
        'HTTP/1.1 ' +
          (codeOf(error) === 'HPE_HEADER_OVERFLOW'
            ? '431 Request Header Fields Too Large'
            : '400 Bad Request') +
          '\r\nConnection: ' +
          'close\r\nContent-Length: 0\r\n\r\n',
      )
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
