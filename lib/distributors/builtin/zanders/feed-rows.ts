/**
 * Zanders' catalog files as rows that the preset reads: the XML with its attributes, of which some
 * are restrictions, and the CSV without.
 */
import { stateCode, isMilitary, isTerritory } from '../../../places/states.js'
import type { StateCode } from '../../../places/states.js'
import { writtenDay } from '../../days.js'
import type { XmlElement } from '../../session/xml.js'
import { COLUMNS, DETAILS, flagColumn } from './feed.js'

export type Row = ReadonlyMap<string, string>

/** A price, and the units from which on it is that of each. */
export interface Break {
  readonly price: string
  readonly from: string
}

/**
 * The price of one unit, as it is written: that of the smallest quantity. Where even that is more
 * than one, none of the prices is for one, and the dearest stands; blank where there is none.
 */
export function unitPrice(breaks: readonly Break[]): string {
  const known = breaks
    .map(({ price, from }) => ({ price, amount: Number(price), units: Number(from || '1') }))
    .filter(({ amount, units }) => amount > 0 && units >= 0)
    .sort((a, b) => a.units - b.units || b.amount - a.amount)
  const [least] = known
  if (!least) return ''
  return least.units <= 1
    ? least.price
    : known.reduce((most, one) => (one.amount > most.amount ? one : most)).price
}

/** An element's text, or that of the `DATA` in it. */
function textIn(item: XmlElement, name: string): string {
  const found = item.children.find((child) => child.name === name)
  const data = found?.children.find((child) => child.name === 'DATA')
  return (data ?? found)?.text.trim() ?? ''
}

const CELLS: Readonly<Record<string, string>> = {
  itemnumber: 'ITEMNO',
  upc: 'ITEMUPC',
  desc1: 'ITEMDESCRIPTION',
  manufacturer: 'ITEMMANUFACTURER',
  mfgpnumber: 'ITEMMPN',
  category: 'ITEMCATEGORYNAME',
  msrp: 'ITEMMSRP',
  mapprice: 'ITEMMAPPRICE',
  available: 'ITEMQTYAVAIL',
  serialized: 'ITEMSERIALIZED',
  allowdirectship: 'ALLOWDIRECTSHIP',
  weight: 'ITEMWEIGHT',
  zancat: 'ZANCAT',
  producttype: 'ITEMPRODUCTTYPE',
}

/** An item of `zandersinv.xml`, as on a day `YYYY-MM-DD` in Central time. */
export function rowOf(item: XmlElement, today: string): Row {
  const row = new Map(COLUMNS.map((column) => [column, textIn(item, CELLS[column] ?? '')]))
  const breaks = item.children
    .filter(({ name }) => name === 'ITEMQTYPRICING')
    .map((one) => ({ price: textIn(one, 'ITEMPRICE'), from: textIn(one, 'ITEMQTY') }))
  row.set('price1', textIn(item, 'ITEMPRICE') || unitPrice(breaks))
  const [start, end] = [
    writtenDay(textIn(item, 'ITEMSALESTART')),
    writtenDay(textIn(item, 'ITEMSALEEND')),
  ]
  // Without both days, nobody can tell whether it is on; the regular price is the dearer one.
  if (start !== null && end !== null && start <= today) {
    row.set('saleprice', textIn(item, 'ITEMSALEPRICE'))
    row.set('saleend', end)
  }
  const attributes = item.children
    .filter(({ name }) => name === 'ATTRIBUTE')
    .map((one) => ({ title: textIn(one, 'TITLE').toUpperCase(), data: textIn(one, 'DATA') }))
  for (const { title, data } of attributes) if (DETAILS.has(title)) row.set(title, data)
  restrict(row, attributes)
  return row
}

/** A row of `zandersinv.csv`, whose columns are named as ours. */
export function rowOfCsv(cells: Readonly<Record<string, string>>): Row {
  const folded = new Map(Object.entries(cells).map(([name, cell]) => [name.toLowerCase(), cell]))
  const breaks = [1, 2, 3].map((n) => ({
    price: folded.get(`price${n}`) ?? '',
    from: folded.get(`qty${n}`) ?? '',
  }))
  return new Map([...folded, ['price1', unitPrice(breaks)]])
}

/** `NO SALE TO CALIFORNIA`. */
const NO_SALE = /^NO SALES? (?:TO|IN) (.+)$/
/** The title stands there, and does not hold. */
const NOT = /^(?:N|NO|FALSE|0)$/i

/**
 * Notes the states that a title names. One that names any other place cannot be enforced by state:
 * its item goes to no customer's door.
 */
function restrict(
  row: Map<string, string>,
  attributes: readonly { title: string; data: string }[],
): void {
  const restrictions: string[] = []
  for (const { title, data } of attributes) {
    const [, where] = NO_SALE.exec(title.trim().replaceAll(/\s+/g, ' ')) ?? []
    if (where === undefined || NOT.test(data)) continue
    restrictions.push(title)
    for (const place of placesIn(where)) {
      if (place === null) row.set('allowdirectship', 'N')
      else row.set(flagColumn(place), 'Y')
    }
  }
  row.set('restrictions', restrictions.join('; '))
}

/** Null for a place that is no state: a city, a county, a country. */
function placesIn(text: string): (StateCode | null)[] {
  return text
    .split(/\s*[,;/&]\s*|\s+(?:AND|OR)\s+/)
    .filter((name) => name !== '')
    .map((name) => {
      const code = stateCode(name.replace(/^(?:THE )?(?:STATE OF )?/, '').replace(/\.$/, ''))
      return code === null || isMilitary(code) || isTerritory(code) ? null : code
    })
}
