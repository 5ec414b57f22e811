/**
 * The order journal: what was to be sent, what was sent, what came back, each
 * line chained to the one before it by a keyed digest. A line is written in the transaction of what
 * it tells, so the database always has it first; `orders.journal` is its second copy, on the disk
 * before the send that it tells of.
 */
import type { OrdersCtx } from '../ctx.js'
import { pipelined } from '../../db/together.js'
import { OPERATOR } from '../../core/storage/secrets.js'
import type { Sealer } from '../../core/storage/secrets.js'

/**
 * What a line tells: an order that was taken in, and every change of a purchase order after that.
 */
export type JournalKind = 'intent' | 'state' | 'note'

export interface JournalLine {
  /** From 1, without gaps. */
  seq: number
  /** Milliseconds since 1970, as the clock said; the order of lines is that of `seq`. */
  at: number
  kind: JournalKind
  data: unknown
  /** Digest of the line before it; empty in the first. */
  prev: string
}

/** A line with the digest that closes it. */
export interface ReadLine extends JournalLine {
  mac: string
}

const CLOSING = /,"mac":"([\w-]{43})"\}$/

/** The last line of the journal, to which the next one is chained. */
export interface JournalEnd {
  /** 0 where there is none. */
  seq: number
  mac: string
}

/** Where the journal ends, in the transaction of `tx`. */
export async function journalEnd(tx: OrdersCtx): Promise<JournalEnd> {
  const last = await tx.db
    .selectFrom('journal')
    .select(['seq', 'line'])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return last ? { seq: last.seq, mac: macOf(last.line) } : { seq: 0, mac: '' }
}

/**
 * Appends a line in the transaction of `tx`. `end` is for who has asked already, and has appended
 * nothing since.
 */
export async function appendJournal(
  tx: OrdersCtx,
  kind: JournalKind,
  data: unknown,
  end?: JournalEnd,
): Promise<number> {
  const last = end ?? (await journalEnd(tx))
  const seq = last.seq + 1
  const line = closeLine({ seq, at: tx.now(), kind, data, prev: last.mac }, journalSealer(tx))
  await pipelined(tx.db, [tx.db.insertInto('journal').values({ seq, line })])
  return seq
}

/** The digest's key is the operator's data key, which the database holds in wrapped form only. */
export function journalSealer({ secrets }: { secrets: Pick<OrdersCtx['secrets'], 'of'> }): Sealer {
  return secrets.of(OPERATOR)
}

/** The text of a line, without its newline. */
export function closeLine({ seq, at, kind, data, prev }: JournalLine, sealer: Sealer): string {
  const body = JSON.stringify({ seq, at, kind, data, prev })
  return `${body.slice(0, -1)},"mac":"${sealer.fingerprint(body)}"}`
}

/** The digest that a line ends with; empty for what is no line. */
export function macOf(line: string): string {
  return CLOSING.exec(line)?.[1] ?? ''
}

/** A line whose digest is right; null for any other text. */
export function readLine(line: string, sealer: Sealer): ReadLine | null {
  const mac = macOf(line)
  if (mac === '') return null
  const body = line.replace(CLOSING, '}')
  if (sealer.fingerprint(body) !== mac) return null
  return { ...(JSON.parse(body) as JournalLine), mac }
}

/** What is wrong with a journal, and at which line. */
export interface ChainFault {
  seq: number
  fault: string
}

/**
 * Follows a chain from its first line on; stops at the first fault, since nothing after it can be
 * trusted.
 */
export class ChainReader {
  readonly #sealer: Sealer
  #seq: number
  #mac: string

  /** Begins behind the line `seq` with this digest; at the beginning by default. */
  constructor(sealer: Sealer, seq = 0, mac = '') {
    this.#sealer = sealer
    this.#seq = seq
    this.#mac = mac
  }

  get head(): { seq: number; mac: string } {
    return { seq: this.#seq, mac: this.#mac }
  }

  /** The next line, or what is wrong with it. */
  next(text: string): ReadLine | ChainFault {
    const line = readLine(text, this.#sealer)
    const expected = this.#seq + 1
    if (!line) return { seq: expected, fault: 'the line was changed: its digest does not fit' }
    if (line.seq !== expected)
      return { seq: expected, fault: `the line is missing: ${line.seq} stands in its place` }
    if (line.prev !== this.#mac)
      return { seq: expected, fault: 'the line does not follow the one before it' }
    this.#seq = line.seq
    this.#mac = line.mac
    return line
  }
}

export function isFault(read: ReadLine | ChainFault): read is ChainFault {
  return 'fault' in read
}

/** Length of `,"mac":"<43 characters>"}`, which closes a line. */
const CLOSING_LENGTH = 53
const OPENING = ',"mac":"'

/** A line that is right. */
export interface WalkedLine {
  seq: number
  mac: string
  kind: JournalKind
  /** JSON of what it tells. */
  data: string
}

/**
 * Follows the chain as `ChainReader` does, three times as fast: what a line holds is parsed only
 * where it is wanted.
 */
export class ChainWalk {
  readonly #sealer: Sealer
  #seq = 0
  #mac = ''

  constructor(sealer: Sealer) {
    this.#sealer = sealer
  }

  get head(): { seq: number; mac: string } {
    return { seq: this.#seq, mac: this.#mac }
  }

  /** The next line, or what is wrong with it. */
  next(text: string): WalkedLine | ChainFault {
    const end = text.length - CLOSING_LENGTH
    const mac = text.slice(end + OPENING.length, -2)
    const beginning = `{"seq":${this.#seq + 1},"at":`
    const kindAt = text.indexOf(',"kind":"', beginning.length)
    const dataAt = text.indexOf('","data":', kindAt)
    const prev = `,"prev":"${this.#mac}"`
    const isWhole =
      end > 0 &&
      text.startsWith(OPENING, end) &&
      text.endsWith('"}') &&
      text.startsWith(beginning) &&
      text.startsWith(prev, end - prev.length) &&
      dataAt > 0
    if (!isWhole || this.#sealer.fingerprint(`${text.slice(0, end)}}`) !== mac)
      return this.#faultOf(text)
    this.#mac = mac
    return {
      seq: ++this.#seq,
      mac,
      kind: text.slice(kindAt + 9, dataAt) as JournalKind,
      data: text.slice(dataAt + 9, end - prev.length),
    }
  }

  /** In the words of the chain's own reader. */
  #faultOf(text: string): ChainFault {
    const read = new ChainReader(this.#sealer, this.#seq, this.#mac).next(text)
    return isFault(read)
      ? read
      : { seq: this.#seq + 1, fault: 'the line is written in another way than ours' }
  }
}
