/**
 * What meter.db knows of exports: which files of the object store are whose, and when a key last
 * asked. What is forgotten is built again. And the texts of offers, as catalog.db writes them.
 */
import type { CatalogDb } from '../catalog/queries.js'
import type { ExportsCtx, Published } from './ctx.js'

const COLUMNS =
  'subscriber_id, export_version, content, parquet_key, attributes_key, made_at, urls_until'

type Metered = Pick<ExportsCtx, 'engine'>

export function findPublished(
  { engine }: Metered,
  subscriberId: string,
  version: string,
): Published | undefined {
  return engine.meter
    .prepare(`SELECT ${COLUMNS} FROM export_file WHERE subscriber_id = ? AND export_version = ?`)
    .get(subscriberId, version) as Published | undefined
}

/** A file that somebody's export already is, of the same content. */
export function findTwin({ engine }: Metered, content: string): Published | undefined {
  return engine.meter
    .prepare(`SELECT ${COLUMNS} FROM export_file WHERE content = ? ORDER BY made_at DESC LIMIT 1`)
    .get(content) as Published | undefined
}

/** Until when the URLs of an export that is made anew work stays as it was. */
export function savePublished({ engine }: Metered, row: Published): void {
  engine.meter
    .prepare(`INSERT INTO export_file (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET content = excluded.content, parquet_key = excluded.parquet_key,
        attributes_key = excluded.attributes_key, made_at = excluded.made_at`)
    .run(
      row.subscriber_id,
      row.export_version,
      row.content,
      row.parquet_key,
      row.attributes_key,
      row.made_at,
      row.urls_until,
    )
}

/** Notes until when a URL works: the file stays so long. */
export function noteUrl(
  { engine }: Metered,
  { subscriber_id: owner, export_version: version }: Published,
  until: number,
): void {
  engine.meter
    .prepare(`UPDATE export_file SET urls_until = max(urls_until, ?)
      WHERE subscriber_id = ? AND export_version = ?`)
    .run(until, owner, version)
}

export function allPublished({ engine }: Metered): Published[] {
  return engine.meter
    .prepare(`SELECT ${COLUMNS} FROM export_file ORDER BY made_at`)
    .all() as Published[]
}

/** Forgets an export. Returns the keys that no other one has: their objects can go. */
export function forgetPublished(
  { engine }: Metered,
  {
    subscriber_id: owner,
    export_version: version,
    parquet_key: parquet,
    attributes_key: attributes,
  }: Published,
): string[] {
  engine.meter
    .prepare('DELETE FROM export_file WHERE subscriber_id = ? AND export_version = ?')
    .run(owner, version)
  const isUsed = engine.meter
    .prepare('SELECT 1 FROM export_file WHERE ? IN (parquet_key, attributes_key)')
    .pluck()
  return [parquet, ...(attributes === null ? [] : [attributes])].filter(
    (key) => isUsed.get(key) === undefined,
  )
}

/** When the last call of a key was answered, in ms. */
export function lastPoll({ engine }: Metered, keyId: string): number | undefined {
  return engine.meter.prepare('SELECT at FROM export_poll WHERE key_id = ?').pluck().get(keyId) as
    | number
    | undefined
}

export function savePoll({ engine }: Metered, keyId: string, at: number): void {
  engine.meter
    .prepare(`INSERT INTO export_poll (key_id, at) VALUES (?, ?)
      ON CONFLICT (key_id) DO UPDATE SET at = excluded.at`)
    .run(keyId, at)
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
