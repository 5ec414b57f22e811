/**
 * What several nodes need besides, and one folder does without. Only an engine on PostgreSQL has
 * several, so that this stands beside `record.ts`: where that opens such an engine, this has the
 * code that goes with it.
 */
import type { openSharing } from '../feeds/shared/sharing.js'
import type { sharedTasks } from '../feeds/shared/tasks.js'

export interface Nodes {
  openSharing: typeof openSharing
  sharedTasks: typeof sharedTasks
}

export const nodes = null as Nodes | null
