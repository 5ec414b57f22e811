/**
 * Errors of PostgreSQL. Their codes begin with POSTGRES_, as SQLite's begin with SQLITE_: what a
 * socket to somebody else throws is never taken for the database's.
 */
import { codeOf } from '../../core/errors.js'
import { LeadLost } from '../lead.js'

/** What the server says where an epoch is over: of a class of codes that nobody else has. */
export const LEAD_LOST = 'QM001'

/** What the server said. Without its details, which have values of rows. */
export class PostgresError extends Error {
  override readonly name = 'PostgresError'
  /** POSTGRES_ and the five characters of the SQL standard: POSTGRES_23505. */
  readonly code: string
  /** The constraint that was violated. */
  readonly constraint: string | undefined

  constructor({ message, code, constraint }: ServerMessage) {
    super(message)
    this.code = `POSTGRES_${code}`
    this.constraint = constraint
  }
}

/** The connection could not be made, or was lost: what was under way outside of a COMMIT was undone. */
export class DatabaseAway extends Error {
  override readonly name = 'DatabaseAway'
  readonly code = 'POSTGRES_AWAY'
}

/**
 * The connection was lost while a transaction was being committed: nobody can tell whether it was.
 * It must be looked up before anything is said or done, and is never run again.
 */
export class CommitUnknown extends Error {
  override readonly name = 'CommitUnknown'
  readonly code = 'POSTGRES_COMMIT_UNKNOWN'
  constructor(cause: unknown) {
    super('the connection to the database was lost while a transaction was being committed', {
      cause,
    })
  }
}

interface ServerMessage {
  message: string
  code: string
  constraint?: string | undefined
}

/** An error of the driver as one of ours; what is neither the server's nor the connection's stays. */
export function faultOf(error: unknown): unknown {
  if (isServerMessage(error))
    return error.code === LEAD_LOST ? new LeadLost() : new PostgresError(error)
  // A value that cannot be written or read: the connection knows nothing of it.
  if (!(error instanceof Error) || error instanceof RangeError || error instanceof TypeError)
    return error
  return new DatabaseAway(`the database cannot be reached: ${error.message}`, { cause: error })
}

/** True for what the server said, and not the driver. */
export const isServerMessage = (error: unknown): error is Error & ServerMessage =>
  error instanceof Error &&
  // In the server's language: that it is there tells that the server said so, and no more.
  'severity' in error &&
  /^[0-9A-Z]{5}$/.test(codeOf(error))

/**
 * True where the connection is known to be of no use any more: it failed (08), the server ends (57P0),
 * or the transaction was idle or under way for too long.
 */
export const isConnectionLost = (fault: unknown): boolean =>
  fault instanceof DatabaseAway || /^POSTGRES_(08|57P0|25P03|25P04)/.test(codeOf(fault))

/**
 * True for what a server says of a transaction that it has undone at its COMMIT: a constraint (23),
 * a conflict (40), no room (53), an object in use (55), an error before, or a statement that was
 * cancelled. A server that gets into trouble past that point may say some of it, too, but then it
 * ends the connection.
 */
export const isRefusedCommit = (fault: unknown): boolean =>
  fault instanceof PostgresError && /^POSTGRES_(23|40|53|55|25P02|57014)/.test(fault.code)

/** What went wrong at the start of a transaction. A standby has none that is serializable. */
export const faultOfBegin = (fault: unknown): unknown =>
  codeOf(fault) === 'POSTGRES_0A000'
    ? new DatabaseAway('the database has become a standby, which takes no writes', { cause: fault })
    : fault

/** True for transactions that got into each other's way: the whole of it may be run again. */
export const isConflict = (error: unknown): boolean =>
  ['POSTGRES_40001', 'POSTGRES_40P01'].includes(codeOf(error))

export const isCommitUnknown = (error: unknown): boolean =>
  codeOf(error) === 'POSTGRES_COMMIT_UNKNOWN'

/**
 * Of the database as it is at the moment, and not of what it was asked: a connection (08), a login
 * (28), conflicts, no room (53), shutdown and cancelled statements (57), a lock, an error of the
 * disk, a server that has become a standby, and a transaction that took too long.
 */
const FOR_THE_MOMENT = /^POSTGRES_(AWAY|08|28|40001|40P01|53|57|55P03|58030|25006|25P03|25P04)/

/** True when the database could not do it for the moment, and did nothing. */
export const isPostgresUnavailable = (error: unknown): boolean => FOR_THE_MOMENT.test(codeOf(error))
