/** What lies in the folders of Hicks Inc. by a time: answers to orders, and the list of parcels. */
import { MINUTE } from '../../../core/clock.js'
import { lifeOf } from '../../../simulator/engine/life.js'
import type { SalesOrder } from '../../../simulator/engine/order.js'
import { isLookupDown } from '../../../simulator/engine/sales-order.js'
import type { Profile } from '../../../simulator/engine/world.js'
import { PROBLEMS, TAKEN } from './account.js'

export interface AnswerFile {
  /** With its folder. */
  readonly path: string
  readonly text: string
  /** Milliseconds since 1970. */
  readonly writtenAt: number
}

/** How often an answer comes, where it is asked for that it comes many times. */
const REPEATED = 5
/** Columns behind those of an order, up to the message. */
const FILLER = ['', '', '', '', '', '']

/** The answers to an account's orders. */
export function answersOf(
  profile: Profile,
  orders: readonly SalesOrder[],
  now: number,
): AnswerFile[] {
  return orders
    .flatMap((order) => {
      const [first] = lifeOf(profile, order)
      if (!first || isLookupDown(order, now)) return []
      const number = order.number.replace(/^.*-/, '')
      const isTaken = order.lines.some(({ committed }) => committed > 0)
      const folder = isTaken ? TAKEN : PROBLEMS
      const copies = order.scenario === 'DUPLICATE-ACK' ? REPEATED + 1 : 1
      return Array.from({ length: copies }, (_, copy) => ({
        path: `${folder}/${order.listedPo}_${number}${copy === 0 ? '' : `_${copy}`}.txt`,
        text: rowsOf(order, isTaken ? null : 'ITEM NOT AVAILABLE'),
        writtenAt: first.at + copy * MINUTE,
      }))
    })
    .filter(({ writtenAt }) => writtenAt <= now)
}

function rowsOf({ listedPo, lines, shipTo, firearms }: SalesOrder, problem: string | null): string {
  return lines
    .map(({ distsku, qty }) => {
      const row = [
        '',
        listedPo,
        shipTo.name,
        shipTo.address1,
        '',
        'ANYWHERE',
        'AZ',
        shipTo.zip.slice(0, 5),
        distsku,
        String(qty),
        '',
        firearms ? '157033019E67890' : '',
        firearms ? 'P' : '',
        '',
        '',
      ]
      return problem === null ? row : ['12345', ...row, ...FILLER, problem]
    })
    .map((cells) => `${cells.join('\t')}\r\n`)
    .join('')
}

/** `tracking.tab`: PO, carrier, number of the parcel, nothing that is known, number of the order. */
export function trackingOf(profile: Profile, orders: readonly SalesOrder[], now: number): string {
  return orders
    .filter((order) => !isLookupDown(order, now))
    .flatMap((order) => {
      const shipped = lifeOf(profile, order).find(({ parcels, at }) => parcels && at <= now)
      return (shipped?.parcels ?? []).map(
        ({ company, trackingNumber }) =>
          `${[order.listedPo, company, trackingNumber, '', order.number].join('\t')}\r\n`,
      )
    })
    .join('')
}
