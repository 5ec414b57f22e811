/** One request, from gate to reply. */
import type { Ctx } from '../../lib/app/ctx.js'
import type { AnyEndpoint } from '../../lib/core/endpoint/endpoint.js'
import { ApiError } from '../../lib/core/errors.js'
import { isSerialized } from '../../lib/core/endpoint/serialized.js'
import type { App } from '../../lib/app/open.js'
import { makeDecoder } from './decode.js'
import { limitHeaders } from './gate.js'
import type { Gate } from './gate.js'
import { ignoredHeader } from './unknown-parameters.js'
import { refuse } from './refusal.js'
import { finish, success } from './reply.js'
import type { Reply } from './reply.js'
import type { Starting } from './starting.js'

export interface Incoming {
  request: Request
  /** The peer's address; null where there is none, and then no allowlist lets it in. */
  peer: string | null
  /** As sent, without query; the address that the caller wrote into Host plays no part. */
  path: string
  params: Record<string, string>
  /** Parsed when it is asked for. */
  search: () => URLSearchParams
  /** The id of the key, once the gate has found it. */
  keyId?: string
}

export type Handler = (incoming: Incoming) => Promise<Reply>

/** The handler of one endpoint. */
export function makeHandler(
  { app, gate, starting }: { app: App; gate: Gate; starting: Starting },
  endpoint: AnyEndpoint<Ctx>,
): Handler {
  const decode = makeDecoder(endpoint)
  const route = `${endpoint.method} ${endpoint.path}`
  const isKnown = (name: string) => Object.hasOwn(endpoint.query.shape, name)
  return async (incoming) => {
    const { request, peer, params, search } = incoming
    const headers = baseHeaders(app, request)
    try {
      const caller = gate(request.headers, peer, route, incoming)
      const { key, admission } = caller instanceof Promise ? await caller : caller
      Object.assign(headers, limitHeaders(admission), ignoredHeader(search(), isKnown))
      const input = await decode(request, params, search)
      const wait = starting.ready(endpoint)
      if (wait) await wait
      const payload = await app.run(() => endpoint.run(app.contextFor(key), input as never))
      if (isSerialized(payload)) Object.assign(headers, payload.headers)
      return await finish(
        { status: 200, headers, body: success(payload, endpoint.isRaw) },
        request.headers.get('accept-encoding'),
      )
    } catch (error) {
      return refuse(app, error, headers, request)
    }
  }
}

/** The handler of an address that no endpoint has, or has with other methods: `allowed`. */
export function makeFallback(
  app: App,
  gate: Gate,
  allowed: (path: string) => readonly string[],
): Handler {
  return async (incoming) => {
    const { request, peer, path } = incoming
    const headers = baseHeaders(app, request)
    try {
      const { admission } = await gate(request.headers, peer, 'unknown', incoming)
      Object.assign(headers, limitHeaders(admission))
      const methods = allowed(path)
      if (methods.length === 0)
        throw new ApiError('not_found', {
          message: `There is no endpoint at ${path.slice(0, 200)}; see /v1/openapi.json.`,
        })
      throw new ApiError('method_not_allowed', {
        message: `${path} takes ${methods.join(', ')}.`,
        headers: { allow: methods.join(', ') },
      })
    } catch (error) {
      return refuse(app, error, headers, request)
    }
  }
}

/**
 * `X-Request-Id` is echoed when it is sane, else made; nothing that a key was needed for is stored
 * on the way; every answer says whether orders are real.
 */
export function baseHeaders(app: App, request: Request): Record<string, string> {
  const given = request.headers.get('x-request-id')
  return {
    'cache-control': 'no-store',
    'x-request-id': given && /^[\w.:-]{1,100}$/.test(given) ? given : requestId(app),
    'x-service-mode': app.ctx.modes.service,
  }
}

const ID_BYTES = 12
/**
 * Random bytes in stock: drawing them one id at a time costs more than the rest of a small answer.
 */
const stocks = new WeakMap<App, { bytes: Buffer; used: number }>()

function requestId(app: App): string {
  let stock = stocks.get(app)
  if (!stock || stock.used === stock.bytes.length)
    stocks.set(app, (stock = { bytes: app.ctx.random(ID_BYTES * 256), used: 0 }))
  return stock.bytes.toString('base64url', stock.used, (stock.used += ID_BYTES))
}
