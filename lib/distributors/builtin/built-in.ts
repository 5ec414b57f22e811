import type { DistributorSimulator } from '../../simulator/engine/world.js'
import type { Distributor } from '../distributor.js'
import type { Preset } from '../generic/preset.js'

/** A distributor that comes with the product: one folder holds all that is known of it. */
export interface BuiltIn {
  readonly distributor: Distributor
  /** How its feeds are read, the full catalog first. */
  readonly presets?: readonly Preset[]
  /** How it is played until its own protocol is spoken. */
  readonly simulator?: DistributorSimulator
}
