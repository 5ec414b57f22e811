/** What of a fulfillment order goes into one purchase order (decisions 8.10). */
import type { Lane } from '../../distributors/fulfillment.js'
import type { CheckedGroup } from './check-order.js'

/**
 * The lanes of a group, as its connector plans them: one by default. Throws when a plan loses a
 * line or sends it twice.
 */
export function lanesOf({
  connector,
  lines,
  distid,
}: Pick<CheckedGroup, 'connector' | 'lines' | 'distid'>): Lane[] {
  const lanes = connector.plan?.(lines) ?? [{ name: 'all', lines: lines.map((_, i) => i) }]
  const planned = lanes.flatMap((lane) => lane.lines).sort((a, b) => a - b)
  const isWhole = planned.length === lines.length && planned.every((line, i) => line === i)
  if (
    !isWhole ||
    lanes.some((lane) => lane.lines.length === 0) ||
    new Set(lanes.map(({ name }) => name)).size < lanes.length
  ) {
    throw new Error(
      `the connector of ${distid} plans lanes that are not the order: ${JSON.stringify(lanes)}`,
    )
  }
  return lanes
}
