/** The headers of a request as a whole: how many there are, and for which host. */
import type { IncomingMessage } from 'node:http'
import { ApiError, invalid } from '../../lib/core/errors.js'

/** The most header lines that a request may have. */
export const MAX_HEADERS = 100

/**
 * Throws 431 `too_many_headers` for a request of more than 100 headers, and 400 for one with two
 * Hosts. Whoever sends headers without end could push X-Forwarded-For out of what is read, and so
 * borrow the address of the proxy.
 */
export function checkHeaders(request: Request): void {
  const node = (request as { runtime?: { node?: { req?: IncomingMessage } } }).runtime?.node?.req
  const names = node ? linesOf(node) : [...request.headers.keys()]
  if (names.length > MAX_HEADERS || (node && mayHaveDropped(node, names.length)))
    throw new ApiError('too_many_headers')
  // In a Request, lines of one name have become one.
  const isTwice = node
    ? names.filter((name) => /^host$/i.test(name)).length > 1
    : request.headers.get('host')?.includes(', ')
  if (isTwice) throw invalid('Host', 'is given more than once; send it once')
}

/**
 * The name of each line. `headers` of Node has one entry for several lines, and none for those
 * beyond its own limit.
 */
function linesOf({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.filter((_, i) => i % 2 === 0)
}

/**
 * Whether an embedder's server with a smaller limit than ours may have left lines out: it says
 * nothing of them.
 */
function mayHaveDropped({ socket }: IncomingMessage, lines: number): boolean {
  const most =
    (socket as { server?: { maxHeadersCount?: number | null } } | null)?.server?.maxHeadersCount ??
    0
  return most > 0 && most < MAX_HEADERS && lines >= most
}
