/**
 * The HTTP face of an app: every endpoint mounted on one router. The only file that knows the
 * framework.
 */
import { STATUS_CODES } from 'node:http'
import type { RequestListener } from 'node:http'
import { H3, HTTPResponse } from 'h3'
import type { H3Event } from 'h3'
import { toNodeHandler } from 'h3/node'
import { compileAllowlist } from '../../lib/accounts/allowlist.js'
import { allEndpoints } from '../../lib/app/endpoints.js'
import type { App } from '../../lib/app/open.js'
import { pathPattern } from '../../lib/core/endpoint/routes.js'
import { documentationRoutes, makeMethodRefusal } from '../docs/routes.js'
import { makeGate } from './gate.js'
import { baseHeaders, makeFallback, makeHandler } from './handle.js'
import type { Handler, Incoming } from './handle.js'
import { checkHeaders } from './headers.js'
import { makeObjectHandler } from './objects.js'
import type { StreamReply } from './objects.js'
import { refuse } from './refusal.js'

export interface ServerOptions {
  /** Addresses and CIDR ranges of proxies whose X-Forwarded-For is believed. */
  trustedProxies?: readonly string[]
  /** A trusted proxy that sends no X-Forwarded-For calls for itself; without this it is refused. */
  trustProxyDirect?: boolean
}

export interface Server {
  /** Answers one request. Without the caller's address no allowlist lets it in. */
  fetch(request: Request, context?: { address?: string }): Promise<Response>
  /** For `http.createServer`. */
  nodeHandler: RequestListener
  /** Whether this peer is a trusted proxy, or one that a key may be used from. */
  knows(peer: string): boolean
}

/** Mounts the endpoints of an app. */
export function createServer(app: App, options: ServerOptions = {}): Server {
  const gate = makeGate(app, options)
  const router = new H3({ allowMalformedURL: true })
  const methods = new Map<string, string[]>()
  // `/v1/orders/quote` is an address of its own, and that of an order of this name.
  const allowed = (path: string) => [
    ...new Set(
      [...methods].filter(([known]) => pathPattern(known).test(path)).flatMap(([, names]) => names),
    ),
  ]
  const fallback = makeFallback(app, gate, allowed)
  const mount = (method: string, path: string, handler: Handler) => {
    // HEAD is mounted too: the router's own fallback to GET comes after our catch-all.
    const answered = method === 'GET' ? ['GET', 'HEAD'] : [method]
    for (const name of answered)
      router.on(name as 'GET', routerPath(path), (event) =>
        respond(app, event, event.url.pathname.endsWith('/') ? fallback : handler),
      )
    methods.set(path, [...(methods.get(path) ?? []), ...answered])
  }
  for (const endpoint of allEndpoints)
    mount(endpoint.method, endpoint.path, makeHandler(app, gate, endpoint))
  const nothing = makeFallback(app, gate, () => [])
  const refuseMethod = makeMethodRefusal(app)
  for (const { path, handler } of documentationRoutes(app)) {
    // The router asks for the method first: what is left are the others.
    router.all(routerPath(path), (event) =>
      respond(app, event, event.url.pathname.endsWith('/') ? fallback : refuseMethod),
    )
    mount('GET', path, async (incoming) => (await handler(incoming)) ?? nothing(incoming))
  }
  const objects = makeObjectHandler(app)
  if (objects) router.all('/objects/**', (event) => respond(app, event, objects))
  router.all('/**', (event) => respond(app, event, fallback))
  const isProxy = compileAllowlist(options.trustedProxies ?? [])
  return {
    knows: (peer) => isProxy(peer) || app.mayCallFrom(peer),
    fetch: async (request, context) =>
      router.request(request, undefined, { address: context?.address } as never),
    nodeHandler: toNodeHandler(router) as RequestListener,
  }
}

function routerPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

type Answerer = (incoming: Incoming) => Promise<StreamReply>

async function respond(app: App, event: H3Event, handler: Answerer): Promise<HTTPResponse> {
  const request = event.req as unknown as Request & { ip?: string }
  const { address, params } = event.context as { address?: string; params?: Record<string, string> }
  try {
    checkHeaders(request)
  } catch (error) {
    return new PlainResponse(await refuse(app, error, baseHeaders(app, request), request))
  }
  const reply = await handler({
    request,
    peer: address ?? request.ip ?? null,
    path: event.url.pathname,
    params: decodeParams(params),
    search: () => event.url.searchParams,
  })
  return new PlainResponse(reply)
}

/**
 * Hands the headers on as they are: making a Headers object of them first costs as much as the
 * gate.
 */
class PlainResponse extends HTTPResponse {
  readonly #headers: Record<string, string>

  constructor({ status, headers, body }: StreamReply) {
    super(body as string, { status, statusText: STATUS_CODES[status] ?? '' })
    this.#headers = headers
  }

  override get headers(): Headers {
    return this.#headers as unknown as Headers
  }
}

function decodeParams(params: Record<string, string> | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params ?? {}).map(([name, value]) => [name, decode(value)]),
  )
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
