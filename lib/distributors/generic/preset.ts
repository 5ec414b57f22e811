/**
 * What a preset may say: a feed's form and how its columns become an offer. It is data that can be
 * kept as JSON and sent to a worker; its power to express is small on purpose, so that
 * configuration never runs code.
 */
import type { StateCode } from '../../places/states.js'
import type { ProductClass } from '../product-classes.js'

export type Preset = CatalogPreset | QuantityPreset

export interface Format {
  delimiter: string
  /** Null where a `"` is a character like any other. */
  quote: '"' | null
  /** Whether the first row names the columns. */
  header: boolean
  /** Without a header: the columns in their order. */
  columns?: readonly string[]
  /** A row with fewer cells is rejected. Without it: as many as there are columns. */
  minColumns?: number
}

interface Common {
  id: string
  distid: string
  format: Format
  /**
   * Columns without which the file is refused; of a list in the list, one is enough. Names compare
   * without case.
   */
  required: readonly (string | readonly string[])[]
  /** The `stockid`: the first of these columns that the file has. */
  key: readonly string[]
}

/** A full feed: an offer that it no longer names is gone. */
export interface CatalogPreset extends Common {
  kind: 'catalog'
  map: FieldMap
  /**
   * Columns of lists. Some feeds repeat an item's row once for each image: adjacent rows of one key
   * that differ in these columns alone are one item with the images of all. One that differs in
   * another column is rejected.
   */
  repeats?: readonly string[]
  /** The quantity is 0 when one of these holds. */
  zeroWhen?: readonly Condition[]
  /**
   * The first rule that fits decides. A row that none fits is of a feed, or a row, that does not
   * tell firearms apart: it is `OT` and never drop-shippable, whatever `dropShip` says, because a
   * firearm that went to a consumer's door cannot be taken back.
   */
  classify: readonly (Rule | NameTable)[]
  /**
   * Columns of categories and types. Where one of their texts names a firearm, an item that the
   * rules take for something else is never drop-shippable: one column can be wrong, and two that
   * agree are needed to send it to a consumer.
   */
  gunWordsIn?: readonly string[]
  attributes?: readonly Attribute[]
  /** Where the distributor does not ship an item to; without it the feed does not tell. */
  stateFlags?: StateFlags
}

/** A stock feed: only quantities of offers that a catalog feed made. */
export interface QuantityPreset extends Common {
  kind: 'quantity'
  qty: Quantity
}

/**
 * The first column whose cell is not blank; or a text with `{column}` in it, blank when one of its
 * cells is; or a constant.
 */
export type Field =
  | { from: readonly string[]; /** Texts that stand for none. */ none?: readonly string[] }
  | { template: string; none?: readonly string[] }
  | { constant: string }

/** Money takes the first column that holds an amount above 0. */
export interface Money {
  from: readonly string[]
}

export interface Price extends Money {
  /** The price without a sale, where `from` is the price in effect. A MAP counts only above it. */
  regular?: readonly string[]
  /**
   * Taken instead while `ends` is not past on the day that the feed is read; without an end it
   * holds.
   */
  sale?: { from: readonly string[]; ends: string }
}

/** One column, or the sum of several (a column per warehouse). */
export type Quantity = { from: readonly string[] } | { sum: readonly string[] }

/**
 * With `yes` only those values are true, and a missing column is false. With `no` all others are
 * true.
 */
export type Flag =
  | { from: readonly string[]; yes: readonly string[] }
  | { from: readonly string[]; no: readonly string[] }

/**
 * A column for each state. A cell with one of `restricts` says that the distributor does not ship
 * the item there, to a customer or to a dealer. Where `permits` is given, a cell that holds neither
 * is a bad row: a flag that has moved to the neighbouring column would lift a restriction.
 */
export interface StateFlags {
  /** By state; territories and military mail have no flags. */
  columns: Readonly<Partial<Record<StateCode, string>>>
  restricts: readonly string[]
  permits?: readonly string[]
}

/** Images: every URL of the cell, split at `separator`; `dropQuery` cuts what follows a `?`. */
export type Images = Field & { separator?: string; dropQuery?: boolean }

export interface FieldMap {
  /** Where it differs from the key. */
  distsku?: Field
  upc?: { from: readonly string[] }
  name?: Field
  mfgName?: Field
  mpn?: Field
  itemCat?: Field
  productUrl?: Field
  shortDescription?: Field
  description?: Field
  price: Price
  map?: Money
  msrp?: Money
  shipping?: Money
  qty: Quantity
  dropShip?: Flag
  images?: Images
}

/**
 * A column that the file lacks meets no condition. Values compare without case and outer blanks.
 * `startsWith` and `contains` match whole words, the last one also with an s or es: `optic` fits
 * "Optics", and `ammo` no "Hammocks". `namesGun` fits a text that names a firearm, a frame, a
 * receiver or a suppressor and not only what goes with one.
 */
export type Condition = { column: string } & (
  | { in: readonly string[] }
  | { startsWith: readonly string[] }
  | { contains: readonly string[] }
  | { namesGun: true }
  | { filled: true }
)

export interface Rule {
  /** All must hold. */
  when: readonly Condition[]
  set: Outcome
}

export interface Outcome {
  productClass: ProductClass
  /** Firearms (FA) and NFA items (SO) need a dealer's license whatever is said here. */
  ffl?: boolean
  /** GunBroker category: id and name. */
  category?: readonly [id: number | null, name: string]
  /** False: never drop-shippable. */
  dropShip?: false
}

/**
 * The names that a column may hold, each read by a person, so no gun words are looked for in them.
 * A cell may hold several: a firearm's counts before all others, then what is only sold at the
 * store or hazardous, then the first; one that is `general` (a department, a tag) counts only where
 * no other does. A cell with a name that is not listed is left to the next rules, unless one of its
 * names is a firearm's.
 */
export interface NameTable {
  column: string
  /** Between the names of one cell. */
  separator: string
  names: readonly { names: readonly string[]; general?: true; set: Outcome }[]
}

export interface Attribute {
  column: string
  /** Its name in the catalog; without it the column's. */
  name?: string
  /** Kept only when the cell is one of these. */
  only?: readonly string[]
}
