/** A request that is to be sent, and what must come of it. */
import type { Operation } from './document.js'
import type { Caller } from './shop.js'

export type Expectation =
  /** Not refused for its form. */
  | { kind: 'valid' }
  /** Refused with a fault of this path; `loosely`: or of a place inside it or around it. */
  | { kind: 'fault'; path: string; loosely: boolean }
  /** One of these, `405 method_not_allowed`, with this header. */
  | { kind: 'answer'; answers: string[]; header?: string }
  /** Whatever the document allows. */
  | { kind: 'any' }

export interface Plan {
  /** What was done to it, in words. */
  what: string
  /** The same for requests that differ in their values only. */
  sort: string
  /** Null where no operation is meant. */
  operation: Operation | null
  method: string
  /** Path and query as they are sent. */
  target: string
  headers: Record<string, string>
  body: string | Buffer | null
  /** Sent without a length. */
  chunked: boolean
  /** Null: without a key. */
  caller: Caller | null
  /** Another text than the caller's key. */
  key?: string
  /** Whence it comes; null: from nowhere. */
  address?: string | null
  expect: Expectation
}

/** What a caller sends to one operation, before it is written down. */
export interface Call {
  operation: Operation
  params: Record<string, string>
  /** Texts as they are before they are percent-encoded. */
  query: [name: string, text: string][]
  headers: Record<string, string>
  body: unknown
}

/** JSON that stands in a body as it is. */
export class Raw {
  constructor(readonly json: string) {}
}

/** As JSON.stringify, with raw parts. */
export function write(value: unknown): string {
  if (value instanceof Raw) return value.json
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => `${JSON.stringify(name)}:${write(member)}`)
      .join(',')}}`
  return JSON.stringify(value)
}

/** Percent-encodes; half a surrogate pair, which has no encoding, as what clients make of it. */
export function encode(part: string): string {
  return encodeURIComponent(Buffer.from(part).toString())
}

export function targetOf({
  operation,
  params,
  query,
}: Pick<Call, 'operation' | 'params' | 'query'>): string {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encode(params[name]!))
  return query.length === 0
    ? path
    : `${path}?${query.map(([name, text]) => `${encode(name)}=${encode(text)}`).join('&')}`
}

export function planOf(
  call: Call,
  more: Pick<Plan, 'what' | 'sort' | 'expect' | 'caller'> & Partial<Plan>,
): Plan {
  return {
    operation: call.operation,
    method: call.operation.method,
    target: targetOf(call),
    headers: call.headers,
    body: call.body === undefined ? null : write(call.body),
    chunked: false,
    ...more,
  }
}

/** As in the answers: `items[0].qty`. */
export function pathText(path: readonly (string | number)[]): string {
  return (
    path
      .map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`))
      .join('') || 'body'
  )
}

/** As in the answers about a configuration document. */
export function pointerText(path: readonly (string | number)[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** The value with another one at this place, or without it. */
export function replaced(
  value: unknown,
  path: readonly (string | number)[],
  by: unknown,
  remove = false,
): unknown {
  const [head, ...rest] = path
  if (head === undefined) return by
  if (Array.isArray(value))
    return value.map((member, i) =>
      i === head ? replaced(member, rest, by, remove) : (member as unknown),
    )
  const members = Object.entries(value as object)
  if (rest.length === 0 && remove)
    return Object.fromEntries(members.filter(([name]) => name !== head))
  if (!members.some(([name]) => name === head)) return Object.fromEntries([...members, [head, by]])
  return Object.fromEntries(
    members.map(([name, member]) => [
      name,
      name === head ? replaced(member, rest, by, remove) : (member as unknown),
    ]),
  )
}
