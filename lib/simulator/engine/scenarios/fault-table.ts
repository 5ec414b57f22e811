/** What can go wrong between an order and its answer. */
import { SECOND } from '../../../core/clock.js'
import type { Submission } from '../../../distributors/fulfillment.js'

export interface Fault {
  /** What the distributor does in spite of it. */
  readonly effect: 'none' | 'whole' | 'late'
  /** What the caller sees; absent: the answer itself. */
  readonly seen?: Submission | { throws: string }
  /** Milliseconds of real time before that. */
  readonly wait?: number
}

const unknown = (reason: string): Submission => ({ outcome: 'unknown', reason })
const reset = { throws: 'ECONNRESET' }

export const FAULTS = {
  unreachable: {
    effect: 'none',
    seen: { outcome: 'not_sent', reason: 'the connection was refused' },
  },
  rate_limited: {
    effect: 'none',
    seen: { outcome: 'not_sent', reason: 'HTTP 429: too many requests', retryAfter: 5 },
  },
  timeout: { effect: 'none', seen: unknown('no answer in time') },
  timeout_after: { effect: 'whole', seen: unknown('no answer in time') },
  cut: { effect: 'whole', seen: unknown('the reply was cut off') },
  error_before: { effect: 'none', seen: unknown('HTTP 500') },
  error_after: { effect: 'whole', seen: unknown('HTTP 500') },
  late: { effect: 'late', seen: unknown('no answer in time') },
  garbage: { effect: 'whole', seen: unknown('the reply cannot be read') },
  html: { effect: 'none', seen: unknown('a page in HTML instead of a reply (HTTP 403)') },
  reset_before: { effect: 'none', seen: reset },
  reset_after: { effect: 'whole', seen: reset },
  reset_body: { effect: 'whole', seen: unknown('the connection was broken off') },
  empty: { effect: 'whole', seen: unknown('the reply cannot be read') },
  redirect: { effect: 'none', seen: unknown('HTTP 302') },
  bad_gateway: { effect: 'none', seen: unknown('HTTP 502') },
  gateway_timeout: { effect: 'whole', seen: unknown('HTTP 504') },
  maintenance: { effect: 'none', seen: unknown('HTTP 503') },
  not_http: { effect: 'none', seen: unknown('the answer is not HTTP') },
  too_large: { effect: 'whole', seen: unknown('the answer is too large') },
  rate_limited_untold: {
    effect: 'none',
    seen: { outcome: 'not_sent', reason: 'HTTP 429: too many requests' },
  },
  certificate: {
    effect: 'none',
    seen: { outcome: 'not_sent', reason: 'its certificate is not one that is trusted' },
  },
  passive_refused: {
    effect: 'none',
    seen: { outcome: 'not_sent', reason: 'the connection was refused' },
  },
  half_file: { effect: 'none', seen: unknown('the connection was broken off') },
  // Replies that are odd, and say what they should.
  gzip: { effect: 'whole' },
  drip: { effect: 'whole' },
  byte_order_mark: { effect: 'whole' },
  no_length: { effect: 'whole' },
  informational: { effect: 'whole' },
  slow: { effect: 'whole', wait: 3 * SECOND },
  hang: { effect: 'whole', wait: Infinity },
} as const satisfies Record<string, Fault>
export type FaultName = keyof typeof FAULTS
