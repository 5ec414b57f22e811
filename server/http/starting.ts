/**
 * A server answers before all of its parts are there: what needs none of those that are still
 * missing is answered at once, and the rest waits a while.
 */
import { inTime } from '../../lib/core/async/wait.js'
import { SECOND } from '../../lib/core/clock.js'
import type { AnyEndpoint } from '../../lib/core/endpoint/endpoint.js'
import type { RouteId } from '../../lib/core/endpoint/routes.js'
import { ApiError } from '../../lib/core/errors.js'

/** What takes its time: the first snapshot, and orders that only the journal still knows. */
const PARTS = ['catalog', 'orders'] as const
type Part = (typeof PARTS)[number]

/**
 * What an endpoint would answer wrongly without. Placing an order, quotes and checks read the
 * catalog; so does a document that is judged by what it hides.
 */
const NEEDS: Partial<Record<RouteId, readonly Part[]>> = {
  'config.put': ['catalog'],
  'config.validate': ['catalog'],
  'products.search': ['catalog'],
  'products.facets': ['catalog'],
  'products.get': ['catalog'],
  'products.catalog': ['catalog'],
  'restrictions.check': ['catalog'],
  'orders.quote': ['catalog'],
  'orders.place': ['catalog', 'orders'],
  'orders.list': ['orders'],
  'orders.get': ['orders'],
  'fulfillment.history': ['orders'],
  'ffls.document': ['orders'],
}

/**
 * Milliseconds that a call waits for what it needs. A caller would rather wait than be refused, and
 * has not given up by then.
 */
const PATIENCE = 10 * SECOND

export interface Starting {
  /**
   * Waits until what the endpoint needs is there; undefined where it is. Rejects with a 503 after
   * ten seconds.
   */
  ready(endpoint: Pick<AnyEndpoint, 'id' | 'errors'>): Promise<void> | undefined
}

/** A server whose parts are all there. */
export const STARTED: Starting = { ready: () => undefined }

export interface StartingUp extends Starting {
  /** Told of a part that is there, or cannot be had: then the endpoints answer for themselves. */
  isThere(part: Part): void
}

export function openStarting(patience = PATIENCE): StartingUp {
  const missing = new Map<Part, { there: Promise<void>; settle: () => void }>()
  for (const part of PARTS) {
    let settle = () => {}
    const there = new Promise<void>((resolve) => {
      settle = resolve
    })
    missing.set(part, { there, settle })
  }
  return {
    isThere(part) {
      missing.get(part)?.settle()
      missing.delete(part)
    },
    ready({ id, errors }) {
      if (missing.size === 0) return undefined
      const needed = (NEEDS[id] ?? []).flatMap((part) => missing.get(part)?.there ?? [])
      if (needed.length === 0) return undefined
      return inTime(() => Promise.all(needed).then(() => {}), {
        ms: patience,
        late: () => {
          throw tooEarly(errors)
        },
      })
    },
  }
}

function tooEarly(errors: AnyEndpoint['errors']): ApiError {
  return new ApiError(
    errors.includes('feed_unavailable') ? 'feed_unavailable' : 'service_unavailable',
    {
      message: 'The server has just started and is not ready for this yet. Try again in a moment.',
      headers: { 'retry-after': '5' },
    },
  )
}
