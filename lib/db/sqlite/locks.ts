/** Locks of a folder, by name: one process has each of them at a time. */
import { join } from 'node:path'
import { openSqlite } from './driver.js'
import { isBusy } from './sqlite.js'
import type { Raw } from './sqlite.js'

/** The named locks that this process holds. */
export function openLocks(dir: string): {
  take(name: string): boolean
  release(name: string): void
  releaseAll(): void
} {
  const held = new Map<string, Raw>()
  return {
    take(name) {
      const raw = takeLock(join(dir, `${name}.lock`))
      if (raw) held.set(name, raw)
      return raw !== null
    },
    release(name) {
      held.get(name)?.close()
      held.delete(name)
    },
    releaseAll() {
      for (const raw of held.values()) raw.close()
    },
  }
}

/**
 * An open exclusive transaction: the kernel releases it when the process dies, and a paused process
 * keeps it.
 */
export function takeLock(path: string): Raw | null {
  const raw = openSqlite(path)
  try {
    raw.pragma('busy_timeout = 0')
    raw.pragma('locking_mode = EXCLUSIVE')
    raw.exec('BEGIN EXCLUSIVE')
    return raw
  } catch (error) {
    raw.close()
    // Only who holds it keeps others out; whatever else goes wrong must not look like that.
    if (isBusy(error)) return null
    throw error
  }
}
