/** Schemas of the OpenAPI document in few words: as members for the reference, as lines for text. */
import { present } from '../../lib/core/present.js'

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

/** The configuration is longer than all the rest: it is told where it is saved. */
export const CONFIGURATION = 'the configuration document, as PUT /v1/config takes it'

/** Deep enough for every request and answer. */
const DEEPEST = 8

/** Which members are marked: those that a caller must send, or those that an answer may lack. */
export type Marked = 'required' | 'optional'

/** A member of an object, with what is in it. */
export interface Member {
  name: string
  /** Its place: `customer.name`, of lists `items[].qty`, of maps `<name>.distid`. */
  path: string
  /** What its value is: `integer, from 1 to 100`. */
  type: string
  isMarked: boolean
  /** The path of a member that is the same and was told before. */
  before: string | undefined
  /** Empty where there is nothing to say. */
  about: string
  /** None where the member is told elsewhere. */
  members: Member[]
}

/**
 * The members of an object. Members that may be anything, because they are ignored, are left out; a
 * component is told once, and then named.
 */
export function membersOf(schema: Schema, components: Components, mark: Marked): Member[] {
  const told = new Map<string, string>()

  function within(object: Schema, path: string, depth: number): Member[] {
    const { properties = {}, required = [], additionalProperties } = resolve(object, components)
    const others =
      typeof additionalProperties === 'object' ? { '<name>': additionalProperties } : {}
    return Object.entries({ ...properties, ...others })
      .filter(([, given]) => !isAnything(resolve(given, components)))
      .map(([name, given]) => ({
        name,
        isMarked: name !== '<name>' && required.includes(name) === (mark === 'required'),
        ...memberAt(path + name, given, depth),
      }))
  }

  function memberAt(path: string, given: Schema, depth: number): Omit<Member, 'name' | 'isMarked'> {
    const member = resolve(given, components)
    const isList = member.type === 'array'
    const object = isList ? (member.items ?? {}) : member
    // A choice of texts has nothing in it that could be told elsewhere.
    const component = isObject(resolve(object, components))
      ? nameOf(isList ? object : given)
      : undefined
    const before = component === undefined ? undefined : told.get(component)
    const own = {
      path,
      type: typeText(given, components),
      before,
      about: aboutText(given, member),
    }
    if (isElsewhere(given) || before !== undefined || depth >= DEEPEST)
      return { ...own, members: [] }
    const here = `${path}${isList ? '[]' : ''}`
    if (component !== undefined) told.set(component, here)
    return {
      ...own,
      members: within(object, `${here}.`, depth + 1),
    }
  }

  return within(schema, '', 0)
}

/** The members of an object as lines of text, each with its place. */
export function memberLines(schema: Schema, components: Components, mark: Marked): string[] {
  const linesOf = ({ path, type, isMarked, before, about, members }: Member): string[] => {
    const parts = [
      `${path}: ${type}`,
      ...(isMarked ? [mark] : []),
      ...(before === undefined ? [] : [`as ${before}`]),
    ]
    return [`- ${parts.join(', ')}${about && `. ${about}`}`, ...members.flatMap(linesOf)]
  }
  return membersOf(schema, components, mark).flatMap(linesOf)
}

/** What a schema may be instead of one object; itself where it is one. */
export function choicesOf(schema: Schema, components: Components): Schema[] {
  const own = resolve(schema, components)
  return own.anyOf ?? own.oneOf ?? [own]
}

/** What a value is: `integer from 1 to 100, default 50`. */
export function typeText(schema: Schema, components: Components): string {
  if (isElsewhere(schema)) return CONFIGURATION
  const own = resolve(schema, components)
  const choices = own.anyOf ?? own.oneOf
  const limits = [
    ...(own.enum
      ? [
          own.enum.length === 1
            ? own.enum[0] === null
              ? 'null'
              : `always ${String(own.enum[0])}`
            : `one of ${own.enum.map(String).join(', ')}`,
        ]
      : []),
    ...range('from', 'to', own.minimum, own.maximum),
    ...(own.minLength === 1 && own.maxLength === undefined
      ? ['not empty']
      : sizeText(own.minLength, own.maxLength, 'characters')),
    ...sizeText(own.minItems, own.maxItems, 'entries'),
    ...(own.pattern === undefined ? [] : [`matches ${own.pattern}`]),
    ...(own.default === undefined ? [] : [`default ${JSON.stringify(own.default)}`]),
  ]
  const kind = own.enum
    ? []
    : [
        choices && !own.type
          ? choices.map((choice) => typeText(choice, components)).join(' or ')
          : kindText(own, components),
      ]
  return `${[...kind, ...limits].join(', ')}${own.nullable && !own.enum?.includes(null) ? ', or null' : ''}`
}

function kindText({ type, items, format }: Schema, components: Components): string {
  if (type !== 'array') return [type ?? 'any value', ...(format ? [`(${format})`] : [])].join(' ')
  const entry = resolve(items ?? {}, components)
  return entry.properties ? 'list of objects' : `list of (${typeText(items ?? {}, components)})`
}

function range(
  from: string,
  to: string,
  least: number | undefined,
  most: number | undefined,
): string[] {
  const text = [
    ...(least === undefined ? [] : [`${from} ${least}`]),
    ...(most === undefined ? [] : [`${to} ${most}`]),
  ].join(' ')
  return text ? [text] : []
}

function sizeText(least: number | undefined, most: number | undefined, unit: string): string[] {
  if (least === undefined && most === undefined) return []
  if (least === undefined || most === undefined)
    return [`${least === undefined ? 'at most' : 'at least'} ${least ?? most} ${unit}`]
  return [`${least} to ${most} ${unit}`]
}

function aboutText(given: Schema, member: Schema): string {
  return given.description ?? (isElsewhere(given) ? '' : (member.description ?? ''))
}

/** What a reference names, with what its place adds. */
function resolve(schema: Schema, components: Components): Schema {
  if (schema.$ref !== undefined) return resolve(referred(schema.$ref, components), components)
  // A place that describes a reference wraps it: allOf of one, or anyOf of it and null.
  const [first, second] = schema.allOf ?? schema.anyOf ?? []
  const isNull = (other: Schema | undefined) =>
    other?.nullable === true && other.enum?.length === 1 && other.enum[0] === null
  if (
    schema.type === undefined &&
    first &&
    (schema.allOf ? !second : schema.anyOf?.length === 2 && isNull(second))
  ) {
    const { allOf: _all, anyOf: _any, ...own } = schema
    return { ...resolve(first, components), ...own, ...(second && { nullable: true }) }
  }
  return schema
}

function referred(ref: string, components: Components): Schema {
  return present(components[ref.slice(ref.lastIndexOf('/') + 1)], ref)
}

/** The component that a place refers to. */
function nameOf({ $ref, allOf, anyOf }: Schema): string | undefined {
  return $ref ?? allOf?.[0]?.$ref ?? (anyOf?.length === 2 ? anyOf[0]?.$ref : undefined)
}

function isAnything(schema: Schema): boolean {
  return Object.keys(schema).every((name) => name === 'description' || name === 'nullable')
}

function isObject({ properties, additionalProperties }: Schema): boolean {
  return properties !== undefined || typeof additionalProperties === 'object'
}

function isElsewhere({ $ref, anyOf, allOf }: Schema): boolean {
  if ($ref?.endsWith('/Configuration')) return true
  return [...(anyOf ?? []), ...(allOf ?? [])].some(isElsewhere)
}
