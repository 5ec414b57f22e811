/** What RSR does with a file in its inbox: it reads it, judges it record by record, and answers. */
import { DAY } from '../../../core/clock.js'
import { admit } from '../../../simulator/engine/admit.js'
import type { Line } from '../../../simulator/engine/order.js'
import { answerFile, filesSince, takeFile } from '../../../simulator/engine/queries.js'
import type { Db } from '../../../simulator/engine/store.js'
import type { Happening, World } from '../../../simulator/engine/world.js'
import { ACCEPTED } from './error-codes.js'
import { isFirearm, itemsOf } from './simulator-items.js'

/** Milliseconds for which RSR remembers files and orders. */
const KEPT = 30 * DAY

export interface FiledOrder {
  po: string
  to: { name: string; address1: string; zip: string }
  license?: { number: string; consumer: string; phone: string }
  lines: Line[]
}

export interface OrdersFile {
  /** Account, day and number; null where the header is not there. */
  header: { account: string; day: string; sequence: string } | null
  /** It ends as a file does. */
  isWhole: boolean
  orders: FiledOrder[]
  records: string[][]
}

/** Reads the records of an order's file, whatever is wrong with them. */
export function readFileOf(text: string): OrdersFile {
  const records = text
    .split(/\r?\n/)
    .filter((line) => line !== '')
    .map((line) => line.split(';'))
  const [, , account, day, sequence] = records.find(([id]) => id === 'FILEHEADER') ?? []
  const orders = new Map<string, FiledOrder>()
  for (const [po = '', type, ...fields] of records) {
    if (type === '10') {
      const [name = '', , address1 = '', , , , zip = ''] = fields
      orders.set(po, { po, to: { name, address1, zip }, lines: [] })
    }
    const order = orders.get(po)
    if (type === '11' && order)
      order.license = {
        number: fields[0] ?? '',
        consumer: fields[3] ?? '',
        phone: fields[4] ?? '',
      }
    if (type === '20') order?.lines.push({ distsku: fields[0] ?? '', qty: Number(fields[1]) })
  }
  return {
    header: account && day && sequence ? { account, day, sequence } : null,
    isWhole: records.at(-1)?.[0] === 'FILETRAILER',
    orders: [...orders.values()],
    records,
  }
}

/** RSR reads a file: what is refused becomes no order, and every record is answered with a code. */
export function readInbox(db: Db, world: World, { profile, account, id, at }: Happening): void {
  const file = takeFile(db, Number(id), at)
  const read = readFileOf(file.content)
  const owner = { distid: profile.distid, account }
  const others = filesSince(db, owner, at - KEPT).filter(
    ({ name, readAt }) => name === file.name && readAt !== null && readAt < at,
  )
  const [order] = read.orders
  const codes = new Map<string, string>()
  if (others.length > 0) codes.set('00', '00003')
  else if (!read.header || !read.isWhole || !order) codes.set('00', '00004')
  else for (const [key, code] of faultsOf(db, world, { ...owner, at }, order)) codes.set(key, code)
  const isRefused = codes.size > 0
  let number: string | null = null
  if (!isRefused && order) {
    const taken = admit(db, world, {
      // As with every file: what is short is told later, and nobody is there to refuse it to.
      profile: { ...profile, recovery: 'file' },
      account,
      arrival: file.arrival,
      placedAt: file.droppedAt,
      executedAt: at,
    })
    number = taken.outcome === 'accepted' ? taken.number : null
  }
  answerFile(db, Number(id), { answer: echoOf(read, codes), number })
}

/** Codes by record: `10`, `11`, or a stock number for an item's. */
function* faultsOf(
  db: Db,
  world: World,
  owner: { distid: string; account: string; at: number },
  { po, license, lines, to }: FiledOrder,
): Generator<[string, string]> {
  const isOrdered = filesSince(db, owner, owner.at - KEPT).some(
    (file) => file.arrival.po === po && file.number !== null,
  )
  if (isOrdered) yield ['10', '10010']
  if (!/^\d{5}(\d{4})?$/.test(to.zip)) yield ['10', '10999']
  if (lines.length === 0) yield ['10', '10099']
  const serialized = new Set(
    itemsOf(world)
      .filter(isFirearm)
      .map((item) => item.get('stock')!),
  )
  const firearms = lines.filter(({ distsku }) => serialized.has(distsku))
  if (license && !/^[0-9A-Z]{15}$/i.test(license.number)) yield ['11', '11002']
  if (license && license.consumer === '') yield ['11', '11010']
  if (license && license.phone === '') yield ['11', '11011']
  if (license && firearms.length > 0 && firearms.length < lines.length) yield ['11', '11007']
  for (const { distsku, qty } of lines)
    if (!Number.isSafeInteger(qty) || qty < 1) yield [distsku, '20999']
}

/** Every record with a code of five digits behind its last field. */
function echoOf({ records }: OrdersFile, codes: ReadonlyMap<string, string>): string {
  return records
    .map((record) => {
      const [, type = '', stock = ''] = record
      const key = type === '20' ? stock : type
      const fields = record.at(-1) === '' ? record.slice(0, -1) : record
      return `${[...fields, codes.get(key) ?? ACCEPTED].join(';')}\r\n`
    })
    .join('')
}
