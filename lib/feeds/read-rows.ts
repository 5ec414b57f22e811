/** Rows of a feed's file, one batch at a time: the lines that changed since the last feed are parsed, the others only named. */
import { compilePreset, isRejection } from '../distributors/generic.js'
import type { CatalogRow, Compiled, Preset, Rejection, StockRow } from '../distributors/generic.js'
import { UnreadableFile, openBytes } from './bytes.js'
import { parseCells } from './cells.js'
import { leastColumns, readHeader } from './guard.js'
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

/** A record that is no row after all. */
export function brokenLine(batch: Batch, index: number, reason: string): BrokenLine {
  const start = batch.start[index]!
  return { line: batch.line[index]!, reason, text: recordText(batch.buffer, start, Math.min(batch.end[index]!, start + KEPT_TEXT)) }
}

/** Reads a whole file into the sink; `at` (ms) decides whether a sale is on. Throws only for a file that cannot be opened. */
export async function readRows(input: { preset: Preset; file: string; at: number; seed: string }, sink: RowSink): Promise<Reading> {
  const { preset, at } = input
  const bytes = await openBytes(input.file, input.seed)
  try {
    const reader = new RowFeeder(preset, at, sink)
    try {
      for await (const batch of readRecords(bytes, preset.format)) {
        if (!reader.take(batch)) return { reasons: reader.reasons, cutOff: false, endsInNewline: true, digest: null }
        sink.progress(bytes.bytesRead, bytes.size)
      }
    } catch (error) {
      if (error instanceof UnreadableFile) return { reasons: [error.message], cutOff: true, endsInNewline: false, digest: null }
      throw error
    }
    return { reasons: [], cutOff: reader.cutOff, endsInNewline: reader.endsInNewline, digest: bytes.digest() }
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

  constructor(preset: Preset, at: number, sink: RowSink) {
    this.#preset = preset
    this.#at = at
    this.#sink = sink
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
    this.#sink.begin(header.columns)
    return true
  }

  #rows(batch: Batch, from: number): void {
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
      if (offers[i] !== 0) {
        sink.unchanged(batch, i, offers[i]!)
        continue
      }
      const read = this.#read(cells[next++]!)
      if (isRejection(read)) sink.rejected(brokenLine(batch, i, read.reason))
      else sink.row(batch, i, read)
    }
  }

  #read(cells: string[] | string): CatalogRow | StockRow | Rejection {
    return typeof cells === 'string' ? { reason: cells } : this.#compiled!.read(cells)
  }

  /** Without a newline at the end of the file, a last line that lacks columns was cut off in the middle. */
  #lookAtEnd(batch: Batch, from: number): void {
    const last = batch.count - 1
    const broken = batch.broken.at(-1)
    if (broken && (last < from || broken.line > batch.line[last]!)) {
      this.cutOff = true
      return
    }
    if (last < from) return
    const [cells] = parseCells([recordText(batch.buffer, batch.start[last]!, batch.end[last]!)], this.#preset.format)
    this.cutOff = typeof cells === 'string' || cells!.length < this.#least
  }
}
