/** Brings a feed that a document describes, as a file that its preset reads. */
import { rename, rm } from 'node:fs/promises'
import { MINUTE } from '../../core/clock.js'
import type { AccountFeed, FeedBrought, FeedWanted } from '../account-feed.js'
import { FeedFault } from '../account-feed.js'
import { allColumns, missingColumns } from '../generic/columns.js'
import type { Preset } from '../generic/preset.js'
import { bringFile } from '../session/feed-file.js'
import { RowFile } from '../session/row-file.js'
import type { Session } from '../session/session.js'
import { fetchFile, pathIn, withFiles } from './connections.js'
import { rowsIn } from './rows.js'
import type { Row } from './rows.js'
import type { Connection, DescribedFeed, DocumentFeed, FileSource } from './schema.js'
import { fillPlace } from './template.js'
import { recode, unpack } from './unpack.js'

type Connections = Readonly<Record<string, Connection>>
type PlainSource = Pick<FileSource, 'connection' | 'path' | 'unpack'> & Partial<FileSource>

/** The feed of an account; `preset` is what reads the file that it brings. */
export function accountFeed(
  connections: Connections,
  feed: DocumentFeed,
  preset: Preset | null,
): AccountFeed {
  return {
    ...(feed.everyMinutes !== undefined && { every: feed.everyMinutes * MINUTE }),
    async bring(session, wanted) {
      const brought = await bringSource(session, connections, feed.source, wanted)
      if (brought.outcome === 'unchanged' || feed.kind === 'preset') return brought
      const join = 'join' in feed ? feed.join : undefined
      if (feed.source.read.as === 'delimited' && !join) return brought
      const { signal } = session
      const how = { feed, preset: preset!, signal }
      if (!join) {
        await convertFile(how, wanted.file, null)
        return brought
      }
      const other = `${wanted.file}.other`
      try {
        const none = { file: other, mark: null, holdUntil: async () => {} }
        await bringSource(session, connections, join, none)
        await convertFile(how, wanted.file, other)
      } finally {
        await rm(other, { force: true })
      }
      // What stands beside it has a mark of its own, which nobody has compared.
      const { mark: _mark, ...unmarked } = brought
      return unmarked
    },
  }
}

async function bringSource(
  session: Session,
  connections: Connections,
  source: PlainSource,
  wanted: FeedWanted,
): Promise<FeedBrought> {
  const connection = connections[source.connection]!
  const brought =
    connection.kind === 'http'
      ? await fetchFile(session, connection, source.path, wanted.file).then((): FeedBrought => ({
          outcome: 'written',
        }))
      : await withFiles(session, connection, async (files) =>
          bringFile(
            files,
            session.now,
            wanted,
            await pathIn(files, fillPlace(source.path, session.settings)),
          ),
        )
  if (brought.outcome === 'unchanged') return brought
  if (source.unpack) await unpack(wanted.file, source.unpack)
  if (source.encoding) await recode(wanted.file, source.encoding)
  return brought
}

/**
 * Rewrites a file of a feed in the form that its preset reads; `other` is the file that is joined.
 * Returns the columns that no row has. Throws a FeedFault for one that is of another form.
 */
export async function convertFile(
  { feed, preset, signal }: { feed: DescribedFeed; preset: Preset; signal?: AbortSignal },
  file: string,
  other: string | null,
): Promise<string[]> {
  const { join, source } = feed
  const raw = `${file}.converted`
  const rowsBeside =
    join && other !== null ? await rowsByKey(join, other) : new Map<string, Beside>()
  const beside = new Set(join?.columns.map(fold))
  const columns = allColumns(preset)
  const rows = new RowFile(raw, columns)
  let joined = 0
  const unseen = new Set(columns)
  try {
    for await (const row of rowsIn(file, source.read)) {
      signal?.throwIfAborted()
      const found = join && rowsBeside.get(keyIn(row, join.on.ours))
      if (found) joined++
      const valueOf = (column: string) =>
        beside.has(fold(column)) ? found?.get(fold(column)) : row(column)
      for (const name of unseen) if (valueOf(name) !== undefined) unseen.delete(name)
      rows.add(valueOf)
      await rows.flush()
    }
    if (join && rows.rows > 0 && joined === 0)
      throw new FeedFault(`${join.path} has no row of ${source.path}: look at "on"`)
    // A header says which columns there are; here the rows alone do.
    const seen = columns.filter((name) => !unseen.has(name))
    const missing = missingColumns(preset, seen)
    if (rows.rows > 0 && missing.length > 0)
      throw new FeedFault(`no row of ${source.path} has ${missing.join(', ')}`)
    await rows.close()
    await rename(raw, file)
    return [...unseen]
  } finally {
    await rows.abandon()
    await rm(raw, { force: true })
  }
}

type Join = NonNullable<DescribedFeed['join']>
/** What stands beside a row, by column. */
type Beside = ReadonlyMap<string, unknown>

async function rowsByKey(join: Join, file: string): Promise<Map<string, Beside>> {
  const rows = new Map<string, Beside>()
  for await (const row of rowsIn(file, join.read))
    rows.set(
      keyIn(row, join.on.theirs),
      new Map(join.columns.map((column) => [fold(column), row(column)])),
    )
  return rows
}

const fold = (name: string) => name.trim().toLowerCase()

function keyIn(row: Row, column: string): string {
  const value = row(column)
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
}
