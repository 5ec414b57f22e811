/** What Hicks Inc. does with a file in its inbox: it takes what it can read for an order. */
import { admit } from '../../../simulator/engine/admit.js'
import { answerFile, takeFile } from '../../../simulator/engine/queries.js'
import type { Db } from '../../../simulator/engine/store.js'
import type { Happening, World } from '../../../simulator/engine/world.js'
import { areBroken } from '../../../simulator/wire/posted-order.js'
import type { Posted } from '../../../simulator/wire/posted-order.js'
import { ORDER_COLUMNS } from './order-file.js'

/** An order as its file has it; null where it cannot be read, or is not whole. */
export function readOrderFile(text: string): Omit<Posted, 'fault'> | null {
  if (!text.endsWith('\r\n')) return null
  const rows = text
    .split('\r\n')
    .slice(0, -1)
    .map((line) => line.split('\t'))
  const [[, po = '', name = '', address1 = '', , , , zip = '', , , , license = ''] = []] = rows
  const lines = rows.map((cells) => ({ distsku: cells[8] ?? '', qty: Number(cells[9]) }))
  const isWhole = rows.every(
    (cells) => cells.length === ORDER_COLUMNS.length && cells[1] === po && cells[7] === zip,
  )
  if (po === '' || rows.length === 0 || !isWhole || areBroken(lines)) return null
  return { po, lines, to: { name, address1, zip }, firearms: license !== '' }
}

/**
 * What becomes of a file that cannot be read is not known: here, nothing. Nothing stands at the end
 * of one, so that half of it, cut between two rows, is an order of fewer items.
 */
export function readInbox(db: Db, world: World, { profile, account, id, at }: Happening): void {
  const { content, arrival, droppedAt } = takeFile(db, Number(id), at)
  const order = readOrderFile(content)
  if (order === null) return
  const taken = admit(db, world, {
    profile,
    account,
    arrival: { ...arrival, lines: order.lines },
    placedAt: droppedAt,
    executedAt: at,
  })
  const number = taken.outcome === 'accepted' ? taken.number : null
  answerFile(db, Number(id), { answer: '', number })
}
