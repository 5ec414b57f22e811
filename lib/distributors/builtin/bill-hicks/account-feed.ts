/**
 * Bill Hicks's feed as its files give it to an account. The catalog has no quantities: they lie in
 * another file, and stand beside it once both are here.
 */
import { rm } from 'node:fs/promises'
import type { AccountFeed, FeedBrought, FeedWanted } from '../../account-feed.js'
import { FeedFault } from '../../account-feed.js'
import { bringFile, downloadWhole, isSettled, markOf, stateOf } from '../../session/feed-file.js'
import type { FtpFiles } from '../../session/ftp.js'
import { openCsv } from '../../session/csv-file.js'
import { RowFile } from '../../session/row-file.js'
import type { Session } from '../../session/session.js'
import { foldersOf, withFiles } from './account.js'
import type { BillHicksSettings } from './account.js'
import { catalog, ITEM, NEW_COLUMNS, OLD_COLUMNS, quantity, QUANTITY } from './feed.js'

export const CATALOG = 'billhickscatalog.csv'
export const INVENTORY = 'billhicksinventory.csv'

/** Both forms of the catalog, with its quantities. */
const COLUMNS = [...OLD_COLUMNS, 'MFG', QUANTITY]

type Bringing = AccountFeed<BillHicksSettings>

export const feeds: Readonly<Record<string, Bringing>> = {
  [catalog.id]: {
    bring: (session, wanted) => withFiles(session, (files) => bringBoth(files, session, wanted)),
  },
  [quantity.id]: {
    bring: (session, wanted) => {
      const path = foldersOf(session.settings).feed(INVENTORY)
      return withFiles(session, (files) => bringFile(files, session.now, wanted, path))
    },
  },
}

async function bringBoth(
  files: FtpFiles,
  { settings, now }: Session<BillHicksSettings>,
  { file, mark: last }: FeedWanted,
): Promise<FeedBrought> {
  const parts = [CATALOG, INVENTORY].map((name) => ({
    path: foldersOf(settings).feed(name),
    to: `${file}.${name}`,
  }))
  const states = [
    await stateOf(files, parts[0]!.path),
    await stateOf(files, parts[1]!.path),
  ] as const
  const marks = states.map(markOf)
  const mark = marks.includes(null) ? null : marks.join(' ')
  const changed = states.map((state) => state.changed)
  // It is as old as the older half of it.
  const asOf = changed.includes(null) ? null : Math.min(...(changed as number[]))
  if (mark !== null && mark === last && asOf !== null) return { outcome: 'unchanged', asOf, mark }
  try {
    const same = [
      await downloadWhole(files, parts[0]!.path, parts[0]!.to, states[0]),
      await downloadWhole(files, parts[1]!.path, parts[1]!.to, states[1]),
    ]
    await join(parts[0]!.to, parts[1]!.to, file)
    const isSure = same.every(Boolean) && states.every((state) => isSettled(state, now()))
    return {
      outcome: 'written',
      ...(asOf !== null && { asOf }),
      ...(mark !== null && isSure && { mark }),
    }
  } finally {
    for (const { to } of parts) await rm(to, { force: true })
  }
}

/** Writes the catalog with its quantities; an item that the inventory does not name has none. */
async function join(catalogFile: string, inventoryFile: string, to: string): Promise<void> {
  const quantities = await quantitiesIn(inventoryFile)
  const { header, rows: items } = await openCsv(catalogFile)
  const columns = columnsOf(header)
  const rows = new RowFile(to, COLUMNS)
  let known = 0
  try {
    for await (const cells of items) {
      const item = cells[0]!
      const units = quantities.get(item)
      if (units !== undefined) known++
      // A torn row is left to whoever reads the file: without its key it is rejected, and counted.
      const values =
        cells.length === columns.length
          ? new Map(columns.map((name, place) => [name, cells[place]!])).set(QUANTITY, units ?? '0')
          : new Map([['short_description', item]])
      rows.add((column) => values.get(column))
      await rows.flush()
    }
    if (rows.rows > 0 && known === 0) throw new FeedFault(`${INVENTORY} has no item of ${CATALOG}`)
    await rows.close()
  } finally {
    await rows.abandon()
  }
}

/**
 * By the names that the header has; where those are damaged, by their number. Throws a FeedFault
 * for a header of another form: a column that is taken for its neighbor sells at a wrong price.
 */
export function columnsOf(header: string): readonly string[] {
  const names = namesIn(header)
  if (OLD_COLUMNS.every((name) => names.includes(name))) return names
  if (names.length === NEW_COLUMNS.length && agrees(names, NEW_COLUMNS)) return NEW_COLUMNS
  if (names.length === OLD_COLUMNS.length && agrees(names, OLD_COLUMNS)) return OLD_COLUMNS
  throw new FeedFault(`the header of ${CATALOG} is not one that is known: ${names.join(', ')}`)
}

/** A header may hold a stray quotation mark: nothing is quoted there. */
const namesIn = (header: string) => header.split(',').map((name) => name.replaceAll('"', '').trim())

/** Most of the names are where they are known to be. */
function agrees(names: readonly string[], known: readonly string[]): boolean {
  const same = names.filter((name, place) => name === known[place]).length
  return same >= known.length - DAMAGED
}

/** Cells of a header that may be damaged. */
const DAMAGED = 2

async function quantitiesIn(file: string): Promise<Map<string, string>> {
  const { header, rows } = await openCsv(file)
  const names = namesIn(header)
  const [item, units] = [names.indexOf(ITEM), names.indexOf(QUANTITY)]
  if (item < 0 || units < 0)
    throw new FeedFault(`${INVENTORY} has no column ${ITEM} or ${QUANTITY}`)
  const quantities = new Map<string, string>()
  for await (const cells of rows) quantities.set(cells[item] ?? '', cells[units] ?? '')
  return quantities
}
