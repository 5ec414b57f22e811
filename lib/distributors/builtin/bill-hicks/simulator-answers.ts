/** Bill Hicks's answers to orders, as they lie in its folder by now. */
import { DAY, dayOf, MINUTE } from '../../../core/clock.js'
import type { Parcel } from '../../fulfillment.js'
import { lifeOf } from '../../../simulator/engine/life.js'
import type { SalesOrder } from '../../../simulator/engine/order.js'
import { isLookupDown } from '../../../simulator/engine/sales-order.js'
import type { Profile } from '../../../simulator/engine/world.js'

export interface AnswerFile {
  readonly name: string
  readonly text: string
  /** Milliseconds since 1970. */
  readonly writtenAt: number
}

/** How often an acknowledgement comes, where it is asked for that it comes many times. */
const REPEATED = 5
/** Where days are counted from. */
const FIRST_DAY = Date.UTC(1899, 11, 30)
const SHIP_TO = [
  'Shipto Name',
  'Shipto Address1',
  'Shipto Address2',
  'Shipto City',
  'Shipto State',
  'Shipto Zip Code',
]
const ITEM = ['Product ID', 'UPC Number', 'Unit of Measure', 'Price']
const ACK = [
  'ACK',
  'PO Date',
  'PO Ack Date',
  'PO Number',
  'Quantity Ordered',
  'Quantity Committed',
  ...ITEM,
  ...SHIP_TO,
  'BHC Order Number',
]
const ASN = [
  'ASN',
  'PO Date',
  'Ship Date',
  'PO Number',
  'Quantity Ordered',
  'Quantity Shipped',
  ...ITEM,
  ...SHIP_TO,
  'Tracking Number',
  'Carrier',
  'BHC Order Number',
]

/**
 * What there is of an account's orders at a time, milliseconds since 1970: of those that something
 * happened to at one moment, in one file.
 */
export function answersOf(
  profile: Profile,
  orders: readonly SalesOrder[],
  now: number,
): AnswerFile[] {
  const [acks, asns] = [new Map<number, string[][]>(), new Map<number, string[][]>()]
  const repeated: AnswerFile[] = []
  for (const order of orders) {
    const [first, ...later] = lifeOf(profile, order).filter(({ at }) => at <= now)
    if (!first || isLookupDown(order, now)) continue
    const rows = acknowledged(order, first.at)
    add(acks, first.at, rows)
    if (order.scenario === 'DUPLICATE-ACK') repeated.push(...copiesOf(order, first.at, rows))
    const shipped = later.find(({ parcels }) => parcels)
    if (shipped) add(asns, shipped.at, shippedRows(order, shipped.at, shipped.parcels!))
  }
  const files = (kind: string, header: readonly string[], told: Map<number, string[][]>) =>
    [...told].map(([at, rows]) => ({
      name: `${kind}_${at}.txt`,
      text: fileOf(header, rows),
      writtenAt: at,
    }))
  return [...files('ack', ACK, acks), ...files('asn', ASN, asns), ...repeated].filter(
    ({ writtenAt }) => writtenAt <= now,
  )
}

const add = (told: Map<number, string[][]>, at: number, rows: string[][]) =>
  void told.set(at, [...(told.get(at) ?? []), ...rows])

/** They come minutes later, after newer news. */
const copiesOf = ({ number }: SalesOrder, at: number, rows: string[][]): AnswerFile[] =>
  Array.from({ length: REPEATED }, (_, copy) => ({
    name: `ack_${number.replace(/^.*-/, '')}_${copy}.txt`,
    text: fileOf(ACK, rows),
    writtenAt: at + (copy + 1) * MINUTE,
  }))

const fileOf = (header: readonly string[], rows: readonly (readonly string[])[]) =>
  [header, ...rows].map((cells) => `${cells.join('|')}\r\n`).join('')

/** As the real one writes them: the first cut off, the second counted. */
const daysOf = (placedAt: number, at: number) => {
  const [year, month, day] = dayOf(placedAt).split('-')
  return [`${month}/${day}/${year}`.slice(0, -1), String(Math.floor((at - FIRST_DAY) / DAY))]
}

const placeOf = ({ name, address1, zip }: SalesOrder['shipTo']) => [
  name,
  address1,
  '',
  'Anywhere',
  'AZ',
  zip,
]

function acknowledged(order: SalesOrder, at: number): string[][] {
  const { listedPo, number, lines, shipTo, placedAt } = order
  return lines.map(({ distsku, qty, committed }) => [
    'AckData',
    ...daysOf(placedAt, at),
    listedPo,
    String(qty),
    String(committed),
    distsku,
    '',
    'EA',
    '1.00',
    ...placeOf(shipTo),
    number,
  ])
}

/** All units are in the first parcel; what else was needed for them came apart. */
function shippedRows(order: SalesOrder, at: number, parcels: readonly Parcel[]): string[][] {
  const { listedPo, number, lines, shipTo, placedAt } = order
  // Some rows lack the price that the header names.
  const price = Number(number.slice(-1)) % 2 === 0 ? ['1.00'] : []
  const row = (
    line: SalesOrder['lines'][number],
    units: number,
    { trackingNumber, method }: Parcel,
  ) => [
    'ASNData',
    ...daysOf(placedAt, at),
    listedPo,
    String(line.qty),
    String(units),
    line.distsku,
    '',
    'EA',
    ...price,
    ...placeOf(shipTo),
    trackingNumber,
    method ?? '',
    number,
  ]
  return parcels.flatMap((parcel, place) =>
    lines
      .filter(({ committed }) => committed > 0)
      .map((line) => row(line, place === 0 ? line.committed : 0, parcel)),
  )
}
