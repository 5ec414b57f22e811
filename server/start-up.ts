/** What a server does once it listens: it gets at what takes its time, and then begins its work. */
import { pause } from '../lib/core/async/wait.js'
import type { App } from '../lib/app/open.js'
import type { StartingUp } from './http/starting.js'
import { ownVersion } from './cli/version.js'

/** Milliseconds in which those who waited get their answers: the first search makes its view. */
const FIRST_CALLERS = 100

/**
 * Loads the catalog and takes up the orders, then loads the dealers, all beside the requests; then
 * starts jobs, sends what is due and asks for news. Never rejects.
 */
export async function startUp(
  app: App,
  starting: StartingUp,
  stopping: AbortSignal,
): Promise<void> {
  const { ctx } = app
  const begun = ctx.monotonic()
  const failed = (message: string) => (error: unknown) => {
    if (!stopping.aborted) ctx.log.error({ err: error }, message)
  }
  ctx.sharing?.start()
  ctx.register?.start(ownVersion())
  await Promise.all([
    // Who watches the file tells of one that cannot be read.
    ctx.catalog
      .first()
      .catch(() => {})
      .finally(() => starting.isThere('catalog')),
    // Whatever else can be served is; orders answer 503 until it is put right.
    bringBackOrders(app)
      .catch(failed('orders cannot be taken up'))
      .finally(() => starting.isThere('orders')),
  ])
  // Their ZIP codes alone keep the loop busy for a tenth of a second: the first callers, who wait
  // for the server to be there again, go before.
  await pause(FIRST_CALLERS, stopping)
  await ctx.dealers.current().catch(failed('the dealers cannot be loaded'))
  // Simulated distributors look at the catalog: what is due is sent when it is there.
  if (stopping.aborted) return
  ctx.engine.lead?.stand()
  app.jobs.start()
  app.orders.start()
  app.monitors.start()
  app.deliveries.start()
  ctx.log.info({ milliseconds: Math.round(ctx.monotonic() - begun) }, 'the server is ready')
}

/** What the journal alone still knows of is known again before the first caller asks for it. */
async function bringBackOrders({ orders }: App): Promise<void> {
  const lease = await orders.lease()
  lease?.release()
}
