/** The functions of a shop: one per endpoint, the same over the library and over HTTP. */
import type { CallInput, CallResult } from '../core/endpoint/endpoint.js'
import type { endpoints } from './endpoints.js'
import { ROUTES } from '../core/endpoint/routes.js'
import type { RouteId } from '../core/endpoint/routes.js'

type EndpointOf<Id extends RouteId> = Extract<(typeof endpoints)[number], { id: Id }>
type Call<E> =
  Record<never, never> extends CallInput<E>
    ? (input?: CallInput<E>) => Promise<CallResult<E>>
    : (input: CallInput<E>) => Promise<CallResult<E>>
type Group<Id extends RouteId> = Id extends `${infer Head}.${string}` ? Head : never
type Name<Id extends RouteId, Head extends string> = Id extends `${Head}.${infer Tail}`
  ? Tail
  : never

/**
 * Every endpoint as a typed function: `shop.ping()`, `shop.products.search({ q: '9mm' })`,
 * `shop.orders.quote({ items })`.
 */
export type Shop = {
  [Id in RouteId as Id extends `${string}.${string}` ? never : Id]: Call<EndpointOf<Id>>
} & {
  [Head in Group<RouteId>]: {
    [Tail in Name<RouteId, Head>]: Call<EndpointOf<`${Head}.${Tail}` & RouteId>>
  }
}

/** Builds the functions; `invoke` does one call. */
export function makeShop(
  invoke: (id: RouteId, input: Record<string, unknown>) => Promise<unknown>,
): Shop {
  const shop: Record<string, unknown> = {}
  for (const id of Object.keys(ROUTES) as RouteId[]) {
    const call = (input: Record<string, unknown> = {}) => invoke(id, input)
    const [head, tail] = id.split('.') as [string, string | undefined]
    shop[head] = tail === undefined ? call : { ...(shop[head] as object | undefined), [tail]: call }
  }
  return shop as Shop
}
