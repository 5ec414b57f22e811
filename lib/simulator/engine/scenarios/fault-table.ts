/** What can go wrong between an order and its answer, and what the distributor does in spite of it. */
export type Effect = 'none' | 'whole' | 'late'

export const FAULTS = {
  unreachable: 'none',
  rate_limited: 'none',
  timeout: 'none',
  timeout_after: 'whole',
  cut: 'whole',
  error_before: 'none',
  error_after: 'whole',
  late: 'late',
  garbage: 'whole',
  html: 'none',
  reset_before: 'none',
  reset_after: 'whole',
  reset_body: 'whole',
  empty: 'whole',
  redirect: 'none',
  bad_gateway: 'none',
  gateway_timeout: 'whole',
  maintenance: 'none',
  not_http: 'none',
  too_large: 'whole',
  rate_limited_untold: 'none',
  certificate: 'none',
  passive_refused: 'none',
  half_file: 'none',
  // Replies that are odd or slow, and say what they should.
  gzip: 'whole',
  drip: 'whole',
  byte_order_mark: 'whole',
  no_length: 'whole',
  informational: 'whole',
  slow: 'whole',
  hang: 'whole',
} as const satisfies Record<string, Effect>
export type FaultName = keyof typeof FAULTS
