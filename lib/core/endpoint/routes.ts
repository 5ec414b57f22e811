/**
 * The API's table of contents, in the order of its documentation: name of the library function,
 * method and path. What a call with a body puts into the query or into a header follows: `PUT
 * /path?query Header`.
 */
export const ROUTES = {
  ping: 'GET /v1/ping',
  account: 'GET /v1/account',
  usage: 'GET /v1/usage',
  distributors: 'GET /v1/distributors',
  'config.get': 'GET /v1/config',
  'config.put': 'PUT /v1/config?validate If-Match',
  'config.schema': 'GET /v1/config/schema',
  'config.validate': 'POST /v1/config/validate',
  'products.search': 'GET /v1/products/search',
  'products.facets': 'GET /v1/products/facets',
  'products.get': 'GET /v1/products/{upc}',
  'products.catalog': 'GET /v1/products/catalog',
  analytics: 'GET /v1/analytics/{metric}',
  'ffls.near': 'GET /v1/ffls',
  'ffls.get': 'GET /v1/ffls/{license_number}',
  'ffls.document': 'GET /v1/ffls/{license_number}/documents/{document_type}',
  'restrictions.check': 'POST /v1/restrictions/check',
  'orders.quote': 'POST /v1/orders/quote',
  'orders.place': 'POST /v1/orders',
  'orders.list': 'GET /v1/orders',
  'orders.get': 'GET /v1/orders/{order_id}',
  'fulfillment.history': 'GET /v1/fulfillment/history',
  'fraud.check': 'POST /v1/fraud/check',
  'fraud.report': 'POST /v1/fraud/reports',
  'fraud.remove': 'DELETE /v1/fraud/reports',
} as const

/** Answers without the envelope (contract "Response envelopes"). */
export const RAW: ReadonlySet<string> = new Set<RouteId>(['config.schema'])

export type RouteId = keyof typeof ROUTES

/** Matches the addresses of a path with parameters in braces. */
export function pathPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}

/** `GET /v1/products/{upc}` taken apart. */
export function parseRoute(route: string): {
  method: string
  path: string
  params: string[]
  query: string[]
  headers: string[]
} {
  const [method, target, ...headers] = route.split(' ') as [string, string, ...string[]]
  const [path, query] = target.split('?') as [string, string | undefined]
  return {
    method,
    path,
    params: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
    query: query?.split(',') ?? [],
    headers: headers.map(memberOf),
  }
}

/** The member of a call that travels in a header: `If-Match` -> `if_match`. */
function memberOf(header: string): string {
  return header.toLowerCase().replaceAll('-', '_')
}

/** The inverse: `if_match` -> `if-match`. */
export function headerOf(member: string): string {
  return member.replaceAll('_', '-')
}
