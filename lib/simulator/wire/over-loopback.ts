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
import type { Send } from '../engine/call.js'
import { isOutOfReach } from '../engine/scenarios/faults.js'
import { arrivalOf } from '../engine/sales-order.js'
import { scenarioOf } from '../engine/scenarios/scenarios.js'
import type { ListenOptions, Profile, SimulatedConnector, World } from '../engine/world.js'
import { HttpSimulator, CLOSED_PORT } from './http-simulator.js'
import type { Handled, WireRequest } from './http-simulator.js'

export interface Spoken {
  readonly connector: Fulfillment
  check(session: Session): Promise<CheckOutcome>
  /** Below the root of the server, with slashes in front and at the end. */
  readonly base: string
  handler(world: World, profile: Profile): (request: WireRequest) => Handled
}

/** A connector over a socket, at a simulator that listens from the first call on. */
export function overLoopback(
  world: World,
  profile: Profile,
  { connector, check, base, handler }: Spoken,
): SimulatedConnector {
  const { log, listen } = world
  const server = new HttpSimulator(handler(world, profile), {
    log,
    port: listen.ports?.[profile.distid],
    tls: listen.tls,
  })
  world.whenClosed(() => server.close())
  /** A session of nobody's order. */
  const plain = async <S extends Session>(session: S): Promise<S> =>
    at(session, (await server.address()) + base, { listen })

  async function visiting<R>(
    session: OrderSession,
    order: PurchaseOrder,
    { isSent }: { isSent: boolean },
    work: (session: OrderSession) => Promise<R>,
  ): Promise<R> {
    session.signal.throwIfAborted()
    const send = sendOf(profile, session, order)
    if (isSent && isOutOfReach(world, send))
      return work(at(session, CLOSED_PORT + base, { listen }))
    const patience = new AbortController()
    const end = () => patience.abort(session.signal.reason)
    session.signal.addEventListener('abort', end, { once: true })
    const visit = await server.addressFor({
      send,
      timeOut: () => patience.abort(new Error('no answer in time')),
    })
    try {
      return await work(at(session, visit.address + base, { listen, signal: patience.signal }))
    } finally {
      visit.end()
      session.signal.removeEventListener('abort', end)
    }
  }

  return {
    ...connector,
    address: async () => (await server.address()) + base,
    check: async (session) => check(await plain(session)),
    submit: (session, order) =>
      visiting(session, order, { isSent: true }, (own) => connector.submit(own, order)),
    find: (session, order) =>
      visiting(session, order, { isSent: false }, (own) => connector.find!(own, order)),
    async *updates(session, since, open): AsyncGenerator<OrderUpdate> {
      session.signal.throwIfAborted()
      yield* connector.updates!(await plain(session), since, open)
    },
  }
}

/** The session, with calls that go to another address. */
function at<S extends Session>(
  session: S,
  address: string,
  { listen: { tls }, signal = session.signal }: { listen: ListenOptions; signal?: AbortSignal },
): S {
  const simulator = tls ? { certificate: tls.certificate } : {}
  return { ...session, http: session.httpAt(address, { hosts: [], simulator }, signal) }
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
