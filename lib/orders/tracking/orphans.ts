/**
 * Orders that distributors have and this installation does not: what a restored backup has
 * forgotten.
 */
import { nextTurn } from '../../core/async/wait.js'
import { FAILED } from '../stored.js'
import type { Subscriber } from '../../accounts/caller.js'
import type { OrdersCtx } from '../ctx.js'
import type { OrderUpdate } from '../../distributors/fulfillment.js'
import { connectorOf } from '../../distributors/modes.js'
import type { StoredPo } from '../stored.js'
import type { Account } from './apply-update.js'
import { NotAsked, PATIENCE, askForUpdates, limitPerDistributor } from './asking.js'
import { cleanUpdate } from './clean-update.js'
import { contentOrNull } from '../sealed-content.js'
import { LONGEST_AGO, isOthers, samePo } from '../matching/match.js'
import { isDead } from '../history/statuses.js'

/** An order of a distributor that stands in no purchase order of ours. */
export interface Orphan extends Account {
  number: string | null
  po: string
  clientRef?: string
  /** Of the oldest news of it, milliseconds since 1970. */
  at: number
  lines?: { distsku: string; qty: number }[]
  shipTo?: { name?: string; address1?: string; zip?: string }
}

export interface NotAskedAccount extends Account {
  reason: string
}

/**
 * Asks every configured account that can be asked for its news since a time, and returns the orders
 * in them that no purchase order here knows by reference or number, nor waits for by its PO. Writes
 * nothing.
 */
export async function orphansSince(
  ctx: OrdersCtx,
  since: number,
  {
    signal = new AbortController().signal,
    patience = PATIENCE,
  }: { signal?: AbortSignal; patience?: number } = {},
): Promise<{ orphans: Orphan[]; notAsked: NotAskedAccount[] }> {
  const inTurn = limitPerDistributor()
  const notAsked: NotAskedAccount[] = []
  const accounts = await configuredAccounts(ctx)
  const found = await Promise.all(
    accounts.map((account) =>
      inTurn(account.distid, async () => {
        try {
          return await orphansOf(ctx, account, since, { signal, patience })
        } catch (error) {
          if (!(error instanceof NotAsked)) throw error
          notAsked.push({ ...account, reason: error.message })
          return []
        }
      }),
    ),
  )
  return { orphans: found.flat(), notAsked }
}

/**
 * Accounts in every saved document whose distributor can be asked, in the mode that it is in. One
 * that tells of the orders alone that it is asked for has none that nobody here knows.
 */
async function configuredAccounts(ctx: OrdersCtx): Promise<Account[]> {
  const subscribers: Subscriber[] = await ctx.read
    .selectFrom('subscriber')
    .select(['id', 'name', 'email'])
    .orderBy('id')
    .execute()
  const accounts: Account[] = []
  for (const subscriber of subscribers) {
    const { document } = await ctx.configurations.of(subscriber)
    for (const distid of new Set(Object.values(document.distributors).map((one) => one.distid))) {
      const mode = ctx.modes.of(distid)
      const connector = connectorOf(ctx, distid, mode)
      if (connector?.updates && !connector.asksByOrder)
        accounts.push({ subscriberId: subscriber.id, distid, mode })
    }
  }
  return accounts
}

async function orphansOf(
  ctx: OrdersCtx,
  account: Account,
  since: number,
  options: { signal: AbortSignal; patience: number },
): Promise<Orphan[]> {
  const orphans = new Map<string, Orphan>()
  const numbersOfOurs = new Set<string>()
  await askForUpdates(ctx, account, { ...options, since }, async (news) => {
    const update = cleanUpdate(news)
    if (!update) return
    if (await isOurs(ctx, account, update)) {
      if (update.number !== null) numbersOfOurs.add(update.number)
    } else {
      const key = JSON.stringify(update.number ?? update.clientRef ?? update.po)
      orphans.set(key, merged(orphans.get(key), account, update))
    }
    await nextTurn()
  })
  // One message may have had our reference where another has the number alone.
  return [...orphans.values()].filter(({ number }) => number === null || !numbersOfOurs.has(number))
}

async function isOurs(
  ctx: OrdersCtx,
  { subscriberId, distid, mode }: Account,
  update: OrderUpdate,
): Promise<boolean> {
  const { read } = ctx
  const { number, clientRef, po, status, at } = update
  const all = read
    .selectFrom('purchase_order')
    .select(['id', 'state'])
    .where('subscriber_id', '=', subscriberId)
    .where('distid', '=', distid)
    .where('mode', '=', mode)
  const named =
    clientRef === undefined
      ? undefined
      : await all.where('client_ref', '=', clientRef).executeTakeFirst()
  // What counts as refused, and was executed all the same, is an order that nobody here knows of.
  if (named) return !FAILED.includes(named.state) || isDead(status)
  if (number !== null && (await all.where('distributor_order_id', '=', number).executeTakeFirst()))
    return true
  if (clientRef !== undefined || po === '') return false
  // A PO alone names one of ours only while that one has no number yet, and nothing that is told is
  // another order's.
  const waiting = read
    .selectFrom('purchase_order')
    .selectAll()
    .where('subscriber_id', '=', subscriberId)
    .where('distid', '=', distid)
    .where('mode', '=', mode)
    .where('distributor_order_id', 'is', null)
  const mayBe = (order: StoredPo) => {
    const content = contentOrNull(ctx, order)
    return content === null || !isOthers(update, content)
  }
  if ((await waiting.where('po_number', '=', po).execute()).some(mayBe)) return true
  const recent = await waiting
    .where('planned_at', '>', at - LONGEST_AGO)
    .where('state', 'not in', FAILED)
    .execute()
  return recent.some((order) => samePo(po, order.po_number) !== 'other' && mayBe(order))
}

function merged(
  known: Orphan | undefined,
  { subscriberId, distid, mode }: Account,
  { number, po, at, clientRef, lines, shipTo }: OrderUpdate,
): Orphan {
  const shown = {
    ...(clientRef !== undefined && { clientRef }),
    ...(lines && { lines }),
    ...(shipTo && { shipTo }),
  }
  return known
    ? { ...shown, ...known, at: Math.min(known.at, at) }
    : { subscriberId, distid, mode, number, po, at, ...shown }
}
