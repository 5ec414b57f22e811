/** What a call of the console is refused for before its operation is asked. */

/** Code, HTTP status, and a sentence with what to do. */
const REFUSALS = {
  signed_out: [401, 'Sign in first.'],
  link_invalid: [401, 'This link was used, or is older than 15 minutes. Ask for a new one.'],
  wrong_password: [401, 'This is not the name, the password or the code.'],
  code_needed: [401, 'Give the code of your second factor with the password.'],
  set_password: [403, 'This link is for setting a password: send one with it.'],
  viewer_may_not: [403, 'You may look, and change nothing.'],
  confirm_password: [403, 'Give your password again, and repeat the call.'],
  wrong_origin: [403, 'The call does not come from a page of this console.'],
  wrong_csrf: [403, 'The call lacks the x-csrf header of your sign-in. Load the page again.'],
  proxy_unknown: [403, 'It came through a proxy that was not declared with --admin-proxy.'],
  address_refused: [403, 'This address may not use the console; see --admin-from.'],
  too_many_tries: [429, 'Too many were wrong. Wait as long as Retry-After says.'],
} as const satisfies Record<string, readonly [number, string]>

export type RefusalCode = keyof typeof REFUSALS
export const REFUSAL_CODES = Object.keys(REFUSALS) as RefusalCode[]

export const statusOf = (code: RefusalCode): number => REFUSALS[code][0]
export const sentenceOf = (code: RefusalCode): string => REFUSALS[code][1]

/** A refusal of the console's own; what an operation refuses is an ApiError. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: RefusalCode
  readonly details: unknown
  /** Whole seconds. */
  readonly retryAfter: number | null

  constructor(
    code: RefusalCode,
    { details, retryAfter = null }: { details?: unknown; retryAfter?: number | null } = {},
  ) {
    super(sentenceOf(code))
    this.code = code
    this.details = details
    this.retryAfter = retryAfter
  }

  get status(): number {
    return statusOf(this.code)
  }
}
