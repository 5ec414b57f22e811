/** What a document adds to the distributors that are there. */
import type { Distributor } from '../../distributor.js'
import { distributorOf } from '../distributor.js'
import type { DocumentFault } from '../read.js'
import type { DistributorDocument } from '../schema.js'

/** Such as `feeds.0.map.price: is required`. */
export const faultText = ({ at, message }: DocumentFault): string =>
  at === '' ? message : `${at}: ${message}`

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
