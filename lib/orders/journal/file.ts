/**
 * `orders.journal`: the second copy of the order journal, appended to by the one sender of the
 * folder.
 */
import { existsSync, renameSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { codeOf } from '../../core/errors.js'
import { endOfLastLine, syncData, syncPath } from '../../core/storage/durable.js'

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
  if (isNew) await syncPath(dirname(path))
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
  let free = name
  for (let n = 2; existsSync(free); n++) free = `${name}-${n}`
  if (existsSync(path)) renameSync(path, free)
}

const BLOCK = 65_536
/** Bytes that a reader of all lines takes at a time. */
const READ_AHEAD = 1_048_576
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

/**
 * The lines for whoever reads all of them: many at a time, since an await for each would cost more
 * than the line.
 */
export interface JournalLines {
  /** Reads on until so many lines are at hand, or the file ends. */
  have(lines: number): Promise<void>
  /**
   * The next line that is at hand; undefined where there is none. What follows the last newline is
   * no line: it is being written, or was cut off.
   */
  next(): string | undefined
  close(): Promise<void>
}

/** Opens the file at its beginning; no lines where there is none. */
export async function openJournalLines(dir: string): Promise<JournalLines> {
  const file = await open(journalPath(dir), 'r').catch((error: unknown): FileHandle | null => {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  })
  let rest: Buffer = Buffer.alloc(0)
  let lines: string[] = []
  let at = 0
  let isOver = file === null

  async function readOn(): Promise<void> {
    const { bytesRead, buffer } = await file!.read(
      Buffer.allocUnsafe(READ_AHEAD),
      0,
      READ_AHEAD,
      null,
    )
    isOver = bytesRead === 0
    const bytes =
      rest.length > 0
        ? Buffer.concat([rest, buffer.subarray(0, bytesRead)])
        : buffer.subarray(0, bytesRead)
    lines = lines.slice(at)
    at = 0
    let start = 0
    for (let end; (end = bytes.indexOf(NEWLINE, start)) >= 0; start = end + 1)
      lines.push(bytes.toString('utf8', start, end))
    rest = bytes.subarray(start)
  }

  return {
    async have(count) {
      while (lines.length - at < count && !isOver) await readOn()
    },
    next: () => (lines[at] === undefined ? undefined : lines[at++]),
    close: async () => void (await file?.close()),
  }
}
