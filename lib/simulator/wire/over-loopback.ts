/**
 * A connector that speaks its distributor's own protocol, sent to a simulator of it: the same
 * connector as with the real one, at another address.
 */
import type { CheckOutcome } from '../../distributors/distributor.js'
import type {
  Fulfillment,
  OrderSession,
  OrderUpdate,
  PurchaseOrder,
} from '../../distributors/fulfillment.js'
import type { Session } from '../../distributors/session/session.js'
import { reachOf } from '../engine/perform.js'
import type { Send } from '../engine/perform.js'
import { keptFrom } from '../engine/scenarios/faults.js'
import { arrivalOf } from '../engine/sales-order.js'
import { scenarioOf } from '../engine/scenarios/scenarios.js'
import type { Profile, SimulatedConnector, World } from '../engine/world.js'
import { makeCertificate } from './certificate.js'
import { FtpSimulator } from './ftp-simulator.js'
import type { FtpSite } from './ftp-simulator.js'
import { HttpSimulator, CLOSED_PORT } from './http-simulator.js'
import type { Handled, WireRequest } from './http-simulator.js'

export interface Spoken {
  readonly connector: Fulfillment
  check(session: Session): Promise<CheckOutcome>
  /** Of its API, below the root of the server, with slashes in front and at the end. */
  readonly base?: string
  /** What answers there; absent where it has files alone. */
  handler?(world: World, profile: Profile): (request: WireRequest) => Handled
  /** Its protocol has numbers of digits: here they are shown as `SIM-TSW-1234`, as all are. */
  readonly numbers?: 'digits'
  /** Behind its FTP server, where it has one. */
  files?(world: World, profile: Profile): FtpSite
}

/** A connector over a socket, at a simulator that listens from the first call on. */
export function overLoopback(world: World, profile: Profile, spoken: Spoken): SimulatedConnector {
  const { check } = spoken
  const connector =
    spoken.numbers === 'digits' ? marked(spoken.connector, profile.distid) : spoken.connector
  const place = new Place(world, profile, spoken)
  world.whenClosed(() => place.close())
  /** The connector's parts that go by another protocol go to the same place. */
  const visited = (of: Fulfillment): Pick<Fulfillment, 'submit' | 'find'> => ({
    submit: (session, order) =>
      place.visiting(session, order, { isSent: true }, (own) => of.submit(own, order)),
    ...(of.find && {
      find: (session, order) =>
        place.visiting(session, order, { isSent: false }, (own) => of.find!(own, order)),
    }),
  })
  return {
    ...connector,
    ...(connector.inLane && {
      inLane: (lane) => {
        const other = connector.inLane!(lane)
        return other && { ...other, ...visited(other) }
      },
    }),
    ...(spoken.handler
      ? {
          address: () => place.address(),
          ...(spoken.files && { filesAddress: () => place.filesAddress() }),
        }
      : { address: () => place.filesAddress() }),
    there: (session) => place.plain(session),
    check: async (session) => check(await place.plain(session)),
    ...visited(connector),
    ...(connector.askDealer && {
      askDealer: async (session, order) => connector.askDealer!(await place.plain(session), order),
    }),
    async *updates(session, since, open): AsyncGenerator<OrderUpdate> {
      session.signal.throwIfAborted()
      yield* connector.updates!(await place.plain(session), since, open)
    },
  }
}

/** The connector, with the numbers of a simulator's orders; a stage is none yet. */
function marked(connector: Fulfillment, distid: string): Fulfillment {
  const mark = `SIM-${distid}-`
  const shown = <N extends { number: string | null }>(one: N): N =>
    one.number === null ? one : { ...one, number: mark + one.number }
  return {
    ...connector,
    async submit(session, order) {
      const sent = await connector.submit(session, order)
      return 'number' in sent ? shown(sent) : sent
    },
    ...(connector.find && {
      async find(session, order) {
        const search = await connector.find!(session, order)
        if (search.outcome !== 'answered') return search
        const orders = search.orders.map((one) => (one.submitted === false ? one : shown(one)))
        return { ...search, orders }
      },
    }),
    async *updates(session, since, open) {
      const bare = open.map((one) => ({ ...one, number: one.number?.replace(mark, '') ?? null }))
      for await (const update of connector.updates!(session, since, bare)) yield shown(update)
    },
  }
}

/** The servers of one simulated distributor, and sessions that are sent there. */
class Place {
  readonly #world: World
  readonly #profile: Profile
  readonly #base: string
  readonly #http: HttpSimulator | null
  readonly #ftp: FtpSimulator | null
  #impostor: HttpSimulator | undefined

  constructor(world: World, profile: Profile, { base = '/', handler, files }: Spoken) {
    const { log, listen } = world
    const { distid } = profile
    this.#world = world
    this.#profile = profile
    this.#base = base
    this.#http = handler
      ? new HttpSimulator(handler(world, profile), {
          log,
          port: listen.ports?.[distid],
          tls: listen.tls,
        })
      : null
    this.#ftp = files
      ? new FtpSimulator(files(world, profile), {
          log,
          port: listen.ports?.[handler ? `${distid}-FTP` : distid],
          tls: listen.tls,
        })
      : null
  }

  close(): void {
    this.#http?.close()
    this.#ftp?.close()
    this.#impostor?.close()
  }

  async address(): Promise<string> {
    return ((await this.#http?.address()) ?? CLOSED_PORT) + this.#base
  }

  async filesAddress(): Promise<string> {
    return `${this.#world.listen.tls ? 'ftpes' : 'ftp'}://127.0.0.1:${await this.#ftp!.port()}`
  }

  /** A session of nobody's order. */
  async plain<S extends Session>(session: S): Promise<S> {
    const ftpPort = await this.#ftp?.port()
    return this.#at(session, { address: await this.address(), ftpPort })
  }

  /** Works with a session of one order. A scenario has it find nobody there, or wait in vain. */
  async visiting<R>(
    session: OrderSession,
    order: PurchaseOrder,
    { isSent }: { isSent: boolean },
    work: (session: OrderSession) => Promise<R>,
  ): Promise<R> {
    session.signal.throwIfAborted()
    const send = sendOf(this.#profile, session, order)
    const kept = isSent ? keptFrom(this.#world, send) : null
    if (kept === 'certificate') return work(this.#at(session, await this.#untrusted()))
    if (kept === 'unreachable' || (kept && !this.#ftp))
      return work(this.#at(session, { address: CLOSED_PORT + this.#base, ftpPort: 1 }))
    const patience = new AbortController()
    const end = () => patience.abort(session.signal.reason)
    session.signal.addEventListener('abort', end, { once: true })
    const visit = {
      send,
      timeOut: () => patience.abort(new Error('no answer in time')),
      refusesData: kept === 'passive_refused',
    }
    const [web, visitor] = [await this.#http?.addressFor(visit), this.#ftp?.visitor(visit)]
    try {
      return await work(
        this.#at(session, {
          address: ((kept === null ? web?.address : undefined) ?? CLOSED_PORT) + this.#base,
          ftpPort: await this.#ftp?.port(),
          visitor: visitor?.prefix,
          signal: patience.signal,
        }),
      )
    } finally {
      web?.end()
      visitor?.end()
      session.signal.removeEventListener('abort', end)
    }
  }

  /** A server with another certificate than the one that is trusted here. */
  async #untrusted(): Promise<Destination> {
    const { log, now } = this.#world
    this.#impostor ??= new HttpSimulator(() => ({ answer: { status: 200, body: '' } }), {
      log,
      tls: makeCertificate({ now: now() }),
    })
    return { address: (await this.#impostor.address()) + this.#base, ftpPort: 1 }
  }

  /** The session, with calls that go to this place. */
  #at<S extends Session>(session: S, to: Destination): S {
    const { tls } = this.#world.listen
    const { address, ftpPort, visitor = '', signal = session.signal } = to
    const egress = { hosts: [], simulator: tls ? { certificate: tls.certificate } : {} }
    const own = {
      ...session,
      http: session.httpAt(address, egress, signal),
      stream: session.streamAt(address, egress, signal),
      streamFrom: ({ url, ...call }, take) =>
        session.streamAt('', egress, signal)({ ...call, method: 'GET', path: url }, take),
    } satisfies S
    if (ftpPort === undefined) return own
    const server = { host: 'localhost', port: ftpPort, isSecure: tls !== undefined }
    const ftp = session.ftpAt(server, egress, signal)
    return {
      ...own,
      ftp: (login, work) => ftp({ ...login, user: visitor + login.user }, work),
    } satisfies S
  }
}

interface Destination {
  address: string
  ftpPort?: number | undefined
  /** Before the user's name: the order that it is about. */
  visitor?: string | undefined
  signal?: AbortSignal
}

function sendOf(profile: Profile, session: OrderSession, order: PurchaseOrder): Send {
  const account = String(session.settings[profile.account ?? ''] ?? 'token')
  return {
    profile,
    session,
    order,
    account,
    arrival: arrivalOf(order, scenarioOf(order)),
    reach: reachOf(profile, account, order),
  }
}
