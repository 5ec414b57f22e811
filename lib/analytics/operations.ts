/** The operator's operations on the metrics, and the history that they are made of. */
import * as z from 'zod'
import { operationsOf } from '../core/endpoint/operation.js'
import { DryRun, Time } from '../core/endpoint/operation-shapes.js'
import { rebuildForOperator } from './builds/rebuild-job.js'
import type { AnalyticsCtx } from './ctx.js'
import { showMetric } from './endpoints.js'
import { MetricQuery, MetricResult } from './shapes.js'
import { SLUGS } from './metrics/index.js'

const operation = operationsOf<AnalyticsCtx>()

export const analyticsOperations = [
  operation('analytics.rebuild', {
    summary: 'Build all metrics anew from catalog and history; the ones before serve until then',
    effect: 'writes',
    isLong: true,
    input: { dry_run: DryRun },
    result: z.object({
      build: z.string().nullable(),
      as_of: Time.nullable().describe('When its data were read'),
      items: z.int(),
      rows: z.int(),
      ms: z.int(),
    }),
    run: (ctx, { dry_run: dryRun }, { onProgress }) =>
      rebuildForOperator(ctx, {
        dryRun,
        onProgress: (done, total) => onProgress(done, total, done),
      }),
  }),
  operation('analytics.show', {
    summary: 'A metric over all distributors',
    effect: 'reads',
    input: { metric: z.string().describe(SLUGS.join(', ')), ...MetricQuery.shape },
    result: MetricResult,
    errors: ['not_found'],
    run: showMetric,
  }),
] as const
