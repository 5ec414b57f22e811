/**
 * Members of the form that documents had before December 2023, and what took their place: for
 * people who bring an old document.
 */

/** Old members by their place, `*` for a distributor's name or any one step. */
const MOVED: Record<string, string> = {
  '/min_quantity_to_list': '`product_restrictions.min_quantity_to_list` took its place',
  '/min_distributor_cost':
    '`product_restrictions.cost.global_restrictions.min_distributor_cost` took its place',
  '/max_distributor_cost':
    '`product_restrictions.cost.global_restrictions.max_distributor_cost` took its place',
  '/max_listing_count': 'this limit no longer exists; remove it',
  '/brand_exclusions': '`product_restrictions.brand.exclude` took its place',
  '/brand_inclusions': '`product_restrictions.brand.include` took its place',
  '/distributors/*/include_categories':
    '`product_restrictions.category.include` of the entry took its place, with the categories ' +
    'of GET /v1/products/facets',
  '/distributors/*/api_sid': '`fulfillment.API_SID` of the entry took its place',
  '/distributors/*/api_token': '`fulfillment.API_TOKEN` of the entry took its place',
  '/distributors/*/username':
    'the credentials stand in `fulfillment` of the entry; GET /v1/distributors names them',
  '/distributors/*/password':
    'the credentials stand in `fulfillment` of the entry; GET /v1/distributors names them',
  '/distributors/*/ftp_user':
    'feeds are set up by the operator, and the credentials of orders stand in `fulfillment` ' +
    'of the entry',
  '/distributors/*/ftp_password':
    'feeds are set up by the operator, and the credentials of orders stand in `fulfillment` ' +
    'of the entry',
  '/distributors/*/fulfillment/API_HOST': "the program knows the distributor's address; remove it",
  '/distributors/*/shipping/price_based_shipping/*/shipping_cost':
    '`flat_rate.cost` of the level took its place',
  '/pricing/margin_dollar': '`pricing.margin.default.margin_dollar` took its place',
  '/pricing/margin_percentage': '`pricing.margin.default.margin_percentage` took its place',
  '/pricing/round_to_nearest_dollar':
    '`pricing.rounding` took its place: "round_to_nearest_dollar" or "none"',
}

/** What took the place of a member that nobody knows; null when it never was one. */
export function movedTo(pointer: string): string | null {
  const [, ...steps] = pointer.split('/')
  const moved = Object.entries(MOVED).find(([known]) => {
    const wanted = known.split('/').slice(1)
    return (
      wanted.length === steps.length && wanted.every((step, i) => step === '*' || step === steps[i])
    )
  })
  return moved ? moved[1] : null
}
