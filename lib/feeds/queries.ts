/** What catalog.db knows of the sources: what each last brought, and what awaits the operator. */
import type { CatalogDb } from '../catalog/queries.js'

export interface TakenFile {
  source: string
  distid: string
  as_of: number
  taken_at: number
  rows: number
  rejected: number
}

/** The file last taken of each source. */
export function takenFiles(catalog: CatalogDb): TakenFile[] {
  return catalog
    .prepare('SELECT source, distid, as_of, taken_at, rows, rejected FROM feed')
    .all() as TakenFile[]
}

export interface RefusedFile {
  source: string
  at: number
  /** JSON array. */
  reasons: string
}

/** Files that the guard refused and nobody has decided on. */
export function refusedFiles(catalog: CatalogDb): RefusedFile[] {
  return catalog.prepare('SELECT source, at, reasons FROM refusal').all() as RefusedFile[]
}

/** The refused file of a source that `feeds accept` would take. */
export function refusedFile(
  catalog: CatalogDb,
  source: string,
): { file: string | null; asOf: number | null } | undefined {
  return catalog
    .prepare('SELECT file, as_of AS asOf FROM refusal WHERE source = ?')
    .get(source) as ReturnType<typeof refusedFile>
}

export interface RejectedRow {
  line: number
  reason: string
  text: string
}

/** Rows of the file last taken of a source that could not be used, in the order of the file. */
export function rejectedRows(
  catalog: CatalogDb,
  source: string,
  { after, limit }: { after: number; limit: number },
): RejectedRow[] {
  return catalog
    .prepare(`SELECT line, reason, text FROM rejected_row
      WHERE source = ? AND line > ? ORDER BY line LIMIT ?`)
    .all(source, after, limit) as RejectedRow[]
}
