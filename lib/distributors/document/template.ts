/** The text of an order, from a template with names in braces. */
import { toDollars } from '../../core/money.js'
import { FeedFault } from '../account-feed.js'
import type { PurchaseOrder, PurchaseOrderLine } from '../fulfillment.js'
import { digits, plain } from '../plain-text.js'
import { textOf } from '../session/reply.js'
import type { Template } from './schema.js'

type Settings = Readonly<Record<string, unknown>>

/** What stands in an order for each name. */
const OF_ORDER: Readonly<Record<string, (order: PurchaseOrder) => string>> = {
  po: ({ po }) => po,
  date: ({ takenAt }) => new Date(takenAt).toISOString().slice(0, 10),
  time: ({ takenAt }) => new Date(takenAt).toISOString().slice(0, 19) + 'Z',
  'lines.count': ({ lines }) => String(lines.length),
  'shipTo.name': ({ shipTo }) => shipTo.name,
  'shipTo.address1': ({ shipTo }) => shipTo.address1,
  'shipTo.address2': ({ shipTo }) => shipTo.address2 ?? '',
  'shipTo.city': ({ shipTo }) => shipTo.city,
  'shipTo.state': ({ shipTo }) => shipTo.state.toUpperCase(),
  'shipTo.zip': ({ shipTo }) => shipTo.zip,
  'shipTo.zip5': ({ shipTo }) => shipTo.zip.slice(0, 5),
  'shipTo.phone': ({ shipTo, customer }) => digits(shipTo.phone ?? customer.phone),
  'customer.name': ({ customer }) => customer.name,
  'customer.phone': ({ customer }) => digits(customer.phone),
  'customer.email': ({ customer }) => customer.email,
  'ffl.license': ({ ffl }) => ffl?.licenseNumber ?? '',
  'ffl.bareLicense': ({ ffl }) => (ffl?.licenseNumber ?? '').replaceAll('-', ''),
  'ffl.name': ({ ffl }) => ffl?.name ?? '',
  'ffl.expires': ({ ffl }) => ffl?.expiresOn ?? '',
}
const OF_LINE: Readonly<Record<string, (line: PurchaseOrderLine, place: number) => string>> = {
  'line.number': (_line, place) => String(place + 1),
  'line.sku': ({ distsku }) => distsku,
  'line.upc': ({ upc }) => upc,
  'line.name': ({ name }) => name,
  'line.qty': ({ qty }) => String(qty),
  'line.price': ({ unitPrice }) => toDollars(unitPrice).toFixed(2),
}

/** Names that stand on the lines alone. */
export const LINE_NAMES = Object.keys(OF_LINE)
export const ORDER_NAMES = Object.keys(OF_ORDER)

const PLACES = /\{([\w.]+)\}/g
const PLACE = /\{[\w.]+\}/
/** What was meant as a name and is none: `{ship to}`. */
const STRAY = /\{[A-Za-z][\w .-]*\}/g

type Escape = Template['escape']

export const namesIn = (text: string): string[] =>
  [...text.matchAll(PLACES)].map(([, name]) => name!)

export const strayBraces = (text: string): string[] =>
  [...text.replaceAll(PLACES, '').matchAll(STRAY)].map(([stray]) => stray)

/**
 * The whole text of one order. Throws for what cannot be written as it is meant: what is read
 * otherwise is an order that nobody placed.
 */
export function writeOrder(template: Template, order: PurchaseOrder, settings: Settings): string {
  const { head = '', line, tail = '' } = template
  if (order.lines.length === 0) throw new Error('the order has no items')
  const fill = (text: string, at?: { line: PurchaseOrderLine; place: number }) => {
    const filled = (part: string, escape: Escape) =>
      part.replaceAll(PLACES, (_all, name: string) =>
        escaped(valueOf(name, order, settings, at), escape),
      )
    if (template.escape !== 'csv') return filled(text, template.escape)
    // A cell is quoted as a whole, however many values it holds.
    return text
      .split(/(,|\r?\n)/)
      .map((part) => (PLACE.test(part) ? quoted(filled(part, 'csv')) : part))
      .join('')
  }
  const lines = order.lines.map((one, place) => fill(line, { line: one, place }))
  return fill(head) + lines.join('') + fill(tail)
}

/** A text with names of an order and of settings, as it is: a subject. */
export const fillText = (text: string, order: PurchaseOrder, settings: Settings): string =>
  text.replaceAll(PLACES, (_all, name: string) => valueOf(name, order, settings))

/**
 * A file's place with settings, and what else has a name, in it. Throws a FeedFault for a value that
 * would lead elsewhere: shops write their settings, and the operator the place.
 */
export const fillPlace = (
  path: string,
  settings: Settings,
  more: Readonly<Record<string, string>> = {},
): string =>
  path.replaceAll(PLACES, (_all, name: string) => {
    const value = Object.hasOwn(more, name) ? more[name]! : settingOf(settings, name)
    if (!/^[\w.@ -]+$/.test(value) || value.startsWith('.'))
      throw new FeedFault(`what {${name}} holds cannot stand in the name of a file`)
    return value
  })

/** A text with names of settings alone. */
export const fillSettings = (text: string, settings: Settings): string =>
  text.replaceAll(PLACES, (_all, name: string) => settingOf(settings, name))

function valueOf(
  name: string,
  order: PurchaseOrder,
  settings: Settings,
  at?: { line: PurchaseOrderLine; place: number },
): string {
  if (at && Object.hasOwn(OF_LINE, name)) {
    if (name === 'line.sku' && plain(at.line.distsku) !== at.line.distsku)
      throw new Error(`"${at.line.distsku}" cannot be written as an item number`)
    return OF_LINE[name]!(at.line, at.place)
  }
  return Object.hasOwn(OF_ORDER, name) ? OF_ORDER[name]!(order) : settingOf(settings, name)
}

const settingOf = (settings: Settings, name: string): string =>
  textOf(Object.hasOwn(settings, name) ? settings[name] : undefined) ?? ''

function escaped(text: string, escape: Escape): string {
  // Old readers have ASCII alone, and no field may hold what ends it.
  const value = plain(text)
  if (escape === 'pipe') return value.replaceAll('|', ' ')
  if (escape === 'xml') return value.replaceAll(/[<>&"']/g, (char) => `&#${char.charCodeAt(0)};`)
  return value
}

const quoted = (cell: string) => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
