/** Orion's items as its API tells them: out of the catalog that the simulator has as a file. */
import { existsSync, readFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { SET_STATES } from '../../../places/state-set.js'
import { shelvesOf } from '../../../simulator/engine/queries.js'
import type { World } from '../../../simulator/engine/world.js'
import { flagColumn } from './feed.js'

/** An item, by the columns of the feed. */
export type Item = Readonly<Record<string, string>>

/** Every item, with what is on the shelf now; none where there is no file. */
export function itemsOf({ feedFile, store }: Pick<World, 'feedFile' | 'store'>): Item[] {
  const file = feedFile('ORI')
  if (file === null || !existsSync(file)) return []
  const rows = parse(readFileSync(file), { columns: true }) as Item[]
  const shelves = new Map(
    store.transact((db) => shelvesOf(db, 'ORI')).shelves.map(({ sku, qty }) => [sku, qty]),
  )
  return rows.map((row) => {
    const left = shelves.get(row['product_code']!)
    return left === undefined ? row : { ...row, quantity: String(left) }
  })
}

const codeOf = (maker: string) =>
  maker
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .slice(0, 20)

/** `get_catalog`: without stock, with codes of manufacturers, tags and states as texts. */
export const catalogOf = (items: readonly Item[]) => ({
  result: 'OK',
  products: items.map((item) => ({
    product_id: Number(item['product_id']),
    product_code: item['product_code'],
    upc_code: item['upc_code'],
    description: item['description'],
    detailed_description: item['detailed_description'],
    product_manufacturer: codeOf(item['manufacturer']!),
    product_manufacturer_code: codeOf(item['manufacturer']!),
    product_categories: item['product_categories'],
    base_cost: item['base_cost'],
    list_price: item['list_price'],
    manufacturer_advertised_price: item['manufacturer_advertised_price'],
    product_tags: tagsOf(item).join(','),
    restricted_states: SET_STATES.filter((state) => item[flagColumn(state)] === 'Y').join(','),
    image_url: item['image_url'],
    facets: {
      ...(item['firearm_type'] && { FIREARM_TYPE: item['firearm_type'] }),
      ...(item['caliber'] && { CALIBER: item['caliber'] }),
    },
  })),
})

const tagsOf = (item: Item): string[] => [
  ...(item['ffl_required'] === 'Y' ? ['FFL_REQUIRED'] : []),
  ...(item['class_3'] === 'Y' ? ['CLASS_3'] : []),
  ...(item['cannot_dropship'] === 'Y' ? ['CANNOT_DROPSHIP'] : []),
]

/** `get_catalog_inventory`: by the product's number. */
export const inventoryOf = (items: readonly Item[]) => ({
  result: 'OK',
  product_inventory: Object.fromEntries(
    items.map((item) => [
      item['product_id'],
      { quantity: Number(item['quantity']), sale_price: item['sale_price'] },
    ]),
  ),
})

/** `get_manufacturers`. */
export const manufacturersOf = (items: readonly Item[]) => ({
  result: 'OK',
  manufacturers: [...new Set(items.map((item) => item['manufacturer']!))].map((maker) => ({
    product_manufacturer_code: codeOf(maker),
    description: maker,
  })),
})
