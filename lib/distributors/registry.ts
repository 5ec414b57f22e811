/** The distributors that an app knows, by name and by distid. */
import type { Distributor } from './distributor.js'
import type { Preset } from './generic/preset.js'

export interface Registry {
  readonly all: readonly Distributor[]
  byName(name: string): Distributor | undefined
  byDistid(distid: string): Distributor | undefined
  /**
   * How feeds are read, by id: ours, then those that distributors bring. A full catalog stands
   * before its shorter feeds.
   */
  readonly presets: ReadonlyMap<string, Preset>
}

/**
 * A registry of these distributors. `known` are presets that are there whoever brings them, by id.
 * Throws where two distributors or presets share a name.
 */
export function makeRegistry(
  distributors: readonly Distributor[],
  known: Readonly<Record<string, Preset>>,
): Registry {
  const names = new Map(distributors.map((distributor) => [distributor.name, distributor]))
  const distids = new Map(distributors.map((distributor) => [distributor.distid, distributor]))
  if (names.size < distributors.length || distids.size < distributors.length)
    throw new Error('two distributors share a name or a distid')
  return {
    all: distributors,
    byName: (name) => names.get(name),
    byDistid: (distid) => distids.get(distid),
    presets: presetsOf(distributors, Object.values(known)),
  }
}

function presetsOf(
  distributors: readonly Distributor[],
  known: readonly Preset[],
): ReadonlyMap<string, Preset> {
  const all = [...known, ...distributors.flatMap(({ presets = [] }) => presets)]
  const byId = new Map(all.map((preset) => [preset.id, preset]))
  if (byId.size < all.length) throw new Error('two feed presets share an id')
  const stray = distributors.flatMap(({ distid, presets = [] }) =>
    presets.filter((preset) => preset.distid !== distid),
  )[0]
  if (stray)
    throw new Error(
      `the feed preset "${stray.id}" is of ${stray.distid}, and another distributor brings it`,
    )
  return byId
}
