/** Where the console is, and whether a request was meant for it. */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { canonicalAddress, clientAddress, compileAllowlist } from '../../lib/accounts/allowlist.js'
import { isLoopback } from '../admin/host.js'
import { Refusal } from './refusals.js'

export interface ConsolePlace {
  /** The address at which people reach it, where that is not the listener's own. */
  url?: string | undefined
  /** Addresses and CIDR ranges that may use it; those of this machine always may. */
  from?: readonly string[] | undefined
  /** Those of proxies whose X-Forwarded-For is believed. */
  proxies?: readonly string[] | undefined
}

/** Headers that a proxy adds: without one that was declared, a request with any comes from nowhere. */
const FORWARDED = ['x-forwarded-for', 'x-forwarded-host', 'forwarded', 'x-real-ip', 'via'] as const

export interface Gate {
  /** Where a request comes from, and by which address it was meant; throws a Refusal otherwise. */
  (request: IncomingMessage): { address: string; origin: string; isSecure: boolean }
}

/** Builds the gate; the names in Host were looked at before. */
export function makeGate({ url, from = [], proxies = [] }: ConsolePlace): Gate {
  const isAllowed = compileAllowlist(from)
  const isProxy = compileAllowlist(proxies)
  const declared = url === undefined ? null : new URL(url)
  return (request) => {
    const peer = canonicalAddress(request.socket.remoteAddress ?? '')
    if (peer === null) throw new Refusal('address_refused')
    const viaProxy = isProxy(peer)
    // A proxy beside the server lends everybody the address of this machine.
    if (!viaProxy && FORWARDED.some((name) => request.headers[name] !== undefined))
      throw new Refusal('proxy_unknown')
    const address = clientAddress(peer, textOf(request.headers['x-forwarded-for']), {
      isTrusted: isProxy,
      mayCallItself: false,
    })
    if (address === null) throw new Refusal('proxy_unknown')
    if (!(isOfThisMachine(address) && !viaProxy) && !isAllowed(address))
      throw new Refusal('address_refused')
    const origin = originOf(request, viaProxy ? declared : null)
    if (viaProxy && (!declared || request.headers.host !== declared.host))
      throw new Refusal('wrong_origin')
    return { address, origin, isSecure: origin.startsWith('https:') }
  }
}

const isOfThisMachine = (address: string) => isIP(address) !== 0 && isLoopback(address)

function textOf(header: string | string[] | undefined): string | null {
  return header === undefined ? null : Array.isArray(header) ? header.join(',') : header
}

/** What a browser writes into Origin when a page of ours calls. */
function originOf(request: IncomingMessage, declared: URL | null): string {
  if (declared) return declared.origin
  const isTls = (request.socket as Partial<TLSSocket>).encrypted === true
  return new URL(`${isTls ? 'https' : 'http'}://${request.headers.host}`).origin
}

/**
 * Throws unless a page of the console made the call. A browser says on every POST where it comes
 * from, and no page can have it say something else.
 */
export function refuseStrangers(request: IncomingMessage, origin: string): void {
  if (request.headers.origin !== origin) throw new Refusal('wrong_origin')
  refuseOtherSites(request)
}

/** Throws for a request that another site has caused, as far as the browser tells. */
export function refuseOtherSites({ headers }: IncomingMessage): void {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    throw new Refusal('wrong_origin')
}
