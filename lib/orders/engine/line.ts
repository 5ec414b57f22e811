/**
 * The line to a distributor: connector, account and frozen content of a purchase order, and one
 * call with a time limit.
 */
import type { Subscriber } from '../../accounts/caller.js'
import { SECOND } from '../../core/clock.js'
import type { OrdersCtx } from '../ctx.js'
import { isApiError, kindOf } from '../../core/errors.js'
import { patternOf } from '../../core/text.js'
import type { Fulfillment, PurchaseOrder } from '../../distributors/fulfillment.js'
import { connectorOf } from '../../distributors/modes.js'
import { findDealer } from '../../ffls/find.js'
import type { StoredDealer } from '../../ffls/find.js'
import { accountSettings, fingerprintOf } from '../tracking/account.js'
import { whyUnfit } from '../place/check-destination.js'
import { contentOf } from './content.js'
import type { StoredPo } from '../stored.js'

/** What is needed to talk to a distributor about an order. */
export interface Line {
  connector: Fulfillment
  content: PurchaseOrder
  settings: Readonly<Record<string, unknown>>
  /** Values of its secret settings, which nothing that is written down may repeat. */
  secrets: readonly string[]
  /** Tells accounts at the distributor apart without telling anything of them. */
  account: string
}

/** The line of a purchase order; a text says why there is none. */
export function openLine(ctx: OrdersCtx, order: StoredPo): Line | string {
  const connector = connectorOf(ctx, order.distid, order.mode)
  if (!connector) return `there is no connector for ${order.distid} in mode ${order.mode}`
  try {
    const settings = accountSettings(ctx, { id: order.subscriber_id } as Subscriber, order.distid)
    return settings
      ? {
          connector,
          settings,
          secrets: secretsIn(ctx, order.distid, settings),
          account: fingerprintOf(ctx, order, settings),
          content: contentOf(ctx, order),
        }
      : `${order.distid} is no longer configured`
  } catch (error) {
    ctx.log.error({ err: error, ref: order.client_ref }, 'an order cannot be opened')
    return 'its content or the credentials cannot be opened'
  }
}

/** A shorter text stands in any sentence by chance, and is no secret worth the name. */
const SHORTEST_SECRET = 4

function secretsIn(ctx: OrdersCtx, distid: string, settings: Line['settings']): string[] {
  return Object.entries(ctx.distributors.byDistid(distid)!.settings)
    .filter(([, { secret }]) => secret)
    .map(([name]) => String(settings[name] ?? ''))
    .filter((value) => value.length >= SHORTEST_SECRET)
}

/**
 * A distributor's own words without the credentials that they may repeat: as they are, in another
 * case, in an address, in Base64. Before the words are cut, or half of one would stay.
 */
export function withoutSecrets(text: string, { secrets }: Pick<Line, 'secrets'>): string {
  if (secrets.length === 0) return text
  const spellings = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64'),
  ])
  // The longest first: one may be the beginning of another.
  const patterns = spellings.sort((a, b) => b.length - a.length).map(patternOf)
  return text.replaceAll(new RegExp(patterns.join('|'), 'gi'), '[credential]')
}

/** The account that a subscriber has at a distributor now; null where none is configured. */
export function accountNow(
  ctx: OrdersCtx,
  of: Pick<StoredPo, 'subscriber_id' | 'distid' | 'mode'>,
): string | null {
  const settings = accountSettings(ctx, { id: of.subscriber_id } as Subscriber, of.distid)
  return settings && fingerprintOf(ctx, of, settings)
}

/**
 * Why an order must not go to its dealer any more, or null: between two sends a licence may end, or
 * its premise move (decisions 8.3-4).
 */
export async function dealerFault(
  ctx: Pick<OrdersCtx, 'read' | 'now'>,
  {
    ffl,
    fflRequired,
    sotRequired,
    shipTo,
    shipToStore,
  }: Pick<PurchaseOrder, 'ffl' | 'fflRequired' | 'sotRequired' | 'shipTo' | 'shipToStore'>,
): Promise<string | null> {
  if (!fflRequired) return null
  if (!ffl) return 'it holds a firearm, and names no dealer'
  const dealer = await findDealer(ctx, ffl.licenseNumber).catch((error: unknown) => {
    if (isApiError(error)) return null
    throw error
  })
  const reason = dealer ? whyUnfit(dealer, ctx.now()) : 'it is in the directory no more'
  if (reason !== null) return `the licence ${ffl.licenseNumber} is not good any more: ${reason}`
  if (sotRequired === true && dealer!.sot_on_file !== 1)
    return `the dealer ${ffl.licenseNumber} has no SOT on file any more`
  // The store's address is the subscriber's own, and need not be the licensed premise.
  if (!shipToStore && !isPremise(dealer!, shipTo))
    return `the premise of ${ffl.licenseNumber} is now another than the one that it would ship to`
  return null
}

function isPremise(dealer: StoredDealer, shipTo: PurchaseOrder['shipTo']): boolean {
  const bare = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  return (
    bare(
      dealer.premise_street +
        dealer.premise_city +
        dealer.premise_state +
        dealer.premise_zip.slice(0, 5),
    ) === bare(shipTo.address1 + shipTo.city + shipTo.state + shipTo.zip.slice(0, 5))
  )
}

export interface Called<T> {
  answer: { value: T } | { failed: string }
  /** Resolves when the call itself has ended, which may be long after its answer was given up. */
  ended: Promise<void>
}

/**
 * Runs one call of a connector with a time limit, by a timer of our own: a connector need not look
 * at its signal.
 */
export async function inTime<T>(
  { ctx, signal: closing }: { ctx: OrdersCtx; signal: AbortSignal },
  timeout: number,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<Called<T>> {
  const ending = new AbortController()
  const late = new Promise<{ failed: string }>((resolve) => {
    ending.signal.addEventListener(
      'abort',
      () =>
        resolve({
          failed: closing.aborted
            ? 'the server was stopped while it waited'
            : `no answer within ${Math.round(timeout / SECOND)} s`,
        }),
      { once: true },
    )
  })
  const end = () => ending.abort()
  const timer = setTimeout(end, timeout)
  if (closing.aborted) end()
  else closing.addEventListener('abort', end, { once: true })
  const called = Promise.resolve()
    .then(() => call(ending.signal))
    .then(
      (value) => ({ value }),
      (error: unknown) => {
        // Not the error's own words: they may repeat what was sent.
        ctx.log.warn({ cause: kindOf(error) }, 'a distributor could not be talked to')
        return { failed: `the connection failed (${kindOf(error)})` }
      },
    )
  const answer = await Promise.race([called, late])
  clearTimeout(timer)
  closing.removeEventListener('abort', end)
  return { answer, ended: called.then(() => {}) }
}
