/**
 * Who may call (contract "Authentication"): key, status, allowlist, limits, in that
 * order.
 */
import { clientAddress, compileAllowlist } from '../../lib/accounts/allowlist.js'
import type { Admission } from '../../lib/accounts/limits/admission.js'
import type { Key } from '../../lib/accounts/caller.js'
import { ApiError } from '../../lib/core/errors.js'
import type { App } from '../../lib/app/open.js'

export interface Caller {
  key: Key
  admission: Admission
}

/**
 * `seen` is told which key it was, also where that is refused. A promise only where several nodes
 * count calls together: on one machine no turn is lost.
 */
export type Gate = (
  headers: Headers,
  peer: string | null,
  route: string,
  seen?: { keyId?: string },
) => Caller | Promise<Caller>

export interface ProxyOptions {
  /** Addresses and CIDR ranges whose X-Forwarded-For is believed. */
  trustedProxies?: readonly string[]
  /** One of them that sends none calls for itself. */
  trustProxyDirect?: boolean
}

/** Builds the gate. */
export function makeGate(
  app: App,
  { trustedProxies = [], trustProxyDirect = false }: ProxyOptions,
): Gate {
  const proxies = { isTrusted: compileAllowlist(trustedProxies), mayCallItself: trustProxyDirect }
  const { limits, engine } = app.ctx
  return (headers, peer, route, seen) => {
    const text = headers.get('x-api-key')
    if (!text) throw new ApiError('missing_api_key')
    const address = clientAddress(peer, headers.get('x-forwarded-for'), proxies)
    const enter = (): Caller | Promise<Caller> | ApiError => {
      const key = app.findKey(text)
      if (!key) return new ApiError('invalid_api_key')
      if (seen) seen.keyId = key.id
      return whyShut(key, address) ?? admit(limits, key, route)
    }
    const entered = enter()
    if (!(entered instanceof ApiError)) return entered
    const from = address ?? peer ?? 'unknown'
    const refuse = (error: ApiError): never => {
      if (error.code === 'invalid_api_key') limits.noteWrongKey(from)
      throw error
    }
    if (entered.code === 'invalid_api_key' && !limits.mayGuess(from))
      throw new ApiError('rate_limited', {
        message: 'Too many wrong keys from this address.',
        headers: { 'retry-after': '60' },
      })
    const caughtUp = engine.catchUp('keys')
    if (!caughtUp) return refuse(entered)
    return caughtUp.then(() => {
      // Another node may just have made the key, or let it in.
      const again = enter()
      return again instanceof ApiError ? refuse(again) : again
    })
  }
}

/** What keeps a key from being used from this address; null where nothing does. */
function whyShut(key: Key, address: string | null): ApiError | null {
  if (key.status === 'disabled') return new ApiError('key_disabled')
  if (key.status === 'cancelled') return new ApiError('key_cancelled')
  if (key.allowlist.length === 0) return new ApiError('ip_whitelist_required')
  if (address !== null && key.allows(address)) return null
  return new ApiError('ip_not_allowed', {
    message: `The address ${address ?? 'of this call'} is not on the allowlist of the API key.`,
  })
}

function admit(limits: App['ctx']['limits'], key: Key, route: string): Caller | Promise<Caller> {
  const admission = limits.admit(key, route)
  return admission instanceof Promise
    ? admission.then((answer) => admitted(key, answer))
    : admitted(key, admission)
}

function admitted(key: Key, admission: Admission): Caller {
  if (!admission.allowed) {
    throw new ApiError('rate_limited', {
      details: { retry_after_seconds: admission.retryAfter },
      headers: { 'retry-after': String(admission.retryAfter), ...limitHeaders(admission) },
    })
  }
  return { key, admission }
}

/** What every authenticated answer says of the caller's limits (IETF draft, named policies). */
export function limitHeaders({ policy, state }: Admission): Record<string, string> {
  return { 'ratelimit-policy': policy, ratelimit: state }
}
