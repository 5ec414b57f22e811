import { existsSync } from 'node:fs'
import { MINUTE } from '../../lib/core/clock.js'
import { invalid } from '../../lib/core/errors.js'
import { presets } from '../../lib/distributors/presets/index.js'
import { checkFeed } from '../../lib/feeds/check.js'
import { redact } from '../../lib/feeds/fetch.js'
import type { FeedResult } from '../../lib/feeds/ingest.js'
import { setFeedSource, sourcesToPull } from '../../lib/feeds/source.js'
import type { FailedPull } from '../../lib/feeds/source.js'
import type { BrokenLine } from '../../lib/feeds/lines.js'
import { UsageError, optional } from '../command.js'
import type { Command, Invocation, Output } from '../command.js'
import { perform, withApp } from '../with-app.js'

const SOURCE = {
  options: { preset: { type: 'string' }, subscriber: { type: 'string' } },
  help: {
    '<DISTID>': '`distributors list` shows them', preset: `${Object.keys(presets).join(', ')}; the distributor's catalog preset by default`,
    subscriber: 'the shop whose own feed it is; the operator\'s, for all, by default',
  },
} as const

const SET = 'quartermaster feeds set DAV https://feeds.example/davidsons_inventory.csv --every 20'

function sourceOf({ args: [distid], values }: Invocation) {
  const preset = optional(values, 'preset')
  const subscriber = optional(values, 'subscriber')
  return { distid: distid!, ...preset !== undefined && { preset }, ...subscriber !== undefined && { subscriber } }
}

/** Prints what became of a feed, or under --dry-run would; 1 when it was not taken. */
function show({ out, dryRun }: Invocation, result: FeedResult | FailedPull): number {
  const done = result.outcome !== 'failed' && result.outcome !== 'refused'
  if (done) out.line(`${result.source}: ${result.outcome}. ${result.rows.toLocaleString('en-US')} rows, ${result.added} added, ${result.changed} changed, ${result.removed} removed, ${result.rejected} rejected.`)
  else out.line(`${result.source}: ${result.outcome}. The previous feed serves on.\n${result.reasons.map((reason) => `  - ${reason}`).join('\n')}`)
  if (done && result.rejects.length > 0) showRejects(out, result.rejects)
  if (dryRun) out.line('This was a dry run: nothing was changed.')
  return done ? 0 : 1
}

function showRejects(out: Output, rejects: readonly BrokenLine[]): void {
  out.table(rejects.map(({ line, reason, text }) => ({ line, reason, text: text.slice(0, 80) })))
}

function timeOf(text: string | undefined): { asOf?: number } {
  if (text === undefined) return {}
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) throw new UsageError(`--as-of "${text}" is no date; write 2026-11-21 or 2026-11-21T10:00:00Z`)
  return { asOf: ms }
}

async function importFile(invocation: Invocation): Promise<number> {
  const { args: [distid, file], values, out, dryRun } = invocation
  const input = { ...sourceOf(invocation), file: file! }
  const options = { ...timeOf(optional(values, 'as-of')), force: values['force'] === true, dryRun, onProgress: out.progress(distid!) }
  return withApp(invocation.dir, async (app) => {
    const result = await app.operator.feeds.import(input, options)
    const code = show(invocation, result)
    out.result({ ...result, dry_run: dryRun })
    return code
  })
}

async function setSource(invocation: Invocation): Promise<void> {
  const { args: [, location], values, out, dryRun } = invocation
  const minutes = Number(optional(values, 'every') ?? 20)
  if (!Number.isFinite(minutes)) throw new UsageError(`--every must be a number of minutes. For example: ${SET}`)
  const active = values['off'] !== true
  const input = { ...sourceOf(invocation), location: location!, every: minutes * MINUTE, active, allowPrivate: values['allow-private'] === true }
  await withApp(invocation.dir, async (app) => {
    const { id } = await perform(app, dryRun, (ctx) => setFeedSource(ctx, input))
    out.line(`Source ${id} ${dryRun ? 'would be' : 'is'} set${active ? `: pulled every ${minutes} minutes while a server runs` : ', but not pulled'}.`)
    out.result({ source: id, ...dryRun && { dry_run: true } })
  })
}

async function pull(invocation: Invocation): Promise<number> {
  const { args: [distid], out, dryRun } = invocation
  return withApp(invocation.dir, async (app) => {
    if (dryRun) {
      const sources = (await sourcesToPull(app.ctx, distid)).map(({ id, location }) => ({ source: id, location: redact(location!) }))
      for (const { source, location } of sources) out.line(`${source} would be pulled from ${location}.`)
      out.result({ sources, dry_run: true })
      return 0
    }
    const results = await app.operator.feeds.pull({ distid: distid!, onProgress: out.progress(distid!) })
    const codes = results.map((result) => show(invocation, result))
    out.result({ results })
    return Math.max(0, ...codes)
  })
}

async function accept(invocation: Invocation): Promise<number> {
  const { dryRun, out, args: [distid] } = invocation
  return withApp(invocation.dir, async (app) => {
    const result = await app.operator.feeds.accept(sourceOf(invocation), { dryRun, onProgress: out.progress(distid!) })
    const code = show(invocation, result)
    out.result({ ...result, dry_run: dryRun })
    return code
  })
}

async function check({ args: [name, file], out }: Invocation): Promise<number> {
  const preset = Object.hasOwn(presets, name!) ? presets[name!] : undefined
  if (!preset) throw new UsageError(`there is no preset "${name}"; known are ${Object.keys(presets).join(', ')}`)
  if (!existsSync(file!)) throw invalid('file', `cannot read ${file}`)
  const checked = await checkFeed({ preset, file: file!, rows: 20, asOf: Date.now() })
  const { reasons, rows, rejected, cut_off: cutOff } = checked
  if (checked.offers.length > 0) out.table(checked.offers)
  if (checked.rejects.length > 0) showRejects(out, checked.rejects)
  out.line(reasons.length > 0 ? `This is no feed of ${name}:\n${reasons.map((reason) => `  - ${reason}`).join('\n')}` : `${rows.toLocaleString('en-US')} rows, ${rejected} rejected${cutOff ? '; the file is cut off' : ''}.`)
  out.result(checked)
  return reasons.length > 0 ? 1 : 0
}

export const feedCommands: Command[] = [
  {
    name: 'feeds import', summary: 'Take in a local feed file, plain or gzip', effect: 'writes', positionals: ['<DISTID>', '<FILE>'],
    options: { ...SOURCE.options, 'as-of': { type: 'string' }, force: { type: 'boolean' } },
    help: {
      ...SOURCE.help, '<FILE>': 'path of the file', 'as-of': 'when the file was made; its modification time by default',
      force: 'skip the comparison with the previous feed',
    },
    example: 'quartermaster feeds import DAV ./davidsons_inventory.csv',
    run: importFile,
  },
  {
    name: 'feeds set', summary: 'Set where a distributor\'s feed is pulled from', effect: 'writes', positionals: ['<DISTID>', '<LOCATION>'],
    options: { ...SOURCE.options, every: { type: 'string' }, off: { type: 'boolean' }, 'allow-private': { type: 'boolean' } },
    help: {
      ...SOURCE.help, '<LOCATION>': 'http(s) URL, or path on the server', every: 'minutes between pulls, 20 by default',
      off: 'keep the source, but do not pull it', 'allow-private': 'the source may be on this machine or a private network',
    },
    example: SET,
    run: setSource,
  },
  {
    name: 'feeds pull', summary: 'Pull a distributor\'s sources now', effect: 'writes', positionals: ['<DISTID>'],
    help: { '<DISTID>': '`feeds status` shows whose sources are set' },
    example: 'quartermaster feeds pull DAV',
    run: pull,
  },
  {
    name: 'feeds status', summary: 'What each source last brought, and what waits for a decision', effect: 'reads',
    example: 'quartermaster feeds status',
    run: ({ dir, out }) => withApp(dir, async (app) => {
      const sources = await app.operator.feeds.status()
      out.table(sources.map(({ refused, location: _location, ...row }) => ({ ...row, refused: refused ? refused.reasons.join('; ') : null })))
      out.result({ sources })
    }),
  },
  {
    name: 'feeds accept', summary: 'Take in the feed that was last refused', effect: 'writes', positionals: ['<DISTID>'], ...SOURCE,
    example: 'quartermaster feeds accept DAV',
    run: accept,
  },
  {
    name: 'feeds check', summary: 'Show how a preset reads a file: 20 mapped rows and the rejects; writes nothing', effect: 'reads', positionals: ['<PRESET>', '<FILE>'],
    help: { '<PRESET>': Object.keys(presets).join(', '), '<FILE>': 'path of the file, plain or gzip' },
    example: 'quartermaster feeds check davidsons ./davidsons_inventory.csv',
    run: check,
  },
]
