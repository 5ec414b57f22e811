/** An order as a file that is dropped where its distributor takes it from. */
import type { FoundOrder, PurchaseOrder, Submission } from './fulfillment.js'
import type { FtpFiles } from './session/ftp.js'

/** Bytes of an order's file. */
const LARGEST = 1_048_576

/** A file that is named for its order: the same for every send. */
export interface OrderFile {
  readonly path: string
  readonly text: string
}

/**
 * Written once, under its own name, and only where nothing lies under it: a file that is there is
 * this order, or another of its PO that must not be written over. `isAnswered` says whether the
 * distributor has answered this very order already.
 */
export async function dropOrder(
  files: FtpFiles,
  { path, text }: OrderFile,
  isAnswered: () => Promise<boolean>,
): Promise<Submission> {
  const bytes = Buffer.from(text, 'latin1')
  const waiting = await files.read(path, LARGEST)
  if (waiting !== null)
    return waiting.equals(bytes)
      ? { outcome: 'duplicate', number: null }
      : { outcome: 'not_sent', reason: `another order waits in ${path}` }
  if (await isAnswered()) return { outcome: 'duplicate', number: null }
  await files.upload(path, bytes)
  return { outcome: 'accepted', number: null }
}

/**
 * The order whose file lies there and was not read yet. Another order of the same PO may say the
 * same, so that even the same bytes are no proof of more than what they say.
 */
export async function waitingOrder(
  files: FtpFiles,
  { path, text }: OrderFile,
  { po, lines, shipTo: { name, address1, zip } }: PurchaseOrder,
): Promise<FoundOrder[]> {
  const waiting = await files.read(path, LARGEST)
  if (!waiting?.equals(Buffer.from(text, 'latin1'))) return []
  return [
    {
      number: null,
      po,
      lines: lines.map(({ distsku, qty }) => ({ distsku, qty })),
      shipTo: { name, address1, zip },
    },
  ]
}

/** The same PO, items, units and ZIP: whoever writes it again would order it again. */
export function isSameOrder({ po, lines = [], shipTo }: FoundOrder, order: PurchaseOrder): boolean {
  return (
    po.toUpperCase() === order.po.toUpperCase() &&
    shipTo?.zip?.slice(0, 5) === order.shipTo.zip.slice(0, 5) &&
    unitsOf(lines) === unitsOf(order.lines)
  )
}

function unitsOf(lines: readonly { distsku: string; qty: number }[]): string {
  const sums = new Map<string, number>()
  for (const { distsku, qty } of lines) {
    const key = distsku.trim().toUpperCase()
    sums.set(key, (sums.get(key) ?? 0) + qty)
  }
  return JSON.stringify([...sums].sort(([a], [b]) => (a < b ? -1 : 1)))
}
