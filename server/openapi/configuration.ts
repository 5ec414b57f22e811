/**
 * The configuration's draft-04 schema as OpenAPI 3.0 components, each distributor's entry among
 * them (contract "Summary").
 */
import { configurationSchema } from '../../lib/configuration/schema/schema.js'
import type { Schema } from '../../lib/configuration/schema/schema.js'
import type { Registry } from '../../lib/distributors/registry.js'

const PREFIX = 'Configuration_'

/**
 * `Configuration` and what it refers to: `Configuration_distributor_RSR`, `Configuration_shipping`,
 * ...
 */
export function configurationComponents(registry: Registry): Record<string, unknown> {
  const { $schema: _draft, definitions, ...root } = configurationSchema(registry)
  const parts = Object.entries(definitions as Record<string, Schema>).map(([name, schema]) => [
    PREFIX + name,
    toOpenApi(schema),
  ])
  return { Configuration: toOpenApi(root), ...(Object.fromEntries(parts) as Schema) }
}

/**
 * OpenAPI 3.0 has no lists of types and no patterns of names, and nothing stands beside a
 * reference.
 */
function toOpenApi(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toOpenApi)
  if (typeof value !== 'object' || value === null) return value
  const { type, patternProperties, ...schema } = value as Schema
  if (typeof schema['$ref'] === 'string')
    return { $ref: schema['$ref'].replace('#/definitions/', `#/components/schemas/${PREFIX}`) }
  const rest = Object.fromEntries(
    Object.entries(schema).map(([name, member]) => [name, toOpenApi(member)]),
  )
  if (patternProperties)
    rest['additionalProperties'] = toOpenApi(Object.values(patternProperties as Schema)[0])
  // Linters want to see what a bare `required` means, and what an array holds.
  if (Array.isArray(schema['required']) && !('properties' in schema))
    rest['properties'] = Object.fromEntries(
      (schema['required'] as string[]).map((name) => [name, {}]),
    )
  if (type === 'array' && !('items' in schema)) rest['items'] = {}
  if (Array.isArray(type)) return { ...rest, anyOf: type.map((name) => ({ type: name as string })) }
  return { ...(type !== undefined && { type }), ...rest }
}
