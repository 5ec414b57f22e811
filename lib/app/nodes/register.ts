/** A node notes in the database that it is there, for who looks on. */
import { hostname } from 'node:os'
import { sql } from 'kysely'
import { pause } from '../../core/async/wait.js'
import { DAY } from '../../core/clock.js'
import { readPoint } from '../../feeds/shared/queries.js'
import type { NodeTable } from '../../db/tables/nodes.js'
import type { OperatorCtx } from '../ctx.js'
import { BEAT } from './list.js'

export interface Register {
  /** Notes it from now on, until it is stopped: a server does, a command does not. */
  start(release: string): void
  /** Takes the note away. */
  stop(): Promise<void>
}

/** Null where there is one folder. */
export function openRegister(
  ctx: Pick<OperatorCtx, 'db' | 'engine' | 'log' | 'now'>,
): Register | null {
  const { lead } = ctx.engine
  if (lead === null) return null
  const nodes = ctx.db.withTables<{ node: NodeTable }>()
  const closing = new AbortController()
  const own = { id: lead.node, host: hostname(), dir: ctx.engine.dir, pid: process.pid }
  let running: Promise<void> | undefined

  async function note(release: string): Promise<void> {
    const at = sql<number>`now_ms()`
    const changing = {
      seen_at: at,
      clock_ahead: sql<number>`${ctx.now()} - now_ms()`,
      catalog_mark: readPoint(ctx.engine.catalog.raw)?.mark || null,
    }
    await nodes
      .insertInto('node')
      .values({ ...own, release, started_at: at, ...changing })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(changing))
      .execute()
    // Those that ended without a word.
    if (lead?.epoch !== null)
      await nodes
        .deleteFrom('node')
        .where('seen_at', '<', sql<number>`now_ms() - ${DAY}`)
        .execute()
  }

  async function run(release: string): Promise<void> {
    while (!closing.signal.aborted) {
      // Whoever cannot note it has a database that is away, and others tell of that.
      await note(release).catch((error: unknown) =>
        ctx.log.debug({ err: error }, 'this node cannot note that it is there'),
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
      await nodes
        .deleteFrom('node')
        .where('id', '=', own.id)
        .execute()
        .catch(() => {})
    },
  }
}
