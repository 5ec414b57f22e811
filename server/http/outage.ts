/** A database that is away fails every request: the log says so once, and once when it is back. */
import { SECOND } from '../../lib/core/clock.js'
import type { App } from '../../lib/app/open.js'

/** Milliseconds from one look whether it is back to the next. */
const LOOK = SECOND

/** Those whose database is away, and whose log says so. */
const away = new WeakSet<App>()

/** Told of each request that failed by it. */
export function noteOutage(app: App, error: unknown): void {
  if (away.has(app)) return
  away.add(app)
  const { log, monotonic, orders, read } = app.ctx
  const since = monotonic()
  log.error(
    { err: error },
    'the database cannot be reached: what needs it is refused with 503 until it is back',
  )
  let isAsking = false
  const look = async () => {
    if (orders.stopping.aborted) return clearInterval(timer)
    if (isAsking) return
    isAsking = true
    try {
      await read.selectFrom('setting').select('name').limit(1).execute()
      clearInterval(timer)
      away.delete(app)
      log.info(
        { seconds: Math.round((monotonic() - since) / SECOND) },
        'the database can be reached again',
      )
    } catch {
      // Still away.
    } finally {
      isAsking = false
    }
  }
  const timer = setInterval(() => void look(), LOOK).unref()
}
