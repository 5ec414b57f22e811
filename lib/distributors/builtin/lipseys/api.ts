/**
 * Lipsey's API: JSON over HTTPS, a token by a login, and one envelope around every answer. What is
 * known of it comes from their public documents and clients; it was never tried with an account.
 */
import type { HttpAnswer } from '../../session/http.js'
import {
  callOnce,
  jsonOf,
  memberOf,
  NoReply,
  notApproved,
  streamOnce,
  textsOf,
} from '../../session/reply.js'
import type { ApiCall, Session } from '../../session/session.js'
import type { TakePieces } from '../../session/stream.js'

export const API = 'https://api.lipseys.com/api/integration/'

export const LOGIN = 'authentication/login'

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

/** What a long answer held beside its rows, by path, and whether there were any. */
export interface Streamed {
  readonly members: ReadonlyMap<string, unknown>
  readonly hasRows: boolean
}

export const NOT_APPROVED = notApproved("Lipsey's")
const REFUSED = 'the login was refused'

/** Bytes of an answer. */
const LARGEST = 8 * 1_048_576

/** Milliseconds until a long answer begins, and from one piece of it to the next. */
const PATIENCE = { answerTimeout: 300_000, stallTimeout: 60_000 }

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
      path: LOGIN,
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

  /**
   * Asks for what is too long for memory, and returns what stood around its rows; once more with a
   * new token, as `post` does. Throws a NoReply, and what `take` throws.
   */
  async stream(
    path: string,
    take: (pieces: Parameters<TakePieces>[0]) => Promise<Streamed>,
  ): Promise<Streamed['members']> {
    if (this.#token === null) await this.logIn()
    const found = await this.#streamed(path, take)
    if (found) return found
    await this.logIn()
    const again = await this.#streamed(path, take)
    if (again) return again
    throw new NoReply('the token of a new login was not taken')
  }

  /** Null where the token is not taken. */
  async #streamed(
    path: string,
    take: (pieces: Parameters<TakePieces>[0]) => Promise<Streamed>,
  ): Promise<Streamed['members'] | null> {
    let found: Streamed | undefined
    const call: ApiCall = { method: 'GET', path, ...PATIENCE, headers: { token: this.#token! } }
    const answer = await streamOnce(this.#session, () =>
      this.#session.stream(call, async (pieces) => {
        found = await take(pieces)
      }),
    )
    if (answer.status === 401) return null
    if (answer.status === 403) throw new NoReply(NOT_APPROVED)
    // Throws: it was no answer that could be handed on.
    if (!found) jsonOf(answer)
    const { members, hasRows } = found!
    if (members.get('authorized') === false && !hasRows) return null
    if (hasRows && members.get('success') === true && members.get('authorized') !== false)
      return members
    const said = textsOf(members.get('errors')).join('; ')
    throw new NoReply(`${path} was not answered${said === '' ? '' : `: ${said}`}`, {
      isQuoting: true,
    })
  }

  #call(call: ApiCall): Promise<HttpAnswer> {
    return callOnce(this.#session, {
      ...call,
      maxBytes: LARGEST,
      headers: { 'content-type': 'application/json', ...call.headers },
    })
  }
}
