/** One call over HTTP: its attempts, and its answer. */
import { RAW } from '../core/endpoint/routes.js'
import type { RouteId } from '../core/endpoint/routes.js'
import { begin, makeRetry, refuseAborted, retryAfterOf } from './network.js'
import type { Network } from './network.js'
import { RemoteError } from './remote-error.js'
import type { Failure } from './remote-error.js'
import { prepare } from './request.js'
import type { Prepared } from './request.js'

export interface Received {
  payload: unknown
  etag: string | null
}

/** Sends a call; reads are repeated, everything else is sent once. Rejects with RemoteError. */
export async function callRemote(
  network: Network,
  { base, key }: { base: string; key: string },
  id: RouteId,
  input: Record<string, unknown>,
): Promise<Received> {
  const prepared = prepare(base, key, id, input)
  refuseAborted(network)
  if (prepared.method !== 'GET')
    return attempt(network, base, prepared, id).catch((error: unknown) => {
      throw inDoubt(error, id, input)
    })
  const retry = makeRetry(network)
  for (;;) {
    try {
      return await attempt(network, base, prepared, id)
    } catch (error) {
      await retry(error)
    }
  }
}

async function attempt(
  network: Network,
  base: string,
  { url, ...init }: Prepared,
  id: RouteId,
): Promise<Received> {
  const { signal, within, end } = begin(network, base)
  try {
    // A key goes to the address that it was given for, and to no other.
    const request = new Request(url, { ...init, redirect: 'manual', signal })
    return await within(async () =>
      readAnswer(await network.fetch(request), {
        isRaw: RAW.has(id),
        key: init.headers['x-api-key']!,
        now: network.now,
      }),
    )
  } finally {
    end()
  }
}

/** Says what is known of a write that has no good answer, and what to do. */
function inDoubt(error: unknown, id: RouteId, input: Record<string, unknown>): unknown {
  if (!(error instanceof RemoteError) || error.outcome !== 'unknown') return error
  const advice =
    id === 'orders.place'
      ? 'Whether the order was placed is not known. Send the same request again with the same ' +
        `order_id (${String(input['order_id'])}), or look with orders.get; never place it under ` +
        'another order_id.'
      : 'Whether it was done is not known.'
  return new RemoteError({ ...error, message: `${error.message} ${advice}` })
}

/** Refusals with a 5xx that are answered only where nothing was done. */
const NOTHING_DONE = new Set([
  'distributor_unavailable',
  'feed_unavailable',
  'document_file_unavailable',
])

async function readAnswer(
  response: Response,
  { isRaw, key, now }: { isRaw: boolean; key: string; now: () => number },
): Promise<Received> {
  const { status, headers } = response
  // Who is not this API may send back what it was sent.
  const quote = (text: string, most: number) =>
    JSON.stringify(text.replaceAll(key, '(the key)').slice(0, most))
  const failed = (failure: Omit<Failure, 'status'>) =>
    new RemoteError({
      ...failure,
      status,
      retryAfter: retryAfterOf(headers, now),
      requestId: headers.get('x-request-id'),
    })
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    const location = headers.get('location')
    throw failed({
      code: 'redirected',
      outcome: 'refused',
      message:
        'The server ' +
        `redirects${location === null ? '' : ` to ${quote(location, 200)}`}. ` +
        'The key is sent nowhere else: give connect() the address of the server itself.',
    })
  }
  const text = await response.text()
  const answer = parse(text)
  if (isRaw && response.ok && answer !== undefined)
    return { payload: answer, etag: headers.get('etag') }
  if (isSuccess(answer) && response.ok) return { payload: answer.data, etag: headers.get('etag') }
  if (isFailure(answer) && !response.ok) {
    const { code, message, details } = answer.error
    throw failed({
      code,
      message,
      details,
      outcome: status < 500 || NOTHING_DONE.has(code) ? 'refused' : 'unknown',
    })
  }
  // A proxy on the way, or no Quartermaster at all.
  throw failed({
    code: 'unreadable_answer',
    outcome: 'unknown',
    message: `The answer (status ${status}) is not one of this API: it begins with ${quote(text, 80)}.`,
  })
}

function parse(text: string): object | undefined {
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function isSuccess(answer: object | undefined): answer is { success: true; data: unknown } {
  return answer !== undefined && 'success' in answer && answer.success === true && 'data' in answer
}

function isFailure(
  answer: object | undefined,
): answer is { success: false; error: { code: string; message: string; details?: unknown } } {
  if (!answer || !('success' in answer) || answer.success !== false || !('error' in answer))
    return false
  const { code, message } = (answer.error ?? {}) as Record<string, unknown>
  return typeof code === 'string' && typeof message === 'string'
}
