/** How nodes share history.db: by feeds, whose changes are written and moved as a whole. */
import type { Raw } from '../../../db/sqlite/sqlite.js'
import { hasSeen } from '../../ingest/history-queries.js'
import type { SharedDatabase } from '../database.js'
import { inPages, turned } from '../pages.js'
import type { Page, Value } from '../pages.js'
import {
  CHANGE,
  FEED_KEY,
  SEEN,
  clearNotes,
  hasNotes,
  installNotes,
  isDayClosed,
  notedChanges,
  notedFeeds,
  notedSeen,
  schemaOf,
  writers,
} from './queries.js'

export const historyDatabase: SharedDatabase = {
  formOf: schemaOf,
  installNotes,
  hasNotes,
  clearNotes,
  factsOf: () => ({ made: '', revision: 0, fragments: 0 }),
  isEmpty: (raw) => !hasSeen(raw),
  // The files of these days go along with a base alone.
  isTooMuch: isDayClosed,
  startAt: () => {},
  onNewBase: () => {},
  strip: () => {},
  lead: () => {},
  writeChange(raw, write) {
    const tell = (
      act: string,
      table: string,
      columns: readonly string[],
      rows: Iterable<Value[]>,
    ) =>
      inPages(rows, (page) => write({ table, act, columns, lists: turned(page, columns.length) }))
    tell('drop', 'change', FEED_KEY, notedFeeds(raw))
    tell('drop', 'seen', FEED_KEY, notedFeeds(raw))
    tell('put', 'seen', SEEN, notedSeen(raw))
    tell('put', 'change', CHANGE, notedChanges(raw))
  },
  openApplying,
}

const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  'drop change': FEED_KEY,
  'drop seen': FEED_KEY,
  'put seen': SEEN,
  'put change': CHANGE,
}

function openApplying(raw: Raw): (page: Page) => void {
  return ({ act, table, columns, lists }) => {
    const what = `${act} ${table}`
    const write = writers[what]?.(raw)
    if (!write || columns.join() !== COLUMNS[what]!.join())
      throw new RangeError(`nobody can ${what} by ${columns.join(', ')}`)
    const count = lists[0]?.length ?? 0
    for (let at = 0; at < count; at++) write.run(...lists.map((list) => list[at] ?? null))
  }
}
