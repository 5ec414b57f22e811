/**
 * Whether an order that an active rule blocks is refused: it is, unless the operator has turned
 * that off.
 */
import { audit } from '../../accounts/audit.js'
import { invalid } from '../../core/errors.js'
import type { OrdersCtx } from '../ctx.js'

export async function enforcesRestrictions({ read }: Pick<OrdersCtx, 'read'>): Promise<boolean> {
  const row = await read
    .selectFrom('setting')
    .select('value')
    .where('name', '=', 'enforce_restrictions')
    .executeTakeFirst()
  return row?.value !== 'off'
}

/** Turns it on or off. Turning it off needs a reason; both are in the audit. */
export async function setEnforcement(
  ctx: OrdersCtx,
  { on, reason }: { on: boolean; reason: string | null },
): Promise<{ on: boolean; before: boolean }> {
  if (!on && (reason ?? '').trim() === '')
    throw invalid('reason', 'say why: from then on orders that a rule blocks are placed')
  return ctx.engine.atomic(ctx, async (tx) => {
    const before = await enforcesRestrictions(tx)
    await tx.db
      .replaceInto('setting')
      .values({ name: 'enforce_restrictions', value: on ? 'on' : 'off' })
      .execute()
    await audit(tx, 'rules.enforce', { on, before, reason })
    return { on, before }
  })
}
