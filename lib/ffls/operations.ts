/** The operator's operations on dealers. */
import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { undoableOf } from '../db/undoable.js'
import { operationsOf } from '../core/endpoint/operation.js'
import type { Work } from '../core/endpoint/operation.js'
import {
  BrokenRow,
  Distid,
  DryRun,
  Time,
  Upload,
  limitOf,
} from '../core/endpoint/operation-shapes.js'
import type { AccountListCtx } from './account-list.js'
import { importOnFileByAccount } from './account-list.js'
import { addDealer, setDealer, viewDealer } from './dealer-settings.js'
import { documentForOperator, removeDocument, storeDocument } from './documents.js'
import { expiringLicenses } from './expiring.js'
import { DEALER_TYPES } from './license.js'
import { heldRemovals } from './lists/held.js'
import { importDealers } from './lists/import.js'
import type { ListOptions } from './lists/report.js'
import { importOnFile } from './on-file.js'
import { searchDealers } from './search.js'

const operation = operationsOf<AccountListCtx>()
const undoable = undoableOf<AccountListCtx>()

const License = z
  .string()
  .min(1)
  .describe('license number; unknown digits may be X, or region-district-sequence alone')
const Kind = z.enum(['ffl', 'sot']).describe('ffl or sot')
const Named = z.object({ license_number: z.string(), name: z.string(), state: z.string() })

const DealerView = z
  .object({
    id: z.string(),
    license_number: z.string(),
    license_type: z.string(),
    expires_on: z.string(),
    valid_until: z.string().nullable(),
    license_name: z.string(),
    business_name: z.string().nullable(),
    premise_street: z.string(),
    premise_city: z.string(),
    premise_state: z.string(),
    premise_zip: z.string(),
    mail_street: z.string().nullable(),
    mail_city: z.string().nullable(),
    mail_state: z.string().nullable(),
    mail_zip: z.string().nullable(),
    voice_phone: z.string().nullable(),
    email: z.string().nullable(),
    fee_longgun: z.number().nullable().describe('Dollars'),
    fee_handgun: z.number().nullable().describe('Dollars'),
    source: z.enum(['atf', 'on_file', 'operator']),
    active: z.boolean(),
    listed: z.boolean(),
    own_phone: z.boolean(),
    residential: z.boolean(),
    contact_required: z.boolean(),
    marked_on_file: z.boolean(),
    sot_on_file: z.boolean(),
    on_file_with: z.array(z.string()),
    documents: z.array(z.string()),
  })
  .meta({ component: 'DealerView', about: 'A dealer as the operator sees it' })

const REPORT = {
  as_of: Time.describe('When the list was made'),
  rows: z.int(),
  skipped: z.record(z.string(), z.int()).describe('Rows by type of license that is not taken'),
  rejected: z.int(),
  reasons: z.record(z.string(), z.int()).describe('Rejected rows by reason'),
  rejects: z.array(BrokenRow),
  cut_off: BrokenRow.nullable(),
}
const Renewals = z.array(z.object({ from: z.string(), to: z.string(), name: z.string() }))
const KEPT = {
  missing: z.int().describe('How many the list lacks'),
  known: z.int().describe('Of so many that are known'),
  reason: z.string().describe('Why it may not take them away'),
}

const ImportResult = z.object({
  ...REPORT,
  added: z.int(),
  renewed: z.int(),
  changed: z.int(),
  unchanged: z.int(),
  outdated: z.int(),
  gone: z.int(),
  kept: z
    .array(z.object({ state: z.string(), ...KEPT }))
    .describe('States in which the list may not revoke: their removals are held'),
  renewals: Renewals,
  changes: z.array(
    z.object({ license_number: z.string(), name: z.string(), columns: z.array(z.string()) }),
  ),
  losses: z.array(Named),
  ended_extensions: z.array(
    z.object({ license_number: z.string(), name: z.string(), valid_until: z.string() }),
  ),
})

const OnFileResult = z
  .object({
    ...REPORT,
    distid: z.string(),
    marked: z.int(),
    unchanged: z.int(),
    unmarked: z.int(),
    added: z.int(),
    renewed: z.int(),
    unknown: z.int(),
    kept: z.object(KEPT).nullable(),
    additions: z.array(Named),
    renewals: Renewals,
  })
  .meta({ component: 'OnFileResult', about: "What a distributor's list of dealers has changed" })

const LIST = {
  types: z
    .array(z.string())
    .optional()
    .describe(`types of license to take; ${DEALER_TYPES.join(',')} by default`),
  dry_run: DryRun,
}
const AsOf = z.iso
  .datetime()
  .optional()
  .describe("when the list was made; by default the file's modification time, or now for an upload")
const Force = z
  .boolean()
  .default(false)
  .describe('take marks away however few dealers the list holds')

/** A list is read, and then written: two bars of one. */
const twoStages =
  ({ onProgress }: Work): NonNullable<ListOptions['onProgress']> =>
  (_stage, done, total, rows) =>
    onProgress(done, total, rows)

const asMs = (asOf: string | undefined) => (asOf === undefined ? {} : { asOf: Date.parse(asOf) })

export const fflOperations = [
  operation('ffls.search', {
    summary: 'Look for dealers by name, license or ZIP',
    effect: 'reads',
    input: {
      text: z.string().max(100).default('').describe('part of a name or a license, or five digits'),
      on_file: z.boolean().optional().describe('only those of whom a license is on file, or not'),
      limit: limitOf(200, 50),
      offset: z.int().min(0).default(0),
    },
    result: z.object({
      count: z.int().describe('All that fit'),
      dealers: z.array(
        z.object({
          license_number: z.string(),
          name: z.string(),
          street: z.string(),
          city: z.string(),
          state: z.string(),
          zip: z.string(),
          phone: z.string().nullable(),
          expires: z.string().describe('YYYY-MM-DD, valid through that day'),
          active: z.boolean(),
          on_file: z.boolean(),
          sot_on_file: z.boolean(),
        }),
      ),
    }),
    run: (ctx, { on_file: onFile, ...input }) => searchDealers(ctx, { ...input, onFile }),
  }),
  operation('ffls.show', {
    summary: 'One dealer, with what you set and who has its license on file',
    effect: 'reads',
    input: { license: License },
    result: DealerView,
    errors: ['not_found'],
    run: (ctx, { license }) => viewDealer(ctx, license),
  }),
  undoable('ffls.set', {
    summary: 'Set what you know of a dealer; lists leave it as it is',
    effect: 'writes',
    input: {
      license: License,
      fee_longgun: z.number().nullable().optional().describe('transfer fee in dollars, or none'),
      fee_handgun: z.number().nullable().optional().describe('transfer fee in dollars, or none'),
      email: z.string().nullable().optional().describe('address, or none'),
      phone: z
        .string()
        .nullable()
        .optional()
        .describe('10 digits, and no list changes it; none leaves it to the lists'),
      residential: z.boolean().optional().describe('home-based'),
      contact_required: z.boolean().optional().describe('call before shipping'),
      on_file: z.boolean().optional().describe('you have a copy of the license'),
      sot: z.boolean().optional().describe('takes in NFA items: you have a copy of the SOT'),
      valid_until: z
        .string()
        .nullable()
        .optional()
        .describe('day until which the license is valid beyond its own date, or none'),
      reason: z.string().optional().describe('why; needed for a longer validity'),
    },
    result: DealerView,
    errors: ['not_found'],
    run: (ctx, { license, ...settings }) => setDealer(ctx, license, settings),
  }),
  undoable('ffls.add', {
    summary: 'Add a dealer that no list has',
    effect: 'writes',
    input: {
      license_number: z.string().min(1).describe('license number in full'),
      name: z.string().min(1).describe('name on the license'),
      business_name: z.string().optional().describe('trade name'),
      street: z.string().min(1).describe('premise'),
      city: z.string().min(1).describe('premise'),
      state: z.string().min(2).describe('two letters'),
      zip: z.string().min(5).describe('5 or 9 digits'),
      phone: z.string().optional().describe('10 digits'),
      email: z.string().optional().describe('address'),
      reason: z.string().min(1).describe('why; kept in the audit'),
    },
    result: DealerView,
    run: addDealer,
  }),
  operation('ffls.expiring', {
    summary: 'Licenses that end soon, of the dealers that you work with',
    effect: 'reads',
    input: {
      days: z
        .int()
        .min(0)
        .max(366)
        .default(60)
        .describe('how many days ahead to look; 60 by default'),
    },
    result: z.array(
      z.object({
        license_number: z.string(),
        name: z.string(),
        city: z.string(),
        state: z.string(),
        expiration_date: z.string(),
        days_left: z.int().describe('Below 0: it has ended'),
        reminder: z.int().nullable(),
        ffl_on_file: z.boolean(),
        last_order: z.string().nullable(),
      }),
    ),
    run: expiringLicenses,
  }),
  operation('ffls.held', {
    summary: 'What the last lists lack and may not take away, so that it waits for you',
    effect: 'reads',
    input: {},
    result: z.array(
      z.object({
        distid: z.string().nullable().describe("Whose list it is; null: the ATF's"),
        state: z.string().nullable().describe("Of the ATF's list: where the dealers are"),
        ...KEPT,
        as_of: Time.describe('When the list was made'),
      }),
    ),
    run: (ctx) => heldRemovals(ctx),
  }),
  operation('ffls.import', {
    summary: "Take in the ATF's monthly list of licensees",
    effect: 'writes',
    isLong: true,
    input: {
      upload: Upload,
      ...LIST,
      as_of: AsOf,
      revoke: z
        .array(z.string())
        .optional()
        .describe('take dealers off the list in this state whatever the list holds'),
      accept: z
        .boolean()
        .default(false)
        .describe('the list is whole: take off all dealers that it lacks'),
    },
    result: ImportResult,
    run: (ctx, { upload, dry_run: dryRun, as_of: asOf, ...input }, work) =>
      importDealers(
        ctx,
        { ...input, file: work.upload(upload).path },
        { ...asMs(asOf), dryRun, onProgress: twoStages(work) },
      ),
  }),
  operation('ffls.onFile', {
    summary: "Take in a distributor's list of the dealers whose license it has",
    effect: 'writes',
    isLong: true,
    input: {
      distid: Distid,
      upload: Upload,
      ...LIST,
      as_of: AsOf,
      force: Force,
    },
    result: OnFileResult,
    run: (ctx, { upload, dry_run: dryRun, as_of: asOf, ...input }, work) =>
      importOnFile(
        ctx,
        { ...input, file: work.upload(upload).path },
        { ...asMs(asOf), dryRun, onProgress: twoStages(work) },
      ),
  }),
  operation('ffls.onFileByAccount', {
    summary: 'Ask a distributor for its list of dealers with the account of a shop',
    effect: 'writes',
    isLong: true,
    input: {
      distid: Distid,
      subscriber: z.string().min(1).describe('whose account it is, by name or id'),
      ...LIST,
      force: Force,
    },
    result: OnFileResult,
    errors: ['not_found'],
    run: (ctx, { dry_run: dryRun, ...input }, work) =>
      importOnFileByAccount(ctx, input, { dryRun, onProgress: twoStages(work) }),
  }),
  operation('ffls.document', {
    summary: "An address of a dealer's document, for fifteen minutes",
    effect: 'reads',
    input: { license: License, kind: Kind },
    result: z.object({ url: z.string(), expires_in_seconds: z.int() }),
    errors: ['not_found', 'document_not_on_file', 'document_file_unavailable'],
    run: (ctx, { license, kind }) =>
      documentForOperator(ctx, { license_number: license, document_type: kind }),
  }),
  operation('ffls.storeDocument', {
    summary: "Store a copy of a dealer's license",
    effect: 'writes',
    input: { license: License, kind: Kind, upload: Upload },
    result: z.object({ license_number: z.string(), content_type: z.string() }),
    errors: ['not_found'],
    run: async (ctx, { license, kind, upload }, work) =>
      storeDocument(ctx, {
        license_number: license,
        document_type: kind,
        bytes: await readFile(work.upload(upload).path),
      }),
  }),
  operation('ffls.removeDocument', {
    summary: 'Remove the copy that is there',
    effect: 'writes',
    input: { license: License, kind: Kind },
    result: z.object({ license_number: z.string() }),
    errors: ['not_found', 'document_not_on_file'],
    run: (ctx, { license, kind }) =>
      removeDocument(ctx, { license_number: license, document_type: kind }),
  }),
] as const
