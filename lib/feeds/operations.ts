/** The operator's operations on feeds and their sources. */
import * as z from 'zod'
import { undoableOf } from '../db/undoable.js'
import type { Background } from '../core/async/background.js'
import { MINUTE } from '../core/clock.js'
import { invalid } from '../core/errors.js'
import { operationsOf } from '../core/endpoint/operation.js'
import {
  BrokenRow,
  Distid,
  DryRun,
  Time,
  Upload,
  limitOf,
} from '../core/endpoint/operation-shapes.js'
import { checkFeed } from './check.js'
import type { FeedTasks, FeedsCtx } from './ctx.js'
import { listDistributors } from './distributor-list.js'
import { importFeed } from './import.js'
import { pullFeed } from './pull.js'
import { recordDistributor } from './record/record.js'
import { acceptFeed } from './refused.js'
import { refusedFeed, rejectsOf } from './rejects.js'
import { setFeedSource } from './source.js'
import { feedStatus } from './status.js'
import { bestPreset, presetFor } from './suggest.js'

/** What takes a feed in needs the worker, and ends with the app. */
export interface FeedOperationsCtx extends FeedsCtx {
  readonly background: Background<FeedTasks>
  /** Aborted when the app closes. */
  readonly closing: AbortSignal
}

const operation = operationsOf<FeedOperationsCtx>()
const undoable = undoableOf<FeedOperationsCtx>()

const SOURCE = {
  distid: Distid,
  preset: z
    .string()
    .optional()
    .describe("how it is read; the distributor's catalog preset by default"),
  subscriber: z
    .string()
    .optional()
    .describe("the shop whose own feed it is; the operator's, for all, by default"),
}

const FeedResult = z
  .object({
    source: z.string(),
    distid: z.string(),
    outcome: z.enum(['taken', 'unchanged', 'refused']),
    reasons: z.array(z.string()).describe('Why it was refused'),
    rows: z.int(),
    offers: z.int().describe('Offers that the feed names'),
    rejected: z.int(),
    rejects: z.array(BrokenRow).describe('The first 20'),
    added: z.int(),
    changed: z.int(),
    removed: z.int(),
    price_changes: z.int(),
    stock_changes: z.int(),
    unmatched: z.int().describe('Rows of a quantity feed that no offer has the item number of'),
    watched: z
      .array(
        z.object({
          name: z.enum(['rejected', 'missing', 'price_moves', 'emptied', 'upcs_lost']),
          part: z.int(),
          of: z.int(),
          most: z.int().describe('Percent of it that may be'),
          over: z.boolean(),
        }),
      )
      .describe('What the guard measured, beside what it allows'),
    version: z.string().describe("Of the catalog's state afterwards"),
  })
  .meta({ component: 'FeedResult', about: 'What became of a feed, or would' })

const Pulled = z.union([
  FeedResult,
  z.object({
    source: z.string(),
    outcome: z.literal('failed'),
    reasons: z.array(z.string()),
  }),
])

export const feedOperations = [
  operation('feeds.status', {
    summary: 'What each source last brought, and what waits for a decision',
    effect: 'reads',
    input: {},
    result: z.array(
      z.object({
        source: z.string(),
        distid: z.string(),
        location: z.string().nullable().describe('Without user and password'),
        allow_private: z.boolean(),
        every_minutes: z.number().nullable(),
        not_before: Time.nullable().describe('When its account may be asked again'),
        last_pull: Time.nullable(),
        last_outcome: z.string().nullable(),
        as_of: Time.nullable(),
        taken_at: Time.nullable(),
        rows: z.int(),
        rejected: z.int(),
        offers: z.int(),
        warnings: z.array(z.string()),
        refused: z.object({ at: Time.nullable(), reasons: z.array(z.string()) }).nullable(),
      }),
    ),
    run: (ctx) => feedStatus(ctx),
  }),
  undoable('feeds.set', {
    summary: "Set where a distributor's feed is pulled from",
    effect: 'writes',
    input: {
      ...SOURCE,
      // A path would be one on the server, and what is read there is shown where it cannot be used.
      location: z
        .string()
        .regex(/^(https?:\/\/\S+|account)$/i, 'must be an http(s) URL or account')
        .describe("http(s) URL, or `account`: the shop's own account at the distributor"),
      every_minutes: z.number().min(1).optional().describe('minutes between pulls, 20 by default'),
      active: z.boolean().default(true).describe('false keeps the source, but does not pull it'),
      allow_private: z
        .boolean()
        .default(false)
        .describe('the source may be on this machine or a private network'),
    },
    result: z.object({ id: z.string(), every: z.int().describe('Milliseconds between pulls') }),
    errors: ['not_found'],
    run: (ctx, { every_minutes: minutes, allow_private: allowPrivate, ...input }) =>
      setFeedSource(ctx, {
        ...input,
        allowPrivate,
        ...(minutes !== undefined && { every: minutes * MINUTE }),
      }),
  }),
  operation('feeds.check', {
    summary:
      'What import would do with a file: 20 mapped rows, the rejects, the verdict; writes nothing',
    effect: 'reads',
    isLong: true,
    input: {
      preset: z.string().min(1).describe('a preset, or a distributor by distid or name'),
      upload: Upload,
    },
    result: z.object({
      preset: z.string(),
      distid: z.string(),
      reasons: z.array(z.string()).describe('Why the file is not a feed of this preset at all'),
      rows: z.int(),
      rejected: z.int(),
      cut_off: z.boolean(),
      refused: z.array(z.string()).describe('Why import would not take it'),
      offers: z.array(z.record(z.string(), z.unknown())).describe('The first rows, mapped'),
      rejects: z.array(BrokenRow),
      better_preset: z.string().nullable().describe('One that reads the file better'),
      import: FeedResult.nullable().describe('What import would do; null where it is no feed'),
    }),
    run: async (ctx, { preset: name, upload }, work) => {
      const { path: file } = work.upload(upload)
      const preset = presetFor(ctx.distributors, name)
      if (!preset)
        throw invalid(
          'preset',
          `there is no preset "${name}"; known are ${[...ctx.distributors.presets.keys()].join(', ')}`,
        )
      const checked = await checkFeed({ preset, file, rows: 20, asOf: ctx.now() })
      const best = await bestPreset(ctx.distributors, file, preset)
      const would =
        checked.reasons.length > 0
          ? null
          : await importFeed(
              ctx,
              ctx.background,
              { distid: preset.distid, preset: preset.id, file },
              { dryRun: true, onProgress: work.onProgress },
            )
      return {
        preset: preset.id,
        distid: preset.distid,
        ...checked,
        refused: would ? would.reasons : [...checked.reasons, ...checked.refused],
        better_preset: best && best !== preset ? best.id : null,
        import: would,
      }
    },
  }),
  operation('feeds.import', {
    summary: 'Take in a local feed file, plain or gzip',
    effect: 'writes',
    isLong: true,
    input: {
      ...SOURCE,
      upload: Upload,
      as_of: z.iso
        .datetime()
        .optional()
        .describe('when the file was made; by default its modification time, or now for an upload'),
      force: z.boolean().default(false).describe('skip the comparison with the previous feed'),
      dry_run: DryRun,
    },
    result: FeedResult,
    errors: ['not_found', 'service_unavailable'],
    run: (ctx, { upload, as_of: asOf, force, dry_run: dryRun, ...source }, work) =>
      importFeed(
        ctx,
        ctx.background,
        { ...source, file: work.upload(upload).path },
        {
          force,
          dryRun,
          onProgress: work.onProgress,
          ...(asOf !== undefined && { asOf: Date.parse(asOf) }),
        },
      ),
  }),
  operation('feeds.pull', {
    summary: "Pull a distributor's sources now",
    description: 'Without `distid`, those of all distributors that are due.',
    effect: 'writes',
    isLong: true,
    input: {
      distid: z.string().optional().describe('`feeds status` shows whose sources are set'),
    },
    result: z.array(Pulled),
    errors: ['not_found'],
    run: (ctx, { distid }, { onProgress }) =>
      pullFeed(ctx, ctx.background, { distid, onProgress, signal: ctx.closing }),
  }),
  operation('feeds.accept', {
    summary: 'Take in the feed that was last refused',
    effect: 'writes',
    isLong: true,
    input: { ...SOURCE, dry_run: DryRun },
    result: FeedResult,
    errors: ['not_found', 'service_unavailable'],
    run: (ctx, { dry_run: dryRun, ...source }, { onProgress }) =>
      acceptFeed(ctx, ctx.background, source, { dryRun, onProgress }),
  }),
  operation('feeds.refused', {
    summary: 'The feed of a source that was refused, beside the last good one',
    effect: 'reads',
    isLong: true,
    input: SOURCE,
    result: z.object({
      source: z.string(),
      refused_at: Time,
      reasons: z.array(z.string()),
      last: z
        .object({ as_of: Time, taken_at: Time, rows: z.int(), rejected: z.int() })
        .nullable()
        .describe('The last good one; null before the first'),
      would: FeedResult.nullable().describe(
        'What accepting it would do; null where its file is gone',
      ),
    }),
    errors: ['not_found'],
    run: (ctx, source, { onProgress }) => refusedFeed(ctx, ctx.background, source, { onProgress }),
  }),
  operation('feeds.rejects', {
    summary: 'The rows of the feed last taken that could not be used',
    effect: 'reads',
    input: {
      ...SOURCE,
      after: z.int().min(0).default(0).describe('rows after this line'),
      limit: limitOf(500, 100),
    },
    result: z.object({
      source: z.string(),
      rejected: z.int().describe('How many the feed had'),
      rows: z.array(BrokenRow).describe('Those that were kept, in the order of the file'),
    }),
    errors: ['not_found'],
    run: (ctx, { after, limit, ...source }) => rejectsOf(ctx, source, { after, limit }),
  }),
  operation('distributors.list', {
    summary: 'Known distributors, their modes, and how many offers each has',
    effect: 'reads',
    input: {},
    result: z.object({
      service: z.enum(['simulator', 'live', 'mixed']),
      distributors: z.array(
        z.object({
          distid: z.string(),
          name: z.string(),
          mode: z.enum(['simulator', 'live']),
          orders: z.string().describe('Which can be placed: live or simulator, or none'),
          automated_fulfillment: z.boolean(),
          offers: z.int(),
        }),
      ),
    }),
    run: (ctx) => listDistributors(ctx),
  }),
  operation('distributors.record', {
    summary: 'Record what a distributor answers an account, to be sent to the developers',
    effect: 'writes',
    isLong: true,
    input: {
      distid: Distid,
      subscriber: z.string().min(1).describe('whose account it is, by name or id'),
      preset: z.string().optional().describe('the feed to record; the whole catalog by default'),
    },
    result: z
      .looseObject({ recording: z.literal(1), distid: z.string() })
      .describe('The recording: nothing in it tells the account'),
    errors: ['not_found'],
    run: async (ctx, input) => ({ ...(await recordDistributor(ctx, input)) }),
  }),
] as const
