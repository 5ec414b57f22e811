/**
 * The configuration document as code reads it (contract "Configuration document").
 * Dollars and fractions, as in the JSON.
 */
import { present } from '../../core/present.js'

/** A list rule: `include` and `exclude` of one kind of value. */
export interface ListRule {
  include_operand?: 'AND' | 'OR'
  include?: (string | number)[]
  exclude?: (string | number)[]
}

export interface CostRange {
  min_distributor_cost: number
  max_distributor_cost: number
}

export interface ProductGroup {
  id?: string
  name?: string
  type: 'include' | 'exclude'
  criteria: {
    sku?: string[]
    upc?: (string | number)[]
    brand?: string[]
    category?: string[]
    product_class?: string[]
    min_quantity_to_list?: number
    cost?: { min_cost?: number; max_cost?: number }
  }
}

export interface ProductRestrictions {
  min_quantity_to_list?: number
  include_uncategorized_product?: boolean
  purchase_limit?: number
  sku?: ListRule
  upc?: ListRule
  brand?: ListRule
  category?: ListRule
  product_class?: ListRule
  cost?: {
    global_restrictions?: CostRange
    product_class_restrictions?: (CostRange & { product_class: string[] })[]
  }
  product_groups?: ProductGroup[]
}

export interface FlatRate {
  cost: number
  shipping_class: string
}

export interface ShippingLevel {
  flat_rate: FlatRate
  min_unit_cost: number
  max_unit_cost?: number
  product_class?: string[]
  category?: string[]
}

export interface Shipping {
  flat_rate?: FlatRate
  /** Two spellings of one member. */
  price_based_shipping?: ShippingLevel[]
  price_based_shipping_levels?: ShippingLevel[]
  insurance?: { include: boolean; cost_per_hundred?: number }
  handling?: { amount: number; order_threshold: number; add_handling_to_unit_cost: boolean }
}

export interface DistributorEntry {
  active: boolean
  distid: string
  drop_ship_only_items: boolean
  shipping: Shipping
  product_restrictions: ProductRestrictions
  product_feed?: { active?: boolean; api_key?: string }
  fulfillment?: Record<string, unknown>
  default_shipping_method_non_firearms?: string
}

export interface PriceRange {
  minimum_unit_cost?: number
  maximum_unit_cost?: number
  margin_dollar?: number
  margin_percentage?: number
}

export interface MarginGroup {
  margin_dollar?: number
  margin_percentage?: number
  sku?: (string | number)[]
  upc?: (string | number)[]
  brand?: string[]
  category?: string[]
  product_class?: string[]
  distributor?: string[]
  price_based_margin?: PriceRange[]
}

export interface CostAdjustment {
  distributor?: string
  product_class?: string
  category?: string
  brand?: string
  percent?: number
  dollar?: number
}

export interface Pricing {
  margin?: Record<string, MarginGroup>
  credit_card_fee_percent?: number
  credit_card_fee_transaction?: number
  include_credit_card_fees_in_price?: boolean
  include_shipping_in_price?: boolean
  sales_tax_assumption?: number
  rounding?: 'none' | 'round_to_nearest_dollar' | 'round_up_to_99_cents'
  sell_at_map?: boolean
  ignore_map_brands?: string[]
  cost_adjustments?: CostAdjustment[]
}

export interface ConfigurationDocument {
  distributors: Record<string, DistributorEntry>
  targets: Record<string, unknown>
  notification_email: string
  pricing: Pricing
  product_restrictions: ProductRestrictions
  fulfillment?: Record<string, unknown>
  [other: string]: unknown
}

/** The entry of a distributor that the document is known to name. */
export function entryNamed(
  { distributors }: Pick<ConfigurationDocument, 'distributors'>,
  name: string,
): DistributorEntry {
  return present(distributors[name], `the entry ${name}`)
}
