/** What a build of the metrics asks of catalog.db. */
import type { CatalogDb } from '../../catalog/queries.js'
import type { ProductClass } from '../../distributors/product-classes.js'

/** About how many offers the catalog has, at most. */
export function countOffers(catalog: CatalogDb): number {
  return catalog.prepare('SELECT count(*) FROM offer').pluck().get() as number
}

/** An offer with its text: the members of a row that all metrics share, as JSON. Cents. */
export type PricedOffer = [
  distid: string,
  price: number,
  map: number | null,
  msrp: number | null,
  qty: number,
  upc: string,
  json: string,
  category: number | null,
  productClass: ProductClass,
]

/**
 * Offers with a UPC and a price of the operator's. In the order in which they lie, and so do their
 * texts: by any other, each text would be looked for on a page of its own.
 */
export function pricedOffers(catalog: CatalogDb): IterableIterator<PricedOffer> {
  return catalog
    .prepare(`SELECT o.distid, o.price, nullif(max(o.map, 0), 0), nullif(max(o.msrp, 0), 0), o.qty,
        f.upc, json_object('upc', upc, 'name', name, 'mfg_name', mfg_name,
          'category_id', category_id, 'category_name', category_name),
        f.category_id, f.product_class
      FROM shown o JOIN fragment f ON f.id = o.fragment WHERE o.price > 0 AND f.upc IS NOT NULL`)
    .raw()
    .iterate() as IterableIterator<PricedOffer>
}
