/**
 * Takes a partner's batch in, whole or not at all: what is written is not seen before all of it is
 * there.
 */
import { nextTurn } from '../../core/async/wait.js'
import { audit } from '../../accounts/audit.js'
import { DAY } from '../../core/clock.js'
import type { FraudCtx } from '../ctx.js'
import { invalid } from '../../core/errors.js'
import { readBatch } from './batch.js'
import type { Batch, BatchReport } from './batch.js'
import type { FraudKey } from '../keys/keys.js'
import { removeUnseen, sharedKey } from './partners.js'
import { insertReport, writeReports } from '../reports/store.js'

/** Reports that one transaction takes. */
const AT_ONCE = 50

export interface Imported {
  reports: number
  dealers: number
  removed: number
}

/**
 * Takes a partner's batch in: it takes the place of the one before. Throws 400 where the file is no
 * batch, was changed, is of other rules, of this installation or another partner's, says what
 * cannot be, or is not newer than the last; then nothing is changed.
 */
export async function importBatch(
  ctx: FraudCtx,
  partner: string,
  path: string,
  { dryRun = false } = {},
): Promise<Imported> {
  const key = await sharedKey(ctx, partner)
  const refuse = (why: string) => invalid('file', `${path} ${why}`)
  const batch = await readBatch(path, key, { partner })
  await assertFits(ctx, partner, batch, refuse)
  const { reports, dealers } = batch
  if (dryRun) return { reports, dealers, removed: 0 }
  // Of an import that was cut off.
  await removeUnseen(ctx, partner)
  const number = ctx.random(6).readUIntBE(0, 6)
  try {
    const { digest } = await takeIn(ctx, { partner, key, path, number, sender: batch.sender })
    if (digest !== batch.digest) throw refuse('was changed while it was read; have it sent again')
    const removed = await writeReports(ctx, async (tx) => {
      await assertFits(tx, partner, batch, refuse)
      const { there } = await tx.db
        .selectFrom('fraud_report')
        .select((query) => query.fn.countAll<number>().as('there'))
        .where('partner', '=', partner)
        .where('batch', '=', number)
        .executeTakeFirstOrThrow()
      if (there !== reports)
        throw new Error(`another batch of ${partner} is being taken in at the same time`)
      const { before } = await tx.db
        .selectFrom('fraud_report')
        .select((query) => query.fn.countAll<number>().as('before'))
        .where('partner', '=', partner)
        .where('batch', 'in', (query) =>
          query
            .selectFrom('fraud_partner')
            .select('fraud_partner.batch')
            .where('name', '=', partner),
        )
        .executeTakeFirstOrThrow()
      await tx.db
        .replaceInto('fraud_partner')
        .values({
          name: partner,
          sender: batch.sender,
          batch: number,
          made_at: batch.made_at,
          reports,
        })
        .execute()
      await audit(tx, 'fraud import', { partner, reports, removed: before })
      return before
    })
    return { reports, dealers, removed }
  } finally {
    await removeUnseen(ctx, partner)
  }
}

/** Throws where a batch does not go on from what is known of the partner. */
async function assertFits(
  { read, now }: FraudCtx,
  partner: string,
  { sender, made_at: madeAt }: Batch,
  refuse: (why: string) => Error,
): Promise<void> {
  if (madeAt > now() + DAY) throw refuse('was made in the future: a clock is wrong, here or there')
  const own = await read.selectFrom('fraud_installation').select('id').executeTakeFirst()
  if (own?.id === sender)
    throw refuse('was made by this installation: its reports count here already')
  const other = await read
    .selectFrom('fraud_partner')
    .select('name')
    .where('sender', '=', sender)
    .where('name', '<>', partner)
    .executeTakeFirst()
  if (other)
    throw refuse(
      `comes from the installation that ${other.name} is: its dealers would be counted twice`,
    )
  const before = await read
    .selectFrom('fraud_partner')
    .select(['made_at', 'sender'])
    .where('name', '=', partner)
    .executeTakeFirst()
  if (before && before.sender !== sender)
    throw refuse(
      `comes from another installation than ${partner}'s batches before; if it was set up ` +
        `anew, end the partnership with \`fraud partner ${partner} --remove\`, and begin again`,
    )
  if (before && madeAt <= before.made_at)
    throw refuse('is not newer than the batch that was taken in last; have a new one made')
}

/** Writes the reports of a batch as they are read, a few at a time. */
async function takeIn(
  ctx: FraudCtx,
  {
    partner,
    key,
    path,
    number,
    sender,
  }: { partner: string; key: FraudKey; path: string; number: number; sender: string },
): Promise<Batch> {
  let waiting: BatchReport[] = []
  const write = async () => {
    const some = waiting
    waiting = []
    await writeReports(ctx, async (tx) => {
      for (const { dealer, first, last, hashes } of some) {
        // An installation is a partner once, so that a pseudonym of it is one dealer.
        const row = {
          subscriber_id: null,
          dealer: `${sender}:${dealer}`,
          partner,
          batch: number,
          key: key.name,
          strong: '',
          reported_at: first,
          updated_at: last,
          payload: '',
        }
        await insertReport(tx, row, { own: hashes, mirrored: [] })
      }
    })
    await nextTurn()
  }
  const batch = await readBatch(path, key, {
    partner,
    async take(report) {
      waiting.push(report)
      if (waiting.length === AT_ONCE) await write()
    },
  })
  await write()
  return batch
}
