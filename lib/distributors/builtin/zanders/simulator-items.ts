/** Zanders' items as its files and services tell them: out of the catalog that the simulator has. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { STATES } from '../../../places/states.js'
import type { StateCode } from '../../../places/states.js'
import { shelvesOf } from '../../../simulator/engine/queries.js'
import type { World } from '../../../simulator/engine/world.js'
import { csvRow } from '../../../simulator/market/units.js'
import { escapeXml } from '../../session/xml.js'
import { DETAILS, flagColumn } from './feed.js'
import { CATALOG, CATALOG_CSV, QUANTITIES, QUANTITIES_CSV } from './files.js'

/** A row of the catalog: texts by column. */
export type Item = Readonly<Record<string, string>>

/** Every item, with what is on the shelf now; none where there is no catalog. */
export function itemsOf({ feedFile, store }: Pick<World, 'feedFile' | 'store'>): Item[] {
  const file = feedFile('ZND')
  if (file === null || !existsSync(file)) return []
  const rows = parse(readFileSync(file), { columns: true }) as Item[]
  const shelves = new Map(
    store.transact((db) => shelvesOf(db, 'ZND')).shelves.map(({ sku, qty }) => [sku, qty]),
  )
  return rows.map((row) => {
    const left = shelves.get(row['itemnumber']!)
    return left === undefined ? row : { ...row, available: String(left) }
  })
}

/** When the catalog was written, milliseconds; null where there is none. */
export function catalogTime({ feedFile }: Pick<World, 'feedFile'>): number | null {
  const file = feedFile('ZND')
  return file === null || !existsSync(file) ? null : Math.floor(statSync(file).mtimeMs)
}

/** The files as Zanders writes them, by name. */
export const FILES: ReadonlyMap<string, (items: readonly Item[]) => string> = new Map([
  [CATALOG, (items) => documentOf(items.map(catalogItem))],
  [QUANTITIES, (items) => documentOf(items.map(liveItem))],
  [CATALOG_CSV, (items) => rowsOf(CSV_COLUMNS, items)],
  [QUANTITIES_CSV, (items) => rowsOf(LIVE_COLUMNS, items)],
])

const LIVE_COLUMNS = 'itemnumber available price1 price2 price3 qty1 qty2 qty3'.split(' ')
const CSV_COLUMNS = (
  'available category desc1 desc2 itemnumber manufacturer mfgpnumber msrp price1 price2 price3 ' +
  'qty1 qty2 qty3 upc weight serialized mapprice'
).split(' ')

const rowsOf = (columns: readonly string[], items: readonly Item[]): string =>
  csvRow([...columns]) +
  items
    .map((item) =>
      csvRow(columns.map((column) => (column === 'qty1' ? '1' : (item[column] ?? '')))),
    )
    .join('')

const documentOf = (items: readonly string[]): string =>
  ['<?xml version="1.0"?>', '<NewDataSet>', ...items, '</NewDataSet>'].join('\n')

const plain = (name: string, text = '') => `<${name}>${escapeXml(text)}</${name}>`
const data = (text: string) => `<DATA><![CDATA[${text.replaceAll(']]>', '] ]>')}]]></DATA>`
const titled = (name: string, title: string, text = '') =>
  `<${name}><TITLE>${title}</TITLE>${data(text)}</${name}>`
const attribute = (title: string, text: string) =>
  `<ATTRIBUTE><TITLE><![CDATA[${title}]]></TITLE>${data(text)}</ATTRIBUTE>`

function catalogItem(item: Item): string {
  const flags = (Object.keys(STATES) as StateCode[])
    .filter((state) => item[flagColumn(state)] === 'Y')
    .map((state) => `NO SALE TO ${STATES[state].toUpperCase()}`)
  return [
    '<ZandersDataOut>',
    plain('ITEMNO', item['itemnumber']),
    titled('ITEMDESCRIPTION', 'DESCRIPTION', item['desc1']),
    titled('ITEMUPC', 'UPC', item['upc']),
    titled('ITEMMPN', 'MPN', item['mfgpnumber']),
    plain('ITEMMSRP', item['msrp']),
    plain('ITEMPRICE', item['price1']),
    plain('ITEMQTYAVAIL', item['available']),
    plain('ZANCAT', item['zancat']),
    plain('ITEMCATEGORYNAME', item['category']),
    '<ITEMCATEGORY></ITEMCATEGORY>',
    plain('ITEMSALESTART'),
    plain('ITEMSALEEND', item['saleend']),
    plain('ITEMSALEPRICE', item['saleprice'] || '0.00'),
    plain('ITEMPRODUCTTYPE', item['producttype']),
    plain('ITEMWEIGHT', item['weight']),
    titled('ITEMMANUFACTURER', 'MANUFACTURER', item['manufacturer']),
    plain('ITEMSERIALIZED', item['serialized']),
    plain('ITEMBOFLAG', 'N'),
    plain('ITEMMAPPRICE', item['mapprice']),
    plain('ALLOWDIRECTSHIP', item['allowdirectship']),
    plain('ITEMIMAGEURL', `https://images.example/zanders/${item['itemnumber']}.jpg`),
    ...flags.map((title) => attribute(title, title)),
    ...[...DETAILS.keys()]
      .filter((title) => (item[title] ?? '') !== '')
      .map((title) => attribute(title, item[title]!)),
    '</ZandersDataOut>',
  ].join('')
}

const liveItem = (item: Item): string =>
  '<ZandersDataOut>' +
  plain('ITEMNO', item['itemnumber']) +
  plain('AVAILABLE', item['available']) +
  '<ITEMQTYPRICING><ITEMQTY>1</ITEMQTY>' +
  `${plain('ITEMPRICE', item['price1'])}</ITEMQTYPRICING></ZandersDataOut>`
