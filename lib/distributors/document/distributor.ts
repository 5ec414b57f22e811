/** A distributor out of its document. */
import { defineDistributor } from '../distributor.js'
import type { CheckOutcome, Distributor, Setting } from '../distributor.js'
import type { Format, Preset } from '../generic/preset.js'
import { NoReply } from '../session/reply.js'
import { Unreachable } from '../session/session.js'
import type { Session } from '../session/session.js'
import { accountFeed } from './bring.js'
import { checkConnection, hostsOf } from './connections.js'
import { documentOrders } from './orders.js'
import type { Connection, DescribedFeed, DistributorDocument } from './schema.js'

/** As rows that were read in another form are written for the preset. */
const WRITTEN: Format = { delimiter: ',', quote: '"', header: true }

/**
 * The distributor that a document describes. Nobody plays it: its feeds are the real ones in every
 * mode, and it takes orders once it is live. Throws where its settings cannot work.
 */
export function distributorOf(document: DistributorDocument): Distributor {
  const { distid, name, settings = {}, connections, feeds = [], orders } = document
  const declared = Object.entries(settings).map(([key, one]): [string, Setting] => [
    key,
    {
      type: 'string',
      label: one.label,
      path: `fulfillment-${key}`,
      ...(one.help !== undefined && { helperText: one.help }),
      ...(one.required !== false && { required: true }),
      credential: true,
      ...(one.secret && { secret: true }),
    },
  ])
  const presets = new Map(
    feeds.flatMap((feed): [string, Preset][] =>
      feed.kind === 'preset' ? [] : [[feed.id, presetOf(distid, feed)]],
    ),
  )
  const hasLogin = Object.values(connections).some(isAsked)
  return defineDistributor({
    distid,
    name,
    automatedFulfillment: orders !== undefined,
    hosts: hostsOf(connections),
    settings: Object.fromEntries(declared),
    ...(declared.some(([, { required }]) => required) && { requiredSections: ['fulfillment'] }),
    presets: [...presets.values()],
    feeds: Object.fromEntries(
      feeds.map((feed) => [feed.id, accountFeed(connections, feed, presets.get(feed.id) ?? null)]),
    ),
    ...(hasLogin && { check: (session: Session) => check(session, connections) }),
    simulatorSession: async (session) => session,
    ...(orders && { fulfillment: documentOrders(orders, connections) }),
  })
}

const isAsked = (connection: Connection): boolean =>
  connection.kind === 'http' ? connection.oauth !== undefined : connection.kind !== 'folder'

function presetOf(distid: string, { source, join, ...feed }: DescribedFeed): Preset {
  const isPlain = source.read.as === 'delimited' && !join
  return {
    ...feed,
    distid,
    format: isPlain && source.read.as === 'delimited' ? source.read.format : WRITTEN,
  } as Preset
}

/** Logs in wherever there is a login. */
async function check(
  session: Session,
  connections: Readonly<Record<string, Connection>>,
): Promise<CheckOutcome> {
  try {
    for (const connection of Object.values(connections))
      if (isAsked(connection)) await checkConnection(session, connection)
    return 'valid'
  } catch (error) {
    if (!(error instanceof NoReply)) throw error
    if (error.isLoginRefused) return 'invalid'
    throw new Unreachable(error.message, { cause: error })
  }
}
