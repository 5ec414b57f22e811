/** What an error of a database means to whoever asked for something, whichever engine it is. */
import { codeOf } from '../core/errors.js'
import { isConflict, isPostgresUnavailable } from './postgres/faults.js'
import * as sqlite from './sqlite/sqlite.js'

export { isCommitUnknown } from './postgres/faults.js'

/**
 * True when the database could not do it for the moment, and did nothing: no room, held by others
 * for too long, or not there.
 */
export const isUnavailable = (error: unknown): boolean =>
  sqlite.isUnavailable(error) || isPostgresUnavailable(error)

/** True where the server of the database cannot be reached, or ends: nothing else can be asked of it. */
export const isAway = (error: unknown): boolean => /^POSTGRES_(AWAY|08|57P0)/.test(codeOf(error))

/**
 * How work in the background tells of it, which comes back by itself: that a database is away is told
 * as an error by whoever refuses a caller for it.
 */
export const levelOf = (error: unknown): 'warn' | 'error' => (isAway(error) ? 'warn' : 'error')

/** True where others were writing the same all the time: later it may be done. */
export const isBusy = (error: unknown): boolean => sqlite.isBusy(error) || isConflict(error)

/** True where a unique index had the last word. */
export const isDuplicate = (error: unknown): boolean =>
  ['SQLITE_CONSTRAINT_UNIQUE', 'POSTGRES_23505'].includes(codeOf(error))
