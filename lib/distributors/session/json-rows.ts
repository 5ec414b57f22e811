/**
 * The elements of one long array in a JSON answer, one at a time: what stands around them is small,
 * and told at the end.
 */

/** Why an answer is not one that is read here. It holds nothing of the answer. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault'
}

/** Bytes of an element, and of each member beside the array. */
const LONGEST = 1_048_576
/** Arrays and objects within an element. */
const DEEPEST = 20
/** Members beside the array. */
const MOST_MEMBERS = 200

const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d]
const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]

type State = 'value' | 'first_name' | 'name' | 'colon' | 'after' | 'first_row' | 'row' | 'end'

/**
 * Reads JSON as it comes. `path` leads through objects to the array, and is empty for an answer
 * that is an array itself; where something else stands there, it is told as a member like all
 * others.
 */
export class JsonRows {
  readonly #path: readonly string[]
  readonly #row: (row: unknown) => void
  #state: State = 'value'
  /** The names of the objects that are open, and of the member in hand. */
  readonly #within: string[] = []
  readonly #members = new Map<string, unknown>()
  #inRows = false
  #hasRows = false
  /** What is captured: the earlier pieces of a value that goes on. */
  #held: Buffer[] = []
  #heldBytes = 0
  #isCapturing = false
  #depth = 0
  #inText = false
  #isEscaped = false
  #isFirst = true

  constructor(path: readonly string[], row: (row: unknown) => void) {
    this.#path = path
    this.#row = row
  }

  /** Takes the next bytes. Throws a JsonFault, and what `row` throws. */
  push(bytes: Buffer): void {
    let at = 0
    if (this.#isFirst && bytes.length > 0) {
      this.#isFirst = false
      // A byte order mark.
      if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) at = 3
    }
    while (at < bytes.length) {
      if (this.#isCapturing) at = this.#capture(bytes, at)
      else if (isBlank(bytes[at]!)) at++
      else at = this.#token(bytes, at)
    }
  }

  /**
   * What stood beside the array, by its path with dots, and whether there was an array. Throws a
   * JsonFault for an answer that is cut off.
   */
  end(): { members: ReadonlyMap<string, unknown>; hasRows: boolean } {
    if (this.#state !== 'end' || this.#isCapturing)
      throw new JsonFault('the answer is cut off in the middle')
    return { members: this.#members, hasRows: this.#hasRows }
  }

  /** One sign between values, or the beginning of one. */
  #token(bytes: Buffer, at: number): number {
    const byte = bytes[at]!
    switch (this.#state) {
      case 'value':
        return this.#value(byte, at)
      case 'first_name':
      case 'name':
        if (byte === CLOSE_BRACE && this.#state === 'first_name') return this.#close(at)
        if (byte !== QUOTE) throw unread()
        return this.#begin(at)
      case 'colon':
        if (byte !== COLON) throw unread()
        this.#state = 'value'
        return at + 1
      case 'first_row':
      case 'row':
        if (byte === CLOSE_BRACKET && this.#state === 'first_row') return this.#endRows(at)
        this.#inRows = true
        return this.#begin(at)
      case 'after':
        return this.#after(byte, at)
      case 'end':
        throw unread()
    }
  }

  #value(byte: number, at: number): number {
    const isRoot = this.#within.length === 0
    const isList = this.#path.length === 0 && byte === OPEN_BRACKET
    if (isRoot && byte !== OPEN_BRACE && !isList) throw unread()
    const onPath = this.#within.every((name, i) => this.#path[i] === name)
    if (onPath && byte === OPEN_BRACE && (isRoot || this.#within.length < this.#path.length)) {
      this.#state = 'first_name'
      return at + 1
    }
    if (onPath && byte === OPEN_BRACKET && this.#within.length === this.#path.length) {
      if (this.#hasRows) throw unread()
      this.#hasRows = true
      this.#state = 'first_row'
      return at + 1
    }
    return this.#begin(at)
  }

  #after(byte: number, at: number): number {
    if (byte === COMMA) {
      this.#state = this.#inRows ? 'row' : 'name'
      return at + 1
    }
    if (this.#inRows && byte === CLOSE_BRACKET) return this.#endRows(at)
    if (!this.#inRows && byte === CLOSE_BRACE) return this.#close(at)
    throw unread()
  }

  /** The array ends, which is a member itself, or all that there is. */
  #endRows(at: number): number {
    this.#inRows = false
    this.#state = this.#within.length === 0 ? 'end' : 'after'
    this.#within.pop()
    return at + 1
  }

  /** An object on the way ends. */
  #close(at: number): number {
    this.#state = this.#within.length === 0 ? 'end' : 'after'
    this.#within.pop()
    return at + 1
  }

  #begin(at: number): number {
    this.#isCapturing = true
    this.#depth = 0
    this.#inText = false
    this.#isEscaped = false
    return at
  }

  /** Goes on to the end of the value in hand, or of the piece. */
  #capture(bytes: Buffer, from: number): number {
    let [at, depth, inText, isEscaped] = [from, this.#depth, this.#inText, this.#isEscaped]
    for (; at < bytes.length; at++) {
      const byte = bytes[at]!
      if (inText) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) {
          inText = false
          // A name is over with its text.
          if (depth === 0 && this.#state !== 'value' && !this.#isRow())
            return this.#captured(bytes, from, at + 1)
        }
      } else if (byte === QUOTE) inText = true
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (++depth > DEEPEST) throw new JsonFault(`the answer is deeper than ${DEEPEST} levels`)
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (depth === 0) return this.#captured(bytes, from, at)
        depth--
      } else if (byte === COMMA && depth === 0) return this.#captured(bytes, from, at)
    }
    ;[this.#depth, this.#inText, this.#isEscaped] = [depth, inText, isEscaped]
    this.#hold(bytes.subarray(from))
    return at
  }

  #isRow(): boolean {
    return this.#state === 'row' || this.#state === 'first_row'
  }

  #hold(piece: Buffer): void {
    this.#heldBytes += piece.length
    if (this.#heldBytes > LONGEST)
      throw new JsonFault(`an item of the answer is longer than ${LONGEST} bytes`)
    this.#held.push(piece)
  }

  /** A value is whole. */
  #captured(bytes: Buffer, from: number, to: number): number {
    this.#hold(bytes.subarray(from, to))
    const text = (
      this.#held.length === 1 ? bytes.subarray(from, to) : Buffer.concat(this.#held)
    ).toString()
    this.#held = []
    this.#heldBytes = 0
    this.#isCapturing = false
    const value = parsed(text)
    if (this.#isRow()) this.#row(value)
    else if (this.#state === 'value') this.#member(value)
    else return this.#name(value, to)
    this.#state = 'after'
    return to
  }

  #name(name: unknown, to: number): number {
    if (typeof name !== 'string') throw unread()
    this.#within.push(name)
    this.#state = 'colon'
    return to
  }

  #member(value: unknown): void {
    if (this.#members.size >= MOST_MEMBERS) throw unread()
    this.#members.set(this.#within.join('.'), value)
    this.#within.pop()
  }
}

const unread = () => new JsonFault('the answer cannot be read as JSON')

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw unread()
  }
}

const isBlank = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
