/** What is well with an installation, and what is not: for whoever serves it, and for people. */
import { inTime } from '../core/async/wait.js'
import { HOUR, SECOND } from '../core/clock.js'
import { MB } from '../core/figures.js'
import { orWell } from '../core/finding.js'
import type { Finding } from '../core/finding.js'
import { ROOM_FOR_FEEDS, ROOM_FOR_ORDERS } from '../core/storage/disk-space.js'
import { leads } from '../db/lead.js'
import { unmigratedFile, unusableFile } from '../db/sqlite/look.js'
import { feedFindings } from '../feeds/findings.js'
import type { FeedFindingCtx } from '../feeds/findings.js'
import { orderFindings } from '../orders/operator/findings.js'
import type { OperatorCtx } from './ctx.js'
import { nodeFindings } from './nodes/findings.js'

/** Free disk below which somebody should make room: feeds stop at half of it. */
export const LOW_DISK = 2 * ROOM_FOR_FEEDS
/** Runs in a row after which a job counts as failing; of one that runs once a day, fewer. */
const FAILED_RUNS = 3
const FAILED_LONG_RUNS = 2

/** What the findings look at: a folder that nobody has opened has it, too. */
export interface FindingCtx extends FeedFindingCtx {
  readonly space: Pick<OperatorCtx['space'], 'free'>
  readonly engine: Pick<OperatorCtx['engine'], 'catalog' | 'lead' | 'time'>
}

/**
 * What is well with the state folder and what is not; any process that has opened it may ask. Each
 * check that finds nothing says so.
 */
export async function findings(ctx: FindingCtx): Promise<Finding[]> {
  return [
    ...(await feedFindings(ctx)),
    ...(await orderFindings(ctx)),
    ...diskFindings(ctx),
    ...(await jobFindings(ctx)),
    ...(ctx.engine.lead === null ? [] : await nodeFindings(ctx)),
  ]
}

function diskFindings({ space }: FindingCtx): readonly Finding[] {
  const free = space.free()
  const left = `${Math.floor(free / MB)} MB are free under the state folder`
  const stops =
    free < ROOM_FOR_ORDERS
      ? 'no order is taken any more'
      : free < ROOM_FOR_FEEDS
        ? 'no feed is taken in any more'
        : `below ${ROOM_FOR_FEEDS / MB} MB no feed is taken in`
  const low: Finding = {
    check: 'disk_low',
    subject: '',
    severity: free < ROOM_FOR_FEEDS ? 'bad' : 'warn',
    message: `${left}: ${stops}`,
    mend: 'du -sh history objects exports feeds',
  }
  return orWell(free < LOW_DISK ? [low] : [], 'disk_low', left)
}

async function jobFindings({ read }: FindingCtx): Promise<readonly Finding[]> {
  const jobs = await read.selectFrom('job').selectAll().where('failures', '>', 0).execute()
  const failing = jobs
    .filter(({ failures, next_at: next, last_started_at: last }) => {
      const isRare = last !== null && next - last >= HOUR
      return failures >= (isRare ? FAILED_LONG_RUNS : FAILED_RUNS)
    })
    .map(({ name, failures, last_error: error }): Finding => ({
      check: 'job_failing',
      subject: name,
      severity: 'warn',
      message: `the job ${name} failed ${failures} times in a row: ${error ?? 'see the log'}`,
      mend: null,
    }))
  return orWell(failing, 'job_failing', 'no job fails')
}

/** One thing that has to be right before a server can do its work. */
export interface Readiness {
  ok: boolean
  /** What is right, or what is missing. */
  message: string
}

/** What has to be right, in the order in which a start brings it about. */
export type ReadyCheck = 'database' | 'files' | 'schema' | 'catalog' | 'sender'

/**
 * Whether this process can do all that a server does: its files are open and of this release, the
 * catalog is there, and it is the one that sends orders, or leaves that to the nodes.
 * Cheap, and never throws.
 */
export async function readiness(ctx: OperatorCtx): Promise<Partial<Record<ReadyCheck, Readiness>>> {
  return {
    ...(ctx.engine.lead !== null && { database: await databaseReadiness(ctx) }),
    files: tried(() => fault(unusableFile(ctx.engine)) ?? ok('all files are open')),
    schema: tried(() => fault(unmigratedFile(ctx.engine)) ?? ok('all files are of this release')),
    catalog: await catalogReadiness(ctx).catch(failed),
    sender: senderReadiness(ctx),
  }
}

/** Milliseconds that a database has to answer. */
const PATIENCE = 2 * SECOND

/**
 * Never keeps a node from being ready: where all of them lose their database, a proxy that asks none
 * of them any more would turn readers away that any node can serve from its memory.
 */
async function databaseReadiness({ read, log }: OperatorCtx): Promise<Readiness> {
  const answered = async () => {
    await read.selectFrom('state').select('value').limit(1).executeTakeFirst()
    return ok('the database answers')
  }
  const away = (why: string) => ok(`the database is away, orders wait for it: ${why}`)
  return inTime(answered, {
    ms: PATIENCE,
    late: () => away(`no answer within ${PATIENCE / SECOND} s`),
  }).catch((error: unknown) => {
    log.debug({ err: error }, 'the database does not answer')
    return away((error as Error).message)
  })
}

/**
 * Never keeps one of several nodes from being ready: for a moment the one that leads anew does not
 * send yet, and a proxy may have no other to ask just then.
 */
function senderReadiness({ orders, engine }: OperatorCtx): Readiness {
  if (orders.isSender) return ok('this process sends orders')
  if (engine.lead)
    return ok(leads(engine) ? 'this node leads, and is about to send' : 'another node sends orders')
  return { ok: false, message: 'this process does not send orders, or not yet' }
}

/** An installation without any feed has no catalog, and lacks none. */
async function catalogReadiness({ catalog, read }: OperatorCtx): Promise<Readiness> {
  // Has it notice what is there by now.
  if (catalog.current()) return ok('the catalog is there')
  const { state } = catalog.status()
  if (state === 'loading') return { ok: false, message: 'the catalog is being loaded' }
  if (state === 'failed')
    return { ok: false, message: 'the catalog cannot be built; it is tried again, see the log' }
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
