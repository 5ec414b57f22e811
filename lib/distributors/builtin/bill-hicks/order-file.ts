/**
 * The order file of Bill Hicks (850): tabs between fields, CRLF behind rows, nothing quoted, one
 * destination a file. No field may hold what separates fields.
 */
import { toDollars } from '../../../core/money.js'
import type { PurchaseOrder } from '../../fulfillment.js'
import { digits, plain } from '../../plain-text.js'
import { textOf } from '../../session/reply.js'
import { customerOf } from './account.js'
import type { BillHicksSettings } from './account.js'

export interface OrderFile {
  readonly name: string
  readonly text: string
}

/** Rows of the file: names of the columns stand above the values. */
export const ORDER_COLUMNS = [
  'HL',
  'Customer#',
  'Ship to#',
  'Ship to Name1',
  'Address 1',
  'Address 2',
  'city',
  'state',
  'zip',
  'cust po',
  'ship method',
  'notes',
  'FFL#',
] as const
export const LINE_COLUMNS = ['LL', 'Item', 'Description', 'Qty', 'Price'] as const
/** Behind the values of an order. */
export const END = 'END'

/** A number of a ship-to goes before the address that is written, so no drop shipment has one. */
const NO_SHIP_TO = '0000'
const LONGEST_NOTE = 30
const LONGEST_PO = 30
const USUAL_METHOD = 'UPSF'

export const PO_LIMITS = { max: LONGEST_PO, chars: /[A-Za-z0-9._-]/ } as const

/** The name of an order's file: the same for every send, so that no other send makes another. */
export const fileName = ({ po }: Pick<PurchaseOrder, 'po'>): string => `${po}-order.txt`

/**
 * The file of one order. Throws for what cannot be written as it is meant: a file that is read
 * otherwise is an order that nobody placed.
 */
export function orderFile(order: PurchaseOrder, settings: BillHicksSettings): OrderFile {
  const customer = customerOf(settings)
  if (!/^[A-Za-z0-9._-]{1,30}$/.test(order.po))
    throw new Error(
      `the customer PO has up to ${LONGEST_PO} letters, digits, dots, dashes and underscores, ` +
        `not "${order.po}"`,
    )
  if (order.lines.length === 0) throw new Error('the order has no items')
  const rows = [
    [...ORDER_COLUMNS],
    ['H', customer, ...fieldsOf(order, settings), END],
    [...LINE_COLUMNS],
    ...order.lines.map(({ distsku, name, qty, unitPrice }) => [
      'L',
      unchanged(distsku, 'an item number'),
      name,
      counted(qty),
      toDollars(unitPrice).toFixed(2),
    ]),
  ]
  return {
    name: fileName(order),
    text: rows.map((cells) => `${cells.map(plain).join('\t')}\r\n`).join(''),
  }
}

/** From the number of the ship-to to the license. */
function fieldsOf(order: PurchaseOrder, settings: BillHicksSettings): string[] {
  const { shipTo, shipToStore, customer, ffl, po } = order
  const isFirearm = ffl !== null || order.fflRequired
  if (ffl === null && !shipToStore && order.lines.some(({ fflRequired }) => fflRequired))
    throw new Error('a firearm needs the license of the dealer that receives it')
  const zip = /^(\d{5})(?:-\d{4})?$/.exec(shipTo.zip)?.[1]
  if (zip === undefined) throw new Error(`"${shipTo.zip}" is not a ZIP code`)
  const usual = textOf(settings.default_ship_method) ?? USUAL_METHOD
  return [
    shipToStore ? (textOf(settings.ship_to) ?? NO_SHIP_TO) : NO_SHIP_TO,
    present(shipTo.name, 'name'),
    present(shipTo.address1, 'street'),
    shipTo.address2 ?? '',
    present(shipTo.city, 'city'),
    shipTo.state.toUpperCase(),
    zip,
    po,
    isFirearm ? (textOf(settings.firearm_ship_method) ?? usual) : usual,
    // Who receives it for somebody is told for whom.
    ffl !== null || shipToStore ? noteOf(customer) : '',
    ffl?.licenseNumber ?? '',
  ]
}

/** The name is cut off, and never the number. */
const noteOf = ({ name, phone }: PurchaseOrder['customer']): string =>
  [digits(phone), plain(name)].filter(Boolean).join(',').slice(0, LONGEST_NOTE).trim()

function present(text: string, what: string): string {
  if (plain(text) === '') throw new Error(`the address has no ${what}`)
  return text
}

/** A number that cannot be written as it is would be another item's. */
function unchanged(text: string, what: string): string {
  if (text === '' || plain(text) !== text) throw new Error(`"${text}" cannot be written as ${what}`)
  return text
}

function counted(qty: number): string {
  if (!Number.isSafeInteger(qty) || qty < 1) throw new Error(`${qty} is not a count of units`)
  return String(qty)
}
