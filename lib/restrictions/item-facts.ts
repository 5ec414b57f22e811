/**
 * What is known of an item: what the request says, and what the catalog adds to it.
 */
import { UNCATEGORIZED } from '../distributors/feed-offer.js'
import { CLASS_CODES } from '../distributors/product-classes.js'
import type { Row, Snapshot } from '../catalog/snapshot/snapshot.js'
import { gtinKey } from '../core/gtin.js'
import { attributeName, isNoFact } from './attributes.js'
import type { AttributeValue } from './attributes.js'
import { UNKNOWN } from './destination.js'
import type { Possible } from './destination.js'
import type { AttributeFact, ItemFacts } from './rules/predicates.js'
import { ComparableValue } from './rules/predicates.js'
import type { CheckItem } from './shapes.js'

/** The attributes of an offer's fragment as JSON text, null for none. */
export type ReadAttributes = (fragment: number) => string | null | undefined

export interface FactSources {
  /** Null before the first feed. */
  snapshot: Snapshot | null
  readAttributes: ReadAttributes
  /** The distid of a distributor by distid or name, case aside; undefined for an unknown one. */
  distidOf?: (text: string) => string | undefined
}

/**
 * The facts of one item. What the request does not say comes from its offers in the catalog: that
 * of (`distid`, `sku`), and what that one does not tell from the others of its UPC; where they
 * differ, each may be true. A blank text says nothing. `to` is where the item really goes; in a
 * check it follows from the item.
 */
export function itemFacts(
  item: CheckItem,
  { snapshot, readAttributes, distidOf = (text) => text }: FactSources,
  to?: 'consumer' | 'ffl',
): ItemFacts {
  const [upc, sku, from, category] = [item.upc, item.sku, item.distid, item.category].map((text) =>
    isNoFact(text) ? undefined : text!.trim(),
  )
  // A distributor that nobody knows is as if it were not given.
  const distid = from === undefined ? undefined : distidOf(from)
  const upcKey = upc === undefined ? null : gtinKey(upc)
  const circles = snapshot ? offersOf(snapshot, { sku, distid, upcKey }) : []
  const filled = <T>(given: T | undefined, pick: (row: Row) => T | null): Possible<T> => {
    if (given !== undefined) return { values: new Set([given]), known: true }
    const told = circles
      .map((rows) => new Set(rows.map(pick).filter((value) => value !== null)))
      .find(({ size }) => size > 0)
    return told ? { values: told, known: true } : UNKNOWN
  }
  // OT is what a feed's item is called that nothing tells the class of: it may be anything.
  const classOf = (row: Row) => CLASS_CODES[snapshot!.productClass[row]!]!
  const productClass = filled<string>(
    item.product_class === 'OT' ? undefined : item.product_class,
    (row) => (classOf(row) === 'OT' ? null : classOf(row)),
  )
  return {
    upc: upcsOf({ isGiven: upc !== undefined, key: upcKey }, snapshot, circles),
    sku: filled(sku?.toLowerCase(), (row) => snapshot!.sku(row).toLowerCase()),
    distid: filled(distid, (row) => snapshot!.distids[snapshot!.distributor[row]!]!),
    productClass,
    category: filled(category === UNCATEGORIZED ? undefined : category?.toLowerCase(), (row) =>
      categoryOf(snapshot!, row),
    ),
    attributes: attributesOf(
      item,
      circles.map((rows) => rows.map((row) => readAttributes(snapshot!.fragment[row]!))),
    ),
    destination: to
      ? { values: new Set([to]), known: true }
      : circles.length > 0
        ? {
            values: new Set(
              circles[0]!.map((row) =>
                snapshot!.fflReq.has(row)
                  ? 'ffl'
                  : destinationOf(item.product_class ?? classOf(row)),
              ),
            ),
            known: true,
          }
        : productClass.known
          ? { values: new Set([...productClass.values].map(destinationOf)), known: true }
          : { values: new Set(['consumer', 'ffl']), known: false },
  }
}

/**
 * The UPC that was given and that of the very offer, both where they differ. Text that is not a UPC
 * matches nothing, but for the offer's own.
 */
function upcsOf(
  given: { isGiven: boolean; key: number | null },
  snapshot: Snapshot | null,
  circles: readonly (readonly Row[])[],
): Possible<number> {
  const own = new Set(
    (circles[0] ?? []).map((row) => snapshot!.upcKey[row]!).filter((key) => key !== 0),
  )
  if (given.key !== null) own.add(given.key)
  return own.size === 0 && !given.isGiven ? UNKNOWN : { values: own, known: true }
}

/**
 * Rows of the item in ever wider circles, none of them empty: its own, those of its distributor,
 * all of its UPC.
 */
function offersOf(
  snapshot: Snapshot,
  {
    sku,
    distid,
    upcKey,
  }: { sku: string | undefined; distid: string | undefined; upcKey: number | null },
): (readonly Row[])[] {
  const isOf = (row: Row) =>
    distid === undefined || snapshot.distids[snapshot.distributor[row]!] === distid
  const exact = sku === undefined || distid === undefined ? [] : snapshot.skuRows(sku).filter(isOf)
  const keys =
    upcKey === null
      ? new Set(exact.map((row) => snapshot.upcKey[row]!).filter((key) => key !== 0))
      : [upcKey]
  const all = [...keys].flatMap((key) => snapshot.upcRows(key))
  return [exact, all.filter(isOf), all].filter(({ length }) => length > 0)
}

function categoryOf(snapshot: Snapshot, row: Row): string | null {
  const { name } = snapshot.categories[snapshot.category[row]!]!
  return name === UNCATEGORIZED ? null : name.toLowerCase()
}

/** A firearm goes to a dealer, whoever says so. */
function destinationOf(productClass: string): 'consumer' | 'ffl' {
  return productClass === 'FA' || productClass === 'SO' ? 'ffl' : 'consumer'
}

/**
 * Attributes of the request; of the nearest offers that tell of them, those that the request does
 * not give.
 */
function attributesOf(
  { attributes = {} }: CheckItem,
  circles: readonly (readonly (string | null | undefined)[])[],
): ItemFacts['attributes'] {
  const known = new Map<string, AttributeFact>()
  for (const [name, values] of byName(Object.entries(attributes))) known.set(name, [values])
  for (const offers of circles) {
    const told = new Map<string, AttributeFact>()
    for (const text of new Set(offers)) {
      for (const [name, values] of byName(
        text ? Object.entries(JSON.parse(text) as Record<string, string>) : [],
      ))
        told.set(name, [...(told.get(name) ?? []), values])
    }
    for (const [name, fact] of told) if (!known.has(name)) known.set(name, fact)
  }
  return known
}

type Written = AttributeValue | Record<string, unknown>

/**
 * What one source tells, by the names that rules use; two of its attributes of one meaning are a
 * list.
 */
function byName(
  entries: readonly (readonly [string, Written | Written[] | null])[],
): Map<string, ComparableValue[]> {
  const told = new Map<string, ComparableValue[]>()
  for (const [written, value] of entries) {
    const name = attributeName(written)
    const values = [value]
      .flat()
      .filter(
        (one): one is AttributeValue =>
          typeof one !== 'object' && !isNoFact(one) && String(one).trim() !== '',
      )
      .map((one) => new ComparableValue(name, one))
    if (values.length > 0) told.set(name, [...(told.get(name) ?? []), ...values])
  }
  return told
}
