/** Looking back: what became of open orders, and which were forgotten. */
import type { LookBack } from '../../../../lib/orders/operator/reconcile.js'
import { UsageError, optional } from '../../command.js'
import type { Invocation } from '../../command.js'
import { withApp } from '../../with-app.js'
import type { Output } from '../../output.js'
import { printable } from '../../faults.js'

/** A time in UTC unless it says otherwise, milliseconds. Throws a UsageError. */
export function timeOf(text: string, name: string): number {
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

export async function reconcile({ dir, values, out, dryRun }: Invocation): Promise<number> {
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
      out.line('Orders stay paused: look at what is in doubt, then repeat this with --yes.')
    out.result({ ...report, dry_run: dryRun })
    return resume && !dryRun && report.paused ? 1 : 0
  })
}

function showReport(out: Output, report: LookBack, dryRun: boolean): void {
  const { open_before: before, open, review, adopted, others, in_doubt: doubts, since } = report
  out.line(
    dryRun
      ? `${before} purchase orders are open and would be looked for at their distributors.`
      : `${before} purchase orders were open; of ${open} it is still not known what became ` +
          'of ' +
          'them' +
          (report.timed_out ? ' (the server did not get to all of them within a minute)' : '') +
          '.',
  )
  if (review > 0)
    out.line(
      `${review} wait for a person: \`orders list --state review\`, \`orders show\`, ` +
        '`orders resolve`.',
    )
  if (since !== null) {
    out.line(
      `Orders since ${since} that were forgotten and ${dryRun ? 'would be' : 'are'} taken ` +
        `in: ${adopted.length}.`,
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
      out.line('Accounts that may have more orders than they report:')
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
