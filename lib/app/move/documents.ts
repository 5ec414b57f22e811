/**
 * Documents of distributors, which move with the record: a folder has them as files in
 * `distributors/`, nodes as a table of their database.
 */
import { mkdirSync } from 'node:fs'
import { writeWholeNow } from '../../core/storage/durable.js'
import type { MoveClient } from '../../db/move/postgres-state.js'
import type { Row, TableShape } from '../../db/move/tables.js'
import {
  DISTID_FORM,
  distidIn,
  documentFile,
  documentFiles,
  documentsIn,
} from '../../distributors/document/kept/folder.js'

const DISTID = { name: 'distid', kind: 'text' } as const

/** Their table, as a row of a folder's file is one of its own. */
export const DOCUMENTS: TableShape = {
  database: 'record',
  name: 'distributor_document',
  columns: [DISTID, { name: 'text', kind: 'text' }],
  order: [DISTID],
}

/**
 * Those of a folder in the order of their distids; a file may have any name. Throws for one that
 * tells no distid, and for two of the same.
 */
export function documentRows(dir: string): Row[] {
  const files = new Map<string, string>()
  const rows = documentFiles(dir).map(({ file, text }): Row => {
    const distid = distidOf(file, text)
    const other = files.get(distid)
    if (other !== undefined)
      throw new Error(`${other} and ${file} are both of ${distid}: make one document of them`)
    files.set(distid, file)
    return [distid, text]
  })
  return rows.toSorted(([a], [b]) => Buffer.compare(Buffer.from(a!), Buffer.from(b!)))
}

function distidOf(file: string, text: string): string {
  const distid = distidIn(text)
  if (distid === null || !DISTID_FORM.test(distid))
    throw new Error(`${file} is not a document of a distributor: \`distributors check\` says why`)
  return distid
}

/** Writes them as files. Throws for a distid that could not be the name of one. */
export function writeDocuments(dir: string, rows: readonly Row[]): void {
  for (const [distid, text] of rows as readonly (readonly [string, string])[]) {
    if (!DISTID_FORM.test(distid))
      throw new Error(`"${distid}" in the table ${DOCUMENTS.name} is not a distid: remove that row`)
    mkdirSync(documentsIn(dir), { recursive: true, mode: 0o700 })
    writeWholeNow(documentFile(dir, distid), text)
  }
}

/** Whether a database has the table: one that nobody has brought up to date may lack it. */
export async function hasDocuments(client: MoveClient): Promise<boolean> {
  const { rows } = await client.query(`SELECT to_regclass('${DOCUMENTS.name}') AS name`)
  return rows[0]!['name'] !== null
}
