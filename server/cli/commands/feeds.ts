import { existsSync } from 'node:fs'
import { MINUTE } from '../../../lib/core/clock.js'
import { invalid } from '../../../lib/core/errors.js'
import { builtin } from '../../../lib/distributors/index.js'
import type { Preset } from '../../../lib/distributors/generic/preset.js'
import { presets } from '../../../lib/distributors/generic/presets.js'
import { makeRegistry } from '../../../lib/distributors/registry.js'
import { checkFeed } from '../../../lib/feeds/check.js'
import type { CheckedFeed } from '../../../lib/feeds/check.js'
import { redact } from '../../../lib/feeds/fetch/fetch.js'
import type { FeedResult } from '../../../lib/feeds/ingest/feed.js'
import { sourcesToPull } from '../../../lib/feeds/pull.js'
import type { FailedPull } from '../../../lib/feeds/pull.js'
import { setFeedSource } from '../../../lib/feeds/source.js'
import type { BrokenLine } from '../../../lib/feeds/read/lines.js'
import { bestPreset, presetFor } from '../../../lib/feeds/suggest.js'
import type { App } from '../../../lib/app/open.js'
import { UsageError, cut, optional, wrap } from '../command.js'
import type { Command, Invocation, Output } from '../command.js'
import { isInstallation, perform, withApp } from '../with-app.js'

const SOURCE = {
  options: { preset: { type: 'string' }, subscriber: { type: 'string' } },
  help: {
    '<DISTID>': '`distributors list` shows them',
    preset: `${Object.keys(presets).join(', ')}; the distributor's catalog preset by default`,
    subscriber: "the shop whose own feed it is; the operator's, for all, by default",
  },
} as const

const SET = 'quartermaster feeds set DAV https://feeds.example/davidsons_inventory.csv --every 20'

function sourceOf({ args: [distid], values }: Invocation) {
  const preset = optional(values, 'preset')
  const subscriber = optional(values, 'subscriber')
  return {
    distid: distid!,
    ...(preset !== undefined && { preset }),
    ...(subscriber !== undefined && { subscriber }),
  }
}

/** Prints what became of a feed, or under --dry-run would; 1 when it was not taken. */
function show({ out, dryRun }: Invocation, result: FeedResult | FailedPull): number {
  const done = result.outcome !== 'failed' && result.outcome !== 'refused'
  const count = (name: 'rows' | 'added' | 'changed' | 'removed' | 'rejected') =>
    done ? `${result[name].toLocaleString('en-US')} ${name}` : ''
  if (done)
    out.line(
      wrap(
        `${result.source}: ${result.outcome}. ${count('rows')}, ${count('added')}, ${count('changed')}, ${count('removed')}, ${count('rejected')}.`,
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
  if (dryRun) out.line('This was a dry run: nothing was changed.')
  return done ? 0 : 1
}

function showRejects(out: Output, rejects: readonly BrokenLine[]): void {
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

async function importFile(invocation: Invocation): Promise<number> {
  const {
    args: [distid, file],
    values,
    out,
    dryRun,
  } = invocation
  const input = { ...sourceOf(invocation), file: file! }
  const options = {
    ...timeOf(optional(values, 'as-of')),
    force: values['force'] === true,
    dryRun,
    onProgress: out.progress(distid!),
  }
  return withApp(invocation.dir, async (app) => {
    const result = await app.operator.feeds.import(input, options)
    const code = show(invocation, result)
    out.result({ ...result, dry_run: dryRun })
    return code
  })
}

async function setSource(invocation: Invocation): Promise<void> {
  const {
    args: [, location],
    values,
    out,
    dryRun,
  } = invocation
  const minutes = Number(optional(values, 'every') ?? 20)
  if (!Number.isFinite(minutes))
    throw new UsageError(`--every must be a number of minutes. For example: ${SET}`)
  const active = values['off'] !== true
  const input = {
    ...sourceOf(invocation),
    location: location!,
    every: minutes * MINUTE,
    active,
    allowPrivate: values['allow-private'] === true,
  }
  await withApp(invocation.dir, async (app) => {
    const { id } = await perform(app, dryRun, (ctx) => setFeedSource(ctx, input))
    out.line(
      `Source ${id} ${dryRun ? 'would be' : 'is'} set${active ? `: pulled every ${minutes} minutes while a server runs` : ', but not pulled'}.`,
    )
    out.result({ source: id, ...(dryRun && { dry_run: true }) })
  })
}

async function pull(invocation: Invocation): Promise<number> {
  const {
    args: [distid],
    out,
    dryRun,
  } = invocation
  return withApp(invocation.dir, async (app) => {
    if (dryRun) {
      const sources = (await sourcesToPull(app.ctx, distid)).map(({ id, location }) => ({
        source: id,
        location: redact(location!),
      }))
      for (const { source, location } of sources)
        out.line(`${source} would be pulled from ${location}.`)
      out.result({ sources, dry_run: true })
      return 0
    }
    const results = await app.operator.feeds.pull({
      distid: distid!,
      onProgress: out.progress(distid!),
    })
    const codes = results.map((result) => show(invocation, result))
    out.result({ results })
    return Math.max(0, ...codes)
  })
}

async function accept(invocation: Invocation): Promise<number> {
  const {
    dryRun,
    out,
    args: [distid],
  } = invocation
  return withApp(invocation.dir, async (app) => {
    const result = await app.operator.feeds.accept(sourceOf(invocation), {
      dryRun,
      onProgress: out.progress(distid!),
    })
    const code = show(invocation, result)
    out.result({ ...result, dry_run: dryRun })
    return code
  })
}

/**
 * The names of a record with their values, as many to a line as fit; a long value is cut to its
 * line, attributes go on.
 */
function recordLines(record: Record<string, unknown>, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const [name, value] of Object.entries(record)) {
    const told = valueText(value)
    if (told === '') continue
    if (name === 'attributes') {
      lines.push(line, ...wrap(`    ${name} ${told}`, width, '      ').split('\n'))
      line = ''
      continue
    }
    const text = cut(`${name} ${told}`, width - 4)
    if (line !== '' && line.length + 2 + text.length > width) {
      lines.push(line)
      line = `    ${text}`
    } else line += (line === '' ? '' : '  ') + text
  }
  return [...lines, line].filter((text) => text !== '')
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map((item) => (item as { src: string }).src).join(' ')
  if (typeof value === 'object')
    return Object.entries(value)
      .map(([name, text]) => `${name}=${text}`)
      .join(', ')
  return String(value)
}

/**
 * What import would do with the file; with an installation at hand, it is asked. Null where there
 * is none.
 */
async function wouldImport(
  { dir }: Invocation,
  preset: Preset,
  file: string,
): Promise<FeedResult | null> {
  if (!isInstallation(dir)) return null
  return withApp(dir, (app) =>
    app.operator.feeds.import({ distid: preset.distid, preset: preset.id, file }, { dryRun: true }),
  )
}

async function check(invocation: Invocation): Promise<number> {
  const {
    args: [name, file],
    out,
  } = invocation
  const registry = makeRegistry(builtin)
  const preset = presetFor(registry, name!)
  if (!preset)
    throw new UsageError(
      `there is no preset "${name}"; known are ${[...registry.presets.keys()].join(', ')}`,
    )
  if (!existsSync(file!)) throw invalid('file', `cannot read ${file}`)
  const checked = await checkFeed({ preset, file: file!, rows: 20, asOf: Date.now() })
  const best = await bestPreset(registry, file!, preset)
  const better = best && best !== preset ? best : null
  const would = checked.reasons.length > 0 ? null : await wouldImport(invocation, preset, file!)
  const refused = would ? would.reasons : [...checked.reasons, ...checked.refused]
  for (const offer of checked.offers) out.line(recordLines(offer, out.width).join('\n'))
  if (checked.rejects.length > 0) showRejects(out, checked.rejects)
  if (checked.offers.length > 0) out.line('')
  for (const text of verdict(checked, would, refused, preset)) out.line(wrap(text, out.width, '  '))
  // On a line of its own and whole, so that it can be copied.
  if (better)
    out.line(
      `It reads better with the preset ${better.id}:\n  quartermaster feeds import ${better.distid} ${file} --preset ${better.id}`,
    )
  out.result({
    preset: preset.id,
    distid: preset.distid,
    ...checked,
    refused,
    better_preset: better?.id ?? null,
    import: would,
  })
  return refused.length > 0 ? 1 : 0
}

function verdict(
  { reasons, rows, rejected }: CheckedFeed,
  would: FeedResult | null,
  refused: readonly string[],
  preset: Preset,
): string[] {
  const because = refused.map((reason) => `- ${reason}`)
  if (reasons.length > 0)
    return [`This is not a feed of ${preset.id}; import would refuse it:`, ...because]
  const read = `${rows.toLocaleString('en-US')} rows read with ${preset.id} (${preset.distid}), ${rejected.toLocaleString('en-US')} rejected.`
  if (refused.length > 0) return [read, 'Import would refuse it:', ...because]
  if (!would)
    return [
      read,
      'Import would take it as a first feed. With an installation in --dir it is compared with the last one.',
    ]
  if (would.outcome === 'unchanged')
    return [read, `Import would change nothing: ${would.source} has this file already.`]
  const count = (value: number) => value.toLocaleString('en-US')
  return [
    read,
    `Import would take it into ${would.source}: ${count(would.added)} added, ${count(would.changed)} changed, ${count(would.removed)} removed.`,
  ]
}

type SourceStatus = Awaited<ReturnType<App['operator']['feeds']['status']>>[number]

/** One line for each source, and below it what somebody should know, in lines that fit. */
function statusLines(sources: readonly SourceStatus[], width: number): string[] {
  if (sources.length === 0) return ['(none)']
  const minute = (iso: string | null) => iso?.slice(0, 16).replace('T', ' ') ?? '-'
  const wide = Math.max(6, ...sources.map(({ source }) => source.length))
  const row = (source: string, cells: readonly string[]) =>
    [source.padEnd(wide), ...cells.map((cell, i) => cell.padStart([9, 8, 16, 6][i]!))].join('  ')
  const lines = [row('source', ['offers', 'rejected', 'as of (UTC)', 'every'])]
  for (const {
    source,
    offers,
    rejected,
    as_of: asOf,
    every_minutes: every,
    last_pull: pulled,
    last_outcome: outcome,
    refused,
    warnings,
  } of sources) {
    lines.push(
      row(source, [
        offers.toLocaleString('en-US'),
        rejected.toLocaleString('en-US'),
        minute(asOf),
        every === null ? '-' : `${every} m`,
      ]),
    )
    const told = [
      ...(pulled ? [`last pull ${minute(pulled)}: ${outcome ?? 'not finished'}`] : []),
      ...(refused
        ? [
            `waits for \`feeds accept\` since ${minute(refused.at)}:`,
            ...refused.reasons.map((reason) => `- ${reason}`),
          ]
        : []),
      ...warnings.map((warning) => `warning: ${warning}`),
    ]
    for (const text of told)
      lines.push(
        ...wrap(text, width - 2, '  ')
          .split('\n')
          .map((line) => `  ${line}`),
      )
  }
  return lines
}

export const feedCommands: Command[] = [
  {
    name: 'feeds import',
    summary: 'Take in a local feed file, plain or gzip',
    effect: 'writes',
    positionals: ['<DISTID>', '<FILE>'],
    options: { ...SOURCE.options, 'as-of': { type: 'string' }, force: { type: 'boolean' } },
    help: {
      ...SOURCE.help,
      '<FILE>': 'path of the file',
      'as-of': 'when the file was made; its modification time by default',
      force: 'skip the comparison with the previous feed',
    },
    example: 'quartermaster feeds import DAV ./davidsons_inventory.csv',
    run: importFile,
  },
  {
    name: 'feeds set',
    summary: "Set where a distributor's feed is pulled from",
    effect: 'writes',
    positionals: ['<DISTID>', '<LOCATION>'],
    options: {
      ...SOURCE.options,
      every: { type: 'string' },
      off: { type: 'boolean' },
      'allow-private': { type: 'boolean' },
    },
    help: {
      ...SOURCE.help,
      '<LOCATION>': 'http(s) URL, or path on the server',
      every: 'minutes between pulls, 20 by default',
      off: 'keep the source, but do not pull it',
      'allow-private': 'the source may be on this machine or a private network',
    },
    example: SET,
    run: setSource,
  },
  {
    name: 'feeds pull',
    summary: "Pull a distributor's sources now",
    effect: 'writes',
    positionals: ['<DISTID>'],
    help: { '<DISTID>': '`feeds status` shows whose sources are set' },
    example: 'quartermaster feeds pull DAV',
    run: pull,
  },
  {
    name: 'feeds status',
    summary: 'What each source last brought, and what waits for a decision',
    effect: 'reads',
    example: 'quartermaster feeds status',
    run: ({ dir, out }) =>
      withApp(dir, async (app) => {
        const sources = await app.operator.feeds.status()
        for (const line of statusLines(sources, out.width)) out.line(line)
        out.result({ sources })
      }),
  },
  {
    name: 'feeds accept',
    summary: 'Take in the feed that was last refused',
    effect: 'writes',
    positionals: ['<DISTID>'],
    ...SOURCE,
    example: 'quartermaster feeds accept DAV',
    run: accept,
  },
  {
    name: 'feeds check',
    summary:
      'What import would do with a file: 20 mapped rows, the rejects, the verdict; writes nothing',
    effect: 'reads',
    positionals: ['<PRESET>', '<FILE>'],
    help: {
      '<PRESET>': `a preset (${Object.keys(presets).join(', ')}) or a distributor, by distid or name`,
      '<FILE>': 'path of the file, plain or gzip',
    },
    example: 'quartermaster feeds check davidsons ./davidsons_inventory.csv',
    run: check,
  },
]
