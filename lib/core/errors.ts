/**
 * Every code that the API can answer with, its HTTP status and its default sentence (contract
 * "Errors"). A status is written nowhere else.
 */
import { present } from './present.js'

export const ERRORS = {
  invalid_parameter: [400, 'A parameter is missing or not of the documented form; see details.'],
  invalid_json: [400, 'The request body is not valid JSON.'],
  invalid_upc: [400, 'A UPC has 8 to 14 digits.'],
  schema_validation_failed: [
    400,
    'The configuration document does not fit its schema; see details.',
  ],
  missing_api_key: [401, 'Send your API key in the x-api-key header.'],
  invalid_api_key: [403, 'This API key is not known.'],
  key_disabled: [403, 'This API key is disabled.'],
  key_cancelled: [403, 'This API key was cancelled.'],
  ip_whitelist_required: [
    403,
    'This API key has no registered server IPs. Ask the operator to add one.',
  ],
  ip_not_allowed: [
    403,
    'The address that this call came from is not on the allowlist of the API key.',
  ],
  ffl_not_associated_with_order: [403, 'No order of yours names this license number.'],
  invalid_url: [403, 'This URL was not issued here, or it was changed; ask for a new one.'],
  not_found: [404, 'There is nothing at this address.'],
  document_not_on_file: [404, 'The dealer has no such document on file.'],
  report_not_found: [404, 'You have no report that matches these signals.'],
  method_not_allowed: [405, 'This address does not accept this method; see the Allow header.'],
  no_active_distributors: [409, 'The saved configuration has no active distributor.'],
  no_validated_distributors: [409, 'No active distributor has passed credential validation.'],
  duplicate_order: [409, 'This order_id was already placed; see details.'],
  validation_failed: [
    409,
    'The document would remove more of the live catalog than the delete threshold allows.',
  ],
  fulfillment_not_configured: [
    409,
    'Fulfillment is not configured for a distributor of this order.',
  ],
  restricted_destination: [409, 'An item must not be sold to this destination; see details.'],
  order_rejected: [409, 'Every distributor refused; see details. The order_id stays free.'],
  precondition_failed: [412, 'The document was changed since you read it. Read it again.'],
  payload_too_large: [413, 'The request body is larger than 1 MB (1,048,576 bytes).'],
  rate_limited: [429, 'Too many requests. Wait as long as Retry-After says.'],
  order_volume_limit: [429, 'The order volume limit of this key is reached.'],
  catalog_polled_too_early: [429, 'The catalog export may be called once every 20 minutes.'],
  too_many_headers: [431, 'The request has more than 100 headers; send fewer.'],
  internal_error: [
    500,
    'Unexpected error. Try again later; if it persists, tell the operator the request id.',
  ],
  feed_unavailable: [503, 'The catalog is not available at the moment. Try again shortly.'],
  document_file_unavailable: [
    503,
    'The document is on file, but its file cannot be read at the moment.',
  ],
  distributor_unavailable: [503, 'No distributor of this order can be reached. Nothing was sent.'],
  service_unavailable: [503, 'The service is not available at the moment. Try again shortly.'],
} as const satisfies Record<string, readonly [number, string]>

export type ErrorCode = keyof typeof ERRORS

/**
 * One fault of a request: `path` names the member (`items[0].qty`), `message` says what is wrong
 * and how to mend it.
 */
export interface Fault {
  path: string
  message: string
}

/** The most faults that one answer lists. */
export const MAX_FAULTS = 100

/**
 * The only error class: a refusal with a documented code. Anything else that is thrown is a 500.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ErrorCode
  readonly details: unknown
  /** Headers that the answer must carry, such as Allow or Retry-After. */
  readonly headers: Record<string, string>

  constructor(
    code: ErrorCode,
    options: { message?: string; details?: unknown; headers?: Record<string, string> } = {},
  ) {
    super(options.message ?? ERRORS[code][1])
    this.code = code
    this.details = options.details
    this.headers = options.headers ?? {}
  }

  get status(): number {
    return ERRORS[this.code][0]
  }
}

/** A 400 `invalid_parameter` that names one member. */
export function invalid(path: string, message: string): ApiError {
  return new ApiError('invalid_parameter', {
    message: `${path}: ${message}`,
    details: [{ path, message }],
  })
}

/**
 * A refusal that lists faults, at most 100 of them; its message says the first and how many more
 * there are.
 */
export function refusalOf(
  code: ErrorCode,
  faults: readonly Fault[],
  say: (first: Fault) => string = ({ path, message }) => `${path}: ${message}`,
): ApiError {
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more, see details)` : ''
  return new ApiError(code, {
    message: `${say(present(faults[0], 'a fault'))}${more}`,
    details: faults.slice(0, MAX_FAULTS),
  })
}

/**
 * What kind of error it is, without its words, which may repeat what was sent: `ECONNRESET`,
 * `TypeError`.
 */
export function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const { code } = (error.cause ?? error) as { code?: unknown }
  return typeof code === 'string' ? code : error.name
}

/** The code that Node, SQLite or a socket gave an error: `ENOENT`, `SQLITE_BUSY`; '' without one. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/**
 * True for an ApiError of this package, also for one made by another copy of it (two bundles, a
 * worker).
 */
export function isApiError(error: unknown): error is ApiError {
  return error instanceof Error && error.name === 'ApiError' && codeOf(error) in ERRORS
}
