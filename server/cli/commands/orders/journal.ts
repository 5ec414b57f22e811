/** Proving the journal of orders, and bringing it back. */
import { figure } from '../../../../lib/core/figures.js'
import type { FetchedJournal } from '../../../../lib/orders/journal/fetch.js'
import { required } from '../../command.js'
import type { Invocation } from '../../command.js'
import { withApp } from '../../with-app.js'
import { anchorIn } from '../audit.js'
import { printable } from '../../faults.js'

export async function verify({ dir, values, out }: Invocation): Promise<number> {
  const anchor = anchorIn(values)
  return withApp(
    dir,
    async (app) => {
      const found = await app.operator.orders.verifyJournal({
        onProgress: out.progress('verifying', 'lines'),
        anchor,
      })
      for (const { where, seq: at, fault } of found.faults)
        out.line(printable(at === null ? `${where}: ${fault}` : `${where}, line ${at}: ${fault}`))
      if (found.sound)
        out.line(
          `${figure(found.lines)} lines are as they were written, and ` +
            `${figure(found.purchase_orders)} purchase orders are what they ` +
            'say.' +
            (found.file.pending > 0
              ? ` ${figure(found.file.pending)} of them come into orders.journal with the next order.`
              : ''),
        )
      if (found.copy)
        out.line(
          `The copy outside of this machine has lines ${figure(found.copy.from)} to ` +
            `${figure(found.copy.to)}, written until ` +
            `${found.copy.written_until}` +
            (found.copy.pending > 0
              ? `; ${figure(found.copy.pending)} more come into it while a server runs`
              : '') +
            '.',
        )
      if (found.head)
        out.line(
          'Head: ' +
            `${found.head.seq}:${found.head.mac}` +
            (found.sound
              ? ' (keep it elsewhere: with --anchor it proves later that nothing was cut off)'
              : ''),
        )
      out.result(found)
      return found.sound ? 0 : 1
    },
    { journalCopy: values['journal-copy'] === true },
  )
}

export async function fetchCopy({ dir, values, out, dryRun }: Invocation): Promise<void> {
  const head = anchorIn(values, 'head')
  const to = required(values, 'to', FETCH)
  await withApp(
    dir,
    async (app) => {
      const fetched = await app.operator.orders.fetchJournal({
        to,
        head,
        dryRun,
        onProgress: out.progress('fetching', 'lines'),
      })
      for (const line of fetchedLines(fetched, dryRun)) out.line(line)
      out.result({ ...fetched, dry_run: dryRun })
    },
    { journalCopy: true },
  )
}

function fetchedLines(
  { file, lines, written_until: until, from_database: own, missing_here: missing }: FetchedJournal,
  dryRun: boolean,
): string[] {
  return [
    `${figure(lines)} lines of the journal, written until ${until}, ` +
      `${dryRun ? 'would be' : 'are'} in ${file}: a whole chain from the first line ` +
      'on.' +
      (own > 0 ? ` ${figure(own)} of them are the database's, since the copy lacks them.` : ''),
    missing === null
      ? 'The database goes on with other lines than these: the file fits a backup that was ' +
        'made before they part, not this folder.'
      : missing === 0
        ? 'The database has all of them.'
        : `The database lacks the last ${figure(missing)} of them.`,
    ...(missing === 0
      ? []
      : [
          'With the server stopped, put it in the place of orders.journal in ' +
            (missing === null
              ? 'the folder, and restore such a backup over it'
              : 'the folder; the next start writes down what it tells, and pauses orders') +
            '.',
        ]),
  ]
}

export const FETCH = 'quartermaster orders journal fetch --to /safe/orders.journal'
