/** One thing wrong in a call that is right otherwise, and the place that the refusal must name. */
import * as fc from 'fast-check'
import { isMoney } from './document.js'
import type { ApiDocument, Operation, Parameter, Schema } from './document.js'
import { Raw, pathText, pointerText, replaced } from './plan.js'
import type { Call, Expectation } from './plan.js'

export interface Faulty {
  what: string
  /** What is wrong, without where. */
  sort: string
  call: Call
  expect: Expectation
}

type Path = (string | number)[]

/** A value that does not fit, and where the refusal may see it. */
interface Wrong {
  what: string
  value: unknown
  path?: Path
  remove?: boolean
  loosely?: boolean
}

interface Place {
  path: Path
  schema: Schema
  value: unknown
  required: boolean
}

/** Members that a prototype has, and others that nobody knows. */
const STRANGE_NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'unknown_member',
  'Qty',
  'x'.repeat(120),
  'é',
  '\u202e',
  '0',
  '',
]
const HUGE = '9'.repeat(400)

export function makeFaults(
  api: ApiDocument,
  calls: (operation: Operation) => fc.Arbitrary<Call>,
): (operation: Operation) => fc.Arbitrary<Faulty> {
  return (operation) => {
    const { parameters, body } = operation
    const inQuery = parameters.filter((parameter) => parameter.in !== 'header')
    return fc.tuple(calls(operation), fc.nat(1e6), fc.nat(1e6)).map(([made, where, which]) => {
      const call = body && made.body === undefined ? { ...made, body: {} } : made
      const places = body ? placesOf(api, call.body, body, operation.id) : []
      const count = inQuery.length + places.length
      if (count === 0)
        return { what: 'nothing to break', sort: 'nothing', call, expect: { kind: 'any' } as const }
      const at = where % count
      return at < inQuery.length
        ? breakParameter(call, inQuery[at]!, which)
        : breakBody(api, call, places[at - inQuery.length]!, which)
    })
  }
}

function breakParameter(call: Call, parameter: Parameter, which: number): Faulty {
  const { name, schema } = parameter
  const others = call.query.filter(([known]) => known !== name)
  if (parameter.in === 'path') {
    const texts = schema.pattern
      ? [
          '',
          'x',
          ' ',
          '%',
          '../..',
          '\u0000',
          '1'.repeat(300),
          'é'.repeat(12),
          '12345678\n',
          '0'.repeat(7),
        ].filter((text) => text !== '' && !new RegExp(schema.pattern!, 'u').test(text))
      : schema.enum
        ? ['x', 'FFL', ' ', 'ffl ', '__proto__']
        : []
    if (texts.length === 0)
      return {
        what: `${name}: any text`,
        sort: 'any text',
        call: { ...call, params: { ...call.params, [name]: STRANGE[which % STRANGE.length]! } },
        expect: { kind: 'any' },
      }
    // A metric is part of the address: there is nothing at another one.
    const expect: Expectation =
      name === 'metric'
        ? { kind: 'answer', answers: ['404 not_found'] }
        : { kind: 'fault', path: name, loosely: false }
    return {
      what: `path ${name}`,
      sort: `path ${name}`,
      call: { ...call, params: { ...call.params, [name]: texts[which % texts.length]! } },
      expect,
    }
  }
  const given = call.query.find(([known]) => known === name)?.[1] ?? '1'
  const wrong: [what: string, texts: string[]][] = wrongTexts(schema).map((text) => [
    `${name}=${text.slice(0, 30)}`,
    [text],
  ])
  wrong.push(
    [`${name} twice`, [given, given]],
    [`${name} twice, differing`, [given, 'x']],
    [`${name} a hundred times`, Array<string>(100).fill(given)],
  )
  if (parameter.required) wrong.push([`no ${name}`, []])
  const [what, texts] = wrong[which % wrong.length]!
  return {
    what,
    sort: what.replace(/=.*/s, ''),
    call: { ...call, query: [...others, ...texts.map((text): [string, string] => [name, text])] },
    expect: { kind: 'fault', path: name, loosely: false },
  }
}

const STRANGE = [
  '\u0000',
  '\u0001',
  '\u007f',
  '__proto__',
  'constructor',
  '...',
  'x'.repeat(2_000),
  '%2e%2e%2f',
  'W-g0\n',
  '\ud800',
  ' ',
  ';',
  '{order_id}',
  ':order_id',
  '*',
  '**',
]

/** Texts that a query parameter of this schema must not have. */
function wrongTexts(schema: Schema): string[] {
  const { type, minimum, maximum, enum: choices, pattern, minLength = 0, maxLength } = schema
  const controls = ['\u0000', 'a\u0001b', 'a\u007f', 'a\rb']
  switch (type) {
    case 'integer':
    case 'number': {
      const words = [
        '',
        'abc',
        ' 1',
        '1 ',
        '1,000',
        '+1',
        '--1',
        '0x10',
        '1e400',
        '-1e400',
        'NaN',
        'Infinity',
        'null',
        'true',
        '１',
        '1_000',
        HUGE,
        '1\u0000',
        '[1]',
        '1;2',
      ]
      const numbers =
        type === 'integer'
          ? ['1.5', '0.1', '1e-1', '9007199254740993.5', '1e0', '1e1', '5.0', '-1', '.5']
          : isMoney(schema)
            ? ['1.005', '0.001', '1e-3', '19.999']
            : []
      return [
        ...words,
        ...numbers,
        ...(minimum === undefined ? [] : [String(minimum - 1), String(-1e15)]),
        ...(maximum === undefined ? [] : [String(maximum + 1), String(1e15)]),
      ]
    }
    case 'boolean':
      return ['', 'yes', 'no', 'TRUE', 'True', '2', '-1', 'null', ' true', 'true ', 'on', '01']
    default: {
      if (choices)
        return [
          '',
          'zzz',
          '__proto__',
          'constructor',
          'toString',
          ...choices.map((choice) => `${String(choice)} `),
          ...choices.map((choice) => `${String(choice)}\u0000`),
        ]
      const unfit =
        pattern === undefined
          ? []
          : ['!', '<>', 'x'.repeat(500), '9'.repeat(60), '12345\n'].filter(
              (text) => !new RegExp(pattern, 'u').test(text),
            )
      return [
        ...controls,
        ...unfit,
        ...(minLength > 0 ? [''] : []),
        ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1), 'é'.repeat(maxLength + 1)]),
      ]
    }
  }
}

/**
 * Every place of a body, with the schema that holds there; the document of a configuration by the
 * way that a refusal names it.
 */
function placesOf(api: ApiDocument, body: unknown, schema: Schema, id: string): Place[] {
  const found: Place[] = []
  const walk = (value: unknown, given: Schema, path: Path, required: boolean) => {
    const at = api.resolve(given)
    const isChoice = (at.anyOf ?? at.oneOf) !== undefined
    found.push({ path, schema: at, value, required })
    if (isChoice) return
    if (Array.isArray(value))
      value.forEach((member, i) => walk(member, at.items ?? {}, [...path, i], false))
    else if (typeof value === 'object' && value !== null && at.properties) {
      for (const [name, member] of Object.entries(value)) {
        const own = Object.hasOwn(at.properties, name)
          ? at.properties[name]
          : typeof at.additionalProperties === 'object'
            ? at.additionalProperties
            : undefined
        if (own && member !== undefined)
          walk(member, own, [...path, name], at.required?.includes(name) === true)
      }
    }
  }
  const isWrapped = id.startsWith('config') && Object.hasOwn(body as object, 'configuration')
  const document = api.resolve({ $ref: '#/components/schemas/Configuration' })
  if (isWrapped) {
    found.push({ path: [], schema: WRAPPING, value: body, required: true })
    walk((body as { configuration: unknown }).configuration, document, ['configuration'], false)
  } else walk(body, id === 'configPut' ? document : schema, [], true)
  return found
}

/** A document in its wrapping stands alone. */
const WRAPPING: Schema = {
  type: 'object',
  properties: { configuration: {} },
  additionalProperties: false,
}

function breakBody(api: ApiDocument, call: Call, place: Place, which: number): Faulty {
  const wrong = wrongValues(api, place)
  if (wrong.length === 0)
    return { what: 'nothing to break', sort: 'nothing', call, expect: { kind: 'any' } }
  const { what, value, path = [], remove = false, loosely = false } = wrong[which % wrong.length]!
  const full = [...place.path, ...path]
  const isDocument = call.operation.id.startsWith('config')
  const named = full.map((part) => (typeof part === 'string' ? part.slice(0, 100) : part))
  const shown = isDocument
    ? pointerText(named[0] === 'configuration' ? named.slice(1) : named)
    : pathText(named)
  const { 'if-match': _condition, ...headers } = call.headers
  return {
    what: `${isDocument ? pointerText(named) : shown}: ${what}`,
    sort: what,
    call: { ...call, headers, body: replaced(call.body, full, value, remove) },
    expect: { kind: 'fault', path: shown, loosely: loosely || isDocument },
  }
}

function wrongValues(api: ApiDocument, { path, schema, value, required }: Place): Wrong[] {
  const wrong: Wrong[] = [
    { what: 'a NUL', value: 'a\u0000b' },
    { what: 'half a surrogate pair', value: new Raw('"a\\ud800b"') },
    { what: 'the other half', value: new Raw('"\\udc00"') },
    { what: 'a control character', value: '\u001b[31m' },
  ].filter(() => path.length > 0)
  const types = typesOf(api, schema)
  if (types.size > 0)
    wrong.push(
      ...OF_TYPE.filter(({ type }) => !types.has(type)).map(({ type, value: other }) => ({
        what: `a ${type}`,
        value: other,
        loosely: isChoice(schema),
      })),
    )
  if (required && path.length > 0)
    wrong.push({ what: 'is missing', value: undefined, remove: true })
  wrong.push(
    ...ofText(schema, value),
    ...ofNumber(schema, value),
    ...ofArray(schema, value),
    ...ofObject(schema, value),
  )
  return wrong
}

const isChoice = ({ anyOf, oneOf }: Schema) => (anyOf ?? oneOf) !== undefined

const OF_TYPE: { type: string; value: unknown }[] = [
  { type: 'null', value: null },
  { type: 'boolean', value: true },
  { type: 'integer', value: 7 },
  { type: 'number', value: 1.5 },
  { type: 'number', value: new Raw('1e400') },
  { type: 'number', value: new Raw('-1e400') },
  { type: 'string', value: '7' },
  { type: 'string', value: '' },
  { type: 'array', value: [] },
  { type: 'array', value: [[]] },
  { type: 'object', value: {} },
  { type: 'object', value: { length: 1, toString: 'x' } },
]

/** Types that a schema lets through; none where it lets everything through. */
function typesOf(api: ApiDocument, given: Schema): Set<string> {
  const schema = api.resolve(given)
  const types = new Set<string>()
  for (const part of schema.anyOf ?? schema.oneOf ?? []) {
    const inner = typesOf(api, part)
    if (inner.size === 0) return inner
    for (const type of inner) types.add(type)
  }
  if (typeof schema.type === 'string') types.add(schema.type)
  if (schema.enum && schema.type === undefined)
    for (const choice of schema.enum) types.add(typeof choice)
  if (types.has('number')) types.add('integer')
  if (types.size > 0 && schema.nullable === true) types.add('null')
  return types
}

function ofText(
  { type, enum: choices, pattern, minLength = 0, maxLength }: Schema,
  value: unknown,
): Wrong[] {
  if (type !== 'string' || typeof value !== 'string') return []
  if (choices)
    return ['zzz', '', '__proto__', `${String(choices[0])} `].map((text) => ({
      what: 'none of the choices',
      value: text,
    }))
  const unfit =
    pattern === undefined
      ? []
      : ['!', 'x'.repeat(70), '', ' ', ' \t\n ', '１２３４５', '12345-', 'é!'].filter(
          (text) => !new RegExp(pattern, 'u').test(text),
        )
  return [
    ...unfit,
    ...(minLength > 0 ? [''] : []),
    ...(maxLength === undefined
      ? []
      : ['x'.repeat(maxLength + 1), 'é'.repeat(maxLength + 1), 'x'.repeat(100_000)]),
  ].map((text) => ({ what: 'a text that does not fit', value: text }))
}

function ofNumber(schema: Schema, value: unknown): Wrong[] {
  const { type, minimum, maximum } = schema
  if ((type !== 'integer' && type !== 'number') || typeof value !== 'number') return []
  const bounds = [
    ...(minimum === undefined ? [] : [minimum - 1, -1e15]),
    ...(maximum === undefined ? [] : [maximum + 1, 1e15]),
  ].map((n) => ({ what: 'out of range', value: n }))
  const strange = [
    '1e400',
    '-1e400',
    ...(type === 'integer'
      ? ['1.5', '1e-7', '9007199254740993.5'].filter((text) => !Number.isInteger(Number(text)))
      : []),
    ...(minimum !== undefined && minimum > 0 ? ['-0', '0'] : []),
  ]
  const parts = isMoney(schema)
    ? [1.005, 0.001, 19.999].map((n) => ({ what: 'a part of a cent', value: n }))
    : []
  return [...bounds, ...parts, ...strange.map((json) => ({ what: json, value: new Raw(json) }))]
}

function ofArray({ type, minItems = 0, maxItems }: Schema, value: unknown): Wrong[] {
  if (type !== 'array' || !Array.isArray(value)) return []
  const one = value[0] as unknown
  return [
    ...(minItems > 0 ? [{ what: 'an empty list', value: [] }] : []),
    ...(maxItems !== undefined && one !== undefined
      ? [{ what: 'an entry too many', value: Array<unknown>(maxItems + 1).fill(one) }]
      : []),
  ]
}

function ofObject(
  { type, properties = {}, required = [], additionalProperties }: Schema,
  value: unknown,
): Wrong[] {
  if (type !== 'object' || typeof value !== 'object' || value === null) return []
  const missing = required
    .filter((name) => Object.hasOwn(value, name))
    .map((name) => ({ what: `no ${name}`, value: undefined, path: [name], remove: true }))
  if (additionalProperties !== false) return missing
  return [
    ...missing,
    ...STRANGE_NAMES.filter((name) => !Object.hasOwn(properties, name)).map((name) => ({
      what: `an unknown member ${name.slice(0, 20)}`,
      value: 1,
      path: [name],
      loosely: name.length > 60,
    })),
  ]
}
