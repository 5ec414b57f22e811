/**
 * The items of a long file in XML: each child of the root, read as it comes, under the rules of
 * `xml.ts`. The file may be written in Windows-1252, as older systems write it.
 */
import { TextDecoder } from 'node:util'
import { parseXml, XmlFault } from './xml.js'
import type { XmlElement } from './xml.js'

/** Characters of an item, and of what stands before the first. */
const LONGEST = 1_048_576
const HEAD = /^\s*(?:<\?xml[^<>]*\?>\s*)?(?:<!--[^>]*-->\s*)*<([A-Za-z_][\w.-]*)(?:\s[^<>]*)?>/
const OPEN = /\s*(?:<([A-Za-z_][\w.-]*)(?:\s[^<>]*?)?(\/?)>|<\/([A-Za-z_][\w.-]*)\s*>)/y

/** Texts of bytes: UTF-8 where the file says so, else Windows-1252, of which ASCII is a part. */
class Decoder {
  #decoder: TextDecoder | undefined

  write(bytes: Buffer): string {
    // Without `stream`, Node 20 reads 0x80 to 0x9F as if they were Latin-1.
    return (this.#decoder ??= decoderFor(bytes)).decode(bytes, { stream: true })
  }
}

function decoderFor(first: Buffer): TextDecoder {
  const head = first.subarray(0, 200).toString('latin1')
  const isUtf8 =
    head.startsWith('\u00EF\u00BB\u00BF') || /^<\?xml[^>]*encoding=["']utf-8/i.test(head)
  return new TextDecoder(isUtf8 ? 'utf-8' : 'windows-1252', { fatal: isUtf8 })
}

export class XmlItems {
  readonly #item: (item: XmlElement) => void
  readonly #decoder = new Decoder()
  #root: string | null = null
  #isOver = false
  #pending = ''
  /** How far the item that is pending was searched for its end. */
  #searched = 0

  /** `item` gets each of them. */
  constructor(item: (item: XmlElement) => void) {
    this.#item = item
  }

  /** Takes the next bytes. Throws an XmlFault, and what `item` throws. */
  push(bytes: Buffer): void {
    this.#pending += this.#decoder.write(bytes)
    if (this.#root === null && !this.#head()) return
    this.#items()
    if (this.#isOver ? this.#pending.trim() !== '' : this.#pending.length > LONGEST) throw unread()
  }

  /** After the last bytes. Throws an XmlFault for a file that is cut off. */
  end(): void {
    if (!this.#isOver) throw new XmlFault('it is cut off in the middle')
  }

  #head(): boolean {
    const found = HEAD.exec(this.#pending)
    if (!found) {
      if (this.#pending.length > LONGEST || /<!DOCTYPE/i.test(this.#pending)) throw unread()
      return false
    }
    this.#root = found[1]!
    this.#pending = this.#pending.slice(found[0].length)
    return true
  }

  #items(): void {
    let at = 0
    while (!this.#isOver) {
      OPEN.lastIndex = at
      const found = OPEN.exec(this.#pending)
      if (!found) break
      const [head, name, isEmpty, closed] = found
      if (closed !== undefined) {
        if (closed !== this.#root) throw unread()
        this.#isOver = true
        at += head.length
      } else if (isEmpty === '/') at += head.length
      else {
        const close = `</${name}>`
        const end = this.#pending.indexOf(close, Math.max(at + head.length, this.#searched))
        if (end < 0) {
          this.#searched = Math.max(0, this.#pending.length - close.length)
          break
        }
        this.#item(parseXml(this.#pending.slice(at, end + close.length).trimStart()))
        at = end + close.length
        this.#searched = 0
      }
    }
    this.#pending = this.#pending.slice(at)
    this.#searched = Math.max(0, this.#searched - at)
    const rest = this.#pending.trimStart()
    // What is neither an item nor the end, nor the beginning of one.
    if (!this.#isOver && rest !== '' && !rest.startsWith('<')) throw unread()
  }
}

const unread = () => new XmlFault('it cannot be read')
