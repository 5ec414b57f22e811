/** The distributors that an app knows, by name and by distid. */
import type { Distributor } from './distributor.js'
import type { Preset } from './generic/preset.js'
import { presets as builtinPresets } from './generic/presets.js'

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

export function makeRegistry(distributors: readonly Distributor[]): Registry {
  const names = new Map(distributors.map((distributor) => [distributor.name, distributor]))
  const distids = new Map(distributors.map((distributor) => [distributor.distid, distributor]))
  if (names.size < distributors.length || distids.size < distributors.length)
    throw new Error('two distributors share a name or a distid')
  return {
    all: distributors,
    byName: (name) => names.get(name),
    byDistid: (distid) => distids.get(distid),
    presets: presetsOf(distributors),
  }
}

function presetsOf(distributors: readonly Distributor[]): ReadonlyMap<string, Preset> {
  const all = [
    ...Object.values(builtinPresets),
    ...distributors.flatMap(({ presets = [] }) => presets),
  ]
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
