/** Reads a build: columns when they are asked for, texts of the rows that are shown. Everything that is read is checked. */
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { readColumn } from '../catalog/arena.js'
import type { Arena } from '../catalog/arena.js'
import { analyticsFolder, idOf, readMeta, sectionName } from './build-files.js'
import type { Meta, Part } from './build-files.js'
import { ITEM_KINDS, columnKinds } from './columns.js'
import type { ItemColumns, SectionColumns } from './columns.js'
import type { Metric } from './metrics/metric.js'

export interface Build {
  readonly name: string
  /** Another one for every build of this name. */
  readonly id: string
  readonly meta: Meta
  section(metric: Metric, days: number): Promise<SectionColumns>
  items(): Promise<ItemColumns>
  /** The members that every row has, as JSON without braces. */
  texts(items: readonly number[]): Promise<string[]>
}

/** Bytes that are read and checked in one turn of the loop: well under a millisecond. */
const BLOCK = 1 << 20

/** Throws where the build's list is missing, damaged or of another release. */
export function openBuild(dir: string, name: string): Build {
  const id = idOf(dir, name)
  const meta = readMeta(dir, name)
  const pathOf = (file: string) => join(analyticsFolder(dir), name, file)
  const damaged = (what: string) => new Error(`${name} is damaged: ${what} does not fit its checksum`)
  let known: Promise<ItemColumns> | undefined

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

  const items = () => known ??= read(meta.itemColumns).then((arena) => Object.fromEntries(Object.entries(ITEM_KINDS).map(([column, kind]) => [column, readColumn(arena, column, kind)])) as unknown as ItemColumns)
    .catch((error: unknown) => {
      known = undefined
      throw error
    })

  return {
    name, id, meta, items,
    async section(metric, days) {
      const arena = await read(meta.sections[sectionName(metric.slug, days)]!)
      return Object.fromEntries(Object.entries(columnKinds(metric)).map(([column, kind]) => [column, readColumn(arena, column, kind)]))
    },
    async texts(wanted) {
      if (wanted.length === 0) return []
      const { end, crc } = await items()
      return using(pathOf('texts'), (handle) => Promise.all(wanted.map(async (item) => {
        const from = item === 0 ? 0 : end[item - 1]!
        const bytes = Buffer.allocUnsafe(end[item]! - from)
        const { bytesRead } = await handle.read(bytes, 0, bytes.length, from)
        if (bytesRead !== bytes.length || crc32(bytes) !== crc[item]) throw damaged('a text')
        return bytes.toString()
      })))
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
