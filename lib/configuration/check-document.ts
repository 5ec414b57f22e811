/** Checks a document against the schema: all faults at once, in plain words. */
import draft04 from 'ajv-draft-04'
import type { ErrorObject, KeywordCxt, Options, ValidateFunction } from 'ajv-draft-04'
import names from 'ajv/dist/compile/names.js'
import { figure } from '../core/figures.js'
import { isEmail } from '../accounts/subscribers.js'
import { MAX_FAULTS } from '../core/errors.js'
import type { Fault } from '../core/errors.js'
import { MAX_DEPTH } from '../core/json.js'
import { hasWholeCents } from '../core/money.js'
import { dotted, pointerStep, shortName } from '../core/pointer.js'
import { textFault } from '../core/text.js'
import type { Registry } from '../distributors/registry.js'
import { explainFaults } from './faults.js'
import { configurationSchema } from './schema/schema.js'
import { DECIMALS } from './schema/parts.js'
import type { Schema } from './schema/schema.js'

/** Faults of a candidate of any shape; none when it fits. */
export type CheckDocument = (candidate: unknown) => Fault[]

/** Compiles the schema of the distributors that an app knows: about 40 ms, once. */
export function compileCheck(registry: Registry): CheckDocument {
  const schema = configurationSchema(registry)
  const validate = compile(schema)
  return (candidate) =>
    explainFaults(errorsOf(validate, candidate), { schema, registry }).slice(0, MAX_FAULTS)
}

/** What is asked of the validator: its own class cannot be named by who compiles against us. */
export interface Validator {
  readonly errors?: ErrorObject[] | null
  addSchema(schema: object, key?: string): unknown
  compile(schema: object): ValidateFunction
  validate(schema: object, candidate: unknown): unknown
  validateSchema(schema: object): unknown
}

/**
 * Our draft-04 validator. Formats are our own: `email` is what the program takes for an address
 * everywhere else. Strict about schemas; others' may be written more loosely than ours.
 */
export function makeValidator({
  strict = true,
  logger,
}: Pick<Options, 'strict' | 'logger'> = {}): Validator {
  const { _ } = draft04
  const ajv = new draft04.default({
    strict,
    ...(logger !== undefined && { logger }),
    strictRequired: false,
    allowMatchingProperties: true,
    allowUnionTypes: true,
    allErrors: true,
    ownProperties: true,
    verbose: true,
    formats: { email: isEmail, uri: isUri },
  })
  // A list of half a million faulty entries would be half a million errors; the answer lists a
  // hundred.
  ajv.addKeyword({
    keyword: STOP,
    schemaType: 'boolean',
    code: ({ gen }: KeywordCxt) => {
      gen.if(_`${names.default.errors} > ${ENOUGH}`, () => gen.throw(_`${names.default.vErrors}`))
    },
  })
  ajv.addKeyword({
    keyword: CENTS,
    type: 'number',
    schemaType: 'boolean',
    validate: (_schema: boolean, value: number) => hasWholeCents(value),
    errors: false,
  })
  return ajv
}

/** Stands in the schema of an amount of money: whole cents. */
const CENTS = 'x-cents'
/** Stands beside the items of a list: enough errors were found. */
const STOP = 'x-enough'
/** One fault may be several of the validator's errors. */
const ENOUGH = MAX_FAULTS * 10

function compile(schema: Schema): ValidateFunction {
  return makeValidator().compile(withRules(schema) as Schema)
}

/**
 * The schema with a stop in each list's items, and the rule of money. The served schema has
 * neither.
 */
function withRules(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withRules)
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, withRules(part)]),
  )
  if (copy['type'] === 'array' && copy['items'])
    copy['items'] = { allOf: [copy['items'], { [STOP]: true }] }
  if (copy['type'] === 'number' && String(copy['description']).endsWith(DECIMALS))
    copy[CENTS] = true
  return copy
}

/** What the validator found; it throws what it has once that is enough. */
function errorsOf(validate: ValidateFunction, candidate: unknown): ErrorObject[] {
  try {
    return validate(candidate) ? [] : (validate.errors ?? [])
  } catch (found) {
    if (Array.isArray(found)) return found as ErrorObject[]
    throw found
  }
}

function isUri(text: string): boolean {
  return /^[a-z][a-z\d+.-]*:/i.test(text) && URL.canParse(text)
}

const RESERVED = new Set(['__proto__', 'constructor', 'prototype'])
/** Far beyond any shop's document; it bounds what checking costs. */
const MAX_MEMBERS = 10_000
/** Places are told, and secrets sealed, by the names on the way to them. */
const LONGEST_NAME = 200

/**
 * What no part of a document may have, those included that are kept as they are: names that mean
 * something to JavaScript, texts that no text may be, depth and members without end. Nothing else
 * is looked at before this.
 */
export function shapeFaults(candidate: unknown): Fault[] {
  const found: Fault[] = []
  let members = 0
  // The way to what is looked at; it becomes text only for a fault.
  const way: (string | number)[] = []
  const fault = (message: string) => {
    const path = way.map((step) => pointerStep(shortName(String(step)))).join('')
    found.push({ path, message: `\`${dotted(path)}\` ${message}` })
  }
  const walk = (value: unknown): void => {
    if (found.length >= MAX_FAULTS || members > MAX_MEMBERS) return
    if (typeof value === 'string') {
      const reason = textFault(value)
      if (reason) fault(reason)
    } else if (typeof value !== 'object' || value === null) return
    else if (way.length > MAX_DEPTH) fault(`nests deeper than ${MAX_DEPTH} levels`)
    else if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        way.push(i)
        walk(value[i])
        way.pop()
      }
    } else {
      const entries = Object.entries(value)
      members += entries.length
      for (const [name, member] of entries.slice(0, MAX_MEMBERS)) {
        way.push(name)
        const reason = nameFault(name)
        if (reason) fault(reason)
        else walk(member)
        way.pop()
      }
    }
  }
  walk(candidate)
  if (members > MAX_MEMBERS)
    return [
      {
        path: '',
        message:
          `the document has more than ${figure(MAX_MEMBERS)} members: nothing ` +
          'that this program reads needs so many',
      },
    ]
  return found
}

function nameFault(name: string): string | null {
  if (RESERVED.has(name)) return 'cannot be the name of a member: remove it'
  return name.length > LONGEST_NAME
    ? `has a name of more than ${LONGEST_NAME} characters`
    : textFault(name)
}
