/**
 * What is noted of exports: which files of the object store are whose, and when a key last asked.
 * What is forgotten is built again.
 */
import type { Kysely } from 'kysely'
import { meteredQuery } from '../db/query.js'
import type { Work } from '../db/query.js'
import { all, change } from '../db/reading.js'
import type { MeterTables } from '../db/tables/tables.js'
import type { Published } from './ctx.js'

type Meter = Kysely<MeterTables>

export async function findPublished(
  meter: Meter,
  subscriberId: string,
  version: string,
): Promise<Published | undefined> {
  return meter
    .selectFrom('export_file')
    .selectAll()
    .where('subscriber_id', '=', subscriberId)
    .where('export_version', '=', version)
    .executeTakeFirst()
}

/** A file that somebody's export already is, of the same content. */
export const twin = meteredQuery((db, { content }: { content: string }) =>
  db
    .selectFrom('export_file')
    .selectAll()
    .where('content', '=', content)
    .orderBy('made_at', 'desc')
    .limit(1),
)

/** Until when the URLs of an export that is made anew work stays as it was. */
export const savePublished = meteredQuery((db, given: Published) =>
  db
    .insertInto('export_file')
    .values({
      subscriber_id: given.subscriber_id,
      export_version: given.export_version,
      content: given.content,
      parquet_key: given.parquet_key,
      attributes_key: given.attributes_key,
      made_at: given.made_at,
      urls_until: given.urls_until,
    })
    .onConflict((conflict) =>
      conflict.columns(['subscriber_id', 'export_version']).doUpdateSet({
        content: given.content,
        parquet_key: given.parquet_key,
        attributes_key: given.attributes_key,
        made_at: given.made_at,
      }),
    ),
)

/** Notes until when a URL works: the file stays so long. */
export async function noteUrl(
  meter: Meter,
  { subscriber_id: owner, export_version: version }: Published,
  until: number,
): Promise<void> {
  await meter
    .updateTable('export_file')
    .set({ urls_until: until })
    .where('subscriber_id', '=', owner)
    .where('export_version', '=', version)
    .where('urls_until', '<', until)
    .execute()
}

export async function allPublished(meter: Meter): Promise<Published[]> {
  return meter.selectFrom('export_file').selectAll().orderBy('made_at').execute()
}

const deletePublished = meteredQuery((db, given: Published) =>
  db
    .deleteFrom('export_file')
    .where('subscriber_id', '=', given.subscriber_id)
    .where('export_version', '=', given.export_version)
    .where('made_at', '=', given.made_at)
    .where('urls_until', '=', given.urls_until),
)

const usesOf = meteredQuery((db, { key }: { key: string }) =>
  db
    .selectFrom('export_file')
    .select('content')
    .where((where) => where.or([where('parquet_key', '=', key), where('attributes_key', '=', key)]))
    .limit(1),
)

/**
 * Forgets an export, as it was read: one whose URL was handed out since stays. Returns the keys that
 * no other one has: their objects can go.
 */
export function* forgetPublished(row: Published): Work<string[]> {
  if ((yield* change(deletePublished, row)) === 0) return []
  const { parquet_key: parquet, attributes_key: attributes } = row
  const unused: string[] = []
  for (const key of [parquet, ...(attributes === null ? [] : [attributes])])
    if ((yield* all(usesOf, { key })).length === 0) unused.push(key)
  return unused
}

/** When the last call of a key was answered, in ms. */
export async function lastPoll(meter: Meter, keyId: string): Promise<number | undefined> {
  const row = await meter
    .selectFrom('export_poll')
    .select('at')
    .where('key_id', '=', keyId)
    .executeTakeFirst()
  return row?.at
}

export async function savePoll(meter: Meter, keyId: string, at: number): Promise<void> {
  await meter
    .insertInto('export_poll')
    .values({ key_id: keyId, at })
    .onConflict((conflict) => conflict.column('key_id').doUpdateSet({ at }))
    .execute()
}
