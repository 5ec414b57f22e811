/** Sports South's items as its simulator tells them: out of the catalog that it has as a file. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { shelvesOf } from '../../../simulator/engine/queries.js'
import type { World } from '../../../simulator/engine/world.js'
import type { Row } from './api.js'
import { CATEGORY_COLUMNS, ITEM_COLUMNS } from './columns.js'
import type { Call, Operation } from './simulator-operation.js'

/** What shops call the columns in files of their own. */
const SHORT: Readonly<Record<string, string>> = {
  ITEMNO: 'I',
  QTYOH: 'Q',
  PRC1: 'P',
  CPRC: 'C',
  ITUPC: 'UPC',
  MFGINO: 'MPN',
}

/** Items of one answer. */
const PAGE = 2_000
/** Item types that go to dealers alone: handguns, long guns, suppressors. */
const FIREARMS: ReadonlySet<string> = new Set(['1', '2', '8'])

type Catalog = Pick<World, 'feedFile' | 'store'>

/** What a file held when it was read last: it is looked into for each line of an order. */
const read = new WeakMap<Catalog['store'], { at: number; rows: Row[] }>()

/** The rows of the file as they are; none where there is no file. */
function rowsOf({ feedFile, store }: Catalog): Row[] {
  const file = feedFile('TSW')
  if (file === null || !existsSync(file)) return []
  const { mtimeMs: at } = statSync(file)
  const known = read.get(store)
  if (known?.at === at) return known.rows
  const rows = parse(readFileSync(file), { columns: true }) as Row[]
  read.set(store, { at, rows })
  return rows
}

/** Every item by its number, ascending, with what is on the shelf now. */
function itemsOf(world: Catalog): Row[] {
  const rows = rowsOf(world)
  const shelves = new Map(
    world.store.transact((db) => shelvesOf(db, 'TSW')).shelves.map(({ sku, qty }) => [sku, qty]),
  )
  return rows
    .map((row): Row => {
      const cell = (column: string) => row[column] ?? row[SHORT[column] ?? ''] ?? ''
      const left = shelves.get(cell('ITEMNO'))
      const item = Object.fromEntries(ITEM_COLUMNS.map((column) => [column, cell(column)]))
      return {
        ...row,
        ...item,
        ITUPC: item['ITUPC'] === '' ? '' : item['ITUPC']!.padStart(12, '0'),
        ...(left !== undefined && { QTYOH: String(left) }),
      }
    })
    .sort((a, b) => Number(a['ITEMNO']) - Number(b['ITEMNO']))
}

const itemAt = (world: World, number: string): Row | undefined =>
  itemsOf(world).find((item) => item['ITEMNO'] === number)

/** As the catalog has it, without the shelves. */
const listed = (world: World, number: string): Row | undefined =>
  rowsOf(world).find((row) => (row['ITEMNO'] ?? row['I']) === number)

/** What the customer pays, in dollars with two decimals; nothing for an item that is not listed. */
export function priceOf(world: World, number: string): string {
  const row = listed(world, number)
  return row?.['CPRC'] ?? row?.['C'] ?? '0.00'
}

/** As the catalog has it. */
export function isFirearm(world: World, number: string): boolean {
  return FIREARMS.has(listed(world, number)?.['ITYPE'] ?? '')
}

const only = (row: Row, columns: readonly string[]): Row =>
  Object.fromEntries(columns.map((column) => [column, row[column] ?? '']))

const onhand = (now: number, item: Row): Row => ({
  I: item['ITEMNO']!,
  P: item['PRC1']!,
  C: item['CPRC']!,
  Q: item['QTYOH']!,
  D: new Date(now).toISOString().replace(/\.\d+Z$/, '+00:00'),
})

/** The items behind the last one that the caller has. */
const nextItems = ({ world, field }: Call): Row[] =>
  itemsOf(world)
    .filter((item) => Number(item['ITEMNO']) > Number(field('LastItem')))
    .slice(0, PAGE)

/** One row for each value of a column, with the columns that describe it. */
function groups(world: World, key: string, row: (item: Row, count: number) => Row): Row[] {
  const found = new Map<string, Row[]>()
  for (const item of itemsOf(world))
    if ((item[key] ?? '') !== '') found.set(item[key]!, [...(found.get(item[key]!) ?? []), item])
  return [...found.values()].map((items) => row(items[0]!, items.length))
}

export const INVENTORY: Readonly<Record<string, Operation>> = {
  DailyItemUpdate: {
    params: ['LastUpdate', 'LastItem'],
    act: (call) => {
      const since = Date.parse(call.field('LastUpdate'))
      const isNews = ({ CHGDTE = '' }: Row) => !(Date.parse(CHGDTE) < since)
      const rows = nextItems(call).filter(isNews)
      return { told: { rows: rows.map((item) => only(item, ITEM_COLUMNS)) } }
    },
  },
  IncrementalOnhandUpdate: {
    params: ['SinceDateTime', 'LastItem'],
    act: (call) => ({
      told: {
        rows: nextItems(call).map((item) => onhand(call.world.now(), item)),
        element: 'Onhand',
      },
    }),
  },
  OnhandInquiry: {
    params: ['ItemNumber'],
    act: ({ world, field }) => {
      const item = itemAt(world, field('ItemNumber'))
      return { told: { rows: item ? [onhand(world.now(), item)] : [], element: 'Onhand' } }
    },
  },
  GetText: {
    params: ['ItemNumber'],
    act: ({ world, field }) => {
      const item = itemAt(world, field('ItemNumber'))
      const text = item?.['TEXT'] ?? item?.['IDESC'] ?? ''
      return { told: { rows: item ? [{ ITEMNO: item['ITEMNO']!, TEXT: text }] : [] } }
    },
  },
  BrandUpdate: {
    params: [],
    act: ({ world }) => ({
      told: {
        rows: groups(world, 'ITBRDNO', (item, count) => ({
          BRDNO: item['ITBRDNO']!,
          BRDNM: item['BRDNM'] ?? '',
          BRDURL: item['BRDURL'] ?? '',
          ITCOUNT: String(count),
        })),
      },
    }),
  },
  ManufacturerUpdate: {
    params: [],
    act: ({ world }) => ({
      told: {
        rows: groups(world, 'IMFGNO', (item) => ({
          MFGNO: item['IMFGNO']!,
          MFGNM: item['MFGNM'] ?? '',
        })),
      },
    }),
  },
  CategoryUpdate: {
    params: [],
    act: ({ world }) => ({
      told: { rows: groups(world, 'CATID', (item) => only(item, CATEGORY_COLUMNS)) },
    }),
  },
}
