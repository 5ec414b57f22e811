/** What waits for a person, by page: the figures beside the names in the sidebar. */
import type { PageName } from '../core/keys.js'
import { useCall } from '../core/use-call.js'

export function useWaiting(): Partial<Record<PageName, number>> {
  const { data: waiting } = useCall('overview.waiting', {}, { every: 60_000 })
  if (!waiting) return {}
  return {
    orders: waiting.review + waiting.paperwork,
    feeds: waiting.refused_feeds.length,
    dealers: waiting.held_removals > 0 ? 1 : 0,
  }
}
