/** Alive, and ready: what a supervisor and a load balancer ask. */
import { readiness } from '../../lib/app/health.js'
import type { App } from '../../lib/app/open.js'
import type { Pages } from './page.js'

export function healthPages(app: App, stopping?: AbortSignal): Pages {
  return {
    /** Whoever gets this answer knows that the process runs and that its loop turns. */
    '/healthz': async () => ({ body: `${JSON.stringify({ alive: true })}\n` }),
    '/readyz': async () => {
      const isStopping = stopping?.aborted === true
      const message = isStopping ? 'the server is stopping' : 'requests are answered'
      const checks = { server: { ok: !isStopping, message }, ...(await readiness(app.ctx)) }
      const ready = Object.values(checks).every(({ ok }) => ok)
      return { status: ready ? 200 : 503, body: `${JSON.stringify({ ready, checks })}\n` }
    },
  }
}
