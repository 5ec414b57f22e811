/** RSR's items as its API and its files tell them: out of the inventory that the simulator has. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { shelvesOf } from '../../../simulator/engine/queries.js'
import type { World } from '../../../simulator/engine/world.js'
import { COLUMNS, STATES } from './feed.js'

/** A row of the inventory, by the names of its columns. */
export type Item = ReadonlyMap<string, string>

/** The inventory as it is written; null where there is none. */
export function inventoryFile({ feedFile }: Pick<World, 'feedFile'>): Buffer | null {
  const file = feedFile('RSR')
  return file === null || !existsSync(file) ? null : readFileSync(file)
}

/** When it was written, milliseconds. */
export function inventoryTime({ feedFile }: Pick<World, 'feedFile'>): number {
  return Math.floor(statSync(feedFile('RSR')!).mtimeMs)
}

/** Every item, with what is on the shelf now. */
export function itemsOf(world: Pick<World, 'feedFile' | 'store'>): Item[] {
  const text = inventoryFile(world)?.toString('utf8') ?? ''
  const shelves = new Map(
    world.store.transact((db) => shelvesOf(db, 'RSR')).shelves.map(({ sku, qty }) => [sku, qty]),
  )
  return text
    .split('\r\n')
    .filter((line) => line !== '')
    .map((line) => {
      const cells = line.split(';')
      const left = shelves.get(cells[0]!)
      return new Map(
        COLUMNS.map((column, at) => [
          column,
          column === 'quantity' && left !== undefined ? String(left) : (cells[at] ?? ''),
        ]),
      )
    })
}

const FIREARMS = new Set(['01', '02', '03', '05', '06'])

export const isFirearm = (item: Item): boolean =>
  FIREARMS.has(item.get('department')!.padStart(2, '0'))

const flag = (item: Item, column: string) => item.get(column) === 'Y'

/** An item of `get-items`. */
export function listedItem(item: Item): Record<string, unknown> {
  return {
    SKU: item.get('stock'),
    UPC: item.get('upc'),
    LastModifiedDate: item.get('date entered'),
    Title: item.get('description'),
    ManufacturerCode: item.get('manufacturer id'),
    ManufacturerName: item.get('manufacturer'),
    ManufacturerPartNumber: item.get('part number'),
    Description: item.get('expanded description'),
    CategoryId: item.get('department'),
    NFA: item.get('department')!.padStart(2, '0') === '06',
    ImageCount: item.get('image') === '' ? 0 : 1,
    MSRP: item.get('msrp'),
    RetailMAP: item.get('map'),
    InventoryOnHand: Number(item.get('quantity')),
    GroundOnly: flag(item, 'ground only'),
    Closeout: item.get('status') === 'Closeout',
    DropShipBlock: flag(item, 'no drop ship'),
    DropShippable: !flag(item, 'no drop ship'),
    DealerPrice: item.get('price'),
    ShippingRestrictions: STATES.filter((state) => flag(item, state)).map((State) => ({
      State,
      Municipality: '',
      TerritoryRestriction: true,
      RestrictionDetail: '',
    })),
  }
}

/** What `check-catalog` says of an item. */
export function checkedItem(item: Item): Record<string, unknown> {
  const units = Number(item.get('quantity'))
  return {
    PartNum: item.get('stock'),
    UPC: item.get('upc'),
    CCost: item.get('price'),
    OnHand: units,
    MAP: item.get('map'),
    DS: flag(item, 'no drop ship') ? 'N' : 'Y',
    NFA: item.get('department')!.padStart(2, '0') === '06' ? 'Y' : 'N',
    StatusCode: units > 0 ? '00' : '01',
  }
}
