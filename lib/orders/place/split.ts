/**
 * Which items go to a distributor in one order (contract "Place order": splitting), and which of
 * them in one purchase order.
 */
import type { Fulfillment, OrderPart, PurchaseOrderLine } from '../../distributors/fulfillment.js'

export interface OrderLine {
  distid: string
  distsku: string
  upc: string
  qty: number
  fflRequired: boolean
}

/** One distributor order to be: a group of the order. */
export interface OrderGroup {
  distid: string
  /** Any of its lines must go to a dealer. */
  fflRequired: boolean
  lines: OrderLine[]
}

/**
 * Groups by distributor and by whether an item must go to a dealer; by distributor alone when all
 * goes to the store. Groups and lines keep the order in which they came; lines of one distsku
 * become one.
 */
export function splitOrder(lines: readonly OrderLine[], shipToStore: boolean): OrderGroup[] {
  const groups = new Map<string, OrderGroup>()
  for (const line of lines) {
    const key = shipToStore ? line.distid : `${line.distid} ${line.fflRequired}`
    let group = groups.get(key)
    if (!group) groups.set(key, (group = { distid: line.distid, fflRequired: false, lines: [] }))
    group.fflRequired ||= line.fflRequired
    addLine(group.lines, line)
  }
  return [...groups.values()]
}

function addLine(lines: OrderLine[], line: OrderLine): void {
  const same = lines.find(({ distsku }) => distsku === line.distsku)
  if (!same) lines.push({ ...line })
  else
    lines[lines.indexOf(same)] = {
      ...same,
      qty: same.qty + line.qty,
      fflRequired: same.fflRequired || line.fflRequired,
    }
}

/**
 * The parts of a group, as its connector plans them: one by default. Throws when a plan loses a
 * line or sends it twice.
 */
export function partsOf({
  connector,
  settings,
  lines,
  distid,
}: {
  connector: Pick<Fulfillment, 'plan'>
  settings: Readonly<Record<string, unknown>>
  lines: readonly PurchaseOrderLine[]
  distid: string
}): OrderPart[] {
  const parts = connector.plan?.(lines, settings) ?? [
    { name: 'all', lines: lines.map((_, i) => i) },
  ]
  const planned = parts.flatMap((part) => part.lines).sort((a, b) => a - b)
  const isWhole = planned.length === lines.length && planned.every((line, i) => line === i)
  if (
    !isWhole ||
    parts.some((part) => part.lines.length === 0) ||
    new Set(parts.map(({ name }) => name)).size < parts.length
  ) {
    throw new Error(
      `the connector of ${distid} plans parts that are not the order: ${JSON.stringify(parts)}`,
    )
  }
  return parts
}
