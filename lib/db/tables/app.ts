/** Made from the migrations by `npm run tables`. */
import type { Generated } from 'kysely'
import type { StateName } from './column-types.js'

/**
 * What a process keeps in memory, each with a number that a writer raises so that other processes
 * read it again.
 */
export interface StateTable {
  name: StateName
  value: number
}

export interface JobTable {
  name: string
  next_at: number
  last_started_at: number | null
  last_finished_at: number | null
  last_error: string | null
  /** In a row; 0 after a run that ended well. */
  failures: Generated<number>
}
