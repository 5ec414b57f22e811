/** The texts of offers, as catalog.db writes them. DuckDB's process has this, and no Kysely. */
import type { CatalogDb } from '../catalog/queries.js'

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
