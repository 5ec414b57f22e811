/** Documents that come with the program, to be taken over: each says what it was written from. */
import amchar from '../../../data/distributors/amchar.json' with { type: 'json' }
import camfour from '../../../data/distributors/camfour.json' with { type: 'json' }
import davidsons from '../../../data/distributors/davidsons.json' with { type: 'json' }
import davidsonsPortal from '../../../data/distributors/davidsons-portal.json' with { type: 'json' }
import gunAccessorySupply from '../../../data/distributors/gun-accessory-supply.json' with { type: 'json' }
import kinseys from '../../../data/distributors/kinseys.json' with { type: 'json' }
import mge from '../../../data/distributors/mge.json' with { type: 'json' }
import silencerShop from '../../../data/distributors/silencer-shop.json' with { type: 'json' }
import sportsmansSupply from '../../../data/distributors/sportsmans-supply.json' with { type: 'json' }

/** By the name under which they are asked for. */
export const TEMPLATES: Readonly<
  Record<string, { readonly distid: string; readonly name: string; readonly writtenFrom: string }>
> = {
  amchar,
  camfour,
  davidsons,
  'davidsons-portal': davidsonsPortal,
  'gun-accessory-supply': gunAccessorySupply,
  kinseys,
  mge,
  'silencer-shop': silencerShop,
  'sportsmans-supply': sportsmansSupply,
}
