/**
 * Reads a build: columns when they are asked for, texts of the rows that are shown. Everything that
 * is read is checked.
 */
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { readColumn } from '../../catalog/snapshot/arena.js'
import type { Arena, ColumnKind } from '../../catalog/snapshot/arena.js'
import { analyticsFolder, idOf, readMeta, sectionName } from './files.js'
import type { Meta, Part } from './files.js'
import { LISTING_KINDS, columnKinds } from './columns.js'
import type { ListingColumns, SectionColumns } from './columns.js'
import type { Metric } from '../metrics/metric.js'
import { present } from '../../core/present.js'

export interface Build {
  readonly name: string
  /** Another one for every build of this name. */
  readonly id: string
  readonly meta: Meta
  section(metric: Metric, days: number): Promise<SectionColumns>
  listings(): Promise<ListingColumns>
  /** The members that every row has, as JSON without braces, of these rows of the listings. */
  texts(listings: ListingColumns, rows: readonly number[]): Promise<string[]>
}

/** Bytes that are read and checked in one turn of the loop: well under a millisecond. */
const BLOCK = 1 << 20

/** Throws where the build's list is missing, damaged or of another release. */
export function openBuild(dir: string, name: string): Build {
  const id = idOf(dir, name)
  const meta = readMeta(dir, name)
  const pathOf = (file: string) => join(analyticsFolder(dir), name, file)
  const damaged = (what: string) =>
    new Error(`${name} is damaged: ${what} does not fit its checksum`)

  async function read({ file, offset, bytes, crc, table }: Part): Promise<Arena> {
    const buffer = new SharedArrayBuffer(bytes)
    const into = new Uint8Array(buffer)
    let found = 0
    await using(pathOf(file), async (handle) => {
      for (let at = 0; at < bytes;) {
        const { bytesRead } = await handle.read(into, at, Math.min(BLOCK, bytes - at), offset + at)
        if (bytesRead === 0) throw damaged(file)
        found = crc32(into.subarray(at, at + bytesRead), found)
        at += bytesRead
      }
    })
    if (found !== crc) throw damaged(file)
    return { buffer, table }
  }

  /** Columns of these kinds out of one part. */
  async function columnsOf(
    part: Part,
    kinds: Readonly<Record<string, ColumnKind>>,
  ): Promise<SectionColumns> {
    const arena = await read(part)
    return Object.fromEntries(
      Object.entries(kinds).map(([column, kind]) => [column, readColumn(arena, column, kind)]),
    )
  }

  return {
    name,
    id,
    meta,
    section: (metric, days) =>
      columnsOf(
        present(meta.sections[sectionName(metric.slug, days)], metric.slug),
        columnKinds(metric),
      ),
    listings: async () =>
      (await columnsOf(meta.listings, LISTING_KINDS)) as unknown as ListingColumns,
    async texts({ from, size, crc }, rows) {
      if (rows.length === 0) return []
      return using(pathOf('texts'), (handle) =>
        Promise.all(
          rows.map(async (row) => {
            const bytes = Buffer.allocUnsafe(size[row]!)
            const { bytesRead } = await handle.read(bytes, 0, bytes.length, from[row]!)
            if (bytesRead !== bytes.length || crc32(bytes) !== crc[row]) throw damaged('a text')
            return bytes.toString()
          }),
        ),
      )
    },
  }
}

/** A build may be removed while it is open: what is being read is read to its end. */
async function using<T>(path: string, fn: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(path)
  try {
    return await fn(handle)
  } finally {
    await handle.close()
  }
}
