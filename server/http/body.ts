/** Reads the body of a request. */
import { ApiError } from '../../lib/core/errors.js'
import { MB } from '../../lib/core/figures.js'
import { jsonExcess, lineAndColumn, mayHoldCrLf, withNewlines } from '../../lib/core/json.js'

/**
 * The body as JSON; 413 while reading more than `most` bytes, 400 `invalid_json` for anything else
 * that cannot be read.
 */
export async function readBody(
  request: Request,
  { most, isOptional }: { most: number; isOptional: boolean },
): Promise<unknown> {
  const encoding = request.headers.get('content-encoding')
  if (encoding && encoding.toLowerCase() !== 'identity') {
    throw new ApiError('invalid_json', {
      message: `The body is encoded (${encoding.slice(0, 40)}); send plain JSON.`,
    })
  }
  const text = decodeText(await readBytes(request, most))
  if (text.trim() === '' && isOptional) return {}
  if (text.trim() === '')
    throw new ApiError('invalid_json', {
      message: 'The request body is empty; send a JSON object.',
    })
  const excess = jsonExcess(text)
  if (excess) throw new ApiError('invalid_json', { message: `The JSON ${excess}.` })
  try {
    const value = JSON.parse(text) as unknown
    return mayHoldCrLf(text) ? withNewlines(value) : value
  } catch (error) {
    throw new ApiError('invalid_json', {
      message: `The request body is not valid JSON: ${faultOf(text, error as Error)}.`,
    })
  }
}

/**
 * Where a body stops being JSON. The parser's own words would repeat what stands there, and that
 * may be a secret.
 */
function faultOf(text: string, { message }: Error): string {
  if (/Unexpected end|Unterminated/.test(message)) return 'it ends too early'
  const position = /at position (\d+)/.exec(message)
  if (!position) return 'it has a character that does not belong there'
  return lineAndColumn(text, Number(position[1]))
}

async function readBytes(request: Request, most: number): Promise<Buffer> {
  if (!request.body) return Buffer.alloc(0)
  const reader = request.body.getReader()
  const announced = Number(request.headers.get('content-length') ?? 0)
  const chunks: Uint8Array[] = []
  let size = 0
  while (announced <= most && size <= most) {
    const { done, value } = await reader.read().catch(() => {
      throw cutOff()
    })
    if (done) return Buffer.concat(chunks)
    size += value.byteLength
    chunks.push(value)
  }
  if (announced <= most + DRAINED) await drain(reader)
  throw tooLarge()
}

/** Bytes beyond the limit, and milliseconds, for which a body that is refused is still read. */
const DRAINED = 4 * MB
const DRAIN_TIME = 2_000

/**
 * Reads on, and throws away what comes: a connection that ends while its body is on the way is
 * reset, and neither a client nor a proxy then hears why.
 */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const end = () => reader.cancel().catch(() => {})
  const timer = setTimeout(() => void end(), DRAIN_TIME)
  try {
    for (let size = 0; size <= DRAINED;) {
      const { done, value } = await reader.read()
      if (done) return
      size += value.byteLength
    }
    await end()
  } catch {
    // It went away, and hears nothing.
  } finally {
    clearTimeout(timer)
  }
}

/** The client went away, which is no fault of ours. */
function cutOff(): ApiError {
  return new ApiError('invalid_json', { message: 'The request body was cut off; send all of it.' })
}

/** Of a body that is larger still the rest is not read: the connection cannot be used again. */
function tooLarge(): ApiError {
  return new ApiError('payload_too_large', { headers: { connection: 'close' } })
}

function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ApiError('invalid_json', { message: 'The request body is not valid UTF-8.' })
  }
}
