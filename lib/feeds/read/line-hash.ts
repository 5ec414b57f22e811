/**
 * Hashes that tell changed lines and changed wording. Not for secrets: a distributor has no reason
 * to forge one.
 */
import { createHash } from 'node:crypto'

const rotl = (x: number, by: number) => (x << by) | (x >>> (32 - by))

function mix(h: number): number {
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

/**
 * 64 bits of a raw line in two halves, in the manner of MurmurHash3: two lanes that cross, 8 bytes
 * a step.
 */
export class LineHash {
  lo = 0
  hi = 0
  readonly #seedLo: number
  readonly #seedHi: number
  #of: Uint8Array | null = null
  #view!: DataView

  /** Lines of files under different seeds never look alike. */
  constructor(seed: string) {
    const digest = createHash('sha256').update(seed).digest()
    this.#seedLo = digest.readInt32LE(0)
    this.#seedHi = digest.readInt32LE(4)
  }

  /**
   * Leaves the hash of the bytes in `lo` and `hi`, unsigned; never both zero, which stands for
   * "read it again".
   */
  take(bytes: Uint8Array, start: number, end: number): void {
    if (this.#of !== bytes) {
      this.#of = bytes
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    }
    const view = this.#view
    let a = this.#seedLo
    let b = this.#seedHi
    let at = start
    for (; at + 8 <= end; at += 8) {
      a ^= Math.imul(rotl(Math.imul(view.getInt32(at, true), 0x239b961b), 15), 0xab0e9789 | 0)
      a = (Math.imul(rotl(a, 19) + b, 5) + 0x561ccd1b) | 0
      b ^= Math.imul(rotl(Math.imul(view.getInt32(at + 4, true), 0xab0e9789 | 0), 16), 0x38b34ae5)
      b = (Math.imul(rotl(b, 17) + a, 5) + 0x0bcaa747) | 0
    }
    if (at + 4 <= end) {
      a ^= Math.imul(rotl(Math.imul(view.getInt32(at, true), 0x239b961b), 15), 0xab0e9789 | 0)
      at += 4
    }
    let tail = 0
    for (let shift = 0; at < end; at++, shift += 8) tail |= view.getUint8(at) << shift
    b ^= Math.imul(rotl(Math.imul(tail, 0xa1e38b93 | 0), 18), 0x239b961b)
    a = ((a ^ (end - start)) + b) | 0
    b = (b + a) | 0
    a = mix(a)
    b = mix(b)
    a = (a + b) | 0
    this.lo = a >>> 0
    this.hi = (b + a) >>> 0
    if (this.lo === 0 && this.hi === 0) this.lo = 1
  }
}

/** 53 bits of a text, as a whole number. */
export function textHash(text: string): number {
  let a = 0x2f0b4c47
  let b = 0x38495ab5
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    a = rotl(Math.imul(a ^ unit, 0x85ebca6b), 13)
    b = rotl(Math.imul(b + unit, 0xc2b2ae35), 15)
  }
  a = mix(a ^ text.length)
  b = mix((b + a) | 0)
  return (b >>> 11) * 0x1_0000_0000 + (a >>> 0)
}
