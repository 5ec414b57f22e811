/** What a server counts and notes of its requests. */
import type { App } from '../lib/app/open.js'
import { openAccessLog } from './access-log.js'
import type { ServerMetrics } from './admin/metrics/metrics.js'
import { openProcessMetrics } from './admin/metrics/process.js'
import { openRequestMetrics } from './admin/metrics/requests.js'
import type { Observe } from './http/observe.js'
import { openTelemetry } from './telemetry.js'

export interface Watching {
  metrics: ServerMetrics
  /** Undefined where nobody wants to know. */
  observe: Observe | undefined
  close(): Promise<void>
}

/** Throws a UsageError for an access log that cannot be written. */
export async function openWatching(
  { ctx }: App,
  { isCounting, accessLog }: { isCounting: boolean; accessLog: string | undefined },
): Promise<Watching> {
  const requests = openRequestMetrics()
  const log = accessLog === undefined ? null : openAccessLog(accessLog, ctx)
  const process = openProcessMetrics()
  const telemetry = await openTelemetry(ctx)
  const all: Observe = (served) => {
    requests.observe(served)
    log?.observe(served)
    telemetry?.observe(served)
  }
  return {
    metrics: { requests, process },
    observe: log || telemetry ? all : isCounting ? requests.observe : undefined,
    async close() {
      process.close()
      await Promise.all([log?.close(), telemetry?.close()])
    },
  }
}
