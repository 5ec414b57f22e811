/**
 * The lines of `orders.journal` for whoever reads all of them: many at a time, since an await for
 * each would cost more than the line.
 */
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { journalPath } from './file.js'

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

const BLOCK = 1_048_576
const NEWLINE = 10

/** Opens the file at its beginning; no lines where there is none. */
export async function openJournalLines(dir: string): Promise<JournalLines> {
  const file = await open(journalPath(dir), 'r').catch(
    (error: NodeJS.ErrnoException): FileHandle | null => {
      if (error.code === 'ENOENT') return null
      throw error
    },
  )
  let rest: Buffer = Buffer.alloc(0)
  let lines: string[] = []
  let at = 0
  let isOver = file === null

  async function readOn(): Promise<void> {
    const { bytesRead, buffer } = await file!.read(Buffer.allocUnsafe(BLOCK), 0, BLOCK, null)
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
