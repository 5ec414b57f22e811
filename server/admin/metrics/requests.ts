/** Requests by route and status, how long they took, and limits that were hit. */
import type { Observe } from '../../http/observe.js'
import type { Family, Sample } from './text.js'

/** Upper bounds in seconds: a search takes one millisecond, an order as long as its distributor. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
/** Refusals because of a limit. */
const LIMITS: ReadonlySet<string> = new Set(['rate_limited', 'catalog_polled_too_early'])

interface RouteCounts {
  /** Requests in each bucket, the last beyond all bounds. */
  buckets: number[]
  seconds: number
  statuses: Map<number, number>
}

export interface RequestMetrics {
  /** Counts one: a look into a map, and a walk along fifteen bounds. */
  observe: Observe
  families(): Family[]
}

export function openRequestMetrics(): RequestMetrics {
  const routes = new Map<string, RouteCounts>()
  const limits = new Map([...LIMITS].map((code) => [code, 0]))

  return {
    observe({ route, status, code, milliseconds }) {
      let counts = routes.get(route)
      if (!counts) {
        counts = { buckets: BOUNDS.map(() => 0).concat(0), seconds: 0, statuses: new Map() }
        routes.set(route, counts)
      }
      const seconds = milliseconds / 1_000
      let bucket = 0
      while (bucket < BOUNDS.length && seconds > BOUNDS[bucket]!) bucket++
      counts.buckets[bucket]!++
      counts.seconds += seconds
      counts.statuses.set(status, (counts.statuses.get(status) ?? 0) + 1)
      if (code !== null && LIMITS.has(code)) limits.set(code, (limits.get(code) ?? 0) + 1)
    },
    families: () => [
      {
        name: 'quartermaster_http_requests_total',
        type: 'counter',
        help: 'Requests that were answered, by route and status.',
        samples: [...routes].flatMap(([route, { statuses }]) =>
          [...statuses].map(([status, value]) => ({
            labels: { route, status: String(status) },
            value,
          })),
        ),
      },
      {
        name: 'quartermaster_http_request_duration_seconds',
        type: 'histogram',
        help: 'Time from the head of a request to its whole answer.',
        samples: [...routes].flatMap(([route, counts]) => histogramOf(route, counts)),
      },
      {
        name: 'quartermaster_limits_hit_total',
        type: 'counter',
        help: 'Requests that were refused because of a limit, by its code.',
        samples: [...limits].map(([limit, value]) => ({ labels: { limit }, value })),
      },
    ],
  }
}

function histogramOf(route: string, { buckets, seconds }: RouteCounts): Sample[] {
  let sum = 0
  const samples = buckets.map((count, i): Sample => {
    sum += count
    return {
      suffix: '_bucket',
      labels: { route, le: String(BOUNDS[i] ?? '+Inf') },
      value: sum,
    }
  })
  return [
    ...samples,
    { suffix: '_sum', labels: { route }, value: seconds },
    { suffix: '_count', labels: { route }, value: sum },
  ]
}
