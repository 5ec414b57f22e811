/**
 * A feed's file as plain UTF-8-compatible bytes: gzip unpacked under limits, UTF-16 transcoded, the
 * digest taken on the way.
 */
import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { createGunzip, crc32 } from 'node:zlib'

/** Limits of what a gzip file may unpack to: a bomb stops here. */
export interface GzipLimits {
  maxBytes: number
  /** Unpacked bytes for each packed one. */
  maxRatio: number
}

export const GZIP_LIMITS: GzipLimits = { maxBytes: 2 * 1024 ** 3, maxRatio: 200 }

/** A small file may pack far better than the ratio allows without being a bomb. */
const ALWAYS_ALLOWED = 16 * 1024 ** 2
const READ = 1024 ** 2
/** Bytes under one checksum of the digest. */
const BLOCK = 65_536

/** Why a file cannot be read to its end; `cause` is one that the guard words for the operator. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile'
}

export interface ByteSource {
  /** Size of the file as it lies on disk. */
  readonly size: number
  /** Bytes of the file read so far. */
  readonly bytesRead: number
  /** The next piece, null at the end. It may be overwritten by the next call. */
  next(): Promise<Buffer | null>
  /** Names the bytes of the whole file; only after the end. */
  digest(): string
  close(): Promise<void>
}

/**
 * A name for a file's bytes: a CRC-32 for each 64 KB block, and SHA-256 over those and the size. It
 * finds any change of up to 32 bits for sure and others but for one in four billion a block, at
 * five times the speed of SHA-256 over the bytes: an unchanged feed must cost little more than
 * reading it.
 */
export class FileDigest {
  readonly #hash: Hash
  #crc = 0
  #inBlock = 0
  #size = 0

  constructor(seed: string) {
    this.#hash = createHash('sha256').update(seed)
  }

  update(bytes: Buffer): void {
    this.#size += bytes.length
    for (let at = 0; at < bytes.length;) {
      const take = Math.min(BLOCK - this.#inBlock, bytes.length - at)
      this.#crc = crc32(bytes.subarray(at, at + take), this.#crc)
      this.#inBlock += take
      at += take
      if (this.#inBlock === BLOCK) this.#endBlock()
    }
  }

  #endBlock(): void {
    const crc = Buffer.allocUnsafe(4)
    crc.writeUInt32LE(this.#crc)
    this.#hash.update(crc)
    this.#crc = 0
    this.#inBlock = 0
  }

  /** `size-hex`, so that a file of another size is known to differ without reading it. */
  end(): string {
    this.#endBlock()
    return `${this.#size}-${this.#hash.digest('hex')}`
  }
}

/** The digest of a whole file. `seed` stands for all else that decides what the file means. */
export async function digestFile(file: string, seed: string): Promise<string> {
  const handle = await open(file)
  try {
    const digest = new FileDigest(seed)
    const pieces = readPieces(handle, digest).pieces()
    while (!(await pieces.next()).done);
    return digest.end()
  } finally {
    await handle.close()
  }
}

/** Opens a plain or gzip file. `next` throws UnreadableFile for broken gzip and for a bomb. */
export async function openBytes(
  file: string,
  seed: string,
  limits: GzipLimits = GZIP_LIMITS,
): Promise<ByteSource> {
  const handle = await open(file)
  try {
    const { size } = await handle.stat()
    const digest = new FileDigest(seed)
    const packed = readPieces(handle, digest)
    const magic = Buffer.alloc(2)
    await handle.read(magic, 0, 2, 0)
    const isGzip = magic[0] === 0x1f && magic[1] === 0x8b
    const plain = transcode(isGzip ? unpack(packed.pieces(), limits, size) : packed.pieces())
    return {
      size,
      get bytesRead() {
        return packed.bytesRead()
      },
      next: async () => (await plain.next()).value ?? null,
      digest: () => digest.end(),
      async close() {
        await plain.return?.(undefined)
        await handle.close()
      },
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

function readPieces(handle: FileHandle, digest: FileDigest) {
  let read = 0
  return {
    bytesRead: () => read,
    async *pieces(): AsyncGenerator<Buffer, undefined> {
      // One piece is worked on while the next is read.
      const buffers = [Buffer.allocUnsafeSlow(READ), Buffer.allocUnsafeSlow(READ)] as const
      let next = handle.read(buffers[0], 0, READ, 0)
      try {
        for (let turn = 0; ; turn ^= 1) {
          const { bytesRead } = await next
          if (bytesRead === 0) return
          read += bytesRead
          next = handle.read(buffers[turn ^ 1]!, 0, READ, read)
          const piece = buffers[turn]!.subarray(0, bytesRead)
          digest.update(piece)
          yield piece
        }
      } finally {
        await next.catch(() => {})
      }
    },
  }
}

/** createGunzip({ maxOutputLength }) does not limit a stream, so what comes out is counted here. */
async function* unpack(
  packed: AsyncGenerator<Buffer, undefined>,
  limits: GzipLimits,
  size: number,
): AsyncGenerator<Buffer, undefined> {
  const gunzip = createGunzip({ chunkSize: READ })
  const most = Math.min(limits.maxBytes, Math.max(size * limits.maxRatio, ALWAYS_ALLOWED))
  let fault: unknown = null
  const feeding = (async () => {
    for await (const piece of packed) {
      // The piece is overwritten by the next read, and the stream may hold on to it.
      if (!gunzip.write(Buffer.from(piece)))
        await new Promise<void>((resolve) => gunzip.once('drain', resolve).once('close', resolve))
      if (gunzip.destroyed) return
    }
    gunzip.end()
  })().catch((error: unknown) => {
    fault = error
    gunzip.destroy()
  })
  let out = 0
  try {
    for await (const piece of gunzip as AsyncIterable<Buffer>) {
      out += piece.length
      if (out > most)
        throw new UnreadableFile(
          `the gzip file unpacks to more than ${most} bytes from ${size}: it is a bomb or no feed`,
        )
      yield piece
    }
  } catch (error) {
    if (error instanceof UnreadableFile) throw error
    throw new UnreadableFile(
      `the gzip file is cut off or damaged: ${error instanceof Error ? error.message : String(error)}`,
    )
  } finally {
    gunzip.destroy()
    await feeding
  }
  if (fault !== null) throw fault
}

/**
 * UTF-16, told by its mark or by a zero in every second byte of the beginning, becomes UTF-8; all
 * else passes as it is.
 */
async function* transcode(
  pieces: AsyncGenerator<Buffer, undefined>,
): AsyncGenerator<Buffer, undefined> {
  let decoder: InstanceType<typeof TextDecoder> | null | undefined
  for await (const piece of pieces) {
    if (decoder === undefined) {
      const encoding = utf16(piece)
      decoder = encoding === null ? null : new TextDecoder(encoding)
    }
    yield decoder ? Buffer.from(decoder.decode(piece, { stream: true })) : piece
  }
}

function utf16(start: Buffer): 'utf-16le' | 'utf-16be' | null {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le'
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be'
  const pairs = Math.min(start.length >> 1, 64)
  const zeros = [0, 0]
  for (let i = 0; i < pairs * 2; i++) if (start[i] === 0) zeros[i & 1]!++
  // Latin text has its zero byte in the same place of nearly every pair; a stray NUL in a line does
  // not.
  if (pairs < 4 || Math.max(...zeros) < pairs * 0.9) return null
  return zeros[1]! > zeros[0]! ? 'utf-16le' : 'utf-16be'
}
