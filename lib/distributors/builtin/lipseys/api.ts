/**
 * Lipsey's API: JSON over HTTPS, a token by a login, and one envelope around every answer. What is
 * known of it comes from their public documents and clients; it was never tried with an account.
 */
import type { HttpAnswer } from '../../session/http.js'
import { CallFault } from '../../session/http.js'
import type { ApiCall, Session } from '../../session/session.js'

export const API = 'https://api.lipseys.com/api/integration/'

/** The main account orders to the store, the drop-ship account to anybody else. */
export interface Login {
  readonly email: string
  readonly password: string
}

/** An answer that was read whole, and that the account was allowed to ask for. */
export interface Reply {
  readonly success: boolean
  /** In Lipsey's own words. */
  readonly errors: readonly string[]
  readonly data: unknown
}

/** Why there is no such answer. */
export class NoReply extends Error {
  override readonly name = 'NoReply'
  /** False only where nothing of what was asked can have happened. */
  readonly mayHaveArrived: boolean
  readonly isLoginRefused: boolean
  /** Seconds. */
  readonly retryAfter: number | undefined

  constructor(
    message: string,
    {
      mayHaveArrived,
      isLoginRefused = false,
      retryAfter,
    }: { mayHaveArrived: boolean; isLoginRefused?: boolean; retryAfter?: number | undefined },
  ) {
    super(message)
    this.mayHaveArrived = mayHaveArrived
    this.isLoginRefused = isLoginRefused
    this.retryAfter = retryAfter
  }
}

export const NOT_APPROVED =
  "Lipsey's does not accept calls from this address: ask your representative to approve it"
const REFUSED = 'the login was refused'

/** Bytes of an answer. */
const LARGEST = 8 * 1_048_576

/** An account for as long as a session; it logs in before its first call. */
export class LipseysAccount {
  readonly #session: Session
  readonly #login: Login
  #token: string | null = null

  constructor(session: Session, login: Login) {
    this.#session = session
    this.#login = login
  }

  /** Asks for a token. Throws a NoReply; of what is to be asked with it, nothing has arrived. */
  async logIn(): Promise<void> {
    try {
      this.#token = await this.#askForToken()
    } catch (error) {
      if (!(error instanceof NoReply)) throw error
      throw new NoReply(error.message, { ...error, mayHaveArrived: false })
    }
  }

  async #askForToken(): Promise<string> {
    const { email: Email, password: Password } = this.#login
    const gate = this.#session.login(Email, Password)
    const reason = gate.reason()
    if (reason !== null) throw new NoReply(reason, { mayHaveArrived: false })
    const answer = await this.#call({
      method: 'POST',
      path: 'authentication/login',
      body: JSON.stringify({ Email, Password }),
    })
    if (answer.status === 403) throw new NoReply(NOT_APPROVED, { mayHaveArrived: false })
    const { token, econtact, authorized } = answer.status === 401 ? {} : jsonOf(answer)
    const says = memberOf(econtact, 'success')
    if (typeof token === 'string' && token !== '' && says === true) {
      this.#session.hide(token)
      gate.accepted()
      return token
    }
    if (answer.status !== 401 && says !== false && authorized !== false)
      throw new NoReply('the answer to the login cannot be read', { mayHaveArrived: false })
    gate.refused()
    throw new NoReply(REFUSED, { mayHaveArrived: false, isLoginRefused: true })
  }

  /**
   * Posts a body as JSON; once more with a new token where the first is not taken, since then
   * nothing was looked at. Throws a NoReply.
   */
  async post(path: string, body: unknown): Promise<Reply> {
    const call: ApiCall = { method: 'POST', path, body: JSON.stringify(body) }
    if (this.#token === null) await this.logIn()
    const reply = await this.#ask(call)
    if (reply) return reply
    await this.logIn()
    const again = await this.#ask(call)
    if (again) return again
    throw new NoReply('the token of a new login was not taken', { mayHaveArrived: false })
  }

  /** Null where the token is not taken, and nothing else is said. */
  async #ask(call: ApiCall): Promise<Reply | null> {
    const answer = await this.#call({ ...call, headers: { token: this.#token! } })
    if (answer.status === 401) return null
    const { authorized, success, errors, data } = jsonOf(answer)
    const saysNothing = success !== true && (data ?? null) === null
    if (authorized === false && saysNothing) return null
    if (authorized === false)
      throw new NoReply('the reply says that nobody is logged in, and more than that', {
        mayHaveArrived: true,
      })
    if (typeof success !== 'boolean')
      throw new NoReply('the reply does not say whether it succeeded', { mayHaveArrived: true })
    return { success, errors: textsOf(errors), data }
  }

  async #call(call: ApiCall): Promise<HttpAnswer> {
    try {
      const answer = await this.#session.http({
        ...call,
        maxBytes: LARGEST,
        headers: { 'content-type': 'application/json', ...call.headers },
      })
      if (answer.status !== 429) return answer
      const seconds = Number(answer.headers.get('retry-after'))
      throw new NoReply('HTTP 429: too many requests', {
        mayHaveArrived: false,
        retryAfter: seconds > 0 ? seconds : undefined,
      })
    } catch (error) {
      this.#session.signal.throwIfAborted()
      if (!(error instanceof CallFault)) throw error
      throw new NoReply(error.message, { mayHaveArrived: error.sent })
    }
  }
}

/** The members of a JSON object that was answered with 200. */
function jsonOf({ status, headers, body }: HttpAnswer): Readonly<Record<string, unknown>> {
  const unread = (why: string) => new NoReply(why, { mayHaveArrived: true })
  if (headers.get('content-type')?.startsWith('text/html'))
    throw unread(`a page in HTML instead of a reply (HTTP ${status})`)
  if (status !== 200) throw unread(`HTTP ${status}`)
  try {
    const value = JSON.parse(body.toString('utf8')) as unknown
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

const textsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? (value as unknown[]) : [value]).flatMap((one) => textOf(one) ?? [])
