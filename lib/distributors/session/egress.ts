/**
 * Where a connector may connect to. A name is looked up once, and what is connected to is the very
 * address that was checked.
 */
import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { inTime } from '../../core/async/wait.js'
import { isPrivate } from '../../core/net/addresses.js'
import { readMailServer } from './mail.js'
import type { MailServer } from './mail.js'

/** Milliseconds until a name has its addresses. */
const LOOKUP_TIMEOUT = 15_000

export interface Egress {
  /** Hosts that the distributor has, and those that the operator adds; there are no wildcards. */
  readonly hosts: readonly string[]
  /**
   * A simulator: loopback and nothing else. Its certificate is the only one that is trusted there.
   */
  readonly simulator?: { readonly certificate?: string }
  /** Hosts among them that the operator lets have a private address. */
  readonly privateHosts?: readonly string[]
  /** A call may go without TLS, where its address says so. */
  readonly mayBePlain?: boolean
  /** The operator's own proxy, `http://user:password@host:port`; it may have a private address. */
  readonly proxy?: string
  /** The address of this machine that the distributor has approved. */
  readonly sourceAddress?: string
}

/** How the operator lets connectors out of the machine. */
export interface OperatorEgress extends Pick<Egress, 'proxy' | 'sourceAddress' | 'privateHosts'> {
  /** Where orders by mail are sent; none by default. */
  readonly mail?: MailServer
}

/**
 * The operator's words for that, looked at once. Throws for a proxy that is no `http:` address, and
 * for a source address that is none.
 */
export function readEgress({
  proxy,
  sourceAddress,
  privateHosts,
  mail,
}: OperatorEgress): OperatorEgress {
  const url = proxy === undefined || !URL.canParse(proxy) ? null : new URL(proxy)
  if (proxy !== undefined && url?.protocol !== 'http:')
    throw new Error('egress.proxy: give an address such as http://user:password@proxy.example:3128')
  if (sourceAddress !== undefined && isIP(sourceAddress) === 0)
    throw new Error(`egress.sourceAddress: "${sourceAddress}" is not an IP address of this machine`)
  return {
    ...(proxy !== undefined && { proxy }),
    ...(sourceAddress !== undefined && { sourceAddress }),
    ...(privateHosts !== undefined && { privateHosts }),
    ...(mail !== undefined && { mail: readMailServer(mail) }),
  }
}

/** Why nothing was sent: nobody was asked to connect there, or nobody may. */
export class EgressFault extends Error {
  override readonly name = 'EgressFault'
}

/** Throws for a host that a connector may not talk to. */
export function checkHost({ hosts, simulator }: Egress, host: string): void {
  const name = host.toLowerCase()
  if (simulator) {
    if (!isLoopback(name))
      throw new EgressFault(`${host} is not this machine, and a simulator is nowhere else`)
  } else if (!hosts.some((known) => known.toLowerCase() === name))
    throw new EgressFault(
      `${host} is not a host of this distributor; known are ${hosts.join(', ') || 'none'}`,
    )
}

/**
 * The address to connect to for a host that may be asked. Every address that the name has must be
 * one that may be asked, since another lookup may begin with another.
 */
export async function addressOf(
  egress: Egress,
  host: string,
  signal?: AbortSignal,
): Promise<{ address: string; family: number }> {
  checkHost(egress, host)
  const bare = host.replace(/^\[|\]$/g, '')
  const found =
    isIP(bare) === 0
      ? await lookedUp(bare, signal).catch((error: unknown) => {
          throw new EgressFault(`the name ${host} cannot be looked up`, { cause: error })
        })
      : [{ address: bare, family: isIP(bare) }]
  const mayBePrivate = egress.privateHosts?.includes(host.toLowerCase()) === true
  const isRefused = egress.simulator
    ? (at: string) => !isLoopback(at)
    : (at: string) => !mayBePrivate && isPrivate(at)
  const refused = found.find(({ address }) => isRefused(address))
  if (refused)
    throw new EgressFault(
      egress.simulator
        ? `${host} leads to ${refused.address}, and a simulator is on this machine only`
        : `${host} leads to ${refused.address}, a private or local address, where no distributor is`,
    )
  const [first] = found
  if (!first) throw new EgressFault(`the name ${host} has no address`)
  return first
}

/** A look-up of the system cannot be ended; nobody waits for it any longer. */
const lookedUp = (name: string, signal?: AbortSignal): Promise<LookupAddress[]> =>
  inTime(() => lookup(name, { all: true, verbatim: false }), {
    ms: LOOKUP_TIMEOUT,
    closing: signal,
    late: () => {
      throw new Error('nobody answered in time')
    },
  })

function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '')
  return bare === 'localhost' || bare === '::1' || /^127(?:\.\d{1,3}){3}$/.test(bare)
}
