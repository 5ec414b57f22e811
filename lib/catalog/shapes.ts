/**
 * Shapes of the product endpoints (contract "Product (offer) record", "Product search", "Facets").
 */
import * as z from 'zod'
import { WHOLE_CENTS, hasWholeCents } from '../core/money.js'
import { CLASS_CODES } from '../distributors/product-classes.js'

const dollars = (description: string) => z.number().describe(`${description}, dollars`)
const flag = z.union([z.literal(0), z.literal(1)])
const nullable = (description: string) => z.string().nullable().describe(description)

/** One offer as search returns it. Money in dollars with at most two decimals. */
export const Product = z
  .object({
    distid: z.string().describe('The distributor; a string, never a number'),
    distsku: z.string().describe('Its item number; what an order names'),
    stockid: z.string().describe('Its key of the stock item: with distid, unique and stable'),
    upc: nullable('As the feed gave it; null where it has none'),
    name: z.string().describe('As the distributor writes it'),
    mfg_name: nullable('Brand'),
    mpn: nullable("The manufacturer's part number"),
    product_class: z
      .enum(CLASS_CODES)
      .describe('Product class code: FA firearms, AO ammunition, MG magazines, ...'),
    item_cat: nullable("The distributor's own category"),
    item_gb_cat: z
      .int()
      .nullable()
      .describe('Numeric category id, the same taxonomy as analytics category_id'),
    item_gb_cat_name: z
      .string()
      .describe('Name of that category; Uncategorized where there is none'),
    ffl_req: flag.describe('1 = must ship to a licensed dealer'),
    unit_price: dollars('Dealer cost with custom pricing applied'),
    shipping_cost: dollars('The shipping model for one unit'),
    total_cost: dollars('unit_price + shipping_cost'),
    map_price: dollars('Minimum advertised price; null where there is none').nullable(),
    msrp: dollars("The manufacturer's suggested retail price; null where there is none").nullable(),
    qty_on_hand: z.int().describe('Units in stock'),
    drop_ship_flg: flag.describe('1 = can be shipped to the customer'),
    images: z
      .array(z.object({ src: z.string().describe('Address of the picture') }))
      .describe('Pictures, the best first'),
    product_url: nullable("The distributor's page of the item"),
    retail_price: dollars(
      'By the main pricing settings; present when the configuration has pricing.margin',
    ).optional(),
  })
  .meta({ component: 'Offer', about: 'What one distributor has of one item, as search shows it' })
export type Product = z.infer<typeof Product>

/** One offer as detail returns it. */
export const ProductDetail = Product.extend({
  product_class_description: z.string().describe('The class in words'),
  short_description: nullable('One sentence'),
  description: nullable("The distributor's text"),
}).meta({ component: 'OfferDetail', about: 'What one distributor has of one item, with its texts' })
export type ProductDetail = z.infer<typeof ProductDetail>

const ignoreRestrictions = z.boolean().default(false).meta({
  description:
    'true skips the product restrictions and cost filters; pricing and the validated-distributor gate still apply',
  example: false,
})

export const SORTS = ['price', '-price', 'name', '-name', 'qty', '-qty'] as const

/** Rows that paging may reach. */
export const MAX_DEPTH = 10_000

/** A parameter that is left out filters nothing. */
const filter = (description: string, example: string) =>
  z.string().optional().meta({ description, example })

const price = z.number().refine(hasWholeCents, WHOLE_CENTS)

export const SearchQuery = z
  .object({
    q: filter(
      'Words over name, brand, SKU and MPN: all must match, a beginning is enough, ' +
        'case and punctuation do not matter, nor whether letters and digits are joined; ' +
        'generations and short names of brands are synonyms. A number of 8 or more digits is an ' +
        'exact UPC',
      'pathwarden',
    ),
    upc: filter('Exact; 12, 13 and 14 digits of one item meet', '410000079195'),
    sku: filter('Exact distsku, case aside', 'RLA07919'),
    distributor: filter('One distid of your active, validated distributors', 'LIP'),
    manufacturer: filter('Exact brand, as the facets have it', 'RIDGELINE'),
    product_class: filter('Exact product class code', 'FA'),
    category: filter('Exact category name, as the facets have it', 'Semi Auto Handguns'),
    min_price: price.optional().meta({
      description: 'Least unit_price, inclusive, dollars with at most two decimals',
      example: 300,
    }),
    max_price: price.optional().meta({
      description: 'Highest unit_price, inclusive, dollars with at most two decimals',
      example: 400,
    }),
    in_stock: z
      .boolean()
      .optional()
      .meta({ description: 'true: qty_on_hand above 0; false filters nothing', example: true }),
    drop_ship_only: z
      .boolean()
      .optional()
      .meta({ description: 'true: drop_ship_flg 1; false filters nothing', example: true }),
    ffl_required: z
      .boolean()
      .optional()
      .meta({ description: 'true: ffl_req 1; false: ffl_req 0', example: true }),
    ignore_restrictions: ignoreRestrictions,
    sort: z.enum(SORTS).default('name').meta({
      description: 'A leading - sorts downwards. Ties break by distid, then stockid',
      example: 'price',
    }),
    page: z.int().min(1).default(1).meta({
      description: '1-based; page x page_size reaches at most 10,000 rows',
      maximum: MAX_DEPTH,
      example: 1,
    }),
    page_size: z
      .int()
      .min(1)
      .max(100)
      .default(50)
      .meta({ description: 'Offers on a page', example: 10 }),
  })
  .refine(({ page = 1, page_size: size = 50 }) => !(page * size > MAX_DEPTH), {
    path: ['page'],
    message: `x page_size must not reach beyond ${MAX_DEPTH} rows; narrow the search or use the export`,
    // Told beside the other faults of the call, not after they are mended.
    when: ({ value }) => typeof value === 'object' && value !== null,
  })
export type SearchQuery = z.output<typeof SearchQuery>

export const SearchResult = z
  .object({
    products: z.array(Product).max(100).describe('The page'),
    page: z.int().describe('As asked for'),
    page_size: z.int().describe('As asked for'),
    total: z.int().describe('Offers that match, exactly'),
  })
  .meta({ component: 'SearchPage', about: 'A page of offers' })

export const FacetsQuery = z.object({ ignore_restrictions: ignoreRestrictions })

const values = (description: string) =>
  z.array(z.string()).describe(`${description}, sorted by code point, each once`)

export const Facets = z
  .object({
    manufacturers: values('Brands'),
    categories: values('Category names'),
    product_classes: values('Product class codes'),
  })
  .meta({ component: 'Facets', about: 'What there is to filter by in your catalog' })
export type Facets = z.infer<typeof Facets>

/** The form is checked by the endpoint, which has a code of its own for it. */
export const DetailParams = z.object({
  upc: z
    .string()
    .meta({ description: '8 to 14 digits', pattern: '^\\d{8,14}$', example: '410000079195' }),
})
export const DetailResult = z
  .object({
    upc: z.string().describe('As asked for'),
    offers: z.array(ProductDetail).describe('The cheapest first'),
  })
  .meta({ component: 'ProductOffers', about: 'All offers of one UPC' })
