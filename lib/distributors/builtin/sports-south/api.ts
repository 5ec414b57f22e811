/**
 * Sports South's web services: a form is posted, and what comes back is an XML document of one
 * element, which holds a number, `true` or `false`, or another document as escaped text. What is
 * known of it comes from public clients; it was never tried with an account.
 */
import type { HttpAnswer } from '../../session/http.js'
import { callOnce, NoReply, notApproved } from '../../session/reply.js'
import type { Session } from '../../session/session.js'
import { parseXml, XmlFault } from '../../session/xml.js'
import type { XmlElement } from '../../session/xml.js'

export const API = 'https://webservices.theshootingwarehouse.com/smart/'

export type Service = 'inventory' | 'orders' | 'invoices' | 'users'
export type Params = Readonly<Record<string, string>>
/** A row of an answer: texts by column. */
export type Row = Readonly<Record<string, string>>

/** The settings that this connector reads. */
export interface SportsSouthSettings {
  readonly api_user?: unknown
  readonly api_customer_number?: unknown
  readonly api_password?: unknown
  readonly ffl_recipient_emails?: unknown
}

export const NOT_APPROVED = notApproved('Sports South')
const REFUSED = 'the login was refused'
const UNREADABLE = 'the reply cannot be read'

/** Bytes of an answer. */
const LARGEST = 2 * 1_048_576
/** How a refused login is worded. */
const NOT_AUTHENTICATED = /not authenticated|authentication failed/i

export const HEADERS = { 'content-type': 'application/x-www-form-urlencoded' }

export const formOf = (params: Params): string => new URLSearchParams(params).toString()

/** Who asks: a part of every form. */
export function loginOf(settings: SportsSouthSettings): Params {
  const customer = textOf(settings.api_customer_number)
  return {
    UserName: textOf(settings.api_user),
    Password: textOf(settings.api_password),
    CustomerNumber: customer,
    // Of a shop that was given no code of a provider.
    Source: customer,
  }
}

/** An account for as long as a session. Every call bears its login. */
export class SportsSouthAccount {
  readonly #session: Session
  readonly #login: Params
  #isAccepted = false

  constructor(session: Session) {
    this.#session = session
    this.#login = loginOf(session.settings)
  }

  /** The number that an operation answers with, such as that of a new order. Throws a NoReply. */
  async number(service: Service, operation: string, params: Params): Promise<string> {
    const text = await this.#value(service, operation, params)
    if (/^[1-9]\d{0,17}$/.test(text)) return text
    throw answering(operation, text, ', which is not a number of an order')
  }

  /** Whether an operation says that it did what was asked. Throws a NoReply. */
  async flag(service: Service, operation: string, params: Params): Promise<boolean> {
    const text = await this.#value(service, operation, params)
    if (/^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true'
    throw answering(operation, text, ', which is neither true nor false')
  }

  /** A word that an operation answers with. Throws a NoReply. */
  async word(service: Service, operation: string, params: Params): Promise<string> {
    const text = await this.#value(service, operation, params)
    if (/^[\w./-]{1,40}$/.test(text)) return text
    throw answering(operation, text, ', which is not one word')
  }

  /**
   * The rows that an operation answers with. An answer without any text is no answer. Throws a
   * NoReply.
   */
  async rows(service: Service, operation: string, params: Params): Promise<Row[]> {
    const root = await this.#call(service, operation, params)
    return this.#rowsIn(operation, root)
  }

  /** The same, where nothing follows from there being none: an answer without text has none. */
  async rowsIfAny(service: Service, operation: string, params: Params): Promise<Row[]> {
    const root = await this.#call(service, operation, params)
    const isEmpty = root.text.trim() === '' && root.children.length === 0
    return isEmpty ? this.#accepted([]) : this.#rowsIn(operation, root)
  }

  #rowsIn(operation: string, { text, children: [inner] }: XmlElement): Row[] {
    const data = inner ?? this.#read(operation, () => parseXml(text.trim()))
    if (data.name !== 'NewDataSet' || data.text.trim() !== '')
      throw new NoReply(`${operation}: ${UNREADABLE}`)
    const rows = data.children.map(rowOf)
    const said = rows.find((row) => row['ERROR'] !== undefined)?.['ERROR']
    if (said === undefined) return this.#accepted(rows)
    if (NOT_AUTHENTICATED.test(said)) this.#refused()
    throw answering(operation, said)
  }

  /** An answer that is one value, not a document. */
  async #value(service: Service, operation: string, params: Params): Promise<string> {
    const root = await this.#call(service, operation, params)
    const text = root.text.trim()
    if (root.children.length > 0) throw new NoReply(`${operation}: ${UNREADABLE}`)
    return this.#accepted(text)
  }

  /** The outer document of an answer. */
  async #call(service: Service, operation: string, params: Params): Promise<XmlElement> {
    const gate = this.#gate()
    const reason = this.#isAccepted ? null : gate.reason()
    if (reason !== null) throw new NoReply(reason, { mayHaveArrived: false })
    const answer = await this.#post(`${service}.asmx/${operation}`, params)
    const { status, headers, body } = answer
    if (status === 401) this.#refused()
    if (headers.get('content-type')?.startsWith('text/html'))
      throw new NoReply(`${operation}: a page in HTML instead of a reply (HTTP ${status})`)
    if (status !== 200) throw new NoReply(`${operation}: HTTP ${status}`)
    const root = this.#read(operation, () => parseXml(body.toString('utf8').trim()))
    if (!['string', 'int', 'boolean'].includes(root.name))
      throw new NoReply(`${operation}: ${UNREADABLE}`)
    if (NOT_AUTHENTICATED.test(errorIn(root.text))) this.#refused()
    return root
  }

  #read(operation: string, read: () => XmlElement): XmlElement {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof XmlFault)) throw error
      throw new NoReply(`${operation}: ${UNREADABLE}`)
    }
  }

  async #post(path: string, params: Params): Promise<HttpAnswer> {
    const answer = await callOnce(this.#session, {
      method: 'POST',
      path,
      maxBytes: LARGEST,
      headers: HEADERS,
      body: formOf({ ...this.#login, ...params }),
    })
    if (answer.status === 403) throw new NoReply(NOT_APPROVED)
    return answer
  }

  #gate(): ReturnType<Session['login']> {
    const { UserName = '', Password = '', CustomerNumber = '' } = this.#login
    return this.#session.login(UserName, Password, CustomerNumber)
  }

  #accepted<T>(answer: T): T {
    if (!this.#isAccepted) this.#gate().accepted()
    this.#isAccepted = true
    return answer
  }

  /** The login is looked at before anything else is. */
  #refused(): never {
    this.#gate().refused()
    throw new NoReply(REFUSED, { mayHaveArrived: false, isLoginRefused: true })
  }
}

/** What may be an error: the text itself, or what a document within it calls one. */
const errorIn = (text: string): string =>
  text.includes('<') ? (/<ERROR>([^<]*)/i.exec(text)?.[1] ?? '') : text

function rowOf({ children }: XmlElement): Row {
  return Object.fromEntries(children.map(({ name, text }) => [name.toUpperCase(), text.trim()]))
}

/** A text or a number as text, without spaces around it. */
export function textOf(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' ? text.trim() : ''
}

const answering = (operation: string, said: string, what = ''): NoReply =>
  new NoReply(`${operation} answers ${quoted(said)}${what}`, { isQuoting: true })

const LONGEST_QUOTE = 100
const quoted = (text: string) =>
  text === '' ? 'nothing' : `"${[...text].slice(0, LONGEST_QUOTE).join('')}"`
