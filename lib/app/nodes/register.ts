/** A node notes in the database that it is there, for who looks on. */
import { hostname } from 'node:os'
import type { Kysely } from 'kysely'
import { pause } from '../../core/async/wait.js'
import { DAY, HOUR } from '../../core/clock.js'
import type { Log } from '../../core/log.js'
import type { Engine } from '../../db/engine.js'
import { BEAT } from '../../db/tables/nodes.js'
import type { Tables } from '../../db/tables/tables.js'
import { lackText, lacksOf } from '../../distributors/document/kept/lacks.js'
import type { KnownDocument } from '../../distributors/document/kept/lacks.js'
import { sharedDigests } from '../../distributors/document/kept/queries.js'
import { readPoint } from '../../feeds/shared/queries.js'
import { listNodes } from './list.js'
import type { NodesCtx } from './list.js'
import { forgetNodes, noteNode, removeNode } from './queries.js'

export interface Register {
  /** Notes it from now on, until it is stopped: a server does, a command does not. */
  start(release: string): void
  /** Takes the note away. */
  stop(): Promise<void>
}

export interface RegisterParts {
  readonly db: Kysely<Tables>
  readonly engine: Engine
  readonly log: Log
  /** The documents of distributors, as this node has read them. */
  readonly documents: readonly KnownDocument[]
  now(): number
}

/** Null where there is one folder. */
export function openRegister({ db, engine, log, documents, now }: RegisterParts): Register | null {
  const { lead, dir } = engine
  if (lead === null) return null
  const closing = new AbortController()
  const own = {
    id: lead.node,
    host: hostname(),
    dir,
    pid: process.pid,
    documents: JSON.stringify(documents),
  }
  let toldLacks = ''
  let sweptAt = -Infinity
  let running: Promise<void> | undefined

  async function note(release: string): Promise<void> {
    const mark = readPoint(engine.catalog.raw)?.mark || null
    await noteNode(db, { ...own, release, catalog_mark: mark, now: now() })
    await sweep()
    await tellLacks()
  }

  /** Those that ended without a word, now and then. */
  async function sweep(): Promise<void> {
    if (lead?.epoch === null || Math.abs(now() - sweptAt) < HOUR) return
    await forgetNodes(db, DAY)
    sweptAt = now()
  }

  /** Once for each state of the documents. What cannot be used was told at the start. */
  async function tellLacks(): Promise<void> {
    const lacks = lacksOf(documents, await sharedDigests(db))
    const lacking = lackText(lacks.filter(({ why }) => why !== 'unusable'))
    if (lacking !== '' && lacking !== toldLacks)
      log.warn(
        { documents: lacking },
        'documents of distributors have changed: this node takes it in when it starts again',
      )
    toldLacks = lacking
  }

  async function run(release: string): Promise<void> {
    while (!closing.signal.aborted) {
      // Whoever cannot note it has a database that is away, and others tell of that.
      await note(release).catch((error: unknown) =>
        log.debug({ err: error }, 'this node cannot note that it is there'),
      )
      await pause(BEAT, closing.signal)
    }
  }

  return {
    start(release) {
      running ??= run(release)
    },
    async stop() {
      closing.abort()
      if (!running) return
      await running
      await removeNode(db, own.id).catch(() => {})
    },
  }
}

/** Where the node runs that leads, and whether its folder is this one; null where none does. */
export async function leaderPlace(
  ctx: NodesCtx & { readonly engine: Pick<Engine, 'dir' | 'time'> },
): Promise<{ host: string; dir: string; isHere: boolean } | null> {
  const { nodes } = await listNodes(ctx)
  const leader = nodes.find(({ isLeader, isGone }) => isLeader && !isGone)
  if (!leader) return null
  const { host, dir } = leader
  return { host, dir, isHere: host === hostname() && dir === ctx.engine.dir }
}
