/** A distributor out of its document. */
import { join } from 'node:path'
import { defineDistributor } from '../distributor.js'
import type { CheckOutcome, Distributor, Setting } from '../distributor.js'
import type { Format, Preset } from '../generic/preset.js'
import { NoReply } from '../session/reply.js'
import { Unreachable } from '../session/session.js'
import type { Session } from '../session/session.js'
import { accountFeed } from './bring.js'
import { checkConnection, hostsOf } from './connections.js'
import { documentOrders } from './orders.js'
import { namesIn } from './template.js'
import type { Connection, DescribedFeed, DistributorDocument, Orders } from './schema.js'

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
      ...((one.secret || usedIn(connections).has(key)) && { credential: true }),
      ...(one.secret && { secret: true }),
    },
  ])
  const presets = new Map(
    feeds.flatMap((feed): [string, Preset][] =>
      feed.kind === 'preset' ? [] : [[feed.id, presetOf(distid, feed)]],
    ),
  )
  return defineDistributor({
    distid,
    name,
    automatedFulfillment: orders !== undefined,
    hosts: hostsOf(connections),
    ...(orders && { ordersGo: [whereOrdersGo(orders, connections)] }),
    settings: Object.fromEntries(declared),
    ...(declared.some(([, { required }]) => required) && { requiredSections: ['fulfillment'] }),
    presets: [...presets.values()],
    feeds: Object.fromEntries(
      feeds.map((feed) => [feed.id, accountFeed(connections, feed, presets.get(feed.id) ?? null)]),
    ),
    check: (session) => check(session, document),
    simulatorSession: async (session) => session,
    ...(orders && { fulfillment: documentOrders(orders, connections) }),
  })
}

function whereOrdersGo(orders: Orders, connections: Readonly<Record<string, Connection>>): string {
  if (orders.by === 'mail') return `mailto:${orders.to}`
  const connection = connections[orders.connection]!
  if (connection.kind === 'folder') return join(connection.path, orders.path)
  if (connection.kind === 'http') throw new Error('orders go to a server of files')
  const { kind, host, port } = connection
  return `${kind === 'ftps' ? 'ftpes' : kind}://${host}${port === undefined ? '' : `:${port}`}/${orders.path}`
}

/** The settings that a connection is made with. */
const usedIn = (connections: Readonly<Record<string, Connection>>): ReadonlySet<string> =>
  new Set(namesIn(JSON.stringify(connections)))

function presetOf(
  distid: string,
  { source, join, everyMinutes: _every, ...feed }: DescribedFeed,
): Preset {
  const isPlain = source.read.as === 'delimited' && !join
  return {
    ...feed,
    // Without these no row could be sold, and nobody would be told why.
    required: [
      ...new Map(
        [
          ...feed.required,
          ...feed.key,
          ...('map' in feed ? [feed.map.price.from] : []),
          ...quantityColumns('map' in feed ? feed.map.qty : feed.qty),
        ].map((names) => [[names].flat().join('\n').toLowerCase(), names]),
      ).values(),
    ],
    distid,
    format: isPlain && source.read.as === 'delimited' ? source.read.format : WRITTEN,
  } as Preset
}

const quantityColumns = (qty: Extract<DescribedFeed, { kind: 'quantity' }>['qty']) =>
  'sum' in qty ? qty.sum : [qty.from]

/** Logs in wherever there is a login, and looks whether what has none can be reached. */
async function check(
  session: Session,
  { connections, feeds = [] }: DistributorDocument,
): Promise<CheckOutcome> {
  try {
    for (const [name, connection] of Object.entries(connections)) {
      const feed = feeds.find(({ source }) => source.connection === name)
      await checkConnection(session, connection, feed?.source.path ?? null)
    }
    return 'valid'
  } catch (error) {
    if (!(error instanceof NoReply)) throw error
    if (error.isLoginRefused) return 'invalid'
    throw new Unreachable(error.message, { cause: error })
  }
}
