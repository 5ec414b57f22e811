/** Chattanooga's items as its API tells them: out of the catalog that the simulator has as a file. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import categories from '../../../../data/chattanooga/categories.json' with { type: 'json' }
import { MINUTE } from '../../../core/clock.js'
import { shelvesOf } from '../../../simulator/engine/queries.js'
import type { World } from '../../../simulator/engine/world.js'
import type { WireAnswer } from '../../../simulator/wire/http-simulator.js'
import { fault, json, pageOf } from './simulator-answers.js'
import type { Call } from '../../../simulator/wire/posted-order.js'

/** A row of the product feed: texts by its columns. */
export type Item = Readonly<Record<string, string>>

const ITEMS_A_PAGE = 50
/** Milliseconds from one look at the shelves to the next. */
const COUNTED_EVERY = 15 * MINUTE

const FIREARMS = new Set(
  categories
    .filter((one) => one.class === 'FA' || one.class === 'SO')
    .flatMap(({ names }) => names.map((name) => name.toLowerCase())),
)

/** The files that were read last: each is read once. */
const read = new Map<string, { mtime: number; items: readonly Item[] }>()

/** Every item as the catalog has it; none where there is no catalog. */
function catalogOf({ feedFile }: Pick<World, 'feedFile'>): {
  mtime: number
  items: readonly Item[]
} {
  const file = feedFile('CSSI')
  if (file === null || !existsSync(file)) return { mtime: 0, items: [] }
  const mtime = Math.floor(statSync(file).mtimeMs)
  const known = read.get(file)
  if (known?.mtime === mtime) return known
  const items = parse(readFileSync(file), { columns: true, bom: true }) as Item[]
  read.clear()
  read.set(file, { mtime, items })
  return { mtime, items }
}

/** Every item, with what is on the shelf now. */
export function itemsOf(world: Pick<World, 'feedFile' | 'store'>): Item[] {
  const left = shelvesNow(world)
  return catalogOf(world).items.map((item) => {
    const qty = left.get(item['SKU']!)
    return qty === undefined ? item : { ...item, 'Quantity In Stock': String(qty) }
  })
}

const shelvesNow = ({ store }: Pick<World, 'store'>) =>
  new Map(store.transact((db) => shelvesOf(db, 'CSSI')).shelves.map(({ sku, qty }) => [sku, qty]))

/** How the demo's market files what has a license. */
const FILED_AS = /^(pistols|revolvers|rifles|shotguns|nfa)( -|$)/

/** The license column that the feed does not have. */
export function isFirearm(item: Item): boolean {
  const names = (item['Category'] ?? '').toLowerCase().split('|')
  return names.some((name) => FIREARMS.has(name.trim()) || FILED_AS.test(name.trim()))
}

/** `GET items`: a page of them, all or those that changed after a time. */
export function tellItems(call: Call): WireAnswer {
  const { world, request } = call
  const page = pageOf(call, ITEMS_A_PAGE)
  if ('status' in page) return page
  const asked = request.query.get('qas_last_updated_after')
  const after = asked === null ? -Infinity : Date.parse(asked.replace(' ', 'T') + zoneOf(asked))
  if (Number.isNaN(after)) return fault(422, 9000, 'qas_last_updated_after is not a date')
  const { mtime, items } = catalogOf(world)
  const left = shelvesNow(world)
  const counted = Math.floor(world.now() / COUNTED_EVERY) * COUNTED_EVERY
  const rows = items
    .map((item) => {
      const qty = left.get(item['SKU']!) ?? Number(item['Quantity In Stock'])
      const isChanged = String(qty) !== item['Quantity In Stock']
      return { item, qty, at: isChanged ? Math.max(mtime, counted) : mtime }
    })
    .filter(({ at }) => at > after)
  return json({
    items: rows.slice(page.offset, page.offset + page.limit).map(itemRow),
    pagination: page.pagination(rows.length),
  })
}

const zoneOf = (text: string) =>
  /\d\d:\d\d/.test(text) && !/(Z|[+-]\d\d:?\d\d)$/.test(text) ? 'Z' : ''

function itemRow({ item, qty, at }: { item: Item; qty: number; at: number }) {
  const dollars = (column: string) => (item[column] ? Number(item[column]) : null)
  return {
    cssi_id: item['SKU'],
    name: item['Item Name'],
    upc: (item['UPC'] ?? '').replaceAll('#', ''),
    custom_price: dollars('Price'),
    drop_ship_price: dollars('Drop Ship Price'),
    map_price: dollars('MAP'),
    retail_price: dollars('MSRP'),
    retail_map_price: dollars('MAP'),
    inventory: qty,
    in_stock_flag: qty > 0 ? 1 : 0,
    serialized_flag: isFirearm(item) ? 1 : 0,
    ffl_flag: isFirearm(item) ? 1 : 0,
    drop_ship_flag: Number(item['Drop Ship Flag']),
    qas_last_updated_at: new Date(at).toISOString().slice(0, 19).replace('T', ' '),
  }
}
