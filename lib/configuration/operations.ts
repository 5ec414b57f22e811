/** The operator's operations on configurations: of one shop each, and what they lead to. */
import * as z from 'zod'
import { findSubscriber } from '../accounts/subscribers.js'
import { CLASS_CODES } from '../distributors/product-classes.js'
import { operationsOf } from '../core/endpoint/operation.js'
import {
  Distid,
  Nothing,
  Reason,
  Subscriber,
  Time,
  nothing,
} from '../core/endpoint/operation-shapes.js'
import { checkCredentials, recordCredentialCheck } from './credentials.js'
import type { ConfigurationCtx } from './ctx.js'
import { explainProduct } from './explain.js'
import { goLive, planGoLive } from './go-live.js'
import {
  configurationHistory,
  diffVersions,
  previewRollBack,
  readVersion,
  rollBack,
} from './history.js'
import { previewChanges, previewConfiguration, putConfiguration } from './put.js'
import { maskSaved } from './saved-documents.js'
import { DryRun as CheckedCandidate, ValidationReport } from './shapes.js'
import { validateCandidate, validateSaved } from './validate.js'

const operation = operationsOf<ConfigurationCtx>()

const Document = z.looseObject({}).describe('A configuration document, secrets as ********')
const Candidate = z.unknown().describe('the whole document; asterisks keep a stored secret')
const Version = z.int().min(1).describe('a number of `config history`')
const Validate = z
  .boolean()
  .default(false)
  .describe('refuse when more of the live catalog would go than the delete threshold allows')
const Saved = z.object({ version: z.int() })

const Impact = z.object({
  deleted: z.int().describe('Offers that are visible now and would not be'),
  live: z.int(),
  deleted_percent: z.number().describe('A fraction: 0.25 is a quarter'),
  threshold_percent: z.number(),
  by_distributor: z.array(
    z.object({
      distid: z.string(),
      distributor: z.string(),
      deleted: z.int(),
      live: z.int(),
      deleted_percent: z.number(),
    }),
  ),
})
const Preview = z
  .object({
    impact: Impact,
    offers: z
      .object({
        before: z.int(),
        after: z.int(),
        by_distributor: z.array(
          z.object({
            distid: z.string(),
            distributor: z.string(),
            before: z.int(),
            after: z.int(),
          }),
        ),
      })
      .describe('How many are listed now, and would be'),
    checking: z.array(z.string()).describe('Distributors that would be asked about credentials'),
  })
  .meta({ component: 'ConfigurationPreview', about: 'What saving a configuration would do' })

const ChangedOffer = z
  .object({
    distid: z.string(),
    stockid: z.string(),
    upc: z.string().nullable(),
    name: z.string(),
    unit_price: z.number().describe('Dollars'),
  })
  .meta({ component: 'ChangedOffer', about: 'An offer that a document would hide or show' })

const Credentials = z.array(
  z.object({
    distid: z.string(),
    distributor: z.string(),
    valid: z.boolean().nullable().describe('null: it could not be reached'),
  }),
)

const Plan = z
  .object({
    distid: z.string(),
    distributor: z.string(),
    addresses: z.array(z.string()).describe('Where orders will be sent'),
    shops: z.array(
      z.object({
        subscriber: z.string(),
        accounts: z.array(z.string()),
        valid: z.boolean().nullable(),
      }),
    ),
  })
  .meta({ component: 'GoLivePlan', about: 'What would be sent where, and on whose account' })

export const configurationOperations = [
  operation('configurations.read', {
    summary: 'The configuration document of a shop, its secrets masked',
    effect: 'reads',
    input: { subscriber: Subscriber },
    result: z.object({
      configuration: Document,
      version: z.int().describe('0 before the first save'),
      etag: z.string().describe('Sent as if_match, the save replaces this version only'),
    }),
    errors: ['not_found'],
    run: async (ctx, { subscriber: name }) => {
      const subscriber = await findSubscriber(ctx, name)
      const saved = await ctx.configurations.of(subscriber)
      const { version, etag } = saved
      return { configuration: { ...maskSaved(ctx, saved) }, version, etag }
    },
  }),
  operation('configurations.put', {
    summary: 'Check a document and save it in place of the saved one',
    effect: 'writes',
    input: {
      subscriber: Subscriber,
      document: Candidate,
      validate: Validate,
      if_match: z.string().optional().describe('the etag of the document that it replaces'),
    },
    result: Saved,
    errors: ['not_found', 'schema_validation_failed', 'validation_failed', 'precondition_failed'],
    run: async (ctx, { subscriber, if_match: ifMatch, ...input }) =>
      putConfiguration(ctx, await findSubscriber(ctx, subscriber), { ...input, ifMatch }),
  }),
  operation('configurations.preview', {
    summary: 'What saving a document would do, with every refusal of it; nothing is saved',
    effect: 'reads',
    input: { subscriber: Subscriber, document: Candidate, validate: Validate },
    result: Preview,
    errors: ['not_found', 'schema_validation_failed', 'validation_failed'],
    run: async (ctx, { subscriber, ...input }) =>
      previewConfiguration(ctx, await findSubscriber(ctx, subscriber), input),
  }),
  operation('configurations.changes', {
    summary: 'Which offers a document would hide and show',
    effect: 'reads',
    input: { subscriber: Subscriber, document: Candidate },
    result: z.object({
      before: z.int(),
      after: z.int(),
      by_distributor: z.array(z.object({ distid: z.string(), before: z.int(), after: z.int() })),
      vanishing: z.int(),
      vanish: z.array(ChangedOffer).describe('The first ten'),
      appearing: z.int(),
      appear: z.array(ChangedOffer).describe('The first ten'),
    }),
    errors: ['not_found', 'schema_validation_failed'],
    run: async (ctx, { subscriber, ...input }) =>
      previewChanges(ctx, await findSubscriber(ctx, subscriber), input),
  }),
  operation('configurations.validate', {
    summary: 'Check the saved document and its credentials',
    description: 'Its schema, fields that are not set, live credentials, and what its rules do.',
    effect: 'writes',
    input: { subscriber: Subscriber },
    result: ValidationReport,
    errors: ['not_found'],
    run: async (ctx, { subscriber }) => validateSaved(ctx, await findSubscriber(ctx, subscriber)),
  }),
  operation('configurations.check', {
    summary: 'Check a document against the schema alone',
    description: 'Nothing is saved, and nobody is asked.',
    effect: 'reads',
    input: { subscriber: Subscriber, document: Candidate },
    result: CheckedCandidate,
    errors: ['not_found'],
    run: async (ctx, { subscriber, document }) =>
      validateCandidate(ctx, await findSubscriber(ctx, subscriber), document),
  }),
  operation('configurations.checkCredentials', {
    summary: 'Ask distributors of the saved document about their credentials',
    effect: 'writes',
    input: {
      subscriber: Subscriber,
      names: z.array(z.string()).min(1).describe('names of distributors in the document'),
    },
    result: Credentials,
    errors: ['not_found'],
    run: async (ctx, { subscriber, names }) =>
      checkCredentials(ctx, await findSubscriber(ctx, subscriber), names),
  }),
  operation('configurations.recordCheck', {
    summary: 'Record that credentials are good or not, without asking the distributor',
    effect: 'writes',
    asksAgain: true,
    input: { subscriber: Subscriber, name: z.string().min(1), valid: z.boolean() },
    result: Nothing,
    errors: ['not_found'],
    run: async (ctx, { subscriber, name, valid }) =>
      nothing(recordCredentialCheck(ctx, await findSubscriber(ctx, subscriber), name, valid)),
  }),
  operation('configurations.history', {
    summary: 'Every save of the document, the newest first: when and by whom',
    effect: 'reads',
    input: { subscriber: Subscriber },
    result: z.array(
      z.object({
        version: z.int(),
        saved_at: Time,
        saved_by: z.string().describe('cli, console:pat, or the id of a key'),
      }),
    ),
    errors: ['not_found'],
    run: async (ctx, { subscriber }) =>
      configurationHistory(ctx, await findSubscriber(ctx, subscriber)),
  }),
  operation('configurations.version', {
    summary: 'An earlier version of the document',
    description: 'Its secrets are masked.',
    effect: 'reads',
    input: { subscriber: Subscriber, version: Version },
    result: Document,
    errors: ['not_found'],
    run: async (ctx, { subscriber, version }) => ({
      ...(await readVersion(ctx, await findSubscriber(ctx, subscriber), version)),
    }),
  }),
  operation('configurations.diff', {
    summary: 'What changed from one version of the document to another; secrets stay masked',
    effect: 'reads',
    input: { subscriber: Subscriber, from: Version, to: Version },
    result: z.array(
      z.object({
        path: z.string().describe('JSON Pointer'),
        change: z.enum(['added', 'removed', 'changed']),
        before: z.unknown().optional(),
        after: z.unknown().optional(),
      }),
    ),
    errors: ['not_found'],
    run: async (ctx, { subscriber, from, to }) =>
      diffVersions(ctx, await findSubscriber(ctx, subscriber), from, to),
  }),
  operation('configurations.rollback', {
    summary: 'Save an earlier version anew, its secrets with it',
    effect: 'writes',
    input: { subscriber: Subscriber, version: Version, validate: Validate },
    result: Saved,
    errors: ['not_found', 'schema_validation_failed', 'validation_failed'],
    run: async (ctx, { subscriber, version, validate }) =>
      rollBack(ctx, await findSubscriber(ctx, subscriber), version, { validate }),
  }),
  operation('configurations.previewRollback', {
    summary: 'What a roll-back would do; nothing is saved',
    effect: 'reads',
    input: { subscriber: Subscriber, version: Version, validate: Validate },
    result: Preview,
    errors: ['not_found', 'schema_validation_failed', 'validation_failed'],
    run: async (ctx, { subscriber, version, validate }) =>
      previewRollBack(ctx, await findSubscriber(ctx, subscriber), version, { validate }),
  }),
  operation('distributors.planGoLive', {
    summary: 'What going live with a distributor would mean; asks it about every shop',
    effect: 'writes',
    input: { distid: Distid },
    result: Plan,
    run: (ctx, { distid }) => planGoLive(ctx, distid),
  }),
  operation('distributors.goLive', {
    summary: 'Place real purchase orders with a distributor from now on',
    effect: 'writes',
    asksAgain: true,
    input: { distid: Distid, reason: Reason },
    result: Plan,
    errors: ['fulfillment_not_configured'],
    run: goLive,
  }),
  operation('catalog.explain', {
    summary: 'Why a shop sees the offers of a UPC, or does not',
    effect: 'reads',
    input: { subscriber: Subscriber, upc: z.string().describe('8 to 14 digits') },
    result: z.array(
      z.object({
        distid: z.string(),
        stockid: z.string(),
        distsku: z.string(),
        name: z.string(),
        visible: z.boolean(),
        unit_price: z.number().nullable(),
        qty_on_hand: z.int(),
        hidden_by: z.array(
          z.object({
            pointer: z.string().nullable().describe('JSON Pointer into the document'),
            reason: z.string(),
          }),
        ),
        borrowed: z
          .object({
            product_class: z.enum(CLASS_CODES),
            ffl_req: z.int(),
            told_by: z.array(z.string()),
            text_of: z.string().nullable(),
          })
          .nullable()
          .describe('What it is shown with that its own feed did not tell'),
        restricted_states: z.array(z.string()).nullable(),
      }),
    ),
    errors: ['not_found', 'feed_unavailable'],
    run: async (ctx, { subscriber, upc }) =>
      explainProduct(ctx, await findSubscriber(ctx, subscriber), upc),
  }),
] as const
