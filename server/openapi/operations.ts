/** Operations of the endpoints, and of the addresses that need no key. */
import type * as z from 'zod'
import type { Endpoint } from '../../lib/core/endpoint/endpoint.js'
import { headerOf } from '../../lib/core/endpoint/routes.js'
import { pageHeaders } from './headers.js'
import { responsesOf } from './responses.js'
import type { Json, Schemas } from './schemas.js'
import { tagOf } from './tags.js'

/** One operation, from its definition. */
export function operation(endpoint: Endpoint, schemas: Schemas): Json {
  const { summary, description, example } = endpoint
  const given = { ...(example.request as Json | undefined) }
  const parameters = [
    ...parametersOf(endpoint.params, 'path', given, schemas),
    ...parametersOf(endpoint.query, 'query', given, schemas),
    ...parametersOf(endpoint.headers, 'header', given, schemas),
  ]
  return {
    operationId: operationIdOf(endpoint),
    tags: [tagOf(endpoint)],
    summary,
    description: description ?? `${summary}.`,
    ...(parameters.length > 0 && { parameters }),
    ...(endpoint.hasBody && { requestBody: requestBody(endpoint, schemas) }),
    responses: responsesOf(endpoint, schemas),
  }
}

/** `orders.place` -> `ordersPlace`. */
export function operationIdOf({ id }: Endpoint): string {
  return id.replaceAll(/\.(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function requestBody(
  { bodyIsOptional = false, bodySchema, body, example }: Endpoint,
  schemas: Schemas,
): Json {
  return {
    description:
      'At most 1 MB (1,048,576 bytes) of ' +
      `JSON${bodyIsOptional ? '; an empty body is {}' : ''}. An unknown member is refused by ` +
      'name.',
    required: !bodyIsOptional,
    content: {
      'application/json': {
        schema: bodySchema ?? schemas.of(body, 'input'),
        ...(example.request !== undefined && { example: example.request }),
      },
    },
  }
}

function parametersOf(
  shape: z.ZodObject,
  place: 'path' | 'query' | 'header',
  given: Json,
  schemas: Schemas,
): Json[] {
  if (Object.keys(shape.shape).length === 0) return []
  const { properties = {}, required = [] } = schemas.of(shape, 'input') as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, example, ...schema }]) => ({
    name: place === 'header' ? headerName(name) : name,
    in: place,
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
    example: given[name] ?? example,
  }))
}

/** `if_match` -> `If-Match`. */
function headerName(member: string): string {
  return headerOf(member).replaceAll(
    /(^|-)(\w)/g,
    (_, dash: string, letter: string) => dash + letter.toUpperCase(),
  )
}

/** The documentation's own addresses (contract "Summary"). */
export function documentationPaths(): Record<string, Json> {
  const pages: [path: string, id: string, type: string, summary: string, schema: Json][] = [
    [
      '/v1/openapi.json',
      'openapi',
      'application/json',
      'This document',
      { type: 'object', description: 'OpenAPI 3.0.3' },
    ],
    [
      '/v1/docs',
      'docs',
      'text/html',
      'The reference, to read and to try out',
      { type: 'string', description: 'A page that needs nothing from elsewhere' },
    ],
    [
      '/v1/docs/guide',
      'guide',
      'text/html',
      'The guide',
      { type: 'string', description: 'A page that needs nothing from elsewhere' },
    ],
    [
      '/v1/llms.txt',
      'llms',
      'text/plain',
      'A list of pages, endpoints and rules, for programs that read',
      { type: 'string', description: 'UTF-8' },
    ],
  ]
  return Object.fromEntries(
    pages.map(([path, operationId, type, summary, schema]) => [
      path,
      {
        get: {
          operationId,
          tags: ['documentation'],
          summary,
          description: `${summary}. Needs no key and is never counted.`,
          security: [],
          responses: {
            200: { description: summary, headers: pageHeaders(), content: { [type]: { schema } } },
            304: {
              description: 'If-None-Match holds the ETag of what is here',
              headers: pageHeaders(),
            },
            405: { $ref: '#/components/responses/PageMethodNotAllowed' },
            431: { $ref: '#/components/responses/TooManyHeaders' },
            500: { $ref: '#/components/responses/InternalError' },
          },
        },
      },
    ]),
  )
}
