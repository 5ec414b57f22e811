/** A program that is told of events: a real HTTP server, which answers as the test says. */
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Got {
  path: string
  headers: IncomingHttpHeaders
  body: string
  event: { id: string; kind: string; subject: string; state: string; message: string }
}

export interface Hook {
  url: string
  port: number
  got: Got[]
  /** Answers from now on like this; 200 by default. */
  answer(how: (response: ServerResponse, got: Got) => void): void
  /** Resolves once it was told so often. */
  told(times: number): Promise<void>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Listens on loopback; on the port given, if one is. */
export async function openHook(at = 0): Promise<Hook> {
  const got: Got[] = []
  const waiting: { times: number; resolve: () => void }[] = []
  let answer: Parameters<Hook['answer']>[0] = (response) => response.writeHead(200).end()
  const server = createServer((request, response) => {
    let body = ''
    request
      .setEncoding('utf8')
      .on('data', (text: string) => {
        body += text
      })
      .on('end', () => {
        const one: Got = {
          path: request.url ?? '',
          headers: request.headers,
          body,
          event: JSON.parse(body) as Got['event'],
        }
        got.push(one)
        for (const { times, resolve } of waiting) if (got.length >= times) resolve()
        answer(response, one)
      })
  })
  await new Promise<void>((resolve) => {
    server.listen(at, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return {
    url: `http://127.0.0.1:${port}/hook?token=secret-path`,
    port,
    got,
    answer: (how) => {
      answer = how
    },
    told: (times) =>
      got.length >= times
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push({ times, resolve })
          }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Whether a message is signed with this secret, as the guide tells a receiver to look. */
export function isSigned({ headers, body }: Got, secret: string): boolean {
  const header = String(headers['quartermaster-signature'])
  const [, seconds, mac] = /^t=(\d+),v1=([\da-f]{64})$/.exec(header) ?? []
  return createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex') === mac
}
