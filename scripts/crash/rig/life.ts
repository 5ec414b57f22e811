/** What a process of the crash harness is told, and what it tells. */
import type { MailServer } from '../../../lib/distributors/session/mail.js'
import type { FastClock } from './clock.js'
import type { HttpAnswer } from './http.js'
import type { OrderBody } from './orders.js'

/**
 * Places at which a process may kill itself: named ones of the order engine, and of what lies
 * around it.
 */
export const STEPS = [
  'request read',
  'before a commit',
  'after a commit',
  'intent committed',
  'journal written',
  'journal on the disk',
  'intent in the journal',
  'claimed',
  'before the send',
  'distributor called',
  'stage kept',
  'after the send',
  'after the search',
  'before the answer',
  'answered',
] as const
export type Step = (typeof STEPS)[number]

/** The life of a process, told to it over its channel once it may begin. */
export interface Life {
  dir: string
  clock: FastClock
  /**
   * Where it kills itself: at this step, the n-th time. `stop` has it stop there until somebody
   * lets it go on.
   */
  crash?: { step: Step; n: number; stop?: boolean }
  /** No distributor fails any more. */
  calm?: boolean
  /** By which orders are mailed. */
  mail?: MailServer
  /** A file to which each process writes when a send begins and ends. */
  trace?: string
}

/** Told by a server that listens, or by a library process that is open. */
export interface Ready {
  ready: true
  /** Of a server. */
  url?: string
}

/** A call of the library process. */
export interface Call {
  id: number
  caller: { shop: string; key: string | null }
  place?: OrderBody
  /** An order_id. */
  look?: string
}

export interface Reply {
  id: number
  answer: HttpAnswer
}
