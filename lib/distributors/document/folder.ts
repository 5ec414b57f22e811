/** The documents of a state folder: one file for each distributor, `distributors/ACME.json`. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Distributor } from '../distributor.js'
import { distributorOf } from './distributor.js'
import { refuseShared } from './apart.js'
import { readDocument } from './read.js'
import type { DocumentFault } from './read.js'
import type { DistributorDocument } from './schema.js'

export const documentsIn = (dir: string): string => join(dir, 'distributors')

export const documentFile = (dir: string, distid: string): string =>
  join(documentsIn(dir), `${distid}.json`)

/** Such as `feeds.0.map.price: is required`. */
export const faultText = ({ at, message }: DocumentFault): string =>
  at === '' ? message : `${at}: ${message}`

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
  const folder = documentsIn(dir)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json') && name !== `${except}.json`)
    .toSorted()
    .map((name) => {
      const file = join(folder, name)
      const { document, faults } = readDocument(readFileSync(file, 'utf8'), presets, distributors)
      if (document === null)
        throw new Error(`${file} cannot be used:\n  ${faults.map(faultText).join('\n  ')}`)
      return document
    })
}

/** The distributors with that of one document. Throws where another one is in its way. */
export function withDocument(
  distributors: readonly Distributor[],
  document: DistributorDocument,
): readonly Distributor[] {
  const { distid, name } = document
  const known = distributors.find((one) => one.distid === distid)
  const namesake = distributors.find((one) => one.name === name && one.distid !== distid)
  if (namesake) throw new Error(`${distid}: ${namesake.distid} is called "${name}" already`)
  if (!known) return [...distributors, distributorOf(document)]
  if (known.fulfillment)
    throw new Error(`${distid}: ${known.name} comes with the program and takes orders by itself`)
  if (known.name !== name)
    throw new Error(`${distid}: this is the distid of ${known.name}; give the document that name`)
  return distributors.map((one) => (one === known ? both(known, distributorOf(document)) : one))
}

/** What the program knows stays; the document adds to it. */
function both(known: Distributor, described: Distributor): Distributor {
  return {
    ...known,
    ...described,
    automatedFulfillment: known.automatedFulfillment || described.automatedFulfillment,
    settings: { ...known.settings, ...described.settings },
    ...((known.requiredSections ?? described.requiredSections) && {
      requiredSections: known.requiredSections ?? described.requiredSections ?? [],
    }),
  }
}
