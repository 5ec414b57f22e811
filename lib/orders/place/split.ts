/** Which items go to a distributor in one order (contract "Place order": splitting). */

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
  const same = lines.findIndex(({ distsku }) => distsku === line.distsku)
  if (same < 0) lines.push({ ...line })
  else
    lines[same] = {
      ...lines[same]!,
      qty: lines[same]!.qty + line.qty,
      fflRequired: lines[same]!.fflRequired || line.fflRequired,
    }
}
