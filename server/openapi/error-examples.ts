/**
 * How refusals look, by code: as the demo answers. What an endpoint says in its own words stands in
 * its definition.
 */
import type { Refused } from '../../lib/core/endpoint/endpoint.js'
import type { ErrorCode } from '../../lib/core/errors.js'

/** Codes that are not here have their sentence of the table and no details. */
export const EXAMPLES: Partial<Record<ErrorCode, Refused>> = {
  invalid_json: { message: 'The request body is not valid JSON: line 1, column 12.' },
  ip_not_allowed: { message: 'The address 203.0.113.9 is not on the allowlist of the API key.' },
  method_not_allowed: { message: '/v1/ping takes GET, HEAD.' },
  rate_limited: { details: { retry_after_seconds: 60 } },
  internal_error: { details: { request_id: 'hQ3mC1rWv0eJqYfB' } },
}
