/** The calls of the operator's API: operations by their ids, and what a shop sees. */
import { allEndpoints } from '../../lib/app/endpoints.js'
import { allOperations } from '../../lib/app/operations/index.js'
import type { App } from '../../lib/app/open.js'
import { callEndpoint } from '../../lib/app/call.js'
import { findSubscriber } from '../../lib/accounts/subscribers.js'
import type { AnyEndpoint } from '../../lib/core/endpoint/endpoint.js'
import type { RouteId } from '../../lib/core/endpoint/routes.js'
import { ApiError, invalid } from '../../lib/core/errors.js'
import type { Session } from '../../lib/console/sessions.js'
import type { Ctx } from '../../lib/app/ctx.js'
import type { OperateOptions } from '../../lib/app/operations/run.js'
import { examineBeside } from './examine.js'
import { Refusal } from './refusals.js'
import { refuseUnconfirmed } from './session-calls.js'
import type { Uploads } from './uploads.js'
import type { LongWork } from './work.js'

/** Endpoints that change nothing, although they have a body. */
const READING: readonly RouteId[] = ['orders.quote', 'restrictions.check']

/** What a shop sees, as a page may ask it: no order is placed by it, and nothing is reported. */
export const SHOP_ENDPOINTS: readonly AnyEndpoint<Ctx>[] = allEndpoints.filter(
  ({ id, method }) => (method === 'GET' && id !== 'products.catalog') || READING.includes(id),
)

const operationsById = new Map(allOperations.map((one) => [one.id, one]))
const endpointsById = new Map(SHOP_ENDPOINTS.map((one) => [one.id as string, one]))

interface CallTools {
  app: App
  uploads: Uploads
  work: LongWork
  environment: Readonly<Record<string, string>>
}

/**
 * Runs the operation at a path, such as `keys/create`, for somebody who has signed in; long work is
 * started and answered with its id.
 */
export async function callOperation(
  { app, uploads, work, environment }: CallTools,
  path: string,
  session: Session,
  input: Record<string, unknown>,
): Promise<unknown> {
  const operation = operationsById.get(path.replace('/', '.'))
  if (!operation)
    throw new ApiError('not_found', {
      message: `There is no operation ${path.slice(0, 100)}; see /operator/openapi.json.`,
    })
  const { id, effect, asksAgain, isLong } = operation
  if (effect === 'writes' && session.role !== 'operator') throw new Refusal('viewer_may_not')
  // A trial leaves nothing behind.
  if (asksAgain && input['dry_run'] !== true) refuseUnconfirmed(app.ctx, session)
  const actor = `console:${session.name}`
  const given: OperateOptions = {
    actor,
    upload: (upload) => uploads.find(upload),
    examine: (options) => examineBeside(app.dir, { ...options, environment }),
  }
  if (!isLong) return app.operate(id, input, given)
  return {
    job: work.start(id, actor, (onProgress) => app.operate(id, input, { ...given, onProgress })),
  }
}

/** Asks what a shop would be answered; the input is `{subscriber, params, query, body}`. */
export async function callShop(
  { app }: Pick<CallTools, 'app'>,
  id: string,
  input: Record<string, unknown>,
): Promise<unknown> {
  const endpoint = endpointsById.get(id)
  if (!endpoint)
    throw new ApiError('not_found', {
      message: `There is no such call of a shop: ${id.slice(0, 100)}.`,
    })
  const { subscriber, params, query, body, ...strange } = input
  const [unknown] = Object.keys(strange)
  if (unknown !== undefined)
    throw invalid(unknown, 'is not a known member; known are subscriber, params, query, body')
  if (typeof subscriber !== 'string') throw invalid('subscriber', 'is required')
  return app.run(async () => {
    const shop = await findSubscriber(app.ctx, subscriber)
    return callEndpoint({ ...app.ctx, subscriber: shop, key: null }, endpoint.id, {
      ...partOf('params', params),
      ...partOf('query', query),
      ...partOf('body', body),
    })
  })
}

function partOf(name: string, value: unknown): Record<string, unknown> {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw invalid(name, 'must be an object')
  return value as Record<string, unknown>
}
