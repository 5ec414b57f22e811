/** Whose document it is, and a candidate for it. */
import { isObject } from '../../../../lib/core/json.js'
import { findSubscriber, listSubscribers } from '../../../../lib/accounts/subscribers.js'
import type { Subscriber } from '../../../../lib/accounts/caller.js'
import { unwrap } from '../../../../lib/configuration/endpoints.js'
import { ApiError } from '../../../../lib/core/errors.js'
import type { App } from '../../../../lib/app/open.js'
import { UsageError, optional } from '../../command.js'
import type { Invocation } from '../../command.js'
import { readJsonFile } from '../../json-file.js'

export const SUBSCRIBER = {
  options: { subscriber: { type: 'string' } },
  adds: { subscriber: 'needed when there are several' },
} as const

/** The shop that --subscriber names, or the only one. */
export async function subscriberOf(
  { ctx }: App,
  values: Invocation['values'],
): Promise<Subscriber> {
  const named = optional(values, 'subscriber')
  if (named !== undefined) return findSubscriber(ctx, named)
  const all = await listSubscribers(ctx)
  const [only, ...others] = all
  if (!only)
    throw new ApiError('not_found', {
      message: 'there is no subscriber yet; `subscribers create` registers one',
    })
  if (others.length > 0)
    throw new UsageError(
      'which subscriber? Name one with --subscriber: ' +
        `${all.map(({ name, id }) => `"${name}" (${id})`).join(', ')}`,
    )
  return findSubscriber(ctx, only.id)
}

/** A candidate, as `PUT /v1/config` takes it. */
export async function readCandidate(file: string): Promise<unknown> {
  const document = await readJsonFile(file)
  return isObject(document) ? unwrap(document) : document
}
