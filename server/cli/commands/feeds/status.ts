/** What each source last brought, in lines that fit. */
import { figure } from '../../../../lib/core/figures.js'
import type { App } from '../../../../lib/app/open.js'
import { wrap } from '../../output.js'

type SourceStatus = Awaited<ReturnType<App['operator']['feeds']['status']>>[number]

/** One line for each source, and below it what somebody should know, in lines that fit. */
export function statusLines(sources: readonly SourceStatus[], width: number): string[] {
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
    not_before: notBefore,
    last_outcome: outcome,
    refused,
    warnings,
  } of sources) {
    lines.push(
      row(source, [
        figure(offers),
        figure(rejected),
        minute(asOf),
        every === null ? '-' : `${every} m`,
      ]),
    )
    const told = [
      ...(pulled ? [`last pull ${minute(pulled)}: ${outcome ?? 'not finished'}`] : []),
      ...(notBefore ? [`the account may be asked again at ${minute(notBefore)}`] : []),
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
