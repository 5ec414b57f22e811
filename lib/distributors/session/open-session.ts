/** A session of a distributor at its own address. */
import type { Distributor } from '../distributor.js'
import type { Egress } from './egress.js'
import { CallFault, callHttp } from './http.js'
import type { ApiCall, Session } from './session.js'

/** How the operator lets connectors out. */
export type OperatorEgress = Pick<Egress, 'proxy' | 'sourceAddress'>

export interface SessionOptions {
  readonly settings: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  readonly now: () => number
  readonly egress?: OperatorEgress
}

/** What a connector of this distributor is given; it can call the distributor's own hosts alone. */
export function openSession(
  { name, api }: Pick<Distributor, 'name' | 'api'>,
  { settings, signal, now, egress = {} }: SessionOptions,
): Session {
  return {
    settings,
    signal,
    now,
    async http(call) {
      if (api === undefined)
        throw new CallFault(`${name} has no address that could be called`, false, undefined)
      return callAt(api.url, { ...egress, hosts: [new URL(api.url).hostname] }, call, signal)
    },
  }
}

/** Makes a call below an address, which ends in a slash. */
export function callAt(
  address: string,
  egress: Egress,
  { path, ...call }: ApiCall,
  signal: AbortSignal,
): ReturnType<typeof callHttp> {
  return callHttp(egress, { ...call, url: address + path }, signal)
}
