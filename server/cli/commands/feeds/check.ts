/** What import would do with a file. */
import { existsSync } from 'node:fs'
import { figure } from '../../../../lib/core/figures.js'
import { invalid } from '../../../../lib/core/errors.js'
import { builtin, presets } from '../../../../lib/distributors/builtin/index.js'
import { withDocuments } from '../../../../lib/distributors/document/kept/folder.js'
import type { Preset } from '../../../../lib/distributors/generic/preset.js'
import { makeRegistry } from '../../../../lib/distributors/registry.js'
import type { Registry } from '../../../../lib/distributors/registry.js'
import { checkFeed } from '../../../../lib/feeds/check.js'
import type { CheckedFeed } from '../../../../lib/feeds/check.js'
import type { FeedResult } from '../../../../lib/feeds/ingest/feed.js'
import { bestPreset, presetFor } from '../../../../lib/feeds/suggest.js'
import { argument, UsageError } from '../../command.js'
import type { Invocation } from '../../command.js'
import { databaseFromEnvironment } from '../../../env.js'
import { isInstallation, withApp } from '../../with-app.js'
import { showRejects } from './take.js'
import { cut, wrap } from '../../output.js'

/**
 * The names of a record with their values, as many to a line as fit; a long value is cut to its
 * line, attributes go on.
 */
export function recordLines(record: Record<string, unknown>, width: number): string[] {
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
  if (Array.isArray(value))
    return value
      .map((item: string | { src: string }) => (typeof item === 'string' ? item : item.src))
      .join(' ')
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

/** With the documents of the folder, which needs no installation, or of the database. */
async function registryOf({ dir }: Invocation): Promise<Registry> {
  if (databaseFromEnvironment() !== undefined)
    return withApp(dir, async ({ ctx }) => ctx.distributors)
  return makeRegistry(withDocuments(builtin, dir, new Set(Object.keys(presets))), presets)
}

export async function check(invocation: Invocation): Promise<number> {
  const { args, out } = invocation
  const name = argument(args, 0)
  const file = argument(args, 1)
  const registry = await registryOf(invocation)
  const preset = presetFor(registry, name)
  if (!preset)
    throw new UsageError(
      `there is no preset "${name}"; known are ${[...registry.presets.keys()].join(', ')}`,
    )
  if (!existsSync(file)) throw invalid('file', `cannot read ${file}`)
  const checked = await checkFeed({ preset, file, rows: 20, asOf: Date.now() })
  const best = await bestPreset(registry, file, preset)
  const better = best && best !== preset ? best : null
  const would = checked.reasons.length > 0 ? null : await wouldImport(invocation, preset, file)
  const refused = would ? would.reasons : [...checked.reasons, ...checked.refused]
  for (const offer of checked.offers) out.line(recordLines(offer, out.width).join('\n'))
  if (checked.rejects.length > 0) showRejects(out, checked.rejects)
  if (checked.offers.length > 0) out.line('')
  for (const text of verdict(checked, would, refused, preset)) out.line(wrap(text, out.width, '  '))
  // On a line of its own and whole, so that it can be copied.
  if (better)
    out.line(
      `It reads better with the preset ${better.id}:\n  quartermaster feeds import ` +
        `${better.distid} ${file} --preset ${better.id}`,
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
  const read =
    `${figure(rows)} rows read with ${preset.id} (${preset.distid}), ${figure(rejected)} ` +
    'rejected.'
  if (refused.length > 0) return [read, 'Import would refuse it:', ...because]
  if (!would)
    return [
      read,
      'Import would take it as a first feed. With an installation in --dir it is compared ' +
        'with the last one.',
    ]
  if (would.outcome === 'unchanged')
    return [read, `Import would change nothing: ${would.source} has this file already.`]
  return [
    read,
    `Import would take it into ${would.source}: ${figure(would.added)} added, ` +
      `${figure(would.changed)} changed, ${figure(would.removed)} removed.`,
  ]
}
