/** The bytes behind a signed URL, gone on with where a connection breaks. */
import { begin, makeRetry, retryAfterOf } from './network.js'
import type { Attempt, Network } from './network.js'
import { RemoteError } from './remote-error.js'
import type { Failure } from './remote-error.js'

/** What is known of a file that is being read. */
export interface Got {
  bytes: number
  /** Null where the store does not tell. */
  total: number | null
  etag: string | null
}

/**
 * Reads a URL as a whole; `got` is kept up to date. A broken connection is gone on with from where
 * it broke, as long as the attempts last. No key is sent. Throws RemoteError.
 */
export async function* readUrl(
  network: Network,
  url: string,
  got: Got,
): AsyncGenerator<Uint8Array, void, undefined> {
  const host = URL.canParse(url) ? new URL(url) : null
  if (!host || !/^https?:$/.test(host.protocol))
    throw new RemoteError({
      code: 'invalid_url',
      outcome: 'refused',
      message:
        `The export has no address on the network (${url.replace(/[:?].*/s, '').slice(0, 20)}:): the ` +
        'app keeps its files where no URL leads. Open it with a store on disk or in S3.',
    })
  const retry = makeRetry(network)
  for (;;) {
    const attempt = begin(network, host.origin)
    try {
      return yield* piecesOf(network, attempt, url, got)
    } catch (error) {
      await retry(error)
    } finally {
      attempt.end()
    }
  }
}

async function* piecesOf(
  network: Network,
  { signal, within }: Attempt,
  url: string,
  got: Got,
): AsyncGenerator<Uint8Array, void, undefined> {
  // Packed on its way, a file could be neither measured nor gone on with.
  const headers: Record<string, string> = { 'accept-encoding': 'identity' }
  if (got.bytes > 0) headers['range'] = `bytes=${got.bytes}-`
  if (got.bytes > 0 && got.etag !== null) headers['if-range'] = got.etag
  const response = await within(() =>
    network.fetch(new Request(url, { headers, redirect: 'manual', signal })),
  )
  if (response.status !== 200 && response.status !== 206) throw refusalOf(response, network.now)
  let skip = begun(response, got)
  const reader = response.body?.getReader()
  while (reader) {
    const { done, value } = await within(() => reader.read())
    if (done) break
    const piece = value.subarray(Math.min(skip, value.length))
    skip -= value.length - piece.length
    if (piece.length === 0) continue
    got.bytes += piece.length
    yield piece
  }
  if (got.total !== null && got.bytes !== got.total)
    throw new RemoteError({
      code: 'connection_lost',
      outcome: 'unknown',
      message: `The download ended after ${got.bytes} of ${got.total} bytes.`,
    })
}

/** Notes what an answer says of the file. Returns how many of its bytes are there already. */
function begun({ status, headers }: Response, got: Got): number {
  const [, from, whole] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? []
  const length =
    headers.has('content-length') && !headers.has('content-encoding')
      ? Number(headers.get('content-length'))
      : null
  const total = status === 206 ? Number(whole) : length
  const etag = headers.get('etag')
  const isOther =
    got.bytes > 0 &&
    ((got.total !== null && total !== null && total !== got.total) ||
      (got.etag !== null && etag !== got.etag))
  if (isOther || (status === 206 && Number(from) !== got.bytes))
    throw damaged('The file changed while it was downloaded.')
  got.total = total
  got.etag = etag?.startsWith('"') ? etag : null
  return status === 206 ? 0 : got.bytes
}

export function damaged(message: string): RemoteError {
  return new RemoteError({
    code: 'damaged_file',
    outcome: 'refused',
    message: `${message} Nothing was kept of it.`,
  })
}

function refusalOf({ status, type, headers }: Response, now: () => number): RemoteError {
  const failure = (failed: Pick<Failure, 'code' | 'message'>) =>
    new RemoteError({
      ...failed,
      outcome: 'refused',
      status,
      retryAfter: retryAfterOf(headers, now),
      requestId: headers.get('x-request-id'),
    })
  if (status === 401 || status === 403 || status === 410)
    return failure({
      code: 'invalid_url',
      message:
        `The URL of the export is refused (status ${status}): it has expired, or was changed on ` +
        'its way. A new one comes with the next export.',
    })
  if (status === 404)
    return failure({
      code: 'not_found',
      message: 'The file of the export is no longer there. A new one comes with the next export.',
    })
  if (type === 'opaqueredirect' || (status >= 300 && status < 400))
    return failure({
      code: 'redirected',
      message: `The URL of the export redirects (status ${status}), which is not followed.`,
    })
  return failure({
    code: 'unreadable_answer',
    message: `The URL of the export answers with status ${status}.`,
  })
}
