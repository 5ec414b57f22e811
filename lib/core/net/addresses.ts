import { BlockList, isIP } from 'node:net'

/**
 * Addresses that no distributor's server has: this machine, its own network, and ranges that are
 * not routed.
 */
const PRIVATE = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  PRIVATE.addSubnet(net, bits, 'ipv4')
for (const [net, bits] of [
  ['::', 96],
  ['2002::', 16],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  PRIVATE.addSubnet(net, bits, 'ipv6')
}

/**
 * Whether nothing of a distributor may be asked at this address. An IPv4 address in IPv6 clothes
 * counts as what it is.
 */
export function isPrivate(address: string): boolean {
  const bare = address.replace(/%.*$/, '')
  return isIP(bare) === 0 || PRIVATE.check(bare, isIP(bare) === 6 ? 'ipv6' : 'ipv4')
}
