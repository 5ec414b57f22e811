/** Taking feeds in, and where they come from. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { figure } from '../../../../lib/core/figures.js'
import { invalid } from '../../../../lib/core/errors.js'
import { MINUTE } from '../../../../lib/core/clock.js'
import { presets } from '../../../../lib/distributors/builtin/index.js'
import { redact } from '../../../../lib/feeds/fetch/fetch.js'
import { lookAtLocation } from '../../../../lib/feeds/fetch/location.js'
import type { FeedResult } from '../../../../lib/feeds/ingest/feed.js'
import { sourcesToPull } from '../../../../lib/feeds/pull.js'
import type { FailedPull } from '../../../../lib/feeds/pull.js'
import { ACCOUNT, setFeedSource } from '../../../../lib/feeds/source.js'
import type { BrokenLine } from '../../../../lib/feeds/read/lines.js'
import { argument, DRY_RUN, UsageError, optional } from '../../command.js'
import type { Invocation } from '../../command.js'
import { perform, withApp } from '../../with-app.js'
import { cut, wrap } from '../../output.js'
import type { Output } from '../../output.js'

/** Presets of the program; documents of distributors have more. */
export const COME_WITH_IT = `with the program come ${Object.keys(presets).join(', ')}`

export const SOURCE = {
  options: { preset: { type: 'string' }, subscriber: { type: 'string' } },
  adds: { preset: COME_WITH_IT },
} as const

export const SET =
  'quartermaster feeds set DAV https://feeds.example/davidsons_inventory.csv --every 20'

function sourceOf({ args, values }: Invocation) {
  const distid = argument(args, 0)
  const preset = optional(values, 'preset')
  const subscriber = optional(values, 'subscriber')
  return {
    distid,
    ...(preset !== undefined && { preset }),
    ...(subscriber !== undefined && { subscriber }),
  }
}

/** Prints what became of a feed, or under --dry-run would; 1 when it was not taken. */
function show({ out, dryRun }: Invocation, result: FeedResult | FailedPull): number {
  const done = result.outcome !== 'failed' && result.outcome !== 'refused'
  const count = (name: 'rows' | 'added' | 'changed' | 'removed' | 'rejected') =>
    done ? `${figure(result[name])} ${name}` : ''
  if (done)
    out.line(
      wrap(
        `${result.source}: ${result.outcome}. ${count('rows')}, ${count('added')}, ` +
          `${count('changed')}, ${count('removed')}, ${count('rejected')}.`,
        out.width,
        '  ',
      ),
    )
  else
    out.line(
      [
        `${result.source}: ${result.outcome}. The previous feed serves on.`,
        ...result.reasons.map((reason) => wrap(`  - ${reason}`, out.width, '    ')),
      ].join('\n'),
    )
  if (done && result.rejects.length > 0) showRejects(out, result.rejects)
  if (dryRun) out.line(DRY_RUN)
  return done ? 0 : 1
}

export function showRejects(out: Output, rejects: readonly BrokenLine[]): void {
  out.line('Rejected rows:')
  for (const { line, reason, text } of rejects)
    out.line(`${cut(`line ${line}: ${reason}`, out.width)}\n  ${cut(text, out.width - 2)}`)
}

function timeOf(text: string | undefined): { asOf?: number } {
  if (text === undefined) return {}
  const ms = Date.parse(text)
  if (Number.isNaN(ms))
    throw new UsageError(
      `--as-of "${text}" is not a date; write 2026-11-21 or 2026-11-21T10:00:00Z`,
    )
  return { asOf: ms }
}

export async function importFile(invocation: Invocation): Promise<number> {
  const { args, values, out, dryRun } = invocation
  const distid = argument(args, 0)
  const file = argument(args, 1)
  if (existsSync(distid) && !existsSync(file))
    throw new UsageError(
      `the distributor comes first: quartermaster feeds import ${file} ${distid}`,
    )
  const input = { ...sourceOf(invocation), file }
  const options = {
    ...timeOf(optional(values, 'as-of')),
    force: values['force'] === true,
    dryRun,
    onProgress: out.progress(distid),
  }
  return withApp(invocation.dir, async (app) => {
    const result = await app.operator.feeds.import(input, options)
    const code = show(invocation, result)
    out.result({ ...result, dry_run: dryRun })
    return code
  })
}

/** A relative path is meant from where the command runs. */
const isPath = (location: string): boolean =>
  location !== ACCOUNT && location.trim() !== '' && !/^[a-z][a-z\d+.-]*:\/\//i.test(location)

export async function setSource(invocation: Invocation): Promise<void> {
  const { args, values, out, dryRun } = invocation
  const location = argument(args, 1)
  const asked = optional(values, 'every')
  if (asked !== undefined && !Number.isFinite(Number(asked)))
    throw new UsageError(`--every must be a number of minutes. For example: ${SET}`)
  const active = values['off'] !== true
  const allowPrivate = values['allow-private'] === true
  const input = {
    ...sourceOf(invocation),
    // The server may run in another folder than this command.
    location: isPath(location) ? resolve(location) : location,
    ...(asked !== undefined && { every: Number(asked) * MINUTE }),
    active,
    allowPrivate,
  }
  await withApp(invocation.dir, async (app) => {
    // What every pull would refuse; a source that is switched off is pulled by nobody.
    const { fault, doubt } =
      active && location !== ACCOUNT
        ? await lookAtLocation(location, { allowPrivate })
        : { fault: null, doubt: null }
    if (fault !== null) throw invalid('location', fault)
    const { id, every } = await perform(app, dryRun, (ctx) => setFeedSource(ctx, input))
    out.line(
      `Source ${id} ${dryRun ? 'would be' : 'is'} ` +
        'set' +
        (active
          ? `: pulled every ${every / MINUTE} minutes while a server runs`
          : ', but not pulled') +
        '.',
    )
    if (doubt !== null) out.line(`Warning: ${doubt}`)
    out.result({ source: id, ...(dryRun && { dry_run: true }) })
  })
}

export async function pull(invocation: Invocation): Promise<number> {
  const { args, out, dryRun } = invocation
  const distid = argument(args, 0)
  return withApp(invocation.dir, async (app) => {
    if (dryRun) {
      const sources = (await sourcesToPull(app.ctx, distid)).map(({ id, location }) => ({
        source: id,
        location: redact(location),
      }))
      for (const { source, location } of sources)
        out.line(`${source} would be pulled from ${location}.`)
      out.result({ sources, dry_run: true })
      return 0
    }
    const results = await app.operator.feeds.pull({
      distid,
      onProgress: out.progress(distid),
    })
    const codes = results.map((result) => show(invocation, result))
    out.result({ results })
    return Math.max(0, ...codes)
  })
}

export async function accept(invocation: Invocation): Promise<number> {
  const { dryRun, out, args } = invocation
  const distid = argument(args, 0)
  return withApp(invocation.dir, async (app) => {
    const result = await app.operator.feeds.accept(sourceOf(invocation), {
      dryRun,
      onProgress: out.progress(distid),
    })
    const code = show(invocation, result)
    out.result({ ...result, dry_run: dryRun })
    return code
  })
}
