/** Installations that signals are shared with: each agreed on a key with this one. */
import { nextTurn } from '../../core/async/wait.js'
import { audit } from '../../accounts/audit.js'
import type { FraudCtx } from '../ctx.js'
import { invalid } from '../../core/errors.js'
import { touch } from '../../db/state.js'
import { lookWithin } from '../../db/reading.js'
import { checkPartner, partnerKey, partnersIn, removePartnerKey } from '../keys/keys.js'
import type { FraudKey, KeyTexts } from '../keys/keys.js'
import { rehashReports } from '../keys/rotate.js'
import { removeReports, writeReports } from '../reports/store.js'

/** Reports that one transaction removes. */
const AT_ONCE = 100

/**
 * Keeps the key that was agreed on, 64 hex digits, and what was reported here under it too, for the
 * counts. Throws 400 where the key or the name is none, or either is a partner's already.
 */
export async function addPartner(
  ctx: FraudCtx,
  name: string,
  secret: string,
  { dryRun = false } = {},
): Promise<void> {
  const text = secret.trim().toLowerCase()
  try {
    checkPartner(await keyTexts(ctx), name, text)
  } catch (error) {
    throw invalid('partner', error instanceof Error ? error.message : String(error))
  }
  if (dryRun) return
  await ctx.engine.atomic(ctx, async (tx) => {
    const texts = await lookWithin(tx.db, () => tx.fraudKeyStore.texts())
    await tx.fraudKeyStore.write(tx.db, checkPartner(texts, name, text), text)
    await touch(tx.db, 'fraud')
    await audit(tx, 'fraud partner', { name })
  })
  await rehashReports(ctx)
}

/**
 * Ends a partnership: its key and all that came from it go. From the first transaction on, nothing
 * of it is found. Throws 400 for an unknown one.
 */
export async function removePartner(
  ctx: FraudCtx,
  name: string,
  { dryRun = false } = {},
): Promise<{ reports: number }> {
  const { reports } = await ctx.read
    .selectFrom('fraud_report')
    .select((query) => query.fn.countAll<number>().as('reports'))
    .where('partner', '=', name)
    .executeTakeFirstOrThrow()
  const known = await ctx.read
    .selectFrom('fraud_partner')
    .select('name')
    .where('name', '=', name)
    .executeTakeFirst()
  const texts = await keyTexts(ctx)
  if (!known && reports === 0 && !partnersIn(texts).includes(name))
    throw unknownPartner(texts, name)
  if (dryRun) return { reports }
  await ctx.engine.atomic(ctx, async (tx) => {
    await tx.db.deleteFrom('fraud_partner').where('name', '=', name).execute()
    await removePartnerKey(tx.fraudKeyStore, tx.db, name)
    await touch(tx.db, 'fraud')
    await audit(tx, 'fraud partner remove', { name, reports })
  })
  await removeUnseen(ctx, name)
  await rehashReports(ctx)
  return { reports }
}

/** The key that is shared with a partner. Throws 400 where there is none. */
export async function sharedKey(ctx: FraudCtx, name: string): Promise<FraudKey> {
  const texts = await keyTexts(ctx)
  const key = partnerKey(texts, name)
  if (!key) throw unknownPartner(texts, name)
  return key
}

const keyTexts = ({ engine, fraudKeyStore }: FraudCtx): Promise<KeyTexts> =>
  engine.look(() => fraudKeyStore.texts())

function unknownPartner(texts: KeyTexts, name: string): Error {
  return invalid(
    'partner',
    `"${name}" is not a partner; known are ${partnersIn(texts).join(', ') || 'none'}; ` +
      `\`fraud partner\` makes one`,
  )
}

/**
 * Removes what a partner sent that is not of the batch that holds: an older one, or one that was
 * cut off while it was taken in.
 */
export async function removeUnseen(ctx: FraudCtx, partner: string): Promise<void> {
  for (let some = AT_ONCE; some === AT_ONCE;) {
    some = await writeReports(ctx, async (tx) => {
      const holds = await tx.db
        .selectFrom('fraud_partner')
        .select('batch')
        .where('name', '=', partner)
        .executeTakeFirst()
      const all = tx.db
        .selectFrom('fraud_report')
        .select('id')
        .where('partner', '=', partner)
        .limit(AT_ONCE)
      const rows = await (holds ? all.where('batch', '<>', holds.batch) : all).execute()
      await removeReports(
        tx,
        rows.map(({ id }) => id),
      )
      return rows.length
    })
    await nextTurn()
  }
}

/**
 * How partners tell this installation from others: made once, and kept with the database, its
 * backups too. In a transaction.
 */
export async function installationId(tx: FraudCtx): Promise<string> {
  await tx.db
    .insertInto('fraud_installation')
    .values({ one: 1, id: tx.random(16).toString('hex') })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return (await tx.db.selectFrom('fraud_installation').select('id').executeTakeFirstOrThrow()).id
}
