/** Calls that every rule of the document allows, and the few rules that it says in words only. */
import * as fc from 'fast-check'
import type { ApiDocument, Operation, Schema } from './document.js'
import type { Call } from './plan.js'
import type { Pools } from './pools.js'
import type { Template } from './shop.js'
import { makeValues, namesOf, text } from './values.js'
import type { Values } from './values.js'

/** Makes calls of an operation that must not be refused for their form. */
export function makeCalls(
  api: ApiDocument,
  template: Template,
): (operation: Operation) => fc.Arbitrary<Call> {
  const { pools } = template
  const values = makeValues(api, namesOf(pools))
  const document = documents(template)
  const bodies: Record<string, fc.Arbitrary<unknown>> = {
    ordersPlace: orders(pools),
    configPut: fc
      .tuple(document, fc.boolean())
      .map(([configuration, wrapped]) => (wrapped ? { configuration } : configuration)),
    configValidate: fc.oneof(
      fc.constant(undefined),
      fc.constant({}),
      fc
        .oneof(document, madeAnew(api, template, values))
        .map((configuration) => ({ configuration })),
    ),
  }
  const signals = strongSignals(pools)
  const place = fc.constantFrom(...pools.places)
  return (operation) => {
    const { parameters, body, id } = operation
    const of = (where: string) => {
      const some = parameters.filter((parameter) => parameter.in === where)
      return fc.record(
        Object.fromEntries(some.map(({ name, schema }) => [name, values.of(schema, name)])),
        { requiredKeys: some.filter(({ required }) => required).map(({ name }) => name) },
      )
    }
    const bodyOf = bodies[id] ?? (body ? values.of(body) : fc.constant(undefined))
    const headersOf = fc.oneof(
      { weight: 6, arbitrary: fc.constant({}) },
      { weight: 1, arbitrary: of('header') },
    )
    const isRequired = (name: string) =>
      parameters.some((parameter) => parameter.name === name && parameter.required)
    // Half of sixteen filters together leave nothing to look at: mostly a few of them are enough.
    const mask =
      parameters.length > 5
        ? fc.oneof(
            { weight: 3, arbitrary: fc.nat(0xffff) },
            { weight: 1, arbitrary: fc.constant(0xffff) },
            {
              weight: 2,
              arbitrary: fc.tuple(fc.nat(0xffff), fc.nat(0xffff)).map(([a, b]) => a & b),
            },
          )
        : fc.constant(0xffff)
    return fc
      .tuple(of('path'), of('query'), headersOf, bodyOf, signals, place, fc.boolean(), mask)
      .map(([params, query, headers, made, signal, where, flag, bits]) =>
        mend(
          {
            operation,
            params: params as Record<string, string>,
            query: Object.entries(query)
              .filter(([name], i) => isRequired(name) || ((bits >> i) & 1) === 1)
              .map(([name, value]) => [name, textOf(value, flag)]),
            headers: Object.fromEntries(
              Object.entries(headers).map(([name, value]) => [
                name.toLowerCase(),
                headerText(String(value)),
              ]),
            ),
            body: made,
          },
          signal,
          where,
        ),
      )
  }
}

function textOf(value: unknown, short: boolean): string {
  return typeof value === 'boolean'
    ? short
      ? String(Number(value))
      : String(value)
    : String(value)
}

/** Header values are bytes without blanks around them. */
function headerText(value: string): string {
  return value.replaceAll(/[^\x20-\x7e]/g, '?').trim()
}

type Signals = Pools['reported'][number]
type Where = Pools['places'][number]

/**
 * What the document says in words: paging ends at 10,000 rows, a fraud call has a readable strong
 * signal.
 */
function mend(call: Call, signals: Partial<Signals>, where: Where): Call {
  const query = new Map(call.query)
  switch (call.operation.id) {
    case 'productsSearch': {
      const size = Number(query.get('page_size') ?? 50)
      if (Number(query.get('page') ?? 1) * size > 10_000)
        query.set('page', String(Math.floor(10_000 / size)))
      break
    }
    case 'fraudCheck':
      return { ...call, body: { ...(call.body as object), ...signals } }
    case 'fraudReport':
      return {
        ...call,
        body: {
          ...(call.body as object),
          shipping_address_1: signals.shipping_address_1 ?? '4 Nowhere Street',
          ...(where.zip < '6' && { shipping_postcode: '37203' }),
          shipping_is_ffl: false,
        },
      }
    case 'fraudRemove':
      return { ...call, body: { ...(call.body as object), ...signals } }
    case 'restrictionsCheck': {
      const body = call.body as { shipping: Record<string, unknown> }
      const { zip, city, state } = where
      const { zip: hasZip, city: hasCity, county: _county, ...others } = body.shipping
      return {
        ...call,
        body: {
          ...body,
          shipping: {
            ...others,
            state,
            country: 'US',
            ...(hasZip !== undefined && { zip }),
            ...(hasCity !== undefined && { city }),
          },
        },
      }
    }
  }
  return { ...call, query: [...query] }
}

/** At least one that can be read. */
function strongSignals(pools: Pools): fc.Arbitrary<Partial<Signals>> {
  return fc
    .tuple(
      fc.constantFrom(...pools.reported, {
        shipping_address_1: '4 Nowhere Street',
        shipping_postcode: '85001',
        phone: '602-555-0199',
        email: 'nobody@mail.example',
      }),
      fc.constantFrom(
        'phone',
        'email',
        'shipping_address_1',
        'shipping_address_1 shipping_postcode',
        'phone email',
        'shipping_address_1 shipping_postcode phone',
      ),
    )
    .map(([all, names]) =>
      Object.fromEntries(Object.entries(all).filter(([name]) => names.split(' ').includes(name))),
    )
}

/** Outcomes of simulated distributors that take no time of their own. */
export const SCENARIOS = [
  'REJECT',
  'OUT-OF-STOCK',
  'PARTIAL',
  'CUT-REPLY',
  'TIMEOUT-AFTER-ACCEPT',
  'SERVER-ERROR-BEFORE',
  'SERVER-ERROR-AFTER',
  'DUPLICATE-ACK',
  'EMPTY-ANSWER',
  'UNREACHABLE',
  'RATE-LIMITED',
  'CANCEL',
  'BACKORDER',
  'HOLD',
  'PARCELS',
  'NONE-COMMITTED',
  'GARBAGE',
]

/** Of a customer: blanks alone say nothing. */
const said = (most: number) => text(1, most).filter((made) => made.trim() !== '')

/**
 * Orders that nothing speaks against: items in stock, to where they may ship, with what each
 * distributor needs.
 */
function orders(pools: Pools): fc.Arbitrary<unknown> {
  const able = pools.offers.filter(({ ffl, dropShip, qty }) => qty > 1_000 && (ffl || dropShip))
  const line = fc.record({
    offer: fc.constantFrom(...able),
    qty: fc.constantFrom(1, 1, 1, 2, 9),
    asOffered: fc.boolean(),
  })
  const po = fc.oneof(
    { weight: 8, arbitrary: fc.constant(undefined) },
    { weight: 2, arbitrary: fc.stringMatching(/^[\x21-\x7e]{1,200}$/, { size: '-1' }) },
    { weight: 4, arbitrary: fc.constantFrom(...SCENARIOS).map((name) => `PO-SIM-${name}`) },
  )
  return fc
    .record({
      serial: fc.nat(1e9),
      again: fc.nat(30),
      lines: fc.oneof(
        { weight: 6, arbitrary: fc.array(line, { minLength: 1, maxLength: 3 }) },
        { weight: 1, arbitrary: fc.array(line, { minLength: 1, maxLength: 12 }) },
      ),
      isStore: fc.boolean(),
      license: fc.constantFrom(...pools.licenses.slice(0, 60)),
      sot: fc.constantFrom(...pools.sotLicenses),
      name: said(100),
      street: said(100),
      second: fc.option(text(0, 100)),
      place: fc.constantFrom(...pools.places),
      known: fc.constantFrom(...pools.orderIds),
      po,
    })
    .map(
      ({
        serial,
        again,
        lines,
        isStore,
        license,
        sot,
        name,
        street,
        second,
        place,
        known,
        po: poNumber,
      }) => ({
        order_id: again === 0 ? known : `F-${serial}`,
        customer: {
          name,
          email: 'pat@customer.example',
          phone: '602-555-0100',
          address1: street,
          ...(second !== null && { address2: second }),
          city: place.city.slice(0, 60),
          state: place.state,
          zip: place.zip,
        },
        items: lines.map(({ offer: { distid, distsku, upc, ffl }, qty, asOffered }) => ({
          ...(asOffered && {
            distributor: 'as quoted',
            unit_price: 1,
            alternatives: undefined,
            product_url: null,
          }),
          distid,
          distsku,
          upc,
          qty,
          ffl_req: ffl,
        })),
        ...(lines.some(({ offer }) => offer.ffl) && {
          ffl: { licenseNumber: lines.some(({ offer }) => offer.sot) ? sot : license },
        }),
        ship_to_store: isStore,
        ...(poNumber !== undefined && { po_number: poNumber }),
      }),
    )
}

/** The shop's own document with one part of it as the schema allows it, whatever that means. */
function madeAnew(api: ApiDocument, { document }: Template, values: Values): fc.Arbitrary<unknown> {
  const parts: { path: string[]; schema: Schema }[] = []
  const walk = (value: unknown, given: Schema, path: string[]) => {
    const schema = api.resolve(given)
    if (path.length > 0) parts.push({ path, schema })
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return
    for (const [name, member] of Object.entries(schema.properties ?? {}))
      walk((value as Record<string, unknown>)[name], member, [...path, name])
  }
  walk(document, { $ref: '#/components/schemas/Configuration' }, [])
  return fc
    .constantFrom(...parts)
    .chain(({ path, schema }) =>
      values.of(schema, path.at(-1)).map((made) => placed(document, path, made)),
    )
}

/** The value with another one at this place, and objects on the way to it. */
function placed(value: unknown, [name, ...rest]: readonly string[], made: unknown): unknown {
  return name === undefined
    ? made
    : {
        ...(value as object | undefined),
        [name]: placed((value as Record<string, unknown> | undefined)?.[name], rest, made),
      }
}

/**
 * The shop's own document with sections replaced, often enough by what changes every price and
 * view.
 */
function documents({ document, masked, pools }: Template): fc.Arbitrary<unknown> {
  const share = fc.constantFrom(0, 0.01, 0.2, 0.5, 0.99)
  const dollars = fc.constantFrom(0, 0.01, 5, 99.99, 1_000_000)
  const pick = <T>(values: readonly T[]) => fc.array(fc.constantFrom(...values), { maxLength: 3 })
  const group = fc.record(
    {
      margin_dollar: dollars,
      margin_percentage: share,
      product_class: pick(['FA', 'AC', 'OP']),
      brand: pick(pools.brands),
      category: pick(pools.categories),
    },
    { requiredKeys: ['margin_percentage'] },
  )
  const pricing = fc.record(
    {
      margin: fc.record(
        { default: group, guns: group, more: group },
        { requiredKeys: ['default'] },
      ),
      credit_card_fee_percent: share,
      credit_card_fee_transaction: dollars,
      include_credit_card_fees_in_price: fc.boolean(),
      include_shipping_in_price: fc.boolean(),
      sales_tax_assumption: fc.constantFrom(0, 0.07),
      rounding: fc.constantFrom('none', 'round_to_nearest_dollar', 'round_up_to_99_cents'),
      sell_at_map: fc.boolean(),
      ignore_map_brands: pick(pools.brands),
      cost_adjustments: fc.array(
        fc.record(
          {
            percent: fc.constantFrom(-0.5, 0, 0.1),
            dollar: fc.constantFrom(-10, 0, 10),
            product_class: fc.constantFrom('FA', 'AC'),
          },
          { requiredKeys: ['percent'] },
        ),
        { maxLength: 2 },
      ),
    },
    { requiredKeys: [] },
  )
  const list = <T>(values: readonly T[]) =>
    fc.record(
      {
        include_operand: fc.constantFrom('AND', 'OR'),
        include: pick(values),
        exclude: pick(values),
      },
      { requiredKeys: ['include', 'exclude'] },
    )
  const restrictions = fc.record(
    {
      min_quantity_to_list: fc.constantFrom(1, 5, 1_000),
      include_uncategorized_product: fc.boolean(),
      purchase_limit: fc.constantFrom(1, 5),
      brand: list(pools.brands),
      category: list(pools.categories),
      product_class: list(['FA', 'AC', 'OP']),
      upc: list(pools.offers.slice(0, 40).map(({ upc }) => upc)),
      sku: list(pools.offers.slice(0, 40).map(({ distsku }) => distsku)),
      cost: fc.record({
        global_restrictions: fc.record({
          min_distributor_cost: fc.constantFrom(0, 50),
          max_distributor_cost: fc.constantFrom(100, 99_999),
        }),
      }),
    },
    { requiredKeys: [] },
  )
  return fc
    .record(
      {
        pricing,
        product_restrictions: restrictions,
        isMasked: fc.boolean(),
        notification_email: fc.constantFrom('owner@shop.example', 'a@b.example'),
        active: fc.nat(9),
      },
      { requiredKeys: ['isMasked', 'active'] },
    )
    .map(({ isMasked, active, ...sections }) => {
      const saved = isMasked ? masked : document
      const distributors = Object.fromEntries(
        Object.entries(saved.distributors).map(([name, entry], i) => [
          name,
          i === active ? { ...entry, active: false } : entry,
        ]),
      )
      return { ...saved, ...sections, distributors }
    })
}
