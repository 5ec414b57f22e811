/**
 * RSR's order file (EORD): records of `;`-joined fields without quoting, one recipient a file. What
 * RSR reads is what a person at RSR would read, so that no field may hold a separator.
 */
import type { PurchaseOrder } from '../../fulfillment.js'
import { digits, plain } from '../../plain-text.js'

export interface OrderFile {
  readonly name: string
  readonly text: string
}

export interface OrderFileOptions {
  /** The account that the order is for, up to 5 digits. */
  readonly account: string
  /** Where RSR's own notices go; empty for none. */
  readonly vendorEmail: string
  /** `Grnd`, `2Day` and so on, of a carrier. */
  readonly carrier: 'UPS' | 'USPS'
  readonly method: string
}

const RECORD = { recipient: '10', license: '11', item: '20', trailer: '90' } as const
const HIGHEST_SEQUENCE = 9_999

/**
 * The file of one order. Throws for what RSR's fields cannot hold: a file that RSR reads otherwise
 * than it was meant is an order that nobody placed.
 */
export function orderFile(order: PurchaseOrder, options: OrderFileOptions): OrderFile {
  const { carrier, method, vendorEmail } = options
  const key = fileKey(order, options.account)
  const [account, day, number] = key.split('-') as [string, string, string]
  const { po, shipTo, lines, customer, ffl } = order
  if (!/^[A-Za-z0-9 -]{1,22}$/.test(po))
    throw new Error(`RSR's PO has up to 22 letters, digits, spaces and dashes, not "${po}"`)
  const units = lines.reduce((sum, { qty }) => sum + qty, 0)
  const records = [
    ['FILEHEADER', '00', account, day, number],
    [
      po,
      RECORD.recipient,
      shipTo.name,
      // A dealer gets it for somebody.
      ffl ? customer.name : '',
      shipTo.address1,
      shipTo.address2 ?? '',
      shipTo.city,
      shipTo.state,
      shipTo.zip.replaceAll(/\D/g, ''),
      digits(shipTo.phone ?? customer.phone),
      // RSR writes to nobody's customer.
      'N',
      '',
      vendorEmail,
      '',
    ],
    ...(ffl
      ? [
          [
            po,
            RECORD.license,
            ffl.licenseNumber.replaceAll('-', ''),
            ffl.name,
            shipTo.zip.slice(0, 5),
            customer.name,
            digits(customer.phone),
          ],
        ]
      : []),
    ...lines.map(({ distsku, qty }) => [po, RECORD.item, distsku, padded(qty, 5), carrier, method]),
    [po, RECORD.trailer, padded(units, 7)],
    ['FILETRAILER', '99', '00001'],
  ]
  return {
    name: `EORD-${key}.txt`,
    text: records.map((fields) => `${fields.map(field).join(';')}\r\n`).join(''),
  }
}

/**
 * What tells an order's file from every other, `99901-20261122-0007`: the same for every send, and
 * by the day on which the order was taken in. Throws for an account that RSR cannot have.
 */
export function fileKey(
  { serial, takenAt }: Pick<PurchaseOrder, 'serial' | 'takenAt'>,
  account: string,
): string {
  if (!/^\d{1,5}$/.test(account))
    throw new Error(`RSR's account number has up to 5 digits, not "${account}"`)
  // RSR takes a number once a day.
  const sequence = ((serial - 1) % HIGHEST_SEQUENCE) + 1
  return `${account.padStart(5, '0')}-${easternDay(takenAt)}-${String(sequence).padStart(4, '0')}`
}

/** The day at RSR, `YYYYMMDD`. */
export function easternDay(at: number): string {
  return new Intl.DateTimeFormat('en-CA', {
    timeZone: 'America/New_York',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
    .format(at)
    .replaceAll('-', '')
}

function padded(count: number, width: number): string {
  const text = String(count)
  if (!Number.isInteger(count) || count < 1 || text.length > width)
    throw new Error(`a quantity of RSR's file has up to ${width} digits, not ${count}`)
  return text.padStart(width, '0')
}

/** Without a separator, which would make two fields of one. */
const field = (text: string) => plain(plain(text).replaceAll(';', ' '))
