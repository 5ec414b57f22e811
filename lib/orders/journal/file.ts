/**
 * `orders.journal`: the second copy of the order journal, appended to by the one sender of the
 * folder.
 */
import { existsSync, renameSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { endOfLastLine, syncData, syncFolder } from '../../core/storage/durable.js'

export function journalPath(dir: string): string {
  return join(dir, 'orders.journal')
}

export interface JournalFile {
  /**
   * Appends whole lines and waits until the disk has them. After a failure the file ends where it
   * ended before.
   */
  append(lines: readonly string[]): Promise<void>
  /**
   * What somebody else has done to the file since it was opened, in words; null where nobody has.
   */
  disturbance(): Promise<string | null>
  close(): Promise<void>
}

/**
 * Opens the file at the end of its last whole line; a line that was cut off while it was written is
 * removed, since the database has it whole. Makes the file where there is none.
 */
export async function openJournalFile(dir: string): Promise<JournalFile> {
  const path = journalPath(dir)
  const isNew = !existsSync(path)
  const file = await open(path, isNew ? 'wx+' : 'r+', 0o600)
  if (isNew) await syncFolder(dirname(path))
  let size = await endOfLastLine(file)
  if (size < (await file.stat()).size) await file.truncate(size)
  // A process that died may have written lines that the disk does not have yet.
  await syncData(file)
  return {
    async append(lines) {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
      try {
        for (let written = 0; written < bytes.length;)
          written += (await file.write(bytes, written, bytes.length - written, size + written))
            .bytesWritten
        await syncData(file)
        size += bytes.length
      } catch (error) {
        await file.truncate(size).catch(() => {})
        throw error
      }
    },
    async disturbance() {
      const here = await file.stat()
      const there = statSync(path, { throwIfNoEntry: false })
      if (!there) return 'was removed or moved away while the server ran'
      if (there.ino !== here.ino || there.dev !== here.dev)
        return 'was replaced by another file while the server ran'
      if (here.size === size) return null
      return `was changed while the server ran: it has ${here.size} bytes, and should have ${size}`
    },
    close: () => file.close(),
  }
}

/**
 * Keeps what stands in the file's place under another name, so that it can be looked at, and the
 * file made anew.
 */
export function layAside(dir: string, now: number): void {
  const path = journalPath(dir)
  const name = `${path}.damaged-${new Date(now).toISOString().replaceAll(':', '-')}`
  let place = name
  for (let n = 2; existsSync(place); n++) place = `${name}-${n}`
  if (existsSync(path)) renameSync(path, place)
}

const BLOCK = 65_536
const NEWLINE = 10

/** The last whole line of the file; null where there is none. */
export async function lastJournalLine(dir: string): Promise<string | null> {
  const path = journalPath(dir)
  if (!existsSync(path)) return null
  const file = await open(path, 'r')
  try {
    const end = await endOfLastLine(file)
    let tail: Buffer = Buffer.alloc(0)
    for (let at = end; at > 0 && tail.subarray(0, -1).indexOf(NEWLINE) < 0;) {
      const start = Math.max(0, at - BLOCK)
      const { buffer } = await file.read(Buffer.alloc(at - start), 0, at - start, start)
      tail = Buffer.concat([buffer, tail])
      at = start
    }
    const lines = tail.toString('utf8').split('\n')
    return lines.at(-2) ?? null
  } finally {
    await file.close()
  }
}
