/** What a power cut must not undo. */
import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Waits until the disk has a file, or knows which files a folder has: the name of a new file is the
 * folder's, not its own.
 */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** As `syncPath`, for code that cannot wait. */
export function syncPathNow(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/**
 * Gives a finished file its name: whoever looks finds all of it or what was there before, also
 * after a power cut.
 */
export async function putInPlace(draft: string, path: string): Promise<void> {
  await syncPath(draft)
  await rename(draft, path)
  await syncPath(dirname(path))
}

/** As `putInPlace`, for code that cannot wait. */
export function putInPlaceNow(draft: string, path: string): void {
  syncPathNow(draft)
  renameSync(draft, path)
  syncPathNow(dirname(path))
}

/**
 * Writes a file that only its owner reads, whole or not at all. The draft has to lie on the same
 * file system.
 */
export function writeWholeNow(path: string, text: string, draft = `${path}.new`): void {
  writeFileSync(draft, text, { mode: 0o600 })
  putInPlaceNow(draft, path)
}

/** Waits until the disk has all that was written to a file. */
export async function syncData(file: Pick<FileHandle, 'datasync'>): Promise<void> {
  await file.datasync()
}

const BLOCK = 65_536
const NEWLINE = 10

/**
 * The size that a file of lines has without what follows its last newline: a line that was cut off.
 */
export async function endOfLastLine(file: Pick<FileHandle, 'stat' | 'read'>): Promise<number> {
  const { size } = await file.stat()
  for (let end = size; end > 0; end -= BLOCK) {
    const start = Math.max(0, end - BLOCK)
    const { buffer } = await file.read(Buffer.alloc(end - start), 0, end - start, start)
    const at = buffer.lastIndexOf(NEWLINE)
    if (at >= 0) return start + at + 1
  }
  return 0
}
