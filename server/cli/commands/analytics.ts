/** `analytics rebuild` and `analytics show`. */
import { figure } from '../../../lib/core/figures.js'
import { METRICS, findMetric } from '../../../lib/analytics/metrics/index.js'
import type { Form, Metric } from '../../../lib/analytics/metrics/metric.js'
import type { MetricResult } from '../../../lib/analytics/shapes.js'
import { argument, UsageError, optional } from '../command.js'
import type { Command, Invocation } from '../command.js'
import { withApp } from '../with-app.js'
import type { Output } from '../output.js'
import { printable } from '../faults.js'
import { present } from '../../../lib/core/present.js'
import { carriesOut } from '../operation-help.js'
import { analyticsOperations } from '../../../lib/analytics/operations.js'

async function rebuild({ dir, out, dryRun }: Invocation): Promise<void> {
  await withApp(dir, async (app) => {
    const progress = out.progress('metrics', 'steps')
    const done = await app.operator.analytics.rebuild({
      dryRun,
      onProgress: (at, total) => progress(at, total, at),
    })
    const serving =
      done.build === null
        ? 'There are no metrics yet'
        : `The metrics of ${done.as_of} serve (${figure(done.items)} UPCs)`
    out.line(
      dryRun
        ? `${serving}; they would be built anew.`
        : `${METRICS.length} metrics of ${figure(done.items)} UPCs were built in ` +
            `${(done.ms / 1_000).toFixed(1)} s, as of ${done.as_of}.`,
    )
    out.result({ ...done, dry_run: dryRun })
  })
}

const NUMBERS = ['limit', 'min-confidence', 'min-7d-units', 'min-30d-units'] as const
const TEXTS = ['window', 'product-class', 'category-id', 'sort-by'] as const

/**
 * The parameters of the endpoint; what is no number is refused here, everything else where it is
 * refused for callers.
 */
function queryOf(values: Invocation['values']): Record<string, string | number> {
  const given = (name: string) => {
    const value = optional(values, name)
    return value === undefined ? [] : [[name.replaceAll('-', '_'), value] as const]
  }
  const numbers = NUMBERS.flatMap(given).map(([name, text]) => {
    if (Number.isNaN(Number(text)))
      throw new UsageError(`--${name.replaceAll('_', '-')} must be a number. For example: ${SHOW}`)
    return [name, Number(text)] as const
  })
  return Object.fromEntries([...numbers, ...TEXTS.flatMap(given)])
}

async function show({ dir, args, values, out }: Invocation): Promise<void> {
  const slug = argument(args, 0)
  const query = { limit: 20, ...queryOf(values), metric: slug }
  const subscriber = optional(values, 'subscriber')
  await withApp(dir, async (app) => {
    const result =
      subscriber === undefined
        ? await app.operator.analytics.show(query)
        : await app.as(subscriber).analytics(query)
    if (result.as_of === null)
      out.line(
        'The metrics were not built yet: a server does it soon after its first feed, ' +
          '`quartermaster analytics rebuild` does it now.',
      )
    else
      out.line(
        `${result.metric}${result.window_days === null ? '' : `, ${result.window_days} days`}, ` +
          `as of ${result.as_of}, ${subscriber ?? 'all distributors'}: ` +
          `${result.count === 1 ? 'one result' : `${result.count} results`}.`,
      )
    if (result.count > 0)
      table(
        out,
        present(findMetric(result.metric), result.metric),
        result,
        optional(values, 'sort-by'),
      )
    out.result(result)
  })
}

type Row = Record<string, string | number | boolean | null>

/** Characters of a name, and of the longest bar. */
const NAME = 40
const BAR = 24

function table(
  out: Output,
  metric: Metric,
  { results }: MetricResult,
  sortBy: string | undefined,
): void {
  const rows = results as Row[]
  // What the order goes by; a moment has no length.
  const measure = present(
    (metric.orders?.[sortBy ?? ''] ?? metric.order).find(
      (name) => metric.measures[name] !== 'time',
    ),
    `a measure of ${metric.slug} with a length`,
  )
  const most = Math.max(...rows.map((row) => Number(row[measure])))
  out.table(
    rows.map((row) => ({
      upc: row['upc'],
      name: cut(String(row['name'])),
      ...Object.fromEntries(
        Object.entries(metric.measures).map(([name, form]) => [name, shown(row[name]!, form)]),
      ),
      ...(out.isTerminal && { [`[${measure}]`]: bar(Number(row[measure]), most) }),
    })),
  )
}

function cut(name: string): string {
  const text = printable(name)
  return text.length > NAME ? `${text.slice(0, NAME - 1)}…` : text
}

function shown(value: Row[string], form: Form): string | null {
  if (value === null) return null
  switch (form) {
    case 'money':
      return Number(value).toFixed(2)
    case 'flag':
      return value === true ? 'yes' : 'no'
    case 'time':
      return `${String(value).slice(0, 16).replace('T', ' ')}`
    case 'tenths':
      return decimals(value, 1)
    case 'hundredths':
      return decimals(value, 2)
    default:
      return typeof value === 'number' ? figure(value) : String(value)
  }
}

const decimals = (value: Row[string], digits: number) =>
  Number(value).toLocaleString('en-US', { minimumFractionDigits: digits })

/** Eighths of a character tell bars of almost one length apart. */
const EIGHTHS = ' ▏▎▍▌▋▊▉'

/** A bar as long as the share of the greatest value; what is more than nothing can be seen. */
export function bar(value: number, most: number): string {
  if (!(value > 0 && most > 0)) return ''
  const eighths = Math.max(1, Math.round((value / most) * BAR * 8))
  return `${'█'.repeat(Math.floor(eighths / 8))}${EIGHTHS.charAt(eighths % 8)}`.trimEnd()
}

const SHOW = 'quartermaster analytics show top-products --window 30d --limit 10'

export const analyticsCommands: Command[] = [
  carriesOut(analyticsOperations, 'analytics.rebuild', {
    name: 'analytics rebuild',
    effect: 'writes',
    example: 'quartermaster analytics rebuild',
    run: rebuild,
  }),
  carriesOut(analyticsOperations, 'analytics.show', {
    name: 'analytics show',
    effect: 'reads',
    positionals: ['<METRIC>'],
    options: Object.fromEntries(
      ['subscriber', ...TEXTS, ...NUMBERS].map((name) => [name, { type: 'string' as const }]),
    ),
    note: 'or over those of a shop, with bars on a terminal',
    adds: {
      window: '7d, 30d, 60d or 90d; 7d by default',
      limit: '1 to 200, 20 by default',
      'min-7d-units': '3 by default',
      'min-30d-units': '5 by default',
    },
    help: {
      subscriber: 'a shop, by name or id, for its active distributors; all distributors by default',
    },
    example: SHOW,
    run: show,
  }),
]
