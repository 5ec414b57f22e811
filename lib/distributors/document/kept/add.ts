/** What the operator does with the documents of a folder. */
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { invalid } from '../../../core/errors.js'
import { writeWholeNow } from '../../../core/storage/durable.js'
import type { Distributor } from '../../distributor.js'
import type { Preset } from '../../generic/preset.js'
import { makeRegistry } from '../../registry.js'
import type { DistributorDocument } from '../schema.js'
import { DISTID_FORM, documentFile, documentsIn, withDocumentAdded } from './folder.js'

/** What comes with the program. */
export interface Known {
  readonly distributors: readonly Distributor[]
  readonly presets: Readonly<Record<string, Preset>>
}

/** A document as it is kept. */
export const textOf = (document: DistributorDocument): string =>
  `${JSON.stringify(document, null, 2)}\n`

/** Why one that was live is not any more; for the audit. */
export const OTHER_WAY = 'its document orders in another way'

/** Where and how orders are sent: what somebody agreed to who went live. */
export const orderingOf = ({ name, orders, connections }: DistributorDocument): string =>
  JSON.stringify([name, orders, connections])

/**
 * Keeps a document in the state folder; it holds from the next start on. One of the same distid is
 * replaced. Throws 400 where a distributor of the program, or another document, is in its way: the
 * next start would fail.
 */
export function addDocument(
  dir: string,
  known: Known,
  document: DistributorDocument,
): { file: string; isNew: boolean } {
  tryDocument(dir, known, document)
  const file = documentFile(dir, document.distid)
  const isNew = !existsSync(file)
  mkdirSync(documentsIn(dir), { recursive: true, mode: 0o700 })
  // A start that comes between sees the old one or the new one.
  writeWholeNow(file, textOf(document), `${file}.draft`)
  return { file, isNew }
}

/** Throws 400 where a start with the document, and with those that are there, would fail. */
export function tryDocument(
  dir: string,
  { distributors, presets }: Known,
  document: DistributorDocument,
): void {
  try {
    const ids = new Set(Object.keys(presets))
    makeRegistry(withDocumentAdded(distributors, dir, ids, document), presets)
  } catch (error) {
    throw invalid('document', error instanceof Error ? error.message : String(error))
  }
}

/** Takes a document away. Throws 400 where there is none. */
export function removeDocument(dir: string, distid: string): string {
  const file = documentFile(dir, distid)
  if (!DISTID_FORM.test(distid) || !existsSync(file))
    throw invalid('distid', `there is no document of "${distid}" in ${documentsIn(dir)}`)
  rmSync(file)
  return file
}
