/** Files cut into compressed parts, each of which is one object, and put together again. */
import { createHash } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { codeOf } from '../../core/errors.js'
import { MB } from '../../core/figures.js'
import type { Part } from './publication.js'

/** Bytes of a file that one part has: neither more of it nor of the object is ever in memory. */
const PIECE = 16 * MB
/** Measured: higher levels take longer, and save nothing of packed columns. */
const QUALITY = 4

/** A part that is not there, or does not hold what its name says. */
export class BrokenPart extends Error {
  constructor(readonly digest: string) {
    super(`the object ${digest} is missing or damaged`)
  }
}

/** The name of a part. */
export const digestOf = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex')

/** Writes the parts of a file into a folder. */
export function packFile(path: string, folder: string): Part[] {
  const file = openSync(path, 'r')
  try {
    const parts: Part[] = []
    const piece = Buffer.alloc(PIECE)
    for (let length = readPiece(file, piece); length > 0; length = readPiece(file, piece)) {
      const packed = brotliCompressSync(piece.subarray(0, length), {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: QUALITY,
          [constants.BROTLI_PARAM_SIZE_HINT]: length,
        },
      })
      const digest = digestOf(packed)
      writeFileSync(join(folder, digest), packed, { mode: 0o600 })
      parts.push({ digest, bytes: packed.length })
    }
    return parts
  } finally {
    closeSync(file)
  }
}

/** As many bytes as there are, up to the length of `into`. */
export function readPiece(file: number, into: Uint8Array): number {
  let done = 0
  while (done < into.length) {
    const read = readSync(file, into, done, into.length - done, null)
    if (read === 0) break
    done += read
  }
  return done
}

/** Puts a file together, on the disk when it returns. Throws a BrokenPart. */
export function unpackFile(folder: string, parts: readonly Part[], path: string): void {
  const file = openSync(path, 'w', 0o600)
  try {
    for (const part of parts) writeAll(file, unpacked(folder, part))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function unpacked(folder: string, { digest }: Part): Buffer {
  let packed: Buffer
  try {
    packed = readFileSync(join(folder, digest))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw new BrokenPart(digest)
    throw error
  }
  if (digestOf(packed) !== digest) throw new BrokenPart(digest)
  return brotliDecompressSync(packed, { maxOutputLength: PIECE })
}

export function writeAll(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done)
}
