/** What the configuration's JSON Schema says of a place in the document, and changes of one place. */
import { pointerStep } from '../../../lib/core/pointer.js'

/** As much of draft-04 as the schema uses. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  enum?: (string | number)[]
  minimum?: number
  maximum?: number
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  format?: string
  oneOf?: Schema[]
  anyOf?: Schema[]
  definitions?: Record<string, Schema>
}

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** A schema without its reference; a description beside the reference counts more. */
export function resolved(schema: Schema, root: Schema): Schema {
  if (!schema.$ref) return schema
  const target = root.definitions?.[schema.$ref.replace('#/definitions/', '')] ?? {}
  return {
    ...resolved(target, root),
    ...(schema.description && { description: schema.description }),
  }
}

export const isRecord = (value: unknown): value is { [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const pointerOf = (steps: readonly string[]) =>
  steps.map((step) => pointerStep(step)).join('')

/** What stands at a place; undefined where nothing does. */
export function valueAt(document: Json, steps: readonly string[]): Json | undefined {
  return steps.reduce((at: Json | undefined, step) => {
    if (Array.isArray(at)) return at[Number(step)]
    return isRecord(at) && Object.hasOwn(at, step) ? at[step] : undefined
  }, document)
}

/** The document with another value at a place; undefined takes the member away. */
export function withValue(
  document: Json,
  [step, ...rest]: readonly string[],
  value: Json | undefined,
): Json {
  if (step === undefined) return value ?? null
  if (Array.isArray(document)) {
    const at = Number(step)
    return rest.length === 0 && value === undefined
      ? document.filter((_, place) => place !== at)
      : document.with(at, withValue(document[at] ?? null, rest, value))
  }
  const record = isRecord(document) ? document : {}
  if (rest.length === 0 && value === undefined) {
    const { [step]: _gone, ...others } = record
    return others
  }
  return { ...record, [step]: withValue(record[step] ?? {}, rest, value) }
}

/** What a new member begins as, so that its form can be filled in. */
export function beginning(schema: Schema, root: Schema): Json {
  const own = resolved(schema, root)
  const type = Array.isArray(own.type) ? own.type[0] : own.type
  if (own.enum) return own.enum[0] ?? ''
  if (type === 'array') return []
  if (type === 'boolean') return false
  if (type === 'integer' || type === 'number') return own.minimum ?? 0
  if (type === 'object' || own.properties)
    return Object.fromEntries(
      (own.required ?? []).map((name) => [name, beginning(own.properties?.[name] ?? {}, root)]),
    )
  return ''
}

/** Kept members show as this, and are kept when it is sent back. */
export const MASK = '********'
