/**
 * Answers of Bill Hicks: an acknowledgement (855) says what is committed, a ship notice (856) what
 * was shipped. Rows of cells between bars, each with the whole of its order and one item. Headers
 * are not to be relied upon: that of a ship notice may name a price that its rows do not have.
 */
import { writtenDay } from '../../days.js'

/** What of one order one file tells: a file may have many, and one PO may go to several places. */
export interface Answer {
  readonly kind: 'ack' | 'asn'
  readonly po: string
  /** Their number of the order; null where they gave none. */
  readonly number: string | null
  readonly shipTo: { readonly name: string; readonly address1: string; readonly zip: string }
  /** `YYYY-MM-DD` on which it was acknowledged, or shipped; null where that cannot be read. */
  readonly day: string | null
  readonly items: readonly AnswerItem[]
}

export interface AnswerItem {
  readonly distsku: string
  readonly ordered: number
  /** Units committed, or shipped. */
  readonly units: number
  /** Empty on an acknowledgement, and where there is none yet. */
  readonly trackingNumber: string
  readonly carrier: string
}

type Cell = (column: keyof typeof COLUMNS) => string | undefined

/** Columns by what they are called, without case and signs. */
const COLUMNS = {
  po: ['ponumber'],
  ordered: ['quantityordered'],
  units: ['quantitycommitted', 'quantityshipped'],
  distsku: ['productid'],
  name: ['shiptoname'],
  address1: ['shiptoaddress1'],
  zip: ['shiptozipcode', 'shiptozip'],
  day: ['poackdate', 'shipdate'],
  trackingNumber: ['trackingnumber'],
  carrier: ['carrier'],
  number: ['bhcordernumber'],
} as const satisfies Record<string, readonly string[]>
/** Without these a row tells nothing. */
const NEEDED = ['po', 'ordered', 'units', 'distsku', 'zip'] as const
/** Before all that may hold a bar, so that it is read in a row that is torn as well. */
const PRICE = 'price'

/**
 * The orders of one file; null where it is none of the two. `isSettled`: nobody writes it any more,
 * so that its last row is whole without the end of a line. An order with a row that cannot be
 * understood is left out: half of an answer is none.
 */
export function readAnswers(text: string, isSettled: boolean): Answer[] | null {
  const lines = text.split(/\r?\n/)
  const last = lines.pop() ?? ''
  if (isSettled && last.trim() !== '') lines.push(last)
  const [head, ...rows] = lines
    .filter((line) => line.trim() !== '')
    .map((line) => line.split('|').map((cell) => cell.trim()))
  const kind = head?.[0]?.toUpperCase()
  if (head === undefined || (kind !== 'ACK' && kind !== 'ASN')) return null
  const header = head.map((name) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
  while (header.at(-1) === '') header.pop()
  const orders = new Map<string, Draft>()
  const torn = new Set<string>()
  for (const row of rows) {
    const cell = cellsOf(header, row)
    const item = cell && itemOf(cell)
    if (!cell || !item) torn.add(row[header.indexOf('ponumber')] ?? '')
    else addTo(orders, kind === 'ACK' ? 'ack' : 'asn', cell, item)
  }
  return [...orders.values()].filter(({ po }) => !torn.has(po))
}

type Draft = Answer & { readonly items: AnswerItem[] }

/** A reader of a row's cells by column; null for a row that fits no header. */
function cellsOf(header: readonly string[], row: readonly string[]): Cell | null {
  const cells = [...row]
  while (cells.length > header.length && cells.at(-1) === '') cells.pop()
  const price = header.indexOf(PRICE)
  const names =
    cells.length === header.length - 1 && price >= 0 ? header.toSpliced(price, 1) : header
  if (cells.length !== names.length) return null
  return (column) => {
    const place = names.findIndex((name) => (COLUMNS[column] as readonly string[]).includes(name))
    return place < 0 ? undefined : cells[place]
  }
}

/** Null where a count is none: what is not understood is not taken for nothing. */
function itemOf(cell: Cell): AnswerItem | null {
  if (NEEDED.some((column) => (cell(column) ?? '') === '')) return null
  const [ordered, units] = [cell('ordered')!, cell('units')!]
  if (![ordered, units].every((count) => /^\d{1,7}$/.test(count))) return null
  return {
    distsku: cell('distsku')!,
    ordered: Number(ordered),
    units: Number(units),
    trackingNumber: cell('trackingNumber') ?? '',
    carrier: cell('carrier') ?? '',
  }
}

function addTo(orders: Map<string, Draft>, kind: Answer['kind'], cell: Cell, item: AnswerItem) {
  const [po, number] = [cell('po')!, cell('number') || null]
  const shipTo = {
    name: cell('name') ?? '',
    address1: cell('address1') ?? '',
    zip: cell('zip')!,
  }
  const key = JSON.stringify([po, number, shipTo])
  const order = orders.get(key)
  if (order) order.items.push(item)
  else
    orders.set(key, { kind, po, number, shipTo, day: writtenDay(cell('day') ?? ''), items: [item] })
}
