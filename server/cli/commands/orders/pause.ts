/** Pausing orders. */
import { optional, required } from '../../command.js'
import type { Invocation } from '../../command.js'
import { printable } from '../../faults.js'
import { perform, withApp } from '../../with-app.js'
import { pauseByOperator } from '../../../../lib/orders/operator/pause.js'
import { timeOf } from './reconcile.js'

export async function pause({ dir, values, out, dryRun }: Invocation): Promise<void> {
  const reason = required(values, 'reason', 'orders pause --reason "the warehouse is closed"')
  const since = optional(values, 'forgotten-since')
  const forgottenSince = since === undefined ? undefined : timeOf(since, '--forgotten-since')
  await withApp(dir, async (app) => {
    const paused = await perform(app, dryRun, (ctx) =>
      pauseByOperator(ctx, { reason, forgottenSince }),
    )
    out.line(
      printable(`Orders ${dryRun ? 'would be' : 'are'} paused: ${paused.reason}.`) +
        (dryRun ? '' : ' `orders reconcile --resume` lets them go on.'),
    )
    out.result({ paused, dry_run: dryRun })
  })
}
