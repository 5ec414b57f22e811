/** Lipsey's items as its API tells them: out of the catalog that the simulator has as a file. */
import { existsSync, readFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { HOUR } from '../../../core/clock.js'
import { shelvesOf } from '../../../simulator/engine/queries.js'
import type { World } from '../../../simulator/engine/world.js'
import { LIPSEYS_COLUMNS } from './simulated-feed.js'

/** A row of the catalog: texts by the columns of the web export. */
export type Item = Readonly<Record<string, string>>

/** Milliseconds from one pricing file to the next. */
const PRICING_EVERY = HOUR

/** Names in the API that are not the column's own in small letters. */
const NAMES = (
  'itemNo manufacturerModelNo caliberGauge barrelLength overallLength stockFrameGrips imageName ' +
  'drilledAndTapped rateOfTwist itemType additionalFeature1 additionalFeature2 ' +
  'additionalFeature3 shippingWeight boundBookManufacturer boundBookModel boundBookType ' +
  'nfaThreadPattern nfaAttachmentMethod nfaBaffleType silencerCanBeDisassembled ' +
  'silencerConstructionMaterial nfaDbReduction silencerOutsideDiameter nfaForm3Caliber ' +
  'opticMagnification maintubeSize adjustableObjective objectiveSize opticAdjustments ' +
  'illuminatedReticle onSale currentPrice retailMap fflRequired sotRequired exclusiveType ' +
  'scopeCoverIncluded sightsType dbReduction finishType gripType handgunSlideMaterial ' +
  'itemLength itemWidth itemHeight packageLength packageWidth packageHeight itemGroup ' +
  'countryOfOrigin'
).split(' ')
const nameOf = new Map(NAMES.map((name) => [name.toUpperCase(), name]))
const NUMBERS = new Set('msrp quantity price currentPrice retailMap shippingWeight'.split(' '))
const FLAGS = new Set('exclusive allocated onSale fflRequired sotRequired'.split(' '))

/** Whether it may be drop-shipped is in the web export and in `validateitem` alone. */
const COLUMNS = LIPSEYS_COLUMNS.filter((column) => column !== 'CANDROPSHIP').map((column) => ({
  column,
  name: nameOf.get(column) ?? column.toLowerCase(),
}))

/** Every item, with what is on the shelf now; none where there is no catalog. */
export function itemsOf({ feedFile, store }: Pick<World, 'feedFile' | 'store'>): Item[] {
  const file = feedFile('LIP')
  if (file === null || !existsSync(file)) return []
  const rows = parse(readFileSync(file), { columns: true }) as Item[]
  const shelves = new Map(
    store.transact((db) => shelvesOf(db, 'LIP')).shelves.map(({ sku, qty }) => [sku, qty]),
  )
  return rows.map((row) => {
    const left = shelves.get(row['ITEMNO']!)
    return left === undefined ? row : { ...row, QUANTITY: String(left) }
  })
}

/** An item of `items/CatalogFeed`. */
export function catalogItem(item: Item): Record<string, unknown> {
  return Object.fromEntries(
    COLUMNS.map(({ column, name }) => [name, valueOf(name, item[column] ?? '')]),
  )
}

/** An item of `items/PricingQuantityFeed`. */
export function pricingItem(item: Item): Record<string, unknown> {
  return {
    itemNumber: item['ITEMNO'],
    upc: item['UPC'],
    mfgModelNumber: item['MANUFACTURERMODELNO'],
    ...Object.fromEntries(
      ['quantity', 'allocated', 'onSale', 'price', 'currentPrice', 'retailMap'].map((name) => [
        name,
        valueOf(name, item[name.toUpperCase()] ?? ''),
      ]),
    ),
  }
}

/** What `items/validateitem` says of an item. */
export function validItem(item: Item): Record<string, unknown> {
  return {
    itemNumber: item['ITEMNO'],
    qty: Number(item['QUANTITY']),
    price: Number(item['CURRENTPRICE']),
    blocked: false,
    allocated: item['ALLOCATED'] === 'TRUE',
    canDropship: item['CANDROPSHIP'] === 'TRUE',
  }
}

/** The item with this number, model number or UPC, capitals aside. */
export function itemNamed(items: readonly Item[], name: string): Item | undefined {
  const asked = name.trim().toUpperCase()
  return items.find((item) =>
    ['ITEMNO', 'MANUFACTURERMODELNO', 'UPC'].some(
      (column) => item[column]?.toUpperCase() === asked && asked !== '',
    ),
  )
}

/** When the pricing file is made next, as the API writes it. */
export function nextUpdate(now: number): string {
  return new Date((Math.floor(now / PRICING_EVERY) + 1) * PRICING_EVERY)
    .toISOString()
    .replace('Z', '')
}

function valueOf(name: string, text: string): unknown {
  if (FLAGS.has(name)) return text === 'TRUE'
  if (NUMBERS.has(name)) return text === '' ? 0 : Number(text)
  return text
}
