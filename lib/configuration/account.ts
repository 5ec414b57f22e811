/** A subscriber's account at a distributor, as connectors are given it. */
import type { Subscriber } from '../accounts/caller.js'
import type { ConfigurationCtx } from './ctx.js'
import { isBlank, isCredential, settingsOf } from '../distributors/distributor.js'
import type { Mode } from '../db/tables/column-types.js'
import { openSaved } from './secrets.js'
import { present } from '../core/present.js'

/**
 * The settings of a subscriber's saved entry for a distributor, its secrets opened; null where it
 * has none. They are read when they are used: an order that waits is sent with the credentials of
 * today.
 */
export async function accountSettings(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  distid: string,
): Promise<Record<string, unknown> | null> {
  const saved = await ctx.configurations.of(subscriber)
  const name = Object.entries(saved.document.distributors).find(
    ([, entry]) => entry.distid === distid,
  )?.[0]
  const distributor = ctx.distributors.byDistid(distid)
  if (name === undefined || !distributor) return null
  return settingsOf(distributor, openSaved(ctx, subscriber, saved).distributors[name])
}

/**
 * Tells accounts apart without telling anything of them: by who logs in; a password may change
 * without the account being another. Where there is only a token, it is the token. Two subscribers
 * with one login have one account, so the digest is the operator's.
 */
export function fingerprintOf(
  { distributors, secrets }: ConfigurationCtx,
  { distid, mode }: { distid: string; mode: Mode },
  settings: Readonly<Record<string, unknown>>,
): string {
  const given = Object.entries(present(distributors.byDistid(distid), distid).settings).filter(
    ([name, setting]) => isCredential(setting) && !isBlank(settings[name]),
  )
  const names = given.filter(([, { secret }]) => !secret)
  return secrets
    .of('operator')
    .fingerprint(
      JSON.stringify([
        distid,
        mode,
        (names.length > 0 ? names : given).map(([name]) => [name, String(settings[name])]),
      ]),
    )
}
