/**
 * Errors of PostgreSQL. Their codes begin with POSTGRES_, as SQLite's begin with SQLITE_: what a
 * socket to somebody else throws is never taken for the database's.
 */
import { codeOf } from '../../core/errors.js'

/** What the server said. Without its details, which have values of rows. */
export class PostgresError extends Error {
  override readonly name = 'PostgresError'
  /** POSTGRES_ and the five characters of the SQL standard: POSTGRES_23505. */
  readonly code: string
  /** An ERROR ends the statement and its transaction, anything else the connection. */
  readonly severity: string
  /** The constraint that was violated. */
  readonly constraint: string | undefined

  constructor({ message, code, severity, constraint }: ServerMessage) {
    super(message)
    this.code = `POSTGRES_${code}`
    this.severity = severity
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
  severity: string
  constraint?: string | undefined
}

/** An error of the driver as one of ours; what is neither the server's nor the connection's stays. */
export function faultOf(error: unknown): unknown {
  if (isServerMessage(error)) return new PostgresError(error)
  // A value that cannot be written or read: the connection knows nothing of it.
  if (!(error instanceof Error) || error instanceof RangeError || error instanceof TypeError)
    return error
  return new DatabaseAway(`the database cannot be reached: ${error.message}`, { cause: error })
}

const isServerMessage = (error: unknown): error is Error & ServerMessage =>
  error instanceof Error &&
  'severity' in error &&
  typeof error.severity === 'string' &&
  /^[0-9A-Z]{5}$/.test(codeOf(error))

/** True where the connection cannot be used any more. */
export const isConnectionLost = (fault: unknown): boolean =>
  fault instanceof DatabaseAway || (fault instanceof PostgresError && fault.severity !== 'ERROR')

/** True for transactions that got into each other's way: the whole of it may be run again. */
export const isConflict = (error: unknown): boolean =>
  ['POSTGRES_40001', 'POSTGRES_40P01'].includes(codeOf(error))

export const isCommitUnknown = (error: unknown): boolean =>
  codeOf(error) === 'POSTGRES_COMMIT_UNKNOWN'

/**
 * Of the database as it is at the moment, and not of what it was asked: a connection (08), a login
 * (28), conflicts, no room (53), shutdown and cancelled statements (57), a lock, an error of the
 * disk, and a server that has become a standby.
 */
const FOR_THE_MOMENT = /^POSTGRES_(AWAY|08|28|40001|40P01|53|57|55P03|58030|25006)/

/** True when the database could not do it for the moment, and did nothing. */
export const isPostgresUnavailable = (error: unknown): boolean => FOR_THE_MOMENT.test(codeOf(error))
