/**
 * One definition per endpoint. Routing, decoding, limits, the error table, the envelope, OpenAPI,
 * the library's functions and the remote client all come from it.
 */
import * as z from 'zod'
import { RAW, ROUTES, parseRoute } from './routes.js'
import type { RouteId } from './routes.js'
import { MAX_FAULTS, refusalOf } from '../errors.js'
import type { ErrorCode, Fault } from '../errors.js'
import type { Serialized } from './serialized.js'
import { pathText } from '../json.js'
import { nearest } from '../text.js'

type Shape = z.ZodObject
type Empty = z.ZodObject<Record<never, never>>

export interface Input<P extends Shape, Q extends Shape, B extends Shape, H extends Shape = Shape> {
  params: z.output<P>
  query: z.output<Q>
  body: z.output<B>
  headers: z.output<H>
}

/** How an endpoint refuses in its own words; `request` is one that it refuses so. */
export interface Refused {
  request?: unknown
  message?: string
  details?: unknown
}

export interface Definition<
  P extends Shape,
  Q extends Shape,
  B extends Shape,
  R extends z.ZodType,
  H extends Shape = Shape,
  C = never,
> {
  summary: string
  /** Longer text for the documentation. */
  description?: string
  params?: P
  query?: Q
  body?: B
  /** An empty body is taken for `{}`. */
  bodyIsOptional?: boolean
  /** What the documentation says of the body, where its shape does not say it. */
  bodySchema?: Record<string, unknown>
  /** Members that travel in headers: `if_match` in `If-Match`. */
  headers?: H
  result: R
  /** Headers of the answer, with what they mean. */
  resultHeaders?: Record<string, string>
  /** Refusals beside those that every endpoint has. */
  errors: readonly ErrorCode[]
  /**
   * What the demo's shop sends and gets; of a call without a body, `request` holds its parameters.
   */
  example: { request?: unknown; result: z.input<R>; refused?: Partial<Record<ErrorCode, Refused>> }
  /** `ctx` is what the functions of its domain get. */
  run(ctx: C, input: Input<P, Q, B, H>): Promise<z.input<R> | Serialized<z.input<R>>>
}

export interface Endpoint<
  Id extends RouteId = RouteId,
  P extends Shape = Shape,
  Q extends Shape = Shape,
  B extends Shape = Shape,
  R extends z.ZodType = z.ZodType,
  H extends Shape = Shape,
  C = never,
> extends Definition<P, Q, B, R, H, C> {
  id: Id
  method: string
  /** With its parameters in braces. */
  path: string
  params: P
  query: Q
  body: B
  headers: H
  hasBody: boolean
  /** The answer has no envelope. */
  isRaw: boolean
}

/** An endpoint of any route and any shapes, for code that treats all of them alike. */
export type AnyEndpoint<C = never> = Endpoint<RouteId, Shape, Shape, Shape, z.ZodType, Shape, C>

const NONE = z.object({})

/** Defines the endpoint of a route (contract "Summary"). */
function define<
  C,
  const Id extends RouteId,
  P extends Shape,
  Q extends Shape,
  B extends Shape,
  R extends z.ZodType,
  H extends Shape,
>(id: Id, definition: Definition<P, Q, B, R, H, C>): Endpoint<Id, P, Q, B, R, H, C> {
  const { method, path } = parseRoute(ROUTES[id])
  return {
    ...definition,
    id,
    method,
    path,
    params: definition.params ?? (NONE as unknown as P),
    query: definition.query ?? (NONE as unknown as Q),
    body: definition.body ?? (NONE as unknown as B),
    headers: definition.headers ?? (NONE as unknown as H),
    hasBody: definition.body !== undefined,
    isRaw: RAW.has(id),
  }
}

/** How a domain defines its endpoints: `const endpoint = endpointsOf<CatalogCall>()`. */
export function endpointsOf<C>() {
  return <
    const Id extends RouteId,
    R extends z.ZodType,
    P extends Shape = Empty,
    Q extends Shape = Empty,
    B extends Shape = Empty,
    H extends Shape = Empty,
  >(
    id: Id,
    definition: Definition<P, Q, B, R, H, C>,
  ): Endpoint<Id, P, Q, B, R, H, C> => define(id, definition)
}

/**
 * What a caller of the library passes for an endpoint: parameters, query and body members in one
 * object.
 */
export type CallInput<E> =
  E extends Endpoint<RouteId, infer P, infer Q, infer B, z.ZodType, infer H, infer _C>
    ? InputOf<P> & InputOf<Q> & InputOf<B> & InputOf<H>
    : never
/** An empty shape adds nothing; zod would have it forbid every member. */
type InputOf<S extends Shape> = keyof S['shape'] extends never ? unknown : z.input<S>
export type CallResult<E> =
  E extends Endpoint<RouteId, Shape, Shape, Shape, infer R, Shape, infer _C> ? z.output<R> : never

/**
 * Checks one part of a request against its shape; all faults of all parts are collected, then
 * thrown as one 400.
 */
export function checkPart<S extends z.ZodType>(
  shape: S,
  value: unknown,
  faults: Fault[],
): z.output<S> {
  const result = shape.safeParse(value, { reportInput: true })
  if (result.success) return result.data
  for (const issue of result.error.issues) faults.push(...faultsOf(issue, shape))
  return value as z.output<S>
}

/** Throws the collected faults, at most 100. */
export function refuseFaults(faults: Fault[]): void {
  if (faults.length > 0) throw refusalOf('invalid_parameter', faults)
}

function faultsOf(issue: z.core.$ZodIssue, shape: z.ZodType): Fault[] {
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(shape, issue.path)
    return issue.keys.slice(0, MAX_FAULTS).map((key) => {
      const close = nearest(key, known)
      return {
        path: pathText([...issue.path, key.slice(0, 100)]),
        message:
          'is not a known ' +
          `member${close ? `; did you mean ${close}?` : known.length > 0 ? `; known are ${known.join(', ')}` : ''}`,
      }
    })
  }
  return [{ path: pathText(issue.path), message: messageOf(issue) }]
}

function knownKeys(shape: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: z.ZodType | undefined = unwrap(shape)
  for (const part of path) {
    if (at instanceof z.ZodArray) at = unwrap(at.element as z.ZodType)
    else if (at instanceof z.ZodObject) at = unwrap(at.shape[String(part)] as z.ZodType)
  }
  return at instanceof z.ZodObject ? Object.keys(at.shape) : []
}

/** The shape inside optional, default, nullable. */
export function unwrap(shape: z.ZodType | undefined): z.ZodType | undefined {
  let at = shape
  while (at instanceof z.ZodOptional || at instanceof z.ZodDefault || at instanceof z.ZodNullable)
    at = at.unwrap() as z.ZodType
  return at
}

const KINDS: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

function messageOf(issue: z.core.$ZodIssue): string {
  const missing = 'input' in issue && issue.input === undefined
  switch (issue.code) {
    case 'invalid_type':
      return missing ? 'is required' : `must be ${KINDS[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return missing ? 'is required' : `must be one of ${issue.values.map(String).join(', ')}`
    case 'too_small':
      return sizeMessage(issue.origin, 'at least', Number(issue.minimum))
    case 'too_big':
      return sizeMessage(issue.origin, 'at most', Number(issue.maximum))
    default:
      return issue.message
  }
}

function sizeMessage(origin: string, bound: string, size: number): string {
  if (origin === 'string') return `must have ${bound} ${size} character${size === 1 ? '' : 's'}`
  if (origin === 'array') return `must have ${bound} ${size} entr${size === 1 ? 'y' : 'ies'}`
  return `must be ${bound} ${size}`
}
