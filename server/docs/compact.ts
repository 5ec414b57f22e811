/** Schemas of the OpenAPI document in few words, a line for each member: for programs that read text. */

export interface Schema {
  $ref?: string
  type?: string
  description?: string
  nullable?: boolean
  enum?: unknown[]
  default?: unknown
  pattern?: string
  format?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

/** Schemas that a reference may name. */
export type Components = Record<string, Schema>

/** Deep enough for every request and answer; a configuration goes on in its own schema. */
const DEEPEST = 5

/**
 * The members of an object, those of inner objects as `customer.name` and of lists as `items[].qty`. Members that may be
 * anything, because they are ignored, are left out.
 */
export function memberLines(schema: Schema, components: Components, path = '', depth = 0): string[] {
  const { properties = {}, required = [] } = resolve(schema, components)
  return Object.entries(properties).flatMap(([name, given]) => {
    const member = resolve(given, components)
    if (isAnything(member)) return []
    const here = path + name
    const line = `- ${here}: ${[typeText(given, components), ...required.includes(name) ? ['required'] : []].join(', ')}${aboutText(given, member)}`
    const inner = member.type === 'array' ? resolve(member.items ?? {}, components) : member
    if (!inner.properties || isElsewhere(given) || depth >= DEEPEST) return [line]
    return [line, ...memberLines(inner, components, member.type === 'array' ? `${here}[].` : `${here}.`, depth + 1)]
  })
}

/** What a value is: `integer from 1 to 100, default 50`. */
export function typeText(schema: Schema, components: Components): string {
  if (isElsewhere(schema)) return 'the configuration document (GET /v1/config/schema)'
  const own = resolve(schema, components)
  const choices = own.anyOf ?? own.oneOf
  const limits = [
    ...own.enum ? [`one of ${own.enum.map(String).join(', ')}`] : [],
    ...range('from', 'to', own.minimum, own.maximum),
    ...own.minLength === 1 && own.maxLength === undefined ? ['not empty'] : sizeText(own.minLength, own.maxLength, 'characters'),
    ...sizeText(own.minItems, own.maxItems, 'entries'),
    ...own.pattern === undefined ? [] : [`matches ${own.pattern}`],
    ...own.default === undefined ? [] : [`default ${JSON.stringify(own.default)}`],
  ]
  const kind = own.enum ? [] : [choices && !own.type ? choices.map((choice) => typeText(choice, components)).join(' or ') : kindText(own, components)]
  return `${[...kind, ...limits].join(', ')}${own.nullable && !own.enum?.includes(null) ? ', or null' : ''}`
}

function kindText({ type, items, format }: Schema, components: Components): string {
  if (type !== 'array') return [type ?? 'any value', ...format ? [`(${format})`] : []].join(' ')
  const entry = resolve(items ?? {}, components)
  return entry.properties ? 'list of objects' : `list of (${typeText(items ?? {}, components)})`
}

function range(from: string, to: string, least: number | undefined, most: number | undefined): string[] {
  const text = [...least === undefined ? [] : [`${from} ${least}`], ...most === undefined ? [] : [`${to} ${most}`]].join(' ')
  return text ? [text] : []
}

function sizeText(least: number | undefined, most: number | undefined, unit: string): string[] {
  if (least === undefined && most === undefined) return []
  if (least === undefined || most === undefined) return [`${least === undefined ? 'at most' : 'at least'} ${least ?? most} ${unit}`]
  return [`${least} to ${most} ${unit}`]
}

function aboutText(given: Schema, member: Schema): string {
  const text = given.description ?? (isElsewhere(given) ? undefined : member.description)
  return text ? `. ${text}` : ''
}

/** What a reference names, with what its place adds. */
function resolve(schema: Schema, components: Components): Schema {
  if (schema.$ref !== undefined) return resolve(components[schema.$ref.split('/').at(-1)!]!, components)
  // A place that describes a reference wraps it: allOf of one, or anyOf of it and null.
  const [first, second] = schema.allOf ?? schema.anyOf ?? []
  const isNull = (other: Schema | undefined) => other?.nullable === true && other.enum?.length === 1 && other.enum[0] === null
  if (schema.type === undefined && first && (schema.allOf ? !second : schema.anyOf?.length === 2 && isNull(second))) {
    const { allOf: _all, anyOf: _any, ...own } = schema
    return { ...resolve(first, components), ...own, ...second && { nullable: true } }
  }
  return schema
}

function isAnything(schema: Schema): boolean {
  return Object.keys(schema).every((name) => name === 'description' || name === 'nullable')
}

/** The configuration has a schema of its own, which is longer than all the rest. */
function isElsewhere({ $ref, anyOf, allOf }: Schema): boolean {
  if ($ref?.split('/').at(-1)?.startsWith('Configuration') && !$ref.endsWith('/ConfigurationFault')) return true
  return [...anyOf ?? [], ...allOf ?? []].some(isElsewhere)
}
