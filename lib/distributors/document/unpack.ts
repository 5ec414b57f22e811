/** Files of a feed that are packed, or in another encoding. */
import { createReadStream, createWriteStream } from 'node:fs'
import { rename } from 'node:fs/promises'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { TextDecoder } from 'node:util'
import { createGunzip } from 'node:zlib'
import { FeedFault } from '../account-feed.js'

/** Bytes of a file, unpacked. */
const LARGEST = 1024 ** 3

/** Unpacks a file in its place. Throws a FeedFault for one that is damaged or too large. */
export async function unpack(file: string, how: 'gzip' | 'zip'): Promise<void> {
  const to = `${file}.unpacked`
  try {
    if (how === 'gzip')
      await pipeline(
        createReadStream(file),
        createGunzip(),
        limited(),
        createWriteStream(to, { mode: 0o600 }),
      )
    else await unzip(file, to)
  } catch (error) {
    if (error instanceof FeedFault) throw error
    throw new FeedFault(`the file is no whole ${how} file`, { cause: error })
  }
  await rename(to, file)
}

/** The first file in it. */
async function unzip(file: string, to: string): Promise<void> {
  // Few feeds are packed in this way.
  const { openPromise } = (await import('yauzl')).default
  const zip = await openPromise(file)
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName.endsWith('/')) continue
      const content = await zip.openReadStreamPromise(entry)
      await pipeline(content, limited(), createWriteStream(to, { mode: 0o600 }))
      return
    }
    throw new FeedFault('the zip file holds no file')
  } finally {
    zip.close()
  }
}

function limited(): Transform {
  let bytes = 0
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      bytes += piece.length
      if (bytes > LARGEST) done(new FeedFault(`unpacked, the file is larger than ${LARGEST} bytes`))
      else done(null, piece)
    },
  })
}

/** Writes a file that is in another encoding as UTF-8, in its place. */
export async function recode(file: string, encoding: 'utf-16le'): Promise<void> {
  const to = `${file}.recoded`
  const decoder = new TextDecoder(encoding)
  await pipeline(
    createReadStream(file),
    new Transform({
      transform(piece: Buffer, _encoding, done) {
        done(null, decoder.decode(piece, { stream: true }))
      },
      flush(done) {
        done(null, decoder.decode())
      },
    }),
    createWriteStream(to, { mode: 0o600 }),
  )
  await rename(to, file)
}
