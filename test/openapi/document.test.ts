/** What the document holds: the contract's endpoints, limits and words, line by line. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { allEndpoints } from '../../lib/app/endpoints.js'
import { CLASS_CODES } from '../../lib/distributors/product-classes.js'
import { builtin, presets } from '../../lib/distributors/builtin/index.js'
import { defineDistributor } from '../../lib/distributors/distributor.js'
import { makeRegistry } from '../../lib/distributors/registry.js'
import { checkAnswer } from '../../server/testing/check-answer.js'
import { codesOf, openApiDocument } from '../../server/openapi/document.js'
import { createTestApp } from '../../server/testing/index.js'
import type { Answer } from '../../server/testing/index.js'

const document: () => Answer = () =>
  openApiDocument('https://shop.example', makeRegistry(builtin, presets))

/** A place of the document, through its references: `components.schemas.Offer.properties.upc`. */
function at(root: Answer, path: readonly string[]): Answer {
  return path.reduce((node, name) => resolve(root, resolve(root, node)?.[name]), root)
}

function resolve(root: Answer, node: Answer): Answer {
  return typeof node?.$ref === 'string'
    ? resolve(
        root,
        (node.$ref as string)
          .slice(2)
          .split('/')
          .reduce((inner, name) => inner[name], root),
      )
    : node
}

/** A member of a request body: `customer.name`, `items[].qty`. */
function bodyMember(root: Answer, operation: Answer, path: string): Answer {
  const start = resolve(root, operation.requestBody.content['application/json'].schema)
  return path.split('.').reduce((schema, part) => {
    const member = resolve(root, resolve(root, schema).properties[part.replace('[]', '')])
    return part.endsWith('[]') ? resolve(root, member.items) : member
  }, start)
}

/** Every line of the contract's "Summary". */
const SUMMARY =
  `GET /v1/ping;GET /v1/account;GET /v1/usage;GET /v1/distributors;GET /v1/config;PUT /v1/config
GET /v1/config/schema;POST /v1/config/validate;GET /v1/products/search
GET /v1/products/catalog;GET /v1/products/facets;GET /v1/products/{upc};GET /v1/analytics/{metric}
GET /v1/ffls;GET /v1/ffls/{license_number};GET /v1/ffls/{license_number}/documents/{document_type}
POST /v1/restrictions/check;POST /v1/orders/quote;POST /v1/orders;GET /v1/orders
GET /v1/orders/{order_id};GET /v1/fulfillment/history;POST /v1/fraud/check;POST /v1/fraud/reports
DELETE /v1/fraud/reports
GET /v1/openapi.json;GET /v1/docs;GET /v1/docs/guide;GET /v1/llms.txt`.split(/[;\n]/)

const ORDER_STATUSES = [
  'Pending',
  'Submitted',
  'FFL Hold',
  'Backordered',
  'Partially Fulfilled',
  'Not Fulfilled',
  'Fulfilled',
  'Cancelled',
]
const METRICS = [
  'top-products',
  'on-sale',
  'margin-opportunities',
  'trending',
  'new-arrivals',
  'newly-available',
  'price-gaps',
]

/** The contract's rules for parameters: endpoint, parameter, what its schema says. */
const PARAMETERS: [operation: string, name: string, rules: object][] = [
  ['PUT /v1/config', 'validate', { type: 'boolean', default: false }],
  ...['q', 'upc', 'sku', 'distributor', 'manufacturer', 'product_class', 'category'].map(
    (name): [string, string, object] => ['GET /v1/products/search', name, { type: 'string' }],
  ),
  ...['min_price', 'max_price'].map((name): [string, string, object] => [
    'GET /v1/products/search',
    name,
    { type: 'number' },
  ]),
  ...['in_stock', 'drop_ship_only', 'ffl_required'].map((name): [string, string, object] => [
    'GET /v1/products/search',
    name,
    { type: 'boolean' },
  ]),
  ...['search', 'facets', 'catalog', '{upc}'].map((path): [string, string, object] => [
    `GET /v1/products/${path}`,
    'ignore_restrictions',
    { type: 'boolean', default: false },
  ]),
  [
    'GET /v1/products/search',
    'sort',
    { enum: ['price', '-price', 'name', '-name', 'qty', '-qty'], default: 'name' },
  ],
  ['GET /v1/products/search', 'page', { type: 'integer', minimum: 1, default: 1, maximum: 10_000 }],
  [
    'GET /v1/products/search',
    'page_size',
    { type: 'integer', minimum: 1, default: 50, maximum: 100 },
  ],
  ['GET /v1/products/catalog', 'last_version', { type: 'string' }],
  [
    'GET /v1/products/catalog',
    'expires_in',
    { type: 'integer', minimum: 60, maximum: 3_600, default: 1_800 },
  ],
  ['GET /v1/products/catalog', 'include_attributes', { type: 'boolean', default: false }],
  ['GET /v1/products/{upc}', 'upc', { pattern: '^\\d{8,14}$' }],
  ['GET /v1/analytics/{metric}', 'metric', { enum: METRICS }],
  ['GET /v1/analytics/{metric}', 'window', { enum: ['7d', '30d', '60d', '90d'], default: '7d' }],
  [
    'GET /v1/analytics/{metric}',
    'limit',
    { type: 'integer', minimum: 1, default: 50, maximum: 200 },
  ],
  ['GET /v1/analytics/{metric}', 'product_class', { type: 'string' }],
  ['GET /v1/analytics/{metric}', 'category_id', { type: 'string' }],
  ['GET /v1/analytics/{metric}', 'sort_by', { enum: ['gross_profit', 'margin_pct'] }],
  ['GET /v1/analytics/{metric}', 'min_confidence', { type: 'number', minimum: 0, maximum: 1 }],
  ['GET /v1/analytics/{metric}', 'min_7d_units', { type: 'number' }],
  ['GET /v1/analytics/{metric}', 'min_30d_units', { type: 'number' }],
  ['GET /v1/ffls', 'zip', { pattern: '^\\d{5}$' }],
  ['GET /v1/ffls', 'radius', { type: 'integer', minimum: 1, maximum: 50, default: 15 }],
  ['GET /v1/ffls', 'name', { maxLength: 60, pattern: "^[A-Za-z0-9 '&.-]*$" }],
  ['GET /v1/ffls/{license_number}', 'license_number', { pattern: '^[0-9A-Za-z-]{10,25}$' }],
  [
    'GET /v1/ffls/{license_number}/documents/{document_type}',
    'document_type',
    { enum: ['ffl', 'sot'] },
  ],
  ['GET /v1/orders', 'limit', { type: 'integer', maximum: 100, default: 25 }],
  ['GET /v1/orders', 'offset', { type: 'integer', minimum: 0 }],
  [
    'GET /v1/orders',
    'sort',
    { enum: ['order_date', 'order_id', 'ship_date', 'order_status', 'order_source'] },
  ],
  ['GET /v1/orders', 'direction', { enum: ['asc', 'desc'] }],
  ['GET /v1/orders', 'search', { type: 'string' }],
  ...[
    'reference',
    'order_id',
    'po_number',
    'distributor_order_id',
    'tracking_number',
    'distid',
    'order_source',
  ].map((name): [string, string, object] => [
    'GET /v1/fulfillment/history',
    name,
    { type: 'string' },
  ]),
  ['GET /v1/fulfillment/history', 'order_status', { enum: ORDER_STATUSES }],
  [
    'GET /v1/fulfillment/history',
    'ship_status',
    {
      enum: [
        'pre_transit',
        'in_transit',
        'out_for_delivery',
        'delivered',
        'return_to_sender',
        'failure',
      ],
    },
  ],
  ...['from', 'to'].map((name): [string, string, object] => [
    'GET /v1/fulfillment/history',
    name,
    { format: 'date' },
  ]),
  ['GET /v1/fulfillment/history', 'limit', { type: 'integer', maximum: 100, default: 25 }],
  ['GET /v1/fulfillment/history', 'offset', { type: 'integer' }],
  ['GET /v1/fulfillment/history', 'include_errors', { type: 'boolean', default: true }],
]

/** The contract's rules for bodies. */
const MEMBERS: [operation: string, member: string, rules: object][] = [
  ...['/v1/orders', '/v1/orders/quote', '/v1/restrictions/check'].map(
    (path): [string, string, object] => [`POST ${path}`, 'items', { type: 'array', maxItems: 100 }],
  ),
  ['POST /v1/orders', 'items', { minItems: 1 }],
  ['POST /v1/orders', 'order_id', { pattern: '^[A-Za-z0-9_-]{1,50}$' }],
  [
    'POST /v1/orders',
    'customer',
    { required: ['name', 'email', 'address1', 'city', 'state', 'zip'] },
  ],
  ['POST /v1/orders', 'customer.state', { pattern: '^[A-Za-z]{2}$' }],
  ['POST /v1/orders', 'items[]', { required: ['distid', 'distsku', 'upc', 'qty'] }],
  ['POST /v1/orders', 'items[].qty', { type: 'integer', minimum: 1 }],
  ['POST /v1/restrictions/check', 'shipping', { required: ['state'] }],
  ['POST /v1/restrictions/check', 'items[].product_class', { enum: [...CLASS_CODES, null] }],
  ['POST /v1/restrictions/check', 'target', { nullable: true }],
]

/** Limits that no schema can say, and where the document says them. */
const WORDS: [path: string, words: RegExp][] = [
  [
    'info.description',
    /standard 60 a minute and 10,000 a day, pro 300 and 100,000, enterprise 1,000 and 1,000,000/,
  ],
  ['info.description', /Orders: 60 an hour and 500 a day/],
  ['info.description', /Fraud: 1,000 checks, 25 reports and 25 removals in any 24 hours/],
  ['info.description', /catalog export: once every 20 minutes/],
  ['info.description', /above 50 KB are compressed with gzip/],
  ['paths./v1/orders.post.requestBody.description', /1 MB \(1,048,576 bytes\)/],
  ['paths./v1/products/catalog.get.description', /once every 20 minutes/],
  ['paths./v1/ffls.get.summary', /at most 150/],
  ['components.schemas.FraudSignals.properties.order_items.description', /first 50/],
  ['components.responses.RateLimited.headers.Retry-After.description', /Whole seconds/],
  ['tags.2.description', /20 minutes/],
  ['tags.3.description', /once a day/],
  ['paths./v1/account.get.description', /within a second/],
]

/**
 * The contract's "Resources and their fields": each field, required unless it ends with a question
 * mark.
 */
const FIELDS: Record<string, string> = {
  Ping: 'pong key_name tier',
  Account:
    'key_name contact_email tier ip_whitelist limits configured_distributors active_distributors',
  Limits: 'per_minute per_day',
  Usage: 'tier limits today this_month by_endpoint_today by_day_last_7',
  RegistryEntry: 'distid automated_fulfillment config_schema default_config',
  ConfigField: 'type label helperText? config_key',
  Offer:
    'distid distsku stockid upc name mfg_name mpn product_class item_cat item_gb_cat ' +
    'item_gb_cat_name ffl_req unit_price shipping_cost total_cost map_price msrp qty_on_hand ' +
    'drop_ship_flg images product_url',
  OfferDetail: 'product_class_description short_description description',
  CatalogExport:
    'version export_version changed format compression rows restrictions_applied ' +
    'custom_pricing_applied retail_pricing_applied expires_in_seconds url? attributes_feed?',
  Facets: 'manufacturers categories product_classes',
  ...Object.fromEntries(
    [
      'TopProducts',
      'OnSale',
      'MarginOpportunities',
      'Trending',
      'NewArrivals',
      'NewlyAvailable',
      'PriceGaps',
    ].flatMap((name) => [
      [name, 'metric as_of window_days count results'],
      [`${name}Row`, 'upc name mfg_name category_id category_name'],
    ]),
  ),
  Dealer:
    'license_number list_name business_name license_name premise_street premise_city ' +
    'premise_state premise_zip_code voice_phone email lat lng ffl_on_file sot_on_file ' +
    'expiration_date active',
  DealerRecord: 'transfer_fee_longgun transfer_fee_handgun residential contact_required',
  DealerDocument: 'associated_order_id expires_in_seconds url',
  FulfillmentOrder:
    'order_date order_id distid distributor_order_id ffl customer_name order_status ' +
    'order_source po_number ship_date ship_company ship_method ship_status ' +
    'ship_tracking_number ship_tracking_url ship_to_store ffl_required dist_order_items',
  FailedPlacement: 'failure_timestamp order_source order_id po_number distid failure_reason',
  FraudSignals:
    'shipping_name? shipping_address_1? shipping_address_2? shipping_city? shipping_state? ' +
    'shipping_postcode? shipping_country? shipping_is_ffl? billing_name? billing_address_1? ' +
    'billing_address_2? billing_city? billing_state? billing_postcode? billing_country? ' +
    'email? phone? ip_address? order_items?',
  FraudReport: 'shipping_address_1? order_source? order_id? order_json? notes?',
  FraudItem: 'upc? sku? name? qty? price?',
  FraudSummary:
    'matched matched_on report_count names_used emails_used phones_used ips_used ' +
    'addresses_used billing_used items_used items_overlap items_similar reported_by_you ' +
    'first_reported last_reported notes',
  CheckItem: 'upc? sku? distid? product_class? category? attributes?',
  RestrictionCheck: 'approved items',
  MatchedRule: 'customer_message kind',
  Quote: 'fulfillable plan items unfulfillable',
  PlannedOrder: 'distid distributor items product_subtotal shipping_estimate',
  Option:
    'distid distributor distsku qty_on_hand unit_price shipping_cost map_price msrp drop_ship_flg line_total',
  PlaceOrder: 'order_id customer items ffl? ship_to_store? po_number?',
  ValidationReport:
    'valid schema_errors configured_distributors active_distributors credentials warnings',
  DryRun: 'dry_run schema_valid errors',
  Configuration: 'distributors targets notification_email pricing product_restrictions',
}

describe('the document', () => {
  const root = document()
  const operations = Object.entries(root.paths as Answer).flatMap(([path, methods]) =>
    Object.entries(methods as Answer).map(
      ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation as Answer] as const,
    ),
  )
  const operation = (name: string): Answer => operations.find(([known]) => known === name)![1]

  test("has every line of the contract's summary and no other", () => {
    assert.deepEqual([root.openapi, root.info.version], ['3.0.3', '1.0.0'])
    assert.deepEqual(operations.map(([name]) => name).sort(), [...SUMMARY].sort())
    assert.deepEqual(
      operations
        .filter(([, { security }]) => security?.length === 0)
        .map(([name]) => name)
        .sort(),
      SUMMARY.slice(-4).sort(),
    )
    assert.deepEqual(root.security, [{ apiKey: [] }])
  })

  test('calls its operations what clients call them', () => {
    assert.deepEqual(operations.map(([, { operationId }]) => operationId).sort(), [
      'account',
      'analytics',
      'configGet',
      'configPut',
      'configSchema',
      'configValidate',
      'distributors',
      'docs',
      'fflsDocument',
      'fflsGet',
      'fflsNear',
      'fraudCheck',
      'fraudRemove',
      'fraudReport',
      'fulfillmentHistory',
      'guide',
      'llms',
      'openapi',
      'ordersGet',
      'ordersList',
      'ordersPlace',
      'ordersQuote',
      'ping',
      'productsCatalog',
      'productsFacets',
      'productsGet',
      'productsSearch',
      'restrictionsCheck',
      'usage',
    ])
    const tags = (root.tags as Answer[]).map(({ name }) => name as string)
    assert.deepEqual(tags, [
      'account',
      'config',
      'products',
      'analytics',
      'ffls',
      'restrictions',
      'orders',
      'fulfillment',
      'fraud',
      'documentation',
    ])
    assert.deepEqual(
      [...new Set(operations.flatMap(([, of]) => of.tags as string[]))].sort(),
      [...tags].sort(),
    )
  })

  test("shows the limits of the contract's tables", () => {
    for (const [name, parameter, rules] of PARAMETERS) {
      const { schema, required } = operation(name).parameters.find(
        (candidate: Answer) => candidate.name === parameter,
      )
      for (const [rule, value] of Object.entries(rules))
        assert.deepEqual([name, parameter, rule, schema[rule]], [name, parameter, rule, value])
      assert.equal(
        required,
        name.includes(`{${parameter}}`) || parameter === 'zip',
        `${name} ${parameter}`,
      )
    }
    for (const [name, member, rules] of MEMBERS) {
      const schema = bodyMember(root, operation(name), member)
      for (const [rule, value] of Object.entries(rules))
        assert.deepEqual([name, member, rule, schema[rule]], [name, member, rule, value])
    }
    for (const [path, words] of WORDS)
      assert.match(
        at(root, path.replace('openapi.json', 'openapi').split('.')) as string,
        words,
        path,
      )
    assert.equal(root.components.schemas.DealerList.properties.ffls.maxItems, 150)
    assert.equal(
      resolve(root, root.components.schemas.Quote).properties.items.items.properties.alternatives
        .maxItems,
      5,
    )
  })

  test("has every field of the contract's resources", () => {
    for (const [name, fields] of Object.entries(FIELDS)) {
      const { properties, required = [] } = root.components.schemas[name]
      for (const field of fields.split(' ')) {
        const plain = field.replace('?', '')
        assert.ok(plain in properties, `${name}.${plain}`)
        assert.equal(required.includes(plain), plain === field, `${name}.${field}`)
      }
    }
  })

  test('describes every parameter, with an example, and every member that travels', () => {
    const nameless: string[] = []
    const walk = (node: Answer, path: string, isMember = false): void => {
      if (Array.isArray(node)) return node.forEach((entry, i) => walk(entry, `${path}/${i}`))
      if (typeof node !== 'object' || node === null) return
      if (isMember && !node.description && !node.$ref) nameless.push(path)
      for (const [name, value] of Object.entries(node)) {
        // A bare `required` inside of a choice says no more than its names.
        if (name === 'properties' && /(oneOf|anyOf|not)[^p]*$/.test(path)) continue
        if (name === 'properties')
          for (const [member, schema] of Object.entries(value as Answer))
            walk(schema, `${path}/${member}`, true)
        else if (!['example', 'examples', 'enum', 'required'].includes(name))
          walk(value, `${path}/${name}`)
      }
    }
    for (const [name, schema] of Object.entries(root.components.schemas)) walk(schema, name, true)
    for (const [name, of] of operations) {
      walk(of, name)
      for (const parameter of of.parameters ?? [])
        if (!parameter.description || parameter.example === undefined)
          nameless.push(`${name} ${parameter.name}`)
      assert.ok(of.summary && of.description, name)
    }
    assert.deepEqual(nameless, [])
  })

  test('has every code of an endpoint with its status, its schema and an example', () => {
    for (const endpoint of allEndpoints) {
      const { responses } = operation(`${endpoint.method} ${endpoint.path}`)
      const documented = Object.entries(responses)
        .filter(([status]) => Number(status) >= 400)
        .flatMap(([, response]) =>
          Object.keys(resolve(root, response).content['application/json'].examples),
        )
      assert.deepEqual(
        documented.sort(),
        [...codesOf(endpoint), 'method_not_allowed'].sort(),
        endpoint.id,
      )
    }
  })

  test("has a schema for each distributor's entry of the configuration", () => {
    for (const { distid, name } of builtin) {
      assert.deepEqual(
        at(root, [
          'components',
          'schemas',
          'Configuration',
          'properties',
          'distributors',
          'properties',
          name,
        ]),
        root.components.schemas[`Configuration_distributor_${distid}`],
      )
    }
    const mine = defineDistributor({
      distid: 'MINE',
      name: 'Mine',
      automatedFulfillment: false,
      settings: {},
    })
    assert.ok(
      'Configuration_distributor_MINE' in
        (openApiDocument('/', makeRegistry([...builtin, mine], presets)) as Answer).components
          .schemas,
    )
  })

  test('is the same whenever it is made, and stays below 400 KB', () => {
    const text = JSON.stringify(root)
    assert.equal(JSON.stringify(document()), text)
    assert.ok(text.length < 400_000, `${text.length} bytes`)
  })
})

describe('answers are held against it', () => {
  const body = JSON.stringify({
    success: true,
    data: { pong: true, key_name: 'web shop', tier: 'pro' },
  })
  const headers = {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-request-id': 'a',
    'x-service-mode': 'simulator',
    ratelimit: 'a',
    'ratelimit-policy': 'a',
  }
  const { ratelimit: _left, 'ratelimit-policy': _policy, ...unknown } = headers
  const cases: [name: string, response: Response, fault: RegExp][] = [
    [
      'a status that is not there',
      new Response(body, { status: 201, headers }),
      /201, which the document does not have/,
    ],
    [
      'a member that is not there',
      new Response(body.replace('"tier"', '"tiger"'), { headers }),
      /not what the document says/,
    ],
    [
      'a value of another type',
      new Response(body.replace('"pro"', '1'), { headers }),
      /\/data\/tier/,
    ],
    [
      'a code of another endpoint',
      new Response(
        JSON.stringify({ success: false, error: { code: 'duplicate_order', message: 'a' } }),
        { status: 403, headers: unknown },
      ),
      /403 duplicate_order/,
    ],
    [
      'details that a code does not have',
      new Response(
        JSON.stringify({
          success: false,
          error: { code: 'key_disabled', message: 'a', details: [] },
        }),
        { status: 403, headers: unknown },
      ),
      /\/error/,
    ],
    [
      'a header that is missing',
      new Response(body, { headers: { ...headers, 'x-service-mode': '' } }),
      /x-service-mode/,
    ],
    [
      'a header that is not there',
      new Response(body, { headers: { ...headers, 'www-authenticate': 'Key' } }),
      /www-authenticate/,
    ],
    [
      'a page in place of JSON',
      new Response('<p>', { headers: { ...headers, 'content-type': 'text/html' } }),
      /text\/html/,
    ],
  ]
  for (const [name, response, fault] of cases) {
    test(`${name} is found`, async () => {
      await using t = await createTestApp()
      await assert.rejects(
        checkAnswer(t.app, new Request('http://shop.test/v1/ping'), response),
        fault,
      )
    })
  }

  test('an answer that fits passes', async () => {
    await using t = await createTestApp()
    await checkAnswer(
      t.app,
      new Request('http://shop.test/v1/ping'),
      new Response(body, { headers }),
    )
  })
})
