import type { OperatorCtx } from '../core/ctx.js'

/** Records an operator's act in the transaction of the act itself. `detail` holds no secret. */
export async function audit(ctx: OperatorCtx, action: string, detail: unknown): Promise<void> {
  await ctx.db.insertInto('audit').values({ at: ctx.now(), actor: ctx.actor, action, detail: JSON.stringify(detail) }).execute()
}
