/** The schedule of all jobs, kept over restarts; none overlaps itself. */
import { levelOf } from '../db/faults.js'
import { SingleFlight } from '../core/async/single-flight.js'
import type { Job } from '../core/async/job.js'
import { asLeader } from '../db/as-leader.js'
import { LeadLost, leads } from '../db/lead.js'
import type { OperatorCtx } from './ctx.js'

export interface JobCounts {
  runs: number
  failures: number
}

export interface Jobs {
  /** What the schedule runs. */
  readonly names: readonly string[]
  /** Starts the schedule. */
  start(): void
  /** What this process has run, by job. */
  readonly counts: ReadonlyMap<string, JobCounts>
  /** Runs one job now, for tests and the command line. */
  run(name: string): Promise<void>
  /** Waits until the looks and runs that have begun have ended. */
  ended(): Promise<void>
  /** Stops the schedule, tells what runs to end, and waits for it. */
  stop(): Promise<void>
}

/** A row of the schedule. */
interface Scheduled {
  name: string
  /** Milliseconds since 1970. */
  next_at: number
}

/** How often the schedule is looked at, in milliseconds. */
const TICK = 1_000
/** It is read anew after so many looks: another process may have run a job without a word. */
const STALE = 10

export function openJobs(ctx: OperatorCtx, jobs: readonly Job<OperatorCtx>[]): Jobs {
  const running = new SingleFlight<string, void>()
  // The schedule of this process: a table that cannot be written must not bring a job back every
  // second.
  const started = new Map<string, number>()
  const counts = new Map(jobs.map(({ name }) => [name, { runs: 0, failures: 0 }]))
  const stopping = new AbortController()
  /** What runs because this node leads: it ends where another epoch begins. */
  const runs = new Set<{ epoch: number | null; cut: AbortController }>()
  let timer: NodeJS.Timeout | undefined
  let ticking: Promise<void> | undefined
  /** The table as it was read last, as of which commit and epoch, and how often it was looked at. */
  let kept: { asOf: string; looks: number; rows: Scheduled[] } | undefined

  function run(job: Job<OperatorCtx>): Promise<void> {
    if (stopping.signal.aborted) return Promise.reject(new Error('closed'))
    return running.run(job.name, async () => {
      started.set(job.name, ctx.now())
      const run = { epoch: ctx.engine.lead?.epoch ?? null, cut: new AbortController() }
      runs.add(run)
      try {
        await counted(job.name, attempt(ctx, job, run.cut.signal), run.cut.signal)
      } finally {
        runs.delete(run)
      }
    })
  }

  async function counted(name: string, work: Promise<void>, cut: AbortSignal): Promise<void> {
    const count = counts.get(name)
    if (count) count.runs++
    await work.catch((error: unknown) => {
      if (count && !isCut(error, cut)) count.failures++
      throw error
    })
  }

  /** Another node runs them by now; a command ran them without the lead, and goes on. */
  function cutFormerLeads(): void {
    const now = ctx.engine.lead?.epoch ?? null
    for (const { epoch, cut } of runs) if (epoch !== null && epoch !== now) cut.abort()
  }

  async function tick(): Promise<void> {
    // Of several nodes the one that leads: no job runs twice at a time.
    if (!leads(ctx.engine)) return
    try {
      const known = await schedule()
      const now = ctx.now()
      for (const job of jobs) {
        const here = (started.get(job.name) ?? -Infinity) + job.every
        const due = Math.max(known.find(({ name }) => name === job.name)?.next_at ?? 0, here)
        // A schedule further ahead than one period comes from a clock that was wrong.
        const isDue = due <= now || due > now + job.every
        // What a job throws, its attempt has logged.
        if (isDue && !running.has(job.name) && !stopping.signal.aborted)
          void run(job).catch(() => {})
      }
    } catch (error) {
      ctx.log[levelOf(error)]({ err: error }, 'the job schedule cannot be read')
    }
  }

  async function schedule(): Promise<Scheduled[]> {
    const asOf = [ctx.engine.version(), ctx.engine.lead?.epoch].join()
    if (kept?.asOf !== asOf || ++kept.looks >= STALE) {
      const rows = await ctx.read.selectFrom('job').select(['name', 'next_at']).execute()
      kept = { asOf, looks: 0, rows }
    }
    return kept.rows
  }

  async function ended(): Promise<void> {
    await ticking
    await running.ended()
  }

  return {
    names: jobs.map(({ name }) => name),
    counts,
    start() {
      if (!stopping.signal.aborted)
        timer ??= setInterval(() => {
          cutFormerLeads()
          ticking ??= tick().finally(() => {
            ticking = undefined
          })
        }, TICK).unref()
    },
    async run(name) {
      const job = jobs.find((candidate) => candidate.name === name)
      if (!job)
        throw new Error(
          `there is no job ${name}; known are ${jobs.map((known) => known.name).join(', ')}`,
        )
      await run(job)
    },
    ended,
    async stop() {
      clearInterval(timer)
      stopping.abort()
      for (const { cut } of runs) cut.abort()
      await ended()
    },
  }
}

/** What the end of the app, or of the lead, cut short has not failed: its next run does it. */
const isCut = (error: unknown, { aborted }: AbortSignal): boolean =>
  aborted || error instanceof LeadLost

/**
 * One run and its row in the table. Rejects with what the job threw; a row that cannot be written
 * is only logged.
 */
async function attempt(
  given: OperatorCtx,
  job: Job<OperatorCtx>,
  signal: AbortSignal,
): Promise<void> {
  const ctx = asLeader({ ...given, actor: `job:${job.name}` })
  const started = ctx.now()
  const record = async (values: {
    last_finished_at?: number
    last_error?: string | null
    isFailed?: boolean
  }) => {
    const { isFailed, ...columns } = values
    try {
      await ctx.engine.atomic(ctx, ({ db }) =>
        db
          .insertInto('job')
          .values({
            name: job.name,
            next_at: started + job.every,
            last_started_at: started,
            last_finished_at: null,
            last_error: null,
            failures: isFailed ? 1 : 0,
            ...columns,
          })
          .onConflict((conflict) =>
            conflict.column('name').doUpdateSet(({ eb }) => ({
              next_at: started + job.every,
              last_started_at: started,
              ...columns,
              ...(isFailed !== undefined && {
                failures: isFailed ? eb('job.failures', '+', 1) : 0,
              }),
            })),
          )
          .execute(),
      )
    } catch (error) {
      // Another node has the schedule.
      if (error instanceof LeadLost) return
      ctx.log[levelOf(error)]({ err: error, job: job.name }, 'a job cannot be noted in its table')
    }
  }
  await record({})
  try {
    await job.run(ctx, signal)
    await record({ last_finished_at: ctx.now(), last_error: null, isFailed: false })
  } catch (error) {
    if (isCut(error, signal)) throw error
    ctx.log[levelOf(error)](
      { err: error, job: job.name },
      'a job failed; it comes back at its next time',
    )
    await record({
      last_finished_at: ctx.now(),
      last_error: error instanceof Error ? error.message : String(error),
      isFailed: true,
    })
    throw error
  }
}
