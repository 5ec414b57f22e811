/** Whether a bucket can do all that the store needs, asked before anybody waits for a file. */
import { randomBytes } from 'node:crypto'
import { MINUTE, SECOND } from '../core/clock.js'
import { kindOf } from '../core/errors.js'
import type { S3Calls } from './s3-calls.js'
import { StoreFault, describeSkew, isFault, oneLine, skewOf } from './s3-faults.js'
import type { ObjectStore } from './store.js'

export interface StoreCheck {
  /**
   * `wrong`: nothing will work until somebody changes it. `doubtful`: it cannot be told now (nobody
   * answers, or not from here), or works and may not for long.
   */
  verdict: 'works' | 'doubtful' | 'wrong'
  /** What was found, in one line without a secret. */
  line: string
}

interface Parts {
  store: ObjectStore
  calls: S3Calls
  bucket: string
  now: () => number
  nameOf: (key: string) => string
}

/** Milliseconds for each request of the self-test. */
const LIMIT = 10 * SECOND
/** Seconds that the URL of the self-test works. */
const URL_SECONDS = 60

/**
 * Writes a small object, asks for it, reads it by its URL, lists and removes it, and begins an
 * upload in parts.
 */
export async function checkS3(parts: Parts): Promise<StoreCheck> {
  const { store, calls, bucket } = parts
  const key = `self-test/${randomBytes(12).toString('hex')}.txt`
  const bytes = randomBytes(16).toString('hex')
  let isThere = false
  try {
    await store.put(key, Buffer.from(bytes), { contentType: 'text/plain' })
    isThere = true
    if (!(await store.has(key)))
      return {
        verdict: 'wrong',
        line: `S3 at ${calls.endpoint.label} has not kept what it was given in bucket "${bucket}"`,
      }
    await store.list('self-test/')
    await tryParts(parts, key)
    const found = await readByUrl(parts, key, bytes)
    await store.remove(key)
    isThere = false
    return (
      found ?? {
        verdict: 'works',
        line: `files are kept in bucket "${bucket}" of S3 at ${calls.endpoint.label}`,
      }
    )
  } catch (error) {
    if (isFault(error, 'unreachable'))
      return { verdict: 'doubtful', line: (error as StoreFault).message }
    return {
      verdict: 'wrong',
      line: oneLine(error instanceof Error ? error.message : String(error)),
    }
  } finally {
    // Of a test that failed; what failed was told.
    if (isThere) await store.remove(key).catch(() => {})
  }
}

/** A large file needs a right of its own. */
async function tryParts({ calls, bucket, nameOf }: Parts, key: string): Promise<void> {
  const uploadId = await calls.call('s3:PutObject', LIMIT, (client) =>
    client.initiateNewMultipartUpload(bucket, nameOf(key), { 'Content-Type': 'text/plain' }),
  )
  await calls.call('s3:AbortMultipartUpload', LIMIT, (client) =>
    client.abortMultipartUpload(bucket, nameOf(key), encodeURIComponent(uploadId)),
  )
}

/** As a caller would: with the URL alone. Null when all is well. */
async function readByUrl(
  { store, calls, bucket, now }: Parts,
  key: string,
  bytes: string,
): Promise<StoreCheck | null> {
  const url = await store.url(key, { expiresIn: URL_SECONDS })
  const at = calls.publicEndpoint.label
  const signed = await get(url)
  // Callers may reach an address that this machine does not.
  if ('error' in signed)
    return {
      verdict: 'doubtful',
      line:
        `a signed URL cannot be read at ${at} from this machine (${signed.error}); files are ` +
        'stored all the same',
    }
  const skew = skewOf(signed.date, now())
  if (signed.status >= 500)
    return { verdict: 'doubtful', line: `S3 at ${at} answers ${signed.status} to a signed URL` }
  if (signed.status !== 200) return { verdict: 'wrong', line: refusedUrl(at, signed, skew) }
  if (signed.body !== bytes)
    return {
      verdict: 'wrong',
      line:
        `a signed URL at ${at} answers something else than what was stored: does it lead to the ` +
        'same server?',
    }
  const unsigned = await get(url.replace(/\?.*/s, ''))
  if ('status' in unsigned && unsigned.status === 200)
    return {
      verdict: 'wrong',
      line: `bucket "${bucket}" is public: anybody reads it without a signature; make it private`,
    }
  return skew !== null && Math.abs(skew) > MINUTE
    ? {
        verdict: 'doubtful',
        line:
          `this machine's clock is ${describeSkew(skew)} that of S3 at ${at}; set it, since ` +
          'from 15 minutes on nothing works',
      }
    : null
}

function refusedUrl(at: string, { status, body }: Got, skew: number | null): string {
  if (status === 403 && skew !== null && Math.abs(skew) > 15 * MINUTE)
    return `this machine's clock is off: ${describeSkew(skew)} that of S3 at ${at}`
  const [, code = ''] = /<Code>(\w+)<\/Code>/.exec(body) ?? []
  return (
    `a signed URL cannot be read at ${at}, which answers ${[status, code].join(' ').trim()}: it ` +
    'must lead to the same server, with host, path and query as they are'
  )
}

interface Got {
  status: number
  body: string
  date: string | null
}

async function get(url: string): Promise<Got | { error: string }> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(LIMIT) })
    return {
      status: response.status,
      body: await response.text(),
      date: response.headers.get('date'),
    }
  } catch (error) {
    return {
      error:
        error instanceof Error && error.name === 'TimeoutError'
          ? `no answer within ${LIMIT / SECOND} seconds`
          : kindOf(error),
    }
  }
}
