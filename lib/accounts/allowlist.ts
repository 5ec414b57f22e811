/** Which addresses may use a key (contract "Authentication" 2). */
import { BlockList, isIP } from 'node:net'
import { invalid } from '../core/errors.js'
import { present } from '../core/present.js'

export const MAX_ALLOWLIST = 50
/**
 * No range may be wider than this prefix, so that a slip of the pen does not open a key to the
 * world.
 */
const WIDEST = { 4: 16, 6: 32 } as const

/** The canonical text of an address or CIDR range; throws a 400 that says what is wrong. */
export function parseAllowlistEntry(text: string, path = 'ip'): string {
  const [address = '', prefix, ...more] = text.trim().split('/')
  const canonical = canonicalAddress(address)
  if (!canonical || more.length > 0)
    throw invalid(
      path,
      `"${text}" is not an IPv4 or IPv6 address or CIDR range, such as 203.0.113.7 or 2001:db8::/48` +
        (/[,;\s]/.test(text.trim()) ? '; give several one by one, each with its own option' : ''),
    )
  if (prefix === undefined) return canonical
  const version = isIP(canonical) as 4 | 6
  const bits = /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1
  if (isIP(address.trim()) === 6 && version === 4)
    throw invalid(path, `write the range "${text}" as an IPv4 range`)
  if (bits < 0 || bits > (version === 4 ? 32 : 128))
    throw invalid(path, `"/${prefix}" is not a prefix length of an IPv${version} range`)
  if (bits < WIDEST[version])
    throw invalid(path, `"${text}" is wider than /${WIDEST[version]}; register narrower ranges`)
  return `${canonical}/${bits}`
}

/**
 * One text for one address: an IPv4-mapped IPv6 address is its IPv4; null for anything that is no
 * plain address.
 */
export function canonicalAddress(text: string): string | null {
  const bare = text.trim()
  const version = isIP(bare)
  if (version === 0 || bare.includes('%')) return null
  if (version === 4) return bare
  const canonical = new URL(`http://[${bare}]/`).hostname.slice(1, -1)
  const [, first, second] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical) ?? []
  if (first === undefined || second === undefined) return canonical
  const [high, low] = [parseInt(first, 16), parseInt(second, 16)]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** A compiled list; entries are canonical. */
export function compileAllowlist(entries: readonly string[]): (address: string) => boolean {
  // Most servers trust no proxy: Node makes two objects of an address to look for it in a list,
  // which is a tenth of the gate's processor time.
  if (entries.length === 0) return () => false
  const list = new BlockList()
  for (const entry of entries) {
    const [address, prefix] = entry.split('/') as [string, string | undefined]
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  // Calls come from the same server again and again.
  let lastAllowed: string | undefined
  return (text) => {
    if (text === lastAllowed) return true
    const address = canonicalAddress(text)
    if (address === null || !list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6'))
      return false
    lastAllowed = text
    return true
  }
}

/** Entries of X-Forwarded-For that are looked at; a longer list is nobody's honest proxy chain. */
const MAX_HOPS = 20

export interface Proxies {
  /** Whether an address is that of a configured proxy. */
  isTrusted(address: string): boolean
  /**
   * A trusted peer without X-Forwarded-For is the caller itself; else it is a proxy that lost the
   * header.
   */
  mayCallItself: boolean
}

/**
 * The address that counts: the peer's, or behind trusted proxies the right-most entry of
 * X-Forwarded-For that is not one of them. Null where a trusted peer sends none, or one with an
 * entry that cannot be read, wherever it stands: then no address is trusted.
 */
export function clientAddress(
  peer: string | null,
  forwardedFor: string | null,
  proxies: Proxies,
): string | null {
  const address = peer === null ? null : canonicalAddress(peer)
  if (address === null || !proxies.isTrusted(address)) return address
  if (forwardedFor === null) return proxies.mayCallItself ? address : null
  const hops = forwardedFor.split(',')
  if (hops.length > MAX_HOPS) return null
  const addresses = hops.map(canonicalAddress).filter((hop) => hop !== null)
  if (addresses.length < hops.length) return null
  const caller = addresses.findLast((hop) => !proxies.isTrusted(hop)) ?? addresses[0]
  return present(caller, 'the address of a hop')
}
