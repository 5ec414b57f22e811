/** What a distributor says of the dealer that an order would go to, asked before it is placed. */
import { inTime } from '../../core/async/wait.js'
import { SECOND } from '../../core/clock.js'
import { kindOf } from '../../core/errors.js'
import type { DealerAnswer, PurchaseOrder } from '../../distributors/fulfillment.js'
import { loginsOf } from '../../distributors/session/logins.js'
import { openSession } from '../../distributors/session/open-session.js'
import { withoutSecrets } from '../../distributors/session/redact.js'
import { parseLicense } from '../../ffls/license.js'
import { noteOnFile } from '../../ffls/on-file.js'
import { accountSettings } from '../../configuration/account.js'
import type { OrdersCall } from '../ctx.js'
import type { CheckedGroup } from './check-order.js'

/** Milliseconds for an answer. */
const PATIENCE = 20 * SECOND

/**
 * Asks; what is said of the license on file counts from then on. Null where the order goes to no
 * dealer, or its distributor cannot be asked.
 */
export async function askAboutDealer(
  ctx: OrdersCall,
  { connector, distid, ffl }: CheckedGroup,
  content: PurchaseOrder,
): Promise<DealerAnswer | null> {
  const speaker = connector.inLane?.(content.lane)?.askDealer
    ? connector.inLane(content.lane)
    : connector
  const distributor = ctx.distributors.byDistid(distid)
  const settings = await accountSettings(ctx, ctx.subscriber, distid)
  const ask = speaker?.askDealer?.bind(speaker)
  if (ffl === null || !ask || !distributor || !settings) return null
  const mode = ctx.modes.of(distid)
  try {
    const answer = await inTime(
      async (signal) =>
        ask(
          openSession(distributor, {
            settings,
            signal,
            now: ctx.now,
            login: loginsOf(ctx, { distid, mode }),
            egress: ctx.egress,
          }),
          content,
        ),
      {
        ms: PATIENCE,
        late: () => {
          throw new Error('there was no answer in time')
        },
      },
    )
    const license = parseLicense(ffl.licenseNumber)
    if (license && answer.onFile !== null && mode === 'live')
      await noteOnFile(ctx, { distid, license, isOnFile: answer.onFile })
    return answer
  } catch (error) {
    const secrets = Object.entries(distributor.settings)
      .filter(([, { secret }]) => secret)
      .map(([name]) => String(settings[name] ?? ''))
    const said = error instanceof Error ? error.message : kindOf(error)
    return { takes: null, onFile: null, reason: withoutSecrets(said, secrets) }
  }
}
