import { write, writeSync } from 'node:fs'
import { pino } from 'pino'
import { codeOf } from '../lib/core/errors.js'
import type { Log } from '../lib/core/log.js'

/**
 * One JSON line per event on standard error, or another descriptor; never a body, a key or a
 * credential. The newest lines are kept for whoever looks at the log in a page.
 */
export function openLog(level: string, descriptor = 2): Log {
  const writer = new LineWriter(descriptor)
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: [
          'key',
          'apiKey',
          'password',
          '*.key',
          '*.password',
          '*.token',
          'headers',
          '*.headers',
        ],
        censor: '********',
      },
    },
    writer,
  ) as unknown as Log
  return Object.assign(log, { recent: () => writer.recent() })
}

/** Lines that are kept. */
const KEPT = 1_000

/** Bytes that wait for whoever reads the log; what comes on top of them is lost. */
const MAX_WAITING = 1_048_576
/** Between two tries of a pipe that is full, in milliseconds. */
const RETRY = 100

/**
 * Writes lines to a descriptor and never fails: a log that cannot be written, since its disk is
 * full or its reader gone, must not end what it tells of. Says how many lines were lost once it can
 * be written again.
 */
class LineWriter {
  readonly #fd: number
  #waiting: string[] = []
  #bytes = 0
  #lost = 0
  #writing = false
  /** Up to twice as many as are kept, so that few of them are moved. */
  #recent: string[] = []

  constructor(fd: number) {
    this.#fd = fd
    process.once('exit', () => this.#end())
  }

  /** The newest lines, also those that nobody could take. */
  recent(): readonly string[] {
    return this.#recent.slice(-KEPT)
  }

  write(line: string): void {
    if (this.#recent.push(line) >= 2 * KEPT) this.#recent = this.#recent.slice(-KEPT)
    const bytes = Buffer.byteLength(line)
    if (this.#bytes + bytes > MAX_WAITING) {
      this.#lost++
      return
    }
    this.#waiting.push(line)
    this.#bytes += bytes
    if (!this.#writing) this.#next()
  }

  #next(): void {
    const [lost, lines] = [this.#lost, this.#waiting.length]
    const text = this.#take()
    const done = (isWritten: boolean) => {
      this.#lost += isWritten ? -lost : lines
      this.#writing = false
      if (this.#waiting.length > 0) this.#next()
    }
    const from = (at: number): void =>
      write(this.#fd, text, at, (error, written) => {
        if (codeOf(error) === 'EAGAIN') setTimeout(from, RETRY, at).unref()
        else if (!error && at + written < text.length) from(at + written)
        else done(!error)
      })
    this.#writing = true
    from(0)
  }

  /** All that waits, behind how many lines were lost before it. */
  #take(): Buffer {
    const text = (this.#lost > 0 ? lossLine(this.#lost) : '') + this.#waiting.join('')
    this.#waiting = []
    this.#bytes = 0
    return Buffer.from(text)
  }

  /** What still waits; a write under way ends by itself. */
  #end(): void {
    if (this.#waiting.length === 0) return
    try {
      writeSync(this.#fd, this.#take())
    } catch {
      // Nobody is left who could be told.
    }
  }
}

function lossLine(lines: number): string {
  const [level, time] = [40, new Date().toISOString()]
  return `${JSON.stringify({ level, time, lines, msg: 'lines of the log were lost' })}\n`
}
