/** By which names the admin listener answers. */
import { isIP } from 'node:net'
import type { IncomingMessage } from 'node:http'

/**
 * Whether the request names this machine: a loopback name, the address that it came in on, or one
 * of the names that were declared. A page in a browser can have its own name resolve to this
 * machine; the browser then sends that name, and gets nothing.
 */
export function isOurHost(request: IncomingMessage, declared: ReadonlySet<string>): boolean {
  const name = nameIn(request.headers.host)
  if (name === null) return false
  return isLoopback(name) || declared.has(name) || name === addressOf(request)
}

/** The name of a Host header, in lower case, without port and brackets; null where it is none. */
function nameIn(host: string | undefined): string | null {
  const [, literal, name] = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::\d{1,5})?$/i.exec(host ?? '') ?? []
  return (literal ?? name)?.toLowerCase() ?? null
}

/** Whether a name or an address is of this machine alone. */
export function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'))
}

function addressOf({ socket }: IncomingMessage): string | undefined {
  return socket.localAddress?.replace(/^::ffff:(?=\d+\.)/, '')
}
