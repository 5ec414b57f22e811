/**
 * The one error of the client: what the server refused, and what became of a call that has no
 * answer.
 */

/**
 * What became of a call that failed. `refused`: it was answered, and it did nothing (of an order
 * that was placed before, `duplicate_order` says so). `not_sent`: it never left, since no
 * connection could be made. `unknown`: it may have been done: the connection broke, nothing came in
 * time, or the server failed.
 */
export type Outcome = 'refused' | 'not_sent' | 'unknown'

export interface Failure {
  code: string
  message: string
  outcome: Outcome
  status?: number
  details?: unknown
  retryAfter?: number | null
  requestId?: string | null
}

/**
 * A refusal by the server, with the documented code, or a failure on the way: `unreachable` (no
 * connection), `connection_lost`, `timeout`, `aborted`, `redirected`, `unreadable_answer`; of a
 * download also `invalid_url`, `damaged_file`. It never holds the API key, nor what a fetch of the
 * caller's own threw, which might.
 */
export class RemoteError extends Error {
  override readonly name = 'RemoteError'
  readonly code: string
  /** The HTTP status; 0 where no answer came. */
  readonly status: number
  readonly details: unknown
  /** Seconds that the server asks to wait; null where it does not. */
  readonly retryAfter: number | null
  /** The server's `X-Request-Id`, by which its log has the call; null where no answer came. */
  readonly requestId: string | null
  /**
   * What became of the call. With `unknown`, an order is placed again under the same order_id or
   * not at all.
   */
  readonly outcome: Outcome

  constructor({
    code,
    message,
    outcome,
    status = 0,
    details,
    retryAfter = null,
    requestId = null,
  }: Failure) {
    super(message)
    this.code = code
    this.status = status
    this.details = details
    this.retryAfter = retryAfter
    this.requestId = requestId
    this.outcome = outcome
  }
}

/** Errors of a connection that was never made: nothing can have been sent. */
const NEVER_CONNECTED = /^(ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$|CERT|UNABLE_TO_VERIFY/

/** What a fetch threw, in terms of the call. Its words stay out: they may repeat what was sent. */
export function failureOf(error: unknown, to: string): Failure {
  const cause = (error instanceof Error ? (error.cause ?? error) : {}) as {
    code?: unknown
    syscall?: unknown
    name?: unknown
  }
  const kind = typeof cause.code === 'string' ? cause.code : String(cause.name ?? typeof error)
  if (cause.syscall === 'connect' || NEVER_CONNECTED.test(kind))
    return {
      code: 'unreachable',
      outcome: 'not_sent',
      message: `No connection to ${to} can be made (${kind}).`,
    }
  return {
    code: 'connection_lost',
    outcome: 'unknown',
    message: `The connection to ${to} broke before the answer was there (${kind}).`,
  }
}
