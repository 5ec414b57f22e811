/** What is published, in the system of record. */
import type { Kysely } from 'kysely'
import type { DbCtx } from '../../db/ctx.js'
import { touch } from '../../db/state.js'
import type { CatalogPublicationTable } from '../../db/tables/catalog.js'
import type { Tables } from '../../db/tables/tables.js'
import { bytesOf } from './publication.js'
import type { Part, Publication, Published } from './publication.js'

type SharedTables = Tables & { catalog_publication: CatalogPublicationTable }

export type RecordCtx = Pick<DbCtx, 'db' | 'read' | 'engine' | 'now'>

const withPublications = (db: Kysely<Tables>) =>
  db.withTables<Pick<SharedTables, 'catalog_publication'>>()

/** All that is published and not swept yet, in its order. */
export async function readPublished(db: Kysely<Tables>): Promise<Published[]> {
  const rows = await withPublications(db)
    .selectFrom('catalog_publication')
    .selectAll()
    .orderBy('number')
    .execute()
  return rows.map(({ parts, published_at: publishedAt, is_broken: isBroken, ...row }) => ({
    ...row,
    parts: JSON.parse(parts) as Part[],
    publishedAt,
    isBroken: isBroken === 1,
  }))
}

/**
 * Publishes what goes on from the newest state, or takes its place. `after` is the number of the
 * newest publication that the leader knew of when it decided so. False where there is another one
 * by now; throws `LeadLost` where the epoch is over.
 */
export async function publish(
  ctx: RecordCtx,
  { parts, ...publication }: Publication,
  { epoch, after }: { epoch: number; after: number },
): Promise<boolean> {
  return ctx.engine.atomic(ctx, async (tx) => {
    await tx.engine.lead!.fence(tx.db, epoch)
    const published = withPublications(tx.db)
    const newest = await published
      .selectFrom('catalog_publication')
      .select(({ fn }) => fn.max('number').as('number'))
      .executeTakeFirst()
    if ((newest?.number ?? 0) !== after) return false
    await published
      .insertInto('catalog_publication')
      .values({
        ...publication,
        number: after + 1,
        parts: JSON.stringify(parts),
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
      .updateTable('catalog_publication')
      .set({ is_broken: 1 })
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
      .updateTable('catalog_publication')
      .set({ is_broken: 0 })
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
      .deleteFrom('catalog_publication')
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
  ctx: RecordCtx,
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
