/** All metrics of a server. What is counted is counted when it happens; the rest when it is asked. */
import type { App } from '../../../lib/app/open.js'
import type { Pages } from '../page.js'
import type { ProcessMetrics } from './process.js'
import type { RequestMetrics } from './requests.js'
import { nodeFamilies } from './nodes.js'
import { stateFamilies } from './state.js'
import { TEXT_TYPE, textOf } from './text.js'
import type { Family } from './text.js'

export interface ServerMetrics {
  requests: RequestMetrics
  process: ProcessMetrics
}

export function metricsPages(app: App, { requests, process }: ServerMetrics): Pages {
  return {
    '/metrics': async () => ({
      type: TEXT_TYPE,
      body: textOf([
        ...requests.families(),
        ...(await stateOf(app)),
        ...(await nodeFamilies(app)),
        ...process.families(),
      ]),
    }),
  }
}

/** While the database that nodes share is away, what stands in it is left out. */
async function stateOf(app: App): Promise<Family[]> {
  const state = stateFamilies(app)
  return app.ctx.engine.lead === null ? state : state.catch(() => [])
}
