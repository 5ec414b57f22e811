/** What a power cut must not undo. */
import { open } from 'node:fs/promises'

/** Waits until the disk knows which files a folder has: the name of a new file is the folder's, not its own. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
