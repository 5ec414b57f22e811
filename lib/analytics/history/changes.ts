/** From history.db into DuckDB: the changes of a few days, and which feeds came after a gap. */
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { quoted } from '../../core/text.js'
import { DAY } from '../../core/clock.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import { momentOf } from './files.js'
import {
  changeLines,
  changesIn,
  feedsAfterGap,
  firstFeeds,
  hasFirstFeed,
  keysAfter,
} from './queries.js'
import type { ChangeKey, Span } from './queries.js'
import { present } from '../../core/present.js'

/**
 * A fall that is seen only after so long without a feed, in milliseconds, is of no day in
 * particular.
 */
export const LONGEST_GAP = 3 * DAY
/**
 * Changes that SQLite gives at a time, as one text: rows, and their cells, one by one would take
 * longer than all the rest.
 */
const BLOCK = 5_000

/**
 * Marks in that text. No text of a feed holds a control character but newlines and tabs (casts.ts).
 */
const [CELL, NEWLINE] = ['\u001F', '\u001E']

const LINE = [
  'CAST(at - @from AS INTEGER)',
  'distid',
  `replace(stockid, char(10), '${NEWLINE}')`,
  "ifnull(upc, '')",
  "ifnull(price, '')",
  'qty',
  'gone',
  'held',
].join(` || '${CELL}' || `)
const READ = {
  ms: 'BIGINT',
  distid: 'VARCHAR',
  stockid: 'VARCHAR',
  upc: 'VARCHAR',
  price: 'INTEGER',
  qty: 'INTEGER',
  gone: 'TINYINT',
  held: 'TINYINT',
} as const

/**
 * Makes the tables `change` and `late_feed` of days that follow each other; `ms` counts
 * milliseconds from the first of them. `gtin` is NULL for offers without a UPC (as gtinKey has it)
 * and for those without a price of the operator's, which are somebody's own and nobody else's to
 * know of; both still end what the offer was before. Needs the table `offer` of the day before
 * them. `work` is a folder to write into.
 */
export async function loadDays(
  duck: DuckDBConnection,
  history: Raw,
  { days, work }: { days: readonly string[]; work: string },
): Promise<void> {
  const [first, last] = [present(days[0], 'a day'), present(days.at(-1), 'a day')]
  const span = { from: momentOf(first), until: momentOf(last) + DAY }
  await loadLateFeeds(duck, history, span)
  mkdirSync(work, { recursive: true, mode: 0o700 })
  const path = join(work, 'changes')
  writeLines(history, span, path)
  const columns = Object.entries(READ)
    .map(([name, type]) => `${name}: ${quoted(type)}`)
    .join(', ')
  await duck.run(`CREATE OR REPLACE TABLE change AS
    SELECT ms, distid, replace(stockid, '${NEWLINE}', chr(10)) AS stockid,
      CASE WHEN price > 0 AND regexp_full_match(digits, '[0-9]{8,14}') THEN digits::BIGINT END AS gtin,
      price, qty, gone = 1 AS gone, held = 1 AS held
    FROM (SELECT *, CASE WHEN regexp_full_match(upc, '[0-9]*') THEN upc
      ELSE regexp_replace(upc, '[\\s-]', '', 'g') END AS digits
      FROM read_csv(${quoted(path)}, delim = '${CELL}', header = false, quote = '', escape = '',
        auto_detect = false, columns = {${columns}}))`)
  rmSync(path)
  await addVanished(duck, history, span)
}

/** Changes that are worked on at once: a day of a large network, or many of a quiet one. */
const BATCH = 60_000

/**
 * Days that are worked on together: most of what a day with few changes costs is the asking. A day
 * on which a distributor was told anew stands alone.
 */
export function inBatches(history: Raw, days: readonly string[]): string[][] {
  const count = changesIn(history, BATCH)
  const isFirst = hasFirstFeed(history)
  const batches: string[][] = []
  let room = 0
  for (const day of days) {
    const span = { from: momentOf(day), until: momentOf(day) + DAY }
    const isAlone = isFirst(span)
    const changes = count(span)
    if (isAlone || changes > room) {
      batches.push([])
      room = BATCH
    }
    present(batches.at(-1), `a batch before ${day}`).push(day)
    room = isAlone ? 0 : room - changes
  }
  return batches
}

function writeLines(history: Raw, { from, until }: Span, path: string): void {
  const keyAfter = keysAfter(history)
  const linesOf = changeLines(history, LINE)
  const file = openSync(path, 'w', 0o600)
  try {
    let last: ChangeKey = [from, '', '']
    for (;;) {
      const next = keyAfter(last, BLOCK, until) ?? [until, '', '']
      const text = linesOf(from, last, next)
      if (text !== null) writeSync(file, text)
      if (next[0] === until) break
      last = next
    }
  } finally {
    closeSync(file)
  }
}

/**
 * Feeds of the days that came more than three days after the distributor's last one, or that no
 * other one came before.
 */
async function loadLateFeeds(
  duck: DuckDBConnection,
  history: Raw,
  { from, until }: Span,
): Promise<void> {
  const feeds = feedsAfterGap(history, { from, until }, LONGEST_GAP)
  await duck.run('CREATE OR REPLACE TABLE late_feed (distid VARCHAR, ms BIGINT)')
  if (feeds.length > 0)
    await duck.run(
      `INSERT INTO late_feed VALUES ${feeds.map(({ distid, at }) => `(${quoted(distid)}, ${at - from})`).join(', ')}`,
    )
}

/** The last that was told of each offer before the first feed. */
const KNOWN = `CREATE OR REPLACE TEMP TABLE known AS
  SELECT distid, stockid, gtin, price, last FROM (
    SELECT distid, stockid, gtin, price, -1 AS ms FROM offer WHERE listed
    UNION ALL SELECT distid, stockid, CASE WHEN NOT gone THEN gtin END, price, ms FROM change
  ) JOIN first_feed USING (distid) WHERE ms < first
    QUALIFY row_number() OVER (PARTITION BY distid, stockid ORDER BY ms DESC) = 1`

const VANISHED = `INSERT INTO change
  SELECT last, distid, stockid, gtin, price, 0, true, false
  FROM known ANTI JOIN (SELECT distid, stockid FROM change JOIN first_feed USING (distid)
    WHERE ms >= first) told USING (distid, stockid) WHERE gtin IS NOT NULL`

/**
 * Where a catalog was lost and filled again, nobody told what had vanished meanwhile: what the
 * distributor has not told since its first feed into the new one is gone with the day's last feed,
 * by which each of its files has come.
 */
async function addVanished(
  duck: DuckDBConnection,
  history: Raw,
  { from, until }: Span,
): Promise<void> {
  const feeds = firstFeeds(history, { from, until })
  if (feeds.length === 0) return
  await duck.run(
    'CREATE OR REPLACE TABLE first_feed AS SELECT * FROM (VALUES ' +
      `${feeds.map(({ distid, first, last }) => `(${quoted(distid)}, ${first - from}, ${last - from})`).join(', ')}) ` +
      'AS feed(distid, first, last)',
  )
  await duck.run(KNOWN)
  // At the very first feed there is nothing to look for among all that it told.
  const [[isKnown]] = (await duck.runAndReadAll('SELECT EXISTS (FROM known)')).getRows() as [
    [boolean],
  ]
  if (isKnown) await duck.run(VANISHED)
  await duck.run('DROP TABLE known; DROP TABLE first_feed')
}
