/**
 * Feeds whose MAP column holds something else: a MAP that is not above the regular price counts as
 * none (decisions 4.1).
 */
import type { RawHandle } from '../../db/engine.js'

export interface OddMaps {
  source: string
  distid: string
  /** Null for the operator's. */
  subscriberId: string | null
  /** Offers with an amount in the MAP column, and those of them whose MAP does not count. */
  given: number
  ignored: number
}

/** Fewer than this are chance. */
const FEW = 20

/** The feeds last taken in which more than half of the MAPs do not count. */
export function oddMaps(catalog: RawHandle): OddMaps[] {
  const feeds = catalog
    .prepare(
      "SELECT source, distid, subscriber_id AS subscriberId, shape FROM feed WHERE kind = 'catalog' AND shape <> '' ORDER BY source",
    )
    .all() as { source: string; distid: string; subscriberId: string | null; shape: string }[]
  return feeds.flatMap(({ shape, ...feed }) => {
    const { filled } = JSON.parse(shape) as { filled: Record<string, number> }
    const given = filled['map'] ?? 0
    const ignored = given - (filled['keptMap'] ?? 0)
    return given >= FEW && ignored * 2 > given ? [{ ...feed, given, ignored }] : []
  })
}

/** The sentence for it. */
export function oddMapsWarning({ source, given, ignored }: OddMaps): string {
  return (
    `the feed ${source} has ${ignored.toLocaleString('en-US')} of ${given.toLocaleString('en-US')} MAPs that are not above its own regular price; ` +
    'they do not count as MAP, so look at what its MAP column holds'
  )
}
