import { endpointsOf } from '../core/endpoint/endpoint.js'
import type { Saved } from '../configuration/document/saved.js'
import type { CatalogCall } from './ctx.js'
import { ApiError } from '../core/errors.js'
import { gtinKey } from '../core/gtin.js'
import { ENVELOPE, fromEnvelope, serialized } from '../core/endpoint/serialized.js'
import { facetsOf } from './search/facets.js'
import { searchView } from './search/search.js'
import {
  DetailParams,
  DetailResult,
  Facets,
  FacetsQuery,
  SearchQuery,
  SearchResult,
} from './shapes.js'
import type { Product, ProductDetail } from './shapes.js'
import type { View } from './view/view.js'
import { compareTies } from './snapshot/offer.js'

const endpoint = endpointsOf<CatalogCall>()

const ELIGIBILITY = [
  'no_active_distributors',
  'no_validated_distributors',
  'feed_unavailable',
] as const

/** A pistol that two of the demo's distributors have. */
const LIPSEYS = {
  distid: 'LIP',
  distsku: 'RLA07919',
  stockid: 'RLA07919',
  upc: '410000079195',
  name: 'PATHWARDEN 9MM 4.0" 15+1 BLACK',
  mfg_name: 'RIDGELINE',
  mpn: 'RLA-07919',
  product_class: 'FA',
  item_cat: 'Pistol',
  item_gb_cat: 3026,
  item_gb_cat_name: 'Semi Auto Handguns',
  ffl_req: 1,
  unit_price: 384.5,
  shipping_cost: 12.5,
  total_cost: 397,
  map_price: 455.99,
  msrp: 474.99,
  qty_on_hand: 14,
  drop_ship_flg: 1,
  retail_price: 456.99,
  images: [],
  product_url: null,
} satisfies Product
const RSR = {
  distid: 'RSR',
  distsku: 'RLA-07919',
  stockid: 'RLA-07919',
  upc: '410000079195',
  name: 'RIDGELINE PATHWARDEN 9MM 4.0" 15RD BLK',
  mfg_name: 'Ridgeline Arms',
  mpn: 'RLA-07919',
  product_class: 'FA',
  item_cat: '01',
  item_gb_cat: 978,
  item_gb_cat_name: 'Pistols',
  ffl_req: 1,
  unit_price: 389,
  shipping_cost: 19.95,
  total_cost: 408.95,
  map_price: 455.99,
  msrp: 474.99,
  qty_on_hand: 27,
  drop_ship_flg: 1,
  retail_price: 461.99,
  images: [],
  product_url: null,
} satisfies Product
const DETAILS: ProductDetail[] = [
  {
    ...LIPSEYS,
    product_class_description: 'Firearms',
    description: null,
    short_description:
      'The Pathwarden is a striker-fired pistol in 9mm Luger with a 4.0-inch barrel and black ' +
      'finish. It ships with two magazines of 15 rounds. Fitted with night sights.',
  },
  {
    ...RSR,
    product_class_description: 'Firearms',
    short_description: null,
    description:
      'Ridgeline Arms, Pathwarden, Pistol, 9mm Luger, 15 Rounds, Black, night sights, 4.0" Barrel, Striker Fired',
  },
]

export const searchProducts = endpoint('products.search', {
  summary: 'Interactive search of your own restricted and priced catalog',
  description:
    'All parameters combine. Ties of a sort break by distid, then stockid, so that pages never overlap.',
  query: SearchQuery,
  result: SearchResult,
  errors: [...ELIGIBILITY, 'not_found'],
  example: {
    result: { products: [LIPSEYS], page: 1, page_size: 10, total: 1 },
    refused: {
      invalid_parameter: {
        request: { page: 0 },
        message: 'page: must be at least 1',
        details: [{ path: 'page', message: 'must be at least 1' }],
      },
      not_found: {
        request: { distributor: 'TSW' },
        message:
          'distributor: "TSW" is none of your active, validated distributors: RSR, LIP, CSSI',
      },
    },
  },
  async run(ctx, { query }) {
    const saved = await ctx.configurations.of(ctx.subscriber)
    const view = await ctx.catalog.view(ctx.subscriber, query.ignore_restrictions, saved)
    if (query.distributor !== undefined) assertActive(saved, query.distributor)
    const { records, recent } = ctx.catalog
    const page = await recent.page(view, query, () => {
      const { rows, total } = searchView(view, query, recent)
      return records.products(view, rows, {
        before: `${ENVELOPE.before}{"products":[`,
        after:
          `],"page":${query.page},"page_size":${query.page_size},"total":${total}}` +
          ENVELOPE.after,
      })
    })
    return fromEnvelope(page)
  },
})

/** An unknown or inactive distributor is a 404. */
function assertActive({ eligible }: Saved, distid: string): void {
  const active = eligible.map(({ entry }) => entry.distid)
  if (active.includes(distid)) return
  throw new ApiError('not_found', {
    message: `distributor: "${distid}" is none of your active, validated distributors: ${active.join(', ')}`,
  })
}

export const facets = endpoint('products.facets', {
  summary: 'Distinct filter values of your catalog',
  description: 'What the parameters of a search can be given, as your restrictions leave it.',
  query: FacetsQuery,
  result: Facets,
  errors: ELIGIBILITY,
  example: {
    result: {
      manufacturers: [
        'Cedar Fork',
        'Fullwell Magazines',
        'Kestrel Optics',
        'RIDGELINE',
        'Ridgeline Arms',
        'Slingwell',
      ],
      categories: [
        'Ammunition',
        'Other Gun Accessories & Parts',
        'Pistols',
        'Scopes & Gun Optics',
        'Semi Auto Handguns',
      ],
      product_classes: ['AC', 'AO', 'FA', 'MG', 'OP'],
    },
    refused: {
      invalid_parameter: {
        request: { ignore_restrictions: 'maybe' },
        message: 'ignore_restrictions: must be true, false, 1 or 0',
        details: [{ path: 'ignore_restrictions', message: 'must be true, false, 1 or 0' }],
      },
    },
  },
  // As text: the remembered lists are every caller's.
  run: async (ctx, { query }) =>
    serialized(
      JSON.stringify(facetsOf(await ctx.catalog.view(ctx.subscriber, query.ignore_restrictions))),
    ),
})

export const getProduct = endpoint('products.get', {
  summary: 'All offers of one UPC',
  description: 'From every distributor that you see it at, with their texts, the cheapest first.',
  params: DetailParams,
  query: FacetsQuery,
  result: DetailResult,
  errors: [...ELIGIBILITY, 'invalid_upc', 'not_found'],
  example: {
    result: { upc: '410000079195', offers: DETAILS },
    refused: {
      invalid_parameter: {
        request: { upc: '410000079195', ignore_restrictions: 'maybe' },
        message: 'ignore_restrictions: must be true, false, 1 or 0',
        details: [{ path: 'ignore_restrictions', message: 'must be true, false, 1 or 0' }],
      },
      invalid_upc: {
        request: { upc: '123' },
        message: '"123" is not a UPC: it must be 8 to 14 digits',
        details: [{ path: 'upc', message: 'must be 8 to 14 digits' }],
      },
      not_found: {
        request: { upc: '999999999993' },
        message: 'UPC 999999999993 is not in your catalog',
      },
    },
  },
  async run(ctx, { params, query }) {
    const key = /^\d{8,14}$/.test(params.upc) ? gtinKey(params.upc) : null
    if (key === null)
      throw new ApiError('invalid_upc', {
        message: `"${params.upc}" is not a UPC: it must be 8 to 14 digits`,
        details: [{ path: 'upc', message: 'must be 8 to 14 digits' }],
      })
    const view = await ctx.catalog.view(ctx.subscriber, query.ignore_restrictions)
    const rows = offersOf(view, key)
    if (rows.length === 0)
      throw new ApiError('not_found', { message: `UPC ${params.upc} is not in your catalog` })
    return serialized(
      await ctx.catalog.records.details(view, rows, {
        before: `{"upc":${JSON.stringify(params.upc)},"offers":[`,
        after: ']}',
      }),
    )
  },
})

/** Visible rows of one UPC, cheapest first; ties as everywhere. */
export function offersOf(view: View, upcKey: number): number[] {
  const { snapshot } = view
  return snapshot
    .upcRows(upcKey)
    .filter((row) => view.visible.has(row))
    .sort((a, b) => view.unitPrice(a) - view.unitPrice(b) || compareTies(snapshot, a, b))
}
