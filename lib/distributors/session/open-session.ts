/** A session of a distributor at its own address. */
import type { Distributor } from '../distributor.js'
import type { Egress } from './egress.js'
import { CallFault, callHttp } from './http.js'
import type { CallApi, LoginGate, Session } from './session.js'
import type { Transcript } from './transcript.js'

/** How the operator lets connectors out. */
export type OperatorEgress = Pick<Egress, 'proxy' | 'sourceAddress'>

export interface SessionOptions {
  readonly settings: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  readonly now: () => number
  readonly egress?: OperatorEgress
  /** What its calls are recorded in. */
  readonly transcript?: Transcript
  /** What is known of its logins. */
  readonly login?: (credentials: readonly string[]) => LoginGate
}

/** Of a session whose logins nobody counts. */
const OPEN: LoginGate = { reason: () => null, accepted: () => {}, refused: () => {} }

/** What a connector of this distributor is given; it can call the distributor's own host alone. */
export function openSession(
  { name, api }: Pick<Distributor, 'name' | 'api'>,
  { settings, signal, now, egress = {}, transcript, login }: SessionOptions,
): Session {
  const httpAt: Session['httpAt'] = (address, to, until = signal) => {
    const call: CallApi = ({ path, ...rest }) =>
      callHttp(to, { ...rest, url: address + path }, until)
    return transcript ? (one) => transcript.record(one, () => call(one)) : call
  }
  return {
    settings,
    signal,
    now,
    httpAt,
    http:
      api === undefined
        ? async () => {
            throw new CallFault(`${name} has no address that could be called`, false, undefined)
          }
        : httpAt(api.url, { ...egress, hosts: [new URL(api.url).hostname] }),
    hide: (secret) => transcript?.hide(secret),
    login: (...credentials) => login?.(credentials) ?? OPEN,
  }
}
