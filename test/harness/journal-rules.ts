/**
 * The journal: an unbroken chain, the same in database and file, from which the state of every
 * purchase order follows.
 */
import type { IntentData } from '../../lib/orders/place/intent.js'
import type { StateData } from '../../lib/orders/engine/transitions.js'
import type { Books, Expectations, Report } from './invariants.js'

export function journalDiffers(books: Books, { isDrained }: Expectations, report: Report): void {
  if (books.chainFault !== null) report('journal', books.chainFault)
  books.file.forEach((line, i) => {
    if (line !== books.lines[i])
      report('journal', `line ${i + 1} of the file is not that of the database`)
  })
  if (isDrained && books.file.length !== books.lines.length)
    report('journal', `the file has ${books.file.length} lines, the database ${books.lines.length}`)
  const told = replayed(books, report)
  for (const { content: _, ...row } of books.purchaseOrders) {
    const line = told.get(row.id)
    told.delete(row.id)
    if (!line) report('journal', `purchase order ${row.id} is in no line`)
    else
      for (const [name, value] of Object.entries(row))
        if ((line[name] ?? null) !== value)
          report(
            'journal',
            `${row.client_ref}: ${name} is ${value}, and by the journal ${String(line[name])}`,
          )
  }
  for (const id of told.keys())
    report('journal', `the journal tells of purchase order ${id}, which the database does not have`)
}

/** Rows as the lines tell of them. */
function replayed(
  { journal, placements }: Books,
  report: Report,
): Map<number, Record<string, unknown>> {
  const rows = new Map<number, Record<string, unknown>>()
  const known = new Set(placements.map(({ id }) => id))
  for (const { kind, data, seq } of journal) {
    if (kind === 'intent') {
      const { placement, purchaseOrders } = data as IntentData
      if (!known.delete(placement.id))
        report(
          'journal',
          `line ${seq} tells of placement ${placement.id}, which the database does not have`,
        )
      for (const order of purchaseOrders) rows.set(order.id, { ...order })
    } else if (kind === 'state') {
      const { id, from, set } = data as StateData
      const row = rows.get(id)
      if (row?.state !== from)
        report(
          'journal',
          `line ${seq} moves purchase order ${id} on from ${from}, and it was ${String(row?.state)}`,
        )
      else Object.assign(row, set)
    }
  }
  for (const id of known) report('journal', `placement ${id} is in no line`)
  return rows
}
