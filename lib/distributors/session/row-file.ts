/** Rows of an answer, written to a file that a preset reads: CSV with a header. */
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import type { WriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Characters that are written at once. */
const BATCH = 262_144

export class RowFile {
  readonly #columns: readonly string[]
  readonly #stream: WriteStream
  /** What went wrong with the disk. */
  #fault: Error | null = null
  #text: string
  #rows = 0

  /** `columns` as the header has them; a file that is there is replaced. */
  constructor(file: string, columns: readonly string[]) {
    this.#columns = columns
    this.#stream = createWriteStream(file, { mode: 0o600 })
    this.#stream.on('error', (error) => {
      this.#fault = error
    })
    this.#text = lineOf(columns)
  }

  get rows(): number {
    return this.#rows
  }

  /** Adds a row: the value of each column; whatever is no text, number or flag is left blank. */
  add(valueOf: (column: string, place: number) => unknown): void {
    this.#rows++
    this.#text += lineOf(this.#columns.map((column, place) => cellOf(valueOf(column, place))))
  }

  /** Writes what was added, and waits until the disk has taken it. To be called now and then. */
  async flush(force = false): Promise<void> {
    if (!force && this.#text.length < BATCH) return
    const text = this.#text
    this.#text = ''
    if (this.#fault) throw this.#fault
    if (!this.#stream.write(text)) await once(this.#stream, 'drain')
  }

  /** Writes the rest; the file is whole then. */
  async close(): Promise<void> {
    await this.flush(true)
    this.#stream.end()
    await once(this.#stream, 'close')
    if (this.#fault) throw this.#fault
  }

  /** Gives the file up. */
  async abandon(): Promise<void> {
    if (this.#stream.closed) return
    this.#stream.destroy()
    await once(this.#stream, 'close')
  }
}

/** Writes an answer to a file as it is; one that is there is replaced. */
export const savePieces = (file: string, pieces: AsyncIterable<Buffer>): Promise<void> =>
  pipeline(Readable.from(pieces, { objectMode: false }), createWriteStream(file, { mode: 0o600 }))

/** A row is a line: what is within a text and would end it becomes a blank. */
function lineOf(cells: readonly string[]): string {
  let line = ''
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i]!
    line += i === 0 ? '' : ','
    line += SPECIAL.test(cell) ? quoted(cell) : cell
  }
  return `${line}\r\n`
}

const SPECIAL = /[",\r\n]/

const quoted = (cell: string) => `"${cell.replaceAll(/[\r\n]+/g, ' ').replaceAll('"', '""')}"`

function cellOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return ''
}
