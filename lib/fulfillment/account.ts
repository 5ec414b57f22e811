/** A subscriber's account at a distributor, as connectors are given it. */
import type { Subscriber } from '../accounts/subscribers.js'
import { openSaved } from '../configuration/secrets.js'
import type { OperatorCtx } from '../core/ctx.js'
import { settingsOf } from '../distributors/distributor.js'

/**
 * The settings of a subscriber's saved entry for a distributor, its secrets opened; null where it has none. They are read
 * when they are used: an order that waits is sent with the credentials of today.
 */
export function accountSettings(ctx: OperatorCtx, subscriber: Subscriber, distid: string): Record<string, unknown> | null {
  const saved = ctx.configurations.of(subscriber)
  const name = Object.entries(saved.document.distributors).find(([, entry]) => entry.distid === distid)?.[0]
  const distributor = ctx.distributors.byDistid(distid)
  if (name === undefined || !distributor) return null
  return settingsOf(distributor, openSaved(ctx, subscriber, saved).distributors[name])
}
