/**
 * The history of prices and stock, which moves with the record: a folder has it as files in
 * `history/`, nodes as objects of their bucket, which their database names.
 */
import type { Kysely } from 'kysely'
import { historyFiles, holdHistory } from '../../analytics/shared-files.js'
import type { MoveClient } from '../../db/move/postgres-state.js'
import type { Tables } from '../../db/tables/tables.js'
import { fetchHistory, hasHistory, storeHistory } from '../../feeds/shared/history/carry.js'
import { allParts, bytesOf } from '../../feeds/shared/publication.js'
import type { Publication, Published } from '../../feeds/shared/publication.js'
import { readPublished } from '../../feeds/shared/record.js'
import type { ObjectStore } from '../../objects/store.js'
import type { HistoryReport, MoveInput } from './input.js'

export interface PublishedHistory {
  published: readonly Published[]
  objects: ObjectStore
}

type Wanted = Pick<MoveInput, 'objects' | 'withoutHistory'>

/**
 * The bucket for what there is of it; null where nothing of it moves. Throws where there is
 * something, and no bucket is given.
 */
function bucketFor({ objects, withoutHistory = false }: Wanted, isThere: boolean, where: string) {
  if (!isThere || withoutHistory) return null
  if (!objects)
    throw new Error(
      `${where} a history of prices and stock, which the nodes have in their bucket: name that by ` +
        'QUARTERMASTER_S3_*, or leave the history out with --without-history',
    )
  return objects
}

/** For the history of a folder. */
export const bucketForFolder = (input: MoveInput): ObjectStore | null =>
  bucketFor(input, hasHistory(input.dir, historyFiles), `${input.dir} has`)

/** What nodes have published of it, and the bucket that it is in; null where nothing of it moves. */
export async function publishedHistory(
  input: Wanted,
  read: Kysely<Tables>,
): Promise<PublishedHistory | null> {
  const published = await readPublished({ read }, 'history')
  const objects = bucketFor(input, published.length > 0, 'the nodes have')
  return objects && { published, objects }
}

interface Departure {
  objects: ObjectStore
  /** No other state has it. */
  mark: string
  /** A folder for a moment. */
  work: string
  onFile: () => void
}

/** Stores the history of a folder. */
export async function bringHistoryOut(
  { dir, monotonic }: MoveInput,
  departure: Departure,
): Promise<Publication> {
  const lock = holdHistory(dir)
  if (!lock) throw new Error(`analytics are at work on ${dir}: run it again when they are done`)
  try {
    return await storeHistory({ ...departure, dir, files: historyFiles, monotonic })
  } finally {
    lock.close()
  }
}

/** Puts it into a folder that has none. Returns the base, which has the files. */
export const bringHistoryIn = (
  { monotonic }: Pick<MoveInput, 'monotonic'>,
  to: PublishedHistory & { dir: string },
): Promise<Published> => fetchHistory({ ...to, files: historyFiles, monotonic })

/** Publishes it for the nodes, in the place of what is published. In a transaction. */
export async function publishHistory(
  client: MoveClient,
  { parts, files, ...publication }: Publication,
): Promise<void> {
  await client.query(`DELETE FROM publication WHERE name = 'history'`)
  await client.query(
    `INSERT INTO publication (name, number, kind, before, mark, form, made, revision, fragments,
        parts, files, bytes, published_at, epoch)
      VALUES ('history', 1, 'base', NULL, $1, $2, $3, $4, $5, $6, $7, $8, now_ms(), 0)`,
    [
      publication.mark,
      publication.form,
      publication.made,
      publication.revision,
      publication.fragments,
      JSON.stringify(parts),
      JSON.stringify(files),
      bytesOf(parts),
    ],
  )
}

/** Throws where somebody has published since it was brought in. In a transaction that keeps others out. */
export async function refuseNewer(
  client: MoveClient,
  published: readonly Published[],
): Promise<void> {
  const { rows } = await client.query(
    `SELECT mark FROM publication WHERE name = 'history' ORDER BY number DESC LIMIT 1`,
  )
  if (rows[0]?.['mark'] !== published.at(-1)?.mark)
    throw new Error('a node has published meanwhile: stop all of them, and run it again')
}

export const reportOfHistory = (
  publication: Pick<Publication, 'parts' | 'files'>,
): HistoryReport => ({
  files: publication.files.length + 1,
  bytes: bytesOf(allParts(publication)),
})
