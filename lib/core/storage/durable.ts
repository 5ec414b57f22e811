/** What a power cut must not undo. */
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'

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
