/**
 * Refusals: which code an endpoint can answer with, what its details are, and how each looks
 * (contract "Errors").
 */
import * as z from 'zod'
import { FailedPlacement, FulfillmentOrder } from '../../lib/orders/history/shapes.js'
import { CheckResult } from '../../lib/restrictions/shapes.js'
import type { Endpoint } from '../../lib/core/endpoint/endpoint.js'
import { ERRORS, MAX_FAULTS } from '../../lib/core/errors.js'
import type { ErrorCode } from '../../lib/core/errors.js'
import { ConfigurationFault } from '../../lib/configuration/shapes.js'
import { EXAMPLES } from './error-examples.js'
import type { Json, Schemas } from './schemas.js'

/** Refusals that any endpoint with a key can answer with. */
export const EVERYWHERE: readonly ErrorCode[] = [
  'missing_api_key',
  'invalid_api_key',
  'key_disabled',
  'key_cancelled',
  'ip_whitelist_required',
  'ip_not_allowed',
  'rate_limited',
  'too_many_headers',
  'internal_error',
  'service_unavailable',
]

/** Every code that an endpoint can answer with. */
export function codesOf(endpoint: Endpoint): ErrorCode[] {
  const ofRequest: ErrorCode[] = [
    ...(needsParameters(endpoint) ? ['invalid_parameter' as const] : []),
    ...(endpoint.hasBody ? ['invalid_json' as const, 'payload_too_large' as const] : []),
  ]
  return [...new Set([...endpoint.errors, ...ofRequest, ...EVERYWHERE])]
}

function needsParameters(endpoint: Endpoint): boolean {
  return endpoint.hasBody || Object.keys(endpoint.query.shape).length > 0
}

/** The codes by their status, both in the order of the table of errors. */
export function byStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const statuses = new Map<number, ErrorCode[]>()
  for (const code of (Object.keys(ERRORS) as ErrorCode[]).filter((name) => codes.includes(name))) {
    statuses.set(ERRORS[code][0], [...(statuses.get(ERRORS[code][0]) ?? []), code])
  }
  return new Map([...statuses].sort(([a], [b]) => a - b))
}

const Fault = z
  .object({
    path: z.string().describe('The parameter or member: items[0].qty'),
    message: z.string().describe('What is wrong with it, and how to mend it'),
  })
  .meta({ component: 'Fault', about: 'One fault of a request' })

const faults = z.array(Fault).min(1).max(MAX_FAULTS).describe('All faults at once, at most 100')
const failures = z.array(FailedPlacement).describe('Each part of the order and why it failed')
const seconds = z.int().min(1).describe('As Retry-After: whole seconds, never too early')
const quota = z
  .object({
    limit: z.int().describe('Calls that the window takes'),
    window_seconds: z.int().describe('Length of the rolling window, seconds'),
    retry_after_seconds: seconds,
  })
  .describe('The window that is full; of two, the one that opens last')
const wait = z.object({ retry_after_seconds: seconds }).describe('The time to wait')

const Impact = z.object({
  deleted: z.int().describe('Offers that are visible now and would not be'),
  live: z.int().describe('Offers that are visible now'),
  deleted_percent: z.number().describe('deleted of live, a fraction: 0.25 is a quarter'),
  threshold_percent: z.number().describe('What the saved document allows, a fraction'),
  by_distributor: z
    .array(
      z.object({
        distid: z.string().describe('The distributor'),
        distributor: z.string().describe('Its name'),
        deleted: z.int().describe('Its offers that would be gone'),
        live: z.int().describe('Its offers that are visible now'),
        deleted_percent: z.number().describe('A fraction'),
      }),
    )
    .describe('The same for each distributor'),
})

/** What `details` holds, by code; the other codes have none. `optional`: not always there. */
const DETAILS: Partial<Record<ErrorCode, z.ZodType>> = {
  invalid_parameter: faults,
  invalid_upc: faults,
  schema_validation_failed: z
    .array(ConfigurationFault)
    .min(1)
    .max(MAX_FAULTS)
    .describe('All faults at once, at most 100'),
  validation_failed: Impact.describe('What the save would remove'),
  not_found: z
    .union([
      z.object({ metrics: z.array(z.string()).describe('The metrics that there are') }),
      z.object({ license_number: z.string().describe('The number that the license has now') }),
      z.object({ matches: z.int().describe('Dealers that the mask fits') }),
    ])
    .optional()
    .describe(
      'Where there is more to say: the metrics that there are, the number that a renewed ' +
        'license has now, or how many dealers a mask fits',
    ),
  duplicate_order: z
    .object({
      order_id: z.string().describe('The order that is there already'),
      fulfillment_orders: z.array(FulfillmentOrder).describe('Its records'),
      errors: z.array(FailedPlacement).describe('Parts of it that produced no distributor order'),
      same_request: z
        .boolean()
        .describe('true: it was placed with the very same request, so this was a retry'),
    })
    .describe('What is known of the order'),
  fulfillment_not_configured: z
    .array(
      z.object({
        distid: z.string().nullable().describe('The distributor; null for the store'),
        distributor: z.string().nullable().describe('Its name; null for the store'),
        reason: z.string().describe('What is missing'),
      }),
    )
    .describe('Each distributor of the cart that cannot be ordered from'),
  restricted_destination: CheckResult.describe('The restriction check of the order'),
  order_rejected: failures,
  distributor_unavailable: failures,
  service_unavailable: failures.optional(),
  rate_limited: z
    .union([quota, wait])
    .optional()
    .describe(
      'Of a limit by the minute or day the time to wait; of a fraud quota its size too; ' +
        'absent where too many wrong keys came from the address',
    ),
  order_volume_limit: quota,
  catalog_polled_too_early: wait,
  internal_error: z
    .object({
      request_id: z.string().describe('As X-Request-Id; what the operator finds the cause by'),
    })
    .describe('Nothing of the cause'),
}

/** `rate_limited` -> `RateLimitedError`, `internal_error` -> `InternalError`. */
export function errorName(code: ErrorCode): string {
  return (
    code
      .replace(/_error$/, '')
      .replaceAll(/(^|_)(\w)/g, (_, dash: string, letter: string) => letter.toUpperCase()) + 'Error'
  )
}

/** One schema for each of these codes. */
export function errorSchemas(schemas: Schemas, codes: readonly ErrorCode[]): Json {
  const answerOf = (error: Json, required: string[], description: string) => ({
    type: 'object',
    description,
    required: ['success', 'error'],
    additionalProperties: false,
    properties: {
      success: { type: 'boolean', enum: [false], description: 'false of every refusal' },
      error: {
        type: 'object',
        description: 'What was refused, and why',
        required,
        properties: error,
        additionalProperties: false,
      },
    },
  })
  const message = {
    type: 'string',
    description: 'A sentence for people; it may change, the code does not',
  }
  return Object.fromEntries(
    codes.map((code) => {
      const details = DETAILS[code]
      const isAlways = details !== undefined && !details.safeParse(undefined).success
      return [
        errorName(code),
        answerOf(
          {
            code: { type: 'string', enum: [code], description: 'What programs go by' },
            message,
            ...(details && { details: schemas.of(details, 'output') }),
          },
          ['code', 'message', ...(isAlways ? ['details'] : [])],
          ERRORS[code][1],
        ),
      ]
    }),
  )
}

/** Examples of the codes that some endpoint, or an address, has no words of its own for. */
export function errorExamples(endpoints: readonly Endpoint[]): Json {
  const shared = new Set<ErrorCode>([
    'method_not_allowed',
    ...endpoints.flatMap((endpoint) =>
      codesOf(endpoint).filter((code) => !endpoint.example.refused?.[code]),
    ),
  ])
  return Object.fromEntries(
    [...shared].map((code) => [code, exampleOf(code, EXAMPLES[code] ?? {})]),
  )
}

/** The body of a refusal as an example. */
export function exampleOf(
  code: ErrorCode,
  { message = ERRORS[code][1], details }: { message?: string | undefined; details?: unknown },
): Json {
  return {
    summary: ERRORS[code][1],
    value: { success: false, error: { code, message, ...(details !== undefined && { details }) } },
  }
}
