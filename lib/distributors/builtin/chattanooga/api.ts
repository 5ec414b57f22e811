/**
 * Chattanooga's API: JSON over HTTPS, and a header on every call that looks like HTTP's basic
 * authentication and is not. What is known of it comes from clients that others published; it was
 * never tried with an account.
 */
import { createHash } from 'node:crypto'
import type { HttpAnswer } from '../../session/http.js'
import {
  callOnce,
  jsonOf,
  listOf,
  memberOf,
  NoReply,
  notApproved,
  textOf,
} from '../../session/reply.js'
import type { ApiCall, Session } from '../../session/session.js'

export const API = 'https://api.chattanoogashooting.com/rest/v5/'

/** The settings that this connector reads. */
export interface ChattanoogaSettings {
  readonly api_sid?: unknown
  readonly api_token?: unknown
  readonly default_shipping_method?: unknown
}

/** An answer of the API, of which the account was known. */
export interface Answer {
  readonly status: number
  /** The members of the JSON object; null where there is none. */
  readonly body: Readonly<Record<string, unknown>> | null
  readonly isHtml: boolean
}

export const REFUSED = 'the login was refused'
export const NOT_APPROVED = notApproved('Chattanooga')
const NOT_PERMITTED =
  'the account may not use this part of the API (4003): ask your representative to permit it'

/** `error_code` of credentials that are not known, and of an account that may not ask. */
const BAD_CREDENTIALS = '4001'
const NO_PERMISSION = '4003'
/** Bytes of an answer. */
const LARGEST = 8 * 1_048_576

/** `Basic <SID>:<MD5 of the token>` as it stands: in Base64 it is refused. */
export function authorizationOf(sid: string, token: string): string {
  return `Basic ${sid}:${md5(token)}`
}

const md5 = (text: string) => createHash('md5').update(text).digest('hex')

/**
 * Makes one call. Throws a NoReply where there is no whole answer, and where the account was turned
 * away before anything was looked at.
 */
export async function ask(session: Session, call: ApiCall): Promise<Answer> {
  const { api_sid, api_token } = session.settings as ChattanoogaSettings
  const [sid, token] = [textOf(api_sid) ?? '', textOf(api_token) ?? '']
  const gate = session.login(sid, token)
  const reason = gate.reason()
  if (reason !== null) throw new NoReply(reason, { mayHaveArrived: false })
  // Over the wire it is as good as the token itself.
  session.hide(md5(token))
  const answer = answerOf(
    await callOnce(session, {
      ...call,
      maxBytes: LARGEST,
      headers: {
        accept: 'application/json',
        ...(call.body !== undefined && { 'content-type': 'application/json' }),
        authorization: authorizationOf(sid, token),
      },
    }),
  )
  const { status, body } = answer
  const code = codeIn(body)
  const isTurnedAway = status >= 400 && status < 500 && !holdsOrders(body)
  if (isTurnedAway && !answer.isHtml && (status === 401 || code === BAD_CREDENTIALS)) {
    gate.refused()
    throw new NoReply(REFUSED, { mayHaveArrived: false, isLoginRefused: true })
  }
  if (isTurnedAway && code === NO_PERMISSION) {
    gate.accepted()
    throw new NoReply(NOT_PERMITTED, { mayHaveArrived: false })
  }
  if (isGood(answer)) gate.accepted()
  return answer
}

/** Asks for something and returns the members of what it is told. Throws a NoReply. */
export async function get(
  session: Session,
  path: string,
): Promise<Readonly<Record<string, unknown>>> {
  return readGood(await ask(session, { method: 'GET', path }))
}

/** The members of an answer that says that all went well. Throws a NoReply that says what else. */
export function readGood(answer: Answer): Readonly<Record<string, unknown>> {
  const { status, body, isHtml } = answer
  const unread = (why: string) => new NoReply(why, { mayHaveArrived: true })
  if (isHtml) throw unread(`a page in HTML instead of a reply (HTTP ${status})`)
  if (!isGood(answer)) throw unread(said(`HTTP ${status}`, body))
  if (body === null) throw unread('the reply cannot be read')
  const code = codeIn(body)
  if (code !== null) throw unread(said(`the reply has the error code ${code}`, body))
  return body
}

export const isGood = ({ status }: Answer) => status >= 200 && status < 300

function answerOf(answer: HttpAnswer): Answer {
  const { status, headers } = answer
  const isHtml = headers.get('content-type')?.startsWith('text/html') === true
  return { status, isHtml, body: isHtml ? null : bodyOf(answer) }
}

function bodyOf(answer: HttpAnswer): Answer['body'] {
  try {
    // Errors are told in JSON too.
    const body = jsonOf({ ...answer, status: 200 })
    return Array.isArray(body) ? null : body
  } catch {
    return null
  }
}

/** The code of an error, as text; null for none. */
export function codeIn(body: Answer['body']): string | null {
  const code = textOf(memberOf(body, 'error_code'))
  return code === '0' ? null : code
}

/** Chattanooga's own words about an error, each once. */
export function wordsIn(body: Answer['body']): string[] {
  const errors = memberOf(body, 'errors')
  const words = [
    memberOf(body, 'message'),
    ...listOf(errors).map((error) =>
      typeof error === 'string' ? error : memberOf(error, 'message'),
    ),
  ]
  return [...new Set(words.flatMap((word) => textOf(word) ?? []))]
}

/** What we say, with Chattanooga's own words behind it. */
export function said(what: string, body: Answer['body']): string {
  const words = wordsIn(body)
  return words.length === 0 ? what : `${what}: ${words.join('; ')}`
}

/** Whether it tells of an order that there is, whatever else it says. */
export function holdsOrders(body: Answer['body']): boolean {
  return numbersIn(body).length > 0 || textOf(memberOf(body, 'order_number')) !== null
}

/** The numbers of the orders that an answer tells of, each once. */
export function numbersIn(body: Answer['body']): string[] {
  const orders = memberOf(body, 'orders')
  const numbers = listOf(orders).flatMap((order) => numberOf(order) ?? [])
  return [...new Set(numbers)]
}

/** The number of an order that is told; null for none. */
export function numberOf(order: unknown): string | null {
  const number = textOf(memberOf(order, 'order_number'))
  return number === '0' ? null : number
}
