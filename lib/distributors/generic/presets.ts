/** The presets that come with the program, by id. */
import type { Preset } from './preset.js'
import { chattanooga } from '../chattanooga/feed.js'
import { davidsons, davidsonsQuantity } from '../davidsons/feed.js'
import { lipseys, lipseysPricing } from '../lipseys/feed.js'
import { rsr, rsrQuantity } from '../rsr/feed.js'
import { sportsSouth } from '../sports-south/feed.js'
import { zanders } from '../zanders/feed.js'

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
