/** What went over the wire in a session, without its secrets. */
import { hidingSecrets } from './redact.js'

/** One call and what came back. */
export interface Exchange {
  /** When it began, milliseconds since 1970, and how many of them it took. */
  at: number
  took: number
  method: string
  path: string
  headers: Record<string, string>
  request: string | null
  /** Of HTTP; null where no answer was read whole, of which `fault` says why. */
  status: number | null
  answer: string | null
  fault: string | null
}

/** What is recorded of a call: of HTTP, or of FTP by its command. */
export interface Recorded {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** Characters of a request or an answer that are kept. */
const LONGEST = 16_384
/** Calls of a session that are kept: the last ones. */
const MOST = 50

export class Transcript {
  readonly #now: () => number
  readonly #secrets: Set<string>
  readonly #exchanges: Exchange[] = []

  /** `secrets` are values that may not be repeated; more may be told while it goes on. */
  constructor(now: () => number, secrets: readonly string[]) {
    this.#now = now
    this.#secrets = new Set(secrets)
  }

  /** Keeps a value out of what is told, whenever it was recorded. */
  hide(secret: string): void {
    this.#secrets.add(secret)
  }

  /** The values that may not be repeated anywhere. */
  get secrets(): string[] {
    return [...this.#secrets]
  }

  /** Makes a call and records it, with what `tell` makes of its answer. */
  async record<R>(
    { method, path, headers = {}, body }: Recorded,
    call: () => Promise<R>,
    tell: (answer: R) => Pick<Exchange, 'status' | 'answer'>,
  ): Promise<R> {
    const exchange: Exchange = {
      at: this.#now(),
      took: 0,
      method,
      path,
      headers: { ...headers },
      request: body === undefined ? null : body.toString(),
      status: null,
      answer: null,
      // Until it has ended.
      fault: 'it was given up',
    }
    this.#exchanges.push(exchange)
    if (this.#exchanges.length > MOST) this.#exchanges.shift()
    try {
      const answer = await call()
      Object.assign(exchange, tell(answer), { fault: null })
      return answer
    } catch (error) {
      exchange.fault = error instanceof Error ? error.message : String(error)
      throw error
    } finally {
      exchange.took = this.#now() - exchange.at
    }
  }

  /** What was recorded, with every secret hidden, and long texts cut. */
  told(): Exchange[] {
    const withoutSecrets = hidingSecrets(this.secrets)
    const hide = (text: string) => shortened(withoutSecrets(text))
    const hideOrNull = (text: string | null) => (text === null ? null : hide(text))
    return this.#exchanges.map((exchange) => ({
      ...exchange,
      path: hide(exchange.path),
      headers: Object.fromEntries(
        Object.entries(exchange.headers).map(([name, value]) => [name, hide(value)]),
      ),
      request: hideOrNull(exchange.request),
      answer: hideOrNull(exchange.answer),
      fault: hideOrNull(exchange.fault),
    }))
  }
}

const shortened = (text: string) =>
  text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}… (${text.length} characters)`
