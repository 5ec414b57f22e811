/** What is known of an item: what the request says, and what the catalog adds to it (decisions 7.2-3). */
import { UNCATEGORIZED } from '../catalog/feed-offer.js'
import { CLASS_CODES } from '../catalog/product-classes.js'
import type { Row, Snapshot } from '../catalog/snapshot.js'
import { gtinKey } from '../core/gtin.js'
import { attributeName } from './attributes.js'
import type { AttributeValue } from './attributes.js'
import { UNKNOWN } from './destination.js'
import type { Possible } from './destination.js'
import type { ItemFacts } from './evaluate.js'
import type { CheckItem } from './shapes.js'

/** The attributes of an offer's fragment as JSON text, null for none. */
export type ReadAttributes = (fragment: number) => string | null | undefined

export interface FactSources {
  /** Null before the first feed. */
  snapshot: Snapshot | null
  readAttributes: ReadAttributes
}

/**
 * The facts of one item. What the request does not say comes from its offers in the catalog: that of (`distid`, `sku`), else
 * all of its UPC; where they differ, each may be true. `to` is where it really goes; in a check it follows from the item.
 */
export function itemFacts(item: CheckItem, { snapshot, readAttributes }: FactSources, to?: 'consumer' | 'ffl'): ItemFacts {
  const upcKey = item.upc === undefined ? null : gtinKey(item.upc)
  const rows = snapshot ? offersOf(snapshot, item, upcKey) : []
  const filled = <T>(given: T | undefined, pick: (row: Row) => T | null): Possible<T> => {
    if (given !== undefined) return { values: new Set([given]), known: true }
    const found = new Set(rows.map(pick).filter((value) => value !== null))
    return found.size === 0 ? UNKNOWN : { values: found, known: true }
  }
  const productClass = filled<string>(item.product_class, (row) => CLASS_CODES[snapshot!.productClass[row]!]!)
  return {
    upc: item.upc !== undefined ? { values: new Set(upcKey === null ? [] : [upcKey]), known: true } : filled<number>(undefined, (row) => snapshot!.upcKey[row]! || null),
    sku: filled(item.sku?.toLowerCase(), (row) => snapshot!.sku(row).toLowerCase()),
    distid: filled(item.distid, (row) => snapshot!.distids[snapshot!.distributor[row]!]!),
    productClass,
    category: filled(item.category?.toLowerCase(), (row) => categoryOf(snapshot!, row)),
    attributes: attributesOf(item, rows.map((row) => readAttributes(snapshot!.fragment[row]!))),
    destination: to ? { values: new Set([to]), known: true } : destinationOf(productClass, rows.map((row) => snapshot!.fflReq.has(row))),
  }
}

function offersOf(snapshot: Snapshot, { distid, sku }: CheckItem, upcKey: number | null): readonly Row[] {
  const isOf = (row: Row) => distid === undefined || snapshot.distids[snapshot.distributor[row]!] === distid
  const exact = sku === undefined || distid === undefined ? [] : snapshot.skuRows(sku).filter(isOf)
  if (exact.length > 0) return exact
  const all = upcKey === null ? [] : snapshot.upcRows(upcKey)
  const own = all.filter(isOf)
  return own.length > 0 ? own : all
}

function categoryOf(snapshot: Snapshot, row: Row): string | null {
  const { name } = snapshot.categories[snapshot.category[row]!]!
  return name === UNCATEGORIZED ? null : name.toLowerCase()
}

/** A firearm goes to a dealer, whoever says so; an item of which nothing is known may go anywhere. */
function destinationOf(productClass: Possible<string>, fflReq: readonly boolean[]): ItemFacts['destination'] {
  if (fflReq.includes(true)) return { values: new Set(['ffl']), known: true }
  if (!productClass.known) return { values: new Set(['consumer', 'ffl']), known: false }
  return { values: new Set([...productClass.values].map((code) => code === 'FA' || code === 'SO' ? 'ffl' : 'consumer')), known: true }
}

/** Attributes of the request; of the offers, those that the request does not give. */
function attributesOf({ attributes = {} }: CheckItem, stored: readonly (string | null | undefined)[]): ItemFacts['attributes'] {
  const known = new Map<string, AttributeValue[]>()
  for (const [name, value] of Object.entries(attributes)) {
    const values = [value].flat().filter((one): one is AttributeValue => one !== null && one !== '')
    if (values.length > 0) known.set(attributeName(name), [...known.get(attributeName(name)) ?? [], ...values])
  }
  const given = new Set(known.keys())
  for (const text of stored) {
    if (!text) continue
    for (const [name, value] of Object.entries(JSON.parse(text) as Record<string, string>)) {
      const plain = attributeName(name)
      const values = known.get(plain) ?? []
      if (!given.has(plain) && value !== '' && !values.includes(value)) known.set(plain, [...values, value])
    }
  }
  return known
}
