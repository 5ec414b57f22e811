/** What is well with an installation, and what is not: for whoever serves it, and for people. */
import { highestOffer } from '../catalog/queries.js'
import { unmigratedFile, unusableFile } from '../db/look.js'
import type { OperatorCtx } from './ctx.js'

/** One thing that has to be right before a server can do its work. */
export interface Readiness {
  ok: boolean
  /** What is right, or what is missing. */
  message: string
}

/** What has to be right, in the order in which a start brings it about. */
export const READY = ['files', 'schema', 'catalog', 'sender'] as const

/**
 * Whether this process can do all that a server does: its files are open and of this release, the
 * catalog is there, and it is the one that sends orders. Cheap, and never throws.
 */
export async function readiness(
  ctx: OperatorCtx,
): Promise<Record<(typeof READY)[number], Readiness>> {
  return {
    files: tried(() => fault(unusableFile(ctx.engine)) ?? ok('all files are open')),
    schema: tried(() => fault(unmigratedFile(ctx.engine)) ?? ok('all files are of this release')),
    catalog: await catalogReadiness(ctx).catch(failed),
    sender: ctx.orders.isSender
      ? ok('this process sends orders')
      : { ok: false, message: 'this process does not send orders, or not yet' },
  }
}

/** An installation without any feed has no catalog, and lacks none. */
async function catalogReadiness({ catalog, engine, read }: OperatorCtx): Promise<Readiness> {
  const snapshot = catalog.current()
  if (snapshot) return ok('the catalog is there')
  if (highestOffer(engine.catalog)() > 0)
    return { ok: false, message: 'the catalog is being built' }
  const source = await read
    .selectFrom('feed_source')
    .select('id')
    .where('active', '=', 1)
    .where('location', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  return source
    ? { ok: false, message: `no feed has been taken in yet; ${source.id} is the first that is due` }
    : ok('no feed is set up')
}

const ok = (message: string): Readiness => ({ ok: true, message })
const fault = (message: string | null): Readiness | null =>
  message === null ? null : { ok: false, message }
const failed = (error: unknown): Readiness => ({
  ok: false,
  message: error instanceof Error ? error.message : String(error),
})

function tried(look: () => Readiness): Readiness {
  try {
    return look()
  } catch (error) {
    return failed(error)
  }
}
