/**
 * Rows of a feed's file, one batch at a time: the lines that changed since the last feed are
 * parsed, the others only named.
 */
import { compilePreset } from '../../distributors/generic/generic.js'
import { isRejection } from '../../distributors/generic/rows.js'
import type { Compiled, Preset } from '../../distributors/generic/generic.js'
import type { CatalogRow, Rejection, StockRow } from '../../distributors/generic/rows.js'
import { fold } from '../../distributors/generic/casts.js'
import { UnreadableFile, openBytes } from '../fetch/bytes.js'
import { parseCells } from './cells.js'
import { leastColumns, readHeader } from '../ingest/guard.js'
import { KEPT_TEXT, readRecords } from './lines.js'
import type { Batch, BrokenLine } from './lines.js'
import { recordText } from './text.js'

export interface RowSink {
  /** The column names of the file, null without a header; called once, before the first row. */
  begin(header: readonly string[] | null): void
  /** The offer that this very line made last time, 0 when it must be parsed. */
  known(batch: Batch, index: number): number
  /** A row that `known` named an offer for. Rows come in the order of the file. */
  unchanged(batch: Batch, index: number, offer: number): void
  row(batch: Batch, index: number, row: CatalogRow | StockRow): void
  /** A row that only added to the lists of the one before it. */
  joined(): void
  /** Rows and lines that cannot be used, in no strict order. */
  rejected(fault: BrokenLine): void
  progress(bytesRead: number, bytesTotal: number): void
}

export interface Reading {
  /** Why the file cannot be a feed of this preset; nothing else counts then. */
  reasons: string[]
  cutOff: boolean
  /** The last line that is not blank does. */
  endsInNewline: boolean
  digest: string | null
}

/** A record that is not a row after all. */
export function brokenLine(batch: Batch, index: number, reason: string): BrokenLine {
  const start = batch.start[index]!
  return {
    line: batch.line[index]!,
    reason,
    text: recordText(batch.buffer, start, Math.min(batch.end[index]!, start + KEPT_TEXT)),
  }
}

/** A bar that stands still for a second looks broken. */
const ROWS_BETWEEN_PROGRESS = 2_000

/**
 * Reads a whole file into the sink; `at` (ms) decides whether a sale is on. Throws only for a file
 * that cannot be opened.
 */
export async function readRows(
  input: { preset: Preset; file: string; at: number; seed: string },
  sink: RowSink,
): Promise<Reading> {
  const { preset, at } = input
  const bytes = await openBytes(input.file, input.seed)
  try {
    const reader = new RowFeeder(preset, at, sink)
    try {
      for await (const batch of readRecords(bytes, preset.format)) {
        reader.progressTo(bytes.bytesRead, bytes.size)
        if (!reader.take(batch))
          return { reasons: reader.reasons, cutOff: false, endsInNewline: true, digest: null }
        sink.progress(bytes.bytesRead, bytes.size)
      }
    } catch (error) {
      if (error instanceof UnreadableFile)
        return { reasons: [error.message], cutOff: true, endsInNewline: false, digest: null }
      throw error
    }
    reader.finish()
    return {
      reasons: [],
      cutOff: reader.cutOff,
      endsInNewline: reader.endsInNewline,
      digest: bytes.digest(),
    }
  } finally {
    await bytes.close()
  }
}

class RowFeeder {
  reasons: string[] = []
  cutOff = false
  endsInNewline = true
  readonly #preset: Preset
  readonly #at: number
  readonly #sink: RowSink
  #compiled: Compiled | null = null
  #least = 0
  #repeats: Repeats | null = null
  /** Bytes of the file read before the batch in hand and with it, and of the whole file. */
  #bytes = { before: 0, after: 0, total: 0 }

  constructor(preset: Preset, at: number, sink: RowSink) {
    this.#preset = preset
    this.#at = at
    this.#sink = sink
  }

  /** Says how far the file is read with the next batch. */
  progressTo(bytesRead: number, bytesTotal: number): void {
    this.#bytes = { before: this.#bytes.after, after: bytesRead, total: bytesTotal }
  }

  #progress(row: number, rows: number): void {
    if (row % ROWS_BETWEEN_PROGRESS !== 0) return
    const { before, after, total } = this.#bytes
    this.#sink.progress(before + Math.floor((after - before) * (row / rows)), total)
  }

  /** False when the file is none of this preset. */
  take(batch: Batch): boolean {
    let from = 0
    if (!this.#compiled && batch.count > 0) {
      if (!this.#begin(recordText(batch.buffer, batch.start[0]!, batch.end[0]!))) return false
      if (this.#preset.format.header) from = 1
    }
    if (from < batch.count) this.#rows(batch, from)
    for (const fault of batch.broken) this.#sink.rejected(fault)
    this.endsInNewline = !batch.unterminated
    if (batch.unterminated) this.#lookAtEnd(batch, from)
    return true
  }

  #begin(first: string): boolean {
    const header = readHeader(this.#preset, first)
    if ('reasons' in header) {
      this.reasons = header.reasons
      return false
    }
    this.#compiled = compilePreset(this.#preset, header.columns, this.#at)
    this.#least = leastColumns(this.#preset, header.columns ?? [])
    const { repeats } = this.#preset.kind === 'catalog' ? this.#preset : {}
    if (repeats)
      this.#repeats = new Repeats(
        header.columns ?? this.#preset.format.columns ?? [],
        repeats,
        this.#sink,
      )
    this.#sink.begin(header.columns)
    return true
  }

  /** After the last batch. */
  finish(): void {
    this.#repeats?.flush()
  }

  #rows(batch: Batch, from: number): void {
    if (this.#repeats) return this.#repeatingRows(batch, from, this.#repeats)
    const sink = this.#sink
    const offers = new Uint32Array(batch.count)
    const texts: string[] = []
    for (let i = from; i < batch.count; i++) {
      offers[i] = sink.known(batch, i)
      if (offers[i] === 0) texts.push(recordText(batch.buffer, batch.start[i]!, batch.end[i]!))
    }
    const cells = parseCells(texts, this.#preset.format)
    let next = 0
    for (let i = from; i < batch.count; i++) {
      this.#progress(i, batch.count)
      if (offers[i] !== 0) {
        sink.unchanged(batch, i, offers[i]!)
        continue
      }
      const read = this.#read(cells[next++]!)
      if (isRejection(read)) sink.rejected(brokenLine(batch, i, read.reason))
      else sink.row(batch, i, read)
    }
  }

  /** What an item is depends on several lines, so none of them is known by itself: all are read. */
  #repeatingRows(batch: Batch, from: number, repeats: Repeats): void {
    const texts: string[] = []
    for (let i = from; i < batch.count; i++)
      texts.push(recordText(batch.buffer, batch.start[i]!, batch.end[i]!))
    parseCells(texts, this.#preset.format).forEach((cells, n) => {
      this.#progress(n, texts.length)
      const read = this.#read(cells)
      if (isRejection(read)) this.#sink.rejected(brokenLine(batch, from + n, read.reason))
      else repeats.take(batch, from + n, cells as string[], read as CatalogRow)
    })
  }

  #read(cells: string[] | string): CatalogRow | StockRow | Rejection {
    return typeof cells === 'string' ? { reason: cells } : this.#compiled!.read(cells)
  }

  /**
   * Without a newline at the end of the file, a last line that lacks columns was cut off in the
   * middle.
   */
  #lookAtEnd(batch: Batch, from: number): void {
    const last = batch.count - 1
    const broken = batch.broken.at(-1)
    if (broken && (last < from || broken.line > batch.line[last]!)) {
      this.cutOff = true
      return
    }
    if (last < from) return
    const [cells] = parseCells(
      [recordText(batch.buffer, batch.start[last]!, batch.end[last]!)],
      this.#preset.format,
    )
    this.cutOff = typeof cells === 'string' || cells!.length < this.#least
  }
}

/**
 * Joins adjacent rows of one item that differ in columns of lists alone (`repeats` of a preset).
 */
class Repeats {
  readonly #columns: readonly string[]
  readonly #lists: ReadonlySet<string>
  readonly #sink: RowSink
  /**
   * The first row of the item in hand; its record is copied, since the next one may be of another
   * batch.
   */
  #held: { row: CatalogRow; cells: readonly string[]; batch: Batch } | null = null

  constructor(columns: readonly string[], lists: readonly string[], sink: RowSink) {
    this.#columns = columns
    this.#lists = new Set(lists.map(fold))
    this.#sink = sink
  }

  take(batch: Batch, index: number, cells: readonly string[], row: CatalogRow): void {
    const held = this.#held
    if (held?.row.stockid !== row.stockid) {
      this.flush()
      this.#held = { row, cells, batch: oneRecord(batch, index) }
      return
    }
    const other = this.#columns.findIndex(
      (name, i) =>
        !this.#lists.has(fold(name)) && (cells[i] ?? '').trim() !== (held.cells[i] ?? '').trim(),
    )
    if (other !== -1)
      return this.#sink.rejected(
        brokenLine(batch, index, this.#difference(other, cells, held.cells)),
      )
    held.row.images = [...new Set([...held.row.images, ...row.images])]
    held.row.mark |= row.mark
    this.#sink.joined()
  }

  flush(): void {
    const held = this.#held
    if (!held) return
    this.#held = null
    this.#sink.known(held.batch, 0)
    this.#sink.row(held.batch, 0, held.row)
  }

  #difference(place: number, cells: readonly string[], before: readonly string[]): string {
    const cell = (of: readonly string[]) => `"${(of[place] ?? '').trim().slice(0, 40)}"`
    const nameOf = (list: string) => this.#columns.find((name) => fold(name) === list) ?? list
    return (
      `${this.#columns[place]} is ${cell(cells)} and ${cell(before)} in the row before ` +
      'with the same item number; ' +
      `such rows may differ in ${[...this.#lists].map(nameOf).join(', ')} alone`
    )
  }
}

function oneRecord(batch: Batch, index: number): Batch {
  const buffer = Buffer.from(batch.buffer.subarray(batch.start[index]!, batch.end[index]!))
  return {
    buffer,
    count: 1,
    start: Uint32Array.of(0),
    end: Uint32Array.of(buffer.length),
    line: Uint32Array.of(batch.line[index]!),
    broken: [],
    unterminated: false,
  }
}
