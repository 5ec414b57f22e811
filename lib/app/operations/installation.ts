/** The operator's operations on the installation as a whole. */
import * as z from 'zod'
import { statSync } from 'node:fs'
import { relative } from 'node:path'
import { operationsOf } from '../../core/endpoint/operation.js'
import { DryRun, Head, Nothing, Time, nothing } from '../../core/endpoint/operation-shapes.js'
import { AuditProof } from '../../accounts/operations.js'
import { JournalProof } from '../../orders/operations.js'
import { ApiError } from '../../core/errors.js'
import { leads } from '../../db/lead.js'
import { filesIn } from '../../db/sqlite/folder.js'
import { makeBackup } from '../backup/backup.js'
import { checkListed, drillListed, listBackups } from '../backup/list.js'
import { showNodes } from '../nodes/show.js'
import { overview, waiting } from '../overview.js'
import type { OperationCtx } from './ctx.js'

const operation = operationsOf<OperationCtx>()

const Contents = z.object({
  subscribers: z.int(),
  keys: z.int(),
  orders: z.int(),
  purchase_orders: z.int(),
})

const Severity = z.enum(['ok', 'info', 'warn', 'bad'])
const FindingShape = z.object({
  check: z.string(),
  subject: z.string(),
  severity: Severity,
  message: z.string(),
  mend: z.string().nullable().describe('A command that mends it, or shows what to decide'),
})

const WaitingShape = z
  .object({
    review: z.int(),
    unknown: z.int(),
    refused_feeds: z.array(z.string()),
    paperwork: z.int(),
    licenses: z.int().describe('That end within 30 days, or have just ended'),
    held_removals: z.int().describe('Dealers whose removal somebody has to accept'),
    paused: z.string().nullable().describe('Why orders are paused'),
  })
  .meta({ component: 'Waiting', about: 'What waits for a person' })

const Folder = z.string().min(1).describe('the folder of the backup')
const LISTED = 'One that `backups/list` shows.'

export const installationOperations = [
  operation('overview.today', {
    summary: 'Whether it is well, what waits for you, and the last fourteen days',
    effect: 'reads',
    input: {},
    result: z.object({
      at: Time,
      checks: z.array(FindingShape),
      waiting: WaitingShape,
      days: z.array(
        z.object({
          day: z.string(),
          orders: z.int(),
          units: z.int().describe('Pieces in these orders'),
          refused: z.int(),
          requests: z.int(),
        }),
      ),
    }),
    run: (ctx) => overview(ctx),
  }),
  operation('overview.waiting', {
    summary: 'What waits for you, without the rest of today',
    effect: 'reads',
    input: {},
    result: WaitingShape,
    run: (ctx) => waiting(ctx),
  }),
  operation('overview.examine', {
    summary: 'Look at the installation and its machine: what is well, and what mends the rest',
    effect: 'reads',
    isLong: true,
    input: {
      offline: z
        .boolean()
        .default(false)
        .describe('ask nobody outside of this machine: no bucket, no mail server, no distributor'),
    },
    result: z.object({ worst: Severity, findings: z.array(FindingShape) }),
    run: async ({ closing, journalCopy }, { offline }, { examine }) => {
      const { worst, findings } = await examine({
        offline,
        hasJournalCopy: journalCopy !== undefined,
        signal: closing,
      })
      return { worst, findings }
    },
  }),
  operation('overview.about', {
    summary: 'What runs here: Node, the folder and its files',
    effect: 'reads',
    input: {},
    result: z.object({
      node: z.string(),
      dir: z.string(),
      service: z.enum(['simulator', 'live', 'mixed']),
      free_bytes: z.number().describe('Under the state folder'),
      uptime_seconds: z.int(),
      files: z.array(z.object({ name: z.string(), bytes: z.int() })),
    }),
    run: async ({ engine, modes, space }) => ({
      node: process.version,
      dir: engine.dir,
      service: modes.service,
      free_bytes: space.free(),
      uptime_seconds: Math.floor(process.uptime()),
      files: Object.values(filesIn(engine.dir)).flatMap((path) => {
        const stat = statSync(path, { throwIfNoEntry: false })
        return stat ? [{ name: relative(engine.dir, path), bytes: stat.size }] : []
      }),
    }),
  }),
  operation('nodes.list', {
    summary: 'The nodes that share the database: which leads, and how far each has come',
    effect: 'reads',
    input: {},
    result: z.object({
      shared: z.boolean().describe('false: one folder, which has one server'),
      epoch: z.int().nullable().describe('Of the node that leads; null: none does'),
      lease_age_ms: z.int().nullable().describe('Since the node that leads last said so'),
      nodes: z.array(
        z.object({
          host: z.string(),
          dir: z.string(),
          pid: z.int(),
          release: z.string(),
          started_at: Time,
          seen_at: Time,
          gone: z.boolean().describe('It was not seen for 20 seconds'),
          leads: z.boolean(),
          clock_ahead_ms: z.int().describe("Of the database's"),
          behind: z
            .int()
            .nullable()
            .describe('Changes of the catalog that it lacks; null: all of it'),
          lacks_documents: z
            .array(
              z.object({
                distid: z.string(),
                why: z.enum(['added', 'replaced', 'removed', 'unusable']),
                fault: z.string().nullable().describe('Why its release cannot use it'),
              }),
            )
            .describe('Documents of distributors that it has not as the database has them now'),
        }),
      ),
    }),
    run: showNodes,
  }),
  operation('schedule.list', {
    summary: 'What the server does by itself, and how the last run ended',
    effect: 'reads',
    input: {},
    result: z.array(
      z.object({
        name: z.string(),
        next_at: Time.nullable().describe('null: it has not run yet'),
        last_started_at: Time.nullable(),
        last_finished_at: Time.nullable(),
        last_error: z.string().nullable(),
        failures: z.int().describe('In a row'),
      }),
    ),
    run: async ({ read, schedule }) => {
      const rows = await read.selectFrom('job').selectAll().execute()
      const iso = (ms: number | null | undefined) =>
        ms === null || ms === undefined ? null : new Date(ms).toISOString()
      return schedule.names.map((name) => {
        const row = rows.find((one) => one.name === name)
        return {
          name,
          next_at: iso(row?.next_at),
          last_started_at: iso(row?.last_started_at),
          last_finished_at: iso(row?.last_finished_at),
          last_error: row?.last_error ?? null,
          failures: row?.failures ?? 0,
        }
      })
    },
  }),
  operation('schedule.run', {
    summary: 'Do now what the server does by itself',
    effect: 'writes',
    isLong: true,
    input: { name: z.string().min(1) },
    result: Nothing,
    run: ({ schedule, engine }, { name }) => {
      if (!leads(engine))
        throw new ApiError('service_unavailable', {
          message:
            'another node leads, and runs the jobs: ask its console; `nodes` says which it is',
        })
      return nothing(schedule.run(name))
    },
  }),
  operation('backups.list', {
    summary: 'Backups that were made of this installation, the newest first',
    effect: 'reads',
    input: {},
    result: z.array(
      z.object({
        to: z.string().describe('Where it was written'),
        made_at: Time,
        made_by: z.string(),
        present: z.boolean().describe('It is still there'),
      }),
    ),
    run: (ctx) => listBackups(ctx),
  }),
  operation('backups.make', {
    summary: 'Copy the installation to an empty folder, while a server runs',
    effect: 'writes',
    isLong: true,
    input: {
      to: z.string().min(1).describe('where to; it is made where it is not there'),
      dry_run: DryRun,
    },
    result: z.object({
      to: z.string(),
      format: z.literal(1),
      made_at: Time,
      schema: z.int(),
      secret_key_id: z.string(),
      journal: Head.nullable(),
      audit: Head.nullable().optional(),
      files: z.array(z.object({ path: z.string(), size: z.int(), sha256: z.string() })),
      bytes: z.int(),
    }),
    run: (ctx, { to, dry_run: dryRun }, { onProgress }) =>
      makeBackup(ctx, ctx.background, { to, dryRun, onProgress }),
  }),
  operation('backups.verify', {
    summary: 'Check a backup without putting it back: digests, databases, journal, audit',
    description: LISTED,
    effect: 'reads',
    isLong: true,
    input: { to: Folder },
    result: z.object({
      backup: z.string(),
      made_at: Time,
      files: z.int(),
      bytes: z.int(),
      schema: z.int(),
      contents: Contents.nullable().describe('null: the schema is that of an earlier release'),
      journal: JournalProof.nullable(),
      audit: AuditProof.nullable(),
      unproved: z.string().nullable().describe('Why journal and audit were not proved'),
      sound: z.boolean(),
    }),
    run: (ctx, { to }) => checkListed(ctx, to, ctx.keyPlaces),
  }),
  operation('backups.drill', {
    summary: 'Put a backup back into a throwaway folder, prove it, and remove it again',
    description: LISTED,
    effect: 'writes',
    asksAgain: true,
    isLong: true,
    input: { to: Folder },
    result: z.object({
      backup: z.string(),
      made_at: Time,
      age: z.number().describe('Milliseconds since it was made'),
      bytes: z.int(),
      contents: Contents,
      journal: JournalProof,
      audit: AuditProof,
      restored_in: z.int().describe('Milliseconds until it was in place'),
      proved_in: z.int().describe('Milliseconds until it was opened and proved'),
      sound: z.boolean(),
    }),
    run: (ctx, { to }) => drillListed(ctx, ctx.open, to, ctx.keyPlaces),
  }),
] as const
