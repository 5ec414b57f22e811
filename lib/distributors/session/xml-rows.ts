/**
 * The rows of a long answer of a web service: a document of one element that holds another as
 * escaped text, `<NewDataSet>` with a row in each of its elements. Read as it comes, under the
 * rules of `xml.ts`: no document type, no entities but the five that every document has.
 */
import { StringDecoder } from 'node:string_decoder'
import { withoutEntities, XmlFault } from './xml.js'

/** A row: texts by column in capitals. */
export type XmlRow = Readonly<Record<string, string>>

/** Characters of a row. */
const LONGEST = 1_048_576
/** Characters of what is no document: a word of refusal. */
const LONGEST_WORD = 4_096
/** Characters of an entity. */
const ENTITY = 12

const ATTRIBUTES = `(?:\\s+[\\w:.-]+\\s*=\\s*(?:"[^"<]*"|'[^'<]*'))*\\s*`
const NAME = '[A-Za-z_][\\w:.-]*'
const HEAD = new RegExp(`^\\s*(?:<\\?xml[^<>]*\\?>\\s*)?<(${NAME})${ATTRIBUTES}(/?)>`)
const ROOT = new RegExp(`^\\s*<(${NAME})${ATTRIBUTES}(/?)>`)
const ROW = new RegExp(`\\s*<(${NAME})${ATTRIBUTES}(/?)>`, 'y')
const CELL = new RegExp(`\\s*<(${NAME})${ATTRIBUTES}(?:/>|>([^<]*)</\\1\\s*>)`, 'y')

/** Reads the outer document, and hands its text on to a reader of the inner one. */
export class XmlRows {
  readonly #decoder = new StringDecoder('utf8')
  readonly #inner: InnerRows
  #state: 'head' | 'text' | 'tail' = 'head'
  #name = ''
  #pending = ''

  /** `row` gets each row, and the name of its element. */
  constructor(row: (row: XmlRow, element: string) => void) {
    this.#inner = new InnerRows(row)
  }

  /** Takes the next bytes. Throws an XmlFault, and what `row` throws. */
  push(bytes: Buffer): void {
    this.#take(this.#decoder.write(bytes))
  }

  /**
   * After the last bytes: the text, where it was a word or nothing instead of a document; else
   * null. Throws an XmlFault for an answer that is cut off.
   */
  end(): string | null {
    this.#take(this.#decoder.end())
    if (this.#state !== 'tail' || this.#pending.trim() !== `</${this.#name}>`)
      throw new XmlFault('it is cut off in the middle')
    return this.#inner.end()
  }

  #take(text: string): void {
    this.#pending += text
    if (this.#state === 'head' && !this.#head()) return
    if (this.#state === 'text') this.#text()
    if (this.#state === 'tail' && this.#pending.length > LONGEST_WORD) throw unread()
  }

  #head(): boolean {
    // A byte order mark.
    if (this.#pending.startsWith('\uFEFF')) this.#pending = this.#pending.slice(1)
    const found = HEAD.exec(this.#pending)
    if (!found) {
      if (this.#pending.length > LONGEST_WORD) throw unread()
      return false
    }
    this.#name = found[1]!
    this.#pending = found[2] === '/' ? `</${this.#name}>` : this.#pending.slice(found[0].length)
    this.#state = found[2] === '/' ? 'tail' : 'text'
    return true
  }

  #text(): void {
    const end = this.#pending.indexOf('<')
    if (end >= 0) {
      this.#inner.take(withoutEntities(this.#pending.slice(0, end)))
      this.#pending = this.#pending.slice(end)
      this.#state = 'tail'
      return
    }
    // An entity may go on in the next piece.
    const last = this.#pending.lastIndexOf('&')
    const whole =
      last >= 0 && last > this.#pending.length - ENTITY && !this.#pending.includes(';', last)
        ? last
        : this.#pending.length
    this.#inner.take(withoutEntities(this.#pending.slice(0, whole)))
    this.#pending = this.#pending.slice(whole)
  }
}

/** Reads the inner document. */
class InnerRows {
  readonly #row: (row: XmlRow, element: string) => void
  #state: 'root' | 'rows' | 'end' = 'root'
  #name = ''
  #pending = ''

  constructor(row: (row: XmlRow, element: string) => void) {
    this.#row = row
  }

  take(text: string): void {
    this.#pending += text
    if (this.#state === 'root') this.#root()
    if (this.#state === 'rows') this.#rows()
    if (this.#state === 'end' && this.#pending.trim() !== '') throw unread()
    if (this.#pending.length > LONGEST)
      throw new XmlFault(`a row of it is longer than ${LONGEST} characters`)
  }

  end(): string | null {
    if (this.#state === 'end') return null
    const word = this.#pending.trim()
    if (this.#state === 'rows' || word.startsWith('<'))
      throw new XmlFault('it is cut off in the middle')
    return word
  }

  #root(): void {
    const found = ROOT.exec(this.#pending)
    if (!found) return
    if (found[1] !== 'NewDataSet') throw unread()
    this.#name = found[1]
    this.#pending = this.#pending.slice(found[0].length)
    this.#state = found[2] === '/' ? 'end' : 'rows'
  }

  #rows(): void {
    let at = 0
    for (;;) {
      ROW.lastIndex = at
      const found = ROW.exec(this.#pending)
      if (!found) break
      const [head, name = '', isEmpty] = found
      const close = `</${name}>`
      const end = isEmpty === '/' ? 0 : this.#pending.indexOf(close, at + head.length)
      if (end < 0) break
      if (isEmpty === '/') {
        at += head.length
        continue
      }
      this.#row(rowOf(this.#pending, at + head.length, end), name)
      at = end + close.length
    }
    this.#pending = this.#pending.slice(at)
    const close = `</${this.#name}>`
    const rest = this.#pending.trimStart()
    if (rest.startsWith(close)) {
      this.#pending = rest.slice(close.length)
      this.#state = 'end'
      // What is neither a row nor the end, nor the beginning of one.
    } else if (rest !== '' && !rest.startsWith('<')) throw unread()
  }
}

/** The cells between two places. */
function rowOf(text: string, from: number, to: number): XmlRow {
  const row: Record<string, string> = {}
  let at = from
  for (;;) {
    CELL.lastIndex = at
    const found = CELL.exec(text)
    if (!found || CELL.lastIndex > to) break
    const [, name, value = ''] = found
    row[name!.toUpperCase()] = value.includes('&') ? withoutEntities(value).trim() : value.trim()
    at = CELL.lastIndex
  }
  if (text.slice(at, to).trim() !== '') throw unread()
  return row
}

const unread = () => new XmlFault('it cannot be read')
