/** The cookie of a sign-in. */
import type { IncomingMessage } from 'node:http'
import { SECOND } from '../../lib/core/clock.js'
import { SESSION_LIFE } from '../../lib/console/sessions.js'

/** Seconds. */
export const COOKIE_LIFE = SESSION_LIFE / SECOND

/**
 * Cookies go to every port of a host: two consoles on one machine have one each. Over TLS the
 * browser holds it to this very host.
 */
function nameFor({ socket }: IncomingMessage, isSecure: boolean): string {
  return isSecure ? '__Host-quartermaster' : `quartermaster-${socket.localPort}`
}

export function cookieOf(
  request: IncomingMessage,
  isSecure: boolean,
  token: string,
  seconds: number,
): string {
  return [
    `${nameFor(request, isSecure)}=${token}`,
    'Path=/',
    `Max-Age=${seconds}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(isSecure ? ['Secure'] : []),
  ].join('; ')
}

/** The token in a request; null where there is none. */
export function tokenIn(request: IncomingMessage, isSecure: boolean): string | null {
  const name = nameFor(request, isSecure)
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const [key, value] = pair.trim().split('=', 2)
    if (key === name && value !== undefined && /^[\w-]{43}$/.test(value)) return value
  }
  return null
}
