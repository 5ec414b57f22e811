/** Answers: envelope, error body, gzip (contract "Response envelopes", "Limits"). */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import Negotiator from 'negotiator'
import { ApiError } from '../../lib/core/errors.js'
import { ENVELOPE, isSerialized } from '../../lib/core/endpoint/serialized.js'

/** Answers above this many bytes are compressed for clients that take it. */
export const GZIP_ABOVE = 50 * 1024

const LONG_TEXT = 4_096

export interface Reply {
  status: number
  headers: Record<string, string>
  body: Buffer | string
  /** Of a refusal. */
  code?: string
}

/** A payload in its envelope, or as it is. */
export function success(payload: unknown, isRaw = false): string | Buffer {
  const json = isSerialized(payload) ? payload.json : JSON.stringify(payload)
  if (isRaw) return json
  if (isSerialized(payload) && payload.inEnvelope) return payload.inEnvelope
  return typeof json === 'string'
    ? `${ENVELOPE.before}${json}${ENVELOPE.after}`
    : Buffer.concat([OPEN_BYTES, json, CLOSE_BYTES])
}

const [OPEN_BYTES, CLOSE_BYTES] = [Buffer.from(ENVELOPE.before), Buffer.from(ENVELOPE.after)]

export function failure(error: ApiError): string {
  return JSON.stringify({
    success: false,
    error: {
      code: error.code,
      message: error.message,
      ...(error.details !== undefined && { details: error.details }),
    },
  })
}

const compress = promisify(gzip)

/** Adds type and length, and compresses where that pays and is asked for. */
export async function finish(reply: Reply, acceptEncoding: string | null): Promise<Reply> {
  const { headers } = reply
  headers['content-type'] ??= 'application/json; charset=utf-8'
  // A long text is encoded once, here, instead of measured here and encoded by the socket.
  if (typeof reply.body === 'string' && reply.body.length > LONG_TEXT)
    reply.body = Buffer.from(reply.body)
  const size =
    typeof reply.body === 'string' ? Buffer.byteLength(reply.body) : reply.body.byteLength
  if (size <= GZIP_ABOVE) {
    headers['content-length'] = String(size)
    return reply
  }
  headers['vary'] = 'accept-encoding'
  if (acceptEncoding && acceptsGzip(acceptEncoding)) {
    reply.body = await compress(reply.body, { level: 1 })
    headers['content-encoding'] = 'gzip'
  }
  headers['content-length'] = String(Buffer.byteLength(reply.body))
  return reply
}

/** Whether the caller takes gzip: by name or by `*`, and with no `q=0` on it. */
export function acceptsGzip(header: string): boolean {
  const { length } = new Negotiator({ headers: { 'accept-encoding': header } }).encodings(['gzip'])
  return length > 0
}
