import { MINUTE } from '../../lib/core/clock.js'
import { presets } from '../../lib/distributors/presets/index.js'
import { checkFeed } from '../../lib/feeds/check.js'
import type { FeedResult } from '../../lib/feeds/ingest.js'
import { UsageError, optional } from '../command.js'
import type { Command, Invocation } from '../command.js'
import { withApp } from '../with-app.js'

const SOURCE = {
  options: { preset: { type: 'string' }, subscriber: { type: 'string' } },
  help: { preset: 'how the file is read; the distributor\'s own by default', subscriber: 'the shop whose own feed it is; the operator\'s, for all, by default' },
} as const

const SET = 'quartermaster feeds set DAV https://feeds.example/davidsons_inventory.csv --every 20'

type Outcome = FeedResult | { source: string; outcome: 'failed'; reasons: string[] }

function sourceOf({ args: [distid], values }: Invocation) {
  const preset = optional(values, 'preset')
  const subscriber = optional(values, 'subscriber')
  return { distid: distid!, ...preset !== undefined && { preset }, ...subscriber !== undefined && { subscriber } }
}

/** Prints what became of a feed; 1 when it was not taken. */
function show({ out }: Invocation, result: Outcome): number {
  if (result.outcome === 'failed' || result.outcome === 'refused') {
    out.line(`${result.source}: ${result.outcome}. The previous feed serves on.\n${result.reasons.map((reason) => `  - ${reason}`).join('\n')}`)
    return 1
  }
  out.line(`${result.source}: ${result.outcome}. ${result.rows.toLocaleString('en-US')} rows, ${result.added} added, ${result.changed} changed, ${result.removed} removed, ${result.rejected} rejected.`)
  if (result.rejects.length > 0) out.table(result.rejects.map(({ line, reason, text }) => ({ line, reason, text: text.slice(0, 80) })))
  return 0
}

function timeOf(text: string | undefined): { asOf?: number } {
  if (text === undefined) return {}
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) throw new UsageError(`--as-of "${text}" is no date; write 2026-11-21 or 2026-11-21T10:00:00Z`)
  return { asOf: ms }
}

export const feedCommands: Command[] = [
  {
    name: 'feeds import', summary: 'Take in a local feed file, plain or gzip', positionals: ['<DISTID>', '<FILE>'],
    options: { ...SOURCE.options, 'as-of': { type: 'string' }, force: { type: 'boolean' } },
    help: { ...SOURCE.help, 'as-of': 'when the file was made; its modification time by default', force: 'skip the comparison with the previous feed' },
    example: 'quartermaster feeds import DAV ./davidsons_inventory.csv',
    run: (invocation) => withApp(invocation.dir, async (app) => {
      const { args: [distid, file], values, out, dryRun } = invocation
      const onProgress = out.progress(distid!)
      const result = await app.operator.feeds.import({ ...sourceOf(invocation), file: file! }, { ...timeOf(optional(values, 'as-of')), force: values['force'] === true, dryRun, onProgress })
      const code = show(invocation, result)
      if (dryRun) out.line('Nothing was changed.')
      out.result({ ...result, dry_run: dryRun })
      return code
    }),
  },
  {
    name: 'feeds set', summary: 'Set where a distributor\'s feed is pulled from', positionals: ['<DISTID>', '<LOCATION>'],
    options: { ...SOURCE.options, every: { type: 'string' }, off: { type: 'boolean' } },
    help: { ...SOURCE.help, every: 'minutes between pulls, 20 by default', off: 'keep the source, but do not pull it' },
    example: SET,
    run: (invocation) => withApp(invocation.dir, async (app) => {
      const { args: [, location], values, out, dryRun } = invocation
      const every = Number(optional(values, 'every') ?? 20) * MINUTE
      if (!Number.isFinite(every)) throw new UsageError(`--every must be a number of minutes. For example: ${SET}`)
      if (dryRun) return out.line(`Would pull ${sourceOf(invocation).distid} every ${every / MINUTE} minutes.`)
      const { id } = await app.operator.feeds.set({ ...sourceOf(invocation), location: location!, every, active: values['off'] !== true })
      out.line(`Source ${id} is set.`)
      out.result({ source: id })
    }),
  },
  {
    name: 'feeds pull', summary: 'Pull a distributor\'s sources now', positionals: ['<DISTID>'],
    example: 'quartermaster feeds pull DAV',
    run: (invocation) => withApp(invocation.dir, async (app) => {
      if (invocation.dryRun) return invocation.out.line(`Would pull the sources of ${invocation.args[0]}.`)
      const results = await app.operator.feeds.pull({ distid: invocation.args[0]!, onProgress: invocation.out.progress(invocation.args[0]!) })
      const codes = results.map((result) => show(invocation, result))
      invocation.out.result({ results })
      return Math.max(0, ...codes)
    }),
  },
  {
    name: 'feeds status', summary: 'What each source last brought, and what waits for a decision',
    example: 'quartermaster feeds status',
    run: ({ dir, out }) => withApp(dir, async (app) => {
      const sources = await app.operator.feeds.status()
      out.table(sources.map(({ refused, location: _location, ...row }) => ({ ...row, refused: refused ? refused.reasons.join('; ') : null })))
      out.result({ sources })
    }),
  },
  {
    name: 'feeds accept', summary: 'Take in the feed that was last refused', positionals: ['<DISTID>'], ...SOURCE,
    example: 'quartermaster feeds accept DAV',
    run: (invocation) => withApp(invocation.dir, async (app) => {
      const { dryRun, out, args: [distid] } = invocation
      const result = await app.operator.feeds.accept(sourceOf(invocation), { dryRun, onProgress: out.progress(distid!) })
      const code = show(invocation, result)
      out.result({ ...result, dry_run: dryRun })
      return code
    }),
  },
  {
    name: 'feeds check', summary: 'Show how a preset reads a file: 20 mapped rows and the rejects; writes nothing', positionals: ['<PRESET>', '<FILE>'],
    example: 'quartermaster feeds check davidsons ./davidsons_inventory.csv',
    run: async ({ args: [name, file], out }) => {
      const preset = presets[name!]
      if (!preset) throw new UsageError(`there is no preset "${name}"; known are ${Object.keys(presets).join(', ')}`)
      const checked = await checkFeed({ preset, file: file!, rows: 20, asOf: Date.now() })
      out.table(checked.offers)
      if (checked.rejects.length > 0) out.table(checked.rejects.map(({ line, reason, text }) => ({ line, reason, text: text.slice(0, 80) })))
      out.result(checked)
    },
  },
]

