/**
 * RSR's answers to an order file: EERR says what was wrong with it, ECONF what is committed, ESHIP
 * what was shipped. All are echoes of records with more fields; any of them may come empty.
 */
import { ACCEPTED, CANCELLED, DUPLICATES, reasonOf } from './error-codes.js'
import { writtenDay } from '../../days.js'

/** A file that is empty or cut off is told from one that says nothing: it is read again later. */
export type AnswerFile =
  | { kind: 'incomplete' }
  | { kind: 'errors'; orders: OrderErrors[] }
  | { kind: 'confirmation'; orders: Confirmation[] }
  | { kind: 'shipment'; orders: Shipment[] }

export interface OrderErrors {
  po: string
  /** The file that they are about: `99901-20261122-0007`; null where its header is not there. */
  file: string | null
  /** Nothing was wrong with it. */
  isAccepted: boolean
  /** RSR has had it before, which is no refusal. */
  isDuplicate: boolean
  /** It was taken, and RSR has cancelled it since. */
  isCancelled: boolean
  reasons: string[]
}

export interface ItemCount {
  distsku: string
  ordered: number
  /** Units committed, or shipped. */
  units: number
}

export interface Confirmation {
  po: string
  number: string
  items: ItemCount[]
}

export interface Shipment {
  po: string
  number: string
  parcels: Parcel[]
}

export interface Parcel {
  trackingNumber: string
  /** `YYYY-MM-DD`; null where RSR gives none. */
  shippedOn: string | null
  carrier: string | null
  method: string | null
  items: ItemCount[]
}

type Row = readonly string[]

/** Reads one file of `eo/outgoing`; its name says what it is. Throws for any other name. */
export function readAnswerFile(name: string, text: string): AnswerFile {
  const rows = text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .map((line) => line.split(';').map((cell) => cell.trim()))
  const kind = /^(EERR|ECONF|ESHIP)-/.exec(name)?.[1]
  if (kind === undefined) throw new Error(`"${name.slice(0, 60)}" is not an answer of RSR`)
  // RSR writes while it is read: only the last record says that it is done.
  if (rows.at(-1)?.[0] !== 'FILETRAILER') return { kind: 'incomplete' }
  const orders = byOrder(rows)
  if (kind === 'EERR') return { kind: 'errors', orders: orders.map(errorsOf) }
  if (kind === 'ECONF')
    return { kind: 'confirmation', orders: orders.flatMap((order) => confirmationOf(order) ?? []) }
  return { kind: 'shipment', orders: orders.flatMap((order) => shipmentOf(order) ?? []) }
}

/** The records of each order, by its PO; those of the file as a whole belong to each of them. */
function byOrder(rows: readonly Row[]): { po: string; rows: Row[]; file: Row[] }[] {
  const file = rows.filter(([po]) => po === 'FILEHEADER' || po === 'FILETRAILER')
  const orders = new Map<string, Row[]>()
  for (const row of rows) {
    const [po = ''] = row
    if (po === 'FILEHEADER' || po === 'FILETRAILER') continue
    orders.set(po, [...(orders.get(po) ?? []), row])
  }
  return [...orders].map(([po, own]) => ({ po, rows: own, file }))
}

/** Each record has a code of five digits behind its last field. */
function errorsOf({ po, rows, file }: { po: string; rows: Row[]; file: Row[] }): OrderErrors {
  const faults = [...file, ...rows].flatMap((row) => {
    const code = row.findLast((cell) => cell !== '')
    const isCode = code !== undefined && /^\d{5}$/.test(code) && row.indexOf(code) > 1
    if (!isCode || code === ACCEPTED || isCount(row, code)) return []
    return [{ code, stock: row[1] === '20' ? (row[2] ?? null) : null }]
  })
  return {
    po,
    file: fileNamed(file),
    isAccepted: faults.length === 0,
    isDuplicate: faults.length > 0 && faults.every(({ code }) => DUPLICATES.has(code)),
    isCancelled: faults.some(({ code }) => code === CANCELLED),
    reasons: faults.map(({ code, stock }) => reasonOf(code, stock)),
  }
}

function fileNamed(file: readonly Row[]): string | null {
  const [, , account, day, sequence] = file.find(([id]) => id === 'FILEHEADER') ?? []
  return account && day && sequence ? `${account}-${day}-${sequence}` : null
}

/** The header's account and the trailer's count have five digits too, and no code behind them. */
function isCount(row: Row, code: string): boolean {
  return row[1] === '99' && row.length === 3 && row[2] === code
}

function confirmationOf({ po, rows }: { po: string; rows: Row[] }): Confirmation | null {
  const number = rows.find(([, type]) => type === '30')?.[2]
  if (number === undefined || number === '') return null
  return { po, number, items: rows.filter(([, type]) => type === '40').map(itemOf) }
}

function shipmentOf({ po, rows }: { po: string; rows: Row[] }): Shipment | null {
  const parcels: Parcel[] = []
  let number = ''
  for (const row of rows) {
    if (row[1] === '60') {
      number ||= row[4] ?? ''
      parcels.push({
        trackingNumber: row[3] ?? '',
        shippedOn: writtenDay(row[5] ?? ''),
        carrier: row[8] || null,
        method: row[9] || null,
        items: [],
      })
    } else if (row[1] === '70') parcels.at(-1)?.items.push(itemOf(row))
  }
  return parcels.length === 0 ? null : { po, number, parcels }
}

function itemOf(row: Row): ItemCount {
  const [, , distsku = '', ordered = '', units = ''] = row
  return { distsku, ordered: count(ordered), units: count(units) }
}

/** Throws for what is not a count: a number that is not understood is not taken for none. */
function count(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new Error(`"${text.slice(0, 20)}" is not a count of units`)
  return Number(text)
}
