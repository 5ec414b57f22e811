/**
 * What happens to an order after it arrived: computed from the order alone, so nothing needs a
 * timer and nothing is forgotten.
 */
import { MINUTE, SECOND, dayOf } from '../../core/clock.js'
import type { OrderStatus, ShipStatus } from '../../db/tables/column-types.js'
import type { Parcel } from '../../distributors/fulfillment.js'
import type { Profile } from './world.js'
import type { SalesOrder } from './order.js'
import { scenario } from './scenarios/scenarios.js'

/** News of an order, at its time in milliseconds since 1970. */
export interface News {
  at: number
  status?: OrderStatus
  parcels?: Parcel[]
}

/** Milliseconds from the arrival. */
export const CONFIRMED = 30 * SECOND
const CANCELLED = MINUTE
const RELEASED = 5 * MINUTE
const RESTOCKED = 10 * MINUTE
/** Milliseconds from the confirmation, or from what kept the order back. */
const SHIPPED = 90 * SECOND
const JOURNEY: readonly [after: number, status: ShipStatus][] = [
  [2 * MINUTE, 'in_transit'],
  [4 * MINUTE, 'out_for_delivery'],
  [6 * MINUTE, 'delivered'],
]
/** Milliseconds by which each further parcel comes later. */
const APART = MINUTE

/** No order has news later than this after its arrival, in milliseconds. */
export const LIFETIME = 30 * MINUTE

/** All that ever happens to an order, in order of time. */
export function lifeOf(profile: Profile, order: SalesOrder): News[] {
  const { fate } = scenario(order.scenario) ?? {}
  const confirmed = order.placedAt + CONFIRMED
  const ordered = sum(order.lines.map(({ qty }) => qty))
  const committed = sum(order.lines.map((line) => line.committed))
  if (committed === 0) return [{ at: confirmed, status: 'Not Fulfilled' }]
  if (fate === 'cancel')
    return [
      { at: confirmed, status: 'Submitted' },
      { at: order.placedAt + CANCELLED, status: 'Cancelled' },
    ]
  const isPartial = committed < ordered
  const kept =
    fate === 'hold'
      ? { status: 'FFL Hold' as const, until: order.placedAt + RELEASED }
      : fate === 'backorder'
        ? { status: 'Backordered' as const, until: order.placedAt + RESTOCKED }
        : null
  const going: OrderStatus = isPartial ? 'Partially Fulfilled' : 'Submitted'
  const ready = kept?.until ?? confirmed
  return [
    { at: confirmed, status: kept?.status ?? going },
    ...(kept ? [{ at: ready, status: going }] : []),
    {
      at: ready + SHIPPED,
      status: isPartial ? going : 'Fulfilled',
      parcels: parcelsOf(profile, order, ready + SHIPPED, 0),
    },
    ...stopsOf(fate).map((after) => ({
      at: ready + SHIPPED + after,
      parcels: parcelsOf(profile, order, ready + SHIPPED, after),
    })),
  ]
}

/** Where an order stands at a time: its newest status, `Submitted` before the first. */
export function statusAt(profile: Profile, order: SalesOrder, at: number): OrderStatus {
  return (
    lifeOf(profile, order)
      .filter((news) => news.at <= at && news.status)
      .at(-1)?.status ?? 'Submitted'
  )
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

const countOf = (fate: string | undefined) => (fate === 'parcels' ? 3 : 1)

/** Milliseconds after the shipment at which some parcel moves on. */
function stopsOf(fate: string | undefined): number[] {
  const stops = Array.from({ length: countOf(fate) }, (_, parcel) =>
    JOURNEY.map(([after]) => after + parcel * APART),
  ).flat()
  return [...new Set(stops)].sort((a, b) => a - b)
}

/** All parcels of an order as they are so many milliseconds after the shipment. */
function parcelsOf(
  { firearms, others }: Profile,
  order: SalesOrder,
  shippedAt: number,
  after: number,
): Parcel[] {
  const { fate } = scenario(order.scenario) ?? {}
  const [company, method] = order.firearms ? firearms : others
  return Array.from({ length: countOf(fate) }, (_, parcel) => {
    const trackingNumber = `1ZSIM${order.number.replace(/^.*-/, '').padStart(10, '0')}${parcel + 1}`
    const reached =
      JOURNEY.filter(([stop]) => stop + parcel * APART <= after).at(-1)?.[1] ?? 'pre_transit'
    return {
      trackingNumber,
      company,
      method,
      shippedOn: dayOf(shippedAt),
      url: `https://track.example/${trackingNumber}`,
      status:
        reached !== 'delivered'
          ? reached
          : fate === 'return'
            ? 'return_to_sender'
            : fate === 'failure'
              ? 'failure'
              : reached,
    }
  })
}
