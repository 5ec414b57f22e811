import type * as z from 'zod'
import type { AnalyticsCall, AnalyticsCtx } from './ctx.js'
import { checkPart, endpointsOf, refuseFaults } from '../core/endpoint/endpoint.js'
import { ApiError } from '../core/errors.js'
import type { Fault } from '../core/errors.js'
import { nearest } from '../core/text.js'
import { serialized } from '../core/endpoint/serialized.js'
import type { Question } from './answers/answer.js'
import { METRICS, SLUGS, findMetric } from './metrics/index.js'
import type { Metric, Window } from './metrics/metric.js'
import { MetricParams, MetricQuery, MetricResult } from './shapes.js'

const endpoint = endpointsOf<AnalyticsCall>()

export const analytics = endpoint('analytics', {
  summary: 'One of seven metrics of prices, stock and sales',
  description: [
    'Built once a day from every feed of the network; `as_of` says when its data were read. ' +
      'Rows are UPCs that one of your active, validated distributors lists now; ' +
      "prices are the operator's costs, before your own adjustments. " +
      'Product restrictions do not apply.',
    ...METRICS.map(({ slug, words }) => `**${slug}**: ${words}`),
  ].join('\n\n'),
  params: MetricParams,
  query: MetricQuery,
  result: MetricResult,
  errors: ['no_active_distributors', 'no_validated_distributors', 'not_found'],
  example: {
    result: {
      metric: 'on-sale',
      as_of: '2026-11-21T12:00:00.000Z',
      window_days: 30,
      count: 1,
      results: [
        {
          upc: '493162079197',
          name: 'Slingwell Homestead Bipod 6-9 in M-LOK',
          mfg_name: 'Slingwell',
          category_id: 983,
          category_name: 'Other Gun Accessories & Parts',
          reference_price: 99.95,
          current_price: 82.95,
          drop_percent: 17,
        },
      ],
    },
    refused: {
      invalid_parameter: {
        request: { metric: 'on-sale', limit: 0 },
        message: 'limit: must be at least 1',
        details: [{ path: 'limit', message: 'must be at least 1' }],
      },
      not_found: {
        request: { metric: 'best-sellers' },
        message: `There is no metric "best-sellers". Known are ${SLUGS.join(', ')}.`,
        details: { metrics: SLUGS },
      },
    },
  },
  async run(ctx, { params, query }) {
    return serialized<MetricResult>(
      await ctx.analytics.answer(
        knownMetric(params.metric),
        questionOf(query),
        await activeDistids(ctx),
      ),
    )
  },
})

/** Throws `not_found`, which lists the metrics that there are. */
function knownMetric(slug: string): Metric {
  const metric = findMetric(slug)
  if (metric) return metric
  const close = nearest(slug, SLUGS)
  throw new ApiError('not_found', {
    message:
      `There is no metric "${slug.slice(0, 60)}"${close ? `; did you mean ${close}?` : '.'} ` +
      `Known are ${SLUGS.join(', ')}.`,
    details: { metrics: SLUGS },
  })
}

/** Active and validated ones. Throws the 409s of the catalog. */
async function activeDistids(ctx: AnalyticsCall): Promise<string[]> {
  const { active, eligible } = await ctx.configurations.of(ctx.subscriber)
  if (active.length === 0) throw new ApiError('no_active_distributors')
  if (eligible.length === 0) throw new ApiError('no_validated_distributors')
  return eligible.map(({ entry }) => entry.distid)
}

const listOf = (text: string | undefined) =>
  text === undefined ? null : text.split(',').map((part) => part.trim())

function questionOf({
  window,
  limit,
  product_class: productClass,
  category_id: categoryId,
  sort_by: sortBy,
  ...least
}: MetricQuery): Question {
  return {
    window: Number.parseInt(window, 10) as Window,
    limit,
    sortBy,
    least,
    productClasses: listOf(productClass)?.map((code) => code.toUpperCase()) ?? null,
    categories: listOf(categoryId)?.map(Number) ?? null,
  }
}

/**
 * A metric over all distributors, as an operator looks at it; refuses what the endpoint refuses.
 */
export async function showMetric(
  { analytics: answers }: AnalyticsCtx,
  { metric, ...query }: { metric: string } & z.input<typeof MetricQuery>,
): Promise<MetricResult> {
  const known = knownMetric(metric)
  const faults: Fault[] = []
  const checked = checkPart(MetricQuery, query, faults)
  refuseFaults(faults)
  return JSON.parse(await answers.answer(known, questionOf(checked), 'all')) as MetricResult
}
