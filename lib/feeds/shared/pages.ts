/**
 * Rows as bytes, column by column: what is alike lies together, so that a new price of an offer
 * takes hardly more than its own bytes once it is compressed.
 *
 * A page is its length (4 bytes), the length of its head (4), the head as JSON, and its lists. A
 * list is its kind (1), how many values it has (4), and these.
 */

export type Value = number | string | null

export interface Page {
  /** Which table its rows are of. */
  table: string
  /** What is to be done with them. */
  act: string
  columns: readonly string[]
  /** Values of each column. */
  lists: readonly (readonly Value[])[]
}

/** What is in a file is not what anybody here has written. */
export class DamagedPage extends Error {}

const NUMBERS = 0
const TEXTS = 1
/** Numbers of which each is greater than the one before: their distances are written. */
const RISING = 2
/** More than any page. */
const LONGEST_PAGE = 2 ** 30

/** Rows of a page, and about so many characters: a page is in memory as a whole. */
const MOST_ROWS = 65_536
const MOST_CHARACTERS = 2 ** 22

/** Has rows told page by page. */
export function inPages(rows: Iterable<Value[]>, tell: (page: Value[][]) => void): void {
  let page: Value[][] = []
  let characters = 0
  for (const row of rows) {
    page.push(row)
    for (const value of row) if (typeof value === 'string') characters += value.length
    if (page.length < MOST_ROWS && characters < MOST_CHARACTERS) continue
    tell(page)
    page = []
    characters = 0
  }
  if (page.length > 0) tell(page)
}

/** Rows as the lists of their first columns. */
export const turned = (rows: readonly Value[][], columns: number): Value[][] =>
  Array.from({ length: columns }, (_, column) => rows.map((row) => row[column]!))

/** Throws for a number that is not a whole one of at most 53 bits. */
export function encodePage({ table, act, columns, lists }: Page): Buffer {
  const head = Buffer.from(JSON.stringify({ table, act, columns }))
  const body = Buffer.concat([uint(head.length), head, ...lists.flatMap(encodeList)])
  return Buffer.concat([uint(body.length), body])
}

/** The length of what follows in a page that begins with these 4 bytes. */
export function pageLength(prefix: Buffer): number {
  const bytes = prefix.readUInt32LE()
  if (bytes > LONGEST_PAGE) throw new DamagedPage('a page is too long')
  return bytes
}

/** A page without its length. */
export function decodePage(body: Buffer): Page {
  try {
    const length = body.readUInt32LE()
    const head = JSON.parse(body.toString('utf8', 4, 4 + length)) as Omit<Page, 'lists'>
    const reader = { body, at: 4 + length }
    const lists: Value[][] = []
    while (reader.at < body.length) lists.push(decodeList(reader))
    return { ...head, lists }
  } catch (error) {
    throw new DamagedPage('a page cannot be read', { cause: error })
  }
}

function uint(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function encodeList(values: readonly Value[]): Buffer[] {
  const isText = values.some((value) => typeof value === 'string')
  if (!isText) {
    const numbers = values as readonly (number | null)[]
    return isRising(numbers)
      ? [Buffer.of(RISING), ...encodeNumbers(distances(numbers))]
      : [Buffer.of(NUMBERS), ...encodeNumbers(numbers)]
  }
  const texts = values.map((value) => (value === null ? null : String(value)))
  const lengths = texts.map((text) => (text === null ? null : Buffer.byteLength(text)))
  return [Buffer.of(TEXTS), ...encodeNumbers(lengths), Buffer.from(texts.join(''))]
}

function isRising(values: readonly (number | null)[]): values is readonly number[] {
  return (
    values.length > 1 &&
    values.every((value, i) => value !== null && (i === 0 || value > (values[i - 1] ?? value)))
  )
}

const distances = (values: readonly number[]): number[] =>
  values.map((value, i) => (i === 0 ? value : value - values[i - 1]!))

/**
 * Numbers from the least of them on, 0 for none there, each in as many bytes as the greatest needs:
 * first the lowest byte of all, then the next.
 */
function encodeNumbers(values: readonly (number | null)[]): Buffer[] {
  let [least, most, isFull] = [Infinity, -Infinity, true]
  for (const value of values) {
    if (value === null) {
      isFull = false
      continue
    }
    if (!Number.isSafeInteger(value)) throw new Error(`${value} is not a whole number of 53 bits`)
    if (value < least) least = value
    if (value > most) most = value
  }
  if (most < least) [least, most] = [1, 0]
  const first = isFull ? 0 : 1
  const width = bytesFor(most - least + first)
  const head = Buffer.alloc(14)
  head.writeUInt32LE(values.length)
  head.writeDoubleLE(least, 4)
  head[12] = width
  head[13] = first
  const planes = Buffer.alloc(values.length * width)
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    let rest = value === null ? 0 : value - least + first
    for (let plane = 0; plane < width; plane++) {
      const next = Math.floor(rest / 256)
      planes[plane * values.length + i] = rest - next * 256
      rest = next
    }
  }
  return [head, planes]
}

function bytesFor(most: number): number {
  let width = 0
  for (let rest = most; rest > 0; rest = Math.floor(rest / 256)) width++
  return width
}

interface Reader {
  readonly body: Buffer
  at: number
}

function decodeList(reader: Reader): Value[] {
  const kind = reader.body.readUInt8(reader.at++)
  const numbers = decodeNumbers(reader)
  if (kind === NUMBERS) return numbers
  if (kind === RISING) {
    let last = 0
    return numbers.map((distance) => (last += distance ?? 0))
  }
  if (kind !== TEXTS) throw new RangeError(`there is no list of the kind ${kind}`)
  return numbers.map((length) => {
    if (length === null) return null
    const text = reader.body.toString('utf8', reader.at, reader.at + length)
    reader.at += length
    return text
  })
}

function decodeNumbers(reader: Reader): (number | null)[] {
  const { body, at } = reader
  const [count, least] = [body.readUInt32LE(at), body.readDoubleLE(at + 4)]
  const [width, first] = [body.readUInt8(at + 12), body.readUInt8(at + 13)]
  const from = at + 14
  reader.at = from + count * width
  if (reader.at > body.length) throw new RangeError('a list is cut off')
  return Array.from({ length: count }, (_, i) => {
    let value = 0
    for (let plane = width - 1; plane >= 0; plane--)
      value = value * 256 + body[from + plane * count + i]!
    return first === 1 && value === 0 ? null : value - first + least
  })
}
