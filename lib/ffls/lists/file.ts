/**
 * The files that lists of dealers come in: separated text, plain or gzip, in any of the usual
 * encodings, and workbooks.
 */
import { open } from 'node:fs/promises'
import type { Progress } from '../../core/async/progress.js'
import { invalid } from '../../core/errors.js'
import { UnreadableFile, openBytes } from '../../feeds/fetch/bytes.js'
import { parseCells } from '../../feeds/read/cells.js'
import { KEPT_TEXT, readRecords } from '../../feeds/read/lines.js'
import type { BrokenLine } from '../../feeds/read/lines.js'
import { recordText } from '../../feeds/read/text.js'
import { readTables } from './workbook.js'

export interface ListRow {
  /** Of its first line in the file, or of its row in the sheet, from 1. */
  line: number
  cells: readonly string[]
}

export interface ListFile {
  /** Rows that are not blank, in the order of the file; the first one may be a header. */
  rows: ListRow[]
  /** Lines that are not rows. */
  broken: BrokenLine[]
  /** The last row ends without a newline, as one does that was cut off in the middle. */
  unterminated: boolean
  /** A last line without an end that is not a row either. */
  cutOff: BrokenLine | null
}

/**
 * How well the first row fits; the separator, or the sheet of a workbook, that fits best is taken.
 */
type Fits = (cells: readonly string[]) => number

const SEPARATORS = ['\t', ',', '|', ';']

/** Reads a whole list. A file that cannot be read, or is none of rows, is a 400 that says why. */
export async function readListFile(input: {
  file: string
  fits: Fits
  onProgress?: Progress | undefined
}): Promise<ListFile> {
  const start = await firstBytes(input.file)
  if (start.length === 0) throw notAList('it is empty')
  // The beginnings of a zip file, which every workbook is, and of a workbook of before 2007.
  if (start.readUInt32BE(0) === 0x504b0304) return readWorkbook(input)
  if (start.readUInt32BE(0) === 0xd0cf11e0)
    throw notAList('it is a workbook of the old kind; save it as .xlsx or as text')
  try {
    return await readText(input)
  } catch (error) {
    throw error instanceof UnreadableFile ? notAList(error.message) : error
  }
}

const notAList = (reason: string) => invalid('file', `this is not a list of dealers: ${reason}`)

/** The first four bytes, zeros where there are fewer; none of an empty file. */
async function firstBytes(file: string): Promise<Buffer> {
  try {
    const handle = await open(file)
    try {
      const start = Buffer.alloc(4)
      const { bytesRead } = await handle.read(start, 0, 4, 0)
      return bytesRead === 0 ? start.subarray(0, 0) : start
    } finally {
      await handle.close()
    }
  } catch {
    throw invalid('file', `cannot read ${file}`)
  }
}

async function readText({
  file,
  fits,
  onProgress,
}: Parameters<typeof readListFile>[0]): Promise<ListFile> {
  const first = await firstLine(file)
  if (first === null) throw notAList('it is empty')
  if (/^\s*</.test(first))
    throw notAList(
      /html/i.test(first)
        ? 'it is an HTML page, such as a login or error page'
        : 'it is HTML or XML',
    )
  const format = {
    delimiter: best(SEPARATORS, (separator) => fits(cellsOf(first, separator))),
    quote: '"',
  } as const
  const list: ListFile = { rows: [], broken: [], unterminated: false, cutOff: null }
  const bytes = await openBytes(file, '')
  try {
    for await (const { buffer, count, start, end, line, broken, unterminated } of readRecords(
      bytes,
      format,
    )) {
      const texts = Array.from({ length: count }, (_, i) => recordText(buffer, start[i]!, end[i]!))
      parseCells(texts, format).forEach((cells, i) => {
        if (typeof cells === 'string')
          list.broken.push({ line: line[i]!, reason: cells, text: texts[i]!.slice(0, KEPT_TEXT) })
        else list.rows.push({ line: line[i]!, cells })
      })
      list.broken.push(...broken)
      list.unterminated = unterminated
      onProgress?.(bytes.bytesRead, bytes.size, list.rows.length)
    }
  } finally {
    await bytes.close()
  }
  return withoutBrokenEnd(list)
}

/** A last line without an end that could not be parsed was cut off, most likely within quotes. */
function withoutBrokenEnd(list: ListFile): ListFile {
  if (!list.unterminated) return list
  const last = list.broken.findLast(({ line }) => line > (list.rows.at(-1)?.line ?? 0))
  return last
    ? {
        ...list,
        broken: list.broken.filter((fault) => fault !== last),
        unterminated: false,
        cutOff: last,
      }
    : list
}

/** The first line that is not blank, without a mark; null where there is none. */
async function firstLine(file: string): Promise<string | null> {
  const bytes = await openBytes(file, '')
  try {
    for (let piece = await bytes.next(); piece !== null; piece = await bytes.next()) {
      const line = recordText(piece, 0, piece.length)
        .replace(/^\uFEFF/, '')
        .split(/[\r\n]+/)
        .find((text) => text.trim() !== '')
      if (line !== undefined) return line
    }
    return null
  } finally {
    await bytes.close()
  }
}

function cellsOf(line: string, delimiter: string): string[] {
  const [cells] = parseCells([line], { delimiter, quote: '"' })
  return Array.isArray(cells) ? cells : []
}

function best<T>(candidates: readonly T[], score: (candidate: T) => number): T {
  const scores = candidates.map(score)
  return candidates[scores.indexOf(Math.max(...scores))]!
}

async function readWorkbook({
  file,
  fits,
  onProgress,
}: Parameters<typeof readListFile>[0]): Promise<ListFile> {
  const tables = await readTables(file).catch((error: Error) => {
    throw notAList(error.message)
  })
  if (tables.length === 0) throw notAList('it is empty')
  const rows = best(tables, ([first]) => fits(first?.cells ?? []))
  onProgress?.(1, 1, rows.length)
  return { rows, broken: [], unterminated: false, cutOff: null }
}
