/** The operator's operations on the metrics, and the history that they are made of. */
import * as z from 'zod'
import { operationsOf } from '../core/endpoint/operation.js'
import { DryRun, Time } from '../core/endpoint/operation-shapes.js'
import { rebuildForOperator } from './builds/rebuild-job.js'
import type { AnalyticsCtx } from './ctx.js'
import { showMetric } from './endpoints.js'
import { MetricQuery, MetricResult } from './shapes.js'
import { showItem } from './history/show-item.js'
import { SLUGS } from './metrics/index.js'

const operation = operationsOf<AnalyticsCtx>()

/** A value for each day; null before there was any. */
const PerDay = z.array(z.number().nullable())

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
    errors: ['service_unavailable'],
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
  operation('analytics.showItem', {
    summary: 'Price and stock of an item at each distributor over the last 90 days',
    description:
      "As the feeds have told them to every shop: prices of a shop's own account are not among them.",
    effect: 'reads',
    isLong: true,
    input: { upc: z.string().describe('8 to 14 digits') },
    result: z.object({
      days: z.array(z.iso.date()).describe('The oldest first; the last one is not over'),
      distributors: z.array(
        z.object({
          distid: z.string(),
          price: PerDay.describe('The lowest at the end of each day, in dollars'),
          qty: PerDay.describe('Units in stock at the end of each day'),
        }),
      ),
      damaged: z
        .array(z.iso.date())
        .describe('Days whose files are damaged: what stood before is told on'),
    }),
    run: (ctx, { upc }) => showItem(ctx, upc),
  }),
] as const
