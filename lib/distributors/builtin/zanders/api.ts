/**
 * Zanders' web services: every call bears the login, and every answer a code. What is known of them
 * comes from public clients; they were never tried with an account.
 */
import { callOnce, NoReply, notApproved } from '../../session/reply.js'
import type { Session } from '../../session/session.js'
import { XmlFault } from '../../session/xml.js'
import type { Login } from './accounts.js'
import { readAnswer, SOAP_HEADERS, SoapFault, writeCall } from './soap.js'
import type { Answered, AnsweredMap, ValueMap } from './soap.js'

export const API = 'https://shop2.gzanders.com/webservice/'
/** Of the elements of calls: a name, and not where they go. */
const NAMESPACES = 'http://shop2.gzanders.com/webservice/'

export type Service = 'orders' | 'shiptoaddresses'

/** An answer that was read whole. */
export interface Reply {
  readonly code: number
  /** Why, in Zanders' own words; empty where it does not say. */
  readonly reason: string
  readonly told: AnsweredMap
}

export const DONE = 0
const LOGIN_REFUSED = 1

/** What the codes stand for that every service has; those of orders are in `orders.ts`. */
const REFUSED = 'the login was refused (code 1)'
const NOT_APPROVED = notApproved('Zanders')

/** A call as it goes out. `testing` is the service's own flag: an order with it is none. */
export const bodyOf = (
  service: Service,
  operation: string,
  { user, password }: Pick<Login, 'user' | 'password'>,
  params: ValueMap,
): string =>
  writeCall(NAMESPACES + service, operation, {
    username: user,
    password,
    ...params,
    testing: false,
  })

/**
 * Makes one call. Throws a NoReply where there is no answer that can be read, or where the login is
 * refused, which is looked at before anything else is.
 */
export async function ask(
  session: Session,
  login: Login,
  [service, operation]: readonly [service: Service, operation: string],
  params: ValueMap,
): Promise<Reply> {
  const gate = session.login(login.user, login.password)
  const shut = gate.reason()
  if (shut !== null) throw new NoReply(shut, { mayHaveArrived: false })
  const { status, headers, body } = await callOnce(session, {
    method: 'POST',
    path: service,
    headers: SOAP_HEADERS,
    body: bodyOf(service, operation, login, params),
  })
  const type = headers.get('content-type') ?? ''
  if (status === 403) throw new NoReply(NOT_APPROVED)
  if (type.startsWith('text/html'))
    throw new NoReply(`${operation}: a page in HTML instead of a reply (HTTP ${status})`)
  // What a service could not do, it tells with 500.
  if (status !== 200 && !(status === 500 && type.includes('xml')))
    throw new NoReply(`${operation}: HTTP ${status}`)
  const reply = replyIn(body.toString('utf8').trim(), operation)
  if (reply.code !== LOGIN_REFUSED || textIn(reply.told, 'orderNumber') !== null) {
    gate.accepted()
    return reply
  }
  gate.refused()
  throw new NoReply(REFUSED, { mayHaveArrived: false, isLoginRefused: true })
}

function replyIn(text: string, operation: string): Reply {
  const told = read(text, operation)
  const code = textIn(told, 'returnCode')
  if (code === null || !/^\d{1,4}$/.test(code))
    throw new NoReply(`${operation}: the reply has no code`)
  return { code: Number(code), reason: textIn(told, 'reason') ?? '', told }
}

function read(text: string, operation: string): AnsweredMap {
  try {
    return readAnswer(text, operation)
  } catch (error) {
    if (error instanceof SoapFault)
      throw new NoReply(`${operation} could not be done: ${quoted(error.message)}`, {
        isQuoting: true,
      })
    if (!(error instanceof XmlFault)) throw error
    throw new NoReply(`${operation}: the reply cannot be read`)
  }
}

/** Throws a NoReply where the login is not taken. */
export async function logIn(session: Session, login: Login): Promise<void> {
  const { code } = await ask(session, login, ['orders', 'loginCheck'], {})
  if (code !== DONE) throw new NoReply(`loginCheck answers return code ${code}`)
}

/** The code that an answer bears, with what Zanders says of it. */
export const saying = ({ code, reason }: Reply, meaning = ''): string =>
  `return code ${code}: ${[meaning, reason].filter((text) => text !== '').join('; ') || 'no reason'}`

/** A text of a map; null for all else, and for none. */
export function textIn(map: AnsweredMap, name: string): string | null {
  const value = map.get(name)
  return typeof value === 'string' && value !== '' ? value : null
}

/** The maps that a member holds: one, or a list of them. */
export function mapsIn(map: AnsweredMap, name: string): readonly AnsweredMap[] {
  const value: Answered = map.get(name) ?? ''
  if (typeof value === 'string') return []
  return 'size' in value ? [value] : value
}

const LONGEST_QUOTE = 100
const quoted = (text: string) =>
  text === '' ? 'it says nothing' : `"${[...text].slice(0, LONGEST_QUOTE).join('')}"`
