/** Sports South's items as its simulator tells them: out of the catalog that it has as a file. */
import { existsSync, readFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { shelvesOf } from '../../../simulator/engine/queries.js'
import type { World } from '../../../simulator/engine/world.js'
import type { Row } from './api.js'
import type { Desk, Operation } from './simulator-desk.js'

/** Columns of `DailyItemUpdate`. What the file does not have is blank. */
export const ITEM_COLUMNS = (
  'ITEMNO IDESC IMFSEQ IMFGNO CSEQ ITYPE SHDESC UOM PRC1 CPRC QTYOH WTPBX ITUPC MFGINO SCNAM1 ' +
  'SCNAM2 CATCD MFPRTYP MFPRC CATID TXTREF PICREF ITBRDNO IMODEL IPURPOSE ' +
  `${numbered('ITATR', 1, 20)} SERIES LENGTH HEIGHT WIDTH HAZAIR HAZGRND CHGDTE LOADDT`
).split(' ')
/** The labels of an item's attributes are its category's; the tenth is called ATTR0. */
const CATEGORY_COLUMNS =
  `CATID CATDES DEPID DEP ${numbered('ATTR', 1, 9)} ATTR0 ${numbered('ATTR', 11, 20)}`.split(' ')

function numbered(name: string, first: number, last: number): string {
  return Array.from({ length: last - first + 1 }, (_, i) => `${name}${first + i}`).join(' ')
}

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

/** Every item by its number, ascending, with what is on the shelf now; none where there is no file. */
function itemsOf({ feedFile, store }: Pick<World, 'feedFile' | 'store'>): Row[] {
  const file = feedFile('TSW')
  if (file === null || !existsSync(file)) return []
  const rows = parse(readFileSync(file), { columns: true }) as Row[]
  const shelves = new Map(
    store.transact((db) => shelvesOf(db, 'TSW')).shelves.map(({ sku, qty }) => [sku, qty]),
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

/** What the customer pays, in dollars with two decimals; nothing for an item that is not listed. */
export function priceOf(world: World, number: string): string {
  return itemAt(world, number)?.['CPRC'] ?? '0.00'
}

/** As the catalog has it. */
export function isFirearm(world: World, number: string): boolean {
  return FIREARMS.has(itemAt(world, number)?.['ITYPE'] ?? '')
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
const nextItems = ({ world, field }: Desk): Row[] =>
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
    act: (desk) => {
      const since = Date.parse(desk.field('LastUpdate'))
      const isNews = ({ CHGDTE = '' }: Row) => !(Date.parse(CHGDTE) < since)
      const rows = nextItems(desk).filter(isNews)
      return { told: { rows: rows.map((item) => only(item, ITEM_COLUMNS)) } }
    },
  },
  IncrementalOnhandUpdate: {
    params: ['SinceDateTime', 'LastItem'],
    act: (desk) => ({
      told: {
        rows: nextItems(desk).map((item) => onhand(desk.world.now(), item)),
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
