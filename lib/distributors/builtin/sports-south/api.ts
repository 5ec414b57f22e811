/**
 * Sports South's web services: a form is posted, and what comes back is an XML document of one
 * element, which holds a number, `true` or `false`, or another document as escaped text. What is
 * known of it comes from public clients; it was never tried with an account.
 */
import type { HttpAnswer } from '../../session/http.js'
import { callOnce, NoReply, notApproved, streamOnce } from '../../session/reply.js'
import type { Session } from '../../session/session.js'
import { parseXml, XmlFault } from '../../session/xml.js'
import type { XmlElement } from '../../session/xml.js'
import { XmlRows } from '../../session/xml-rows.js'

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
/** Milliseconds until a long answer begins, and from one piece of it to the next. */
const PATIENCE = { answerTimeout: 600_000, stallTimeout: 120_000 }
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

  /**
   * Hands on the rows of an answer that is too long for memory; `breathe` is called between them.
   * Throws a NoReply, and what the two throw.
   */
  async stream(
    operation: string,
    params: Params,
    to: { row: (row: Row) => void; breathe: () => Promise<void> },
  ): Promise<void> {
    this.#mayAsk()
    const call = { method: 'POST', path: `inventory.asmx/${operation}`, ...PATIENCE } as const
    const body = formOf({ ...this.#login, ...params })
    let word: string | null = null
    const answer = await streamOnce(this.#session, () =>
      this.#session.stream({ ...call, headers: HEADERS, body }, async (pieces) => {
        const rows = new XmlRows((row) => this.#take(operation, row, to.row))
        const read = <T>(act: () => T) => this.#readLong(operation, act)
        for await (const piece of pieces) {
          read(() => rows.push(piece))
          await to.breathe()
        }
        word = read(() => rows.end())
      }),
    )
    this.#checkHead(operation, answer)
    if (word !== null && NOT_AUTHENTICATED.test(word)) this.#refused()
    if (word !== null && word !== '') throw answering(operation, word)
    this.#accepted(null)
  }

  #take(operation: string, row: Row, take: (row: Row) => void): void {
    const said = row['ERROR']
    if (said === undefined) return take(row)
    if (NOT_AUTHENTICATED.test(said)) this.#refused()
    throw answering(operation, said)
  }

  #readLong<T>(operation: string, read: () => T): T {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof XmlFault)) throw error
      throw new NoReply(`${operation}: the answer is no feed: ${error.message}`)
    }
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
    this.#mayAsk()
    const answer = await this.#post(`${service}.asmx/${operation}`, params)
    this.#checkHead(operation, answer)
    const { body } = answer
    const root = this.#read(operation, () => parseXml(body.toString('utf8').trim()))
    if (!['string', 'int', 'boolean'].includes(root.name))
      throw new NoReply(`${operation}: ${UNREADABLE}`)
    if (NOT_AUTHENTICATED.test(errorIn(root.text))) this.#refused()
    return root
  }

  #mayAsk(): void {
    const reason = this.#isAccepted ? null : this.#gate().reason()
    if (reason !== null) throw new NoReply(reason, { mayHaveArrived: false })
  }

  #checkHead(operation: string, { status, headers }: HttpAnswer): void {
    if (status === 401) this.#refused()
    if (status === 403) throw new NoReply(NOT_APPROVED)
    if (headers.get('content-type')?.startsWith('text/html'))
      throw new NoReply(`${operation}: a page in HTML instead of a reply (HTTP ${status})`)
    if (status !== 200) throw new NoReply(`${operation}: HTTP ${status}`)
  }

  #read(operation: string, read: () => XmlElement): XmlElement {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof XmlFault)) throw error
      throw new NoReply(`${operation}: ${UNREADABLE}`)
    }
  }

  #post(path: string, params: Params): Promise<HttpAnswer> {
    return callOnce(this.#session, {
      method: 'POST',
      path,
      maxBytes: LARGEST,
      headers: HEADERS,
      body: formOf({ ...this.#login, ...params }),
    })
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
