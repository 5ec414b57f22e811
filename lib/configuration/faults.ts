/**
 * What the validator found, in words that name the member and the fix. Values are
 * never repeated: they may be secrets.
 */
import { isObject } from '../core/json.js'
import type { ErrorObject } from 'ajv-draft-04'
import type { Fault } from '../core/errors.js'
import { MAX_FAULTS } from '../core/errors.js'
import { WHOLE_CENTS } from '../core/money.js'
import { dotted, pointerStep, shortName } from '../core/pointer.js'
import { nearest } from '../core/text.js'
import type { Registry } from '../distributors/registry.js'
import { movedTo } from './renamed-members.js'
import type { Schema } from './schema/schema.js'
import { LEVELS, LITERAL } from './schema/shipping.js'

interface Checked {
  schema: Schema
  registry: Registry
}

/** Faults in the order in which they were found, one for each place and cause. */
export function explainFaults(errors: readonly ErrorObject[], checked: Checked): Fault[] {
  const faults = new Map<string, Fault>()
  for (const error of errors) {
    if (faults.size >= MAX_FAULTS) break
    // What a branch of a choice lacks, the choice itself tells. A member may be called `not`.
    if (/(?<!\/properties)\/((anyOf|oneOf|not)\/|not$)/.test(error.schemaPath)) continue
    const fault = explain(error, checked)
    const key = `${fault.path} ${fault.message}`
    if (!faults.has(key)) faults.set(key, fault)
  }
  return [...faults.values()]
}

function explain(error: ErrorObject, checked: Checked): Fault {
  const { instancePath, keyword, params } = error
  if (keyword === 'required') {
    const name = String((params as { missingProperty: string }).missingProperty)
    const place = instancePath + pointerStep(name)
    const description = descriptionOf(
      (error.parentSchema as Schema)['properties'],
      name,
      checked.schema,
    )
    return {
      path: place,
      message: `\`${dotted(place)}\` is required${description ? `: ${description}` : ''}`,
    }
  }
  if (keyword === 'additionalProperties') {
    const name = String((params as { additionalProperty: string }).additionalProperty)
    const place = instancePath + pointerStep(name)
    return { path: place, message: unknownMember(name, place, error, checked) }
  }
  if (instancePath === '') return { path: '', message: 'the document must be a JSON object' }
  return { path: instancePath, message: `\`${dotted(instancePath)}\` ${needOf(error)}` }
}

function descriptionOf(properties: unknown, name: string, root: Schema): string | null {
  const schema =
    isObject(properties) && Object.hasOwn(properties, name)
      ? (properties[name] as Schema)
      : undefined
  if (!schema) return null
  if (typeof schema['description'] === 'string') return schema['description']
  const target =
    typeof schema['$ref'] === 'string'
      ? (root['definitions'] as Record<string, Schema>)[
          schema['$ref'].replace('#/definitions/', '')
        ]
      : undefined
  return typeof target?.['description'] === 'string' ? target['description'] : null
}

function unknownMember(
  name: string,
  place: string,
  { instancePath, parentSchema }: ErrorObject,
  { registry }: Checked,
): string {
  const moved = movedTo(place)
  if (moved) return `\`${dotted(place)}\` is of an older form: ${moved}`
  const known = Object.keys((parentSchema as { properties?: Schema }).properties ?? {})
  const close = nearest(name, known)
  if (instancePath === '/distributors') {
    const byDistid = registry.byDistid(name)
    const hint = byDistid
      ? `the distid ${name} belongs to \`${byDistid.name}\``
      : close
        ? `did you mean \`${close}\`?`
        : 'GET /v1/distributors lists them'
    return `\`${shortName(name)}\` is not a distributor here; ${hint}`
  }
  if (instancePath === '/pricing/margin')
    return `\`${dotted(place)}\` is not a possible name: a margin group is named in letters`
  return (
    `\`${dotted(place)}\` is not a known member; ` +
    `${close ? `did you mean \`${close}\`?` : known.length > 0 ? `known are ${known.join(', ')}` : 'remove it'}`
  )
}

const KINDS: Record<string, string> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

const PATTERNS: Record<string, string> = { '^[A-Za-z]{2}$': 'must be two letters' }

/** What the value must be. */
function needOf({ keyword, schema, params, parentSchema, data }: ErrorObject): string {
  const { description } = parentSchema as { description?: string }
  switch (keyword) {
    case 'type':
      return `must be ${[schema as string | string[]]
        .flat()
        .map((type) => KINDS[type] ?? type)
        .join(' or ')}${description ? `: ${description}` : ''}`
    case 'enum':
      return oneOf(schema as unknown[], description)
    case 'minimum':
      return `must be at least ${(params as { limit: number }).limit}`
    case 'maximum':
      return (
        `must be at most ${(params as { limit: number }).limit}` +
        (description?.includes('a fraction') ? '; it is a fraction, 0.25 is 25 %' : '')
      )
    case 'minItems':
      return `must have at least ${(params as { limit: number }).limit} entry`
    case 'maxItems':
      return `must have at most ${(params as { limit: number }).limit} entries`
    case 'x-cents':
      return `${WHOLE_CENTS}${description ? `: ${description}` : ''}`
    case 'maxProperties':
      return `must have at most ${(params as { limit: number }).limit} members`
    case 'format':
      return params['format'] === 'email'
        ? 'must be an e-mail address'
        : 'must be an absolute address, such as https://shop.example'
    case 'pattern':
      return PATTERNS[String(schema)] ?? `must match ${String(schema)}`
    case 'oneOf':
      return shippingNeed(data)
    case 'anyOf':
      return description?.startsWith('ZIP')
        ? `must be a ${description}`
        : 'needs at least one of ' +
            `${(schema as { required: string[] }[]).map(({ required }) => required[0]).join(', ')}`
    default:
      return `is not allowed (${keyword})`
  }
}

function oneOf(values: unknown[], description: string | undefined): string {
  return values.length === 1
    ? `must be "${String(values[0])}"${description ? `: ${description}` : ''}`
    : `must be one of ${values.map(String).join(', ')}`
}

/** Why no single branch of the one-of rule fits. */
function shippingNeed(shipping: unknown): string {
  const has = (name: string) => isObject(shipping) && Object.hasOwn(shipping, name)
  const former = has('fixed_cost')
    ? '; `fixed_cost` is of an older form, `flat_rate.cost` and `flat_rate.shipping_class` took ' +
      'its place'
    : ''
  if (has(LITERAL) && has(LEVELS))
    return (
      `has both \`${LITERAL}\` and \`${LEVELS}\`, which are two spellings of one member: remove ` +
      'one'
    )
  if (has(LITERAL) && has('flat_rate'))
    return `has both \`flat_rate\` and \`${LITERAL}\`: remove one, or call the levels \`${LEVELS}\``
  if (has(LEVELS)) return 'has price levels, but not one in the list: add a level, or a `flat_rate`'
  return `needs \`flat_rate\` or \`${LITERAL}\`${former}`
}
