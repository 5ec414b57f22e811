/** Looking at orders. */
import { figure } from '../../../../lib/core/figures.js'
import { findSubscriber } from '../../../../lib/accounts/subscribers.js'
import { LIST_STATES } from '../../../../lib/orders/operator/view.js'
import type { App } from '../../../../lib/app/open.js'
import { argument, UsageError, optional } from '../../command.js'
import type { Invocation } from '../../command.js'
import { withApp } from '../../with-app.js'
import { ageText, showOrderLines } from './show-order.js'
import { printable } from '../../faults.js'

const MOST = 1_000

export async function subscriberIdOf(
  { ctx }: App,
  values: Invocation['values'],
): Promise<string | undefined> {
  const named = optional(values, 'subscriber')
  return named === undefined ? undefined : (await findSubscriber(ctx, named)).id
}

export async function list({ dir, values, out }: Invocation): Promise<void> {
  const text = optional(values, 'state') ?? 'open'
  const state = LIST_STATES.find((known) => known === text)
  if (!state) throw new UsageError(`--state must be one of ${LIST_STATES.join(', ')}`)
  const limit = Number(optional(values, 'limit') ?? 50)
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST)
    throw new UsageError(`--limit must be a number from 1 to ${figure(MOST)}`)
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
    for (const { order_id, distid, po_number, paperwork } of orders)
      if (paperwork)
        out.line(
          printable(
            `${order_id} at ${distid}: send ${paperwork.what} by ${paperwork.due} to ` +
              `${paperwork.recipients.join(', ') || 'the address that they gave you'}, ` +
              `subject "${paperwork.subject}" (PO ${po_number})`,
          ),
        )
    if (count > orders.length) out.line(`The newest ${orders.length} of ${figure(count)}.`)
    out.result({ count, orders })
  })
}

export async function show({ dir, args, values, out }: Invocation): Promise<void> {
  const text = argument(args, 0)
  await withApp(dir, async (app) => {
    const orders = await app.operator.orders.show(text, {
      subscriberId: await subscriberIdOf(app, values),
      withTranscripts: values['transcript'] === true,
    })
    for (const order of orders) for (const line of showOrderLines(order)) out.line(printable(line))
    out.result({ orders })
  })
}
