/**
 * Folders of downloads: one for each pull, so that a file which waits for the operator's decision
 * stays as it was judged.
 */
import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The folder of one source's downloads in the state folder. */
export function downloadsOf(dir: string, source: string): string {
  return join(dir, 'feeds', source.replaceAll(/[^\w-]+/g, '.'))
}

/** Names the folder of one pull, which began at `started`, milliseconds. */
export function downloadAt(downloads: string, started: number): string {
  return join(downloads, `${started}-${randomUUID().slice(0, 8)}`)
}

/**
 * Removes the downloads of a source but the one that holds `kept`: those of pulls that ended, and
 * of processes that were killed in one. What began after `started` belongs to a pull that still
 * runs.
 */
export async function sweepDownloads(
  downloads: string,
  started: number,
  kept: string | null,
): Promise<void> {
  const keptFolder = kept === null ? null : dirname(kept)
  for (const name of foldersIn(downloads)) {
    const folder = join(downloads, name)
    if (folder !== keptFolder && Number.parseInt(name, 10) <= started)
      await rm(folder, { recursive: true, force: true })
  }
}

function foldersIn(downloads: string): string[] {
  try {
    return readdirSync(downloads)
  } catch {
    // Nothing was ever downloaded.
    return []
  }
}
