/**
 * The HTTP server of one simulated distributor: on loopback, at a port that the system chooses. It
 * answers anybody who speaks the distributor's protocol; what fails, fails on the socket.
 */
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { nextTurn } from '../../core/async/wait.js'
import { SECOND } from '../../core/clock.js'
import type { Log } from '../../core/log.js'
import type { Send } from '../engine/perform.js'
import type { FaultName } from '../engine/scenarios/fault-table.js'
import type { ListenOptions } from '../engine/world.js'

/**
 * An order of this app that is on its way. A distributor could not know which of our orders a call
 * is about before it has read it: a scenario must, and so must whoever counts doubles.
 */
export interface Visit {
  readonly send: Send
  /** Ends the caller's patience: what times out in a rehearsal takes no time. */
  timeOut(): void
  /** Of files: nobody listens for its data. */
  readonly refusesData?: boolean
}

export interface WireRequest {
  readonly method: string
  /** From the slash in front to the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly visit: Visit | null
}

export interface WireAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

/** An answer, and what keeps it from arriving as it is. */
export interface Handled {
  readonly answer: WireAnswer
  readonly fault?: FaultName | null
}

/** A larger request is cut off. */
const LARGEST = 1_048_576
const SLOW = 3 * SECOND
/** Seconds. */
const RETRY_AFTER = 5
/** Nothing listens there: whoever asks is refused. */
export const CLOSED_PORT = 'http://127.0.0.1:1'

export class HttpSimulator {
  readonly #handle: (request: WireRequest) => Handled
  readonly #log: Log
  readonly #port: number
  readonly #tls: ListenOptions['tls']
  readonly #visits = new Map<string, Visit>()
  #server: Server | undefined
  #address: Promise<string> | undefined
  #last = 0
  #isClosed = false

  constructor(
    handle: (request: WireRequest) => Handled,
    { log, port = 0, tls }: { log: Log; port?: number | undefined; tls?: ListenOptions['tls'] },
  ) {
    this.#handle = handle
    this.#log = log
    this.#port = port
    this.#tls = tls
  }

  /** Listens from the first time that it is asked for: `http://127.0.0.1:1234`, or https. */
  address(): Promise<string> {
    if (this.#isClosed) return Promise.reject(new Error('the simulator is closed'))
    return (this.#address ??= this.#listen())
  }

  /** The address for one order; `end` when its caller needs it no more. */
  async addressFor(visit: Visit): Promise<{ address: string; end: () => void }> {
    const root = await this.address()
    const name = String(++this.#last)
    this.#visits.set(name, visit)
    return { address: `${root}/~${name}`, end: () => void this.#visits.delete(name) }
  }

  /** Whatever is under way breaks off. */
  close(): void {
    this.#isClosed = true
    this.#server?.close()
    this.#server?.closeAllConnections()
  }

  async #listen(): Promise<string> {
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      this.#answer(request, response).catch((error: unknown) => {
        if (!this.#isClosed)
          this.#log.error({ err: error }, 'a simulated distributor could not answer')
        response.destroy()
      })
    }
    const server = this.#tls
      ? createSecureServer({ cert: this.#tls.certificate, key: this.#tls.key }, answer)
      : createServer(answer)
    this.#server = server
    // Whoever runs a command does not wait for it.
    server.unref()
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.#port, '127.0.0.1', resolve)
    })
    if (this.#isClosed) server.close()
    const { port } = server.address() as AddressInfo
    return `${this.#tls ? 'https' : 'http'}://127.0.0.1:${port}`
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request)
    if (this.#isClosed || body === null) return void response.destroy()
    const [, name, path, query] = /^(?:\/~(\d+))?(\/[^?]*)(?:\?(.*))?/.exec(request.url ?? '') ?? []
    const visit = name === undefined ? null : (this.#visits.get(name) ?? null)
    const { answer, fault = null } = this.#handle({
      method: request.method ?? 'GET',
      path: path ?? '/',
      query: new URLSearchParams(query),
      headers: request.headers,
      body,
      visit,
    })
    if (fault !== null)
      this.#log.info(
        { scenario: visit?.send.arrival.scenario, fault, path },
        'a simulated distributor fails as the order asks for',
      )
    play(response, answer, fault, visit)
  }
}

/** Null where it is cut off or too large. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const pieces: Buffer[] = []
  let bytes = 0
  try {
    for await (const piece of request as AsyncIterable<Buffer>) {
      bytes += piece.length
      if (bytes > LARGEST) return null
      pieces.push(piece)
    }
  } catch {
    return null
  }
  return Buffer.concat(pieces)
}

const PAGE = '<!DOCTYPE html><html><body><h1>Access denied</h1></body></html>'

function play(
  response: ServerResponse,
  answer: WireAnswer,
  fault: FaultName | null,
  visit: Visit | null,
): void {
  switch (fault) {
    case null:
      return send(response, answer)
    case 'rate_limited':
      return send(response, {
        status: 429,
        headers: { 'retry-after': String(RETRY_AFTER) },
        body: 'Too Many Requests',
      })
    case 'error_before':
    case 'error_after':
      return send(response, { status: 500, body: 'Internal Server Error' })
    case 'html':
      return send(response, { status: 403, headers: { 'content-type': 'text/html' }, body: PAGE })
    case 'garbage':
      return send(response, { ...answer, body: answer.body.slice(0, answer.body.length / 2) })
    case 'cut':
      return begun(response, answer, () => response.destroy())
    case 'unreachable':
    case 'reset_before':
    case 'reset_after':
      return breakOff(response.socket)
    case 'timeout':
    case 'timeout_after':
    case 'late':
      return visit?.timeOut()
    case 'rate_limited_untold':
      return send(response, { status: 429, body: 'Too Many Requests' })
    case 'empty':
      return send(response, { ...answer, body: '' })
    case 'redirect':
      return send(response, { status: 302, headers: { location: '/elsewhere' }, body: '' })
    case 'bad_gateway':
      return send(response, { status: 502, body: 'Bad Gateway' })
    case 'gateway_timeout':
      return send(response, { status: 504, body: 'Gateway Timeout' })
    case 'maintenance':
      return send(response, {
        status: 503,
        headers: { 'retry-after': String(RETRY_AFTER) },
        body: 'Service Unavailable',
      })
    case 'not_http':
      return void response.socket?.end('SSH-2.0-elsewhere\r\n')
    case 'too_large':
      return flood(response, answer)
    case 'reset_body':
      return begun(response, answer, () => breakOff(response.socket))
    case 'gzip':
      return send(response, {
        ...answer,
        headers: { ...answer.headers, 'content-encoding': 'gzip' },
        body: gzipSync(answer.body),
      })
    case 'drip':
      return void drip(response, answer)
    case 'byte_order_mark':
      return send(response, { ...answer, body: `\uFEFF${answer.body}` })
    case 'no_length':
      response.useChunkedEncodingByDefault = false
      response.setHeader('connection', 'close')
      response.writeHead(answer.status, { ...answer.headers })
      return void response.end(answer.body)
    case 'informational':
      response.writeProcessing()
      response.writeEarlyHints({ link: '</style.css>; rel=preload' })
      return send(response, answer)
    case 'certificate':
    case 'passive_refused':
    case 'half_file':
      return breakOff(response.socket)
    case 'slow':
      setTimeout(() => send(response, answer), SLOW)
      return
    case 'hang':
  }
}

type Sent = Omit<WireAnswer, 'body'> & { body: string | Buffer }

function send(response: ServerResponse, { status, headers, body }: Sent): void {
  response.writeHead(status, {
    'content-type': 'text/plain',
    'content-length': Buffer.byteLength(body),
    ...headers,
  })
  response.end(body)
}

/** The head promises more than comes; `end` follows once half of it is on its way. */
function begun(
  response: ServerResponse,
  { status, headers, body }: WireAnswer,
  end: () => void,
): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
  response.write(body.slice(0, body.length / 2), end)
}

/** Byte by byte, each in a piece of its own. */
async function drip(
  response: ServerResponse,
  { status, headers, body }: WireAnswer,
): Promise<void> {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
  for (const byte of Buffer.from(body)) {
    response.write(Buffer.from([byte]))
    await nextTurn()
  }
  response.end()
}

/** As a machine that has no such connection; one over TLS cannot be reset, and is cut. */
function breakOff(socket: Socket | null): void {
  if (socket instanceof TLSSocket) socket.destroy()
  else socket?.resetAndDestroy()
}

/** Goes on until its reader has had enough. */
function flood(response: ServerResponse, { status, headers, body }: WireAnswer): void {
  response.writeHead(status, { ...headers })
  response.write(body)
  const more = Buffer.alloc(65_536, ' ')
  const go = () => {
    while (!response.destroyed && response.write(more));
  }
  response.on('drain', go).on('error', () => {})
  go()
}
