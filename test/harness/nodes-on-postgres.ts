/** Takes the place of lib/app/nodes.ts where suites run on PostgreSQL. */
import type { Nodes } from '../../lib/app/nodes.js'
import { openSharing } from '../../lib/feeds/shared/sharing.js'
import { sharedTasks } from '../../lib/feeds/shared/tasks.js'

export const nodes: Nodes | null = { openSharing, sharedTasks }
