/** Records of the order history for benchmarks: the same for the same number. */
import { DAY } from '../../lib/core/clock.js'
import type { Raw } from '../../lib/db/sqlite/sqlite.js'
import { randomFrom } from './offers.js'

const DAYS = 1_000
const START = Date.UTC(2024, 0, 1)
/** A PO that a caller puts on one order in a hundred. */
export const SHARED_PO = 'COUNTER'

const STATUSES = [
  'Fulfilled',
  'Fulfilled',
  'Fulfilled',
  'Fulfilled',
  'Fulfilled',
  'Fulfilled',
  'Fulfilled',
  'Submitted',
  'Cancelled',
  'Backordered',
  'Not Fulfilled',
] as const
const DISTIDS = ['RSR', 'LIP', 'CSSI', 'TSW', 'ZND', '2AW', 'BILL']
const FIRST = ['James', 'Mary', 'Robert', 'Patricia', 'José', 'Linda', 'William', 'Ángel']
const LAST = ['Smith', 'Johnson', 'Peña', 'Brown', 'Jones', 'Garcia', 'Miller', 'Davis', 'Núñez']

/**
 * Records and parcels as the engine and the monitors would leave them; the triggers do their part.
 */
export function fillHistory(
  raw: Raw,
  {
    subscriber: own,
    records,
    others = [],
    ofEach = 0,
  }: { subscriber: string; records: number; others?: readonly string[]; ofEach?: number },
): void {
  const random = randomFrom(7)
  const pick = <T>(of: readonly T[]): T => of[random.below(of.length)]!
  const placement = raw.prepare(
    "INSERT INTO placement VALUES (?, ?, ?, 1, NULL, 'live', '', ?, 1, 0)",
  )
  const order = raw.prepare(
    `INSERT INTO fulfillment_order VALUES (${Array(25).fill('?').join(', ')})`,
  )
  const parcel = raw.prepare(
    'INSERT INTO parcel (fulfillment_order_id, subscriber_id, tracking_number, status, ' +
      'updated_at) VALUES (?, ?, ?, ?, ?)',
  )
  const failure = raw.prepare(
    'INSERT INTO failed_placement (placement_id, fulfillment_order_id, subscriber_id, ' +
      'failed_at, order_source, order_id, po_number, po_given, distid, reason) VALUES (?, ?, ?, ' +
      "?, 'cockpit_cart', ?, ?, ?, ?, 'Out of stock')",
  )
  let id = raw.prepare('SELECT coalesce(max(id), 0) FROM placement').pluck().get() as number
  const add = (subscriber: string, n: number, of: number) => {
    id++
    const status = pick(STATUSES)
    const at = START + Math.floor((DAYS * DAY * n) / of)
    const [orderId, isShipped] = [`W-${100_000 + n}`, status === 'Fulfilled']
    const po = n % 100 === 0 ? SHARED_PO : `${orderId}-AB9Z-010`
    const tracking = isShipped
      ? `1Z${1_000_000_000 + random.below(9e8)}${100_000_000 + random.below(9e8)}`
      : null
    placement.run(id, subscriber, orderId, at)
    order.run(
      id,
      id,
      0,
      subscriber,
      orderId,
      n % 50 === 0 ? 'counter' : 'cockpit_cart',
      at,
      pick(DISTIDS),
      'live',
      1,
      status,
      String(7_000_000 + n),
      po,
      po,
      null,
      `${pick(FIRST)} ${pick(LAST)}`,
      0,
      0,
      '[{"distsku":"RL-15-556","upc":"860001234503","qty":1}]',
      isShipped ? new Date(at + 2 * DAY).toISOString().slice(0, 10) : null,
      isShipped ? 'UPS' : null,
      isShipped ? 'Ground' : null,
      isShipped ? (n > of * 0.98 ? 'in_transit' : 'delivered') : null,
      tracking,
      tracking && `https://www.ups.com/track?tracknum=${tracking}`,
    )
    if (tracking !== null) parcel.run(id, subscriber, tracking, 'delivered', at)
    if (n % 20 === 0) failure.run(id, id, subscriber, at, orderId, po, po, pick(DISTIDS))
  }
  for (let n = 1; n <= records; n++) {
    if (n % 20_000 === 1) raw.exec(n === 1 ? 'BEGIN' : 'COMMIT; BEGIN')
    add(own, n, records)
    // The others' orders come in between.
    if (others.length > 0 && n % (records / ofEach) === 0)
      for (const other of others) add(other, n / (records / ofEach), ofEach)
  }
  raw.exec('COMMIT')
}
