/** What the command line says of the console, and whether it may be served at an address. */
import { readFileSync } from 'node:fs'
import { parseAllowlistEntry } from '../../lib/accounts/allowlist.js'
import { isLoopback } from '../admin/host.js'
import { UsageError, list, optional } from '../cli/command.js'
import type { Invocation } from '../cli/command.js'
import type { ConsolePlace } from './place.js'

export const CONSOLE_OPTIONS = {
  options: {
    'admin-cert': { type: 'string' },
    'admin-key': { type: 'string' },
    'admin-url': { type: 'string' },
    'admin-proxy': { type: 'string', multiple: true },
    'admin-from': { type: 'string', multiple: true },
  },
  help: {
    'admin-cert': 'PEM file with the certificate of the admin listener, which then speaks TLS',
    'admin-key': 'PEM file with its key',
    'admin-url': 'https address at which people reach the console, where a proxy is in front',
    'admin-proxy': 'address or CIDR range of that proxy; may be repeated',
    'admin-from':
      'address or CIDR range that may use the console from another machine; may be repeated',
  },
} as const

export interface ConsoleSettings {
  place: ConsolePlace
  tls: { cert: Buffer; key: Buffer } | null
  /** Why there is no console at this address; null where there is one. */
  off: string | null
}

/** Throws a UsageError for options that do not go together. */
export function consoleSettings(values: Invocation['values'], host: string): ConsoleSettings {
  const [cert, key] = [optional(values, 'admin-cert'), optional(values, 'admin-key')]
  if ((cert === undefined) !== (key === undefined))
    throw new UsageError('--admin-cert and --admin-key belong together')
  const entries = (name: string) =>
    list(values, name).map((entry) => parseAllowlistEntry(entry, `--${name}`))
  const [proxies, from] = [entries('admin-proxy'), entries('admin-from')]
  const url = urlOf(optional(values, 'admin-url'))
  if (proxies.length > 0 !== (url !== undefined))
    throw new UsageError(
      '--admin-proxy and --admin-url belong together: the proxy, and its address',
    )
  if (proxies.length > 0 && from.length === 0)
    throw new UsageError('--admin-proxy needs --admin-from: who may use the console through it')
  return {
    place: { url, proxies, from },
    tls: cert === undefined || key === undefined ? null : { cert: pem(cert), key: pem(key) },
    off: whyOff(host, { isSafe: cert !== undefined || proxies.length > 0, from }),
  }
}

/** A password never goes over a network in the clear, and nobody is let in by default. */
function whyOff(
  host: string,
  { isSafe, from }: { isSafe: boolean; from: readonly string[] },
): string | null {
  if (isLoopback(host)) return null
  if (!isSafe)
    return (
      `${host} is not of this machine alone: the console needs --admin-cert and --admin-key, ` +
      'or --admin-proxy and --admin-url'
    )
  return from.length > 0
    ? null
    : `${host} is not of this machine alone: say with --admin-from who may use the console`
}

function urlOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol !== 'https:' || url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw new UsageError('--admin-url must be an https address without a path')
  return url.origin
}

function pem(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch {
    throw new UsageError(`${path} cannot be read`)
  }
}
