/** Where the worker gets the next snapshot from: the one before, the kept one, or the catalog. */
import { ROOM_FOR_FEEDS, openSpace } from '../../core/storage/disk-space.js'
import { filesIn } from '../../db/sqlite/folder.js'
import { openFile, settleFile } from '../../db/sqlite/sqlite.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import { readState } from '../queries.js'
import { buildSnapshot, buildTick } from '../snapshot/build.js'
import type { SnapshotParts } from '../snapshot/parts.js'
import { bytesToKeep, forgetKept, keep, readKept } from './kept.js'
import type { KnownArenas } from './kept.js'

export interface Built {
  parts: SnapshotParts
  /** `file`: as it was kept; `tick`: new prices and stock for the text of before; else all anew. */
  from: 'file' | 'tick' | 'catalog'
  /** Why the kept one was thrown away; null where it was not. */
  fault: string | null
}

export interface Builder {
  build(dir: string): Promise<Built>
  /** Keeps on the disk what was built last. False, and nothing is written, without enough room. */
  keep(dir: string): boolean
  /** Builds the next one of a folder from nothing that is remembered, here or on the disk. */
  forget(dir: string): void
}

/**
 * Remembers the last snapshot of each folder: new prices then need no new text. Only who `isOwner`
 * of the kept files removes them.
 */
export function openBuilder({
  isOwner,
  freeBytes,
}: {
  isOwner: boolean
  freeBytes?: () => number
}): Builder {
  const last = new Map<string, SnapshotParts>()
  const known: KnownArenas = new WeakMap()

  async function previousIn(
    dir: string,
    raw: Raw,
  ): Promise<{ parts: SnapshotParts | null; fault: string | null }> {
    const built = last.get(dir)
    if (built) return { parts: built, fault: null }
    try {
      return { parts: await readKept(dir, readState(raw), known), fault: null }
    } catch (error) {
      if (isOwner) forgetKept(dir)
      return { parts: null, fault: (error as Error).message }
    }
  }

  async function buildFrom(dir: string, raw: Raw): Promise<Built> {
    const { parts: previous, fault } = await previousIn(dir, raw)
    if (!previous) return { parts: buildSnapshot(raw), from: 'catalog', fault }
    const { made, revision } = readState(raw)
    if (made === previous.made && revision === previous.revision)
      return { parts: previous, from: 'file', fault }
    const tick = buildTick(raw, previous)
    return tick
      ? { parts: tick, from: 'tick', fault }
      : { parts: buildSnapshot(raw), from: 'catalog', fault }
  }

  return {
    async build(dir) {
      const raw = openFile(filesIn(dir).catalog, {
        synchronous: 'NORMAL',
        readonly: true,
        patient: true,
      })
      try {
        const built = await buildFrom(dir, raw)
        last.set(dir, built.parts)
        return built
      } finally {
        raw.close()
      }
    },
    keep(dir) {
      const parts = last.get(dir)
      if (!parts) return true
      if (openSpace(dir, freeBytes).free() < ROOM_FOR_FEEDS + bytesToKeep(parts, known))
        return false
      keep(dir, parts, { known, settle: () => settleFile(filesIn(dir).catalog) })
      return true
    },
    forget(dir) {
      last.delete(dir)
      forgetKept(dir)
    },
  }
}
