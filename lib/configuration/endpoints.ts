import type { ConfigurationCall } from './ctx.js'
import { endpointsOf } from '../core/endpoint/endpoint.js'
import { invalid } from '../core/errors.js'
import { serialized } from '../core/endpoint/serialized.js'
import * as z from 'zod'
import { putConfiguration } from './put.js'
import { maskSaved } from './saved-documents.js'
import { configurationSchema } from './schema/schema.js'
import {
  PutConfig,
  PutHeaders,
  PutQuery,
  PutResult,
  ReadConfig,
  ValidateConfig,
  ValidateResult,
} from './shapes.js'
import { validateCandidate, validateSaved } from './validate.js'

const endpoint = endpointsOf<ConfigurationCall>()

const EXAMPLE = {
  distributors: {
    Davidsons: {
      active: true,
      distid: 'DAV',
      drop_ship_only_items: false,
      shipping: { flat_rate: { cost: 29.95, shipping_class: 'flat_rate_davidsons' } },
      product_restrictions: { min_quantity_to_list: 2 },
    },
  },
  targets: {},
  notification_email: 'owner@shop.example',
  pricing: { margin: { default: { margin_percentage: 0.2 } } },
  product_restrictions: {},
}

const ETAG = { ETag: 'Of the document; send it as If-Match to save over this version only' }

/** The masked document with its ETag; read together, after whatever this call has saved. */
async function answer<T>(ctx: ConfigurationCall, members: Omit<T, 'configuration'>) {
  const saved = await ctx.configurations.of(ctx.subscriber)
  return serialized<T>(JSON.stringify({ ...members, configuration: maskSaved(ctx, saved) }), {
    etag: saved.etag,
  })
}

export const getConfig = endpoint('config.get', {
  summary: 'Read the configuration document',
  description: 'Credentials are masked as ********.',
  result: ReadConfig,
  resultHeaders: ETAG,
  errors: [],
  example: { result: { configuration: EXAMPLE } },
  run: async (ctx) => answer<z.input<typeof ReadConfig>>(ctx, {}),
})

export const putConfig = endpoint('config.put', {
  summary: 'Replace the configuration document as a whole',
  description:
    'Send the full document, bare or as {"configuration": ...}. A value of asterisks alone ' +
    'keeps the stored secret. The document is checked against its schema before it is saved, ' +
    'and every accepted save is kept in a history.',
  query: PutQuery,
  headers: PutHeaders,
  body: PutConfig,
  bodySchema: {
    anyOf: [
      { $ref: '#/components/schemas/Configuration' },
      {
        type: 'object',
        required: ['configuration'],
        properties: { configuration: { $ref: '#/components/schemas/Configuration' } },
      },
    ],
  },
  result: PutResult,
  resultHeaders: ETAG,
  errors: ['schema_validation_failed', 'validation_failed', 'precondition_failed'],
  example: {
    request: { configuration: EXAMPLE },
    result: { saved: true, configuration: EXAMPLE },
    refused: {
      invalid_parameter: {
        request: { configuration: EXAMPLE, dry_run: true },
        message:
          'dry_run: stands beside configuration; send the document alone, or wrapped and ' +
          'nothing else',
        details: [
          {
            path: 'dry_run',
            message:
              'stands beside configuration; send the document alone, or wrapped and nothing else',
          },
        ],
      },
      schema_validation_failed: {
        request: { ...EXAMPLE, pricing: { marging: {} } },
        message:
          'The configuration does not fit its schema: `pricing.marging` is not a known ' +
          'member; did you mean `margin`?',
        details: [
          {
            path: '/pricing/marging',
            message: '`pricing.marging` is not a known member; did you mean `margin`?',
          },
        ],
      },
      validation_failed: {
        message:
          'The document would remove 88 of 88 live offers (100 %); the delete threshold ' +
          'allows 25 %.',
        details: {
          deleted: 88,
          live: 88,
          deleted_percent: 1,
          threshold_percent: 0.25,
          by_distributor: [
            { distid: 'RSR', distributor: 'RSR Group', deleted: 25, live: 25, deleted_percent: 1 },
            { distid: 'LIP', distributor: 'Lipseys', deleted: 22, live: 22, deleted_percent: 1 },
            {
              distid: 'CSSI',
              distributor: 'Chattanooga Shooting Supplies',
              deleted: 41,
              live: 41,
              deleted_percent: 1,
            },
          ],
        },
      },
    },
  },
  async run(ctx, { query, headers, body }) {
    await putConfiguration(savedBy(ctx), ctx.subscriber, {
      document: unwrap(body),
      validate: query.validate,
      ...(headers.if_match !== undefined && { ifMatch: headers.if_match }),
    })
    return answer<z.input<typeof PutResult>>(ctx, { saved: true })
  },
})

/** History names the key, not the process that serves it. */
function savedBy(ctx: ConfigurationCall): ConfigurationCall {
  return ctx.key ? { ...ctx, actor: ctx.key.id } : ctx
}

/** The document itself has no member `configuration`, so one that has it is wrapped. */
export function unwrap(body: z.output<typeof PutConfig>): unknown {
  if (!Object.hasOwn(body, 'configuration')) return body
  const beside = Object.keys(body).find((name) => name !== 'configuration')
  if (beside !== undefined)
    throw invalid(
      beside.slice(0, 100),
      'stands beside configuration; send the document alone, or wrapped and nothing else',
    )
  return body.configuration
}

export const configSchema = endpoint('config.schema', {
  summary: 'JSON Schema of the configuration document',
  description: 'Draft-04, without the usual envelope.',
  result: z.looseObject({}),
  errors: [],
  example: {
    result: {
      $schema: 'http://json-schema.org/draft-04/schema#',
      title: 'Quartermaster configuration',
      type: 'object',
    },
  },
  run: async (ctx) => serialized(JSON.stringify(configurationSchema(ctx.distributors))),
})

export const validateConfig = endpoint('config.validate', {
  summary: 'Validate the saved document, or a candidate',
  description:
    'With an empty body: schema, unset required fields and live credentials of each active ' +
    'distributor of the SAVED document, which takes some seconds; the results are recorded ' +
    'and decide which distributors are served. With {"configuration": ...}: a dry run of that ' +
    'candidate against the schema.',
  body: ValidateConfig,
  bodyIsOptional: true,
  bodySchema: {
    type: 'object',
    properties: { configuration: { $ref: '#/components/schemas/Configuration' } },
    additionalProperties: false,
  },
  result: ValidateResult,
  errors: [],
  example: {
    result: {
      valid: true,
      schema_errors: [],
      configured_distributors: ['Davidsons'],
      active_distributors: ['Davidsons'],
      credentials: [{ distid: 'DAV', distributor: 'Davidsons', valid: true }],
      warnings: [
        '`distributors.Davidsons` has no offers: the catalog holds no feed of DAV; ask your ' +
          'operator for one, or set `active` to false',
      ],
    },
    refused: {
      invalid_parameter: {
        request: { config: EXAMPLE },
        message: 'config: is not a known member; known are configuration',
        details: [{ path: 'config', message: 'is not a known member; known are configuration' }],
      },
    },
  },
  run: async (ctx, { body }) =>
    Object.hasOwn(body, 'configuration')
      ? validateCandidate(ctx, ctx.subscriber, body.configuration)
      : validateSaved(ctx, ctx.subscriber),
})
