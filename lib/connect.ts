/** The library's functions over HTTP: the same type as `app.as(...)`, from nothing but the route table and fetch. */
import { keepHeaders } from './core/result-headers.js'
import { RAW, ROUTES, headerOf, parseRoute } from './routes.js'
import { makeShop } from './shop.js'
import type { Shop } from './shop.js'

const SIBLINGS = new Set(Object.values(ROUTES).map(parseRoute).map(({ method, path }) => `${method} ${path}`))

export { etagOf } from './core/result-headers.js'

/** A refusal by the server, with the documented code. */
export class RemoteError extends Error {
  override readonly name = 'RemoteError'
  readonly code: string
  readonly status: number
  readonly details: unknown
  /** Seconds that the server asks to wait; null where it does not. */
  readonly retryAfter: number | null

  constructor(status: number, error: { code: string; message: string; details?: unknown }, retryAfter: number | null) {
    super(error.message)
    this.status = status
    this.code = error.code
    this.details = error.details
    this.retryAfter = retryAfter
  }
}

export interface ConnectOptions {
  /** Stands in for the global fetch, for a proxy agent or a test. */
  fetch?: (request: Request) => Promise<Response>
}

/** Connects to a server. Calls reject with RemoteError; nothing is retried. */
export function connect(url: string, key: string, options: ConnectOptions = {}): Shop {
  const send = options.fetch ?? ((request: Request) => fetch(request))
  const base = url.replace(/\/+$/, '')
  return makeShop(async (id, input) => readAnswer(await send(toRequest(base, key, ROUTES[id], input)), RAW.has(id)))
}

function toRequest(base: string, key: string, route: string, input: Record<string, unknown>): Request {
  const { method, path, params, query: asQuery, headers: asHeaders } = parseRoute(route)
  const rest = { ...input }
  let target = path
  for (const name of params) {
    const value = String(rest[name])
    // Such a value would be another endpoint's address, or none.
    if (value === '' || SIBLINGS.has(`${method} ${path.replace(`{${name}}`, value)}`)) {
      throw new RemoteError(400, { code: 'invalid_parameter', message: `${name}: "${value}" is not possible here`, details: [{ path: name, message: 'is not possible here' }] }, null)
    }
    target = target.replace(`{${name}}`, encodeURIComponent(value))
    delete rest[name]
  }
  const headers: Record<string, string> = { 'x-api-key': key, accept: 'application/json' }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(rest)) {
    const isHeader = asHeaders.includes(name)
    if (!isHeader && method !== 'GET' && !asQuery.includes(name)) continue
    if (isHeader && value !== undefined) headers[headerOf(name)] = String(value)
    else if (value !== undefined) query.set(name, String(value))
    delete rest[name]
  }
  const address = query.size > 0 ? `${base}${target}?${query}` : base + target
  if (method === 'GET') return new Request(address, { method, headers })
  return new Request(address, { method, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(rest) })
}

type Answer = { success: true; data: unknown } | { success: false; error: { code: string; message: string; details?: unknown } }

async function readAnswer(response: Response, isRaw: boolean): Promise<unknown> {
  const text = await response.text()
  let answer: Answer
  try {
    answer = JSON.parse(text) as Answer
    if (isRaw && response.ok) return answer
  } catch {
    // A proxy on the way, or no Quartermaster at all.
    answer = { success: false, error: { code: 'unreadable_answer', message: `the answer is no JSON but begins with ${JSON.stringify(text.slice(0, 80))}` } }
  }
  const etag = response.headers.get('etag')
  if (answer.success) return keepHeaders(answer.data, etag === null ? undefined : { etag })
  const retryAfter = response.headers.get('retry-after')
  throw new RemoteError(response.status, answer.error, retryAfter === null ? null : Number(retryAfter))
}
