/** Answers of an operation: the success, and one response for each status of its refusals. */
import type { Endpoint } from '../../lib/core/endpoint/endpoint.js'
import { ERRORS } from '../../lib/core/errors.js'
import type { ErrorCode } from '../../lib/core/errors.js'
import { EVERYWHERE, byStatus, codesOf, errorName, exampleOf } from './errors.js'
import { refusalHeaders, successHeaders } from './headers.js'
import type { Json, Schemas } from './schemas.js'
import { present } from '../../lib/core/present.js'

/** Statuses that every endpoint answers with alike, unless it has a code of its own there. */
const SHARED: Record<number, string> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  405: 'MethodNotAllowed',
  413: 'PayloadTooLarge',
  429: 'RateLimited',
  431: 'TooManyHeaders',
  500: 'InternalError',
  503: 'ServiceUnavailable',
}
const OF_ALL = byStatus([...EVERYWHERE, 'method_not_allowed', 'payload_too_large'])

/** The shared responses, by name. */
export function responseComponents(): Json {
  const shared = Object.fromEntries(
    Object.entries(SHARED).map(([status, name]) => [
      name,
      refusal(Number(status), present(OF_ALL.get(Number(status)), `a code of ${status}`)),
    ]),
  )
  return { ...shared, PageMethodNotAllowed: refusal(405, ['method_not_allowed'], { isOpen: true }) }
}

/** The responses of an endpoint, by status. */
export function responsesOf(endpoint: Endpoint, schemas: Schemas): Json {
  const refusals = [...byStatus([...codesOf(endpoint), 'method_not_allowed'])].map(
    ([status, codes]) => {
      const isShared = codes.join() === OF_ALL.get(status)?.join()
      return [
        status,
        isShared
          ? { $ref: `#/components/responses/${SHARED[status]}` }
          : refusal(status, codes, { endpoint }),
      ]
    },
  )
  return { 200: success(endpoint, schemas), ...(Object.fromEntries(refusals) as Json) }
}

function success(endpoint: Endpoint, schemas: Schemas): Json {
  const result = schemas.of(endpoint.result, 'output')
  return {
    description: endpoint.isRaw
      ? 'The schema itself, without the envelope'
      : 'The payload, in its envelope',
    headers: successHeaders(Object.keys(endpoint.resultHeaders ?? {})),
    content: {
      'application/json': endpoint.isRaw
        ? { schema: result, example: endpoint.example.result }
        : { schema: envelope(result), example: { success: true, data: endpoint.example.result } },
    },
  }
}

function envelope(data: Json): Json {
  return {
    type: 'object',
    required: ['success', 'data'],
    properties: {
      success: { type: 'boolean', enum: [true], description: 'true of every success' },
      data,
    },
    additionalProperties: false,
  }
}

function refusal(
  status: number,
  codes: readonly ErrorCode[],
  { endpoint, isOpen = false }: { endpoint?: Endpoint; isOpen?: boolean } = {},
): Json {
  const [first, ...more] = codes.map((code) => ({
    $ref: `#/components/schemas/${errorName(code)}`,
  }))
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code][1]}`).join('\n\n'),
    headers: refusalHeaders(status, {
      isOpen,
      isOwn: codes.some((code) => !OF_ALL.get(status)?.includes(code)),
    }),
    content: {
      'application/json': {
        schema: more.length > 0 ? { anyOf: [first, ...more] } : first,
        examples: Object.fromEntries(
          codes.map((code) => {
            const own = endpoint?.example.refused?.[code]
            return [code, own ? exampleOf(code, own) : { $ref: `#/components/examples/${code}` }]
          }),
        ),
      },
    },
  }
}
