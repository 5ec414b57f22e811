/** The distributors that an app knows, by name and by distid. */
import type { Distributor } from './distributor.js'

export interface Registry {
  readonly all: readonly Distributor[]
  byName(name: string): Distributor | undefined
  byDistid(distid: string): Distributor | undefined
}

export function makeRegistry(distributors: readonly Distributor[]): Registry {
  const names = new Map(distributors.map((distributor) => [distributor.name, distributor]))
  const distids = new Map(distributors.map((distributor) => [distributor.distid, distributor]))
  if (names.size < distributors.length || distids.size < distributors.length) throw new Error('two distributors share a name or a distid')
  return { all: distributors, byName: (name) => names.get(name), byDistid: (distid) => distids.get(distid) }
}
