/**
 * One HTTP call to a distributor: a fresh connection, one attempt, no redirect, no body without an
 * end. Who sends an order must know whether any of it may have arrived.
 */
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { codeOf } from '../../core/errors.js'
import { openConnection } from './connection.js'
import { EgressFault } from './egress.js'
import type { Egress } from './egress.js'

export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** `http:` or `https:`; plain HTTP is for a simulator alone. */
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Milliseconds until the answer begins, 60,000 by default. */
  readonly answerTimeout?: number
  /** Milliseconds from one piece of the answer to the next, 30,000 by default. */
  readonly stallTimeout?: number
  /** Bytes of an answer, unpacked; 1 MiB by default. */
  readonly maxBytes?: number
}

export interface HttpAnswer {
  readonly status: number
  /** By lower-case name; of one that came more than once, the first. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
}

/**
 * How a call failed. `sent` says whether the distributor may have got any of it: false only before
 * its first byte.
 */
export class CallFault extends Error {
  override readonly name = 'CallFault'
  readonly sent: boolean
  constructor(message: string, sent: boolean, cause: unknown) {
    super(message, { cause })
    this.sent = sent
  }
}

const MAX_BYTES = 1_048_576
const ANSWER_TIMEOUT = 60_000
export const STALL_TIMEOUT = 30_000
export const BROKEN_OFF = 'the connection was broken off'
const unzip = promisify(gunzip)

/**
 * Makes the call and reads the whole answer, whatever its status. Throws a CallFault; a redirect is
 * an answer like any other, and nobody follows it. `mayBegin` throws where nothing may leave any
 * more: it is asked once the connection is there, since name, TCP and TLS may take their time. By
 * Node's own client: another one would take the place of what serves `fetch` in the whole process.
 */
export async function callHttp(
  egress: Egress,
  call: HttpCall,
  signal: AbortSignal,
  mayBegin: () => void = () => {},
): Promise<HttpAnswer> {
  const url = new URL(call.url)
  let socket: Socket | undefined
  let isBegun = false
  try {
    socket = await connectionFor(egress, url, signal)
    mayBegin()
    isBegun = true
    return await exchange({ socket, url, signal }, call, async (response) => {
      const answer = await wholeOf(response, call)
      return { ...answer, body: await unpacked(answer, call.maxBytes) }
    })
  } catch (error) {
    throw new CallFault(reasonOf(error, call), isBegun, error)
  } finally {
    socket?.destroy()
  }
}

export async function connectionFor(
  egress: Egress,
  url: URL,
  signal: AbortSignal,
): ReturnType<typeof openConnection> {
  const isSecure = url.protocol === 'https:'
  if (!isSecure && !egress.simulator && egress.mayBePlain !== true)
    throw new EgressFault(`${url.hostname} is asked over https alone`)
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port)
  return openConnection(egress, { host: url.hostname, port, isSecure }, signal)
}

/** One request over a connection, and what `read` makes of its answer, from the head on. */
export function exchange<R>(
  { socket, url, signal }: { socket: Socket; url: URL; signal: AbortSignal },
  { method, headers, body, answerTimeout = ANSWER_TIMEOUT }: HttpCall,
  read: (response: IncomingMessage) => Promise<R>,
): Promise<R> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error)
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    const late = setTimeout(
      () => reject(new Error(`there was no answer for ${answerTimeout / 1_000} seconds`)),
      answerTimeout,
    )
    const settle = (end: () => void) => {
      clearTimeout(late)
      signal.removeEventListener('abort', stop)
      end()
    }
    const sent = request({
      createConnection: () => socket,
      method,
      path: url.pathname + url.search,
      headers: {
        host: url.host,
        'user-agent': 'quartermaster',
        'accept-encoding': 'gzip',
        ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
        ...headers,
      },
    })
    let isAnswered = false
    sent.on('error', (error) => settle(() => reject(error)))
    // With an answer it may be told before the last of that is read.
    sent.on('close', () => isAnswered || settle(() => reject(new Error(BROKEN_OFF))))
    sent.once('response', (response) => {
      isAnswered = true
      clearTimeout(late)
      read(response).then(
        (answer) => settle(() => resolve(answer)),
        (error: unknown) => settle(() => reject(error as Error)),
      )
    })
    sent.end(body)
  })
}

/** The answer, once it has come whole. */
export function wholeOf(
  response: IncomingMessage,
  {
    maxBytes = MAX_BYTES,
    stallTimeout = STALL_TIMEOUT,
  }: Pick<HttpCall, 'maxBytes' | 'stallTimeout'>,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let bytes = 0
    const stall = setTimeout(
      () => reject(new Error(`the answer stood still for ${stallTimeout / 1_000} seconds`)),
      stallTimeout,
    )
    const end = (settle: () => void) => {
      clearTimeout(stall)
      settle()
    }
    response.on('data', (piece: Buffer) => {
      stall.refresh()
      bytes += piece.length
      pieces.push(piece)
      if (bytes > maxBytes)
        end(() => reject(new Error(`the answer is larger than ${maxBytes} bytes`)))
    })
    response.on('error', (error) => end(() => reject(error)))
    response.on('close', () =>
      end(() => {
        if (!response.complete) return reject(new Error(BROKEN_OFF))
        resolve({
          status: response.statusCode!,
          headers: headersOf(response),
          body: Buffer.concat(pieces),
        })
      }),
    )
  })
}

export const headersOf = ({ headers }: IncomingMessage): HttpAnswer['headers'] =>
  new Map(
    Object.entries(headers).map(([name, value]) => [
      name,
      String(Array.isArray(value) ? value[0] : value),
    ]),
  )

export async function unpacked(
  { headers, body }: HttpAnswer,
  maxBytes: number = MAX_BYTES,
): Promise<Buffer> {
  const encoding = headers.get('content-encoding')
  if (encoding === undefined || encoding === 'identity') return body
  if (encoding !== 'gzip') throw new Error(`the answer is packed with ${encoding}`)
  return unzip(body, { maxOutputLength: maxBytes })
}

export function reasonOf(
  error: unknown,
  { maxBytes = MAX_BYTES }: Pick<HttpCall, 'maxBytes'>,
): string {
  const code = codeOf(error)
  if (code === 'ERR_BUFFER_TOO_LARGE') return `the answer is larger than ${maxBytes} bytes`
  if (code === 'ECONNRESET' || code === 'EPIPE') return BROKEN_OFF
  if (code.startsWith('HPE_')) return 'the answer is not HTTP'
  if (error instanceof Error && error.name === 'AbortError') return 'the call was given up'
  return error instanceof Error ? error.message : String(error)
}
