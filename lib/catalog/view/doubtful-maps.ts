/**
 * Feeds whose MAP column holds something else: a MAP that is not above the regular price counts as
 * none.
 */
import { figure } from '../../core/figures.js'
import { catalogFeeds } from '../queries.js'
import type { CatalogDb } from '../queries.js'

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
export function oddMaps(catalog: CatalogDb): OddMaps[] {
  return catalogFeeds(catalog).flatMap(({ shape, ...feed }) => {
    const { filled } = JSON.parse(shape) as { filled: Record<string, number> }
    const given = filled['map'] ?? 0
    const ignored = given - (filled['keptMap'] ?? 0)
    return given >= FEW && ignored * 2 > given ? [{ ...feed, given, ignored }] : []
  })
}

/** The sentence for it. */
export function oddMapsWarning({ source, given, ignored }: OddMaps): string {
  return (
    `the feed ${source} has ${figure(ignored)} of ${figure(given)} MAPs that are not above its own regular price; ` +
    'they do not count as MAP, so look at what its MAP column holds'
  )
}
