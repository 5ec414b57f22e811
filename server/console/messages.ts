/** Requests and answers of the console. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { inTime } from '../../lib/core/async/wait.js'
import { ApiError, isApiError } from '../../lib/core/errors.js'
import { jsonExcess } from '../../lib/core/json.js'
import { MB } from '../../lib/core/figures.js'
import { isUnavailable } from '../../lib/db/faults.js'
import type { Log } from '../../lib/core/log.js'
import { Refusal } from './refusals.js'

/** A whole set of rules fits in. */
export const MOST_BYTES = 16 * MB

export const JSON_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
} as const

/** The body as one JSON object; `{}` where there is none. */
export async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const tooLarge = `The request body is larger than ${MOST_BYTES / MB} MB.`
  refuseAnnounced(request, MOST_BYTES, tooLarge)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += (chunk as Buffer).length
    if (size > MOST_BYTES) throw new ApiError('payload_too_large', { message: tooLarge })
    chunks.push(chunk as Buffer)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  if (text.trim() === '') return {}
  const excess = jsonExcess(text)
  if (excess) throw new ApiError('invalid_json', { message: `The JSON ${excess}.` })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new ApiError('invalid_json')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ApiError('invalid_json', { message: 'The request body must be a JSON object.' })
  return value as Record<string, unknown>
}

/** Throws where a body says itself that it is larger than `most` bytes: nothing of it is read. */
export function refuseAnnounced(request: IncomingMessage, most: number, message: string): void {
  if (Number(request.headers['content-length'] ?? 0) > most)
    throw new ApiError('payload_too_large', { message })
}

/** Bytes, and milliseconds, for which a body that is refused is still read. */
const DRAINED = 4 * MB
const DRAIN_TIME = 2_000

/**
 * Reads what is left of a body, and throws it away: a connection that ends while its body is on the
 * way is reset, and the page never hears why.
 */
async function drain(request: IncomingMessage): Promise<void> {
  let size = 0
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      size += (chunk as Buffer).length
      if (size > DRAINED) return
    }
  } catch {
    // It went away, and hears nothing.
  }
}

export function sendData(
  response: ServerResponse,
  data: unknown,
  headers: Record<string, string> = {},
): void {
  send(response, 200, { success: true, data: data ?? null }, headers)
}

/** Unknown errors are logged and shown as nothing but that. */
export async function sendError(
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  error: unknown,
  log: Log,
): Promise<void> {
  if (response.headersSent) return void response.destroy()
  if (!request.readableEnded) await inTime(() => drain(request), { ms: DRAIN_TIME, late: () => {} })
  if (error instanceof Refusal) {
    const { retryAfter: wait } = error
    return send(
      response,
      error.status,
      failureOf(error),
      wait === null ? {} : { 'retry-after': String(wait) },
    )
  }
  const known = asApiError(error, log)
  send(response, known.status, failureOf(known), known.headers)
}

/** An error as an answer may tell it. */
export function asApiError(error: unknown, log: Log): ApiError {
  if (isApiError(error)) return error
  if (isUnavailable(error)) return new ApiError('service_unavailable')
  // What an operation of the command line refuses with a plain sentence.
  log.warn({ err: error }, 'an operation of the console failed')
  return new ApiError('internal_error', {
    message: error instanceof Error ? error.message : 'Unexpected error; see the log.',
  })
}

function failureOf(error: Refusal | ApiError) {
  return {
    success: false,
    error: {
      code: error.code,
      message: error.message,
      ...(error.details !== undefined && { details: error.details }),
    },
  }
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string>,
): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    ...JSON_HEADERS,
    'content-length': Buffer.byteLength(text),
    ...(status >= 400 && { connection: 'close' }),
    ...headers,
  })
  response.end(text)
}
