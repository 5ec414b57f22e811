/** Opens an app over a state folder. */
import type { Key } from '../accounts/caller.js'
import { closeCheckRuns } from '../configuration/credentials.js'
import { openUnderWay } from '../core/async/under-way.js'
import type { UnderWay } from '../core/async/under-way.js'
import { pause } from '../core/async/wait.js'
import { MINUTE, SECOND } from '../core/clock.js'
import type { OrderSender } from '../orders/ctx.js'
import { openDeliveries } from '../events/deliver.js'
import type { Deliveries } from '../events/deliver.js'
import { openMonitors } from '../orders/tracking/monitor.js'
import type { Monitors } from '../orders/tracking/monitor.js'
import { callEndpoint } from './call.js'
import { Callers } from './callers.js'
import type { Ctx, OperatorCtx } from './ctx.js'
import { openJobs } from './jobs.js'
import type { Jobs } from './jobs.js'
import { operatorFunctions } from './operator.js'
import type { Operator } from './operator.js'
import type { OperateOptions } from './operations/run.js'
import { readOptions } from './options.js'
import type { OpenOptions, Settings } from './options.js'
import { allJobs, openParts } from './assemble.js'
import type { Parts } from './assemble.js'
import { makeShop } from './shop.js'
import type { Shop } from './shop.js'
import { openState } from './state.js'
import type { State } from './state.js'

export type { OpenOptions } from './options.js'

export interface App {
  readonly dir: string
  readonly ctx: OperatorCtx
  /** The address at which callers reach the server, where `open` was given one. */
  readonly publicUrl: string | null
  /** What the operator does: subscribers, keys, feeds, configurations. */
  readonly operator: Operator
  /**
   * Runs an operation of the operator by its id, as `keys.create`, with one object for input: what
   * the console calls. `operator` has the same as functions.
   */
  operate(id: string, input?: unknown, options?: OperateOptions): Promise<unknown>
  readonly jobs: Jobs
  /**
   * Sends purchase orders and reconciles them; a server starts it, a library sends what it places
   * itself.
   */
  readonly orders: OrderSender
  /** Ask distributors for news of open orders; a server starts them. */
  readonly monitors: Monitors
  /** Tell receivers of events; a server starts them. */
  readonly deliveries: Deliveries
  /**
   * The functions of one shop: by `{ key }`, or by the subscriber's name or id. An unknown one
   * rejects its calls.
   */
  as(caller: string | { key: string }): Shop
  /** The key of this text, whatever its status; undefined for an unknown one. */
  findKey(key: string): Key | undefined
  /** Whether an enabled key may be used from this address. */
  mayCallFrom(address: string): boolean
  /** The context of a call with this key. */
  contextFor(key: Key): Ctx
  /** Runs a call of whoever serves the app: `close` waits for it, and none begins after it. */
  run<T>(call: () => Promise<T>): Promise<T>
  /**
   * Told by whoever serves the app, for the URLs of its files; where `publicUrl` is given it
   * changes nothing.
   */
  listensAt(url: string): void
  /**
   * Ends what runs, or waits for it: afterwards no call, timer, worker or process of this app is
   * left. What a distributor was asked is waited for, at most 30 seconds; what it then has not
   * answered, the next start finds out.
   */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens the folder, creating or upgrading its files. Starts no job, writes no log and installs no
 * signal handler. Rejects with a TypeError for an option that there is not.
 */
export async function open(options: OpenOptions = {}): Promise<App> {
  const settings = readOptions(options)
  const ending = new AbortController()
  const state = await openState(settings)
  try {
    return await openOver(settings, state, ending)
  } catch (error) {
    // Nobody has the app, so that no part of it is at work: what waits for the end is told of it,
    // and the files are closed.
    ending.abort()
    await state.engine.close()
    throw error
  }
}

/** Milliseconds until fraud reports that could not be hashed anew are tried again: at first, at most. */
const MEND_AGAIN = { first: SECOND, most: 10 * MINUTE } as const

/** The app over an open state folder. What can fail comes before the timer, which nobody clears. */
async function openOver(settings: Settings, state: State, ending: AbortController): Promise<App> {
  const { dir, publicUrl } = settings
  const underWay = openUnderWay(ending.signal)
  const parts = await openParts(settings, state, {
    closing: ending.signal,
    mendFraud: () => void mendFraud(MEND_AGAIN.first),
  })
  const { ctx, background, journalCopy } = parts
  const jobs = openJobs(ctx, allJobs(ctx, background))
  /** Until that is done nobody is answered: what failed is not left until the job's next hour. */
  async function mendFraud(ms: number): Promise<void> {
    const isDone = await jobs.run('fraud').then(
      () => true,
      () => false,
    )
    if (isDone) return
    await pause(ms, ending.signal)
    if (!ending.signal.aborted) await mendFraud(Math.min(2 * ms, MEND_AGAIN.most))
  }
  const monitors = openMonitors({ ...ctx, actor: 'monitors' })
  const deliveries = openDeliveries({ ...ctx, actor: 'deliveries' })
  const callers = new Callers(ctx)
  await ctx.engine.ready()
  const operator = operatorFunctions({
    ctx,
    background,
    underWay,
    journalCopy,
    closing: ending.signal,
  })
  const flushing = setInterval(() => ctx.limits.flush(), SECOND).unref()
  let closing: Promise<void> | undefined
  const close = () =>
    (closing ??= closeAll({ ...parts, ending, underWay, jobs, monitors, deliveries, flushing }))

  return {
    dir,
    ctx,
    publicUrl: publicUrl.given,
    operator,
    operate: (id, input = {}, options) =>
      underWay.run(async () => {
        // Loaded with the first: who opens an app to serve a shop needs none of it.
        const { runOperation } = await import('./operations/run.js')
        return runOperation(
          {
            ...ctx,
            background,
            journalCopy,
            closing: ending.signal,
            schedule: jobs,
            open,
            keyPlaces: { dir, secretKey: settings.secretKey },
          },
          id,
          input,
          options,
        )
      }),
    jobs,
    orders: ctx.orders,
    monitors,
    deliveries,
    findKey: callers.findKey,
    mayCallFrom: callers.mayCallFrom,
    contextFor: (key) => callers.contextFor(key),
    close,
    run: underWay.run,
    listensAt: (url) => publicUrl.listensAt(url),
    as: (caller) =>
      makeShop((id, input) =>
        underWay.run(async () => callEndpoint(await callers.contextOf(caller), id, input)),
      ),
    [Symbol.asyncDispose]: close,
  }
}

interface Open extends Parts {
  ending: AbortController
  underWay: UnderWay
  jobs: Jobs
  monitors: Monitors
  deliveries: Deliveries
  flushing: NodeJS.Timeout
}

/** Ends what an app runs, each part after those that use it. */
async function closeAll(app: Open): Promise<void> {
  const { ctx } = app
  app.ending.abort()
  await app.jobs.stop()
  await ctx.register?.stop()
  await ctx.sharing?.stop()
  await app.monitors.stop()
  await app.deliveries.stop()
  await ctx.orders.stop()
  clearInterval(app.flushing)
  await ctx.exports.stop()
  ctx.analytics.stop()
  await closeCheckRuns(ctx.checkRuns)
  ctx.catalog.stop()
  await app.background.close()
  // Whatever calls waited for has ended by now, one way or the other.
  await app.underWay.ended()
  // What they began meanwhile ends at once.
  await closeCheckRuns(ctx.checkRuns)
  await ctx.exports.stop()
  ctx.analytics.stop()
  ctx.catalog.stop()
  await ctx.dealers.stop()
  ctx.limits.flush()
  app.simulators.close()
  await ctx.engine.close()
}
