/**
 * One HTTP call to a distributor: a fresh connection, one attempt, no redirect, no body without an
 * end. Who sends an order must know whether any of it may have arrived.
 */
import { gunzip } from 'node:zlib'
import { promisify } from 'node:util'
import { Client, errors } from 'undici'
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
 * How a call failed. `sent` says whether the distributor may have got any of it: false only where
 * there was no connection yet.
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
const STALL_TIMEOUT = 30_000
const unzip = promisify(gunzip)

/**
 * Makes the call and reads the whole answer, whatever its status. Throws a CallFault; a redirect is
 * an answer like any other, and nobody follows it.
 */
export async function callHttp(
  egress: Egress,
  call: HttpCall,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const { method, body, headers = {}, maxBytes = MAX_BYTES } = call
  const url = new URL(call.url)
  const isSecure = url.protocol === 'https:'
  let isConnected = false
  const client = new Client(url.origin, {
    headersTimeout: call.answerTimeout ?? ANSWER_TIMEOUT,
    bodyTimeout: call.stallTimeout ?? STALL_TIMEOUT,
    maxResponseSize: maxBytes,
    connect: (_options, done) => {
      // What broke off is never sent again over another connection.
      if (isConnected) return done(new Error('the connection was broken off'), null)
      connectionFor(egress, url, isSecure, signal).then(
        (socket) => {
          isConnected = true
          done(null, socket)
        },
        (error: unknown) => done(error as Error, null),
      )
    },
  })
  try {
    const answer = await client.request({
      method,
      path: url.pathname + url.search,
      headers: { 'user-agent': 'quartermaster', 'accept-encoding': 'gzip', ...headers },
      body: body ?? null,
      signal,
    })
    const packed = Buffer.from(await answer.body.arrayBuffer())
    const all = new Map(
      Object.entries(answer.headers).map(([name, value]) => [
        name,
        String(Array.isArray(value) ? value[0] : value),
      ]),
    )
    return {
      status: answer.statusCode,
      headers: all,
      body: await unpacked(packed, all.get('content-encoding'), maxBytes),
    }
  } catch (error) {
    throw new CallFault(reasonOf(error, call), isConnected, error)
  } finally {
    await client.destroy()
  }
}

async function connectionFor(
  egress: Egress,
  url: URL,
  isSecure: boolean,
  signal: AbortSignal,
): ReturnType<typeof openConnection> {
  if (!isSecure && !egress.simulator)
    throw new EgressFault(`${url.hostname} is asked over https alone`)
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port)
  return openConnection(egress, { host: url.hostname, port, isSecure }, signal)
}

async function unpacked(
  body: Buffer,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Buffer> {
  if (encoding === undefined || encoding === 'identity') return body
  if (encoding !== 'gzip') throw new Error(`the answer is packed with ${encoding}`)
  return unzip(body, { maxOutputLength: maxBytes })
}

function reasonOf(
  error: unknown,
  { answerTimeout = ANSWER_TIMEOUT, stallTimeout = STALL_TIMEOUT, maxBytes = MAX_BYTES }: HttpCall,
): string {
  const code = codeOf(error)
  if (error instanceof EgressFault) return error.message
  if (error instanceof errors.HeadersTimeoutError)
    return `there was no answer for ${answerTimeout / 1_000} seconds`
  if (error instanceof errors.BodyTimeoutError)
    return `the answer stood still for ${stallTimeout / 1_000} seconds`
  if (error instanceof errors.ResponseExceededMaxSizeError || code === 'ERR_BUFFER_TOO_LARGE')
    return `the answer is larger than ${maxBytes} bytes`
  if (error instanceof errors.RequestAbortedError) return 'the call was given up'
  if (error instanceof errors.SocketError || code === 'ECONNRESET' || code === 'EPIPE')
    return 'the connection was broken off'
  return error instanceof Error ? error.message : String(error)
}
