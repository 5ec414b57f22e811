/** Work that only the node that leads may do, and what it writes. */
import type { DbCtx } from './ctx.js'
import type { Engine } from './engine.js'

/**
 * The context of such work, from its begin on: each of its transactions throws `LeadLost` in place of
 * its commit once that epoch is over, so that a node which froze writes nothing over what another
 * one has done since. The same context where there is one folder, and for who does not lead: a
 * command that was told to do it.
 */
export function asLeader<C extends DbCtx>(ctx: C): C {
  const { engine } = ctx
  const { lead } = engine
  const epoch = lead?.epoch ?? null
  if (lead === null || epoch === null) return ctx
  const atomic: Engine['atomic'] = (given, fn, options) =>
    given.db.isTransaction
      ? fn(given)
      : engine.atomic(
          given,
          async (tx) => {
            const result = await fn(tx)
            // Last: while it is held, nobody else can begin to lead.
            await lead.fence(tx.db, epoch)
            return result
          },
          options,
        )
  return { ...ctx, engine: Object.create(engine, { atomic: { value: atomic } }) as Engine }
}
