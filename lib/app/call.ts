/**
 * One call of one endpoint without HTTP: the same checks and answers, as the library's functions.
 */
import { checkPart, refuseFaults } from '../core/endpoint/endpoint.js'
import type { Endpoint } from '../core/endpoint/endpoint.js'
import type { Ctx } from './ctx.js'
import { invalid } from '../core/errors.js'
import type { Fault } from '../core/errors.js'
import { checkTexts, withNewlines } from '../core/json.js'
import { keepHeaders } from '../core/endpoint/result-headers.js'
import { isSerialized } from '../core/endpoint/serialized.js'
import { allEndpoints } from './endpoints.js'
import type { RouteId } from '../core/endpoint/routes.js'
import { present } from '../core/present.js'

const byId = new Map(allEndpoints.map((endpoint) => [endpoint.id, endpoint]))

/** Checks the input as the server would, runs the endpoint and returns its payload as values. */
export async function callEndpoint(
  ctx: Ctx,
  id: RouteId,
  input: Record<string, unknown>,
): Promise<unknown> {
  const endpoint = present(byId.get(id), id)
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw invalid('input', 'must be an object with the parameters of the call')
  const result = await endpoint.run(ctx, checkInput(endpoint, withNewlines(input)))
  return isSerialized(result)
    ? keepHeaders(JSON.parse(result.json.toString()) as unknown, result.headers)
    : result
}

/**
 * Sorts the members of one input object into parameters, query and body, by the endpoint's shapes.
 */
function checkInput(endpoint: Endpoint, input: Record<string, unknown>) {
  const faults: Fault[] = []
  const parts = {
    params: {} as Record<string, unknown>,
    query: {} as Record<string, unknown>,
    headers: {} as Record<string, unknown>,
    body: {} as Record<string, unknown>,
  }
  for (const [name, value] of Object.entries(input)) {
    const part = Object.hasOwn(endpoint.params.shape, name)
      ? 'params'
      : Object.hasOwn(endpoint.headers.shape, name)
        ? 'headers'
        : Object.hasOwn(endpoint.query.shape, name) || !endpoint.hasBody
          ? 'query'
          : 'body'
    parts[part][name] = value
  }
  checkTexts(input, faults)
  const checked = {
    params: checkPart(endpoint.params, parts.params, faults),
    query: checkPart(endpoint.query, parts.query, faults),
    headers: checkPart(endpoint.headers, parts.headers, faults),
    body: checkPart(endpoint.body, parts.body, faults),
  }
  refuseFaults(faults)
  return checked
}
