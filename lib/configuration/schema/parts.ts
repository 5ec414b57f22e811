/** Building blocks of the configuration's schema. */
export type Schema = Record<string, unknown>

export const member = (
  type: string | string[],
  description: string,
  rules: Schema = {},
): Schema => ({ type, description, ...rules })
export const text = (description: string, rules: Schema = {}): Schema =>
  member('string', description, rules)
export const number = (description: string, rules: Schema = {}): Schema =>
  member('number', description, rules)
/**
 * An amount of money. That it has no fraction of a cent JSON Schema cannot say: `multipleOf` is
 * wrong for 19.99 in most validators.
 */
export const money = (description: string, rules: Schema = {}): Schema =>
  number(`${description}, dollars${DECIMALS}`, rules)
/** Ends the description of every amount. */
export const DECIMALS = ' with at most two decimals'
export const list = (description: string, items: Schema): Schema => ({
  type: 'array',
  description,
  items,
})
/**
 * Rules that are each tried on the whole catalog: so many that no shop needs more, and few enough
 * to be tried at once.
 */
export const rules = (description: string, items: Schema, most: number): Schema => ({
  ...list(description, items),
  maxItems: most,
})

/** Draft-04 has no empty `required`. */
const needed = (required: readonly string[]) => (required.length > 0 ? { required } : {})

/** An object that refuses unknown members. */
export function closed(
  description: string,
  properties: Record<string, Schema>,
  required: readonly string[] = [],
): Schema {
  return {
    type: 'object',
    description,
    properties,
    ...needed(required),
    additionalProperties: false,
  }
}

/** An object that keeps unknown members. */
export function open(
  description: string,
  properties: Record<string, Schema>,
  required: readonly string[] = [],
): Schema {
  return { type: 'object', description, properties, ...needed(required) }
}

export const LIST = { skuOrUpc: member(['string', 'number'], 'a SKU or a UPC') }

/** Filters of price rules and shipping levels. */
export const CATEGORY_CLASS_FILTERS = {
  product_class: list('product class codes', { $ref: '#/definitions/product_class' }),
  category: list('categories', text('a category')),
}
