/**
 * Values that fit a schema: out of what exists in the shop where the member's name says so, else
 * made up, at the bounds too.
 */
import * as fc from 'fast-check'
import { isMoney } from './document.js'
import type { ApiDocument, Schema } from './document.js'
import type { Pools } from './pools.js'

export type Arbitrary = fc.Arbitrary<unknown>

/** What a member or parameter of this name usually holds. */
export type Names = Record<string, fc.Arbitrary<unknown>>

const WORDS = [
  'Glock',
  'ridgeline',
  '9mm',
  'Holster',
  'scope 4x',
  '.223 Rem',
  "O'Brien & Sons",
  'ÉCLAT',
  'éclat',
  'e\u0301clat',
  'İstanbul',
  'ﬁ',
  '１２３',
  '٣',
  'ß',
  '٪',
  '日本',
  '𝒳',
  '👩‍👩‍👧',
  '\u200b',
  '\ufeff',
  '\u202e',
  '%',
  '_',
  '*',
  '"',
  '\\',
  "'; --",
  '<b>',
  '${x}',
  '{{x}}',
  '../..',
  'null',
  'NaN',
  '__proto__',
  'constructor',
  '-1',
  '1e3',
]

/** What makes a careless pattern or a walk over words take its time. */
const LONG = [
  'x'.repeat(6_000),
  ' '.repeat(3_000) + 'x',
  'a '.repeat(2_500),
  '1'.repeat(5_000),
  'apt '.repeat(1_000),
  '-'.repeat(4_000),
  '\u0301'.repeat(1_000),
]

/** Well-formed text without control characters, one UTF-16 unit for each character near a limit. */
export function text(min = 0, max = 60): fc.Arbitrary<string> {
  const plain = fc.string({
    minLength: Math.min(min, 12),
    maxLength: Math.min(max, 24),
    unit: 'grapheme-ascii',
  })
  const word = fc.constantFrom(...WORDS.filter(({ length }) => length >= min && length <= max))
  const edge = fc.constantFrom('x'.repeat(max), 'é'.repeat(max), 'a'.repeat(Math.max(min, 1)))
  const strange = fc
    .string({ minLength: min, maxLength: Math.min(max, 12), unit: 'grapheme' })
    .filter((made) => made.length <= max && !hasControl(made))
  return fc
    .oneof(
      { weight: 5, arbitrary: plain },
      { weight: 4, arbitrary: word },
      { weight: 1, arbitrary: edge },
      { weight: 1, arbitrary: strange },
    )
    .filter((made) => made.length >= min)
}

function hasControl(made: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  return /[\u0000-\u001f\u007f]/.test(made)
}

/** A validator need not look at formats, but a server may. */
const FORMATS: Record<string, string[]> = {
  email: ['pat@customer.example', 'a.b+c@mail.example'],
  uri: ['https://shop.example', 'https://shop.example/a?b=c'],
}

/** Arbitraries by schema, remembered. */
export function makeValues({ resolve }: ApiDocument, names: Names) {
  const known = new Map<Schema, Map<string, Arbitrary>>()

  function of(given: Schema, name = ''): Arbitrary {
    const schema = resolve(given)
    let byName = known.get(schema)
    if (!byName) known.set(schema, (byName = new Map()))
    let made = byName.get(name)
    if (!made) byName.set(name, (made = make(schema, name)))
    return made
  }

  function make(schema: Schema, name: string): Arbitrary {
    const isNullable = schema.nullable === true
    const value = plain(schema, name)
    return isNullable
      ? fc.oneof({ weight: 9, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) })
      : value
  }

  function plain(schema: Schema, name: string): Arbitrary {
    if (schema.enum) return fc.constantFrom(...schema.enum)
    if (schema.anyOf || schema.oneOf)
      return fc.oneof(...(schema.anyOf ?? schema.oneOf)!.map((part) => of(part, name)))
    if (schema.format !== undefined && Object.hasOwn(FORMATS, schema.format))
      return fc.constantFrom(...FORMATS[schema.format]!)
    const usual = Object.hasOwn(names, name) ? names[name] : undefined
    if (usual && schema.type === 'string')
      return schema.pattern === undefined
        ? usual
        : usual.filter((made) => new RegExp(schema.pattern!, 'u').test(String(made)))
    switch (schema.type) {
      case 'integer':
        return integer(schema.minimum ?? -1_000, schema.maximum ?? 1_000_000)
      case 'number':
        return number(schema.minimum ?? -10_000, schema.maximum ?? 1_000_000, isMoney(schema))
      case 'boolean':
        return fc.boolean()
      case 'string': {
        if (schema.pattern === '\\S')
          return text(schema.minLength, schema.maxLength).filter((made) => made.trim() !== '')
        if (schema.pattern !== undefined) return matching(schema)
        const usualText = text(schema.minLength, schema.maxLength)
        return schema.maxLength === undefined
          ? fc.oneof(
              { weight: 30, arbitrary: usualText },
              { weight: 1, arbitrary: fc.constantFrom(...LONG) },
            )
          : usualText
      }
      case 'array':
        return fc.array(of(schema.items ?? {}, name), {
          minLength: schema.minItems ?? 0,
          maxLength: Math.min(schema.maxItems ?? 4, 4),
        })
      case 'object':
        return object(schema)
      default:
        return fc.oneof(
          fc.constantFrom(-0, 1e308, 5e-324, 2 ** 53, -1),
          fc.constant(DEEP),
          fc.integer(),
          fc.boolean(),
          text(),
          fc.constant(null),
          fc.array(fc.integer(), { maxLength: 3 }),
          fc.dictionary(word, fc.integer(), { maxKeys: 3 }),
        )
    }
  }

  function object({ properties = {}, required = [], additionalProperties }: Schema): Arbitrary {
    const members = fc.record(
      Object.fromEntries(
        Object.entries(properties).map(([member, schema]) => [member, of(schema, member)]),
      ),
      { requiredKeys: required as never[] },
    )
    if (typeof additionalProperties !== 'object') return members
    return fc
      .tuple(members, fc.dictionary(word, of(additionalProperties), { maxKeys: 3 }))
      .map(([own, more]) => ({ ...more, ...own }))
  }

  return { of }
}

export type Values = ReturnType<typeof makeValues>

/** Under the levels that a body may have. */
const DEEP: unknown = Array.from({ length: 50 }).reduce((inner) => [inner], 'deep')

const word = fc.constantFrom(
  'alpha',
  'beta',
  'magazine_capacity',
  'barrel_length',
  'gamma delta',
  'É',
)

function integer(min: number, max: number): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min, max: Math.min(max, min + 20) }) },
    { weight: 1, arbitrary: fc.constantFrom(min, max) },
    { weight: 1, arbitrary: fc.integer({ min, max }) },
  )
}

function number(min: number, max: number, isCents: boolean): fc.Arbitrary<number> {
  const cents = fc
    .integer({ min: Math.ceil(min * 100), max: Math.floor(max * 100) })
    .map((n) => n / 100)
  if (isCents)
    return fc.oneof(
      { weight: 4, arbitrary: cents },
      { weight: 1, arbitrary: fc.constantFrom(min, max) },
    )
  return fc.oneof(
    { weight: 4, arbitrary: cents },
    { weight: 1, arbitrary: fc.constantFrom(min, max) },
    { weight: 1, arbitrary: fc.double({ min, max, noNaN: true, noDefaultInfinity: true }) },
  )
}

function matching({
  pattern,
  minLength = 0,
  maxLength = Infinity,
  format,
}: Schema): fc.Arbitrary<string> {
  if (format === 'date')
    return fc.constantFrom(
      '2026-11-20',
      '2026-11-21',
      '2026-12-01',
      '2024-02-29',
      '0001-01-01',
      '9999-12-31',
    )
  return fc
    .stringMatching(new RegExp(pattern!, 'u'), { size: '-1' })
    .filter((made) => made.length >= minLength && made.length <= maxLength && !hasControl(made))
}

/** What exists in the shop, by the names of the document. */
export function namesOf(pools: Pools): Names {
  const from = <T>(values: readonly T[]) => fc.constantFrom(...values)
  const often = <T>(values: readonly T[], other: fc.Arbitrary<T>) =>
    fc.oneof({ weight: 4, arbitrary: from(values) }, { weight: 1, arbitrary: other })
  const upc = often(
    pools.offers.map((offer) => offer.upc),
    from(['00000000', '12345678', '99999999999999', '0860001234503']),
  )
  const distid = often(
    ['RSR', 'LIP', 'CSSI', 'TSW', 'ZND', '2AW', 'BILL', 'ORI', 'HIX'],
    from(['DAV', 'XXX', 'rsr']),
  )
  const sku = often(
    pools.offers.map(({ distsku }) => distsku),
    text(1, 40),
  )
  const reference = often(pools.references, text(1, 40))
  const email = fc.oneof(
    from(pools.reported).map((signals) => signals.email),
    from(['pat@customer.example', 'P.a.t+tag@gmail.com', '"', 'no mail']),
  )
  const phone = fc.oneof(
    from(pools.reported).map((signals) => signals.phone),
    from(['602-555-0100', '+1 (615) 555-1200', '1', 'call me', '']),
  )
  const street = fc.oneof(
    from(pools.reported).map((signals) => signals.shipping_address_1),
    from(['12 Main Street, Apt 4', 'PO Box 9', 'Rural Route 2 Box 4', '']),
    text(0, 60),
  )
  return {
    upc,
    sku,
    distsku: sku,
    distid,
    distributor: distid,
    reference,
    search: reference,
    po_number: reference,
    tracking_number: reference,
    distributor_order_id: reference,
    order_id: often(pools.orderIds, from(['W-0', 'w-g0', ...Object.values(pools.otherShop)])),
    license_number: often(
      [...pools.licenses.slice(0, 40), ...pools.orderedLicenses],
      from(['1-57-XXX-XX-XX-67890', 'X-XX-XXX-XX-XX-XXXXX', '1234567890', '----------']),
    ),
    zip: often(
      pools.places.map((place) => place.zip),
      from(['00000', '99999', '85001']),
    ),
    manufacturer: often(pools.brands, text()),
    category: often(pools.categories, text()),
    product_class: often(['FA', 'AC', 'OP', 'AO'], from(['ZZ', 'fa', ''])),
    metric: from([
      'top-products',
      'on-sale',
      'margin-opportunities',
      'trending',
      'new-arrivals',
      'newly-available',
      'price-gaps',
    ]),
    category_id: from(['3024', '3024,3025', ' 1 , 2 ']),
    email,
    phone,
    shipping_address_1: street,
    billing_address_1: street,
    q: often(
      [
        ...pools.brands,
        ...pools.offers.slice(0, 60).map((offer) => offer.upc),
        'glock 19',
        'rl-15 5.56',
      ],
      text(0, 60),
    ),
    state: from(['TN', 'AZ', 'CA', 'tn', 'Tennessee']),
    country: from(['US', 'us', 'CA']),
    last_version: text(),
  }
}
