/** Versions of the document: reading one, and comparing two. */
import { writeFileSync } from 'node:fs'
import type { Subscriber } from '../../../../lib/accounts/caller.js'
import {
  configurationHistory,
  diffVersions,
  readVersion,
} from '../../../../lib/configuration/history.js'
import type { Difference } from '../../../../lib/configuration/history.js'
import { maskSaved } from '../../../../lib/configuration/saved-documents.js'
import { MASK } from '../../../../lib/configuration/secrets.js'
import { ApiError, codeOf, invalid } from '../../../../lib/core/errors.js'
import type { App } from '../../../../lib/app/open.js'
import { UsageError, optional } from '../../command.js'
import type { Invocation } from '../../command.js'
import { withApp } from '../../with-app.js'
import { subscriberOf } from './subscriber.js'
import { printable } from '../../faults.js'

export function versionOf(text: string, name: string): number {
  if (!/^\d{1,9}$/.test(text))
    throw new UsageError(`${name} must be the number of a version; \`config history\` lists them`)
  return Number(text)
}

export async function get(invocation: Invocation): Promise<void> {
  const { values, out, dryRun } = invocation
  const [number, file] = [optional(values, 'version'), optional(values, 'out')]
  const wanted = number === undefined ? undefined : versionOf(number, '--version')
  await withApp(invocation.dir, async (app) => {
    const subscriber = await subscriberOf(app, values)
    const earlier =
      wanted === undefined ? undefined : await readVersion(app.ctx, subscriber, wanted)
    const saved = await app.ctx.configurations.of(subscriber)
    const version = wanted ?? saved.version
    const configuration = earlier ?? maskSaved(app.ctx, saved)
    const text = JSON.stringify(configuration, null, 2)
    if (file !== undefined && !dryRun) writeOut(file, `${text}\n`)
    out.line(
      file === undefined
        ? text
        : `Version ${version} ${dryRun ? 'would be' : 'is'} written to ${file}.`,
    )
    // Of an earlier version there is no tag to save over.
    out.result({
      subscriber: subscriber.name,
      version,
      etag: version === saved.version ? saved.etag : null,
      configuration,
      ...(file !== undefined && { file }),
      ...(dryRun && { dry_run: true }),
    })
  })
}

function writeOut(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw invalid('out', `cannot write ${file} (${codeOf(error)})`)
  }
}

export async function diff({ dir, args, values, out }: Invocation): Promise<void> {
  const [from, to] = args.map((text, i) => versionOf(text, i === 0 ? '[FROM]' : '[TO]'))
  await withApp(dir, async (app) => {
    const subscriber = await subscriberOf(app, values)
    const pair = await versionsToCompare(app, subscriber, from, to)
    const differences = await diffVersions(app.ctx, subscriber, pair.from, pair.to)
    out.line(
      differences.length > 0
        ? differences.map(diffLine).join('\n')
        : `Versions ${pair.from} and ${pair.to} do not differ.`,
    )
    out.result({ subscriber: subscriber.name, ...pair, differences })
  })
}

/** The last but one and the last, where none is named. */
async function versionsToCompare(
  { ctx }: App,
  subscriber: Subscriber,
  from: number | undefined,
  to: number | undefined,
): Promise<{ from: number; to: number }> {
  if (from !== undefined && to !== undefined) return { from, to }
  const [last, previous] = await configurationHistory(ctx, subscriber)
  if (!last)
    throw new ApiError('not_found', {
      message: `${subscriber.name} has no saved configuration yet; \`config put\` saves one`,
    })
  const first = from ?? previous?.version
  if (first === undefined)
    throw new ApiError('not_found', {
      message:
        `${subscriber.name} has version ${last.version} of its configuration only; there is ` +
        'nothing to compare it with',
    })
  return { from: first, to: last.version }
}

function diffLine({ path, change, before, after }: Difference): string {
  const text = (value: unknown) => (value === MASK ? MASK : JSON.stringify(value))
  const place = path === '' ? '(document)' : path
  if (change === 'changed') return printable(`~ ${place}: ${text(before)} -> ${text(after)}`)
  return printable(
    change === 'added' ? `+ ${place}: ${text(after)}` : `- ${place}: ${text(before)}`,
  )
}
