/** Work that comes back: declared beside its domain, never overlapping itself, its schedule kept over restarts. */
import type { OperatorCtx } from './ctx.js'

export interface Job {
  readonly name: string
  /** Milliseconds from one start to the next. */
  readonly every: number
  run(ctx: OperatorCtx): Promise<void>
}

export interface Jobs {
  /** Starts the schedule. */
  start(): void
  /** Runs one job now, for tests and the command line. */
  run(name: string): Promise<void>
  /** Stops the schedule and waits for what runs. */
  stop(): Promise<void>
}

/** How often the schedule is looked at, in milliseconds. */
const TICK = 1_000

export function openJobs(ctx: OperatorCtx, jobs: readonly Job[]): Jobs {
  const running = new Map<string, Promise<void>>()
  let timer: NodeJS.Timeout | undefined

  function run(job: Job): Promise<void> {
    let current = running.get(job.name)
    if (!current) {
      current = attempt(ctx, job).finally(() => running.delete(job.name))
      running.set(job.name, current)
    }
    return current
  }

  async function tick(): Promise<void> {
    const known = await ctx.read.selectFrom('job').select(['name', 'next_at']).execute()
    const nextAt = new Map(known.map((row) => [row.name, row.next_at]))
    for (const job of jobs) {
      // A schedule further ahead than one period comes from a clock that was wrong.
      const due = Math.min(nextAt.get(job.name) ?? 0, ctx.now() + job.every)
      if (due <= ctx.now() && !running.has(job.name)) void run(job).catch(() => {})
    }
  }

  return {
    start() {
      timer ??= setInterval(() => void tick().catch((error: unknown) => ctx.log.error({ err: error }, 'the job schedule cannot be read')), TICK).unref()
    },
    async run(name) {
      const job = jobs.find((candidate) => candidate.name === name)
      if (!job) throw new Error(`there is no job ${name}; known are ${jobs.map((known) => known.name).join(', ')}`)
      await run(job)
    },
    async stop() {
      clearInterval(timer)
      await Promise.allSettled(running.values())
    },
  }
}

async function attempt(ctx: OperatorCtx, job: Job): Promise<void> {
  const started = ctx.now()
  const record = (values: { last_finished_at?: number; last_error?: string | null }) => ctx.db.insertInto('job')
    .values({ name: job.name, next_at: started + job.every, last_started_at: started, last_finished_at: null, last_error: null, ...values })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ next_at: started + job.every, last_started_at: started, ...values })).execute()
  await record({})
  try {
    await job.run({ ...ctx, actor: `job:${job.name}` })
    await record({ last_finished_at: ctx.now(), last_error: null })
  } catch (error) {
    ctx.log.error({ err: error, job: job.name }, 'a job failed; it comes back at its next time')
    await record({ last_finished_at: ctx.now(), last_error: error instanceof Error ? error.message : String(error) })
    throw error
  }
}
