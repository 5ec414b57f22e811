/** Listening, and stopping without cutting anyone off. */
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { codeOf } from '../../lib/core/errors.js'
import type { Server } from './app.js'

export interface Listening {
  url: string
  /** Takes no more connections, waits for what runs, at most `patience` milliseconds. */
  close(patience?: number): Promise<void>
}

/** Listens with limits on slow and large requests. Port 0 takes a free one. */
export async function listen(
  server: Pick<Server, 'nodeHandler'>,
  options: { port: number; host: string },
): Promise<Listening> {
  const http = createHttpServer(
    {
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      keepAliveTimeout: 70_000,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: 16_384,
      noDelay: true,
    },
    server.nodeHandler,
  )
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
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
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
