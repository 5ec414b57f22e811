/**
 * Brings the journal back from its copy outside of the machine: opened, proved line by line, and
 * written as an `orders.journal`.
 */
import { existsSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { putInPlace } from '../../core/storage/durable.js'
import type { OrdersCtx } from '../ctx.js'
import { invalid } from '../../core/errors.js'
import type { ObjectStore } from '../../objects/store.js'
import { ChainReader, isFault, journalSealer } from './chain.js'
import { listSegments, nameOf, sealedAs } from './segments.js'
import type { CopySegment } from './segments.js'
import { present } from '../../core/present.js'

/** The end of a journal: its last line, with its digest. */
export interface JournalHead {
  seq: number
  mac: string
}

export interface FetchOptions {
  /** The file to write; one that is there is never replaced. */
  to: string
  /**
   * Which journal, where the copy has several: a machine that was set back, or a copy of it, goes
   * on with another one.
   */
  head?: JournalHead | undefined
  /** Reads and proves everything, and writes nothing. */
  dryRun?: boolean
  onProgress?: ((done: number, total: number, lines: number) => void) | undefined
}

export interface FetchedJournal {
  file: string
  lines: number
  head: JournalHead
  /** When the last line was written, ISO 8601. */
  written_until: string
  /** Lines that the copy has no more, or never had, and that were taken from the database. */
  from_database: number
  /**
   * Lines behind the database's last one. Null where the database tells of other orders: then a
   * backup is needed.
   */
  missing_here: number | null
}

/**
 * Reads the journal back. The chain is followed from its first line, so that nothing changed, left
 * out or put in gets through. Throws, and leaves no file, where it breaks, and where the copy has
 * several journals and none was named.
 */
export async function fetchJournal(
  ctx: OrdersCtx,
  store: ObjectStore,
  options: FetchOptions,
): Promise<FetchedJournal> {
  if (!store.get)
    throw new Error(
      'journalCopy: this store has no `get`, so that nothing can be brought back from it',
    )
  const file = resolve(options.to)
  if (existsSync(file)) throw invalid('to', `${file} is there already; name a new file`)
  if (!existsSync(dirname(file))) throw invalid('to', `${dirname(file)} is not a folder`)
  const segments = await listSegments(ctx, store, null)
  const end = endOf(segments, options.head)
  const linesOf = async (segment: CopySegment) =>
    linesIn(ctx, segment, await store.get!(nameOf(ctx, segment)))
  const path = await pathTo(end, segments, linesOf)
  const part = `${file}.part`
  const handle = options.dryRun ? null : await open(part, 'w', 0o600)
  try {
    const { fromDatabase, apart, missing } = await copyLines(ctx, {
      path,
      segments,
      linesOf,
      handle,
      onProgress: options.onProgress,
    })
    const others = endsAmong(apart)
    if (others.length > 0 && !options.head)
      throw invalid(
        'head',
        'the copy has several journals, as after a machine was set back: ' +
          `${[end, ...others].map(inWords).join('; ')}. Name the one that is wanted`,
      )
    await handle?.close()
    if (handle) await putInPlace(part, file)
    const head = { seq: end.last, mac: end.mac }
    return {
      file,
      lines: end.last,
      head,
      written_until: new Date(end.at).toISOString(),
      from_database: fromDatabase,
      missing_here: missing,
    }
  } catch (error) {
    await handle?.close().catch(() => {})
    if (handle) await rm(part, { force: true })
    throw error
  }
}

const inWords = ({ last, mac, at }: CopySegment) =>
  `--head ${last}:${mac}, written until ${new Date(at).toISOString()}`

function endOf(segments: readonly CopySegment[], head: JournalHead | undefined): CopySegment {
  const end = head
    ? segments.find(({ last, mac }) => last === head.seq && mac === head.mac)
    : segments.at(-1)
  if (end) return end
  throw invalid(
    'head',
    head
      ? `no object of the copy ends with line ${head.seq} of this digest`
      : "the store has no copy of this installation's journal",
  )
}

type LinesOf = (segment: CopySegment) => Promise<string[]>

function linesIn(ctx: OrdersCtx, segment: CopySegment, bytes: Uint8Array): string[] {
  try {
    return journalSealer(ctx)
      .open(Buffer.from(bytes).toString('utf8'), sealedAs(segment))
      .split('\n')
      .slice(0, -1)
  } catch (error) {
    throw new Error(
      `the copy's lines ${segment.first} to ${segment.last} cannot be opened: they were ` +
        'changed, or another key has sealed them',
      { cause: error },
    )
  }
}

/**
 * The segments that lead to this one, oldest first. Where two end before it, the digest in its
 * first line tells which.
 */
async function pathTo(
  end: CopySegment,
  segments: readonly CopySegment[],
  linesOf: LinesOf,
): Promise<CopySegment[]> {
  const byLast = new Map<number, CopySegment[]>()
  for (const segment of segments)
    byLast.set(segment.last, [...(byLast.get(segment.last) ?? []), segment])
  const path = [end]
  for (let at = end; at.first > 1;) {
    const before = byLast.get(at.first - 1) ?? []
    const prev =
      before.length > 1 ? prevOf(present((await linesOf(at))[0], 'the first line')) : before[0]?.mac
    const next: CopySegment | undefined =
      before.find(({ mac }) => mac === prev) ?? segments.findLast(({ last }) => last < at.first - 1)
    if (!next) break
    path.push(next)
    at = next
  }
  return path.toReversed()
}

const prevOf = (line: string) => (JSON.parse(line) as { prev: string }).prev

interface Copying {
  path: readonly CopySegment[]
  segments: readonly CopySegment[]
  linesOf: LinesOf
  handle: FileHandle | null
  onProgress: FetchOptions['onProgress']
}

/**
 * Proves the lines of the path and writes them. Tells which segments the journal does not go
 * through, and what the database lacks of it.
 */
async function copyLines(
  ctx: OrdersCtx,
  { path, segments, linesOf, handle, onProgress }: Copying,
): Promise<{ fromDatabase: number; apart: CopySegment[]; missing: number | null }> {
  const end = present(path.at(-1), 'a segment').last
  const own = await ctx.read
    .selectFrom('journal')
    .select(['seq', 'line'])
    .where('seq', '<=', end)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  let missing = own ? null : end
  const chain = new ChainReader(journalSealer(ctx))
  const apart = new Map(segments.map((segment) => [`${segment.last}:${segment.mac}`, segment]))
  const take = async (lines: readonly string[]) => {
    for (const text of lines) {
      const line = chain.next(text)
      if (isFault(line))
        throw new Error(`the copy does not hold the journal: line ${line.seq}: ${line.fault}`)
      if (line.seq === own?.seq && text === own.line) missing = end - line.seq
      apart.delete(`${line.seq}:${line.mac}`)
    }
    await handle?.write(lines.map((line) => `${line}\n`).join(''))
  }
  let fromDatabase = 0
  for (const [done, segment] of path.entries()) {
    while (chain.head.seq < segment.first - 1) {
      const lines = await ownLines(ctx, chain.head.seq + 1, segment.first - 1)
      await take(lines)
      fromDatabase += lines.length
    }
    await take(await linesOf(segment))
    onProgress?.(done + 1, path.length, chain.head.seq)
  }
  return { fromDatabase, apart: [...apart.values()], missing }
}

/** Lines that are read from the database at once. */
const AT_ONCE = 1_000

/** Some of the database's lines from one to another, for what the copy lacks. */
async function ownLines({ read }: OrdersCtx, first: number, last: number): Promise<string[]> {
  const rows = await read
    .selectFrom('journal')
    .select('line')
    .where('seq', '>=', first)
    .where('seq', '<=', last)
    .orderBy('seq')
    .limit(AT_ONCE)
    .execute()
  if (rows.length === 0)
    throw new Error(
      `lines ${first} to ${last} are neither in the copy nor in the database; restore the ` +
        'newest backup and fetch again',
    )
  return rows.map(({ line }) => line)
}

/** The last ones among segments that the journal does not go through. */
function endsAmong(segments: readonly CopySegment[]): CopySegment[] {
  const begun = new Set(segments.map(({ first }) => first))
  return segments.filter(({ last }) => !begun.has(last + 1))
}
