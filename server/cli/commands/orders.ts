/**
 * What the operator does with orders: looks at them, settles what nobody could find out, looks
 * back, proves the journal.
 */
import { findSubscriber } from '../../../lib/accounts/subscribers.js'
import type { LookBack } from '../../../lib/orders/operator/look-back.js'
import { LIST_STATES } from '../../../lib/orders/operator/view.js'
import type { FetchedJournal } from '../../../lib/orders/journal/fetch.js'
import { resolveOrder } from '../../../lib/orders/operator/resolve.js'
import type { Resolution, Verdict } from '../../../lib/orders/operator/resolve.js'
import type { App } from '../../../lib/app/open.js'
import { UsageError, optional, required } from '../command.js'
import type { Command, Invocation, Output } from '../command.js'
import { perform, withApp } from '../with-app.js'
import { anchorIn } from './audit.js'
import { printable } from './configuration.js'
import { preflightCommand } from './preflight.js'
import { ageText, showOrderLines } from './show-order.js'

const MOST = 1_000

async function subscriberIdOf(
  { ctx }: App,
  values: Invocation['values'],
): Promise<string | undefined> {
  const named = optional(values, 'subscriber')
  return named === undefined ? undefined : (await findSubscriber(ctx, named)).id
}

async function list({ dir, values, out }: Invocation): Promise<void> {
  const text = optional(values, 'state') ?? 'open'
  const state = LIST_STATES.find((known) => known === text)
  if (!state) throw new UsageError(`--state must be one of ${LIST_STATES.join(', ')}`)
  const limit = Number(optional(values, 'limit') ?? 50)
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST)
    throw new UsageError(`--limit must be a number from 1 to ${MOST.toLocaleString('en-US')}`)
  await withApp(dir, async (app) => {
    const { count, orders } = await app.operator.orders.list({
      state,
      limit,
      subscriberId: await subscriberIdOf(app, values),
    })
    out.table(
      orders.map(
        ({ id, order_id, distid, state: now, age, po_number, distributor_order_id, reason }) => ({
          id,
          order_id,
          distid,
          state: now,
          age: ageText(age),
          po_number,
          number: distributor_order_id,
          reason: reason === null ? null : printable(reason),
        }),
      ),
    )
    if (count > orders.length)
      out.line(`The newest ${orders.length} of ${count.toLocaleString('en-US')}.`)
    out.result({ count, orders })
  })
}

async function show({ dir, args: [text], values, out }: Invocation): Promise<void> {
  await withApp(dir, async (app) => {
    const orders = await app.operator.orders.show(text!, {
      subscriberId: await subscriberIdOf(app, values),
    })
    for (const order of orders) for (const line of showOrderLines(order)) out.line(printable(line))
    out.result({ orders })
  })
}

function verdictIn(values: Invocation['values']): Verdict {
  const [number, next, reason] = [
    optional(values, 'placed'),
    optional(values, 'absent'),
    optional(values, 'reason'),
  ]
  if ((number === undefined) === (next === undefined))
    throw new UsageError(
      `say either --placed NUMBER or --absent resend|refuse. For example: ${RESOLVE}`,
    )
  if (number !== undefined) return { verdict: 'placed', number, reason }
  if (next !== 'resend' && next !== 'refuse')
    throw new UsageError('--absent must be resend (send it once more) or refuse (end it)')
  return { verdict: 'absent', next, reason: required(values, 'reason', RESOLVE) }
}

async function resolve({ dir, args: [order], values, out, dryRun }: Invocation): Promise<number> {
  const verdict = verdictIn(values)
  const isTrial = dryRun || values['yes'] !== true
  return withApp(dir, async (app) => {
    const subscriberId = await subscriberIdOf(app, values)
    const done = await perform(app, isTrial, (ctx) =>
      resolveOrder(ctx, { order: order!, subscriberId, ...verdict }),
    )
    out.line(printable(resolutionLine(done, verdict, isTrial)))
    if (isTrial && !dryRun)
      out.line(
        'Nothing was changed. A purchase cannot be taken back: make sure of it, and say --yes.',
      )
    out.result({ ...done, dry_run: isTrial })
    return isTrial && !dryRun ? 1 : 0
  })
}

function resolutionLine(
  {
    id,
    order_id: orderId,
    distid,
    po_number: po,
    before,
    distributor_order_id: number,
  }: Resolution,
  verdict: Verdict,
  isTrial: boolean,
): string {
  const what = `Purchase order ${id} of ${orderId} (${distid}, PO ${po}), ${before} until now,`
  if (verdict.verdict === 'placed')
    return `${what} ${isTrial ? 'would be' : 'is'} placed as ${number}.`
  if (verdict.next === 'refuse')
    return `${what} ${isTrial ? 'would be' : 'is'} refused: ${verdict.reason}`
  return `${what} ${isTrial ? 'would be' : 'is'} sent again: by the server that runs, within a second. Without one, \`orders reconcile\` sends it; after 15 minutes it is given up.`
}

/** A time in UTC unless it says otherwise. */
function timeOf(text: string, name: string): number {
  const [, day, time, zone] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/.exec(text) ?? []
  const ms =
    day === undefined ? NaN : Date.parse(time === undefined ? day : `${day}T${time}${zone ?? 'Z'}`)
  if (Number.isNaN(ms))
    throw new UsageError(
      `${name} "${text}" is not a time; write 2026-11-21 or 2026-11-21T10:00:00Z`,
    )
  return ms
}

async function reconcile({ dir, values, out, dryRun }: Invocation): Promise<number> {
  const text = optional(values, 'since')
  const since = text === undefined ? undefined : timeOf(text, '--since')
  const [resume, acknowledged] = [values['resume'] === true, values['yes'] === true]
  return withApp(dir, async (app) => {
    if (since !== undefined && since > app.ctx.now())
      throw new UsageError(`--since ${text} lies in the future`)
    await app.ctx.catalog.refresh()
    const report = await app.operator.orders.lookBack({ since, resume, acknowledged, dryRun })
    showReport(out, report, dryRun)
    if (resume && !dryRun && report.paused)
      out.line('Orders stay paused: look at what is in doubt, then say --resume --yes.')
    out.result({ ...report, dry_run: dryRun })
    return resume && !dryRun && report.paused ? 1 : 0
  })
}

function showReport(out: Output, report: LookBack, dryRun: boolean): void {
  const { open_before: before, open, review, adopted, others, in_doubt: doubts, since } = report
  out.line(
    dryRun
      ? `${before} purchase orders are open and would be looked for at their distributors.`
      : `${before} purchase orders were open; of ${open} it is still not known what became of them${report.timed_out ? ' (the server has not got to all of them within a minute)' : ''}.`,
  )
  if (review > 0)
    out.line(
      `${review} wait for a person: \`orders list --state review\`, \`orders show\`, \`orders resolve\`.`,
    )
  if (since !== null) {
    out.line(
      `Orders since ${since} that were forgotten and ${dryRun ? 'would be' : 'are'} taken in: ${adopted.length}.`,
    )
    if (adopted.length > 0)
      out.table(
        adopted.map(({ order_id, distid, po_number, distributor_order_id: number, at }) => ({
          order_id,
          distid,
          po_number: printable(po_number),
          number,
          at,
        })),
      )
    if (others.length > 0) {
      out.line('Orders of your accounts that are known neither here nor by their PO:')
      out.table(
        others.map(({ distid, po_number, distributor_order_id: number, at, reason }) => ({
          distid,
          po_number: printable(po_number),
          number,
          at,
          reason,
        })),
      )
    }
    if (doubts.length > 0) {
      out.line('Accounts that may have more than they tell:')
      out.table(
        doubts.map(({ subscriber, distid, mode, reason }) => ({
          subscriber,
          distid,
          mode,
          reason,
        })),
      )
    }
  }
  if (report.resumed) out.line('Orders are placed again.')
  else if (report.paused) out.line(printable(`Orders are paused: ${report.paused.reason}.`))
}

async function verify({ dir, values, out }: Invocation): Promise<number> {
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
      const count = (n: number) => n.toLocaleString('en-US')
      if (found.sound)
        out.line(
          `${count(found.lines)} lines are as they were written, and ${count(found.purchase_orders)} purchase orders are what they say.${found.file.pending > 0 ? ` ${count(found.file.pending)} of them come into orders.journal with the next order.` : ''}`,
        )
      if (found.copy)
        out.line(
          `The copy outside of this machine has lines ${count(found.copy.from)} to ${count(found.copy.to)}, written until ${found.copy.written_until}${found.copy.pending > 0 ? `; ${count(found.copy.pending)} more come into it while a server runs` : ''}.`,
        )
      if (found.head)
        out.line(
          `Head: ${found.head.seq}:${found.head.mac}${found.sound ? ' (keep it elsewhere: with --anchor it proves later that nothing was cut off)' : ''}`,
        )
      out.result(found)
      return found.sound ? 0 : 1
    },
    { journalCopy: values['journal-copy'] === true },
  )
}

async function fetchCopy({ dir, values, out, dryRun }: Invocation): Promise<void> {
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
  const count = (n: number) => n.toLocaleString('en-US')
  return [
    `${count(lines)} lines of the journal, written until ${until}, ${dryRun ? 'would be' : 'are'} in ${file}: a whole chain from the first line on.${own > 0 ? ` ${count(own)} of them are the database's, since the copy lacks them.` : ''}`,
    missing === null
      ? 'The database goes on with other lines than these: the file fits a backup that was made before they part, not this folder.'
      : missing === 0
        ? 'The database has all of them.'
        : `The database lacks the last ${count(missing)} of them.`,
    ...(missing === 0
      ? []
      : [
          `With the server stopped, put it in the place of orders.journal in ${missing === null ? 'the folder, and restore such a backup over it' : 'the folder; the next start writes down what it tells, and pauses orders'}.`,
        ]),
  ]
}

const RESOLVE =
  'quartermaster orders resolve W-1001 --placed 4711234 --reason "their desk, by telephone" --yes'
const FETCH = 'quartermaster orders journal fetch --to /safe/orders.journal'
const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const WHOSE = {
  subscriber: 'name or id of the shop; needed where two shops have the same order_id',
}
const WHICH = { '<ORDER>': 'an order_id, or the id or the reference of a purchase order' }

export const orderCommands: Command[] = [
  preflightCommand,
  {
    name: 'orders list',
    summary: 'Purchase orders that are open, or that wait for a person',
    effect: 'reads',
    options: { subscriber: text, state: text, limit: text },
    help: {
      subscriber: 'name or id of the shop; all by default',
      state:
        'review (waits for a person), unknown (being found out), open (both, and what is being sent; the default), all',
      limit: '50 by default',
    },
    example: 'quartermaster orders list --state review',
    run: list,
  },
  {
    name: 'orders show',
    summary: 'One order with everything that happened to it',
    effect: 'reads',
    positionals: ['<ORDER>'],
    options: { subscriber: text },
    help: { ...WHICH, ...WHOSE },
    example: 'quartermaster orders show W-1001',
    run: show,
  },
  {
    name: 'orders resolve',
    summary:
      'Settle a purchase order of which nobody could find out what became; without --yes it shows what it would do',
    effect: 'writes',
    positionals: ['<ORDER>'],
    options: { placed: text, absent: text, reason: text, subscriber: text, yes: flag },
    help: {
      ...WHICH,
      placed: 'the distributor has it: its number there',
      absent: 'the distributor does not have it: resend sends it once more, refuse ends it',
      reason: 'why; needed for --absent, where the caller of the API is told it',
      ...WHOSE,
      yes: 'do it',
    },
    example: RESOLVE,
    run: resolve,
  },
  {
    name: 'orders reconcile',
    summary: 'Find out now what became of open orders, and look for forgotten ones',
    effect: 'writes',
    options: { since: text, resume: flag, yes: flag },
    help: {
      since:
        'ask distributors for orders since this time that are not known here; after a restore, the time of the backup, which is then the default',
      resume: 'let orders be placed again, if nothing is in doubt',
      yes: 'you have looked at what is in doubt',
    },
    example: 'quartermaster orders reconcile --since 2026-11-21T10:00:00Z --resume',
    run: reconcile,
  },
  {
    name: 'orders journal verify',
    summary:
      'Prove that the journal of orders is whole, in every copy, and that the orders are what it says',
    effect: 'reads',
    options: { anchor: text, 'journal-copy': flag },
    help: {
      anchor: 'SEQ:MAC of an earlier head: proves that nothing up to it was cut off',
      'journal-copy':
        'compare with the copy in the bucket of QUARTERMASTER_S3_*, too (also QUARTERMASTER_JOURNAL_COPY=1)',
    },
    example:
      'quartermaster orders journal verify --anchor 1042:kZ0h1x0v8m3q5s7u9w1y3A5C7E9G1I3K5M7O9Q1S3U4',
    run: verify,
  },
  {
    name: 'orders journal fetch',
    summary:
      'Bring the journal back from its copy in the bucket of QUARTERMASTER_S3_*: opened, proved, and written as an orders.journal',
    effect: 'writes',
    options: { to: text, head: text },
    help: {
      to: 'the file to write; one that is there is never replaced',
      head: 'SEQ:MAC of the journal that is wanted, where the copy has several: after a machine was set back',
    },
    example: FETCH,
    run: fetchCopy,
  },
]
