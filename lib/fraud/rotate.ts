/** Replaces the key under which signals are kept: reports are opened, and their signals hashed anew, a few at a time. */
import { audit } from '../accounts/audit.js'
import type { OperatorCtx } from '../core/ctx.js'
import { touch } from '../db/state.js'
import { addLocalKey, dropOldKeys } from './keys.js'
import { withoutPremises } from './premises.js'
import { signalsOf } from './signals.js'
import { hashesOf, openReport, removeHashes, strongDigest, writeHashes } from './store.js'

export interface Rotated {
  /** Reports whose signals are kept under the new key now. */
  reports: number
  /** Reports that cannot be opened: their signals stay under the old key, and so does it. */
  unreadable: number
}

/** Reports that one transaction takes: nobody waits for more. */
const AT_ONCE = 50

/**
 * Puts a new key in the place of the one in use; a rotation that was cut off is ended first. Checks go on meanwhile: they look
 * under both keys.
 */
export async function rotateFraudKey(ctx: OperatorCtx, onProgress: (done: number, total: number) => void = () => {}): Promise<Rotated> {
  ctx.fraudKeys()
  addLocalKey(ctx.engine.dir, ctx.random)
  await ctx.engine.atomic(ctx, (tx) => touch(tx.db, 'fraud'))
  const done = await rehashReports(ctx, onProgress)
  if (done.unreadable === 0) dropOldKeys(ctx.engine.dir)
  await ctx.engine.atomic(ctx, async (tx) => {
    await touch(tx.db, 'fraud')
    await audit(tx, 'fraud rotate-key', done)
  })
  return done
}

/** Brings reports under the key of now that are kept under another, or were normalized by other rules. */
export async function rehashReports(ctx: OperatorCtx, onProgress: (done: number, total: number) => void = () => {}): Promise<Rotated> {
  const { current } = ctx.fraudKeys()
  const stale = () => ctx.read.selectFrom('fraud_report').where('partner', 'is', null).where('key', '<>', current.name)
  const { total } = await stale().select((query) => query.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const result: Rotated = { reports: 0, unreadable: 0 }
  for (let last = 0; ;) {
    const rows = await stale().select(['id', 'subscriber_id', 'payload']).where('id', '>', last).orderBy('id').limit(AT_ONCE).execute()
    if (rows.length === 0) return result
    await ctx.engine.atomic(ctx, async (tx) => {
      for (const { id, subscriber_id: owner, payload } of rows) if (!await rehash(tx, { id, subscriber_id: owner!, payload })) result.unreadable++
    })
    last = rows.at(-1)!.id
    result.reports += rows.length
    onProgress(result.reports, total)
  }
}

async function rehash(tx: OperatorCtx, row: { id: number; subscriber_id: string; payload: string }): Promise<boolean> {
  const { current } = tx.fraudKeys()
  try {
    const body = openReport(tx, row)
    const signals = withoutPremises(tx, body, signalsOf(body))
    await removeHashes(tx, row.id)
    await writeHashes(tx, row.id, hashesOf(current, signals))
    await tx.db.updateTable('fraud_report').set({ key: current.name, strong: strongDigest(current, signals) }).where('id', '=', row.id).execute()
    return true
  } catch (error) {
    tx.log.error({ err: error, report: row.id }, 'a fraud report cannot be opened')
    return false
  }
}
