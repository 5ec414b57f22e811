/**
 * Replaces the key under which signals are kept: reports are opened, and their signals hashed anew,
 * a few at a time.
 */
import { nextTurn } from '../../core/async/wait.js'
import { audit } from '../../accounts/audit.js'
import type { FraudCtx } from '../ctx.js'
import { lookWithin } from '../../db/reading.js'
import { touch } from '../../db/state.js'
import { LOCAL, withNewKey, withoutOldKeys } from './keys.js'
import type { FraudKeys } from './keys.js'
import { withoutPremises } from '../reports/premises.js'
import { signalsOf } from '../signals/signals.js'
import type { Signals } from '../signals/signals.js'
import {
  hashesToStore,
  openReport,
  removeReports,
  replaceHashes,
  strongDigests,
  writeReports,
} from '../reports/store.js'
import { present } from '../../core/present.js'

export interface Rotated {
  /** Reports whose signals are kept under the new key now. */
  reports: number
  /** Reports that cannot be opened: their signals stay under the old key, and so does it. */
  unreadable: number
}

export interface RehashOptions {
  /** Those too that could not be opened before. */
  retry?: boolean
  signal?: AbortSignal
  onProgress?: (done: number, total: number) => void
}

/** Reports that one transaction takes: nobody waits for more. */
const AT_ONCE = 25

/**
 * Puts a new key in the place of the one in use; a rotation that was cut off is ended instead.
 * Checks go on meanwhile: they look under both keys.
 */
export async function rotateFraudKey(
  ctx: FraudCtx,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<Rotated> {
  let done = await rehashReports(ctx, { retry: true })
  if (done.reports === 0) {
    await ctx.engine.atomic(ctx, addKey)
    // Every report is written twice: under both keys, and then without what was kept under the old
    // one for the counts.
    done = await rehashReports(ctx, {
      retry: true,
      onProgress: (at, total) => onProgress(at, 2 * total),
    })
  }
  if (await dropOldKeys(ctx))
    await rehashReports(ctx, { onProgress: (at, total) => onProgress(total + at, 2 * total) })
  await ctx.engine.atomic(ctx, (tx) => audit(tx, 'fraud rotate-key', done))
  return done
}

/** Ends what a rotation, a lost key or a new partner left half done. */
export async function settleReports(ctx: FraudCtx, signal: AbortSignal): Promise<void> {
  await rehashReports(ctx, { signal })
  if (!signal.aborted && (await dropOldKeys(ctx))) await rehashReports(ctx, { signal })
}

/** Lays a new local key beside those in use, in a transaction. */
export async function addKey(tx: FraudCtx): Promise<void> {
  const store = tx.fraudKeyStore
  const texts = await lookWithin(tx.db, () => store.texts())
  await store.write(tx.db, LOCAL, withNewKey(texts, tx.random))
  await touch(tx.db, 'fraud')
}

/** Removes local keys that no report is under. True if counts need their hashes no more, either. */
async function dropOldKeys(ctx: FraudCtx): Promise<boolean> {
  return writeReports(ctx, async (tx) => {
    const { local, mirrors, isLacking } = await lookWithin(tx.db, () => tx.fraudKeys.now())
    const used = (
      await tx.db
        .selectFrom('fraud_report')
        .select('key')
        .distinct()
        .where('partner', 'is', null)
        .execute()
    ).map(({ key }) => key)
    const texts = await lookWithin(tx.db, () => tx.fraudKeyStore.texts())
    const left = withoutOldKeys(texts, (name) => used.includes(name))
    if (left !== null) await tx.fraudKeyStore.write(tx.db, LOCAL, left)
    const isOver = left !== null || isLacking || mirrors.some((key) => local.includes(key))
    if (isOver) await touch(tx.db, 'fraud')
    return isOver
  })
}

/**
 * Brings reports made here under the keys of now that are kept under others, or were normalized by
 * other rules.
 */
export async function rehashReports(
  ctx: FraudCtx,
  { retry = false, signal, onProgress = () => {} }: RehashOptions = {},
): Promise<Rotated> {
  // What is remembered may be older: a missing key has them hashed while it is still being read.
  const { current, mirrored } = await ctx.engine.look(() => ctx.fraudKeys.now())
  const stale = () =>
    ctx.read
      .selectFrom('fraud_report')
      .where('partner', 'is', null)
      .where('unreadable', '<=', retry ? 1 : 0)
      .where(({ or, eb }) => or([eb('key', '<>', current.name), eb('mirrors', '<>', mirrored)]))
  const { total } = await stale()
    .select((query) => query.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  const result: Rotated = { reports: 0, unreadable: 0 }
  for (let last = 0, done = 0; ;) {
    const rows = await stale()
      .select('id')
      .where('id', '>', last)
      .orderBy('id')
      .limit(AT_ONCE)
      .execute()
    if (rows.length === 0 || signal?.aborted) return result
    await writeReports(ctx, async (tx) => {
      const keys = await lookWithin(tx.db, () => tx.fraudKeys.now())
      for (const { id } of rows) {
        const became = await rehash(tx, keys, id)
        if (became !== null) result[became]++
      }
    })
    last = present(rows.at(-1), 'the last report').id
    onProgress((done += rows.length), total)
    // Others' calls come between two transactions.
    await nextTurn()
  }
}

/** Null for a report that is gone by now, or had the right key. */
async function rehash(tx: FraudCtx, keys: FraudKeys, id: number): Promise<keyof Rotated | null> {
  const row = await tx.db
    .selectFrom('fraud_report')
    .select(['id', 'subscriber_id', 'dealer', 'key', 'payload', 'reported_at', 'updated_at'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) return null
  const signals = await read(tx, { ...row, subscriber_id: row.subscriber_id! })
  if (!signals) {
    await tx.db.updateTable('fraud_report').set({ unreadable: 1 }).where('id', '=', id).execute()
    // What only helps the counts would stay there for ever.
    await tx.db.deleteFrom('fraud_evidence').where('report', '=', id).where('own', '=', 0).execute()
    return 'unreadable'
  }
  const strong = strongDigests(keys, signals)
  if (await isMerged(tx, row, strong)) return null
  await replaceHashes(tx, id, hashesToStore(keys, signals))
  await tx.db
    .updateTable('fraud_report')
    .set({ key: keys.current.name, mirrors: keys.mirrored, strong: strong.at(-1)!, unreadable: 0 })
    .where('id', '=', id)
    .execute()
  return row.key === keys.current.name ? null : 'reports'
}

/**
 * The signals of a report; null where it cannot be opened, or nothing strong can be read in it any
 * more.
 */
async function read(
  tx: FraudCtx,
  row: { id: number; subscriber_id: string; payload: string },
): Promise<Signals | null> {
  const opened = open(tx, row)
  if (!opened) return null
  const { body, all } = opened
  const signals = await lookWithin(tx.db, () => withoutPremises(body, all))
  // Where all that it has became a dealer's premise, it stays what it was: no check asks for a
  // premise, and a dealer may move away.
  return signals.strong.size > 0 ? signals : all
}

function open(tx: FraudCtx, row: { id: number; subscriber_id: string; payload: string }) {
  try {
    const body = openReport(tx, row)
    const all = signalsOf(body)
    if (all.strong.size > 0) return { body, all }
    throw new Error('no strong signal of it can be read')
  } catch (error) {
    tx.log.error({ err: error, report: row.id }, 'a fraud report cannot be opened')
    return null
  }
}

interface Twin {
  id: number
  reported_at: number
  updated_at: number
}

/**
 * Of reports of one dealer that have the same strong signals by now, the newest stays. True if it
 * is not this one.
 */
async function isMerged(
  tx: FraudCtx,
  row: Twin & { dealer: string },
  strong: readonly string[],
): Promise<boolean> {
  const twins: Twin[] = await tx.db
    .selectFrom('fraud_report')
    .select(['id', 'reported_at', 'updated_at'])
    .where('dealer', '=', row.dealer)
    .where('strong', 'in', strong)
    .where('id', '<>', row.id)
    .execute()
  if (twins.length === 0) return false
  const all = [row, ...twins].sort((a, b) => b.updated_at - a.updated_at || b.id - a.id)
  const [stays = row, ...others] = all
  await removeReports(
    tx,
    others.map(({ id }) => id),
  )
  await tx.db
    .updateTable('fraud_report')
    .set({ reported_at: Math.min(...all.map(({ reported_at: at }) => at)) })
    .where('id', '=', stays.id)
    .execute()
  return stays.id !== row.id
}
