/**
 * Going live with a distributor: from then on its orders cost real money. What it means is told
 * first, and the credentials of every shop are checked at the real one.
 */
import { ApiError, invalid } from '../core/errors.js'
import { isBlank, isCredential } from '../distributors/distributor.js'
import type { Distributor } from '../distributors/distributor.js'
import { setMode } from '../distributors/modes.js'
import type { Subscriber } from '../accounts/caller.js'
import { checkCredentials, recordCredentialCheck } from './credentials.js'
import type { ConfigurationCtx } from './ctx.js'
import { present } from '../core/present.js'
import { givenSettings } from './secrets.js'

/** A shop whose orders will be real. */
export interface LiveShop {
  subscriber: string
  /** The names of its accounts there, without anything secret. */
  accounts: string[]
  /** What the real distributor says of its credentials; null where it could not be asked. */
  valid: boolean | null
}

export interface GoLivePlan {
  distid: string
  distributor: string
  /** Where orders will be sent. */
  addresses: string[]
  shops: LiveShop[]
}

/**
 * What would be sent where, and on whose account; asks the distributor about every shop's
 * credentials, and changes nothing. Throws 400 for one that is not known, cannot be live, or that no
 * shop has configured; also while a node that serves has another document of it than the database.
 */
export async function planGoLive(ctx: ConfigurationCtx, distid: string): Promise<GoLivePlan> {
  const distributor = liveDistributor(ctx, distid)
  if (ctx.engine.lead !== null) {
    // Who has one folder loads nothing of it.
    const { refuseStale } = await import('../distributors/document/kept/shared.js')
    await refuseStale(ctx, distid)
  }
  const { name, api, files, ordersGo = [] } = distributor
  const shops = await Promise.all(
    (await shopsWith(ctx, distributor)).map(async (subscriber) =>
      shopOf(ctx, distributor, subscriber),
    ),
  )
  if (shops.length === 0)
    throw invalid('distid', `no shop has ${name} active in its configuration: configure it first`)
  return {
    distid,
    distributor: name,
    addresses: [
      ...(api ? [api.url] : []),
      ...(files ? [`${files.isSecure ? 'ftpes' : 'ftp'}://${files.host}:${files.port}`] : []),
      ...ordersGo,
    ],
    shops,
  }
}

/**
 * Has orders with a distributor placed for real from now on. Throws 409 `fulfillment_not_configured`
 * where the distributor does not take some shop's credentials, or could not be asked; then nothing
 * changes.
 */
export async function goLive(
  ctx: ConfigurationCtx,
  { distid, reason }: { distid: string; reason: string },
): Promise<GoLivePlan> {
  const plan = await planGoLive(ctx, distid)
  refuseUnchecked(plan)
  await setMode(ctx, { distid, mode: 'live', reason })
  // What its simulator said counts no longer.
  for (const subscriber of await shopsWith(ctx, liveDistributor(ctx, distid)))
    await recordCredentialCheck(ctx, subscriber, plan.distributor, true)
  return plan
}

/** Throws where a shop's orders would be refused, or nobody knows whether. */
export function refuseUnchecked({ distributor, shops }: GoLivePlan): void {
  const bad = shops.filter(({ valid }) => valid !== true)
  if (bad.length === 0) return
  const named = bad.map(
    ({ subscriber, valid }) => `${subscriber} (${valid === null ? 'not reached' : 'refused'})`,
  )
  throw new ApiError('fulfillment_not_configured', {
    message:
      `${distributor} was asked about the credentials of every shop, and does not take these: ` +
      `${named.join(', ')}. Correct them, or make the distributor inactive there; the log says ` +
      'why one could not be reached',
    details: bad,
  })
}

function liveDistributor({ distributors }: ConfigurationCtx, distid: string): Distributor {
  const distributor = distributors.byDistid(distid)
  if (!distributor) throw invalid('distid', `"${distid}" is not a distributor`)
  if (!distributor.fulfillment)
    throw invalid(
      'distid',
      `${distributor.name} cannot be live: this release has no connector that speaks its own ` +
        `protocol${distributor.simulator ? ', only its simulator' : ''}`,
    )
  return distributor
}

async function shopsWith(
  ctx: ConfigurationCtx,
  { distid, name }: Distributor,
): Promise<Subscriber[]> {
  const subscribers: Subscriber[] = await ctx.read
    .selectFrom('subscriber')
    .select(['id', 'name', 'email'])
    .orderBy('id')
    .execute()
  const found: Subscriber[] = []
  for (const subscriber of subscribers) {
    const { document } = await ctx.configurations.of(subscriber)
    const entry = document.distributors[name]
    if (entry?.distid === distid && entry.active && entry.fulfillment !== undefined)
      found.push(subscriber)
  }
  return found
}

async function shopOf(
  ctx: ConfigurationCtx,
  distributor: Distributor,
  subscriber: Subscriber,
): Promise<LiveShop> {
  const { name } = distributor
  const { document } = await ctx.configurations.of(subscriber)
  const entry = document.distributors[name]
  const accounts = givenSettings(distributor, entry).filter(
    ({ setting, value }) => isCredential(setting) && !setting.secret && !isBlank(value),
  )
  const [checked] = await checkCredentials(ctx, subscriber, [name], { record: false, mode: 'live' })
  return {
    subscriber: subscriber.name,
    accounts: accounts.map(({ value }) => String(value)),
    valid: present(checked, `the check of ${name}`).valid,
  }
}
