/** Schemas of `product_restrictions` (contract "Configuration document"). */
import { CLASS_CODES } from '../../distributors/product-classes.js'
import {
  CATEGORY_CLASS_FILTERS,
  LIST,
  closed,
  list,
  member,
  money,
  number,
  rules,
  text,
} from './parts.js'
import type { Schema } from './parts.js'

/**
 * Definitions: of the root, where `{}` restricts nothing, and of a distributor's entry, which needs
 * at least one member.
 */
export function restrictionSchemas(): Record<string, Schema> {
  const members = restrictionMembers()
  const description = 'which products are listed'
  return {
    product_class: { ...text('a product class code'), enum: CLASS_CODES },
    product_restrictions: closed(description, members),
    entry_restrictions: {
      ...closed(description, members),
      anyOf: Object.keys(members).map((name) => ({ required: [name] })),
    },
    cost_range: closed(
      'bounds of the dealer cost, dollars, inclusive',
      BOUNDS,
      Object.keys(BOUNDS),
    ),
    product_group: productGroup(),
  }
}

const BOUNDS = {
  min_distributor_cost: money('the least dealer cost'),
  max_distributor_cost: money('the highest dealer cost'),
}

function restrictionMembers(): Record<string, Schema> {
  const rule = (description: string, items: Schema): Schema => ({
    ...closed(description, {
      include_operand: {
        ...text('AND: the other lists must match too; OR: this one admits on its own'),
        enum: ['AND', 'OR'],
      },
      include: list('what is listed', items),
      exclude: list('what is never listed', items),
    }),
    anyOf: [{ required: ['include'] }, { required: ['exclude'] }],
  })
  const anyClass = { $ref: '#/definitions/product_class' }
  return {
    min_quantity_to_list: member('integer', 'the least quantity in stock', { minimum: 1 }),
    include_uncategorized_product: member(
      'boolean',
      'whether products without a category are listed',
    ),
    purchase_limit: member('integer', 'the most units of an order line', { minimum: 0 }),
    sku: rule('by SKU', LIST.skuOrUpc),
    upc: rule('by UPC', LIST.skuOrUpc),
    brand: rule('by brand', text('a brand')),
    category: rule('by category', text('a category')),
    product_class: rule('by product class', anyClass),
    cost: {
      ...closed('by dealer cost', {
        global_restrictions: { $ref: '#/definitions/cost_range' },
        product_class_restrictions: list(
          'bounds of single classes, in place of the global ones',
          closed(
            'bounds of the dealer cost of some classes',
            { product_class: list('product class codes', anyClass), ...BOUNDS },
            ['product_class', ...Object.keys(BOUNDS)],
          ),
        ),
      }),
      anyOf: [{ required: ['global_restrictions'] }, { required: ['product_class_restrictions'] }],
    },
    product_groups: rules(
      'groups of products that are listed or never listed',
      { $ref: '#/definitions/product_group' },
      50,
    ),
  }
}

function productGroup(): Schema {
  return closed(
    'a group of products; all its criteria must match',
    {
      id: text("the group's id"),
      name: text("the group's name"),
      type: {
        ...text('whether the group is listed or never listed'),
        enum: ['include', 'exclude'],
      },
      criteria: closed('what belongs to the group', {
        sku: list('SKUs', text('a SKU')),
        upc: list('UPCs', LIST.skuOrUpc),
        brand: list('brands', text('a brand')),
        ...CATEGORY_CLASS_FILTERS,
        min_quantity_to_list: number('the least quantity in stock', { minimum: 1 }),
        cost: closed('bounds of the dealer cost, dollars', {
          min_cost: money('the least dealer cost', { minimum: 0 }),
          max_cost: money('the highest dealer cost', { minimum: 0.01 }),
        }),
      }),
    },
    ['type', 'criteria'],
  )
}
