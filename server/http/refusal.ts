/** What is answered where an error was thrown. */
import { ApiError, isApiError } from '../../lib/core/errors.js'
import { isAway, isCommitUnknown, isUnavailable } from '../../lib/db/faults.js'
import type { App } from '../../lib/app/open.js'
import { noteOutage } from './outage.js'
import { failure, finish } from './reply.js'
import type { Reply } from './reply.js'

/** The answer to whoever cannot have what was asked for, with these headers beside its own. */
export async function refuse(
  app: App,
  error: unknown,
  headers: Record<string, string>,
  request: Request,
): Promise<Reply> {
  const refusal = toApiError(app, error, headers['x-request-id']!)
  return finish(
    {
      status: refusal.status,
      headers: { ...headers, ...refusal.headers },
      body: failure(refusal),
      code: refusal.code,
    },
    request.headers.get('accept-encoding'),
  )
}

/**
 * Unknown errors are logged with the request id and shown as nothing but that; a database that is
 * away is told of once, whoever asks for it.
 */
function toApiError(app: App, error: unknown, requestId: string): ApiError {
  if (isApiError(error)) return error
  if (isAway(error)) noteOutage(app, error)
  else app.ctx.log.error({ err: error, requestId }, 'a request failed')
  // What became of a commit is found out by asking again, which a 503 asks for.
  if (isUnavailable(error) || isCommitUnknown(error))
    return new ApiError('service_unavailable', { headers: { 'retry-after': '1' } })
  return new ApiError('internal_error', { details: { request_id: requestId } })
}
