/**
 * The OpenAPI document as the fuzzer reads it: operations, their parameters and bodies, and what
 * each may answer.
 */
import { Ajv } from 'ajv'
import type { ErrorObject, ValidateFunction } from 'ajv'

export interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  nullable?: boolean
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  minItems?: number
  maxItems?: number
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: boolean | number
  exclusiveMaximum?: boolean | number
  pattern?: string
  description?: string
  format?: string
}

export interface Check {
  /** Null for a value that fits, else the first thing that does not. */
  (value: unknown): ErrorObject | null
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  schema: Schema
}

export interface Documented {
  /** Codes of this status; empty for a success. */
  codes: ReadonlySet<string>
  /** Headers that every answer of this status carries, and what their text must fit. */
  headers: { name: string; validate: Check; isNumber: boolean }[]
  /** Null where the body is not JSON. */
  validate: Check | null
}

export interface Operation {
  id: string
  method: string
  path: string
  parameters: Parameter[]
  body: Schema | null
  bodyIsRequired: boolean
  isBodyValid: Check | null
  needsKey: boolean
  /** By status. */
  responses: Map<number, Documented>
}

export interface ApiDocument {
  operations: Operation[]
  /** What a reference stands for, and a schema itself otherwise. */
  resolve(schema: Schema): Schema
  /** Methods of a path template, HEAD beside GET. */
  methodsOf(path: string): string[]
}

type Json = Record<string, unknown>
const METHODS = ['get', 'put', 'post', 'delete', 'patch']

/** Reads the document that the server serves. Throws where it names a schema that is not there. */
export function readDocument(document: Json): ApiDocument {
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: false, logger: false })
  const components = (document['components'] as { schemas: Record<string, Schema> }).schemas
  ajv.addSchema({ $id: 'api', components: { schemas: toJsonSchema(components) } })
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : resolve(components[schema.$ref.split('/').at(-1)!]!)
  const validator = lazyValidators((schema) => ajv.compile(toJsonSchema(schema) as Json))
  const security = document['security'] as unknown[] | undefined
  const operations = Object.entries(document['paths'] as Record<string, Json>).flatMap(
    ([path, methods]) =>
      METHODS.filter((method) => method in methods).map((method): Operation => {
        const operation = methods[method] as Json
        const body = operation['requestBody'] as
          | { required?: boolean; content: Record<string, { schema: Schema }> }
          | undefined
        const schema = body?.content['application/json']?.schema ?? null
        return {
          id: operation['operationId'] as string,
          method: method.toUpperCase(),
          path,
          parameters: (
            (operation['parameters'] ?? []) as (Partial<Parameter> &
              Pick<Parameter, 'name' | 'in' | 'schema'> & { description?: string })[]
          ).map((parameter) => ({
            ...parameter,
            required: parameter.required === true,
            schema: {
              ...resolve(parameter.schema),
              ...(parameter.description !== undefined && { description: parameter.description }),
            },
          })),
          body: schema,
          bodyIsRequired: body?.required === true,
          isBodyValid: schema && validator(schema),
          needsKey: ((operation['security'] ?? security ?? []) as unknown[]).length > 0,
          responses: new Map(
            Object.entries(operation['responses'] as Record<string, Json>).map(
              ([status, response]) => [Number(status), documented(response, document, validator)],
            ),
          ),
        }
      }),
  )
  return {
    operations,
    resolve,
    methodsOf: (path) =>
      operations
        .filter((operation) => operation.path === path)
        .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
  }
}

/** An amount in dollars, which has whole cents: JSON Schema has no rule that says so. */
export function isMoney({ description }: Schema): boolean {
  return description?.includes('at most two decimals') === true
}

/**
 * Compiled when they are first used, and once for all that are the same: hundreds of answers share
 * a few schemas.
 */
function lazyValidators(
  compile: (schema: unknown) => ValidateFunction,
): (schema: unknown) => Check {
  const known = new Map<string, Check>()
  return (schema) => {
    const name = JSON.stringify(schema)
    let check = known.get(name)
    if (!check) {
      let validate: ValidateFunction | undefined
      known.set(
        name,
        (check = (value) => ((validate ??= compile(schema))(value) ? null : validate.errors![0]!)),
      )
    }
    return check
  }
}

/** What an answer of one status is. */
function documented(
  response: Json,
  document: Json,
  validator: (schema: unknown) => Check,
): Documented {
  const { headers = {}, content = {} } = deref(response, document) as {
    headers?: Record<string, Json>
    content?: Record<string, { schema?: Schema }>
  }
  const schema = content['application/json']?.schema
  const required = Object.entries(headers)
    .map(([name, header]) => ({
      name,
      ...(deref(header, document) as { required?: boolean; schema: Schema }),
    }))
    .filter((header) => header.required === true)
  return {
    codes: new Set(schema ? codesOf(schema, document) : []),
    validate: schema ? validator(schema) : null,
    headers: required.map((header) => ({
      name: header.name,
      validate: validator(header.schema),
      isNumber: header.schema.type === 'integer',
    })),
  }
}

/** Each code is a schema of its own. */
function codesOf(given: Schema, document: Json): string[] {
  const schema = deref(given as Json, document) as Schema
  const own = schema.properties?.['error']?.properties?.['code']?.enum as string[] | undefined
  return own ?? (schema.anyOf ?? schema.oneOf ?? []).flatMap((part) => codesOf(part, document))
}

function deref(value: Json, document: Json): Json {
  const reference = value['$ref']
  if (typeof reference !== 'string') return value
  return deref(
    reference
      .slice(2)
      .split('/')
      .reduce((at: Json, part) => at[part] as Json, document),
    document,
  )
}

/** OpenAPI 3.0 as JSON Schema: `nullable`, and bounds that are exclusive. */
export function toJsonSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toJsonSchema)
  if (typeof value !== 'object' || value === null) return value
  const {
    nullable,
    exclusiveMinimum,
    exclusiveMaximum,
    example: _example,
    default: _default,
    ...schema
  } = value as Schema & { example?: unknown; default?: unknown }
  if (schema.$ref !== undefined) return { $ref: schema.$ref.replace('#/', 'api#/') }
  const made = Object.fromEntries(
    Object.entries(schema).map(([name, member]) => [name, toJsonSchema(member)]),
  ) as Schema
  if (exclusiveMinimum === true) made.exclusiveMinimum = made.minimum!
  if (exclusiveMaximum === true) made.exclusiveMaximum = made.maximum!
  if (nullable !== true) return made
  if (made.enum && !made.enum.includes(null)) made.enum = [...made.enum, null]
  if (typeof made.type === 'string') return { ...made, type: [made.type, 'null'] }
  return { anyOf: [made, { type: 'null' }] }
}
