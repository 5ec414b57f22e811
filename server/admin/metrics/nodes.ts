/** What nodes that share a database have in common; nothing where there is one folder. */
import type { App } from '../../../lib/app/open.js'
import { listNodes } from '../../../lib/app/nodes/list.js'
import type { NodeList } from '../../../lib/app/nodes/list.js'
import { inTime } from '../../../lib/core/async/wait.js'
import { SECOND } from '../../../lib/core/clock.js'
import { single } from './text.js'
import type { Family } from './text.js'

/** Milliseconds that the database has to answer. */
const PATIENCE = 2 * SECOND

export async function nodeFamilies({ ctx }: App): Promise<Family[]> {
  const { lead } = ctx.engine
  if (lead === null) return []
  const list = await inTime(() => listNodes(ctx), { ms: PATIENCE, late: () => null }).catch(
    () => null,
  )
  return [
    single(
      'quartermaster_database_up',
      'gauge',
      '1: the database that nodes share answers.',
      list === null ? 0 : 1,
    ),
    single(
      'quartermaster_node_leads',
      'gauge',
      '1: this node leads: it takes feeds in, sends orders and runs the jobs.',
      lead.epoch === null ? 0 : 1,
    ),
    ...(list === null ? [] : sharedFamilies(list, lead.node)),
  ]
}

function sharedFamilies({ nodes, epoch, leaseAge, now }: NodeList, own: string): Family[] {
  const serving = nodes.filter(({ isGone }) => !isGone)
  const since = nodes.find(({ id }) => id === own)?.behindSince ?? null
  return [
    single('quartermaster_nodes', 'gauge', 'Nodes that serve.', serving.length),
    single(
      'quartermaster_lead_epoch',
      'gauge',
      'One more with each node that takes the lead; 0 while none has it.',
      epoch ?? 0,
    ),
    {
      name: 'quartermaster_lease_age_seconds',
      type: 'gauge',
      help: 'Since the node that leads last said so; over 20 none does.',
      samples: leaseAge === null ? [] : [{ value: leaseAge / SECOND }],
    },
    single(
      'quartermaster_catalog_lag_seconds',
      'gauge',
      'Since the oldest change of the catalog was published that this node lacks; 0 where it lacks none.',
      since === null ? 0 : Math.max(0, now - since) / SECOND,
    ),
  ]
}
