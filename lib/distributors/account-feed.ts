/** A feed that a distributor's own interface gives an account. */
import type { Session } from './session/session.js'

/** What is wanted. */
export interface FeedWanted {
  /** Where the feed is to be written, in the form that its preset reads. */
  readonly file: string
  /**
   * The mark of the feed that was taken in last; null where there is none, or where it would mean
   * something else today.
   */
  readonly mark: string | null
  /**
   * Notes that this account may not be asked for this feed again before a time, in milliseconds; it
   * holds whatever comes of the feed.
   */
  holdUntil(time: number): Promise<void>
}

/** What came: `unchanged` only where a mark was given, and nothing was written then. */
export interface FeedBrought {
  readonly outcome: 'written' | 'unchanged'
  /** When the distributor made it, milliseconds; now where it does not tell. */
  readonly asOf?: number
  /** Names the feed as the distributor has it; the same name for the same bytes alone. */
  readonly mark?: string
}

export interface AccountFeed<Values = Readonly<Record<string, unknown>>> {
  /** Milliseconds from one pull to the next, where nobody says otherwise; 20 minutes by default. */
  readonly every?: number
  /**
   * Asks with the account of the session's settings. Throws a FeedFault or a NoReply that says in
   * plain English why there is none; what it wrote by then counts for nothing.
   */
  bring(session: Session<Values>, wanted: FeedWanted): Promise<FeedBrought>
}

/** Why there is no feed. It holds no secret. */
export class FeedFault extends Error {
  override readonly name = 'FeedFault'
}
