/**
 * Files of the object store that our own server sends: signed URLs outside of /v1, without a key
 * and never counted.
 */
import { ApiError } from '../../lib/core/errors.js'
import { dispositionOf } from '../../lib/objects/file-names.js'
import type { OpenObject, SignedAddress } from '../../lib/objects/store.js'
import type { App } from '../../lib/app/open.js'
import { baseHeaders } from './handle.js'
import type { Incoming } from './handle.js'
import { refuse } from './refusal.js'
import type { Reply } from './reply.js'

/** A reply whose body may be read piece by piece. */
export type StreamReply = Omit<Reply, 'body'> & { body: Reply['body'] | ReadableStream<Uint8Array> }

const FOLDER = '/objects/'

/** The handler of `/objects/**`; null where the URLs of the store lead elsewhere. */
export function makeObjectHandler(app: App): ((incoming: Incoming) => Promise<StreamReply>) | null {
  const { objects } = app.ctx
  const open = objects.open?.bind(objects)
  if (!open) return null
  return async ({ request, path, search }) => {
    const headers = baseHeaders(app, request)
    try {
      if (request.method !== 'GET' && request.method !== 'HEAD')
        throw new ApiError('method_not_allowed', {
          message: 'Files are read with GET or HEAD.',
          headers: { allow: 'GET, HEAD' },
        })
      const address = addressOf(path, search())
      const object = await open(address)
      return await send(request, object, {
        ...headers,
        'content-disposition': dispositionOf(address.fileName),
      })
    } catch (error) {
      return refuse(app, error, headers, request)
    }
  }
}

/** Each parameter once and no other: what was added to a URL would make it another one. */
function addressOf(path: string, search: URLSearchParams): SignedAddress {
  const names = [...search.keys()]
  const known = ['expires', 'name', 'signature']
  if (
    !path.startsWith(FOLDER) ||
    names.some((name, i) => !known.includes(name) || names.indexOf(name) !== i)
  )
    throw new ApiError('invalid_url')
  return {
    key: path.slice(FOLDER.length),
    expires: search.get('expires') ?? '',
    fileName: search.get('name') ?? '',
    signature: search.get('signature') ?? '',
  }
}

async function send(
  request: Request,
  object: OpenObject,
  given: Record<string, string>,
): Promise<StreamReply> {
  const { size, etag, contentType } = object
  const headers: Record<string, string> = {
    ...given,
    'content-type': contentType,
    'accept-ranges': 'bytes',
    etag,
    'x-content-type-options': 'nosniff',
  }
  const whole = { status: 200, headers: { ...headers, 'content-length': String(size) } }
  if (request.method === 'HEAD') {
    await object.close()
    return { ...whole, body: '' }
  }
  const range = rangeOf(request.headers, object)
  if (range === null) return { ...whole, body: object.stream(0, size - 1) }
  if (range === 'unsatisfiable') {
    await object.close()
    return {
      status: 416,
      headers: { ...headers, 'content-range': `bytes */${size}`, 'content-length': '0' },
      body: '',
    }
  }
  const [from, to] = range
  return {
    status: 206,
    headers: {
      ...headers,
      'content-range': `bytes ${from}-${to}/${size}`,
      'content-length': String(to + 1 - from),
    },
    body: object.stream(from, to),
  }
}

/**
 * First and last byte of a single range; null where all of it is asked for: several ranges, and
 * what is no range, count as none (RFC 9110).
 */
function rangeOf(
  headers: Headers,
  { size, etag }: OpenObject,
): [number, number] | 'unsatisfiable' | null {
  const condition = headers.get('if-range')
  if (condition !== null && condition !== etag) return null
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(
    headers.get('range')?.replaceAll(' ', '') ?? '',
  )
  if (!match || match[0].length === 'bytes=-'.length) return null
  const [, first, last] = match as unknown as [string, string, string]
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'unsatisfiable' : [size - length, size - 1]
  }
  const from = Number(first)
  const to = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < from) return null
  return from >= size ? 'unsatisfiable' : [from, to]
}
