/**
 * An arena as a file that never changes: its name is the digest of its bytes, so whoever has the
 * name can tell whether the file is whole, wherever it was copied to.
 *
 * Magic (8 bytes), length of the header (4), the header as JSON up to a 64-byte boundary, columns.
 */
import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { endianness } from 'node:os'
import { join } from 'node:path'
import { codeOf } from '../../core/errors.js'
import { MB } from '../../core/figures.js'
import { syncPathNow } from '../../core/storage/durable.js'
import { isArenaTable } from '../snapshot/arena.js'
import type { Arena } from '../snapshot/arena.js'

/**
 * Number of what stands in the files. Raise it with every change to what a build makes of the same
 * offers: a server that starts over a file of before would serve what the code no longer means. A
 * suite holds it to the digest of a built snapshot.
 */
export const FORM = 2

/** As safe as SHA-256 and, in words of 64 bits, taken in a third of the time. */
const DIGEST = 'sha512-256'

const MAGIC = Buffer.from('QMARENA\n')
const LENGTH_AT = MAGIC.length
const PREFIX = MAGIC.length + 4
const ALIGNED = 64
/** More than any header; what claims to be longer is damaged. */
const LONGEST_HEADER = 64 * MB
/** Bytes that are read or written, and hashed, at a time. */
const PIECE = 4 * MB
/**
 * Pieces that are read at a time. What takes long is not the disk but the memory, which is new to
 * the process: two threads get it in half the time, and a third has no core left.
 */
const READ_AT_ONCE = 2

/** What is wrong with a file, in words that follow its name. */
export class KeptFault extends Error {}

interface Header {
  form: number
  /** Of the numbers in the columns. */
  endian: string
  bytes: number
  table: Arena['table']
  /** What belongs to the columns and is no column. */
  about: unknown
}

const nameOf = (kind: string, digest: string) => `${kind}-${digest}`

/** Writes an arena, on the disk when it returns, and tells its digest: SHA-512/256 in hex. */
export function writeArena(
  folder: string,
  kind: string,
  { buffer, table }: Arena,
  about: unknown,
): string {
  const header: Header = {
    form: FORM,
    endian: endianness(),
    bytes: buffer.byteLength,
    table,
    about,
  }
  const draft = join(folder, `${kind}.draft`)
  const hash = createHash(DIGEST)
  try {
    const file = openSync(draft, 'w', 0o600)
    try {
      writeAll(file, encodeHeader(header), hash)
      writeAll(file, new Uint8Array(buffer), hash)
    } finally {
      closeSync(file)
    }
    const digest = hash.digest('hex')
    syncPathNow(draft)
    renameSync(draft, join(folder, nameOf(kind, digest)))
    syncPathNow(folder)
    return digest
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

function encodeHeader(header: Header): Buffer {
  const json = Buffer.from(JSON.stringify(header))
  const bytes = Buffer.alloc(Math.ceil((PREFIX + json.length) / ALIGNED) * ALIGNED, ' ')
  MAGIC.copy(bytes)
  bytes.writeUInt32LE(bytes.length - PREFIX, LENGTH_AT)
  json.copy(bytes, PREFIX)
  return bytes
}

function writeAll(file: number, bytes: Uint8Array, hash: Hash): void {
  for (let from = 0; from < bytes.length; from += PIECE) {
    const piece = bytes.subarray(from, from + PIECE)
    hash.update(piece)
    for (let done = 0; done < piece.length;) done += writeSync(file, piece, done)
  }
}

/**
 * Reads an arena straight into shared memory. Throws a KeptFault for a file that is missing, cut
 * off, changed, or of another form.
 */
export async function readArena(
  folder: string,
  kind: string,
  digest: string,
): Promise<{ arena: Arena; about: unknown }> {
  const name = nameOf(kind, digest)
  let file: FileHandle
  try {
    file = await open(join(folder, name), 'r')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw new KeptFault(`${name} is missing`)
    throw error
  }
  try {
    const hash = createHash(DIGEST)
    const { header, length } = await readHeader(file, name, hash)
    const buffer = new SharedArrayBuffer(header.bytes)
    await readAll(file, new Uint8Array(buffer), length, hash)
    if (hash.digest('hex') !== digest)
      throw new KeptFault(`${name} does not hold what its name says`)
    return { arena: { buffer, table: header.table }, about: header.about }
  } finally {
    await file.close()
  }
}

/** The header, looked at as what anybody may have written, and its length with the magic. */
async function readHeader(
  file: FileHandle,
  name: string,
  hash: Hash,
): Promise<{ header: Header; length: number }> {
  const prefix = Buffer.alloc(PREFIX)
  await readAll(file, prefix, 0, hash)
  const bytes = prefix.readUInt32LE(LENGTH_AT)
  if (!prefix.subarray(0, LENGTH_AT).equals(MAGIC) || bytes > LONGEST_HEADER)
    throw new KeptFault(`${name} is not a part of a snapshot`)
  const json = Buffer.alloc(bytes)
  await readAll(file, json, PREFIX, hash)
  let header: Header
  try {
    header = JSON.parse(json.toString('utf8')) as Header
  } catch {
    throw new KeptFault(`${name} has a damaged header`)
  }
  if (header.form !== FORM) throw new KeptFault(`${name} is of another release`)
  if (header.endian !== endianness()) throw new KeptFault(`${name} is of another kind of machine`)
  const length = PREFIX + bytes
  if ((await file.stat()).size !== length + header.bytes) throw new KeptFault(`${name} is cut off`)
  if (!isArenaTable(header.table, header.bytes)) throw new KeptFault(`${name} has a damaged header`)
  return { header, length }
}

/** Fills `into` from there on; each piece is hashed while the next ones are read. */
async function readAll(file: FileHandle, into: Uint8Array, at: number, hash: Hash): Promise<void> {
  const reading: Promise<Uint8Array>[] = []
  let from = 0
  const readOn = () => {
    if (from >= into.length) return
    const piece = readPiece(file, into.subarray(from, from + PIECE), at + from)
    // One that fails is told when it is its turn.
    piece.catch(() => {})
    reading.push(piece)
    from += PIECE
  }
  try {
    for (let i = 0; i < READ_AT_ONCE; i++) readOn()
    for (let next = reading.shift(); next; next = reading.shift()) {
      const piece = await next
      readOn()
      hash.update(piece)
    }
  } finally {
    // Whoever closes the file must not do so under a read.
    await Promise.allSettled(reading)
  }
}

async function readPiece(file: FileHandle, piece: Uint8Array, at: number): Promise<Uint8Array> {
  for (let done = 0; done < piece.length;) {
    const { bytesRead } = await file.read(piece, done, piece.length - done, at + done)
    if (bytesRead === 0) throw new KeptFault('a part of the snapshot is cut off')
    done += bytesRead
  }
  return piece
}
