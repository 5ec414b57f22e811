/**
 * Servers that stand where an S3 server is expected: one that answers what it is told to, and one
 * in front of a real one.
 */
import { createServer, request as httpRequest } from 'node:http'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer as createSocketServer } from 'node:net'
import type { AddressInfo, Server as SocketServer, Socket } from 'node:net'

export interface Fake {
  /** `http://127.0.0.1:PORT`. */
  endpoint: string
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

async function listening(server: SocketServer): Promise<Fake> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) =>
    sockets.add(socket.once('close', () => sockets.delete(socket)).on('error', () => {})),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Answers each request as told. */
export async function answering(answer: RequestListener): Promise<Fake> {
  return listening(createServer(answer))
}

/** An error as S3 words it; a HEAD gets its status alone. */
export function s3Error(
  status: number,
  code: string,
  { members = '', headers = {} }: { members?: string; headers?: Record<string, string> } = {},
): RequestListener {
  const body =
    `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>What S3 says ` +
    'of ' +
    `${code}.</Message>${members}<RequestId>4442587FB7D0A2F9</RequestId><HostId>vvdX7ky3Rj5nFVgB1+zA</HostId></Error>`
  return (request, response) => {
    request.resume()
    response
      .writeHead(status, { 'content-type': 'application/xml', ...headers })
      .end(request.method === 'HEAD' ? undefined : body)
  }
}

/** Takes connections and never says a word. */
export async function silent(): Promise<Fake> {
  return listening(createSocketServer(() => {}))
}

/** The address of a port at which nobody listens. */
export async function nobody(): Promise<string> {
  const fake = await silent()
  await fake.close()
  return fake.endpoint
}

export type Hook = (request: IncomingMessage, response: ServerResponse) => boolean

/**
 * Passes requests on as they are, except those that `meanwhile` answers by itself (and says so),
 * and answers that `after` answers.
 */
export async function inFrontOf(
  endpoint: string,
  { meanwhile = () => false, after = () => false }: { meanwhile?: Hook; after?: Hook },
): Promise<Fake> {
  return answering((request, response) => {
    if (meanwhile(request, response)) {
      request.resume()
      return
    }
    const { method, url, headers } = request
    const { hostname, port } = new URL(endpoint)
    const passed = httpRequest(
      { hostname, port, method, path: url, headers, agent: false },
      (answer) => {
        if (after(request, response)) answer.resume()
        else answer.pipe(response.writeHead(answer.statusCode!, answer.headers))
      },
    )
    // Swift sends a body with the answer to a HEAD, which is an error once the answer is there.
    passed.on('error', () => {
      if (!response.headersSent) response.destroy()
    })
    request.pipe(passed)
  })
}
