/** Schemas of a distributor's `shipping` (contract "Configuration document"). */
import { CATEGORY_CLASS_FILTERS, closed, member, money, open, rules, text } from './parts.js'
import type { Schema } from './parts.js'

const MOST_DOLLARS = 1_000_000
const amount = (description: string) => money(description, { minimum: 0, maximum: MOST_DOLLARS })

export const LITERAL = 'price_based_shipping'
export const LEVELS = 'price_based_shipping_levels'

export function shippingSchemas(): Record<string, Schema> {
  return {
    flat_rate: open(
      'one rate for all',
      {
        cost: amount('what shipping costs'),
        shipping_class: text("name of the shop's shipping class"),
      },
      ['cost', 'shipping_class'],
    ),
    shipping_level: closed(
      'a rate for a range of dealer costs',
      {
        flat_rate: { $ref: '#/definitions/flat_rate' },
        min_unit_cost: member('integer', 'the least dealer cost, whole dollars', { minimum: 0 }),
        max_unit_cost: member('integer', 'the highest dealer cost, whole dollars', { minimum: 0 }),
        ...CATEGORY_CLASS_FILTERS,
      },
      ['flat_rate', 'min_unit_cost'],
    ),
    shipping: { ...shippingMembers(), oneOf: oneModel() },
    postal_code: {
      description: 'ZIP code, 5 digits or 5+4',
      anyOf: [
        { type: 'string', pattern: '^\\d{5}(-\\d{4})?$' },
        { type: 'integer', minimum: 10_000, maximum: 99_999 },
      ],
    },
  }
}

function shippingMembers(): Schema {
  const levels = (description: string) =>
    rules(description, { $ref: '#/definitions/shipping_level' }, 100)
  return open('what shipping from this distributor costs', {
    flat_rate: { $ref: '#/definitions/flat_rate' },
    [LITERAL]: { ...levels('rates by dealer cost'), minItems: 1 },
    [LEVELS]: levels('rates by dealer cost; the same under its other spelling'),
    insurance: closed(
      'insurance of the goods',
      {
        include: member('boolean', 'whether it is added'),
        cost_per_hundred: amount('for each hundred dollars of dealer cost'),
      },
      ['include'],
    ),
    handling: closed(
      'a fee for small orders',
      {
        amount: amount('the fee'),
        order_threshold: amount('orders below it pay the fee'),
        add_handling_to_unit_cost: member('boolean', 'whether the fee goes into the shown cost'),
      },
      ['amount', 'order_threshold', 'add_handling_to_unit_cost'],
    ),
  })
}

/**
 * flat_rate or price_based_shipping, not both; and price_based_shipping_levels alone or beside
 * flat_rate.
 */
function oneModel(): Schema[] {
  return [
    { required: [LITERAL], not: { required: [LEVELS] } },
    { required: ['flat_rate'], not: { required: [LITERAL, LEVELS] } },
    {
      type: 'object',
      properties: { [LEVELS]: { type: 'array', minItems: 1 } },
      required: [LEVELS],
      not: { anyOf: [{ required: ['flat_rate'] }, { required: [LITERAL] }] },
    },
  ]
}
