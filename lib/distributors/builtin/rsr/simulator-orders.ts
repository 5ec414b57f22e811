/** Orders as they are posted to RSR's API, read and judged as it does. */
import type { Line } from '../../../simulator/engine/order.js'
import { areBroken, poFault } from '../../../simulator/wire/posted-order.js'
import type { Call as AnyCall, Posted } from '../../../simulator/wire/posted-order.js'
import { textOf } from '../../session/reply.js'
import { inLowerCase } from './api.js'
import { isFirearm, itemsOf } from './simulator-items.js'

/** One call, and what it gives. */
export interface Call extends AnyCall {
  /** Members by their names in lower case. */
  readonly body: ReadonlyMap<string, unknown>
}

/** Characters of fields, as RSR's document has them. */
const WIDTHS = { StoreName: 25, ContactNum: 20, ShipAddress: 35, ShipAddress2: 35, ShipCity: 25 }
const REQUIRED = ['StoreName', 'ShipAddress', 'ShipCity', 'ShipState', 'ShipZip'] as const

export function readOrder(call: Call): Posted {
  const { body } = call
  const field = (name: string) => textOf(body.get(name.toLowerCase())) ?? ''
  const items = itemsIn(body.get('items'))
  const lines = items.map((item) => ({
    distsku: textOf(item.get('partnum')) ?? '',
    qty: Number(item.get('wishqty')),
  }))
  const toStore = field('ShipToStore').toUpperCase() === 'Y'
  const fault =
    poFault(call.profile, field('PONum'), /[^A-Za-z0-9 -]/u) ??
    (toStore ? null : addressFault(call, field)) ??
    linesFault(lines) ??
    licenseFault(call, { lines, license: field('ShipFFL'), phone: field('ContactNum'), toStore })
  return {
    po: field('PONum'),
    lines,
    to: toStore
      ? { name: 'Your store', address1: '', zip: '' }
      : { name: field('StoreName'), address1: field('ShipAddress'), zip: field('ShipZip') },
    firearms: toStore || field('ShipFFL') !== '',
    fault,
  }
}

/** A form has the items as JSON in one field. */
function itemsIn(value: unknown): ReadonlyMap<string, unknown>[] {
  try {
    const items = typeof value === 'string' ? (JSON.parse(value) as unknown) : value
    return Array.isArray(items) ? items.map(inLowerCase) : []
  } catch {
    return []
  }
}

function addressFault(
  { profile: { words } }: Call,
  field: (name: string) => string,
): string | null {
  const missing = REQUIRED.find((name) => field(name) === '')
  if (missing) return `10999 ${missing} is missing`
  const long = Object.entries(WIDTHS).find(([name, width]) => field(name).length > width)
  if (long) return `10999 ${long[0]} has more than ${long[1]} characters`
  if (!/^[A-Z]{2}$/.test(field('ShipState'))) return '10999 ShipState is invalid'
  const zip = field('ShipZip')
  return /^\d{5}(-\d{4})?$/.test(zip) ? null : words.badZip(zip)
}

function linesFault(lines: Line[]): string | null {
  if (lines.length === 0) return '10099 No items'
  return areBroken(lines) ? '20999 PartNum or WishQTY is missing' : null
}

function licenseFault(
  call: Call,
  {
    lines,
    license,
    phone,
    toStore,
  }: { lines: readonly Line[]; license: string; phone: string; toStore: boolean },
): string | null {
  const { words } = call.profile
  const firearms = lines.filter(({ distsku }) => isSerialized(call, distsku))
  if (firearms.length > 0 && firearms.length < lines.length) return words.mixed
  if (toStore) return null
  if (license !== '' && !/^[0-9A-Z]{15}$/i.test(license)) return words.badFfl
  if (firearms.length > 0 && license === '') return words.missingFfl
  return license !== '' && phone === '' ? words.phone : null
}

/** Known from the order where it is one of this app's, else from the catalog. */
function isSerialized({ world, request: { visit } }: Call, sku: string): boolean {
  return visit
    ? visit.send.order.lines.some(({ distsku, fflRequired }) => distsku === sku && fflRequired)
    : itemsOf(world).some((item) => item.get('stock') === sku && isFirearm(item))
}
