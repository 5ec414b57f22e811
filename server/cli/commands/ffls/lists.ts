/** Taking in lists of dealers: the ATF's, and those that distributors have on file. */
import { figure } from '../../../../lib/core/figures.js'
import type { ListOptions, ListReport } from '../../../../lib/ffls/lists/report.js'
import type { ImportResult } from '../../../../lib/ffls/lists/import.js'
import type { OnFileResult } from '../../../../lib/ffls/on-file.js'
import type { App } from '../../../../lib/app/open.js'
import { argument, DRY_RUN, UsageError, list, optional } from '../../command.js'
import type { Invocation } from '../../command.js'
import { withApp } from '../../with-app.js'
import type { Output } from '../../output.js'

export const LIST_OPTIONS = { 'as-of': { type: 'string' }, types: { type: 'string' } } as const

/** Rows that people are shown. */
const SHOWN = 20

function listOptions({ values, dryRun, out }: Invocation): ListOptions {
  const text = optional(values, 'as-of')
  const asOf = text === undefined ? undefined : Date.parse(text)
  if (Number.isNaN(asOf))
    throw new UsageError(
      `--as-of "${text}" is not a date; write 2026-11-21 or 2026-11-21T10:00:00Z`,
    )
  const bars = { reading: out.progress('reading'), writing: out.progress('writing') }
  return {
    dryRun,
    ...(asOf !== undefined && { asOf }),
    onProgress: (stage, done, total, rows) => bars[stage](done, total, rows),
  }
}

function typesIn(values: Invocation['values']): { types?: string[] } {
  const types = optional(values, 'types')
  return types === undefined ? {} : { types: types.split(',') }
}

function showRows(out: Output, report: ListReport): void {
  const skipped = Object.values(report.skipped).reduce((sum, n) => sum + n, 0)
  out.line(
    `${figure(report.rows)} rows as of ${report.as_of.slice(0, 10)}: ${figure(skipped)} of ` +
      `other types skipped, ${figure(report.rejected)} rejected.`,
  )
  if (report.cut_off)
    out.line(
      `The list is cut off: line ${report.cut_off.line} was not taken ` +
        `(${report.cut_off.text.slice(0, 80)}).`,
    )
  if (report.rejected > 0) {
    out.table(Object.entries(report.reasons).map(([reason, rows]) => ({ rows, reason })))
    out.table(
      report.rejects
        .slice(0, SHOWN)
        .map(({ line, reason, text }) => ({ line, reason, text: text.slice(0, 80) })),
    )
  }
}

function showSome(
  out: Output,
  title: string,
  all: number,
  rows: readonly Record<string, unknown>[],
): void {
  if (all === 0) return
  out.line(`${title}${all > SHOWN ? `, the first ${SHOWN} of ${figure(all)}` : ''}:`)
  out.table(rows.slice(0, SHOWN))
}

/** Takes a list in, and shows what became of its rows and of the dealers. */
async function takeList<R extends ListReport>(
  invocation: Invocation,
  take: (app: App, options: ListOptions) => Promise<R>,
  show: (out: Output, result: R) => void,
): Promise<void> {
  const { out, dryRun } = invocation
  const options = listOptions(invocation)
  await withApp(invocation.dir, async (app) => {
    const result = await take(app, options)
    showRows(out, result)
    show(out, result)
    if (dryRun) out.line(DRY_RUN)
    out.result({ ...result, dry_run: dryRun })
  })
}

export async function importList(invocation: Invocation): Promise<void> {
  const { args, values } = invocation
  const file = argument(args, 0)
  const input = {
    file,
    ...typesIn(values),
    revoke: list(values, 'revoke'),
    accept: values['accept'] === true,
  }
  await takeList(invocation, (app, options) => app.operator.ffls.import(input, options), showImport)
}

function showImport(out: Output, result: ImportResult): void {
  const { added, renewed, changed, unchanged, outdated, gone, kept } = result
  out.line(
    `Dealers: ${figure(added)} new, ${figure(renewed)} renewed, ${figure(changed)} ` +
      `changed, ${figure(unchanged)} unchanged, ${figure(gone)} ` +
      `gone${outdated > 0 ? `, ${figure(outdated)} known from a newer list` : ''}.`,
  )
  showSome(out, 'Renewed', renewed, result.renewals)
  showSome(out, 'Gone', gone, result.losses)
  if (kept.length > 0) {
    out.line(
      'These dealers are not in the list, and are kept because it may not be whole. The next ' +
        'list decides. --accept removes all of them, --revoke STATE those of one state:',
    )
    out.table(kept.map((state) => ({ ...state })))
  }
}

export async function importMarks(invocation: Invocation): Promise<void> {
  const {
    args: [, file],
    values,
  } = invocation
  const subscriber = optional(values, 'subscriber')
  if (file === undefined && subscriber === undefined)
    throw new UsageError('<FILE> is missing: name it, or the account to ask with --subscriber')
  if (file !== undefined && subscriber !== undefined)
    throw new UsageError('name either a FILE or the account to ask with --subscriber')
  const input = {
    distid: argument(invocation.args, 0),
    ...typesIn(values),
    force: values['force'] === true,
  }
  await takeList(
    invocation,
    ({ operator: { ffls } }, options) =>
      subscriber === undefined
        ? ffls.onFile({ ...input, file: argument(invocation.args, 1) }, options)
        : ffls.onFileByAccount({ ...input, subscriber }, options),
    showMarks,
  )
}

function showMarks(
  out: Output,
  { distid, marked, unchanged, unmarked, added, renewed, unknown, kept, renewals }: OnFileResult,
): void {
  out.line(
    `On file with ${distid}: ${figure(marked)} new, ${figure(unchanged)} as before, ` +
      `${figure(unmarked)} no longer. Dealers: ${figure(added)} added, ${figure(renewed)} ` +
      `renewed${unknown > 0 ? `, ${figure(unknown)} unknown so far` : ''}.`,
  )
  showSome(out, 'Renewed', renewed, renewals)
  if (kept)
    out.line(
      `${figure(kept.missing)} of ${figure(kept.known)} marks are kept although the list lacks ` +
        `them: ${kept.reason}; --force removes them.`,
    )
}

/** What waits for a decision, with the commands that make it. */
export async function showHeld({ dir, out }: Invocation): Promise<void> {
  await withApp(dir, async (app) => {
    const held = await app.operator.ffls.held()
    if (held.length === 0) out.line('Nothing is held: the last lists took away what they lack.')
    else
      out.table(
        held.map(({ distid, state, missing, known, as_of: asOf, reason }) => ({
          list: distid ?? 'ATF',
          state,
          missing,
          known,
          as_of: asOf.slice(0, 10),
          reason,
        })),
      )
    const marks = held.find(({ distid }) => distid !== null)
    if (held.some(({ distid }) => distid === null))
      out.line(
        'Dealers are kept until the next list decides, or `ffls import FILE --accept`, or ' +
          '`--revoke STATE` for one state.',
      )
    if (marks)
      out.line(
        'Marks of a distributor are kept until its next list decides, or ' +
          `\`ffls on-file ${marks.distid} FILE --force\`.`,
      )
    out.result({ held })
  })
}
