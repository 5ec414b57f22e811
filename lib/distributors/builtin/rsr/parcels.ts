/** Parcels as RSR's API tells them: in lists within one text, item for item, without a carrier. */
import type { Parcel } from '../../fulfillment.js'
import { leftParcel } from '../../left-parcel.js'
import { textOf } from '../../session/reply.js'
import { writtenDay } from '../../days.js'

/** Written where nothing is known yet. */
const PENDING = 'pending'

/** The parcels of one item of `check-order`, by its members in lower case. */
export function parcelsIn(item: ReadonlyMap<string, unknown>): Parcel[] {
  const [numbers, days] = [listOf(item.get('trackingnum')), listOf(item.get('dateshipped'))]
  return numbers.flatMap((trackingNumber, place) =>
    trackingNumber === '' || trackingNumber.toLowerCase() === PENDING
      ? []
      : [leftParcel(trackingNumber, writtenDay(days[place] ?? days[0] ?? ''))],
  )
}

const listOf = (value: unknown) => (textOf(value) ?? '').split(',').map((one) => one.trim())
