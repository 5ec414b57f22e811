/**
 * What is known of an item: what the request says, and what the catalog adds to it.
 */
import { UNCATEGORIZED } from '../distributors/feed-offer.js'
import {
  categoryOf,
  distidOf,
  fragmentOf,
  productClassOf,
  upcKeyOf,
} from '../catalog/snapshot/offer.js'
import type { Row, Snapshot } from '../catalog/snapshot/snapshot.js'
import { gtinKey } from '../core/gtin.js'
import { NO_STATES, SET_STATES } from '../places/state-set.js'
import type { StateSet } from '../places/state-set.js'
import { attributeName, isNoFact } from './attributes.js'
import type { AttributeValue } from './attributes.js'
import { UNKNOWN } from './destination.js'
import type { Possible } from './destination.js'
import { NO_FLAGS } from './feed-flags.js'
import type { FeedFlags } from './feed-flags.js'
import type { AttributeFact, ItemFacts } from './rules/predicates.js'
import { ComparableValue } from './rules/predicates.js'
import type { CheckItem } from './shapes.js'

/** The attributes of an offer's fragment as JSON text, null for none. */
export type ReadAttributes = (fragment: number) => string | null | undefined

export interface FactSources {
  /** Null before the first feed. */
  snapshot: Snapshot | null
  readAttributes: ReadAttributes
  /** The states that the offer of a fragment is not shipped to; null where no feed tells. */
  readStates?: (fragment: number) => StateSet | null | undefined
  /** A distributor's name by its distid. */
  nameOf?: (distid: string) => string
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
  item: Partial<CheckItem>,
  sources: FactSources,
  to?: 'consumer' | 'ffl',
): ItemFacts {
  const { snapshot, distidOf: nameToDistid = (text) => text } = sources
  const [upc, sku, from, category] = [item.upc, item.sku, item.distid, item.category].map((text) =>
    text === undefined || isNoFact(text) ? undefined : text.trim(),
  )
  // A distributor that nobody knows is as if it were not given.
  const distid = from === undefined ? undefined : nameToDistid(from)
  const upcKey = upc === undefined ? null : gtinKey(upc)
  const circles = snapshot ? offersOf(snapshot, { sku, distid, upcKey }) : []
  const filled = <T>(given: T | undefined, pick: Pick<T>): Possible<T> => {
    if (given !== undefined) return { values: new Set([given]), known: true }
    if (!snapshot) return UNKNOWN
    const told = circles
      .map((rows) => rows.map((row) => pick(snapshot, row)).filter((value) => value !== null))
      .map((values) => new Set(values))
      .find(({ size }) => size > 0)
    return told ? { values: told, known: true } : UNKNOWN
  }
  // OT is what a feed's item is called that nothing tells the class of: it may be anything.
  const productClass = filled<string>(
    item.product_class === 'OT' ? undefined : item.product_class,
    (of, row) => (productClassOf(of, row) === 'OT' ? null : productClassOf(of, row)),
  )
  return {
    upc: upcsOf({ isGiven: upc !== undefined, key: upcKey }, snapshot, circles),
    sku: filled(sku?.toLowerCase(), (of, row) => of.sku(row).toLowerCase()),
    distid: filled(distid, distidOf),
    productClass,
    category: filled(
      category === UNCATEGORIZED ? undefined : category?.toLowerCase(),
      knownCategory,
    ),
    attributes: attributesOf(
      item,
      snapshot
        ? circles.map((rows) => rows.map((row) => toldOf(fragmentOf(snapshot, row), sources)))
        : [],
    ),
    flags: flagsOf({ upc, sku, distid }, circles, sources),
    destination: to
      ? { values: new Set([to]), known: true }
      : destinationsOf(item, productClass, snapshot, circles),
  }
}

/** What one offer tells; null for nothing. */
type Pick<T> = (snapshot: Snapshot, row: Row) => T | null

/** Where the item may go: as its nearest offers say, or else its class. */
function destinationsOf(
  item: Partial<CheckItem>,
  productClass: Possible<string>,
  snapshot: Snapshot | null,
  [nearest]: readonly (readonly Row[])[],
): ItemFacts['destination'] {
  if (snapshot && nearest) {
    const places = nearest.map((row) =>
      snapshot.fflReq.has(row)
        ? 'ffl'
        : destinationOf(item.product_class ?? productClassOf(snapshot, row)),
    )
    return { values: new Set(places), known: true }
  }
  return productClass.known
    ? { values: new Set([...productClass.values].map(destinationOf)), known: true }
    : { values: new Set(['consumer', 'ffl']), known: false }
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
  const own = new Set(snapshot ? upcKeysOf(snapshot, circles[0] ?? []) : [])
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
  const isOf = (row: Row) => distid === undefined || distidOf(snapshot, row) === distid
  const exact = sku === undefined || distid === undefined ? [] : snapshot.skuRows(sku).filter(isOf)
  const keys = upcKey === null ? new Set(upcKeysOf(snapshot, exact)) : [upcKey]
  const all = [...keys].flatMap((key) => snapshot.upcRows(key))
  return [exact, all.filter(isOf), all].filter(({ length }) => length > 0)
}

function upcKeysOf(snapshot: Snapshot, rows: readonly Row[]): number[] {
  return rows.map((row) => upcKeyOf(snapshot, row)).filter((key) => key !== 0)
}

function knownCategory(snapshot: Snapshot, row: Row): string | null {
  const name = categoryOf(snapshot, row)
  return name === UNCATEGORIZED ? null : name.toLowerCase()
}

/** A firearm goes to a dealer, whoever says so. */
export function destinationOf(productClass: string): 'consumer' | 'ffl' {
  return productClass === 'FA' || productClass === 'SO' ? 'ffl' : 'consumer'
}

/**
 * The flags of the offers that the item may be: the one that is named, or those of its UPC, of the
 * distributor that is named or else of all.
 */
function flagsOf(
  { upc, sku, distid }: Record<'upc' | 'sku' | 'distid', string | undefined>,
  circles: readonly (readonly Row[])[],
  { snapshot, readStates, nameOf = (text) => text }: FactSources,
): FeedFlags {
  if (!snapshot || !readStates) return NO_FLAGS
  // An item number alone is as good as a UPC here, though not for what the item is.
  const nearest =
    circles[0] ?? (upc === undefined && sku !== undefined ? snapshot.skuRows(sku) : [])
  const rows =
    distid === undefined ? nearest : nearest.filter((row) => distidOf(snapshot, row) === distid)
  const isExact =
    sku !== undefined &&
    distid !== undefined &&
    rows.some((row) => snapshot.sku(row).toLowerCase() === sku.toLowerCase())
  const offers = rows.map((row) => ({
    distid: distidOf(snapshot, row),
    name: nameOf(distidOf(snapshot, row)),
    distsku: snapshot.sku(row),
    states: readStates(fragmentOf(snapshot, row)) ?? NO_STATES,
  }))
  return { offers, isExact }
}

/** What an offer tells of its attributes, as JSON. */
interface Told {
  text: string | null | undefined
  /** Its flags say where it may go; an attribute that repeats one says nothing more. */
  isFlagged: boolean
}

function toldOf(fragment: number, { readAttributes, readStates }: FactSources): Told {
  return {
    text: readAttributes(fragment),
    isFlagged: (readStates?.(fragment) ?? null) !== null,
  }
}

const FLAGS = new Set(SET_STATES.map((state) => attributeName(`State Restriction (${state})`)))

/**
 * Attributes of the request; of the nearest offers that tell of them, those that the request does
 * not give.
 */
function attributesOf(
  { attributes = {} }: Partial<CheckItem>,
  circles: readonly (readonly Told[])[],
): ItemFacts['attributes'] {
  const known = new Map<string, AttributeFact>()
  for (const [name, values] of byName(Object.entries(attributes))) known.set(name, [values])
  for (const offers of circles) {
    const told = new Map<string, AttributeFact>()
    const seen = new Set<string>()
    for (const { text, isFlagged } of offers) {
      if (!text || seen.has(text)) continue
      seen.add(text)
      for (const [name, values] of byName(
        Object.entries(JSON.parse(text) as Record<string, string>),
      )) {
        if (isFlagged && FLAGS.has(name)) continue
        told.set(name, [...(told.get(name) ?? []), values])
      }
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
