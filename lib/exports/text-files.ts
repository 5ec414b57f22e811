/**
 * Files of texts are kept for weeks, and their content is published again and again: beside each
 * stands the digest of its bytes, and one that is not what was written is made anew.
 */
import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { putInPlaceNow } from '../core/storage/durable.js'

/** Bytes that are read at a time. */
const BLOCK = 1 << 20

/** Path of the digest of a kept file. */
export const sumOf = (path: string) => `${path}.sum`

/**
 * Gives a finished file its name, once its bytes are on the disk. The digest goes first: beside
 * another file it fits to nothing.
 */
export function keep(draft: string, path: string): void {
  writeFileSync(sumOf(draft), digestOf(draft), { mode: 0o600 })
  putInPlaceNow(sumOf(draft), sumOf(path))
  putInPlaceNow(draft, path)
}

/** What a kept file is: as it was written, not there, or something else. */
export function stateOf(path: string): 'whole' | 'missing' | 'damaged' {
  if (!existsSync(path) || !existsSync(sumOf(path))) return 'missing'
  return readFileSync(sumOf(path), 'latin1') === digestOf(path) ? 'whole' : 'damaged'
}

function digestOf(path: string): string {
  const hash = createHash('sha256')
  const block = Buffer.allocUnsafe(BLOCK)
  const file = openSync(path, 'r')
  try {
    for (let read; (read = readSync(file, block)) > 0;) hash.update(block.subarray(0, read))
  } finally {
    closeSync(file)
  }
  return hash.digest('hex')
}
