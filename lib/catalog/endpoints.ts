import { endpoint } from '../core/endpoint.js'
import type { Ctx } from '../core/ctx.js'
import { ApiError } from '../core/errors.js'
import { gtinKey } from '../core/gtin.js'
import { serialized } from '../core/serialized.js'
import { facetsOf } from './facets.js'
import { searchView } from './search.js'
import { DetailParams, DetailResult, Facets, FacetsQuery, SearchQuery, SearchResult } from './shapes.js'
import type { ProductDetail } from './shapes.js'
import type { View } from './view.js'

const ELIGIBILITY = ['no_active_distributors', 'no_validated_distributors', 'feed_unavailable'] as const

const EXAMPLE: ProductDetail = {
  distid: 'RSR', distsku: 'RL-15-556', stockid: 'RL-15-556', upc: '860001234503', name: 'Ridgeline RL-15 5.56 NATO 16in 30rd FDE',
  mfg_name: 'Ridgeline Arms', mpn: 'RL15-556-FDE', product_class: 'FA', item_cat: '05', item_gb_cat: 3024, item_gb_cat_name: 'Semi Auto Rifles',
  ffl_req: 1, unit_price: 812.5, shipping_cost: 18, total_cost: 830.5, map_price: 949.99, msrp: 1_049, qty_on_hand: 14, drop_ship_flg: 1,
  images: [{ src: 'https://images.example/rl-15-556_1.jpg' }], product_url: null,
  product_class_description: 'Firearms', short_description: null, description: 'Semi-automatic rifle with a 16 inch barrel.',
}

function exampleProduct() {
  const { product_class_description: _class, short_description: _short, description: _long, ...product } = EXAMPLE
  return product
}

export const searchProducts = endpoint('products.search', {
  summary: 'Interactive search of your own restricted and priced catalog',
  description: 'All parameters combine. Ties of a sort break by distid, then stockid, so that pages never overlap.',
  query: SearchQuery,
  result: SearchResult,
  errors: [...ELIGIBILITY, 'not_found'],
  example: { request: { q: 'rl-15 5.56', in_stock: true, sort: 'price' }, result: { products: [exampleProduct()], page: 1, page_size: 50, total: 1 } },
  async run(ctx, { query }) {
    const view = await ctx.catalog.view(ctx.subscriber, query.ignore_restrictions)
    if (query.distributor !== undefined) assertActive(ctx, query.distributor)
    const { rows, total } = searchView(view, query)
    const products = await ctx.catalog.records.products(view, rows)
    return serialized(`{"products":[${products}],"page":${query.page},"page_size":${query.page_size},"total":${total}}`)
  },
})

/** An unknown or inactive distributor is a 404 (decisions 2.2). */
function assertActive(ctx: Ctx, distid: string): void {
  const active = ctx.configurations.of(ctx.subscriber).eligible.map(({ entry }) => entry.distid)
  if (active.includes(distid)) return
  throw new ApiError('not_found', { message: `distributor: "${distid}" is none of your active, validated distributors: ${active.join(', ')}` })
}

export const facets = endpoint('products.facets', {
  summary: 'Distinct filter values of your catalog',
  query: FacetsQuery,
  result: Facets,
  errors: ELIGIBILITY,
  example: { result: { manufacturers: ['Kestrel Optics', 'Ridgeline Arms'], categories: ['Red Dots Sights', 'Semi Auto Rifles'], product_classes: ['FA', 'OP'] } },
  // As text: the remembered lists are every caller's.
  run: async (ctx, { query }) => serialized(JSON.stringify(facetsOf(await ctx.catalog.view(ctx.subscriber, query.ignore_restrictions)))),
})

export const getProduct = endpoint('products.get', {
  summary: 'All offers of one UPC',
  params: DetailParams,
  query: FacetsQuery,
  result: DetailResult,
  errors: [...ELIGIBILITY, 'invalid_upc', 'not_found'],
  example: { request: { upc: '860001234503' }, result: { upc: '860001234503', offers: [EXAMPLE] } },
  async run(ctx, { params, query }) {
    const key = /^\d{8,14}$/.test(params.upc) ? gtinKey(params.upc) : null
    if (key === null) throw new ApiError('invalid_upc', { message: `"${params.upc}" is no UPC: it must be 8 to 14 digits`, details: [{ path: 'upc', message: 'must be 8 to 14 digits' }] })
    const view = await ctx.catalog.view(ctx.subscriber, query.ignore_restrictions)
    const rows = offersOf(view, key)
    if (rows.length === 0) throw new ApiError('not_found', { message: `UPC ${params.upc} is not in your catalog` })
    const offers = await ctx.catalog.records.details(view, rows)
    return serialized(`{"upc":${JSON.stringify(params.upc)},"offers":[${offers}]}`)
  },
})

/** Visible rows of one UPC, cheapest first; ties as everywhere. */
export function offersOf(view: View, upcKey: number): number[] {
  const { snapshot } = view
  return snapshot.upcRows(upcKey).filter((row) => view.visible.has(row))
    .sort((a, b) => view.unitPrice(a) - view.unitPrice(b) || snapshot.tieRank[a]! - snapshot.tieRank[b]!)
}
