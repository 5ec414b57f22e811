import type { Ctx } from '../core/ctx.js'
import { endpoint } from '../core/endpoint.js'
import { ApiError } from '../core/errors.js'
import { nearest } from '../core/text.js'
import { serialized } from '../core/serialized.js'
import type { Question } from './answer.js'
import { METRICS, SLUGS, findMetric } from './metrics/index.js'
import type { Window } from './metrics/metric.js'
import { MetricParams, MetricQuery, MetricResult } from './shapes.js'

export const analytics = endpoint('analytics', {
  summary: 'One of seven metrics of prices, stock and sales',
  description: [
    'Built once a day from every feed of the network; `as_of` says when its data were read. Rows are UPCs that one of your active, validated distributors lists now; prices are the operator\'s costs, before your own adjustments. Product restrictions do not apply.',
    ...METRICS.map(({ slug, words }) => `**${slug}**: ${words}`),
  ].join('\n\n'),
  params: MetricParams,
  query: MetricQuery,
  result: MetricResult,
  errors: ['no_active_distributors', 'no_validated_distributors', 'not_found'],
  example: {
    request: { metric: 'on-sale', window: '30d', limit: 1 },
    result: {
      metric: 'on-sale', as_of: '2026-11-21T04:00:12.000Z', window_days: 30, count: 1,
      results: [{ upc: '860001234503', name: 'Ridgeline RL-15 5.56 NATO 16in 30rd FDE', mfg_name: 'Ridgeline Arms', category_id: 3024, category_name: 'Semi Auto Rifles', reference_price: 812.5, current_price: 699, drop_percent: 14 }],
    },
  },
  async run(ctx, { params, query }) {
    const metric = findMetric(params.metric)
    if (!metric) throw unknownMetric(params.metric)
    return serialized<MetricResult>(await ctx.analytics.answer(metric, questionOf(query), activeDistids(ctx)))
  },
})

export function unknownMetric(slug: string): ApiError {
  const close = nearest(slug, SLUGS)
  return new ApiError('not_found', { message: `There is no metric "${slug.slice(0, 60)}"${close ? `; did you mean ${close}?` : ''} Known are ${SLUGS.join(', ')}.`, details: { metrics: SLUGS } })
}

/** Active and validated ones. Throws the 409s of the catalog. */
function activeDistids(ctx: Ctx): string[] {
  const { active, eligible } = ctx.configurations.of(ctx.subscriber)
  if (active.length === 0) throw new ApiError('no_active_distributors')
  if (eligible.length === 0) throw new ApiError('no_validated_distributors')
  return eligible.map(({ entry }) => entry.distid)
}

const listOf = (text: string | undefined) => text === undefined ? null : text.split(',').map((part) => part.trim())

export function questionOf({ window, limit, product_class: productClass, category_id: categoryId, sort_by: sortBy, ...least }: MetricQuery): Question {
  return {
    window: Number.parseInt(window, 10) as Window, limit, sortBy, least,
    productClasses: listOf(productClass)?.map((code) => code.toUpperCase()) ?? null, categories: listOf(categoryId)?.map(Number) ?? null,
  }
}

