/**
 * Orion's API: one address, a method and its parameters in the query, and a key in a header. Orders
 * are posted with an empty body, so that names and addresses stand in the query: nothing of that is
 * logged or recorded. What is known of it comes from clients that others published; it was never
 * tried with an account.
 */
import type { HttpAnswer, HttpCall } from '../../session/http.js'
import { callOnce, jsonOf, memberOf, NoReply, notApproved, textOf } from '../../session/reply.js'
import type { ApiCall, Session } from '../../session/session.js'

export const API = 'https://orionfflsales.com/'

/** The settings that this connector reads. */
export interface OrionSettings {
  readonly connection_key?: unknown
}

/** What was answered: `words` are Orion's own where it says no. */
export interface Told {
  readonly isOk: boolean
  readonly body: Readonly<Record<string, unknown>>
  readonly words: string
}

export const LOGIN_REFUSED = 'the login was refused: the connection key is not taken'
export const NOT_APPROVED = notApproved('Orion')
export const KEY_HEADER = 'connection-key'

/** Bytes of a list that is read whole: the stock of some 20,000 items is 2 MB. */
const LARGEST = 64 * 1_048_576
/** Words that are about the key, and about nothing that was asked. */
const ABOUT_THE_KEY = /connection[ _-]?key|invalid (key|credentials)|not authori[sz]ed/i

export const keyOf = (settings: OrionSettings): string => textOf(settings.connection_key) ?? ''

/** The call of a method; `query` is recorded nowhere. */
export function callOf(
  session: Session,
  method: string,
  { verb = 'GET', query }: { verb?: HttpCall['method']; query?: URLSearchParams } = {},
): ApiCall {
  return {
    method: verb,
    path: `api.php?method=${method}`,
    headers: { accept: 'application/json', [KEY_HEADER]: keyOf(session.settings) },
    ...(verb === 'POST' && { body: '' }),
    ...(query && { unrecordedQuery: query.toString() }),
  }
}

/** Refuses to ask with a key that was refused twice. Throws a NoReply. */
export function gateOf(session: Session): ReturnType<Session['login']> {
  const gate = session.login(keyOf(session.settings))
  const reason = gate.reason()
  if (reason !== null) throw new NoReply(reason, { mayHaveArrived: false })
  return gate
}

/**
 * Calls a method and returns what it is told. Throws a NoReply where there is no answer that could
 * be read, and where the key was refused before anything was looked at.
 */
export async function ask(
  session: Session,
  method: string,
  how: Parameters<typeof callOf>[2] = {},
): Promise<Told> {
  const gate = gateOf(session)
  const answer = await callOnce(session, { ...callOf(session, method, how), maxBytes: LARGEST })
  const told = readAnswer(method, answer)
  const isKeyRefused =
    answer.status === 401 ||
    (!told.isOk && ABOUT_THE_KEY.test(told.words) && textOf(told.body['order_id']) === null)
  if (isKeyRefused) {
    gate.refused()
    throw new NoReply(LOGIN_REFUSED, { mayHaveArrived: false, isLoginRefused: true })
  }
  if (told.isOk) gate.accepted()
  return told
}

/** The list or object of a good answer. Throws a NoReply for any other. */
export async function get(session: Session, method: string, member: string): Promise<unknown> {
  const { isOk, body, words } = await ask(session, method)
  if (!isOk) throw new NoReply(`${method}: ${words}`, { isQuoting: true })
  const value = memberOf(body, member)
  if (typeof value !== 'object' || value === null)
    throw new NoReply(`${method} answers without ${member}`)
  return value
}

function readAnswer(method: string, answer: HttpAnswer): Told {
  const { status } = answer
  if (status === 403) throw new NoReply(NOT_APPROVED)
  // What is wrong may be told in JSON under any status that is not a server's own trouble.
  const body = jsonOf(status < 500 ? { ...answer, status: 200 } : answer)
  const result = textOf(memberOf(body, 'result'))
  const isGood = status >= 200 && status < 300
  const words =
    textOf(memberOf(body, 'error_message')) ??
    textOf(memberOf(body, 'error')) ??
    textOf(memberOf(body, 'message')) ??
    ''
  if (result === null && words === '')
    throw new NoReply(`${method} answers HTTP ${status} and neither a result nor an error`)
  return { isOk: isGood && result?.toUpperCase() === 'OK', body, words }
}
