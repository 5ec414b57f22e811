/**
 * What is noted of exports: which files of the object store are whose, and when a key last asked.
 * What is forgotten is built again. And the texts of offers, as catalog.db writes them.
 */
import type { Kysely } from 'kysely'
import type { CatalogDb } from '../catalog/queries.js'
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
export async function findTwin(meter: Meter, content: string): Promise<Published | undefined> {
  return meter
    .selectFrom('export_file')
    .selectAll()
    .where('content', '=', content)
    .orderBy('made_at', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Until when the URLs of an export that is made anew work stays as it was. */
export async function savePublished(meter: Meter, row: Published): Promise<void> {
  const { content, parquet_key, attributes_key, made_at } = row
  await meter
    .insertInto('export_file')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['subscriber_id', 'export_version'])
        .doUpdateSet({ content, parquet_key, attributes_key, made_at }),
    )
    .execute()
}

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

/**
 * Forgets an export, as it was read: one whose URL was handed out since stays. Returns the keys that
 * no other one has: their objects can go.
 */
export async function forgetPublished(
  meter: Meter,
  {
    subscriber_id: owner,
    export_version: version,
    parquet_key: parquet,
    attributes_key: attributes,
    made_at: madeAt,
    urls_until: urlsUntil,
  }: Published,
): Promise<string[]> {
  const { numDeletedRows } = await meter
    .deleteFrom('export_file')
    .where('subscriber_id', '=', owner)
    .where('export_version', '=', version)
    .where('made_at', '=', madeAt)
    .where('urls_until', '=', urlsUntil)
    .executeTakeFirstOrThrow()
  if (numDeletedRows === 0n) return []
  const keys = [parquet, ...(attributes === null ? [] : [attributes])]
  const used = await meter
    .selectFrom('export_file')
    .select(['parquet_key', 'attributes_key'])
    .where((where) =>
      where.or([where('parquet_key', 'in', keys), where('attributes_key', 'in', keys)]),
    )
    .execute()
  return keys.filter(
    (key) => !used.some((row) => row.parquet_key === key || row.attributes_key === key),
  )
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

/** Reads texts as one JSON object each, of expressions over `fragment`, by the member's name. */
export function textLines(
  catalog: CatalogDb,
  members: Readonly<Record<string, string>>,
): (fragment: number) => string | undefined {
  const list = Object.entries(members)
    .map(([name, value]) => `'${name}', ${value}`)
    .join(', ')
  const line = catalog.prepare(`SELECT json_object(${list}) FROM fragment WHERE id = ?`).pluck()
  return (fragment) => line.get(fragment) as string | undefined
}

export type AttributeRow = [upc: string | null, distid: string, attributes: string | null]

/** Reads whose attributes a text has, and the attributes as JSON. */
export function attributeRows(catalog: CatalogDb): (fragment: number) => AttributeRow | undefined {
  const row = catalog.prepare('SELECT upc, distid, attributes FROM fragment WHERE id = ?').raw()
  return (fragment) => row.get(fragment) as AttributeRow | undefined
}
