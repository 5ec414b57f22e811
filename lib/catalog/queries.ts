/** What is asked of catalog.db: its state, its texts and its tallies. */
import type { Raw } from '../db/sqlite/sqlite.js'
import type { StateSet } from '../places/state-set.js'

/** A handle of catalog.db. */
export type CatalogDb = Pick<Raw, 'prepare'>

export interface CatalogState {
  /** Tells this file from one that takes its place: both number their texts from 1. */
  made: string
  revision: number
  /** The revision in which texts last changed. */
  textRevision: number
  version: string
}

export function readState(catalog: CatalogDb): CatalogState {
  return catalog
    .prepare('SELECT made, revision, text_revision AS textRevision, version FROM state')
    .get() as CatalogState
}

/** The revision of now, read again with each call. */
export function revisionOf(catalog: CatalogDb): () => number {
  const revision = catalog.prepare('SELECT revision FROM state').pluck()
  return () => revision.get() as number
}

/** Tells one catalog file from one that was made anew: both number their texts from 1. */
export function catalogMade(catalog: CatalogDb): string {
  return catalog.prepare('SELECT made FROM state').pluck().get() as string
}

/** About how many offers there are: the highest id. */
export function highestOffer(catalog: CatalogDb): () => number {
  const highest = catalog.prepare('SELECT max(id) FROM offer').pluck()
  return () => (highest.get() as number | null) ?? 0
}

/** How many offers the catalog has of a distributor. */
export function offersOf(catalog: CatalogDb): (distid: string) => number {
  const offers = catalog.prepare('SELECT offers FROM tally WHERE distid = ?').pluck()
  return (distid) => (offers.get(distid) as number | undefined) ?? 0
}

/** Distributors of which the catalog has offers. */
export function fedDistributors(catalog: CatalogDb): string[] {
  return catalog
    .prepare('SELECT distid FROM tally WHERE offers > 0 ORDER BY distid')
    .pluck()
    .all() as string[]
}

export interface CatalogFeed {
  source: string
  distid: string
  /** Null for the operator's. */
  subscriberId: string | null
  /** Its `Shape` as JSON. */
  shape: string
}

/** The catalog feeds last taken of which the shape is known. */
export function catalogFeeds(catalog: CatalogDb): CatalogFeed[] {
  return catalog
    .prepare(`SELECT source, distid, subscriber_id AS subscriberId, shape FROM feed
      WHERE kind = 'catalog' AND shape <> '' ORDER BY source`)
    .all() as CatalogFeed[]
}

/**
 * Reads one text by its id. Only a catalog file that was removed under a running server loses a
 * text that a snapshot names.
 */
type ReadText<T> = (fragment: number) => T | undefined

/** Texts that one statement reads: one at a time takes half as long again. */
const TEXTS = 25

/** An item as search shows it, in JSON: what goes before its numbers, and what behind them. */
export type ItemText = readonly [fragment: number, before: string, behind: string]

/**
 * Reads what the catalog says of items but for their descriptions, in any order. SQLite writes the
 * JSON, byte for byte as JSON.stringify does: a value less to hand over for each member.
 */
export function itemTexts(catalog: CatalogDb): (fragments: readonly number[]) => ItemText[] {
  const some = catalog
    .prepare(`SELECT id,
        json_object('distid', distid, 'distsku', distsku, 'stockid', stockid, 'upc', upc,
          'name', name, 'mfg_name', mfg_name, 'mpn', mpn, 'product_class', product_class,
          'item_cat', item_cat, 'item_gb_cat', category_id, 'item_gb_cat_name', category_name),
        ',"images":' || images || ',"product_url":' || json_quote(product_url) || '}'
      FROM fragment WHERE id IN (${Array(TEXTS).fill('?').join(', ')})`)
    .raw()
  return (fragments) => {
    const read: ItemText[] = []
    for (let from = 0; from < fragments.length; from += TEXTS) {
      const part = fragments.slice(from, from + TEXTS)
      // The places that are left over ask for the first one again, which comes once.
      const rest = Array<number>(TEXTS - part.length).fill(part[0]!)
      for (const [id, object, behind] of some.all(...part, ...rest) as ItemText[])
        read.push([id, object.slice(0, -1), behind])
    }
    return read
  }
}

export interface Descriptions {
  short_description: string | null
  description: string | null
}

export function descriptionsOf(catalog: CatalogDb): ReadText<Descriptions> {
  const row = catalog.prepare('SELECT short_description, description FROM fragment WHERE id = ?')
  return (fragment) => row.get(fragment) as Descriptions | undefined
}

/** JSON of what the feed tells of an item besides; null where it tells nothing. */
export function attributesOf(catalog: CatalogDb): ReadText<string | null> {
  const attributes = catalog.prepare('SELECT attributes FROM fragment WHERE id = ?').pluck()
  return (fragment) => attributes.get(fragment) as string | null | undefined
}

/** The states that the distributor does not ship the item to; null where no feed tells. */
export function restrictedStatesOf(catalog: CatalogDb): ReadText<StateSet | null> {
  const states = catalog.prepare('SELECT restricted_states FROM fragment WHERE id = ?').pluck()
  return (fragment) => states.get(fragment) as StateSet | null | undefined
}

export interface ItemName {
  name: string
  upc: string | null
}

export function itemsOf(catalog: CatalogDb): ReadText<ItemName> {
  const row = catalog.prepare('SELECT name, upc FROM fragment WHERE id = ?')
  return (fragment) => row.get(fragment) as ItemName | undefined
}

/** Reads texts as one JSON object each, of expressions over `fragment`, by the member's name. */
export function textLines(
  catalog: CatalogDb,
  members: Readonly<Record<string, string>>,
): (fragment: number) => string | undefined {
  const list = Object.entries(members)
    .map(([name, value]) => `'${name}', ${value}`)
    .join(', ')
  const line = catalog.prepare(`SELECT json_object(${list}) FROM fragment WHERE id = ?`).pluck()
  return (fragment) => line.get(fragment) as string | undefined
}

export type AttributeRow = [upc: string | null, distid: string, attributes: string | null]

/** Reads whose attributes a text has, and the attributes as JSON. */
export function attributeRows(catalog: CatalogDb): (fragment: number) => AttributeRow | undefined {
  const row = catalog.prepare('SELECT upc, distid, attributes FROM fragment WHERE id = ?').raw()
  return (fragment) => row.get(fragment) as AttributeRow | undefined
}
