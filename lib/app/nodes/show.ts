/** The nodes as an operator is shown them. */
import type { DocumentLack } from '../../distributors/document/kept/lacks.js'
import type { OperatorCtx } from '../ctx.js'
import { listNodes } from './list.js'

export interface ShownNodes {
  /** False where there is one folder. */
  shared: boolean
  epoch: number | null
  lease_age_ms: number | null
  nodes: {
    host: string
    dir: string
    pid: number
    release: string
    started_at: string
    seen_at: string
    gone: boolean
    leads: boolean
    clock_ahead_ms: number
    behind: number | null
    lacks_documents: { distid: string; why: DocumentLack['why']; fault: string | null }[]
  }[]
}

/** Those that serve, or did within the last day; none where there is one folder. */
export async function showNodes(
  ctx: Pick<OperatorCtx, 'read' | 'engine' | 'now'>,
): Promise<ShownNodes> {
  if (ctx.engine.lead === null) return { shared: false, epoch: null, lease_age_ms: null, nodes: [] }
  const { nodes, epoch, leaseAge } = await listNodes(ctx)
  return {
    shared: true,
    epoch,
    lease_age_ms: leaseAge,
    nodes: nodes.map((node) => ({
      host: node.host,
      dir: node.dir,
      pid: node.pid,
      release: node.release,
      started_at: new Date(node.startedAt).toISOString(),
      seen_at: new Date(node.seenAt).toISOString(),
      gone: node.isGone,
      leads: node.isLeader,
      clock_ahead_ms: node.clockAhead,
      behind: node.behind,
      lacks_documents: node.lacks,
    })),
  }
}
