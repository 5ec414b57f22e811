/**
 * One HTTP call to a distributor whose answer is too large for memory: it is handed on piece by
 * piece, as fast as it is taken.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { createGunzip } from 'node:zlib'
import { Readable } from 'node:stream'
import type { Egress } from './egress.js'
import {
  BROKEN_OFF,
  CallFault,
  connectionFor,
  exchange,
  headersOf,
  reasonOf,
  STALL_TIMEOUT,
  unpacked,
  wholeOf,
} from './http.js'
import type { HttpAnswer, HttpCall } from './http.js'

/**
 * Takes the pieces of an answer, unpacked. A piece may be kept. What it throws is thrown by the
 * call as it is.
 */
export type TakePieces = (
  pieces: AsyncIterable<Buffer>,
  headers: HttpAnswer['headers'],
) => Promise<void>

/** What was answered; `isTaken` where it was handed on, and its body is empty here. */
export interface StreamedAnswer extends HttpAnswer {
  readonly isTaken: boolean
}

/** Bytes of an answer that is handed on, unpacked: far more than any feed has. */
const LARGEST = 1024 ** 3
/** Bytes of one that is not: an error, or a page in HTML. */
const SMALL = 1_048_576

/**
 * Makes the call. An answer of status 200 that is no page in HTML is handed on; any other is read
 * whole. Throws a CallFault where there is no whole answer, and whatever `take` throws. `mayBegin` as
 * of `callHttp`.
 */
export async function streamHttp(
  egress: Egress,
  call: HttpCall,
  signal: AbortSignal,
  take: TakePieces,
  mayBegin: () => void = () => {},
): Promise<StreamedAnswer> {
  const url = new URL(call.url)
  const { maxBytes = LARGEST, stallTimeout = STALL_TIMEOUT } = call
  let socket: Socket | undefined
  let isBegun = false
  let ofTaker: { error: unknown } | undefined
  let taking: Promise<void> | undefined
  try {
    socket = await connectionFor(egress, url, signal)
    mayBegin()
    isBegun = true
    return await exchange({ socket, url, signal }, call, async (response) => {
      const headers = headersOf(response)
      const isPage = headers.get('content-type')?.startsWith('text/html') === true
      if (response.statusCode !== 200 || isPage) {
        const answer = await wholeOf(response, { stallTimeout, maxBytes: SMALL })
        return { ...answer, body: await unpacked(answer, SMALL), isTaken: false }
      }
      const pieces = unpackedPieces(response, headers, { maxBytes, stallTimeout })
      taking = take(pieces, headers)
      try {
        await taking
      } catch (error) {
        if (!(error instanceof StreamFault)) ofTaker = { error }
        throw error
      } finally {
        response.destroy()
      }
      return { status: 200, headers, body: Buffer.alloc(0), isTaken: true }
    })
  } catch (error) {
    // Whoever was given up still holds what was handed on.
    socket?.destroy()
    await taking?.catch(() => {})
    if (ofTaker) throw ofTaker.error
    const cause = error instanceof StreamFault ? error.cause : error
    throw new CallFault(reasonOf(cause, { maxBytes }), isBegun, cause)
  } finally {
    socket?.destroy()
  }
}

/** What went wrong with the answer itself, on its way through the taker. */
class StreamFault extends Error {
  override readonly name = 'StreamFault'
}

interface Limits {
  readonly maxBytes: number
  readonly stallTimeout: number
}

/** The pieces of a body, as they are meant. Throws a StreamFault for one that does not come whole. */
async function* unpackedPieces(
  response: IncomingMessage,
  headers: HttpAnswer['headers'],
  limits: Limits,
): AsyncGenerator<Buffer, void> {
  const encoding = headers.get('content-encoding') ?? 'identity'
  let bytes = 0
  try {
    if (encoding !== 'identity' && encoding !== 'gzip')
      throw new Error(`the answer is packed with ${encoding}`)
    const packed = packedPieces(response, limits)
    for await (const piece of encoding === 'gzip' ? gunzipped(packed) : packed) {
      bytes += piece.length
      if (bytes > limits.maxBytes)
        throw new Error(`the answer is larger than ${limits.maxBytes} bytes`)
      yield piece
    }
  } catch (error) {
    throw new StreamFault('the answer did not come whole', { cause: error })
  }
}

async function* packedPieces(
  response: IncomingMessage,
  { stallTimeout }: Limits,
): AsyncGenerator<Buffer, void> {
  const pieces = (response as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  for (;;) {
    // The time that the taker needs is not the distributor's.
    const stall = setTimeout(
      () =>
        response.destroy(new Error(`the answer stood still for ${stallTimeout / 1_000} seconds`)),
      stallTimeout,
    )
    const next = await pieces.next().finally(() => clearTimeout(stall))
    if (next.done === true) break
    yield next.value
  }
  if (!response.complete) throw new Error(BROKEN_OFF)
}

async function* gunzipped(packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  const source = Readable.from(packed, { objectMode: false })
  const gunzip = createGunzip()
  let fault: unknown
  source.once('error', (error) => {
    fault = error
    gunzip.destroy(error)
  })
  try {
    yield* source.pipe(gunzip) as AsyncIterable<Buffer>
  } catch (error) {
    throw fault ?? new Error('the packed answer is cut off or damaged', { cause: error })
  } finally {
    source.destroy()
    gunzip.destroy()
  }
}
