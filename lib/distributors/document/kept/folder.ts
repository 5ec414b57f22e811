/** The documents of a state folder: one file for each distributor, `distributors/ACME.json`. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Distributor } from '../../distributor.js'
import { readDocument } from '../read.js'
import type { DistributorDocument } from '../schema.js'
import { refuseShared } from './apart.js'
import { faultText, withDocument } from './with-document.js'

export const documentsIn = (dir: string): string => join(dir, 'distributors')

export const documentFile = (dir: string, distid: string): string =>
  join(documentsIn(dir), `${distid}.json`)

/** A distid that can be the name of a file. */
export const DISTID_FORM = /^[A-Za-z0-9]+$/

/** What a document says that its distid is; null where it says nothing, or is none. */
export function distidIn(text: string): string | null {
  try {
    const document = JSON.parse(text.replace(/^\uFEFF/, '')) as { distid?: unknown } | null
    return typeof document?.distid === 'string' ? document.distid : null
  } catch {
    return null
  }
}

/** The text of each document of a folder, in the order of their files' names. */
export function documentFiles(dir: string): { file: string; text: string }[] {
  const folder = documentsIn(dir)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => join(folder, name))
    .map((file) => ({ file, text: readFileSync(file, 'utf8') }))
}

/**
 * The distributors, and those that the documents of the folder describe. A document may stand for
 * one that comes with the program and takes no orders: it adds to that. Throws for a document that
 * cannot be read, with its faults: whoever lists its distributor would find it gone.
 */
export function withDocuments(
  distributors: readonly Distributor[],
  dir: string,
  presets: ReadonlySet<string>,
): readonly Distributor[] {
  return allOf(distributors, dir, documentsOf(distributors, dir, presets))
}

/** The same, with one document more, or in place of that of its distid. */
export function withDocumentAdded(
  distributors: readonly Distributor[],
  dir: string,
  presets: ReadonlySet<string>,
  document: DistributorDocument,
): readonly Distributor[] {
  const others = documentsOf(distributors, dir, presets, document.distid)
  return allOf(distributors, dir, [...others, document])
}

function allOf(
  distributors: readonly Distributor[],
  dir: string,
  documents: readonly DistributorDocument[],
): readonly Distributor[] {
  const all = documents.reduce<readonly Distributor[]>(withDocument, distributors)
  refuseShared(documents, dir)
  return all
}

/** The documents of a folder; without that of `except`. */
function documentsOf(
  distributors: readonly Distributor[],
  dir: string,
  presets: ReadonlySet<string>,
  except?: string,
): DistributorDocument[] {
  return documentFiles(dir)
    .filter(({ file }) => except === undefined || file !== documentFile(dir, except))
    .map(({ file, text }) => {
      const { document, faults } = readDocument(text, presets, distributors)
      if (document === null)
        throw new Error(`${file} cannot be used:\n  ${faults.map(faultText).join('\n  ')}`)
      return document
    })
}
