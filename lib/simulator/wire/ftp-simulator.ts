/**
 * The FTP server of one simulated distributor (RFC 959, 2228, 2428, 3659): on loopback, passive,
 * over explicit TLS where the simulators have a certificate. What fails, fails on the socket.
 */
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { Log } from '../../core/log.js'
import type { ListenOptions } from '../engine/world.js'
import type { Visit } from './http-simulator.js'
import { FtpConversation } from './ftp-conversation.js'
import type { FtpAct, FtpHandled } from './ftp-conversation.js'

export interface FtpRequest {
  /** Who logged in. */
  readonly user: string
  readonly act: FtpAct
  readonly visit: Visit | null
}

/** What a simulated distributor has behind its server. */
export interface FtpSite {
  logIn(user: string, password: string): boolean
  handle(request: FtpRequest): FtpHandled
}

/** The name under which an order of this app logs in: `~12~99901`. */
const VISITOR = /^~(\d+)~(.*)$/

export class FtpSimulator {
  readonly #site: FtpSite
  readonly #log: Log
  readonly #port: number
  readonly #tls: ListenOptions['tls']
  readonly #visits = new Map<string, Visit>()
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  #listening: Promise<number> | undefined
  #last = 0
  #isClosed = false

  constructor(
    site: FtpSite,
    { log, port = 0, tls }: { log: Log; port?: number | undefined; tls?: ListenOptions['tls'] },
  ) {
    this.#site = site
    this.#log = log
    this.#port = port
    this.#tls = tls
  }

  /** Listens from the first time that it is asked for; its port. */
  port(): Promise<number> {
    if (this.#isClosed) return Promise.reject(new Error('the simulator is closed'))
    return (this.#listening ??= this.#listen())
  }

  /** A prefix of the user's name for one order; `end` when its caller needs it no more. */
  visitor(visit: Visit): { prefix: string; end: () => void } {
    const name = String(++this.#last)
    this.#visits.set(name, visit)
    return { prefix: `~${name}~`, end: () => void this.#visits.delete(name) }
  }

  /** Whatever is under way breaks off. */
  close(): void {
    this.#isClosed = true
    this.#server?.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  async #listen(): Promise<number> {
    const server = createServer((socket) => this.#serve(socket))
    this.#server = server
    // Whoever runs a command does not wait for it.
    server.unref()
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.#port, '127.0.0.1', resolve)
    })
    if (this.#isClosed) server.close()
    return (server.address() as AddressInfo).port
  }

  #serve(socket: Socket): void {
    this.#keep(socket)
    new FtpConversation(socket, {
      tls: this.#tls,
      keep: (data) => this.#keep(data),
      logIn: (user, password) => this.#site.logIn(this.#nameOf(user).user, password),
      answer: (user, act) => this.#answer(user, act),
      visitOf: (user) => this.#nameOf(user).visit,
      failed: (error) => {
        if (!this.#isClosed)
          this.#log.error({ err: error }, 'a simulated distributor could not answer')
      },
    }).begin()
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    // Replies are short, and follow each other.
    socket.setNoDelay(true)
    // What its client breaks off is the client's affair.
    socket.on('error', () => {}).once('close', () => this.#sockets.delete(socket))
  }

  #nameOf(user: string): { user: string; visit: Visit | null } {
    const [, name, own] = VISITOR.exec(user) ?? []
    return own === undefined
      ? { user, visit: null }
      : { user: own, visit: this.#visits.get(name!) ?? null }
  }

  #answer(name: string, act: FtpAct): FtpHandled {
    const { user, visit } = this.#nameOf(name)
    const { answer, fault = null } = this.#site.handle({ user, act, visit })
    if (fault !== null)
      this.#log.info(
        { scenario: visit?.send.arrival.scenario, fault, path: act.path },
        'a simulated distributor fails as the order asks for',
      )
    return { answer, fault }
  }
}
