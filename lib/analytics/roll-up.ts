/** The daily roll-up of the history: what changed on a day, one row for each item of a distributor. */
import type { RollUpJob, Tools } from './child-job.js'

export interface RolledUp {
  /** Days that were rolled up, `YYYY-MM-DD`. */
  days: string[]
}

export async function rollUp(_job: RollUpJob, _tools: Tools): Promise<RolledUp> {
  return { days: [] }
}
