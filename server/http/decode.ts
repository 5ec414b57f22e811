/** Reads a request by the shapes of its endpoint. */
import type * as z from 'zod'
import { checkPart, refuseFaults } from '../../lib/core/endpoint/endpoint.js'
import type { Endpoint } from '../../lib/core/endpoint/endpoint.js'
import type { Fault } from '../../lib/core/errors.js'
import { checkTexts, withNewlines } from '../../lib/core/json.js'
import { headerOf } from '../../lib/core/endpoint/routes.js'
import { readBody } from './body.js'
import { decodeQuery, kindOf } from './query.js'

/** 1 MB of the contract, in bytes. */
export const MAX_BODY = 1_048_576

export type Decoder = (
  request: Request,
  params: Record<string, string>,
  search: () => URLSearchParams,
) => Promise<{ params: unknown; query: unknown; headers: unknown; body: unknown }>

/** Compiles the reading of one endpoint's requests. */
export function makeDecoder(endpoint: Endpoint): Decoder {
  const kinds = new Map(
    Object.entries(endpoint.query.shape).map(([name, shape]) => [name, kindOf(shape as z.ZodType)]),
  )
  const headerNames = Object.keys(endpoint.headers.shape)
  const nothing =
    kinds.size === 0 &&
    headerNames.length === 0 &&
    !endpoint.hasBody &&
    Object.keys(endpoint.params.shape).length === 0
  const isOptional = endpoint.bodyIsOptional === true
  return async (request, params, search) => {
    if (nothing) return { params: {}, query: {}, headers: {}, body: {} }
    const raw = endpoint.hasBody
      ? await readBody(request, { most: MAX_BODY, isOptional })
      : undefined
    const faults: Fault[] = []
    const query = withNewlines(decodeQuery(search(), kinds, faults))
    // A parameter of the path has a rule of its own, and with it a code of its own.
    checkTexts(query, faults)
    checkTexts(raw, faults)
    const headers = Object.fromEntries(
      headerNames.map((name) => [name, request.headers.get(headerOf(name)) ?? undefined]),
    )
    const decoded = {
      params: checkPart(endpoint.params, params, faults),
      query: checkPart(endpoint.query, query, faults),
      headers: checkPart(endpoint.headers, headers, faults),
      body: raw === undefined ? {} : checkPart(endpoint.body, raw, faults),
    }
    refuseFaults(faults)
    return decoded
  }
}
