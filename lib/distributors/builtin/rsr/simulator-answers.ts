/** RSR's answers to an order's file, as they lie in its outbox by now. */
import { MINUTE } from '../../../core/clock.js'
import { lifeOf } from '../../../simulator/engine/life.js'
import type { SalesOrder } from '../../../simulator/engine/order.js'
import { ordersAnywhere } from '../../../simulator/engine/queries.js'
import type { InboxFile } from '../../../simulator/engine/queries.js'
import type { Db } from '../../../simulator/engine/store.js'
import type { Profile } from '../../../simulator/engine/world.js'
import { easternDay } from './order-file.js'
import { readFileOf } from './simulator-inbox.js'

export interface OutboxFile {
  name: string
  text: string
}

/** How often an answer is repeated, where that is asked for. */
const REPEATED = 6
/** Milliseconds for which an answer lies there without a byte, where that is asked for. */
const EMPTY_FOR = 2 * MINUTE

/** What there is of a file at a time, milliseconds since 1970. */
export function answersOf(db: Db, profile: Profile, file: InboxFile, now: number): OutboxFile[] {
  if (file.readAt === null || file.answer === null) return []
  const [, account, sequence] = /^EORD-(\d{5})-\d{8}-(\d{4})/.exec(file.name)!
  const key = file.name.replace(/^EORD-/, '')
  const order = orderOf(db, profile, file)
  const life = order ? lifeOf(profile, order).filter(({ at }) => at <= now) : []
  const cancelled = life.some(({ status }) => status === 'Cancelled')
  const since = (at: number, text: string) =>
    order?.scenario === 'EMPTY-ANSWER' && now - at < EMPTY_FOR ? '' : text
  const errors = {
    name: `EERR-RSRGP-${key}`,
    text: since(file.readAt, cancelled ? withCode(file.answer, '10014') : file.answer),
  }
  const [first] = life
  if (!order || !first) return [errors]
  const shipped = life.find(({ parcels }) => parcels)
  const confirmation = since(first.at, fileOf(file, confirmationOf(order)))
  const copies = order.scenario === 'DUPLICATE-ACK' ? REPEATED : 1
  return [
    errors,
    ...Array.from({ length: copies }, (_, copy) => ({
      name:
        copy === 0
          ? `ECONF-RSRGP-${key}`
          : `ECONF-RSRGP-${account}-${dayOf(file)}-${9_000 + copy}.txt`,
      text: confirmation,
    })),
    ...(shipped
      ? [
          {
            name: `ESHIP-RSRGP-${account}-${easternDay(shipped.at)}-${sequence}.txt`,
            text: since(shipped.at, fileOf(file, shipmentOf(order, shipped.at, shipped.parcels!))),
          },
        ]
      : []),
  ]
}

const dayOf = ({ name }: InboxFile) => /-(\d{8})-/.exec(name)![1]!

/** By the number that it was given; a PO may stand on several. */
const orderOf = (db: Db, { distid }: Profile, { arrival, number }: InboxFile) =>
  number === null
    ? undefined
    : ordersOf(db, distid, arrival.clientRef).find((order) => order.number === number)

function ordersOf(db: Db, distid: string, clientRef: string): SalesOrder[] {
  return ordersAnywhere(db, clientRef).filter((order) => order.distid === distid)
}

function withCode(echo: string, code: string): string {
  return echo
    .split('\r\n')
    .map((line) => (line.split(';')[1] === '10' ? line.replace(/\d{5}$/, code) : line))
    .join('\r\n')
}

function fileOf({ content }: InboxFile, records: readonly string[]): string {
  const header = readFileOf(content).records[0]!.join(';')
  return [header, ...records, 'FILETRAILER;99;00001', ''].join('\r\n')
}

const padded = (count: number, width: number) => String(count).padStart(width, '0')
const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)

function confirmationOf({ listedPo: po, number, lines }: SalesOrder): string[] {
  return [
    `${po};30;${number}`,
    ...lines.map(
      ({ distsku, qty, committed }) =>
        `${po};40;${distsku};${padded(qty, 5)};${padded(committed, 5)}`,
    ),
    totals(po, '50', lines),
  ]
}

const totals = (po: string, type: string, lines: SalesOrder['lines']) =>
  [
    po,
    type,
    padded(sum(lines.map(({ qty }) => qty)), 7),
    padded(sum(lines.map(({ committed }) => committed)), 7),
  ].join(';')

/** All units are in the first parcel; what else was needed for them came apart. */
function shipmentOf(
  { listedPo: po, number, lines, shipTo }: SalesOrder,
  at: number,
  parcels: readonly { trackingNumber: string; company: string | null; method: string | null }[],
): string[] {
  return [
    ...parcels.flatMap(({ trackingNumber, company, method }, place) => [
      `${po};60;${shipTo.name};${trackingNumber};${number};${easternDay(at)};995;200;${company};${method}`,
      ...(place === 0
        ? lines.map(
            ({ distsku, qty, committed }) =>
              `${po};70;${distsku};${padded(qty, 5)};${padded(committed, 5)}`,
          )
        : []),
    ]),
    totals(po, '80', lines),
  ]
}
