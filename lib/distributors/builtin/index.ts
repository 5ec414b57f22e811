/**
 * The distributors that come with the product: a folder each, and a line here.
 * Their settings follow distributors' own words.
 */
import type { DistributorSimulator } from '../../simulator/engine/world.js'
import type { Distributor } from '../distributor.js'
import type { Preset } from '../generic/preset.js'
import { amchar } from './amchar/index.js'
import { billHicks } from './bill-hicks/index.js'
import type { BuiltIn } from './built-in.js'
import { camfour } from './camfour/index.js'
import { chattanooga } from './chattanooga/index.js'
import { davidsons } from './davidsons/index.js'
import { hicksInc } from './hicks-inc/index.js'
import { lipseys } from './lipseys/index.js'
import { orion } from './orion/index.js'
import { rsr } from './rsr/index.js'
import { secondAmendmentWholesale } from './second-amendment/index.js'
import { sportsSouth } from './sports-south/index.js'
import { zanders } from './zanders/index.js'

const BUILT_IN: readonly BuiltIn[] = [
  lipseys,
  zanders,
  davidsons,
  rsr,
  secondAmendmentWholesale,
  amchar,
  billHicks,
  chattanooga,
  sportsSouth,
  camfour,
  orion,
  hicksInc,
]

/** The distributors themselves, in the contract's order, then those that it does not name. */
export const builtin: Distributor[] = BUILT_IN.map(({ distributor }) => distributor)

/** How their feeds are read, by id. A distributor's full catalog stands before its shorter feeds. */
export const presets: Readonly<Record<string, Preset>> = Object.fromEntries(
  BUILT_IN.flatMap(({ presets: own = [] }) => own)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map((preset) => [preset.id, preset]),
)

/** Those that a simulator plays, by distid. */
export const simulated: ReadonlyMap<
  string,
  { distributor: Distributor; simulator: DistributorSimulator }
> = new Map(
  BUILT_IN.flatMap(({ distributor, simulator }) =>
    simulator ? [[distributor.distid, { distributor, simulator }]] : [],
  ),
)
