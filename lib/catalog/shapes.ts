/** Shapes of the product endpoints (contract "Product (offer) record", "Product search", "Facets"). */
import * as z from 'zod'
import { CLASS_CODES } from './product-classes.js'

const money = z.number()
const flag = z.union([z.literal(0), z.literal(1)])

/** One offer as search returns it. Money in dollars with at most two decimals. */
export const Product = z.object({
  distid: z.string(),
  distsku: z.string(),
  stockid: z.string(),
  upc: z.string().nullable(),
  name: z.string(),
  mfg_name: z.string().nullable(),
  mpn: z.string().nullable(),
  product_class: z.enum(CLASS_CODES),
  item_cat: z.string().nullable(),
  item_gb_cat: z.int().nullable().describe('Numeric category id, the same taxonomy as analytics category_id'),
  item_gb_cat_name: z.string(),
  ffl_req: flag.describe('1 = must ship to a licensed dealer'),
  unit_price: money.describe('Dealer cost with custom pricing applied'),
  shipping_cost: money.describe('The shipping model for one unit'),
  total_cost: money.describe('unit_price + shipping_cost'),
  map_price: money.nullable(),
  msrp: money.nullable(),
  qty_on_hand: z.int(),
  drop_ship_flg: flag.describe('1 = can be shipped to the customer'),
  images: z.array(z.object({ src: z.string() })),
  product_url: z.string().nullable(),
  retail_price: money.optional().describe('Present when the configuration has pricing.margin'),
})
export type Product = z.infer<typeof Product>

/** One offer as detail returns it. */
export const ProductDetail = Product.extend({
  product_class_description: z.string(),
  short_description: z.string().nullable(),
  description: z.string().nullable(),
})
export type ProductDetail = z.infer<typeof ProductDetail>

const ignoreRestrictions = z.boolean().default(false)
  .describe('true skips the product restrictions and cost filters; pricing and the validated-distributor gate still apply')

export const SORTS = ['price', '-price', 'name', '-name', 'qty', '-qty'] as const

/** Rows that paging may reach. */
export const MAX_DEPTH = 10_000

export const SearchQuery = z.object({
  q: z.string().optional().describe('Words over name, brand, SKU and MPN; 8 or more digits are an exact UPC'),
  upc: z.string().optional(),
  sku: z.string().optional(),
  distributor: z.string().optional().describe('One distid of the active distributors'),
  manufacturer: z.string().optional(),
  product_class: z.string().optional(),
  category: z.string().optional(),
  min_price: z.number().optional().describe('Inclusive, on dealer cost'),
  max_price: z.number().optional().describe('Inclusive, on dealer cost'),
  in_stock: z.boolean().optional(),
  drop_ship_only: z.boolean().optional(),
  ffl_required: z.boolean().optional(),
  ignore_restrictions: ignoreRestrictions,
  sort: z.enum(SORTS).default('name'),
  page: z.int().min(1).default(1).describe('1-based; page x page_size reaches at most 10,000 rows'),
  page_size: z.int().min(1).max(100).default(50),
}).refine(({ page = 1, page_size: size = 50 }) => !(page * size > MAX_DEPTH), {
  path: ['page'],
  message: `x page_size must not reach beyond ${MAX_DEPTH} rows; narrow the search or use the export`,
  // Told beside the other faults of the call, not after they are mended.
  when: ({ value }) => typeof value === 'object' && value !== null,
})
export type SearchQuery = z.output<typeof SearchQuery>

export const SearchResult = z.object({
  products: z.array(Product),
  page: z.int(),
  page_size: z.int(),
  total: z.int(),
})

export const FacetsQuery = z.object({ ignore_restrictions: ignoreRestrictions })

export const Facets = z.object({
  manufacturers: z.array(z.string()),
  categories: z.array(z.string()),
  product_classes: z.array(z.string()),
})
export type Facets = z.infer<typeof Facets>

/** The form is checked by the endpoint, which has a code of its own for it. */
export const DetailParams = z.object({ upc: z.string().meta({ pattern: '^\\d{8,14}$' }) })
export const DetailResult = z.object({ upc: z.string(), offers: z.array(ProductDetail) })
