/**
 * The order file of Hicks Inc.: 15 columns between tabs, a row for each item, one order a file, no
 * header and nothing quoted. An error in any row fails all of it.
 */
import type { OrderFile } from '../../dropped-order.js'
import type { PurchaseOrder } from '../../fulfillment.js'
import { digits, plain } from '../../plain-text.js'
import { textOf } from '../../session/reply.js'
import { INBOX } from './account.js'
import type { HicksIncSettings } from './account.js'

/** The columns, with the characters that the known ones hold. */
export const ORDER_COLUMNS = [
  'ship method',
  'po',
  'name',
  'address 1',
  'address 2',
  'city',
  'state',
  'zip',
  'item',
  'quantity',
  'expected price',
  'license',
  'premises or mailing',
  'consumer name',
  'consumer phone',
] as const
const LONGEST_METHOD = 8
const LONGEST_ITEM = 13
const LONGEST_PO = 16

export const PO_LIMITS = { max: LONGEST_PO, chars: /[A-Za-z0-9._-]/ } as const

/** To the premises of the dealer that the license is of. */
const PREMISES = 'P'

/**
 * The file of one order; the same name for every send, so that no other send makes another. Throws
 * for what cannot be written as it is meant: a file that is read otherwise is an order that nobody
 * placed.
 */
export function orderFile(order: PurchaseOrder, settings: HicksIncSettings): OrderFile {
  const { po, lines, shipTo, shipToStore, customer, ffl } = order
  if (!/^[A-Za-z0-9._-]{1,16}$/.test(po))
    throw new Error(
      `the PO has up to ${LONGEST_PO} letters, digits, dots, dashes and underscores, not "${po}"`,
    )
  if (lines.length === 0) throw new Error('the order has no items')
  if (ffl === null && !shipToStore && lines.some(({ fflRequired }) => fflRequired))
    throw new Error('a firearm needs the license of the dealer that receives it')
  const zip = /^(\d{5})(?:-\d{4})?$/.exec(shipTo.zip)?.[1]
  if (zip === undefined) throw new Error(`"${shipTo.zip}" is not a ZIP code`)
  const method = textOf(settings.ship_method) ?? ''
  if (method.length > LONGEST_METHOD)
    throw new Error(`the ship method has up to ${LONGEST_METHOD} characters, not "${method}"`)
  const rows = lines.map(({ distsku, qty }) => [
    method,
    po,
    present(shipTo.name, 'name'),
    present(shipTo.address1, 'street'),
    shipTo.address2 ?? '',
    present(shipTo.city, 'city'),
    shipTo.state.toUpperCase(),
    zip,
    itemNumber(distsku),
    counted(qty),
    // What they make of a price that differs from theirs is not known.
    '',
    ffl === null ? '' : ffl.licenseNumber.replaceAll('-', '').toUpperCase(),
    ffl === null ? '' : PREMISES,
    customer.name,
    digits(customer.phone),
  ])
  return {
    path: `${INBOX}/${po}.txt`,
    text: rows.map((cells) => `${cells.map(plain).join('\t')}\r\n`).join(''),
  }
}

function present(text: string, what: string): string {
  if (plain(text) === '') throw new Error(`the address has no ${what}`)
  return text
}

/** A number that cannot be written as it is would be another item's. */
function itemNumber(text: string): string {
  if (text === '' || text.length > LONGEST_ITEM || plain(text) !== text)
    throw new Error(`"${text}" cannot be written as an item number of ${LONGEST_ITEM} characters`)
  return text
}

function counted(qty: number): string {
  if (!Number.isSafeInteger(qty) || qty < 1) throw new Error(`${qty} is not a count of units`)
  return String(qty)
}
