/** What waits for a person, by page: the figures beside the names in the sidebar. */
import type { PageName } from '../core/keys.js'
import { useCall } from '../core/use-call.js'

export function useWaiting(): Partial<Record<PageName, number>> {
  const { data } = useCall('overview.today', {}, { every: 60_000 })
  if (!data) return {}
  const { waiting } = data
  return {
    orders: waiting.review + waiting.paperwork,
    feeds: waiting.refused_feeds.length,
  }
}
