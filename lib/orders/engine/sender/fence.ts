/** What one node alone may do, once there are several: it holds on to its epoch, or does nothing. */
import type { SenderCtx } from './ctx.js'

type Fenced = Pick<SenderCtx, 'engine' | 'epoch'>

/** In the transaction of a write that needs the lead. Throws `LeadLost` where it is over. */
export async function fence(tx: Fenced & Pick<SenderCtx, 'db'>): Promise<void> {
  const { engine, epoch } = tx
  if (epoch !== null) await engine.lead?.fence(tx.db, epoch)
}

/**
 * Why nothing may leave for a distributor any more: another node may soon be sending. Null where it
 * may. To be asked right before it leaves, when the connection is there.
 */
export function whyTooLate({ engine: { lead }, epoch }: Fenced): string | null {
  if (lead === null || (epoch !== null && lead.mayBegin(epoch))) return null
  return 'another node may be about to send'
}
