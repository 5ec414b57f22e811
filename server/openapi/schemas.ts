/** Shapes as OpenAPI 3.0 schemas; those that have a name stand once, among the components. */
import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'

export type Json = Record<string, unknown>

export interface Schemas {
  /** Components met so far, by name. */
  readonly named: Json
  /** The schema of a shape: what a caller may send (`input`), or what it gets (`output`). */
  of(shape: z.ZodType, io: 'input' | 'output'): Json
}

/**
 * Collects components: a shape with `.meta({ component, about })` becomes a reference to
 * `#/components/schemas/<component>`, which `about` describes. `ref` names a component that is made
 * elsewhere. Throws when two shapes share a name.
 */
export function collectSchemas(): Schemas {
  const named: Json = {}
  const keep = (name: string, schema: Json): Json => {
    if (name in named && !isDeepStrictEqual(named[name], schema))
      throw new Error(`two shapes have the name ${name}`)
    named[name] = schema
    return { $ref: `#/components/schemas/${name}` }
  }
  return {
    named,
    of: (shape, io) =>
      tidy(
        z.toJSONSchema(shape, { target: 'openapi-3.0', io, unrepresentable: 'any' }),
        keep,
      ) as Json,
  }
}

type Keep = (name: string, schema: Json) => Json

function tidy(value: unknown, keep: Keep): unknown {
  if (Array.isArray(value)) return value.map((entry) => tidy(entry, keep))
  if (typeof value !== 'object' || value === null) return value
  const { component, about, ref, ...schema } = value as Json
  if (typeof ref === 'string') return { $ref: `#/components/schemas/${ref}` }
  if (typeof component === 'string') return refer(component, about as string, schema, keep)
  return tidySchema(schema, keep)
}

/**
 * Nothing may stand beside a reference, and a null fits none: what a place adds of its own wraps
 * it.
 */
function refer(
  name: string,
  about: string,
  { description, example, nullable, ...schema }: Json,
  keep: Keep,
): Json {
  const ref = keep(name, { description: about, ...tidySchema(schema, keep) })
  const own = {
    ...(description !== undefined && { description }),
    ...(example !== undefined && { example }),
  }
  if (nullable)
    return {
      ...own,
      anyOf: [ref, { type: schema['type'] ?? 'object', nullable: true, enum: [null] }],
    }
  return Object.keys(own).length > 0 ? { ...own, allOf: [ref] } : ref
}

function tidySchema(schema: Json, keep: Keep): Json {
  const { anyOf, ...rest } = Object.fromEntries(
    Object.entries(schema)
      // The bounds of JavaScript's integers are no rule of ours.
      .filter(
        ([name, member]) =>
          name !== '$schema' &&
          name !== '$id' &&
          !(
            (name === 'maximum' || name === 'minimum') &&
            Math.abs(Number(member)) === Number.MAX_SAFE_INTEGER
          ),
      )
      .map(([name, member]) => [
        name,
        name === 'properties' ? tidyAll(member as Json, keep) : tidy(member, keep),
      ]),
  ) as Json
  const choices = anyOf as Json[] | undefined
  if (choices?.every((choice) => Array.isArray(choice['enum']) && choice['type'] === 'number')) {
    return {
      ...rest,
      type: 'integer',
      enum: choices.flatMap((choice) => choice['enum'] as number[]),
    }
  }
  if (rest['nullable'] === true && Array.isArray(rest['enum']) && !rest['enum'].includes(null))
    rest['enum'] = [...(rest['enum'] as unknown[]), null]
  return { ...rest, ...(choices && { anyOf: choices }) }
}

/** Members by name: one that is called `ref` or `component` is a member like others. */
function tidyAll(members: Json, keep: Keep): Json {
  return Object.fromEntries(
    Object.entries(members).map(([name, member]) => [name, tidy(member, keep)]),
  )
}
