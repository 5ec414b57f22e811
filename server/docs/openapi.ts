/** The OpenAPI document as the reference, the search and llms-full.txt read it. */
import type { Registry } from '../../lib/distributors/registry.js'
import { present } from '../../lib/core/present.js'
import { openApiDocument } from '../openapi/document.js'
import type { Components, Schema } from './compact.js'

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: Schema
  example?: unknown
}

export interface Header {
  description: string
  schema: Schema
  example?: unknown
}

export interface Content {
  schema: Schema
  example?: unknown
  /** By the code of the refusal. */
  examples?: Record<string, Referred<{ summary?: string; value: unknown }>>
}

export interface Answer {
  /** Of a refusal, a paragraph for each of its codes. */
  description: string
  headers?: Record<string, Referred<Header>>
  content?: Record<string, Content>
}

export interface Operation {
  operationId: string
  tags: [string]
  summary: string
  description: string
  /** Empty where no key is needed. */
  security?: []
  parameters?: Parameter[]
  requestBody?: {
    description: string
    required: boolean
    content: { 'application/json': Content }
  }
  /** By status; one that many operations have is referred to. */
  responses: Record<string, Referred<Answer>>
}

export type Referred<T> = T | { $ref: string }

export interface OpenApi {
  info: { version: string; description: string }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Components
    responses: Record<string, Answer>
    headers: Record<string, Header>
    examples: Record<string, { summary?: string; value: unknown }>
  }
}

/** An operation with its address. */
export interface Called extends Operation {
  method: string
  path: string
}

/** The document; it names no server, for its readers know which one they asked. */
export function describedBy(registry: Registry): OpenApi {
  return openApiDocument('/', registry) as unknown as OpenApi
}

/** All operations, in the order of the document. */
export function operationsOf({ paths }: OpenApi): Called[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  )
}

/** Where the reference tells of an operation: `/orders/ordersPlace`. */
export function anchorOf({ tags: [tag], operationId }: Pick<Operation, 'tags' | 'operationId'>) {
  return `/${tag}/${operationId}`
}

/** What a reference into the components leads to; anything else as it is. */
export function resolved<T extends object>(
  given: Referred<T>,
  kind: keyof OpenApi['components'],
  { components }: OpenApi,
): T {
  if (!isReference(given)) return given
  const name = given.$ref.slice(given.$ref.lastIndexOf('/') + 1)
  return present((components[kind] as Record<string, unknown>)[name], given.$ref) as T
}

export function isReference(given: object): given is { $ref: string } {
  return '$ref' in given
}
