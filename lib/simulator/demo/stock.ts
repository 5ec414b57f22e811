/**
 * Has the demo's feeds show what the simulated distributors sold: only the quantities in the files
 * change.
 */
import { existsSync, readFileSync } from 'node:fs'
import { readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { parse } from 'csv-parse/sync'
import { nextTurn } from '../../core/async/wait.js'
import { MINUTE } from '../../core/clock.js'
import type { DbCtx } from '../../db/ctx.js'
import type { Job } from '../../core/async/job.js'
import { filesIn } from '../../db/sqlite/folder.js'
import { DEMO_FILES, demoFeedFile, feedFileOf } from './feeds.js'
import { DEMO_DISTIDS, type DemoDistid } from '../market/market.js'
import { noteWritten, shelvesOf } from '../engine/queries.js'
import type { Shelf } from '../engine/queries.js'
import { openStore } from '../engine/store.js'

/** Keeps the demo's feeds up to date; does nothing in a folder without them. */
export const simulatorJob: Job<DbCtx> = {
  name: 'simulator',
  every: MINUTE,
  run: async (ctx, signal) => {
    await refreshDemoFeeds(ctx, signal)
  },
}

/**
 * Writes the quantities of the simulated shelves into the demo's feed files; tells whose file
 * changed.
 */
export async function refreshDemoFeeds(
  { engine: { dir }, random }: Pick<DbCtx, 'engine' | 'random'>,
  signal?: AbortSignal,
): Promise<DemoDistid[]> {
  if (!existsSync(filesIn(dir).simulator)) return []
  const files = DEMO_DISTIDS.map((distid) => ({
    distid,
    file: demoFeedFile(dir, distid)!,
  })).filter(({ file }) => existsSync(file))
  if (files.length === 0) return []
  const store = openStore(dir)
  try {
    const changed: DemoDistid[] = []
    for (const { distid, file } of files) {
      if (signal?.aborted) break
      // All that was ever sold, not only the news: another process may write the file with an older
      // picture at this moment.
      const { shelves, isNews } = store.transact((db) => shelvesOf(db, distid))
      if (!isNews) continue
      await rewrite(
        file,
        await patched(await readFile(file), shelves, DEMO_FILES[distid]),
        `${file}.${random(6).toString('hex')}`,
      )
      store.transact((db) => noteWritten(db, distid, shelves))
      changed.push(distid)
    }
    return changed
  } finally {
    store.close()
  }
}

/**
 * Takes the file's place in one step, with a newer time: that is how a pull tells that it is newer.
 */
async function rewrite(file: string, bytes: Buffer, draft: string): Promise<void> {
  const { mtimeMs: before } = await stat(file)
  try {
    await writeFile(draft, bytes)
    const { mtimeMs, atime } = await stat(draft)
    if (mtimeMs < before + 1) await utimes(draft, atime, new Date(before + 2))
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/**
 * SKUs that are looked for in one turn of the event loop: a file of megabytes is searched in about
 * a millisecond.
 */
const SKUS_A_TURN = 5

/** The text with other quantities; a SKU that is not in it is left out. */
async function patched(
  text: Buffer,
  shelves: readonly Shelf[],
  { separator, quantity }: { separator: string; quantity: number },
): Promise<Buffer> {
  const cells: { start: number; end: number; qty: number }[] = []
  for (const [place, { sku, qty }] of shelves.entries()) {
    if (place % SKUS_A_TURN === SKUS_A_TURN - 1) await nextTurn()
    const key = `${sku}${separator}`
    const row = text.subarray(0, key.length).toString() === key ? 0 : text.indexOf(`\n${key}`) + 1
    if (row > 0 || text.subarray(0, key.length).toString() === key)
      cells.push({ ...cellOf(text, row, { separator, quantity }), qty })
  }
  cells.sort((a, b) => a.start - b.start)
  const parts: Buffer[] = []
  let done = 0
  for (const { start, end, qty } of cells) {
    parts.push(text.subarray(done, start), Buffer.from(String(qty)))
    done = end
  }
  return Buffer.concat([...parts, text.subarray(done)])
}

const QUOTE = 0x22

/** Where a row's quantity stands. */
function cellOf(
  text: Buffer,
  row: number,
  { separator, quantity }: { separator: string; quantity: number },
): { start: number; end: number } {
  const between = separator.charCodeAt(0)
  // RSR's file has no quoting: there a quotation mark stands for inches.
  const quotes = separator === ','
  let isQuoted = false
  let cell = 0
  let start = row
  for (let at = row; ; at++) {
    const byte = text[at]
    const ends = byte === undefined || byte === 0x0a || byte === 0x0d
    if (quotes && byte === QUOTE) isQuoted = !isQuoted
    if (!ends && (byte !== between || isQuoted)) continue
    if (cell === quantity) return { start, end: at }
    if (ends) throw new Error('a row of a demo feed has no quantity')
    cell++
    start = at + 1
  }
}

/** What the demo's files show of a SKU; null for an unknown one. Read once, at the first question. */
export function feedStock(dir: string): (distid: string, sku: string) => number | null {
  const known = new Map<string, ReadonlyMap<string, number>>()
  return (distid, sku) => {
    const file = demoFeedFile(dir, distid)
    if (file === null || !existsSync(file)) return null
    const shelves = known.get(distid) ?? stockIn(file, feedFileOf(distid)!)
    known.set(distid, shelves)
    return shelves.get(sku) ?? null
  }
}

function stockIn(
  file: string,
  { separator, quantity }: { separator: string; quantity: number },
): Map<string, number> {
  const rows = parse(readFileSync(file), {
    delimiter: separator,
    quote: separator === ',' ? '"' : null,
  }) as string[][]
  return new Map(rows.map((row) => [row[0]!, Number(row[quantity])]))
}
