/** The API's table of contents, in the order of its documentation: name of the library function, method and path. */
export const ROUTES = {
  'ping': 'GET /v1/ping',
  'account': 'GET /v1/account',
  'usage': 'GET /v1/usage',
  'config.get': 'GET /v1/config',
  'products.search': 'GET /v1/products/search',
  'products.facets': 'GET /v1/products/facets',
  'products.get': 'GET /v1/products/{upc}',
  'orders.quote': 'POST /v1/orders/quote',
} as const

export type RouteId = keyof typeof ROUTES

/** Matches the addresses of a path with parameters in braces. */
export function pathPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}

/** `GET /v1/products/{upc}` taken apart. */
export function parseRoute(route: string): { method: string; path: string; params: string[] } {
  const [method, path] = route.split(' ') as [string, string]
  return { method, path, params: [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!) }
}
