/** Moving an installation between a folder and PostgreSQL, for whoever sits at the command line. */
import { open } from '../open.js'
import { moveFromPostgres as fromPostgres } from './from-postgres.js'
import type { MoveInput, MoveReport } from './input.js'
import { moveToPostgres as toPostgres } from './to-postgres.js'

export type { MoveInput, MoveProgress, MoveReport } from './input.js'

/**
 * Moves the system of record of a folder into PostgreSQL. Throws an Error of one line that says what
 * is in the way; whatever cuts it off, the same call ends it.
 */
export const moveToPostgres = (input: MoveInput): Promise<MoveReport> => toPostgres(open, input)

/** The way back, into a new folder or the one that it came from. */
export const moveFromPostgres = (input: MoveInput): Promise<MoveReport> => fromPostgres(input)
