/** How a preset reads a file, for the person who sets up a feed. Writes nothing. */
import { toDollars } from '../core/money.js'
import type { Preset } from '../distributors/generic/generic.js'
import type { CatalogRow, StockRow } from '../distributors/generic/rows.js'
import { statesIn } from '../places/state-set.js'
import { judge } from './ingest/guard.js'
import type { Evidence } from './ingest/guard.js'
import type { BrokenLine } from './read/lines.js'
import { brokenLine, readRows } from './read/rows.js'

export interface CheckedFeed {
  /** Why the file is not a feed of this preset at all; empty where it is one. */
  reasons: string[]
  rows: number
  rejected: number
  /** The last line ends in the middle. */
  cut_off: boolean
  /** Why import would not take it as a first feed; without `reasons` too. */
  refused: string[]
  /**
   * The first mapped rows with the contract's names, money in dollars; of a stock feed item numbers
   * and quantities.
   */
  offers: Record<string, unknown>[]
  /** The first rejected rows. */
  rejects: BrokenLine[]
}

/**
 * Reads the whole file and shows its first `rows` mapped and rejected rows. `asOf` (ms) decides
 * whether a sale is on.
 */
export async function checkFeed(input: {
  preset: Preset
  file: string
  rows: number
  asOf: number
}): Promise<CheckedFeed> {
  const checked: CheckedFeed = {
    reasons: [],
    rows: 0,
    rejected: 0,
    cut_off: false,
    refused: [],
    offers: [],
    rejects: [],
  }
  const keys = new Set<string>()
  const reject = (fault: BrokenLine) => {
    checked.rows++
    checked.rejected++
    checked.rejects.push(fault)
    // The rows of a batch and its broken lines come apart.
    if (checked.rejects.length > input.rows * 2)
      checked.rejects = first(checked.rejects, input.rows)
  }
  const reading = await readRows(
    { ...input, at: input.asOf, seed: '' },
    {
      begin: () => {},
      known: () => 0,
      unchanged: () => {},
      row(batch, index, row) {
        if (keys.has(row.stockid))
          return reject(
            brokenLine(batch, index, 'duplicate key: an earlier row has the same item number'),
          )
        keys.add(row.stockid)
        checked.rows++
        if (checked.offers.length < input.rows) checked.offers.push(shown(row))
      },
      joined: () => {
        checked.rows++
      },
      rejected: reject,
      progress: () => {},
    },
  )
  const refused = judge(asFirstFeed(checked, keys.size, reading.cutOff, input.asOf), false)
  return {
    ...checked,
    reasons: reading.reasons,
    refused: reading.reasons.length > 0 ? [] : refused,
    cut_off: reading.cutOff,
    rejects: first(checked.rejects, input.rows),
  }
}

/** What the guard is told of a feed that has none before it. */
function asFirstFeed(
  { rows, rejected }: CheckedFeed,
  claimed: number,
  cutOff: boolean,
  asOf: number,
): Evidence {
  return {
    rows,
    rejected,
    usable: rows - rejected,
    claimed,
    cutOff,
    newlineLost: false,
    asOf,
    previousAsOf: null,
    named: 0,
    lost: 0,
    priced: 0,
    priceMoves: 0,
    stocked: 0,
    emptied: 0,
    upcs: 0,
    upcsLost: 0,
    moved: [],
  }
}

/**
 * As the contract's product has it; the operator's feeds have no shop's prices yet, so `unit_price`
 * is the feed's.
 */
function shown(row: CatalogRow | StockRow): Record<string, unknown> {
  if (!('name' in row)) return { stockid: row.stockid, qty_on_hand: row.qty }
  const money = (cents: number | null) => (cents === null ? null : toDollars(cents))
  return {
    stockid: row.stockid,
    distsku: row.distsku,
    upc: row.upc,
    name: row.name,
    mfg_name: row.mfgName,
    mpn: row.mpn,
    product_class: row.productClass,
    item_cat: row.itemCat,
    item_gb_cat: row.categoryId,
    item_gb_cat_name: row.categoryName,
    ffl_req: Number(row.fflReq),
    unit_price: money(row.price),
    map_price: money(row.map),
    msrp: money(row.msrp),
    shipping_cost: money(row.shipping),
    qty_on_hand: row.qty,
    drop_ship_flg: Number(row.dropShip),
    images: row.images.map((src) => ({ src })),
    product_url: row.productUrl,
    short_description: row.shortDescription,
    description: row.description,
    attributes: row.attributes,
    restricted_states: row.restrictedStates == null ? null : statesIn(row.restrictedStates),
  }
}

function first(rejects: BrokenLine[], count: number): BrokenLine[] {
  return [...rejects].sort((a, b) => a.line - b.line).slice(0, count)
}
