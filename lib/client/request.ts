/** The HTTP request of a call, from the route table alone. */
import { ROUTES, headerOf, parseRoute } from '../core/endpoint/routes.js'
import type { RouteId } from '../core/endpoint/routes.js'
import { RemoteError } from './remote-error.js'

export interface Prepared {
  method: string
  url: string
  headers: Record<string, string>
  body?: string
}

const SIBLINGS = new Set(
  Object.values(ROUTES)
    .map(parseRoute)
    .map(({ method, path }) => `${method} ${path}`),
)

/**
 * Sorts the members of an input into path, query, headers and body. Throws `invalid_parameter` for
 * what no request can say.
 */
export function prepare(
  base: string,
  key: string,
  id: RouteId,
  input: Record<string, unknown>,
): Prepared {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw impossible('input', 'must be an object with the parameters of the call')
  const { method, path, params, query: asQuery, headers: asHeaders } = parseRoute(ROUTES[id])
  const rest = { ...input }
  let target = path
  for (const name of params) {
    target = target.replace(`{${name}}`, () => inPath(`${method} ${path}`, name, rest[name]))
    delete rest[name]
  }
  const headers: Record<string, string> = { 'x-api-key': key, accept: 'application/json' }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(rest)) {
    const isHeader = asHeaders.includes(name)
    if (!isHeader && method !== 'GET' && !asQuery.includes(name)) continue
    delete rest[name]
    if (value === undefined) continue
    if (value === null) throw impossible(name, 'must not be null; leave it out')
    if (isHeader) headers[headerOf(name)] = inHeader(name, value)
    else query.set(name, String(value))
  }
  const url = query.size > 0 ? `${base}${target}?${query}` : base + target
  if (method === 'GET') return { method, url, headers }
  return {
    method,
    url,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(rest),
  }
}

function inPath(route: string, name: string, given: unknown): string {
  if (given === undefined || given === null) throw impossible(name, 'is required')
  const value = String(given)
  // Such a value would be another endpoint's address, or none.
  if (
    value === '' ||
    value === '.' ||
    value === '..' ||
    /\p{Surrogate}/u.test(value) ||
    SIBLINGS.has(route.replace(`{${name}}`, () => value))
  )
    throw impossible(name, `"${value}" is not possible here`)
  return encodeURIComponent(value)
}

function inHeader(name: string, given: unknown): string {
  const value = String(given)
  if (!/^[\x20-\x7e]*$/.test(value)) throw impossible(name, 'holds what no header can')
  return value
}

function impossible(path: string, message: string): RemoteError {
  return new RemoteError({
    status: 400,
    code: 'invalid_parameter',
    outcome: 'not_sent',
    message: `${path}: ${message}`,
    details: [{ path, message }],
  })
}
