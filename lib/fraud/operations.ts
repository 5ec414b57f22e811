/** The operator's operations on fraud reports: counts, keys and partners, never what was reported. */
import * as z from 'zod'
import { findSubscriber } from '../accounts/subscribers.js'
import { operationsOf } from '../core/endpoint/operation.js'
import {
  DryRun,
  Nothing,
  Subscriber,
  Time,
  Upload,
  nothing,
} from '../core/endpoint/operation-shapes.js'
import type { FraudCtx } from './ctx.js'
import { rotateFraudKey } from './keys/rotate.js'
import { fraudQuotas } from './reports/quota.js'
import { eraseReports, fraudStats } from './reports/upkeep.js'
import { importBatch } from './sharing/import.js'
import { addPartner, removePartner } from './sharing/partners.js'

const operation = operationsOf<FraudCtx>()

const Partner = z.string().min(1).describe('its name: small letters, digits and dashes')

export const fraudOperations = [
  operation('fraud.stats', {
    summary: 'How many fraud reports there are; nothing of what they say',
    effect: 'reads',
    input: {},
    result: z.object({
      reports: z.int(),
      dealers: z.int(),
      signals: z.int(),
      first_reported: z.string().nullable(),
      last_reported: z.string().nullable(),
      by_subscriber: z.array(z.object({ subscriber: z.string(), reports: z.int() })),
      partners: z.array(z.object({ partner: z.string(), reports: z.int(), made_at: Time })),
      under_old_keys: z.int(),
      unreadable: z.int(),
    }),
    run: (ctx) => fraudStats(ctx),
  }),
  operation('fraud.quotas', {
    summary: 'What each key has used of its fraud quotas in the last 24 hours',
    effect: 'reads',
    input: {},
    result: z.object({
      limits: z.object({ checks: z.int(), reports: z.int(), removals: z.int() }),
      keys: z.array(
        z.object({
          key: z.string(),
          name: z.string(),
          subscriber: z.string(),
          checks: z.int(),
          reports: z.int(),
          removals: z.int(),
        }),
      ),
    }),
    run: (ctx) => fraudQuotas(ctx),
  }),
  operation('fraud.erase', {
    summary: 'Remove all fraud reports of a subscriber',
    effect: 'writes',
    asksAgain: true,
    input: { subscriber: Subscriber },
    result: z.object({ removed: z.int() }),
    errors: ['not_found'],
    run: async (ctx, { subscriber }) => eraseReports(ctx, await findSubscriber(ctx, subscriber)),
  }),
  operation('fraud.rotateKey', {
    summary: 'Keep the signals of all reports under a new key; checks go on meanwhile',
    effect: 'writes',
    asksAgain: true,
    isLong: true,
    input: {},
    result: z.object({ reports: z.int(), unreadable: z.int() }),
    run: (ctx, _input, { onProgress }) =>
      rotateFraudKey(ctx, (done, total) => onProgress(done, total, done)),
  }),
  operation('fraud.addPartner', {
    summary: 'Keep a key that another installation has too, to share signals with it',
    effect: 'writes',
    asksAgain: true,
    input: {
      name: Partner,
      key: z.string().describe('64 hex digits that both sides agreed on'),
      dry_run: DryRun,
    },
    result: Nothing,
    run: (ctx, { name, key, dry_run: dryRun }) => nothing(addPartner(ctx, name, key, { dryRun })),
  }),
  operation('fraud.removePartner', {
    summary: 'Remove the key of a partner, and all that came from it',
    effect: 'writes',
    asksAgain: true,
    input: { name: Partner, dry_run: DryRun },
    result: z.object({ reports: z.int() }),
    run: (ctx, { name, dry_run: dryRun }) => removePartner(ctx, name, { dryRun }),
  }),
  operation('fraud.importBatch', {
    summary: "Take a partner's signals in; they take the place of its earlier ones",
    effect: 'writes',
    isLong: true,
    input: { partner: Partner, upload: Upload, dry_run: DryRun },
    result: z.object({ reports: z.int(), dealers: z.int(), removed: z.int() }),
    run: (ctx, { partner, upload, dry_run: dryRun }, work) =>
      importBatch(ctx, partner, work.upload(upload).path, { dryRun }),
  }),
] as const
