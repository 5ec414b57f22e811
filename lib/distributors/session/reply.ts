/**
 * What an API answered, or why there is no answer: what every connector that calls one has to tell
 * apart.
 */
import type { Submission } from '../fulfillment.js'
import { CallFault } from './http.js'
import type { HttpAnswer } from './http.js'
import type { ApiCall, Session } from './session.js'
import type { StreamedAnswer } from './stream.js'

/** Why there is no answer that could be read. */
export class NoReply extends Error {
  override readonly name = 'NoReply'
  /** False only where nothing of what was asked can have happened. */
  readonly mayHaveArrived: boolean
  readonly isLoginRefused: boolean
  /** The message repeats words of the answer, which are for nobody but the engine, which cleans them. */
  readonly isQuoting: boolean
  /** It was refused because it was asked too often (HTTP 429). */
  readonly isTooMany: boolean
  /** Seconds. */
  readonly retryAfter: number | undefined

  constructor(
    message: string,
    {
      mayHaveArrived = true,
      isLoginRefused = false,
      isQuoting = false,
      isTooMany = false,
      retryAfter,
    }: {
      mayHaveArrived?: boolean
      isLoginRefused?: boolean
      isQuoting?: boolean
      isTooMany?: boolean
      retryAfter?: number | undefined
    } = {},
  ) {
    super(message)
    this.mayHaveArrived = mayHaveArrived
    this.isLoginRefused = isLoginRefused
    this.isQuoting = isQuoting
    this.isTooMany = isTooMany
    this.retryAfter = retryAfter
  }
}

/** Why a distributor that approves addresses answers nothing. */
export const notApproved = (name: string): string =>
  `${name} does not accept calls from this address: ask your representative to approve it`

/**
 * Makes one call and reads the whole answer, whatever it says, but for one that was refused before
 * it was looked at (HTTP 429). Throws a NoReply.
 */
export const callOnce = (session: Session, call: ApiCall): Promise<HttpAnswer> =>
  replied(session, () => session.http(call))

/** The same of a long answer: `call` hands it on to whoever takes it, who may throw on his own. */
export const streamOnce = (
  session: Session,
  call: () => Promise<StreamedAnswer>,
): Promise<StreamedAnswer> => replied(session, call)

async function replied<A extends HttpAnswer>(session: Session, call: () => Promise<A>): Promise<A> {
  try {
    const answer = await call()
    if (answer.status !== 429) return answer
    const seconds = Number(answer.headers.get('retry-after'))
    throw new NoReply('HTTP 429: too many requests', {
      mayHaveArrived: false,
      isTooMany: true,
      retryAfter: seconds > 0 ? seconds : undefined,
    })
  } catch (error) {
    session.signal.throwIfAborted()
    if (!(error instanceof CallFault)) throw error
    throw new NoReply(error.message, { mayHaveArrived: error.sent })
  }
}

/** What a send came to that has no answer. Throws what is not a NoReply. */
export function unanswered(error: unknown): Submission {
  if (!(error instanceof NoReply)) throw error
  const { message: reason, mayHaveArrived, retryAfter } = error
  if (mayHaveArrived) return { outcome: 'unknown', reason }
  return { outcome: 'not_sent', reason, ...(retryAfter !== undefined && { retryAfter }) }
}

/** The members of a JSON object that was answered with 200. Throws a NoReply. */
export function jsonOf({ status, headers, body }: HttpAnswer): Readonly<Record<string, unknown>> {
  const unread = (why: string) => new NoReply(why, { mayHaveArrived: true })
  if (headers.get('content-type')?.startsWith('text/html'))
    throw unread(`a page in HTML instead of a reply (HTTP ${status})`)
  if (status !== 200) throw unread(`HTTP ${status}`)
  try {
    const value = JSON.parse(body.toString('utf8').replace(/^\uFEFF/, '')) as unknown
    if (typeof value === 'object' && value !== null)
      return value as Readonly<Record<string, unknown>>
  } catch {
    // Told below, without what it said.
  }
  throw unread('the reply cannot be read')
}

/** A member of what may be an object. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
}

/** A text or a number as text, without spaces around it; null for all else. */
export function textOf(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : null
}

/** The list that a value is; an empty one for all else. */
export const listOf = (value: unknown): unknown[] =>
  Array.isArray(value) ? (value as unknown[]) : []

/** The texts of a list, or of one text. */
export const textsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? (value as unknown[]) : [value]).flatMap((one) => textOf(one) ?? [])
