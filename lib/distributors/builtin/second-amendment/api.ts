/**
 * 2nd Amendment Wholesale's API: the REST interface of a Magento shop, JSON over HTTPS, with a token
 * of the account on every call. What is known of it comes from a public client and from Magento's
 * own documents; it was never tried with an account.
 */
import type { HttpCall } from '../../session/http.js'
import { callOnce, memberOf, NoReply, notApproved, textOf } from '../../session/reply.js'
import type { Session } from '../../session/session.js'

export const API = 'https://www.2ndamendmentwholesale.com/rest/V1/'

/** The settings that this connector reads. */
export interface SecondAmendmentSettings {
  readonly api_token?: unknown
  readonly ffl_recipient_emails?: unknown
  readonly billing_company?: unknown
  readonly billing_first_name?: unknown
  readonly billing_last_name?: unknown
  readonly billing_street?: unknown
  readonly billing_street_2?: unknown
  readonly billing_city?: unknown
  readonly billing_state?: unknown
  readonly billing_postal_code?: unknown
  readonly billing_email?: unknown
  readonly billing_phone?: unknown
}

export const LOGIN_REFUSED = 'the login was refused: the token is not taken'
export const NOT_APPROVED = notApproved('2nd Amendment Wholesale')

/** Bytes of an answer. */
const LARGEST = 8 * 1_048_576

/** Answers of a shop that has looked at a call and says no: never of something in between. */
const REFUSALS: ReadonlySet<number> = new Set([400, 404, 422])

/** The shop's own no, in its words: nothing of the call was done. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

/** One call: a path below the address, and what is posted. */
export interface Call {
  readonly method: HttpCall['method']
  readonly path: string
  readonly body?: unknown
}

export const tokenOf = ({ api_token }: SecondAmendmentSettings): string => textOf(api_token) ?? ''

/** The headers of every call. */
export const headersOf = (settings: SecondAmendmentSettings): Record<string, string> => ({
  accept: 'application/json',
  'content-type': 'application/json',
  authorization: `Bearer ${tokenOf(settings)}`,
})

/**
 * Makes one call and returns the JSON of a good answer. Throws a Refused where the shop says no, and
 * a NoReply where there is no answer that could be read.
 */
export async function ask(session: Session, { method, path, body }: Call): Promise<unknown> {
  const settings = session.settings as SecondAmendmentSettings
  const gate = session.login(tokenOf(settings))
  const reason = gate.reason()
  if (reason !== null) throw new NoReply(reason, { mayHaveArrived: false })
  const answer = await callOnce(session, {
    method,
    path,
    maxBytes: LARGEST,
    headers: headersOf(settings),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const { status } = answer
  if (answer.headers.get('content-type')?.startsWith('text/html'))
    throw new NoReply(`a page in HTML instead of a reply (HTTP ${status})`)
  const told = jsonIn(answer.body)
  const words = wordsIn(told)
  if (status === 401 && words !== null) {
    gate.refused()
    throw new NoReply(LOGIN_REFUSED, { mayHaveArrived: false, isLoginRefused: true })
  }
  if (REFUSALS.has(status) && words !== null) {
    gate.accepted()
    throw new Refused(words, status)
  }
  if (status < 200 || status >= 300) throw new NoReply(`HTTP ${status}`)
  if (told === undefined) throw new NoReply('the reply cannot be read')
  gate.accepted()
  return told
}

function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8').replace(/^\uFEFF/, '')) as unknown
  } catch {
    return undefined
  }
}

/**
 * What an error says: `message` with `%1` or `%name` in it, and `parameters` for them, as a list or
 * by name.
 */
export function wordsIn(told: unknown): string | null {
  const message = textOf(memberOf(told, 'message'))
  if (message === null) return null
  const parameters = memberOf(told, 'parameters')
  return message.replaceAll(/%(\w+)/g, (all, name: string) => {
    const value = Array.isArray(parameters)
      ? (parameters as unknown[])[Number(name) - 1]
      : memberOf(parameters, name)
    return textOf(value) ?? all
  })
}

/** What a refusal means to a person, with the shop's own words behind it. */
export function reasonOf({ message }: Refused): string {
  const meaning = MEANINGS.find(([words]) => words.test(message))?.[1]
  return meaning === undefined ? message : `${meaning}: ${message}`
}

/** Magento's own words for what commonly goes wrong with a cart. */
const MEANINGS: readonly (readonly [words: RegExp, meaning: string])[] = [
  [/requested qty|not have as many|out of stock/i, 'there is not enough in stock'],
  [
    /product that was requested doesn't exist|not salable|product .* not available/i,
    'this item is not sold',
  ],
  [/minimum order|maximum qty|fewest you may|most you may/i, 'a limit of the quantity'],
  [/agree to (the|all) terms|agreement/i, 'its terms were not accepted'],
  [/payment method/i, 'the account cannot pay in this way'],
  [/shipping method|carrier/i, 'it cannot be shipped there, or not in this way'],
  [/address|postcode|region|telephone/i, 'something in the address is not as it is asked for'],
]
