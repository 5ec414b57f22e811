/** Keeps a folder from being served while something is done to all of it. */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { takeLock } from '../db/sqlite/locks.js'

/** What is said of who has a lock. */
const HOLDERS = { serve: 'a server runs', engine: 'orders are being sent' } as const
export type FolderLock = keyof typeof HOLDERS

/**
 * Takes locks, and returns what gives them back. Throws where another process has one of them;
 * `purpose` says before what it is to be stopped. A dry run leaves no lock behind where there was
 * none.
 */
export function lockFolder(
  dir: string,
  {
    purpose,
    dryRun = false,
    locks = ['serve', 'engine'],
  }: { purpose: string; dryRun?: boolean; locks?: readonly FolderLock[] },
): () => void {
  if (!dryRun) mkdirSync(dir, { recursive: true, mode: 0o700 })
  const held: { close(): void }[] = []
  const release = () => {
    for (const lock of held.splice(0)) lock.close()
  }
  for (const name of locks) {
    const path = join(dir, `${name}.lock`)
    if (dryRun && !existsSync(path)) continue
    const lock = takeLock(path)
    if (!lock) {
      release()
      throw new Error(`${HOLDERS[name]} on ${dir}; stop it before ${purpose}`)
    }
    held.push(lock)
  }
  return release
}
