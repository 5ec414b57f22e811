/** The items of 2nd Amendment Wholesale's simulator: out of the catalog that it has as a file. */
import { existsSync, readFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { shelvesOf } from '../../../simulator/engine/queries.js'
import type { World } from '../../../simulator/engine/world.js'

/** A product, by the names of the feed. */
type Product = Readonly<Record<string, string>>

/** Every product, with what is on the shelf now; none where there is no file. */
export function productsOf({ feedFile, store }: Pick<World, 'feedFile' | 'store'>): Product[] {
  const file = feedFile('2AW')
  if (file === null || !existsSync(file)) return []
  const rows = parse(readFileSync(file), { columns: true }) as Product[]
  const shelves = new Map(
    store.transact((db) => shelvesOf(db, '2AW')).shelves.map(({ sku, qty }) => [sku, qty]),
  )
  return rows.map((row) => {
    const left = shelves.get(row['stock_number']!)
    return left === undefined ? row : { ...row, inventory_qty: String(left) }
  })
}

/** A product of `feed/productV2`. */
export function listedProduct(product: Product): Record<string, unknown> {
  return {
    ...product,
    dealer_price: Number(product['dealer_price']),
    inventory_qty: Number(product['inventory_qty']),
    category_ids: product['category_ids']!.split(' '),
    moqpts: Number(product['moqpts']),
    future_use: ' ',
  }
}

/** An item of `feed/stockV2`. */
export function stockedItem(product: Product): Record<string, unknown> {
  return {
    sku: product['stock_number'],
    qty: Number(product['inventory_qty']),
    dealer_price: Number(product['dealer_price']),
    moqpts: Number(product['moqpts']),
  }
}
