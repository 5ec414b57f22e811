/**
 * Objects in a bucket of an S3 server; its URLs lead there, so that no file passes through this
 * process.
 */
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { MB } from '../core/figures.js'
import { DAY, SECOND } from '../core/clock.js'
import { dispositionOf, encodeStrictly } from './file-names.js'
import { openCalls } from './s3-calls.js'
import type { S3Calls, S3Options } from './s3-calls.js'
import { checkS3 } from './s3-check.js'
import type { StoreCheck } from './s3-check.js'
import { isFault, noBucket } from './s3-faults.js'
import { listObjects, listUploads } from './s3-lists.js'
import { checkKey, isKey } from './store.js'
import type { ObjectStore } from './store.js'

export interface S3Store extends ObjectStore {
  /** Tries all that the store needs, with a small object that is removed again. Throws nothing. */
  check(): Promise<StoreCheck>
  /**
   * Removes what a process that died left half uploaded below a prefix, once it is a day old;
   * nobody ever sees it, but it is paid for. Needs the right s3:ListBucketMultipartUploads; a
   * lifecycle rule of the bucket does the same.
   */
  tidy(prefix: string): Promise<void>
}

/**
 * Time limits of a request in milliseconds. A caller waits for one that hangs, so the small ones
 * are short.
 */
const SMALL = 10 * SECOND
const LISTING = 30 * SECOND
/** The server may put the parts together by copying them. */
const COMPLETING = 60 * SECOND
/** Bytes per millisecond that an upload makes at least. */
const SLOWEST = 256
/**
 * Of a larger object one part is in memory at a time. 5 MiB is the least that S3 takes, 10,000 the
 * most parts.
 */
const PART = 5 * MB
const MAX_PARTS = 10_000
/** Seconds: S3 signs for a week at most. */
const LONGEST = 7 * 86_400

/**
 * A store in a bucket. Asks nobody until it is used; `check()` tells whether it works. Its methods
 * throw a StoreFault, one line without a secret, at the latest when the time limit of a request is
 * over. Throws an Error that names the option that cannot be.
 */
export function s3Store(options: S3Options): S3Store {
  const { bucket, now } = options
  const calls = openCalls(options)
  const base = baseOf(options.prefix)
  const place: Place = { calls, bucket, base, now }
  const nameOf = (key: string) => {
    checkKey(key)
    return base + key
  }
  const store: S3Store = {
    put: async (key, file, { contentType }) => putFile(place, nameOf(key), file, contentType),
    has: async (key) => hasObject(place, nameOf(key)),
    get: async (key) => readObject(place, nameOf(key)),
    remove: async (key) => removeObject(place, nameOf(key)),
    list: (prefix) => listKeys(place, prefix),
    url: async (key, { expiresIn, fileName = '' }) =>
      signedUrl(place, nameOf(key), expiresIn, fileName),
    check: () => checkS3({ store, calls, bucket, now, nameOf }),
    tidy: (prefix) => tidyUploads(place, prefix),
  }
  return store
}

/** Where the objects of a store are. */
interface Place {
  readonly calls: S3Calls
  readonly bucket: string
  /** What comes before every key. */
  readonly base: string
  readonly now: () => number
}

async function putFile(
  { calls, bucket }: Place,
  name: string,
  file: string | Uint8Array,
  contentType: string,
): Promise<void> {
  const source = await openSource(file)
  try {
    if (source.size > PART) return await putParts(calls, bucket, { name, source, contentType })
    const bytes = await source.read(0, source.size)
    await calls.call('s3:PutObject', uploadLimit(bytes), (client) =>
      client.putObject(bucket, name, bytes, bytes.length, { 'Content-Type': contentType }),
    )
  } finally {
    await source.close()
  }
}

async function hasObject({ calls, bucket }: Place, name: string): Promise<boolean> {
  try {
    await calls.call('s3:GetObject', SMALL, (client) => client.statObject(bucket, name))
    return true
  } catch (error) {
    if (!isFault(error, 'missing')) throw error
  }
  // HEAD has no body that would say what is missing: it may be the bucket.
  if (!(await calls.call('s3:ListBucket', SMALL, (client) => client.bucketExists(bucket))))
    throw noBucket(calls.endpoint.label, bucket)
  return false
}

function readObject({ calls, bucket }: Place, name: string): Promise<Buffer> {
  return calls.call('s3:GetObject', LISTING, async (client) => {
    const parts: Buffer[] = []
    for await (const part of await client.getObject(bucket, name)) parts.push(part as Buffer)
    return Buffer.concat(parts)
  })
}

async function removeObject({ calls, bucket }: Place, name: string): Promise<void> {
  try {
    await calls.call('s3:DeleteObject', SMALL, (client) => client.removeObject(bucket, name))
  } catch (error) {
    if (!isFault(error, 'missing')) throw error
  }
}

async function listKeys(
  { calls, bucket, base }: Place,
  prefix: string,
): Promise<{ key: string; changedAt: number }[]> {
  const found = await calls.call('s3:ListBucket', LISTING, (client) =>
    listObjects(client, bucket, base + prefix),
  )
  return found
    .map(({ name, changedAt }) => ({ key: name.slice(base.length), changedAt }))
    .filter(({ key }) => isKey(key))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
}

async function signedUrl(
  { calls, bucket, now }: Place,
  name: string,
  expiresIn: number,
  fileName: string,
): Promise<string> {
  // The client would take 0 for a week.
  if (!Number.isInteger(expiresIn) || expiresIn < 1 || expiresIn > LONGEST)
    throw new Error(`a URL of S3 works for 1 to ${LONGEST} whole seconds, not for ${expiresIn}`)
  return (await calls.signer()).presignedGetObject(
    bucket,
    name,
    expiresIn,
    { 'response-content-disposition': dispositionOf(fileName) },
    new Date(now()),
  )
}

async function tidyUploads({ calls, bucket, base, now }: Place, prefix: string): Promise<void> {
  const uploads = await calls.call('s3:ListBucketMultipartUploads', LISTING, (client) =>
    listUploads(client, bucket, base + prefix),
  )
  for (const { name, uploadId, begunAt } of uploads)
    if (begunAt < now() - DAY) await abort(calls, bucket, name, uploadId)
}

function baseOf(prefix = ''): string {
  const folder = prefix.replaceAll(/^\/+|\/+$/g, '')
  if (folder !== '' && !isKey(folder))
    throw new Error(
      'prefix: must be as shop or shop/files: letters, digits, dots, dashes and underscores',
    )
  return folder === '' ? '' : `${folder}/`
}

function uploadLimit({ length }: Uint8Array): number {
  return SMALL + length / SLOWEST
}

interface Source {
  /** Bytes. */
  readonly size: number
  read(from: number, length: number): Promise<Buffer>
  close(): Promise<void>
}

async function openSource(file: string | Uint8Array): Promise<Source> {
  if (typeof file !== 'string')
    return {
      size: file.length,
      read: async (from, length) => Buffer.from(file.buffer, file.byteOffset + from, length),
      close: async () => {},
    }
  const handle = await open(file)
  const { size } = await handle.stat()
  return {
    size,
    async read(from, length) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, from)
      if (bytesRead !== length) throw new Error('the file became shorter while it was stored')
      return buffer
    },
    close: () => handle.close(),
  }
}

/**
 * In parts, which become an object all at once or never. Not by the client's own `fPutObject`: that
 * goes on with whatever upload of the same name it finds, another process' one too, and leaves its
 * parts behind when it fails.
 */
async function putParts(
  calls: S3Calls,
  bucket: string,
  { name, source, contentType }: { name: string; source: Source; contentType: string },
): Promise<void> {
  const { call } = calls
  const length = Math.max(PART, Math.ceil(source.size / MAX_PARTS))
  const uploadId = await call('s3:PutObject', SMALL, (client) =>
    client.initiateNewMultipartUpload(bucket, name, { 'Content-Type': contentType }),
  )
  try {
    const parts: { part: number; etag: string }[] = []
    for (let from = 0; from < source.size; from += length) {
      const part = parts.length + 1
      const bytes = await source.read(from, Math.min(length, source.size - from))
      // The server compares it: over TLS the client signs a part without its content.
      const headers = { 'Content-MD5': createHash('md5').update(bytes).digest('base64') }
      const { etag } = await call('s3:PutObject', uploadLimit(bytes), (client) =>
        client.uploadPart(
          {
            bucketName: bucket,
            objectName: name,
            uploadID: encodeStrictly(uploadId),
            partNumber: part,
            headers,
          },
          bytes,
        ),
      )
      parts.push({ part, etag })
    }
    await call('s3:PutObject', COMPLETING, (client) =>
      client.completeMultipartUpload(bucket, name, uploadId, parts),
    )
  } catch (error) {
    // Where this fails too, `tidy` or the bucket's lifecycle rule removes the parts; the caller
    // hears of what came first.
    await abort(calls, bucket, name, uploadId).catch(() => {})
    throw error
  }
}

async function abort(
  { call }: S3Calls,
  bucket: string,
  name: string,
  uploadId: string,
): Promise<void> {
  await call('s3:AbortMultipartUpload', SMALL, (client) =>
    client.abortMultipartUpload(bucket, name, encodeStrictly(uploadId)),
  )
}
