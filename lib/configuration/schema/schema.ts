/**
 * The configuration document's JSON Schema, draft-04 (contract "Configuration document"), put
 * together from the distributors' own settings. Every member has a description: error messages are
 * made of them.
 */
import type { Registry } from '../../distributors/registry.js'
import { entrySchema } from './entry.js'
import {
  CATEGORY_CLASS_FILTERS,
  LIST,
  closed,
  list,
  member,
  money,
  number,
  open,
  rules,
  text,
} from './parts.js'
import type { Schema } from './parts.js'
import { restrictionSchemas } from './restrictions.js'
import { shippingSchemas } from './shipping.js'

export type { Schema } from './parts.js'

/** Dollars that a document may add to a price; beyond them somebody mistook cents for dollars. */
const MOST_DOLLARS = 1_000_000
const fraction = (description: string, least = 0) =>
  number(`${description}; a fraction, 0.05 is 5 %`, { minimum: least, maximum: 0.99 })
const dollars = (description: string) =>
  money(description, { minimum: -MOST_DOLLARS, maximum: MOST_DOLLARS })
const flag = (description: string) => member('boolean', description)

/** The whole schema. Distributors' entries are definitions of their own, `distributor_<DISTID>`. */
export function configurationSchema(registry: Registry): Schema {
  const entries = Object.fromEntries(
    registry.all.map((distributor) => [
      `distributor_${distributor.distid}`,
      entrySchema(distributor),
    ]),
  )
  return {
    $schema: 'http://json-schema.org/draft-04/schema#',
    title: 'Quartermaster configuration',
    ...closed(
      'the configuration document',
      {
        distributors: closed(
          'the distributors that you buy from, by name',
          Object.fromEntries(
            registry.all.map(({ name, distid }) => [
              name,
              { $ref: `#/definitions/distributor_${distid}` },
            ]),
          ),
        ),
        targets: targets(),
        notification_email: text('where notifications go', { format: 'email' }),
        pricing: { $ref: '#/definitions/pricing' },
        product_restrictions: { $ref: '#/definitions/product_restrictions' },
        fulfillment: fulfillment(),
        bound_book: open('settings of a bound book; kept, not read', {}),
        POS: open('settings of a point of sale; kept, not read', {}),
        payment_processor: open('settings of a payment processor; kept, not read', {}),
      },
      ['distributors', 'targets', 'notification_email', 'pricing', 'product_restrictions'],
    ),
    definitions: {
      ...restrictionSchemas(),
      ...shippingSchemas(),
      pricing: pricing(),
      margin_group: marginGroup(),
      target: target({}),
      ...entries,
    },
  }
}

function pricing(): Schema {
  return closed(
    'how retail prices and your own dealer costs are computed; {} asks for no retail price',
    {
      margin: {
        ...closed(
          'the margins, by group',
          {
            default: {
              $ref: '#/definitions/margin_group',
              description: 'the margin used when no group matches',
            },
          },
          ['default'],
        ),
        patternProperties: { '^[a-zA-Z]+$': { $ref: '#/definitions/margin_group' } },
        maxProperties: 100,
      },
      credit_card_fee_percent: fraction("the card company's share of a payment"),
      credit_card_fee_transaction: money("the card company's fee for each payment", {
        minimum: 0,
        maximum: MOST_DOLLARS,
      }),
      include_credit_card_fees_in_price: flag('whether retail prices include the card fees'),
      include_shipping_in_price: flag('whether retail prices include shipping'),
      sales_tax_assumption: fraction('the sales tax that card fees are paid on too'),
      rounding: {
        ...text('how retail prices are rounded'),
        enum: ['none', 'round_to_nearest_dollar', 'round_up_to_99_cents'],
      },
      sell_at_map: flag('whether what has a MAP is sold at it'),
      ignore_map_brands: list('brands that may be sold below their MAP', text('a brand')),
      cost_adjustments: rules(
        'corrections of your dealer costs; all that match add up',
        costAdjustment(),
        200,
      ),
    },
  )
}

function marginGroup(): Schema {
  return {
    ...closed('a margin and what it applies to', {
      margin_dollar: dollars('added to the price'),
      margin_percentage: fraction('the share of the price that is margin'),
      ...CATEGORY_CLASS_FILTERS,
      brand: list('brands', text('a brand')),
      sku: list('SKUs', LIST.skuOrUpc),
      upc: list('UPCs', LIST.skuOrUpc),
      distributor: list('distids', text('a distid')),
      price_based_margin: rules(
        "margins by dealer cost, in place of the group's own",
        {
          ...closed('a range of dealer costs and its margin', {
            minimum_unit_cost: money('the least dealer cost', { minimum: 0 }),
            maximum_unit_cost: money('the highest dealer cost', { minimum: 0 }),
            margin_dollar: dollars('added to the price'),
            margin_percentage: fraction('the share of the price that is margin'),
          }),
          anyOf: [{ required: ['margin_dollar'] }, { required: ['margin_percentage'] }],
        },
        100,
      ),
    }),
    anyOf: [{ required: ['margin_dollar'] }, { required: ['margin_percentage'] }],
  }
}

function costAdjustment(): Schema {
  return {
    ...closed('a correction of dealer costs', {
      distributor: text('a distid; all distributors without it'),
      product_class: { $ref: '#/definitions/product_class' },
      category: text('a category'),
      brand: text('a brand'),
      percent: fraction('added to the cost', -0.99),
      dollar: dollars('added to the cost'),
    }),
    anyOf: [{ required: ['percent'] }, { required: ['dollar'] }],
  }
}

/** A place where the catalog is sold. Known members are checked, others are kept. */
function target(members: Record<string, Schema>): Schema {
  return open(
    'a place where the catalog is listed',
    { active: flag('whether it is listed there'), ...members },
    ['active'],
  )
}

function targets(): Schema {
  const adjusted = open('adjustments of the prices there', {
    margin_adjustment_dollar: dollars('added to the margin'),
    margin_adjustment_percent: fraction('added to the margin', -0.99),
    populate_sale_price_if_less_than_msrp: flag(
      'whether a price below MSRP is shown as a sale price',
    ),
  })
  const restrictions = { $ref: '#/definitions/product_restrictions' }
  const credential = (description: string) => text(description)
  return {
    ...open('where the catalog is listed', {
      woo: target({
        url: text('address of the shop', { format: 'uri' }),
        'consumer-key': credential("key of the shop's REST interface"),
        'consumer-secret': credential("secret of the shop's REST interface"),
        load_batch_count: member('integer', 'products that are loaded at once', {
          minimum: 1,
          maximum: 100,
        }),
        alerts: open('when to raise an alarm', {
          delete_threshold_percent: fraction(
            'the share of the live catalog that a change may remove',
          ),
          change_threshold_percent: number(
            'the share of the live catalog that a change may touch',
            { minimum: 0 },
          ),
        }),
        pricing: adjusted,
        product_restrictions: restrictions,
      }),
      gunbroker: target({
        environment: { ...text('which GunBroker'), enum: ['sandbox', 'production'] },
        username: credential('user at GunBroker'),
        password: credential('password at GunBroker'),
        key: credential('developer key of GunBroker'),
        pricing: adjusted,
        product_restrictions: restrictions,
      }),
      ...Object.fromEntries(
        ['ammoseek', 'gun.deals', 'wikiarms'].map((name) => [
          name,
          target({
            listed_products: {
              ...open('what is listed, by kind of product', {}),
              additionalProperties: open('which products', {}),
            },
          }),
        ]),
      ),
    }),
    additionalProperties: { $ref: '#/definitions/target' },
  }
}

function fulfillment(): Schema {
  return open('what orders need beside the distributors', {
    ship_to_store: open('the store, for ship-to-store orders', {
      ffl: text('license number of the store'),
      phone: member(['string', 'integer'], 'phone of the store'),
      address: open("where the store's orders go", {
        ship_to_name: text('name of the store'),
        address_street: text('street'),
        city: text('city'),
        state: text('state, two letters', { pattern: '^[A-Za-z]{2}$' }),
        postal_code: { $ref: '#/definitions/postal_code' },
      }),
    }),
    automation_exceptions: open('which orders are not placed on their own', {
      max_auto_fulfillment_dollar_value: money('the highest value', { minimum: 0 }),
      state_restrictions: list('states, two letters', text('a state')),
    }),
  })
}
