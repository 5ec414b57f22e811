/**
 * RSR's "DirectConnect" API: every question is one POST of JSON with the login in it. What is known
 * of it comes from RSR's document and from public clients; it was never tried with an account.
 */
import type { HttpAnswer } from '../../session/http.js'
import { callOnce, jsonOf, NoReply, notApproved, textOf } from '../../session/reply.js'
import type { Session } from '../../session/session.js'

export const API = 'https://www.rsrgroup.com/api/rsrbridge/1.0/pos/'

/** An account, by its number. */
export interface Login {
  readonly user: string
  readonly password: string
}

/** An answer that was read whole. Its members are found whatever their capitals. */
export interface Reply {
  /** `00`: it was done. */
  readonly code: string
  /** In RSR's own words. */
  readonly says: string
  member(name: string): unknown
}

export const DONE = '00'
export const PLACE = 'place-order'
export const NOT_APPROVED = notApproved('RSR')
const REFUSED = 'the login was refused'
/** How a refused login is told is not known: by its words. */
const ABOUT_LOGIN = /user ?name|password|credential|log ?in|log ?on|not authori[sz]ed|authenticat/i
/** Bytes of an answer. */
const LARGEST = 8 * 1_048_576

export const HEADERS = { 'content-type': 'application/json', accept: 'application/json' }

/** The body of a question, with who asks in it. */
export const bodyOf = (
  { user, password }: Login,
  body: Readonly<Record<string, unknown>>,
): string => JSON.stringify({ Username: user, Password: password, POS: 'I', ...body })

/**
 * Asks one question. Throws a NoReply; `mayHaveArrived` is false where RSR refused the login, since
 * then nothing was looked at.
 */
export async function ask(
  session: Session,
  login: Login,
  path: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Reply> {
  const gate = session.login(login.user, login.password)
  const shut = gate.reason()
  if (shut !== null) throw new NoReply(shut, { mayHaveArrived: false })
  const answer = await callOnce(session, {
    method: 'POST',
    path,
    body: bodyOf(login, body),
    headers: HEADERS,
    maxBytes: LARGEST,
  })
  // Of an order it proves nothing: anything in between may have written it.
  if (answer.status === 403 && path !== PLACE)
    throw new NoReply(NOT_APPROVED, { mayHaveArrived: true })
  const reply = answer.status === 401 ? null : replyOf(answer)
  if (reply === null || (reply.code !== DONE && ABOUT_LOGIN.test(reply.says))) {
    gate.refused()
    throw new NoReply(REFUSED, { mayHaveArrived: false, isLoginRefused: true })
  }
  gate.accepted()
  return reply
}

function replyOf(answer: HttpAnswer): Reply {
  const members = inLowerCase(jsonOf(answer))
  const code = textOf(members.get('statuscode'))
  if (code === null) throw new NoReply('the reply has no StatusCode', { mayHaveArrived: true })
  return {
    // Some answers have it as a number.
    code: code.padStart(2, '0'),
    says: textOf(members.get('statusmssg')) ?? '',
    member: (name) => members.get(name.toLowerCase()),
  }
}

/** The members of an object by their names in lower case; none of what is no object. */
export function inLowerCase(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(
    typeof value === 'object' && value !== null
      ? Object.entries(value).map(([name, member]) => [name.toLowerCase(), member])
      : [],
  )
}
