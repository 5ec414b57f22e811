/** What Bill Hicks does with a file in its inbox: it takes what it can read for an order. */
import { admit } from '../../../simulator/engine/admit.js'
import type { Line } from '../../../simulator/engine/order.js'
import { answerFile, takeFile } from '../../../simulator/engine/queries.js'
import type { Db } from '../../../simulator/engine/store.js'
import type { Happening, World } from '../../../simulator/engine/world.js'
import type { Posted } from '../../../simulator/wire/posted-order.js'
import { areBroken } from '../../../simulator/wire/posted-order.js'
import { END, LINE_COLUMNS, ORDER_COLUMNS } from './order-file.js'

/** An order as its file has it; null where it cannot be read, or is not whole. */
export function readOrderFile(text: string): Omit<Posted, 'fault'> | null {
  if (!text.endsWith('\r\n')) return null
  const rows = text
    .split('\r\n')
    .slice(0, -1)
    .map((line) => line.split('\t'))
  const [names, order, lineNames, ...lines] = rows
  if (names?.join() !== ORDER_COLUMNS.join() || lineNames?.join() !== LINE_COLUMNS.join())
    return null
  const [mark, customer, , name, address1, , , , zip, po, , , license, end, ...more] = order!
  if (mark !== 'H' || end !== END || more.length > 0 || !customer || !po) return null
  const items = lines.map(([kind, distsku = '', , qty]): Line => ({
    distsku: kind === 'L' ? distsku : '',
    qty: Number(qty),
  }))
  if (items.length === 0 || areBroken(items)) return null
  return {
    po,
    lines: items,
    to: { name: name ?? '', address1: address1 ?? '', zip: zip ?? '' },
    firearms: license !== '',
  }
}

/** What becomes of a file that cannot be read is not known: here, nothing. */
export function readInbox(db: Db, world: World, { profile, account, id, at }: Happening): void {
  const { content, arrival, droppedAt } = takeFile(db, Number(id), at)
  // A file of the release before has no content, and is whole.
  if (content !== '' && readOrderFile(content) === null) return
  const taken = admit(db, world, {
    profile,
    account,
    arrival,
    placedAt: droppedAt,
    executedAt: at,
  })
  const number = taken.outcome === 'accepted' ? taken.number : null
  answerFile(db, Number(id), { answer: '', number })
}
