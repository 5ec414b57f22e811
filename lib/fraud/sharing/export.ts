/**
 * Writes what was reported here for a partner. Who has the file without the shared key learns
 * nothing; what who has both can do, the guide says.
 */
import { figure } from '../../core/figures.js'
import { nextTurn } from '../../core/async/wait.js'
import { audit } from '../../accounts/audit.js'
import type { FraudCtx } from '../ctx.js'
import { invalid } from '../../core/errors.js'
import { MOST_REPORTS, batchWriter } from './batch.js'
import { installationId, sharedKey } from './partners.js'
import type { FraudKey } from '../keys/keys.js'
import { withoutPremises } from '../reports/premises.js'
import { signalsOf } from '../signals/signals.js'
import { KINDS } from '../reports/kinds.js'
import { hashesOf, openReport } from '../reports/store.js'
import type { Hashes } from '../reports/store.js'

export interface ExportOptions {
  dryRun?: boolean
  /** Told of each report that cannot be opened, and so is left out. */
  onUnreadable?: () => void
}

/** Reports between which others' calls come. */
const TURN = 50

/**
 * The lines of a batch of all reports that were made here. Those of other partners are not passed
 * on.
 */
export async function* exportBatch(
  ctx: FraudCtx,
  partner: string,
  { dryRun = false, onUnreadable = () => {} }: ExportOptions = {},
): AsyncGenerator<string> {
  const key = await sharedKey(ctx, partner)
  const ids = await shuffledIds(ctx)
  const sender = dryRun ? '' : await ctx.engine.atomic(ctx, installationId)
  const batch = batchWriter(key, { madeAt: ctx.now(), sender })
  yield batch.head()
  for (const [place, id] of ids.entries()) {
    if (place % TURN === TURN - 1) await nextTurn()
    // One that was removed meanwhile is not missed, and one that was changed is taken as it is now.
    const row = await ctx.read
      .selectFrom('fraud_report')
      .select(['id', 'subscriber_id', 'payload', 'reported_at', 'updated_at'])
      .where('id', '=', id)
      .executeTakeFirst()
    const hashes =
      row && (await hashesUnder(ctx, key, { ...row, subscriber_id: row.subscriber_id! }))
    if (row && !hashes) onUnreadable()
    if (row && hashes?.some(([kind]) => kind <= KINDS.phone))
      yield batch.report({
        dealer: key.digest('dealer', row.subscriber_id!),
        first: row.reported_at,
        last: row.updated_at,
        hashes,
      })
  }
  // Before the seal, without which a batch is worth nothing.
  if (!dryRun)
    await ctx.engine.atomic(ctx, (tx) =>
      audit(tx, 'fraud export', { partner, reports: batch.count() }),
    )
  yield batch.seal()
}

/**
 * In an order of chance: that of the reports would tell the partner which came first, and which of
 * one day belong together.
 */
async function shuffledIds(ctx: FraudCtx): Promise<number[]> {
  const rows = await ctx.read
    .selectFrom('fraud_report')
    .select('id')
    .where('partner', 'is', null)
    .limit(MOST_REPORTS + 1)
    .execute()
  if (rows.length > MOST_REPORTS)
    throw invalid(
      'partner',
      `there are more than ${figure(MOST_REPORTS)} reports, which is the most ` +
        'that a batch holds',
    )
  return rows
    .map(({ id }) => ({ id, at: ctx.random(6).readUIntBE(0, 6) }))
    .sort((a, b) => a.at - b.at)
    .map(({ id }) => id)
}

async function hashesUnder(
  ctx: FraudCtx,
  key: FraudKey,
  row: { id: number; subscriber_id: string; payload: string },
): Promise<Hashes | null> {
  try {
    const body = openReport(ctx, row)
    const signals = signalsOf(body)
    return hashesOf(key, await ctx.engine.look(() => withoutPremises(body, signals)))
  } catch (error) {
    ctx.log.error(
      { err: error, report: row.id },
      'a fraud report cannot be opened, and is not shared',
    )
    return null
  }
}
