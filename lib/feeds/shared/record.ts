/** What is published, in the system of record. */
import type { Kysely } from 'kysely'
import type { DbCtx } from '../../db/ctx.js'
import { touch } from '../../db/state.js'
import type { PublicationTable } from '../../db/tables/publications.js'
import type { Tables } from '../../db/tables/tables.js'
import { bytesOf } from './publication.js'
import type { Part, Publication, Published, SharedFile, SharedName } from './publication.js'

export interface RecordCtx extends Pick<DbCtx, 'db' | 'read' | 'engine' | 'now'> {
  /** Of which database the publications are. */
  readonly name: SharedName
}

const withPublications = (db: Kysely<Tables>) => db.withTables<{ publication: PublicationTable }>()

/** All that is published of a database and not swept yet, in its order. */
export async function readPublished(
  { read }: Pick<RecordCtx, 'read'>,
  name: SharedName,
): Promise<Published[]> {
  const rows = await withPublications(read)
    .selectFrom('publication')
    .selectAll()
    .where('name', '=', name)
    .orderBy('number')
    .execute()
  return rows.map(
    ({ name: _, parts, files, published_at: publishedAt, is_broken: isBroken, ...row }) => ({
      ...row,
      parts: JSON.parse(parts) as Part[],
      files: JSON.parse(files) as SharedFile[],
      publishedAt,
      isBroken: isBroken === 1,
    }),
  )
}

/**
 * Publishes what goes on from the newest state, or takes its place. `after` is the number of the
 * newest publication that the leader knew of when it decided so. False where there is another one
 * by now; throws `LeadLost` where the epoch is over.
 */
export async function publish(
  ctx: RecordCtx,
  { parts, files, ...publication }: Publication,
  { epoch, after }: { epoch: number; after: number },
): Promise<boolean> {
  return ctx.engine.atomic(ctx, async (tx) => {
    await tx.engine.lead!.fence(tx.db, epoch)
    const published = withPublications(tx.db)
    const newest = await published
      .selectFrom('publication')
      .select(({ fn }) => fn.max('number').as('number'))
      .where('name', '=', ctx.name)
      .executeTakeFirst()
    if ((newest?.number ?? 0) !== after) return false
    await published
      .insertInto('publication')
      .values({
        ...publication,
        name: ctx.name,
        number: after + 1,
        parts: JSON.stringify(parts),
        files: JSON.stringify(files),
        bytes: bytesOf(parts),
        published_at: tx.now(),
        epoch,
      })
      .execute()
    await touch(tx.db, 'catalog')
    return true
  })
}

/** Throws `LeadLost` where the epoch is over. */
export async function confirm(ctx: RecordCtx, epoch: number): Promise<void> {
  await ctx.engine.atomic(ctx, (tx) => tx.engine.lead!.fence(tx.db, epoch))
}

/** Tells the leader that an object cannot be used, so that it publishes everything anew. */
export async function tellBroken(ctx: RecordCtx, { number }: Published): Promise<void> {
  await ctx.engine.atomic(ctx, async (tx) => {
    await withPublications(tx.db)
      .updateTable('publication')
      .set({ is_broken: 1 })
      .where('name', '=', ctx.name)
      .where('number', '=', number)
      .execute()
    await touch(tx.db, 'catalog')
  })
}

/** The leader has found that an object can be used, whoever could not. */
export async function tellWhole(
  ctx: RecordCtx,
  { number }: Published,
  epoch: number,
): Promise<void> {
  await ctx.engine.atomic(ctx, async (tx) => {
    await tx.engine.lead!.fence(tx.db, epoch)
    await withPublications(tx.db)
      .updateTable('publication')
      .set({ is_broken: 0 })
      .where('name', '=', ctx.name)
      .where('number', '=', number)
      .execute()
    await touch(tx.db, 'catalog')
  })
}

/** Forgets what came before a publication, and is older than that. */
export async function forgetBefore(
  ctx: RecordCtx,
  { number, time, epoch }: { number: number; time: number; epoch: number },
): Promise<void> {
  await ctx.engine.atomic(ctx, async (tx) => {
    await tx.engine.lead!.fence(tx.db, epoch)
    await withPublications(tx.db)
      .deleteFrom('publication')
      .where('name', '=', ctx.name)
      .where('number', '<', number)
      .where('published_at', '<', time)
      .execute()
  })
}

/**
 * Has every source pulled again whose last feed this catalog does not have: whoever took it in did
 * not come to publish it.
 */
export async function makeDue(
  ctx: Omit<RecordCtx, 'name'>,
  { taken, epoch }: { taken: ReadonlyMap<string, number>; epoch: number },
): Promise<void> {
  await ctx.engine.atomic(ctx, async (tx) => {
    await tx.engine.lead!.fence(tx.db, epoch)
    const sources = await tx.db
      .selectFrom('feed_source')
      .select(['id', 'good_at'])
      .where('good_at', 'is not', null)
      .execute()
    const missing = sources.filter(({ id, good_at: good }) => good! > (taken.get(id) ?? -1))
    if (missing.length === 0) return
    await tx.db
      .updateTable('feed_source')
      .set({ last_pull_at: null, mark: null })
      .where(
        'id',
        'in',
        missing.map(({ id }) => id),
      )
      .execute()
  })
}
