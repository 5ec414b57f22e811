/** A server that says what a test tells it, byte by byte, and notes what it was asked. */
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

export interface Asked {
  method: string
  path: string
  headers: Record<string, string>
  body: string
}

/** Bytes that are sent before the connection is closed, or what is done with the socket. */
export type Reply = string | Buffer | ((socket: Socket, asked: Asked) => void)

export interface RawServer {
  url: string
  asked: Asked[]
  /** Closes every connection, too. */
  [Symbol.asyncDispose](): Promise<void>
}

/** An answer as it goes over the wire; its length is told unless `headers` tell another. */
export function answer(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Buffer {
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const all = { connection: 'close', 'content-length': String(bytes.length), ...headers }
  return Buffer.concat([
    Buffer.from(
      `HTTP/1.1 ${status} Said so\r\n${Object.entries(all)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')}\r\n`,
    ),
    bytes,
  ])
}

export const done = (data: unknown, headers?: Record<string, string>) =>
  answer(200, { success: true, data }, headers)
export const refusal = (status: number, code: string, headers?: Record<string, string>) =>
  answer(status, { success: false, error: { code, message: `It is ${code}.` } }, headers)
/** Takes the request and goes away. */
export const cut: Reply = (socket) => socket.destroy()

/**
 * Gives each request the next reply, whatever it asks; one too many gets a 400 `no_more_replies`.
 */
export async function rawServer(...replies: Reply[]): Promise<RawServer> {
  const asked: Asked[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      for (let request = readRequest(text); request; request = readRequest(text)) {
        text = text.slice(request.length)
        asked.push(request.asked)
        const reply = replies.shift() ?? refusal(400, 'no_more_replies')
        if (typeof reply === 'function') reply(socket, request.asked)
        else socket.end(reply)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

function readRequest(text: string): { asked: Asked; length: number } | null {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return null
  const [line, ...lines] = text.slice(0, head).split('\r\n') as [string, ...string[]]
  const headers = Object.fromEntries(
    lines.map((each) => [
      each.slice(0, each.indexOf(':')).toLowerCase(),
      each.slice(each.indexOf(':') + 1).trim(),
    ]),
  )
  const length = head + 4 + Number(headers['content-length'] ?? 0)
  if (text.length < length) return null
  const [method, path] = line.split(' ') as [string, string]
  return { asked: { method, path, headers, body: text.slice(head + 4, length) }, length }
}
