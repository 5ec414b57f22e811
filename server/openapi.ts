/** The OpenAPI 3.0.3 document, from the one list of endpoints (contract "Versioning"). */
import * as z from 'zod'
import type { Endpoint } from '../lib/core/endpoint.js'
import { ERRORS } from '../lib/core/errors.js'
import type { ErrorCode } from '../lib/core/errors.js'
import type { Registry } from '../lib/distributors/registry.js'
import { allEndpoints } from '../lib/endpoints.js'
import { headerOf } from '../lib/routes.js'
import { configurationComponents } from './openapi-configuration.js'

type Json = Record<string, unknown>

/** Refusals that any endpoint can answer with. */
const EVERYWHERE: ErrorCode[] = [
  'missing_api_key', 'invalid_api_key', 'key_disabled', 'key_cancelled', 'ip_whitelist_required', 'ip_not_allowed', 'rate_limited',
  'internal_error', 'service_unavailable',
]

/** Builds the document. `url` is the server's base address; each distributor of the registry has a configuration schema of its own. */
export function openApiDocument(url: string, registry: Registry): Json {
  const paths: Record<string, Json> = {}
  for (const endpoint of allEndpoints) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: operation(endpoint) }
  }
  Object.assign(paths, documentationPaths())
  return {
    openapi: '3.0.3',
    info: {
      title: 'Quartermaster', version: '1.0.0', license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
      description: 'Distributor commerce integration: your own restricted and priced catalog out of many distributors, quotes and orders. Server-side use only: a key authorizes real purchases.',
    },
    servers: [{ url }],
    tags: [...new Set(allEndpoints.map(tagOf))].map((name) => ({ name })),
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
      schemas: { Error: errorSchema(), ...configurationComponents(registry) },
    },
  }
}

function tagOf(endpoint: Endpoint): string {
  if (endpoint.id === 'distributors') return 'config'
  if (endpoint.id === 'analytics') return 'analytics'
  return endpoint.id.includes('.') ? endpoint.id.split('.')[0]! : 'account'
}

function operation(endpoint: Endpoint): Json {
  return {
    operationId: endpoint.id.replaceAll(/\.(\w)/g, (_, letter: string) => letter.toUpperCase()),
    tags: [tagOf(endpoint)],
    summary: endpoint.summary,
    ...endpoint.description !== undefined && { description: endpoint.description },
    parameters: [...parameters(endpoint.params, 'path'), ...parameters(endpoint.query, 'query'), ...parameters(endpoint.headers, 'header')],
    ...endpoint.hasBody && {
      requestBody: { required: endpoint.bodyIsOptional !== true, content: { 'application/json': { schema: endpoint.bodySchema ?? toSchema(endpoint.body, 'input'), ...endpoint.example.request !== undefined && { example: endpoint.example.request } } } },
    },
    responses: responses(endpoint),
  }
}

function parameters(shape: z.ZodObject, place: 'path' | 'query' | 'header'): Json[] {
  const { properties = {}, required = [] } = toSchema(shape, 'input') as { properties?: Record<string, Json>; required?: string[] }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name: place === 'header' ? headerName(name) : name, in: place, required: required.includes(name), ...description !== undefined && { description }, schema,
  }))
}

/** `if_match` -> `If-Match`. */
function headerName(member: string): string {
  return headerOf(member).replaceAll(/(^|-)(\w)/g, (_, dash: string, letter: string) => dash + letter.toUpperCase())
}

function responses(endpoint: Endpoint): Json {
  const codes = new Map<number, ErrorCode[]>()
  for (const code of codesOf(endpoint)) codes.set(ERRORS[code][0], [...codes.get(ERRORS[code][0]) ?? [], code])
  const success = {
    description: 'Success',
    headers: answerHeaders(endpoint),
    content: { 'application/json': endpoint.isRaw ? { schema: toSchema(endpoint.result, 'output'), example: endpoint.example.result } : enveloped(endpoint) },
  }
  const errors = [...codes].sort(([a], [b]) => a - b).map(([status, names]) => [status, {
    description: names.map((name) => `\`${name}\`: ${ERRORS[name][1]}`).join('\n\n'),
    ...status === 429 && { headers: { 'Retry-After': { description: 'Whole seconds, never too early', schema: { type: 'integer' } } } },
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, example: { success: false, error: { code: names[0], message: ERRORS[names[0]!][1] } } } },
  }])
  return { 200: success, ...Object.fromEntries(errors) as Json }
}

function enveloped(endpoint: Endpoint): Json {
  return {
    schema: { type: 'object', required: ['success', 'data'], properties: { success: { type: 'boolean', enum: [true] }, data: toSchema(endpoint.result, 'output') } },
    example: { success: true, data: endpoint.example.result },
  }
}

/** Every code that an endpoint can answer with. */
export function codesOf(endpoint: Endpoint): ErrorCode[] {
  const ofRequest: ErrorCode[] = [...needsParameters(endpoint) ? ['invalid_parameter' as const] : [], ...endpoint.hasBody ? ['invalid_json' as const, 'payload_too_large' as const] : []]
  return [...new Set([...endpoint.errors, ...ofRequest, ...EVERYWHERE])]
}

function needsParameters(endpoint: Endpoint): boolean {
  return endpoint.hasBody || Object.keys(endpoint.query.shape).length > 0
}

function answerHeaders({ resultHeaders = {} }: Endpoint): Json {
  const text = (description: string) => ({ description, schema: { type: 'string' } })
  return {
    ...Object.fromEntries(Object.entries(resultHeaders).map(([name, description]) => [name, text(description)])),
    'X-Request-Id': text('Yours when it was sane, else made here'),
    'RateLimit-Policy': text('The limits of the key'),
    'RateLimit': text('What is left of them'),
  }
}

function errorSchema(): Json {
  return {
    type: 'object', required: ['success', 'error'],
    properties: {
      success: { type: 'boolean', enum: [false] },
      error: {
        type: 'object', required: ['code', 'message'],
        properties: {
          code: { type: 'string', enum: Object.keys(ERRORS) },
          message: { type: 'string' },
          details: { description: 'Structured; for invalid_parameter a list of {path, message}' },
        },
      },
    },
  }
}

/** A zod shape as an OpenAPI 3.0 schema, without the bounds of JavaScript's integers. */
function toSchema(shape: z.ZodType, io: 'input' | 'output'): Json {
  const schema = z.toJSONSchema(shape, { target: 'openapi-3.0', io, unrepresentable: 'any' }) as Json
  return tidy(schema) as Json
}

function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy)
  if (typeof value !== 'object' || value === null) return value
  // A shape that stands for a component names it.
  if ('ref' in value && typeof value.ref === 'string') return { $ref: `#/components/schemas/${value.ref}` }
  return Object.fromEntries(Object.entries(value)
    .filter(([name, member]) => name !== '$schema' && name !== '$id' && !((name === 'maximum' || name === 'minimum') && Math.abs(Number(member)) === Number.MAX_SAFE_INTEGER))
    .map(([name, member]) => [name, tidy(member)]))
}

function documentationPaths(): Record<string, Json> {
  return {
    '/v1/openapi.json': {
      get: {
        operationId: 'openapi', tags: ['account'], summary: 'This document', security: [],
        responses: { 200: { description: 'OpenAPI 3.0.3', content: { 'application/json': { schema: { type: 'object' } } } } },
      },
    },
  }
}
