/** Lists of dealers with their license on file that a distributor gives an account. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Job } from '../core/async/job.js'
import { DAY, MINUTE } from '../core/clock.js'
import { invalid } from '../core/errors.js'
import { FeedFault } from '../distributors/account-feed.js'
import type { Distributor } from '../distributors/distributor.js'
import { accountOf, withAccount } from '../feeds/account.js'
import type { FeedsCtx } from '../feeds/ctx.js'
import type { FflsCtx } from './ctx.js'
import type { ListInput, ListOptions } from './lists/report.js'
import { importOnFile } from './on-file.js'
import type { OnFileInput, OnFileResult } from './on-file.js'

export type AccountListCtx = FflsCtx & FeedsCtx

export interface AccountListInput extends Omit<OnFileInput, keyof ListInput> {
  /** Name or id: with whose account the distributor is asked. */
  subscriber: string
  types?: ListInput['types']
}

/** Milliseconds for the list; RSR's had 1.2 MB. */
const PATIENCE = 10 * MINUTE

/**
 * Asks with the account that a subscriber has saved, and takes in what comes as `importOnFile` does.
 * Throws 400 for a distributor without such a list, and for a simulated one, whose made-up dealers
 * are shown by a dry run alone; a FeedFault where there is no account.
 */
export async function importOnFileByAccount(
  ctx: AccountListCtx,
  { subscriber, ...input }: AccountListInput,
  options: ListOptions & { signal?: AbortSignal } = {},
): Promise<OnFileResult> {
  const { distid } = input
  const list = ctx.distributors.byDistid(distid)?.dealers
  if (!list)
    throw invalid(
      'distid',
      `${distid} gives an account no list of dealers; name a file. Such a list have: ` +
        ctx.distributors.all
          .filter(({ dealers }) => dealers)
          .map((one) => one.distid)
          .join(', '),
    )
  const account = await accountOf(ctx, { distid, subscriber_id: subscriber })
  if (account.mode !== 'live' && options.dryRun !== true)
    throw invalid(
      'distid',
      `${distid} is simulated, and the dealers of its list are made up: --dry-run shows them`,
    )
  const dir = await mkdtemp(join(tmpdir(), 'quartermaster-dealers-'))
  try {
    const file = join(dir, `${distid}-dealers.txt`)
    const { asOf = ctx.now() } = await withAccount(
      ctx,
      account,
      { signal: options.signal ?? ctx.checkRuns.closing.signal, timeoutMs: PATIENCE },
      (session) => list.bring(session, { file, mark: null, holdUntil: async () => {} }),
    )
    return await importOnFile(
      ctx,
      { ...input, file },
      { asOf: Math.min(asOf, ctx.now()), ...options },
    )
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/**
 * Every day the list of each distributor that orders really go to, with the first account that gets
 * one.
 */
export const dealerListJobs = (
  distributors: readonly Pick<Distributor, 'distid' | 'dealers'>[],
): Job<AccountListCtx>[] =>
  distributors
    .filter(({ dealers }) => dealers)
    .map(({ distid }) => ({
      name: `dealers-${distid}`,
      every: DAY,
      run: (ctx, signal) => takeFirst(ctx, distid, signal),
    }))

async function takeFirst(ctx: AccountListCtx, distid: string, signal: AbortSignal): Promise<void> {
  if (ctx.modes.of(distid) !== 'live') return
  const subscribers = await ctx.read
    .selectFrom('subscriber')
    .select(['id', 'name'])
    .orderBy('id')
    .execute()
  for (const { id, name } of subscribers) {
    if (signal.aborted) return
    try {
      await importOnFileByAccount(ctx, { distid, subscriber: id }, { signal })
      return
    } catch (error) {
      // Most subscribers have no account there.
      if (error instanceof FeedFault || signal.aborted) continue
      ctx.log.warn(
        { distid, subscriber: name, reason: error instanceof Error ? error.message : 'unknown' },
        'the list of dealers did not come; what is known of them stays',
      )
    }
  }
}
