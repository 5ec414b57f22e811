/** The presets that come with the program, by id. */
import type { Preset } from '../preset.js'
import { chattanooga } from './chattanooga.js'
import { davidsons, davidsonsQuantity } from './davidsons.js'
import { lipseys, lipseysPricing } from './lipseys.js'
import { rsr, rsrQuantity } from './rsr.js'
import { sportsSouth } from './sports-south.js'
import { zanders } from './zanders.js'

const list: readonly Preset[] = [
  chattanooga,
  davidsons,
  davidsonsQuantity,
  lipseys,
  lipseysPricing,
  rsr,
  rsrQuantity,
  sportsSouth,
  zanders,
]

/** By id. A distributor's full catalog stands before its shorter feeds. */
export const presets: Readonly<Record<string, Preset>> = Object.fromEntries(
  list.map((preset) => [preset.id, preset]),
)
