/** An operator pauses orders: for a while, or because some may have been forgotten. */
import { invalid } from '../../core/errors.js'
import { present } from '../../core/present.js'
import type { OrdersCtx } from '../ctx.js'
import { pauseOrders, readPause } from '../engine/pause.js'
import type { Pause } from '../engine/pause.js'

/** Characters of a reason: every page shows it. */
const LONGEST = 200

export interface PauseWanted {
  reason: string
  /**
   * Milliseconds since 1970: what was sent since then may have been forgotten, as after a database
   * was restored. Orders that count as never sent are looked up then before they are sent.
   */
  forgottenSince?: number | undefined
}

/**
 * Pauses orders on all nodes until `lookBack` lets them go on: new ones are refused with 503, and
 * nothing more is sent once this has returned, but what had been claimed before. A pause that holds
 * already gains the reason. Throws 400 for a reason that is empty or over 200 characters, and for a
 * time that lies in the future.
 */
export async function pauseByOperator(
  ctx: OrdersCtx,
  { reason, forgottenSince }: PauseWanted,
): Promise<Pause> {
  const said = reason.trim()
  if (said === '' || said.length > LONGEST)
    throw invalid('reason', `say why, in 1 to ${LONGEST} characters`)
  if (forgottenSince !== undefined && forgottenSince > ctx.now())
    throw invalid('forgotten_since', 'lies in the future')
  await pauseOrders(ctx, {
    reason: said,
    isForgetful: forgottenSince !== undefined,
    isWanted: true,
    ...(forgottenSince !== undefined && { lookBackTo: forgottenSince }),
  })
  return present(await readPause(ctx), 'the pause')
}
