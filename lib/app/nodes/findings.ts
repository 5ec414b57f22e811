/** What is not well with several nodes: nobody leads, one is gone, one lags, a clock is wrong. */
import { HOUR, MINUTE, SECOND } from '../../core/clock.js'
import { times } from '../../core/figures.js'
import { orWell } from '../../core/finding.js'
import type { Finding, Severity } from '../../core/finding.js'
import { lackText } from '../../distributors/document/kept/lacks.js'
import { listNodes } from './list.js'
import type { NodeList, NodeState, NodesCtx } from './list.js'

/** Milliseconds after which a lease that nobody renewed counts as nobody's. */
const NO_LEAD = 20 * SECOND
/** Milliseconds for which a node may lack what is published: it fetches, and builds its snapshot. */
const LAG = 2 * MINUTE
/** Milliseconds that a clock may differ: what a node signs and dates would be wrong. */
const ASKEW = 5 * SECOND

/** What the nodes of a database tell, or that all is well with them. */
export async function nodeFindings(ctx: NodesCtx): Promise<readonly Finding[]> {
  const list = await listNodes(ctx)
  const serving = list.nodes.filter(({ isGone }) => !isGone)
  const leader = serving.find(({ isLeader }) => isLeader)
  return [
    ...orWell(
      leadFindings(list, serving),
      'node_lead',
      leader
        ? `${nameOf(leader)} leads, in epoch ${list.epoch}`
        : `somebody leads, in epoch ${list.epoch}`,
    ),
    ...orWell(goneFindings(list), 'node_gone', `${times(serving.length, 'node')} serve`),
    ...orWell(
      serving.flatMap((node) => lagFindings(list, node)),
      'node_lags',
      'every node has the catalog that is published',
    ),
    ...orWell(
      serving.flatMap(documentFindings),
      'node_documents',
      'every node has the documents of distributors that the database has',
    ),
    ...orWell(serving.flatMap(clockFindings), 'node_clock', 'the clocks of the nodes agree'),
  ]
}

/** By which an operator knows a node. */
export const nameOf = ({ host, dir }: Pick<NodeState, 'host' | 'dir'>): string => `${host}:${dir}`

const tell = (
  check: string,
  subject: string,
  severity: Severity,
  message: string,
  mend: string | null = null,
): Finding => ({ check, subject, severity, message, mend })

function leadFindings({ leaseAge }: NodeList, serving: readonly NodeState[]): Finding[] {
  if (leaseAge !== null && leaseAge <= NO_LEAD) return []
  return [
    tell(
      'node_lead',
      '',
      'bad',
      serving.length === 0
        ? 'no node serves: nothing is sent, and no feed is taken in'
        : 'no node leads: nothing is sent, and no feed is taken in; one takes the lead within 20 s ' +
            'unless the database keeps it from it, see the log of the nodes',
    ),
  ]
}

function goneFindings({ nodes, now }: NodeList): Finding[] {
  return nodes
    .filter(({ isGone, seenAt }) => isGone && now - seenAt < HOUR)
    .map((node) =>
      tell(
        'node_gone',
        nameOf(node),
        'warn',
        `the node ${nameOf(node)} was last seen at ${new Date(node.seenAt).toISOString()}, and did ` +
          'not say that it ends',
      ),
    )
}

function lagFindings({ now }: NodeList, node: NodeState): Finding[] {
  const { behind, behindSince, startedAt } = node
  // One that has just started had no time for what was published before.
  if (behindSince === null || now - Math.max(behindSince, startedAt) < LAG) return []
  const lacks = behind === null ? 'the whole catalog' : `${times(behind, 'change')} of the catalog`
  return [
    tell(
      'node_lags',
      nameOf(node),
      'warn',
      `the node ${nameOf(node)} lacks ${lacks}, published since ` +
        `${new Date(behindSince).toISOString()}; see its log`,
    ),
  ]
}

function documentFindings(node: NodeState): Finding[] {
  const name = nameOf(node)
  const old = node.lacks.filter(({ why }) => why !== 'unusable')
  const unusable = node.lacks.filter(({ why }) => why === 'unusable')
  return [
    ...(old.length === 0
      ? []
      : [
          tell(
            'node_documents',
            name,
            'warn',
            `documents of distributors have changed since the node ${name} started: ` +
              `${lackText(old)}; start it again`,
          ),
        ]),
    ...unusable.map(({ distid, fault }) =>
      tell(
        'node_documents',
        `${name} ${distid}`,
        'bad',
        `the node ${name}, release ${node.release}, is without ${distid}, whose document it ` +
          `cannot use: ${fault}`,
      ),
    ),
  ]
}

function clockFindings(node: NodeState): Finding[] {
  const { clockAhead } = node
  if (Math.abs(clockAhead) < ASKEW) return []
  return [
    tell(
      'node_clock',
      nameOf(node),
      'warn',
      `the clock of ${nameOf(node)} is ${(Math.abs(clockAhead) / SECOND).toFixed(0)} s ` +
        `${clockAhead > 0 ? 'ahead of' : 'behind'} the database's: keep both by NTP`,
    ),
  ]
}
