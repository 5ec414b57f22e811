/** Alive, and ready: what a supervisor and a load balancer ask. */
import { readiness } from '../../lib/app/health.js'
import type { App } from '../../lib/app/open.js'
import type { Pages, ServerState } from './admin.js'

const SERVER: Record<ServerState, string> = {
  starting: 'the server is starting',
  serving: 'requests are answered',
  stopping: 'the server is stopping',
}

export function healthPages(app: App, state: () => ServerState): Pages {
  return {
    /** Whoever gets this answer knows that the process runs and that its loop turns. */
    '/healthz': async () => ({ body: `${JSON.stringify({ alive: true })}\n` }),
    '/readyz': async () => {
      const now = state()
      const server = { ok: now === 'serving', message: SERVER[now] }
      const checks = { server, ...(await readiness(app.ctx)) }
      const ready = Object.values(checks).every(({ ok }) => ok)
      return { status: ready ? 200 : 503, body: `${JSON.stringify({ ready, checks })}\n` }
    },
  }
}
