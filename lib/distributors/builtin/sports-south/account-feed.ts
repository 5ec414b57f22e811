/**
 * Sports South's catalog as its web services give it to an account: pages of rows, each of which
 * names the last item that is known.
 */
import { FeedFault } from '../../account-feed.js'
import type { AccountFeed } from '../../account-feed.js'
import { RowFile } from '../../session/row-file.js'
import { SportsSouthAccount } from './api.js'
import type { Params, Row } from './api.js'
import { ITEM_COLUMNS } from './columns.js'
import { catalog } from './feed.js'

/** Before any item was ever changed: all of them are asked for. */
const EVER = '1/1/1990'
/** Before the first item. */
const FIRST = '-1'
/** Far more than there are. */
const MOST_PAGES = 10_000
/** Without these nothing follows from an item. */
const NEEDED = ['ITEMNO', 'QTYOH', 'CPRC', 'ITYPE']

export const feeds: Readonly<Record<string, AccountFeed>> = {
  [catalog.id]: {
    async bring(session, { file }) {
      const account = new SportsSouthAccount(session)
      // What a category is called may be all that tells a gun from what goes with it.
      const categories = new Map(
        (await account.rows('inventory', 'CategoryUpdate', {})).map((row) => [row['CATID'], row]),
      )
      await write(account, file, {
        operation: 'DailyItemUpdate',
        params: { LastUpdate: EVER },
        columns: [...ITEM_COLUMNS, 'CATDES', 'DEP'],
        needed: NEEDED,
        item: 'ITEMNO',
        cell: (row, column) => row[column] ?? categories.get(row['CATID'])?.[column],
      })
      return { outcome: 'written' }
    },
  },
}

interface Asked {
  readonly operation: string
  readonly params: Params
  readonly columns: readonly string[]
  readonly needed: readonly string[]
  /** The column of the item's number. */
  readonly item: string
  readonly cell: (row: Row, column: string) => string | undefined
}

/** Writes all pages to a file. */
async function write(
  account: SportsSouthAccount,
  file: string,
  { operation, params, columns, needed, item, cell }: Asked,
): Promise<void> {
  const rows = new RowFile(file, columns)
  const missing = new Set(needed)
  try {
    let last = FIRST
    for (let page = 0; ; page++) {
      const [before, from] = [rows.rows, last]
      await account.stream(
        operation,
        { ...params, LastItem: from },
        {
          row(row) {
            for (const name of missing) if ((row[name] ?? '') !== '') missing.delete(name)
            last = row[item] ?? ''
            rows.add((column) => cell(row, column))
          },
          breathe: () => rows.flush(),
        },
      )
      if (rows.rows === before) break
      if (missing.size > 0)
        throw new FeedFault(`no item of ${operation} has ${[...missing].join(', ')}`)
      if (!(Number(last) > Number(from)) || page > MOST_PAGES)
        throw new FeedFault(`${operation} does not go on after item ${from}`)
    }
    await rows.close()
  } finally {
    await rows.abandon()
  }
}
