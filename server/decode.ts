/** Reads a request by the shapes of its endpoint (decisions 2.1, 2.8-9). */
import * as z from 'zod'
import { checkPart, refuseFaults, unwrap } from '../lib/core/endpoint.js'
import type { Endpoint } from '../lib/core/endpoint.js'
import { ApiError } from '../lib/core/errors.js'
import type { Fault } from '../lib/core/errors.js'
import { checkTexts, jsonExcess, mayHoldCrLf, withNewlines } from '../lib/core/json.js'
import { headerOf } from '../lib/routes.js'

/** 1 MB of the contract, in bytes. */
export const MAX_BODY = 1_048_576

type Kind = 'text' | 'whole' | 'number' | 'boolean'
export type Decoder = (request: Request, params: Record<string, string>, search: () => URLSearchParams) => Promise<{ params: unknown; query: unknown; headers: unknown; body: unknown }>

/** Compiles the reading of one endpoint's requests. */
export function makeDecoder(endpoint: Endpoint): Decoder {
  const kinds = new Map(Object.entries(endpoint.query.shape).map(([name, shape]) => [name, kindOf(shape as z.ZodType)]))
  const headerNames = Object.keys(endpoint.headers.shape)
  const nothing = kinds.size === 0 && headerNames.length === 0 && !endpoint.hasBody && Object.keys(endpoint.params.shape).length === 0
  return async (request, params, search) => {
    if (nothing) return { params: {}, query: {}, headers: {}, body: {} }
    const raw = endpoint.hasBody ? await readBody(request, endpoint.bodyIsOptional === true) : undefined
    const faults: Fault[] = []
    const query = withNewlines(decodeQuery(search(), kinds, faults))
    // A parameter of the path has a rule of its own, and with it a code of its own.
    checkTexts(query, faults)
    checkTexts(raw, faults)
    const headers = Object.fromEntries(headerNames.map((name) => [name, request.headers.get(headerOf(name)) ?? undefined]))
    const decoded = {
      params: checkPart(endpoint.params, params, faults),
      query: checkPart(endpoint.query, query, faults),
      headers: checkPart(endpoint.headers, headers, faults),
      body: raw === undefined ? {} : checkPart(endpoint.body, raw, faults),
    }
    refuseFaults(faults)
    return decoded
  }
}

function kindOf(shape: z.ZodType): Kind {
  const inner = unwrap(shape)
  if (inner instanceof z.ZodBoolean) return 'boolean'
  if (inner instanceof z.ZodNumber) return inner.isInt ? 'whole' : 'number'
  return 'text'
}

/** Query texts as values of their parameter's type. Unknown parameters are ignored, a repeated one is a fault. */
function decodeQuery(search: URLSearchParams, kinds: ReadonlyMap<string, Kind>, faults: Fault[]): Record<string, unknown> {
  const query: Record<string, unknown> = {}
  for (const [name, kind] of kinds) {
    const values = search.getAll(name)
    const [text] = values
    if (text === undefined) continue
    if (values.length > 1) {
      faults.push({ path: name, message: 'is given more than once; send it once' })
    } else if (kind === 'boolean') {
      if (!BOOLEANS.has(text)) faults.push({ path: name, message: 'must be true, false, 1 or 0' })
      else query[name] = BOOLEANS.get(text)
    } else if (kind === 'whole') {
      if (!/^\d+$/.test(text)) faults.push({ path: name, message: 'must be a whole number, digits alone' })
      else query[name] = Number(text)
    } else if (kind === 'number') {
      if (!/^-?(\d+(\.\d+)?|\.\d+)(e[+-]?\d+)?$/i.test(text)) faults.push({ path: name, message: 'must be a number' })
      else query[name] = Number(text)
    } else {
      query[name] = text
    }
  }
  return query
}

const BOOLEANS = new Map([['true', true], ['1', true], ['false', false], ['0', false]])

/** The body as JSON; 413 while reading, 400 `invalid_json` for anything else that cannot be read. */
async function readBody(request: Request, isOptional: boolean): Promise<unknown> {
  const encoding = request.headers.get('content-encoding')
  if (encoding && encoding.toLowerCase() !== 'identity') {
    throw new ApiError('invalid_json', { message: `The body is encoded (${encoding.slice(0, 40)}); send plain JSON.` })
  }
  const text = decodeText(await readBytes(request))
  if (text.trim() === '' && isOptional) return {}
  if (text.trim() === '') throw new ApiError('invalid_json', { message: 'The request body is empty; send a JSON object.' })
  const excess = jsonExcess(text)
  if (excess) throw new ApiError('invalid_json', { message: `The JSON ${excess}.` })
  try {
    const value = JSON.parse(text) as unknown
    return mayHoldCrLf(text) ? withNewlines(value) : value
  } catch (error) {
    throw new ApiError('invalid_json', { message: `The request body is not valid JSON: ${faultOf(text, error as Error)}.` })
  }
}

/** Where a body stops being JSON. The parser's own words would repeat what stands there, and that may be a secret. */
function faultOf(text: string, { message }: Error): string {
  if (/Unexpected end|Unterminated/.test(message)) return 'it ends too early'
  const position = /at position (\d+)/.exec(message)
  if (!position) return 'it has a character that does not belong there'
  const before = text.slice(0, Number(position[1])).split('\n')
  return `line ${before.length}, column ${before.at(-1)!.length + 1}`
}

async function readBytes(request: Request): Promise<Buffer> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > MAX_BODY) throw tooLarge()
  if (!request.body) return Buffer.alloc(0)
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = request.body.getReader()
  for (;;) {
    const { done, value } = await reader.read().catch(() => { throw cutOff() })
    if (done) return Buffer.concat(chunks)
    size += value.byteLength
    if (size > MAX_BODY) {
      await reader.cancel().catch(() => {})
      throw tooLarge()
    }
    chunks.push(value)
  }
}

/** The client went away, which is no fault of ours. */
function cutOff(): ApiError {
  return new ApiError('invalid_json', { message: 'The request body was cut off; send all of it.' })
}

/** The rest of the body is not read, so the connection cannot be used again. */
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
