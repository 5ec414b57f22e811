/** Which nodes serve an installation, which of them leads, and how far the others have come. */
import type { Kysely } from 'kysely'
import type { Engine } from '../../db/engine.js'
import { GONE } from '../../db/tables/nodes.js'
import type { LeaseTable, NodeTable } from '../../db/tables/nodes.js'
import type { PublicationTable } from '../../db/tables/publications.js'
import type { Tables } from '../../db/tables/tables.js'
import { knownBy, lacksOf } from '../../distributors/document/kept/lacks.js'
import type { DocumentLack } from '../../distributors/document/kept/lacks.js'
import { sharedDigests } from '../../distributors/document/kept/queries.js'

export interface NodeState {
  /** The life of its process. */
  id: string
  host: string
  dir: string
  pid: number
  release: string
  /** Milliseconds since 1970, by the database's clock. */
  startedAt: number
  seenAt: number
  /** It was not seen for `GONE`. */
  isGone: boolean
  isLeader: boolean
  /** Milliseconds of its own clock before the database's. */
  clockAhead: number
  /** Publications of the catalog that it lacks; null where it begins from a whole one. */
  behind: number | null
  /** Since when the oldest of them is published; null where it lacks none. */
  behindSince: number | null
  /** Documents of distributors that it has not as the database has them now. */
  lacks: DocumentLack[]
}

export interface NodeList {
  /** Milliseconds since 1970, by the database's clock. */
  now: number
  nodes: NodeState[]
  /** Of who leads; null where nobody does. */
  epoch: number | null
  /** Milliseconds since who leads last said so; null where nobody does. */
  leaseAge: number | null
}

export interface NodesCtx {
  readonly read: Kysely<Tables>
  readonly engine: Pick<Engine, 'time'>
  now(): number
}

type NodeTables = {
  node: NodeTable
  lease: LeaseTable
  publication: PublicationTable
}

/** The nodes of a database, those that were seen last first. */
export async function listNodes(ctx: NodesCtx): Promise<NodeList> {
  const read = ctx.read.withTables<NodeTables>()
  const now = await ctx.engine.time({ db: ctx.read, now: () => ctx.now() })
  const [rows, lease, published, documents] = await Promise.all([
    read.selectFrom('node').selectAll().orderBy('seen_at', 'desc').execute(),
    read.selectFrom('lease').select(['owner', 'epoch', 'renewed_at']).executeTakeFirst(),
    read
      .selectFrom('publication')
      .select(['mark', 'published_at'])
      .where('name', '=', 'catalog')
      .orderBy('number')
      .execute(),
    sharedDigests(ctx.read),
  ])
  return {
    now,
    nodes: rows.map((row) => ({
      id: row.id,
      host: row.host,
      dir: row.dir,
      pid: row.pid,
      release: row.release,
      startedAt: row.started_at,
      seenAt: row.seen_at,
      isGone: now - row.seen_at > GONE,
      isLeader: lease?.owner === row.id,
      clockAhead: row.clock_ahead,
      ...lackOf(row.catalog_mark, published),
      lacks: lacksOf(knownBy(row.documents), documents),
    })),
    epoch: lease?.epoch ?? null,
    leaseAge: lease ? Math.max(0, now - lease.renewed_at) : null,
  }
}

function lackOf(
  mark: string | null,
  published: readonly { mark: string; published_at: number }[],
): Pick<NodeState, 'behind' | 'behindSince'> {
  const at = published.findIndex((one) => one.mark === mark)
  if (at >= 0 || published.length === 0) {
    const lacks = published.slice(at + 1)
    return { behind: lacks.length, behindSince: lacks[0]?.published_at ?? null }
  }
  return { behind: null, behindSince: published.at(-1)?.published_at ?? null }
}
