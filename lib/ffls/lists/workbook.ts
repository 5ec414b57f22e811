/**
 * Reads workbooks (.xlsx) that nobody vouches for: in a process of its own, within bounds that are
 * looked at before anything is parsed, since one cell far out would make its reader fill the memory
 * up to there.
 */
import { readFileSync, statSync } from 'node:fs'
import { crc32, inflateRawSync } from 'node:zlib'
import { MB, figure } from '../../core/figures.js'
import { runChild } from '../../core/async/child.js'
import { MINUTE, dayOf } from '../../core/clock.js'

/** What a list may have: several times what the ATF's whole list has. */
export const WORKBOOK = {
  /** Bytes, packed and unpacked. */
  packed: 64 * MB,
  unpacked: 256 * MB,
  entries: 1_000,
  /** Bytes unpacked for one packed, where it is more than a megabyte. */
  ratio: 100,
  rows: 300_000,
  columns: 256,
  /** Rows times columns, over all sheets. */
  cells: 6_000_000,
  /** Characters of one cell, as in Excel, and of all. */
  cell: 32_767,
  characters: 128 * MB,
} as const

/** Megabytes of JavaScript that its reader may hold, and milliseconds that it may take. */
const HEAP = 1_024
const LIMIT = 2 * MINUTE

export interface WorkbookJob {
  kind: 'workbook'
  file: string
}

/** Rows that are not blank, with their numbers from 1. */
export type Table = { line: number; cells: string[] }[]

/**
 * The sheets of a workbook that are not blank. Rejects with a sentence that says what is wrong with
 * the file.
 */
export function readTables(file: string): Promise<Table[]> {
  const job: WorkbookJob = { kind: 'workbook', file }
  return runChild<Table[]>(job, {
    limit: LIMIT,
    heap: HEAP,
    signal: new AbortController().signal,
    failure: 'it is not a workbook that can be read',
  })
}

/** The work of the child. */
export async function tablesOf({ file }: WorkbookJob): Promise<Table[]> {
  if (statSync(file).size > WORKBOOK.packed) throw tooLarge('it has more than 64 MB')
  const parts = unpack(readFileSync(file))
  let cells = 0
  for (const [name, content] of parts) cells += gridOf(name, content)
  if (cells > WORKBOOK.cells) throw tooLarge('its sheets are larger than any list')
  // Few lists are workbooks, and what reads them takes 60 ms to load.
  const { default: readSheets } = await import('read-excel-file/node')
  // What was looked at is what is read: a zip file may say one thing at its end and another on the
  // way there.
  const sheets = await readSheets(pack(parts))
  let characters = 0
  const text = (value: unknown) => {
    const made = cellText(value)
    characters += made.length
    if (made.length > WORKBOOK.cell || characters > WORKBOOK.characters)
      throw tooLarge('its cells hold more text than any list')
    return made
  }
  return sheets
    .map(({ data }) =>
      data
        .map((row, i) => ({ line: i + 1, cells: row.map(text) }))
        .filter((row) => row.cells.some((cell) => cell !== '')),
    )
    .filter((rows) => rows.length > 0)
}

const tooLarge = (why: string) => new Error(`${why}; save it as text`)

/** A cell that was made a number lost its leading zeros; who reads the row puts them back. */
function cellText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number'
    ? String(value)
    : value instanceof Date
      ? dayOf(value.getTime())
      : ''
}

const END = 0x06054b50
const ENTRY = 0x02014b50
const LOCAL = 0x04034b50

/** The XML of a zip file by its names, none of it larger than it says, and all within bounds. */
function unpack(zip: Buffer): Map<string, Buffer> {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06'))
  if (end < 0 || end + 22 > zip.length || zip.readUInt32LE(end) !== END)
    throw new Error('it is cut off')
  const count = zip.readUInt16LE(end + 10)
  if (count > WORKBOOK.entries) throw tooLarge('it has more than 1,000 files in it')
  const parts = new Map<string, Buffer>()
  let at = zip.readUInt32LE(end + 16)
  let total = 0
  for (let i = 0; i < count; i++) {
    if (at + 46 > zip.length || zip.readUInt32LE(at) !== ENTRY)
      throw new Error('its list of files is damaged')
    const [method, packed, size, nameLength] = [
      zip.readUInt16LE(at + 10),
      zip.readUInt32LE(at + 20),
      zip.readUInt32LE(at + 24),
      zip.readUInt16LE(at + 28),
    ]
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength)
    const start = zip.readUInt32LE(at + 42)
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
    if (!/\.xml(\.rels)?$/.test(name)) continue
    total += size
    if (total > WORKBOOK.unpacked) throw tooLarge('it unpacks to more than 256 MB')
    if (size > MB && size > packed * WORKBOOK.ratio)
      throw tooLarge('it unpacks to more than a hundred times its size')
    if (parts.has(name)) throw new Error(`it has two files ${name.slice(0, 60)}`)
    parts.set(name, contentOf(zip, { start, packed, size, method }))
  }
  return parts
}

interface Entry {
  start: number
  packed: number
  size: number
  method: number
}

function contentOf(zip: Buffer, { start, packed, size, method }: Entry): Buffer {
  if (start + 30 > zip.length || zip.readUInt32LE(start) !== LOCAL)
    throw new Error('its list of files is damaged')
  const from = start + 30 + zip.readUInt16LE(start + 26) + zip.readUInt16LE(start + 28)
  const bytes = zip.subarray(from, from + packed)
  if (bytes.length !== packed || (method !== 0 && method !== 8))
    throw new Error('a file in it is cut off or packed in another way')
  try {
    const content =
      method === 0 ? bytes : inflateRawSync(bytes, { maxOutputLength: Math.max(1, size) })
    if (content.length === size) return content
  } catch {
    // Damaged, or more than it says.
  }
  throw new Error('a file in it is damaged, or another size than it says')
}

/** A zip file of these parts as they are, which takes no memory to unpack. */
function pack(parts: ReadonlyMap<string, Buffer>): Buffer {
  const [files, directory]: [Buffer[], Buffer[]] = [[], []]
  let at = 0
  for (const [name, content] of parts) {
    const bytes = Buffer.from(name)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(content.length, 14)
    common.writeUInt32LE(content.length, 18)
    common.writeUInt16LE(bytes.length, 22)
    const offset = Buffer.alloc(14)
    offset.writeUInt32LE(at, 10)
    files.push(Buffer.from('PK\x03\x04'), common, bytes, content)
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), common, offset, bytes)
    at += 30 + bytes.length + content.length
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(END, 0)
  for (const place of [8, 10]) end.writeUInt16LE(parts.size, place)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...files, central, end])
}

/** Begins a cell or a row, whatever its namespace is called. */
const OPENS = /<(?:[\w.-]+:)?(c|row)(?=[\s/>])/g
const REST = /(?:[^<>"']|"[^"<]*"|'[^'<]*')*>/y
const ATTRIBUTE = /([^\s="'/]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g

/**
 * Rows times columns up to the last cell of a part, which its reader would fill; 0 for a part that
 * is no sheet.
 */
function gridOf(name: string, content: Buffer): number {
  const xml = content.toString('latin1')
  let [rows, last, columns] = [0, 0, 0]
  OPENS.lastIndex = 0
  for (let match = OPENS.exec(xml); match !== null; match = OPENS.exec(xml)) {
    REST.lastIndex = OPENS.lastIndex
    const rest = REST.exec(xml)
    if (!rest) throw new Error(`${name.slice(0, 60)} holds a cell that cannot be read`)
    if (match[1] === 'row') rows++
    for (const [, attribute, quoted, other] of rest[0].matchAll(ATTRIBUTE)) {
      if (attribute !== 'r') continue
      const [, letters, digits] =
        (match[1] === 'row' ? /^()(\d{1,7})$/ : /^([A-Za-z]{1,3})(\d{1,7})$/).exec(
          quoted ?? other ?? '',
        ) ?? []
      if (letters === undefined || digits === undefined)
        throw new Error(`${name.slice(0, 60)} holds a cell at a place that is none`)
      last = Math.max(last, Number(digits))
      columns = Math.max(columns, columnOf(letters))
    }
  }
  const height = Math.max(rows, last)
  if (height > WORKBOOK.rows || columns > WORKBOOK.columns) {
    throw tooLarge(
      `${name.slice(0, 60)} reaches to row ${height}, column ${columns}; a list has at most ` +
        `${figure(WORKBOOK.rows)} rows and ${WORKBOOK.columns} columns`,
    )
  }
  return height * columns
}

/** `A` is 1, `XFD` 16,384. */
function columnOf(letters: string): number {
  return [...letters.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0)
}
