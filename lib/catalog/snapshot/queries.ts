/** What a snapshot is made of, and what offers of one UPC lend each other, in catalog.db. */
import { UNCATEGORIZED } from '../../distributors/feed-offer.js'
import type { CatalogDb } from '../queries.js'

/** An offer as a snapshot shows it, with its text. */
export type TextRow = [
  id: number,
  fragment: number,
  distid: string,
  stockid: string,
  distsku: string,
  upc: string | null,
  name: string,
  mfgName: string | null,
  mpn: string | null,
  productClass: string,
  categoryId: number | null,
  categoryName: string,
]

/** Every offer with its text, by id. */
export function textRows(catalog: CatalogDb): IterableIterator<TextRow> {
  // CROSS JOIN fixes the order of the loops, so that no sort is needed.
  return catalog
    .prepare(`SELECT o.id, o.fragment, o.distid, o.stockid, f.distsku, f.upc, f.name, f.mfg_name,
        f.mpn, f.product_class, f.category_id, f.category_name
      FROM shown o CROSS JOIN fragment f ON f.id = o.fragment ORDER BY o.id`)
    .raw()
    .iterate() as IterableIterator<TextRow>
}

/** What a price-and-stock update changes of an offer; amounts in cents. */
export type TickRow = [
  id: number,
  fragment: number,
  price: number | null,
  map: number | null,
  msrp: number | null,
  shipping: number | null,
  qty: number,
  fflReq: number,
  dropShip: number,
]

const TICK = 'SELECT id, fragment, price, map, msrp, shipping, qty, ffl_req, drop_ship FROM shown'

/** Offers that changed after a revision; all of them, by id, where none is given. */
export function tickRows(catalog: CatalogDb, since: number | null): IterableIterator<TickRow> {
  const changed =
    since === null
      ? catalog.prepare(`${TICK} ORDER BY id`).raw().iterate()
      : catalog.prepare(`${TICK} WHERE revision > ?`).raw().iterate(since)
  return changed as IterableIterator<TickRow>
}

export type OwnPriceRow = [subscriber: string, offer: number, price: number]

/** Prices of subscribers' own feeds, by subscriber and offer. */
export function ownPriceRows(catalog: CatalogDb): IterableIterator<OwnPriceRow> {
  return catalog
    .prepare('SELECT subscriber_id, offer, price FROM own_price ORDER BY subscriber_id, offer')
    .raw()
    .iterate() as IterableIterator<OwnPriceRow>
}

/**
 * Texts that one offer may lend another, by the bit in `Member.has`. A name that repeats a number
 * is none.
 */
const PARTS = {
  name: "f.name NOT IN (f.distsku, f.stockid, coalesce(f.mpn, ''), coalesce(f.upc, ''))",
  mfg_name: "coalesce(f.mfg_name, '') <> ''",
  images: "f.images <> '[]'",
  short_description: 'f.short_description IS NOT NULL',
  description: 'f.description IS NOT NULL',
  category: `f.category_id IS NOT NULL OR f.category_name <> '${UNCATEGORIZED}'`,
} as const

export type LentPart = keyof typeof PARTS
export const LENT_PARTS = Object.keys(PARTS) as LentPart[]

/** Offers of one UPC, by (distid, stockid), and what subscribers' own feeds say of them. */
export function membersOf(catalog: CatalogDb) {
  const has = Object.values(PARTS)
    .map((condition, i) => `((${condition}) << ${i})`)
    .join(' + ')
  return {
    members: catalog.prepare(`SELECT o.id, o.distid, o.stockid, o.kind,
        f.product_class AS ownClass, o.ffl_req AS ownFfl, o.fragment,
        o.price IS NOT NULL AS isOperators, ${has} AS has,
        coalesce(length(f.description), 0) + coalesce(length(f.short_description), 0) AS described,
        o.lent, o.lent_ffl AS lentFfl, o.lent_key AS lentKey
      FROM offer o JOIN fragment f ON f.id = o.fragment
      WHERE o.gtin = ? ORDER BY o.distid, o.stockid`),
    ownKinds: catalog
      .prepare(`SELECT p.kind FROM own_price p JOIN offer o ON o.id = p.offer
        WHERE o.gtin = ? AND p.kind > 0`)
      .pluck(),
  }
}

const differing = (which: string) => `SELECT gtin FROM offer WHERE gtin ${which} GROUP BY gtin
  HAVING (count(*) > 1 AND (min(kind) = 0 OR min(kind) <> max(kind))) OR count(lent_ffl) > 0`
const differingOwn = (which: string) => `SELECT o.gtin
  FROM own_price p JOIN offer o ON o.id = p.offer
  WHERE p.kind > 0 AND p.kind <> o.kind AND o.gtin ${which}`

const differences = (catalog: CatalogDb) =>
  catalog.prepare('SELECT 1 FROM own_price LIMIT 1').get() === undefined
    ? [differing]
    : [differing, differingOwn]

/** UPCs whose offers differ in what they say, or have a loan. */
export function differingKeys(catalog: CatalogDb): number[] {
  return differences(catalog).flatMap(
    (of) => catalog.prepare(of('IS NOT NULL')).pluck().all() as number[],
  )
}

/** Whether a UPC is one of these. */
export function isDiffering(catalog: CatalogDb): (key: number) => boolean {
  const lookups = differences(catalog).map((of) => catalog.prepare(of('= ?')).pluck())
  return (key) => lookups.some((lookup) => lookup.get(key) !== undefined)
}

/** The statements that write loans. */
export function loanStatements(catalog: CatalogDb) {
  const lent = (part: LentPart, column: string = part) => `iif(@${part}, t.${column}, f.${column})`
  return {
    set: catalog.prepare(
      'UPDATE offer SET lent = ?, lent_ffl = ?, lent_key = ?, revision = ? WHERE id = ?',
    ),
    retire: catalog.prepare('UPDATE fragment SET retired_at = ? WHERE id = ?'),
    fragment: catalog.prepare(`INSERT INTO fragment (distid, stockid, distsku, upc, mpn, item_cat,
        product_url, attributes, product_class, name, mfg_name, category_id, category_name, images,
        short_description, description, restricted_states)
      SELECT f.distid, f.stockid, f.distsku, f.upc, f.mpn, f.item_cat, f.product_url, f.attributes,
        @productClass, ${lent('name')}, ${lent('mfg_name')}, ${lent('category', 'category_id')},
        ${lent('category', 'category_name')}, ${lent('images')}, ${lent('short_description')},
        ${lent('description')}, f.restricted_states
      FROM fragment f LEFT JOIN fragment t ON t.id = @lender WHERE f.id = @own`),
  }
}
