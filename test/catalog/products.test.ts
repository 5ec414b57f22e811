import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Product } from '../../lib/catalog/shapes.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp, TestOffer } from '../../server/testing/index.js'

const OFFERS: TestOffer[] = [
  {
    distid: 'RSR',
    stockid: 'GL-19',
    upc: '764503037108',
    name: 'Glock 19 Gen5 9mm',
    mfgName: 'Glock',
    mpn: 'PA195S203',
    productClass: 'FA',
    categoryId: 3026,
    categoryName: 'Semi Auto Handguns',
    itemCat: '01',
    price: 49_900,
    map: 53_900,
    msrp: 64_700,
    qty: 4,
    fflReq: true,
    dropShip: true,
    images: ['https://images.example/gl-19.jpg'],
    shortDescription: 'A pistol',
    description: 'A "striker"-fired pistol\nwith text',
  },
  {
    distid: 'LIP',
    stockid: 'GLPA195',
    distsku: 'GLPA195',
    upc: '0764503037108',
    name: 'GLOCK-19 G5 9MM',
    mfgName: 'Glock',
    productClass: 'FA',
    categoryName: 'Semi Auto Handguns',
    categoryId: 3026,
    price: 48_800,
    qty: 0,
    fflReq: true,
    dropShip: true,
  },
  {
    distid: 'RSR',
    stockid: 'MAG-1',
    upc: '812345678906',
    name: 'Magazine 30rd "AR-15"',
    mfgName: 'Fullwell & Sons',
    productClass: 'MG',
    categoryName: 'AR Magazines',
    price: 1_250,
    qty: 200,
  },
  {
    distid: 'RSR',
    stockid: 'SCOPE-9',
    name: 'Scope 4-12x40',
    mfgName: null,
    productClass: 'OP',
    price: 9_999,
    qty: 9,
    dropShip: false,
  },
  {
    distid: 'LIP',
    stockid: 'ZED',
    name: 'zed',
    mfgName: 'Ürümqi Optik',
    productClass: 'OP',
    price: 9_999,
    qty: 9,
    productUrl: 'https://shop.example/zed',
  },
]

let t: TestApp
before(async () => {
  t = await createTestApp()
  await t.stock(OFFERS)
  await t.configure({
    distributors: {
      'RSR Group': { distid: 'RSR', product_restrictions: {} },
      Lipseys: { distid: 'LIP', product_restrictions: {} },
    },
  })
})
after(() => t.close())

const skus = (products: Product[]) => products.map(({ distsku }) => distsku)

describe('search', () => {
  const found: [
    name: string,
    query: Parameters<TestApp['shop']['products']['search']>[0],
    expected: string[],
  ][] = [
    ['everything, by name', {}, ['GL-19', 'GLPA195', 'MAG-1', 'SCOPE-9', 'ZED']],
    ['words in any spelling', { q: 'Glock 19' }, ['GL-19', 'GLPA195']],
    ['a hyphen does not matter', { q: 'glock-19' }, ['GL-19', 'GLPA195']],
    ['a generation in any spelling', { q: 'GLOCK 19 gen5' }, ['GL-19', 'GLPA195']],
    ['all words must match', { q: 'glock pa195s203' }, ['GL-19']],
    ['a prefix matches', { q: 'sco' }, ['SCOPE-9']],
    ['the brand, diacritics aside', { q: 'urumqi' }, ['ZED']],
    ['the SKU', { q: 'mag-1' }, ['MAG-1']],
    ['the SKU without its punctuation', { q: 'mag1' }, ['MAG-1']],
    ['the MPN', { q: 'pa195s203' }, ['GL-19']],
    ['8 or more digits are a UPC', { q: '764503037108' }, ['GL-19', 'GLPA195']],
    ['a UPC in 13 digits', { q: '0764503037108' }, ['GL-19', 'GLPA195']],
    ['operators are only punctuation', { q: '"AR-15" OR *' }, []],
    ['quotes are only punctuation', { q: '"AR-15"' }, ['MAG-1']],
    [
      'only punctuation filters nothing',
      { q: '*"\'()' },
      ['GL-19', 'GLPA195', 'MAG-1', 'SCOPE-9', 'ZED'],
    ],
    ['upc', { upc: '00764503037108' }, ['GL-19', 'GLPA195']],
    ['upc with dashes', { upc: '7-64503-03710-8' }, ['GL-19', 'GLPA195']],
    ['upc that is none', { upc: 'GL-19' }, []],
    [
      'words that repeat and imply each other',
      { q: 'g gl glo glock glock 19 19 1' },
      ['GL-19', 'GLPA195'],
    ],
    ['sku, case aside', { sku: 'gl-19' }, ['GL-19']],
    ['sku is exact', { sku: 'gl-1' }, []],
    ['distributor', { distributor: 'LIP' }, ['GLPA195', 'ZED']],
    ['manufacturer is exact', { manufacturer: 'Glock' }, ['GL-19', 'GLPA195']],
    ['manufacturer is exact, case too', { manufacturer: 'glock' }, []],
    ['category', { category: 'AR Magazines' }, ['MAG-1']],
    ['category Uncategorized', { category: 'Uncategorized' }, ['SCOPE-9', 'ZED']],
    ['product_class', { product_class: 'OP' }, ['SCOPE-9', 'ZED']],
    [
      'price bounds are inclusive',
      { min_price: 99.99, max_price: 488 },
      ['GLPA195', 'SCOPE-9', 'ZED'],
    ],
    ['price bounds that cross', { min_price: 500, max_price: 10 }, []],
    ['in_stock', { in_stock: true }, ['GL-19', 'MAG-1', 'SCOPE-9', 'ZED']],
    [
      'in_stock=false filters nothing',
      { in_stock: false },
      ['GL-19', 'GLPA195', 'MAG-1', 'SCOPE-9', 'ZED'],
    ],
    ['drop_ship_only', { drop_ship_only: true }, ['GL-19', 'GLPA195', 'MAG-1', 'ZED']],
    [
      'drop_ship_only=false filters nothing',
      { drop_ship_only: false, product_class: 'OP' },
      ['SCOPE-9', 'ZED'],
    ],
    ['ffl_required', { ffl_required: true }, ['GL-19', 'GLPA195']],
    ['ffl_required=false', { ffl_required: false }, ['MAG-1', 'SCOPE-9', 'ZED']],
    [
      'by price, ties by distid',
      { sort: 'price' },
      ['MAG-1', 'ZED', 'SCOPE-9', 'GLPA195', 'GL-19'],
    ],
    [
      'by price downwards, ties still by distid',
      { sort: '-price' },
      ['GL-19', 'GLPA195', 'ZED', 'SCOPE-9', 'MAG-1'],
    ],
    ['by name downwards', { sort: '-name' }, ['ZED', 'SCOPE-9', 'MAG-1', 'GLPA195', 'GL-19']],
    ['by quantity', { sort: 'qty' }, ['GLPA195', 'GL-19', 'ZED', 'SCOPE-9', 'MAG-1']],
    ['by quantity downwards', { sort: '-qty' }, ['MAG-1', 'ZED', 'SCOPE-9', 'GL-19', 'GLPA195']],
    [
      'all together',
      {
        q: 'glock',
        distributor: 'RSR',
        manufacturer: 'Glock',
        product_class: 'FA',
        in_stock: true,
        ffl_required: true,
        max_price: 499,
      },
      ['GL-19'],
    ],
  ]
  for (const [name, query, expected] of found) {
    test(name, async () => {
      for (const shop of [t.shop, t.remote]) {
        const page = await shop.products.search(query)
        assert.deepEqual(skus(page.products), expected)
        assert.equal(page.total, expected.length)
      }
    })
  }

  test("a record has the contract's fields in its order, and no descriptions", async () => {
    const { products } = await t.remote.products.search({ sku: 'GL-19' })
    assert.deepEqual(
      Object.entries(products[0]!),
      Object.entries({
        distid: 'RSR',
        distsku: 'GL-19',
        stockid: 'GL-19',
        upc: '764503037108',
        name: 'Glock 19 Gen5 9mm',
        mfg_name: 'Glock',
        mpn: 'PA195S203',
        product_class: 'FA',
        item_cat: '01',
        item_gb_cat: 3026,
        item_gb_cat_name: 'Semi Auto Handguns',
        ffl_req: 1,
        unit_price: 499,
        shipping_cost: 10,
        total_cost: 509,
        map_price: 539,
        msrp: 647,
        qty_on_hand: 4,
        drop_ship_flg: 1,
        images: [{ src: 'https://images.example/gl-19.jpg' }],
        product_url: null,
      }),
    )
    const bare = (await t.remote.products.search({ sku: 'SCOPE-9' })).products[0]!
    assert.deepEqual(
      [
        bare.upc,
        bare.mfg_name,
        bare.mpn,
        bare.item_cat,
        bare.item_gb_cat,
        bare.item_gb_cat_name,
        bare.map_price,
        bare.msrp,
        bare.images,
        bare.drop_ship_flg,
      ],
      [null, null, null, null, null, 'Uncategorized', null, null, [], 0],
    )
  })

  const bad: [query: string, path: string][] = [
    ['page=0', 'page'],
    ['page=-1', 'page'],
    ['page=1.5', 'page'],
    ['page=a', 'page'],
    ['page=', 'page'],
    ['page_size=0', 'page_size'],
    ['page_size=101', 'page_size'],
    ['page=201', 'page'],
    ['page=101&page_size=100', 'page'],
    ['page=99999999999999999999', 'page'],
    ['sort=cost', 'sort'],
    ['sort=', 'sort'],
    ['sort=Price', 'sort'],
    ['in_stock=yes', 'in_stock'],
    ['in_stock=', 'in_stock'],
    ['in_stock=TRUE', 'in_stock'],
    ['ffl_required=2', 'ffl_required'],
    ['min_price=abc', 'min_price'],
    ['max_price=1e999', 'max_price'],
    ['max_price=Infinity', 'max_price'],
    ['min_price=NaN', 'min_price'],
    ['q=a&q=b', 'q'],
    ['page=1&page=1', 'page'],
    ['ignore_restrictions=maybe', 'ignore_restrictions'],
    ['q=a%00b', 'q'],
  ]
  for (const [query, path] of bad) {
    test(`${query} is 400 and names ${path}`, async () => {
      const { status, body } = await t.json(`/v1/products/search?${query}`)
      assert.deepEqual(
        [status, body.error?.code, body.error?.details[0].path],
        [400, 'invalid_parameter', path],
      )
    })
  }

  const fine = [
    'page=1&page_size=100',
    'page=100&page_size=100',
    'page=200',
    'page=10000&page_size=1',
    'in_stock=1',
    'in_stock=0',
    'min_price=-5',
    'max_price=1e5',
    'min_price=0.01',
    'max_price=99999999999',
    'unknown=1&unknown=2',
    'q=',
    'q=%20',
    `q=${'x'.repeat(1_000)}`,
    'q=%F0%9F%98%80',
    'product_class=ZZ',
    'manufacturer=%27%3B--',
  ]
  for (const query of fine) {
    test(`${query.slice(0, 40)} is taken`, async () =>
      assert.equal((await t.request(`/v1/products/search?${query}`)).status, 200))
  }

  test('a faulty call lists all its faults at once', async () => {
    const paths = async (query: string) =>
      (await t.json(`/v1/products/search?${query}`)).body.error.details
        .map(({ path }: { path: string }) => path)
        .sort()
    assert.deepEqual(await paths('page=0&page_size=101&sort=x&in_stock=x'), [
      'in_stock',
      'page',
      'page_size',
      'sort',
    ])
    assert.deepEqual(await paths('page=101&page_size=100&sort=x'), ['page', 'sort'])
  })

  test('an unknown or inactive distributor is 404', async () => {
    for (const distid of ['ZND', 'nope', '', 'rsr']) {
      const { status, body } = await t.json(`/v1/products/search?distributor=${distid}`)
      assert.deepEqual([status, body.error.code], [404, 'not_found'])
    }
  })

  test('the library has the same refusals', async () => {
    await assert.rejects(t.shop.products.search({ page: 0 }), { code: 'invalid_parameter' })
    await assert.rejects(t.shop.products.search({ page: 101, page_size: 100 }), {
      code: 'invalid_parameter',
    })
    await assert.rejects(t.shop.products.search({ in_stock: 'true' as unknown as boolean }), {
      code: 'invalid_parameter',
    })
    await assert.rejects(t.shop.products.search({ distributor: 'ZND' }), { code: 'not_found' })
    await assert.rejects(t.remote.products.search({ page: 0 }), {
      code: 'invalid_parameter',
      status: 400,
    })
    await assert.rejects(t.shop.products.search(null as unknown as undefined), {
      code: 'invalid_parameter',
    })
    await assert.rejects(
      t.shop.products
        .search({ constructor: 1 } as never)
        .then(() => t.shop.orders.quote({ items: [], constructor: 1 } as never)),
      { code: 'invalid_parameter' },
    )
    await assert.rejects(t.remote.products.get({ upc: 'search' }), { code: 'invalid_parameter' })
    await assert.rejects(t.remote.products.get({ upc: '' }), { code: 'invalid_parameter' })
    for (const shop of [t.shop, t.remote]) {
      await assert.rejects(shop.products.search({ min_price: 1e-7 }), { code: 'invalid_parameter' })
      assert.equal((await shop.products.search({ min_price: 0.01 })).total, 5)
    }
  })
})

describe('detail', () => {
  test('all offers of a UPC, cheapest first, with their descriptions', async () => {
    for (const shop of [t.shop, t.remote]) {
      for (const upc of ['764503037108', '0764503037108', '00764503037108']) {
        const detail = await shop.products.get({ upc })
        assert.equal(detail.upc, upc)
        assert.deepEqual(
          detail.offers.map(({ distid, distsku }) => [distid, distsku]),
          [
            ['LIP', 'GLPA195'],
            ['RSR', 'GL-19'],
          ],
        )
        assert.deepEqual(
          [
            detail.offers[1]!.product_class_description,
            detail.offers[1]!.short_description,
            detail.offers[1]!.description,
          ],
          ['Firearms', 'A pistol', 'A "striker"-fired pistol\nwith text'],
        )
        assert.deepEqual(
          [detail.offers[0]!.short_description, detail.offers[0]!.description],
          [null, null],
        )
      }
    }
  })

  for (const [upc, status, code] of [
    ['1234567', 400, 'invalid_upc'],
    ['12345678', 404, 'not_found'],
    ['12345678901234', 404, 'not_found'],
    ['123456789012345', 400, 'invalid_upc'],
    ['76450303710a', 400, 'invalid_upc'],
    ['7645-0303-7108', 400, 'invalid_upc'],
    ['%31%32', 400, 'invalid_upc'],
    ['%00', 400, 'invalid_upc'],
    ['764503037108%20', 400, 'invalid_upc'],
  ] as const) {
    test(`/v1/products/${upc} is ${status} ${code}`, async () => {
      const answer = await t.json(`/v1/products/${upc}`)
      assert.deepEqual([answer.status, answer.body.error.code], [status, code])
    })
  }
})

describe('facets', () => {
  test('sorted distinct values by code point, empty ones left out', async () => {
    for (const shop of [t.shop, t.remote]) {
      assert.deepEqual(await shop.products.facets(), {
        manufacturers: ['Fullwell & Sons', 'Glock', 'Ürümqi Optik'],
        categories: ['AR Magazines', 'Semi Auto Handguns', 'Uncategorized'],
        product_classes: ['FA', 'MG', 'OP'],
      })
    }
  })

  test("are the caller's own: changing them changes nobody else's", async () => {
    const mine = await t.shop.products.facets()
    mine.manufacturers.length = 0
    assert.equal((await t.remote.products.facets()).manufacturers.length, 3)
  })

  test('only of what the subscriber sees, unless restrictions are ignored', async () => {
    await using other = await createTestApp()
    await other.stock(OFFERS)
    await other.configure({
      product_restrictions: { brand: { include: ['Glock'] } },
      distributors: { 'RSR Group': { distid: 'RSR', product_restrictions: {} } },
    })
    assert.deepEqual(await other.remote.products.facets(), {
      manufacturers: ['Glock'],
      categories: ['Semi Auto Handguns'],
      product_classes: ['FA'],
    })
    assert.deepEqual(
      (await other.remote.products.facets({ ignore_restrictions: true })).product_classes,
      ['FA', 'MG', 'OP'],
    )
    assert.equal((await other.request('/v1/products/812345678906')).status, 404)
    assert.equal(
      (await other.request('/v1/products/812345678906?ignore_restrictions=1')).status,
      200,
    )
  })
})

describe('numbers that were shown before', () => {
  const documentOf = (share: number, cost: number) => ({
    distributors: {
      'RSR Group': {
        active: true,
        distid: 'RSR',
        drop_ship_only_items: false,
        shipping: { flat_rate: { cost, shipping_class: 'x' } },
        product_restrictions: {},
      },
    },
    targets: {},
    notification_email: 'shop@shop.example',
    pricing: { margin: { default: { margin_percentage: share } } },
    product_restrictions: {},
  })

  test('are those of each subscriber, of the document and of the feed as they are now', async () => {
    await using other = await createTestApp()
    const { operator } = other.app
    await other.stock(OFFERS)
    const second = await operator.subscribers.create({ name: 'Second', email: 'b@shop.example' })
    const { key } = await operator.keys.create({
      subscriber: second.name,
      name: 'second',
      tier: 'enterprise',
      ips: ['127.0.0.1'],
    })
    await other.save(other.subscriber, documentOf(0.5, 10))
    await other.save(second.name, documentOf(0.2, 20))
    for (const name of [other.subscriber, second.name])
      await operator.configurations.recordCheck(name, 'RSR Group', true)
    const shown = async (caller: string | undefined) => {
      const path = '/v1/products/search?sku=SCOPE-9'
      const { body } = await other.json(path, caller === undefined ? {} : { key: caller })
      const [product] = (body as { data: { products: Product[] } }).data.products
      const { unit_price: cost, shipping_cost: shipping, retail_price: retail } = product!
      return [cost, shipping, retail]
    }
    for (let turn = 0; turn < 2; turn++) {
      assert.deepEqual(await shown(undefined), [99.99, 10, 199.98])
      assert.deepEqual(await shown(key), [99.99, 20, 124.99])
    }
    await other.save(second.name, documentOf(0, 30))
    assert.deepEqual(await shown(key), [99.99, 30, 99.99])
    await other.stock([{ ...OFFERS[3]!, price: 5_000 }])
    assert.deepEqual(await shown(key), [50, 30, 50])
    assert.deepEqual(await shown(undefined), [50, 10, 100])
  })
})

describe('the bytes of an answer', () => {
  const paths = [
    '/v1/products/search',
    '/v1/products/search?sku=SCOPE-9',
    '/v1/products/search?q=urumqi',
    '/v1/products/search?page=200',
    '/v1/products/764503037108',
  ]
  for (const path of paths) {
    test(`${path}: the JSON of what it says, and as many as the head tells`, async () => {
      for (let turn = 0; turn < 2; turn++) {
        const answer = await t.request(path)
        const bytes = Buffer.from(await answer.arrayBuffer())
        assert.equal(bytes.toString(), JSON.stringify(JSON.parse(bytes.toString())))
        assert.equal(answer.headers.get('content-length'), String(bytes.length))
        const head = await t.request(path, { method: 'HEAD' })
        assert.equal(head.headers.get('content-length'), String(bytes.length))
      }
    })
  }

  test('are those of the texts, however long they are and whatever they are written in', async () => {
    await using other = await createTestApp()
    const names = [
      'a',
      'Ürümqi',
      '銃',
      '😀 𝒢',
      'x"\\',
      '\t\u007f\u2028',
      'ÿ',
      'long é '.repeat(9_000),
    ]
    await other.stock(
      names.map((name, i) => ({
        distid: 'RSR',
        stockid: `S${i}`,
        upc: '764503037108',
        name,
        mfgName: name,
        description: name,
        images: [`https://images.example/${encodeURIComponent(name.slice(0, 9))}.jpg`],
      })),
    )
    await other.configure({
      distributors: { RSR: { distid: 'RSR', product_restrictions: {} } },
    })
    // Two views show the same texts with their own numbers, in turn.
    for (const ignoring of [false, true, false, true]) {
      for (const [path, list] of [
        [`/v1/products/search?ignore_restrictions=${ignoring}`, 'products'],
        [`/v1/products/764503037108?ignore_restrictions=${ignoring}`, 'offers'],
      ] as const) {
        const bytes = Buffer.from(await (await other.request(path)).arrayBuffer())
        const body = JSON.parse(bytes.toString()) as { data: Record<string, Product[]> }
        assert.ok(bytes.equals(Buffer.from(JSON.stringify(body))))
        assert.deepEqual(body.data[list]!.map(({ name }) => name).sort(), [...names].sort())
      }
    }
  })
})

describe('a page that was asked for before', () => {
  test('is told anew after a new price, a new text, a new document and for another shop', async () => {
    await using other = await createTestApp()
    const documentOf = (dollar: number) => ({
      distributors: { 'RSR Group': { distid: 'RSR', product_restrictions: {} } },
      pricing: { cost_adjustments: [{ dollar }] },
    })
    const told = async () => {
      const pages = []
      for (let turn = 0; turn < 2; turn++)
        for (const query of [{}, { in_stock: true }, { q: 'scope' }, { sort: 'price' as const }]) {
          const { products, total } = await other.remote.products.search(query)
          pages.push([total, ...products.map(({ name, unit_price: price }) => `${name} ${price}`)])
        }
      assert.deepEqual(pages.slice(4), pages.slice(0, 4))
      return pages[0]
    }
    await other.stock([OFFERS[3]!])
    await other.configure(documentOf(0))
    assert.deepEqual(await told(), [1, 'Scope 4-12x40 99.99'])
    await other.stock([{ ...OFFERS[3]!, price: 5_000 }])
    assert.deepEqual(await told(), [1, 'Scope 4-12x40 50'])
    await other.stock([{ ...OFFERS[3]!, price: 5_000, name: 'Scope 5-25' }])
    assert.deepEqual(await told(), [1, 'Scope 5-25 50'])
    await other.configure(documentOf(1))
    assert.deepEqual(await told(), [1, 'Scope 5-25 51'])
    await other.stock([{ ...OFFERS[3]!, price: null, name: 'Scope 5-25' }])
    assert.deepEqual(await told(), [0])
  })
})

describe('a snapshot', () => {
  test('is let go of when a newer one has taken its place', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    await using other = await createTestApp()
    await other.stock(OFFERS)
    await other.configure({
      distributors: { 'RSR Group': { distid: 'RSR', product_restrictions: {} } },
    })
    const old: WeakRef<object>[] = []
    for (let price = 100; price < 900; price += 100) {
      await other.stock([{ ...OFFERS[2]!, price }])
      await other.remote.products.search({ sort: 'price' })
      old.push(new WeakRef(other.app.ctx.catalog.current()!))
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
    collect()
    assert.ok(old.filter((snapshot) => snapshot.deref() !== undefined).length <= 2)
  })

  test('is swapped as a whole: a changed price, a gone text and a new offer come together', async () => {
    await using other = await createTestApp()
    await other.stock(OFFERS)
    await other.configure({
      distributors: { 'RSR Group': { distid: 'RSR', product_restrictions: {} } },
    })
    await other.remote.products.search({})
    await other.stock([
      { ...OFFERS[2]!, price: 1_300, name: 'Renamed' },
      { distid: 'RSR', stockid: 'NEW', name: 'Brand new' },
    ])
    const { products, total } = await other.remote.products.search({})
    assert.equal(total, 4)
    assert.deepEqual(
      products.map(({ name, unit_price }) => [name, unit_price]),
      [
        ['Brand new', 10],
        ['Glock 19 Gen5 9mm', 499],
        ['Renamed', 13],
        ['Scope 4-12x40', 99.99],
      ],
    )
  })

  test('pages agree with their total while a feed is taken in', async () => {
    await using other = await createTestApp()
    const many = (price: number): TestOffer[] =>
      Array.from({ length: 300 }, (_, i) => ({
        distid: 'RSR',
        stockid: `S${String(i).padStart(3, '0')}`,
        name: `Item ${i}`,
        price,
      }))
    await other.stock(many(100))
    await other.configure({
      distributors: { 'RSR Group': { distid: 'RSR', product_restrictions: {} } },
    })
    const reading = (async () => {
      const pages = []
      for (let i = 0; i < 50; i++)
        pages.push(await other.remote.products.search({ page_size: 100, sort: 'price' }))
      return pages
    })()
    for (let price = 200; price < 1_000; price += 200) await other.stock(many(price))
    for (const page of await reading) {
      assert.equal(page.total, 300)
      assert.equal(
        new Set(page.products.map(({ unit_price }) => unit_price)).size,
        1,
        'one page is of one snapshot',
      )
    }
  })
})
