/** `/operator/openapi.json`: the calls of the console, from the one list of operations. */
import { allOperations } from '../../lib/app/operations/index.js'
import type { OperationCtx } from '../../lib/app/operations/ctx.js'
import type { AnyOperation } from '../../lib/core/endpoint/operation.js'
import { ERRORS } from '../../lib/core/errors.js'
import type { ErrorCode } from '../../lib/core/errors.js'
import { collectSchemas } from '../openapi/schemas.js'
import type { Json, Schemas } from '../openapi/schemas.js'
import { SHOP_ENDPOINTS } from './calls.js'
import { sentenceOf, statusOf } from './refusals.js'
import type { RefusalCode } from './refusals.js'

/** Of every operation. */
const EVERYWHERE: readonly ErrorCode[] = [
  'invalid_parameter',
  'invalid_json',
  'payload_too_large',
  'service_unavailable',
  'internal_error',
]
const AT_THE_DOOR: readonly RefusalCode[] = [
  'signed_out',
  'wrong_origin',
  'wrong_csrf',
  'proxy_unknown',
  'address_refused',
]

/** Statuses of an operation's refusals, with their codes. */
export function refusalsOf(operation: AnyOperation<OperationCtx>): Map<number, string[]> {
  const own: RefusalCode[] = [
    ...AT_THE_DOOR,
    ...(operation.effect === 'writes' ? (['viewer_may_not'] as const) : []),
    ...(operation.asksAgain ? (['confirm_password'] as const) : []),
  ]
  const statuses = new Map<number, string[]>()
  const add = (status: number, code: string) =>
    statuses.set(status, [...(statuses.get(status) ?? []), code])
  for (const code of own) add(statusOf(code), code)
  for (const code of new Set([...EVERYWHERE, ...(operation.errors ?? [])]))
    add(ERRORS[code][0], code)
  return statuses
}

/** Builds the document (OpenAPI 3.0.3). */
export function operatorDocument(): Json {
  const schemas = collectSchemas()
  const paths = Object.fromEntries(
    allOperations.map((operation) => [
      `/operator/${operation.id.replace('.', '/')}`,
      { post: described(operation, schemas) },
    ]),
  )
  const shop = Object.fromEntries(
    SHOP_ENDPOINTS.map(({ id, summary }) => [
      `/operator/shop/${id}`,
      {
        post: {
          operationId: `shop.${id}`,
          tags: ['shop'],
          summary: `As a shop sees it: ${summary}`,
          requestBody: bodyOf(SHOP_INPUT),
          responses: { 200: answerOf({}, `As ${id} of /v1 answers`) },
        },
      },
    ]),
  )
  return {
    openapi: '3.0.3',
    info: {
      title: 'Quartermaster, the operator',
      version: '1.0.0',
      description:
        'The calls of the console. A call needs the cookie of a sign-in and its x-csrf header, ' +
        'and comes from the origin of the console itself. Long work answers {"job": id}; ' +
        'GET /operator/jobs/{id}/events tells how far it is, and its result.',
    },
    paths: { ...paths, ...shop },
    components: { schemas: schemas.named },
  }
}

const SHOP_INPUT: Json = {
  type: 'object',
  required: ['subscriber'],
  properties: {
    subscriber: { type: 'string', description: 'name or id of the shop' },
    params: { type: 'object' },
    query: { type: 'object' },
    body: { type: 'object' },
  },
  additionalProperties: false,
}

const JOB: Json = {
  type: 'object',
  required: ['job'],
  properties: { job: { type: 'string' } },
  additionalProperties: false,
}

function described(operation: AnyOperation<OperationCtx>, schemas: Schemas): Json {
  const { id, summary, effect, asksAgain, isLong } = operation
  const description = [
    operation.description,
    ...Object.entries(operation.parts ?? {}).map(([name, text]) => `\`${name}\`: ${text}.`),
  ]
    .filter(Boolean)
    .join('\n\n')
  const result = schemas.of(operation.result, 'output')
  const refusals = [...refusalsOf(operation)].map(([status, codes]) => [
    status,
    {
      description: codes
        .map(
          (code) =>
            `\`${code}\`: ${code in ERRORS ? ERRORS[code as ErrorCode][1] : sentenceOf(code as RefusalCode)}`,
        )
        .join('\n\n'),
      content: { 'application/json': { schema: failureOf(codes) } },
    },
  ])
  return {
    operationId: id,
    tags: [id.slice(0, id.indexOf('.'))],
    summary,
    ...(description !== '' && { description }),
    'x-effect': effect,
    ...(asksAgain && { 'x-asks-again': true }),
    ...(isLong && { 'x-result': result }),
    requestBody: bodyOf(schemas.of(operation.input, 'input')),
    responses: {
      200: answerOf(isLong ? JOB : result, isLong ? 'The work has begun' : 'What it tells'),
      ...(Object.fromEntries(refusals) as Json),
    },
  }
}

const bodyOf = (schema: Json): Json => ({
  required: true,
  content: { 'application/json': { schema } },
})

function answerOf(data: Json, description: string): Json {
  return {
    description,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required: ['success', 'data'],
          properties: { success: { type: 'boolean', enum: [true] }, data },
          additionalProperties: false,
        },
      },
    },
  }
}

function failureOf(codes: readonly string[]): Json {
  return {
    type: 'object',
    required: ['success', 'error'],
    properties: {
      success: { type: 'boolean', enum: [false] },
      error: {
        type: 'object',
        required: ['code', 'message'],
        properties: {
          code: { type: 'string', enum: codes },
          message: { type: 'string' },
          details: {},
        },
        additionalProperties: false,
      },
    },
    additionalProperties: false,
  }
}
