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
import { documentationRoutes, makeMethodRefusal, welcome } from '../docs/routes.js'
import { makeGate } from './gate.js'
import { baseHeaders, makeFallback, makeHandler } from './handle.js'
import type { Handler, Incoming } from './handle.js'
import { checkHeaders } from './headers.js'
import { makeObjectHandler } from './objects.js'
import type { StreamReply } from './objects.js'
import type { Observe } from './observe.js'
import { refuse } from './refusal.js'
import { STARTED } from './starting.js'
import type { Starting } from './starting.js'

export interface ServerOptions {
  /** Addresses and CIDR ranges of proxies whose X-Forwarded-For is believed. */
  trustedProxies?: readonly string[]
  /** A trusted proxy that sends no X-Forwarded-For calls for itself; without this it is refused. */
  trustProxyDirect?: boolean
  /** Told of each request that was answered, for counts and logs. */
  observe?: Observe
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
  return createStartingServer(app, STARTED, options)
}

/** As `createServer`, of an app that is still getting ready. */
export function createStartingServer(
  app: App,
  starting: Starting,
  options: ServerOptions = {},
): Server {
  const gate = makeGate(app, options)
  const { observe } = options
  const router = new H3({ allowMalformedURL: true })
  const methods = new Map<string, string[]>()
  // `/v1/orders/quote` is an address of its own, and that of an order of this name.
  const allowed = (path: string) => [
    ...new Set(
      [...methods].filter(([known]) => pathPattern(known).test(path)).flatMap(([, names]) => names),
    ),
  ]
  const fallback = makeFallback(app, gate, allowed)
  const answer = (event: H3Event, route: string, handler: Answerer) =>
    observe
      ? observed(app, event, { route, handler, observe })
      : respond(app, incomingOf(event), handler)
  const mount = (method: string, path: string, route: string, handler: Handler) => {
    // HEAD is mounted too: the router's own fallback to GET comes after our catch-all.
    const answered = method === 'GET' ? ['GET', 'HEAD'] : [method]
    for (const name of answered)
      router.on(name as 'GET', routerPath(path), (event) =>
        event.url.pathname.endsWith('/')
          ? answer(event, UNKNOWN, fallback)
          : answer(event, route, handler),
      )
    methods.set(path, [...(methods.get(path) ?? []), ...answered])
  }
  for (const endpoint of allEndpoints)
    mount(
      endpoint.method,
      endpoint.path,
      `${endpoint.method} ${endpoint.path}`,
      makeHandler({ app, gate, starting }, endpoint),
    )
  const nothing = makeFallback(app, gate, () => [])
  const refuseMethod = makeMethodRefusal(app)
  for (const { path, handler } of documentationRoutes(app)) {
    // The router asks for the method first: what is left are the others.
    router.all(routerPath(path), (event) =>
      answer(event, 'docs', event.url.pathname.endsWith('/') ? fallback : refuseMethod),
    )
    mount('GET', path, 'docs', async (incoming) => (await handler(incoming)) ?? nothing(incoming))
  }
  for (const name of ['GET', 'HEAD'] as const)
    router.on(name, '/', (event) =>
      answer(event, 'docs', async (incoming) => welcome(app, incoming) ?? fallback(incoming)),
    )
  const objects = makeObjectHandler(app)
  if (objects) router.all('/objects/**', (event) => answer(event, 'objects', objects))
  router.all('/**', (event) => answer(event, UNKNOWN, fallback))
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

/** The route of an address that nothing has. */
const UNKNOWN = 'unknown'

async function respond(app: App, incoming: Incoming, handler: Answerer): Promise<HTTPResponse> {
  return new PlainResponse(await replyTo(app, incoming, handler))
}

const TRACE = ['traceparent', 'tracestate']

/** As `respond`, and tells of it. */
async function observed(
  app: App,
  event: H3Event,
  { route, handler, observe }: { route: string; handler: Answerer; observe: Observe },
): Promise<HTTPResponse> {
  const begun = performance.now()
  const incoming = incomingOf(event)
  const reply = await replyTo(app, incoming, handler)
  const { method, headers } = incoming.request
  const length = reply.headers['content-length']
  observe({
    route,
    method,
    status: reply.status,
    code: reply.code ?? null,
    keyId: incoming.keyId ?? null,
    requestId: reply.headers['x-request-id'] ?? '',
    milliseconds: performance.now() - begun,
    bytes: method === 'HEAD' ? 0 : length === undefined ? null : Number(length),
    trace: () =>
      Object.fromEntries(
        TRACE.flatMap((name) => {
          const value = headers.get(name)
          return value === null ? [] : [[name, value]]
        }),
      ),
  })
  return new PlainResponse(reply)
}

async function replyTo(app: App, incoming: Incoming, handler: Answerer): Promise<StreamReply> {
  const { request } = incoming
  try {
    checkHeaders(request)
  } catch (error) {
    return refuse(app, error, baseHeaders(app, request), request)
  }
  return handler(incoming)
}

function incomingOf(event: H3Event): Incoming {
  const request = event.req as unknown as Request & { ip?: string }
  const { address, params } = event.context as { address?: string; params?: Record<string, string> }
  return {
    request,
    peer: address ?? request.ip ?? null,
    path: event.url.pathname,
    params: decodeParams(params),
    search: () => event.url.searchParams,
  }
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
