/** Settling what nobody could find out. */
import { resolveOrder } from '../../../../lib/orders/operator/resolve.js'
import type { Resolution, Verdict } from '../../../../lib/orders/operator/resolve.js'
import { argument, UsageError, optional, required } from '../../command.js'
import type { Invocation } from '../../command.js'
import { perform, withApp } from '../../with-app.js'
import { subscriberIdOf } from './show.js'
import { printable } from '../../faults.js'

function verdictIn(values: Invocation['values']): Verdict {
  const [number, next, reason] = [
    optional(values, 'placed'),
    optional(values, 'absent'),
    optional(values, 'reason'),
  ]
  if ((number === undefined) === (next === undefined))
    throw new UsageError(
      `give either --placed NUMBER or --absent resend|refuse. For example: ${RESOLVE}`,
    )
  if (number !== undefined) return { verdict: 'placed', number, reason }
  if (next !== 'resend' && next !== 'refuse')
    throw new UsageError('--absent must be resend (send it once more) or refuse (end it)')
  return { verdict: 'absent', next, reason: required(values, 'reason', RESOLVE) }
}

export async function resolve({ dir, args, values, out, dryRun }: Invocation): Promise<number> {
  const order = argument(args, 0)
  const verdict = verdictIn(values)
  const isTrial = dryRun || values['yes'] !== true
  return withApp(dir, async (app) => {
    const subscriberId = await subscriberIdOf(app, values)
    const done = await perform(app, isTrial, (ctx) =>
      resolveOrder(ctx, { order: order, subscriberId, ...verdict }),
    )
    out.line(printable(resolutionLine(done, verdict, isTrial)))
    if (isTrial && !dryRun)
      out.line(
        'Nothing was changed. A purchase cannot be taken back: make sure, then repeat this ' +
          'with --yes.',
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
  return (
    `${what} ${isTrial ? 'would be' : 'is'} sent again: by the server that runs, within a ` +
    'second. Without one, `orders reconcile` sends it; after 15 minutes it is given up.'
  )
}

export const RESOLVE =
  'quartermaster orders resolve W-1001 --placed 4711234 --reason "their desk, by telephone" --yes'
