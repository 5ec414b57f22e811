/** Premises of dealers: an order that ships to one says nothing of its buyer. */
import { placeOf } from '../signals/address/address.js'
import type { Place } from '../signals/address/address.js'
import { wordOfNumber } from '../signals/address/postal-words.js'
import { isPuertoRico, zoneOf } from '../signals/address/zone.js'
import type { Reading, RowOf } from '../../db/query.js'
import { all, column } from '../../db/reading.js'
import type { FraudSignals } from '../shapes.js'
import { citiesBetween, premisesInCity, premisesInZip } from './queries.js'
import { postalAddress } from '../signals/signals.js'
import type { Signals } from '../signals/signals.js'

type Premise = RowOf<typeof premisesInZip>

/**
 * Without the addresses that are a dealer's premise, the one for billing neither: whoever ships
 * there is not the buyer.
 */
export function* withoutPremises(body: FraudSignals, signals: Signals): Reading<Signals> {
  const strong = new Map(signals.strong)
  if (
    body.shipping_is_ffl ||
    (strong.has('shipping_address_1') && (yield* isPremise(body, 'shipping')))
  )
    strong.delete('shipping_address_1')
  if (strong.has('billing_address_1') && (yield* isPremise(body, 'billing')))
    strong.delete('billing_address_1')
  return { ...signals, strong }
}

/**
 * True when the address is that of a dealer in the directory, however it is spelt and whatever else
 * its lines say.
 */
function* isPremise(body: FraudSignals, kind: 'shipping' | 'billing'): Reading<boolean> {
  const given = postalAddress(body, kind)
  const place = placeOf(given)
  if (!place) return false
  const hasZip = !place.zone.includes('/')
  return (yield* premisesNear(place)).some(
    ({
      premise_street: address1,
      premise_city: city,
      premise_state: state,
      premise_zip: postcode,
    }) => {
      // Both with the state that was given or with none: it says whether `TX Hwy 37` is the state's
      // own road.
      const premise = placeOf(
        hasZip ? { address1, city, state: given.state, postcode } : { address1, city, state },
      )
      return premise !== null && isSamePremise(place, premise)
    },
  )
}

/** Dealers of the zone in whose street the number stands, so that few are left to be read. */
function* premisesNear({ zone, number, boxes }: Place): Reading<Premise[]> {
  const figures = /\d+/.exec(number === '' ? boxes : number)?.[0]
  if (figures === undefined) return []
  const inWords = wordOfNumber(figures) ?? figures
  const patterns = { figures: whole(figures, '0-9'), words: whole(inWords, 'a-z') }
  const [city = '', state] = zone.split('/')
  // Half a place, or none, is nobody's premise.
  if (city === '' || state === '') return []
  if (state === undefined) return yield* all(premisesInZip, { zip: zone, ...patterns })
  // However a city is shortened, its first letter stays: St., Ft., Mt., N.
  const from = city.charAt(0)
  const to = String.fromCharCode(from.charCodeAt(0) + 1)
  const premises: Premise[] = []
  for (const name of yield* column(citiesBetween, { state: state.toUpperCase(), from, to }))
    if (zoneOf({ city: name, state }).key === zone)
      premises.push(
        ...(yield* all(premisesInCity, { state: state.toUpperCase(), city: name, ...patterns })),
      )
  return premises
}

const whole = (word: string, letters: string) => `*[^${letters}]${word}[^${letters}]*`

/**
 * Whether two places are one counter: a unit or a name in one of them alone changes nothing,
 * another unit is the neighbour's.
 */
function isSamePremise(one: Place, other: Place): boolean {
  const isNear = (a: string, b: string) => a === b || a === '' || b === ''
  return (
    one.zone === other.zone &&
    one.number === other.number &&
    one.before === other.before &&
    one.name === other.name &&
    one.suffix === other.suffix &&
    one.after === other.after &&
    (one.number !== '' || one.boxes === other.boxes) &&
    isNear(one.units, other.units) &&
    (!isPuertoRico(one.zone) || isNear(one.extras, other.extras))
  )
}
