/**
 * Words of a text, for the index and for the query alike. Case, marks and
 * punctuation do not matter: "AR-15" gives ar, 15 and, since its parts stand together, also ar15.
 */
const WORD = /[\p{L}\p{N}]+/gu

/** What stands between white space. */
export interface Chunk {
  /** Letters and digits between punctuation; at least one. */
  parts: string[]
  /** The parts in one; null when there is only one part. */
  joined: string | null
}

/** The chunks of a text that hold a letter or digit. */
export function chunksOf(text: string): Chunk[] {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
  const chunks: Chunk[] = []
  for (const chunk of plain.split(/\s+/)) {
    const parts = chunk.match(WORD)
    if (parts) chunks.push({ parts, joined: parts.length > 1 ? parts.join('') : null })
  }
  return chunks
}

/**
 * Takes one word as UTF-8: `buffer[from]` up to `to`, and whether it is the parts of a chunk in
 * one. It must not keep the buffer.
 */
export type WordSink = (buffer: Buffer, from: number, to: number, isJoined: boolean) => void

const SPACE = 1
/**
 * For each ASCII code: 0 for punctuation, 1 for white space, else the lower-case letter or the
 * digit itself.
 */
const ASCII = Uint8Array.from({ length: 128 }, (_, code) => {
  const text = String.fromCharCode(code)
  return /[a-z0-9]/i.test(text) ? text.toLowerCase().charCodeAt(0) : /\s/.test(text) ? SPACE : 0
})

/**
 * A function that tells a sink every word and joined word of a text. Plain ASCII, which is nearly
 * every offer, is read byte by byte, without a string per word.
 */
export function wordReader(sink: WordSink): (text: string) => void {
  let buffer = Buffer.alloc(256)
  const slow = (text: string) => {
    for (const { parts, joined } of chunksOf(text)) {
      for (const word of joined === null ? parts : [...parts, joined]) {
        const bytes = Buffer.from(word)
        sink(bytes, 0, bytes.length, word === joined)
      }
    }
  }
  return (text) => {
    if (!isAscii(text)) return slow(text)
    if (buffer.length < text.length) buffer = Buffer.alloc(text.length * 2)
    // The letters of a chunk are gathered without its punctuation, so the whole of them is its
    // joined word.
    let length = 0
    let part = 0
    let parts = 0
    for (let i = 0; i <= text.length; i++) {
      const code = i < text.length ? ASCII[text.charCodeAt(i)]! : SPACE
      if (code > SPACE) {
        buffer[length++] = code
        continue
      }
      if (length > part) {
        sink(buffer, part, length, false)
        part = length
        parts++
      }
      if (code !== SPACE) continue
      if (parts > 1) sink(buffer, 0, length, true)
      length = part = parts = 0
    }
  }
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 128) return false
  return true
}
