/**
 * A document that is kept in memory as it is sent: with its ETag, and compressed once where that
 * pays.
 */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { GZIP_ABOVE, acceptsGzip } from '../http/reply.js'
import type { Reply } from '../http/reply.js'

export interface Document {
  body: Buffer
  /** Null where it is small. */
  gzipped: Buffer | null
  etag: string
  headers: Record<string, string>
}

const compress = promisify(gzip)

export async function makeDocument(
  content: string | Buffer,
  headers: Record<string, string>,
): Promise<Document> {
  const body = typeof content === 'string' ? Buffer.from(content) : content
  return {
    body,
    headers,
    gzipped: body.byteLength > GZIP_ABOVE ? await compress(body, { level: 9 }) : null,
    // A weak one: it stands for both codings.
    etag: `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
  }
}

/** The answer to a GET or HEAD; 304 where the caller has the document. */
export function sendDocument(
  { body, gzipped, etag, headers }: Document,
  request: Request,
  base: Record<string, string>,
): Reply {
  const all = { ...base, ...headers, etag, ...(gzipped && { vary: 'accept-encoding' }) }
  if (isHeld(request.headers.get('if-none-match'), etag))
    return { status: 304, headers: all, body: '' }
  const isGzipped = gzipped !== null && acceptsGzip(request.headers.get('accept-encoding') ?? '')
  const sent = isGzipped ? gzipped : body
  return {
    status: 200,
    headers: {
      ...all,
      ...(isGzipped && { 'content-encoding': 'gzip' }),
      'content-length': String(sent.byteLength),
    },
    body: sent,
  }
}

function isHeld(condition: string | null, etag: string): boolean {
  if (condition === null) return false
  const plain = (tag: string) => tag.trim().replace(/^W\//, '')
  return condition.trim() === '*' || condition.split(',').some((tag) => plain(tag) === plain(etag))
}
