/**
 * Every accepted save, what changed with it, and the way back (contract "Configuration": history).
 * No answer holds a secret.
 */
import { isObject } from '../core/json.js'
import type { Subscriber } from '../accounts/caller.js'
import type { ConfigurationCtx } from './ctx.js'
import { ApiError } from '../core/errors.js'
import { pointerStep } from '../core/pointer.js'
import type { ConfigurationDocument } from './document/document.js'
import { previewConfiguration, putConfiguration } from './put.js'
import type { Preview } from './put.js'
import { MASK, isSealed, mapSecrets, maskDocument, maskSealed, openSaved } from './secrets.js'

export interface SavedVersion {
  version: number
  saved_at: string
  /** `cli`, `library`, or the id of the key. */
  saved_by: string
}

/** Saves of a subscriber, newest first. */
export async function configurationHistory(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
): Promise<SavedVersion[]> {
  const rows = await ctx.read
    .selectFrom('configuration_history')
    .select(['version', 'saved_at', 'saved_by'])
    .where('subscriber_id', '=', subscriber.id)
    .orderBy('version', 'desc')
    .execute()
  return rows.map(({ version, saved_at: at, saved_by }) => ({
    version,
    saved_at: new Date(at).toISOString(),
    saved_by,
  }))
}

/**
 * The document of one version with its secrets opened; the newest by default. 404 for one that was
 * never saved.
 */
async function openVersion(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  version: number,
): Promise<ConfigurationDocument> {
  const row = await ctx.read
    .selectFrom('configuration_history')
    .select('document')
    .where('subscriber_id', '=', subscriber.id)
    .where('version', '=', version)
    .executeTakeFirst()
  if (!row)
    throw new ApiError('not_found', {
      message:
        `${subscriber.name} has no version ${version} of its configuration; \`config history\` ` +
        'lists them',
    })
  return openSaved(ctx, subscriber, {
    document: JSON.parse(row.document) as ConfigurationDocument,
    version,
  })
}

/** The document of one version, masked. */
export async function readVersion(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  version: number,
): Promise<ConfigurationDocument> {
  return maskDocument(await openVersion(ctx, subscriber, version), ctx.distributors)
}

export interface Difference {
  /** JSON Pointer. */
  path: string
  change: 'added' | 'removed' | 'changed'
  before?: unknown
  after?: unknown
}

/** What changed from one version to another. A secret shows as asterisks, and that it changed. */
export async function diffVersions(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  from: number,
  to: number,
): Promise<Difference[]> {
  const sealer = ctx.secrets.of(subscriber.id)
  const marked = async (version: number) =>
    mapSecrets(
      await openVersion(ctx, subscriber, version),
      ctx.distributors,
      (value) => new Secret(sealer.fingerprint(JSON.stringify(value))),
    )
  return differences(await marked(from), await marked(to), '')
}

/** Stands for a secret while documents are compared. */
class Secret {
  readonly print: string

  constructor(print: string) {
    this.print = print
  }

  toJSON(): string {
    return MASK
  }
}

function differences(before: unknown, after: unknown, path: string): Difference[] {
  // Of a distributor that this process does not know; whether it changed cannot be told.
  if (isSealed(before) && isSealed(after)) return []
  if (before instanceof Secret || after instanceof Secret) {
    const same = before instanceof Secret && after instanceof Secret && before.print === after.print
    return same ? [] : [changed(before, after, path)]
  }
  if (isObject(before) && isObject(after)) {
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
      differences(memberOf(before, name), memberOf(after, name), path + pointerStep(name)),
    )
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    if ([...before, ...after].every((item) => typeof item !== 'object'))
      return listDifferences(before, after, path)
    return Array.from({ length: Math.max(before.length, after.length) }, (_, i) =>
      differences(before[i], after[i], `${path}/${i}`),
    ).flat()
  }
  return before === after ? [] : [changed(before, after, path)]
}

const memberOf = (object: Record<string, unknown>, name: string) =>
  Object.hasOwn(object, name) ? object[name] : undefined

/** Of a list of plain values, what came and what went; order means nothing in any of them. */
function listDifferences(before: unknown[], after: unknown[], path: string): Difference[] {
  const [old, now] = [new Set(before), new Set(after)]
  return [
    ...[...old].filter((value) => !now.has(value)).map((value) => changed(value, undefined, path)),
    ...[...now].filter((value) => !old.has(value)).map((value) => changed(undefined, value, path)),
  ]
}

function changed(before: unknown, after: unknown, path: string): Difference {
  const plain = (value: unknown) => maskSealed(JSON.parse(JSON.stringify(value)))
  return {
    path,
    change: before === undefined ? 'added' : after === undefined ? 'removed' : 'changed',
    ...(before !== undefined && { before: plain(before) }),
    ...(after !== undefined && { after: plain(after) }),
  }
}

/** Saves an earlier version anew, its secrets with it, if it still fits the schema. */
export async function rollBack(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  version: number,
  { validate = false } = {},
): Promise<{ version: number }> {
  return putConfiguration(ctx, subscriber, {
    document: await openVersion(ctx, subscriber, version),
    validate,
  })
}

/** What `rollBack` would do, with every refusal of it; nothing is saved. */
export async function previewRollBack(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  version: number,
  { validate = false } = {},
): Promise<Preview> {
  return previewConfiguration(ctx, subscriber, {
    document: await openVersion(ctx, subscriber, version),
    validate,
  })
}
