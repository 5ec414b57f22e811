/**
 * What offers of one UPC lend each other: a firearm at one distributor is a firearm at all.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { hasValidCheckDigit } from '../../lib/core/gtin.js'
import { explainProduct } from '../../lib/configuration/explain.js'
import { findSubscriber } from '../../lib/accounts/subscribers.js'
import { TouchedKeys, lend } from '../../lib/catalog/snapshot/lending.js'
import { ACME, HEADER, bench, feedBench } from '../feeds/bench.js'
import type { FeedBench } from '../feeds/bench.js'
import { DEALER, orderShop } from '../orders/shop.js'
import { scripted } from '../orders/scripted-distributor.js'

const withCheck = (stem: string) =>
  Array.from({ length: 10 }, (_, digit) => `${stem}${digit}`).find(hasValidCheckDigit)!
const [PISTOL, HOLSTER, OTHER] = ['76431400100', '76431400200', '76431400300'].map(withCheck) as [
  string,
  string,
  string,
]
const UNPROVEN = '764314001001' === PISTOL ? '764314001002' : '764314001001'

const BETA = {
  ...ACME,
  id: 'beta',
  distid: 'BETA',
  map: { ...ACME.map, images: { from: ['image'] }, description: { from: ['text'] } },
}
const WIDE = `${HEADER},image,text`
/** A row of either preset; an empty type is one that it cannot classify. */
const row = (
  sku: string,
  upc: string,
  { name = '', brand = '', type = '', price = '10.00', image = '', text = '' } = {},
) => `${sku},${upc},${name},${brand},${price},,5,${type},${image},${text}`
const feed = (...rows: string[]) => [WIDE, ...rows].join('\n') + '\n'
const GUN = {
  name: 'Model 1911 GI',
  brand: 'Armory',
  type: 'gun',
  image: 'https://x.example/1.jpg',
  text: 'A pistol.',
}
/** Enough other rows that no guard minds one that comes or goes. */
const FILL = Array.from({ length: 30 }, (_, i) =>
  row(`F${i}`, '', { name: `Filler ${i}`, type: 'part' }),
)

const SHOWN = `SELECT o.distid || ' ' || o.stockid AS offer, f.name, f.mfg_name, f.product_class,
  o.ffl_req, f.images, f.description, f.category_name
  FROM shown o JOIN fragment f ON f.id = o.fragment WHERE o.stockid NOT LIKE 'F%' ORDER BY 1`
const shown = (feeds: FeedBench) => feeds.catalog.prepare(SHOWN).all() as Record<string, unknown>[]
const classes = (feeds: FeedBench) =>
  Object.fromEntries(
    shown(feeds).map(({ offer, product_class: kind, ffl_req: ffl }) => [offer, `${kind} ${ffl}`]),
  )

describe('offers of one UPC', () => {
  test('one that its feed cannot classify takes class, ffl_req and the texts that it lacks', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, feed(...FILL, row('A1', PISTOL)))
      assert.deepEqual(classes(feeds), { 'ACME A1': 'OT 0' })
      await feeds.take(BETA, feed(...FILL, row('B1', `00${PISTOL}`, GUN)))
      assert.deepEqual(shown(feeds)[0], {
        offer: 'ACME A1',
        name: 'Model 1911 GI',
        mfg_name: 'Armory',
        product_class: 'FA',
        ffl_req: 1,
        images: '[{"src":"https://x.example/1.jpg"}]',
        description: 'A pistol.',
        category_name: 'Uncategorized',
      })
    }))

  test('whichever feed comes first', () =>
    bench(async (feeds) => {
      await feeds.take(BETA, feed(...FILL, row('B1', PISTOL, GUN)))
      await feeds.take(ACME, feed(...FILL, row('A1', PISTOL)))
      assert.deepEqual(classes(feeds), { 'ACME A1': 'FA 1', 'BETA B1': 'FA 1' })
    }))

  test('a feed that drops the lender takes the loan back, one that brings it lends again', () =>
    bench(async (feeds) => {
      const before = row('A1', PISTOL)
      await feeds.take(ACME, feed(...FILL, before))
      const bare = shown(feeds)
      for (let round = 0; round < 2; round++) {
        await feeds.take(BETA, feed(...FILL, row('B1', PISTOL, GUN)))
        assert.equal(classes(feeds)['ACME A1'], 'FA 1')
        const revision = feeds.catalog.prepare('SELECT text_revision FROM state').pluck().get()
        await feeds.take(BETA, feed(...FILL))
        assert.deepEqual(shown(feeds), bare)
        assert.ok(
          Number(feeds.catalog.prepare('SELECT text_revision FROM state').pluck().get()) >
            Number(revision),
          'snapshots are built anew',
        )
      }
    }))

  test('a lender that changes its class, its UPC or its wording changes the loan', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, feed(...FILL, row('A1', PISTOL)))
      const take = async (upc: string, more: object) => {
        await feeds.take(BETA, feed(...FILL, row('B1', upc, { ...GUN, ...more })))
        const { name, product_class: kind, ffl_req: ffl } = shown(feeds)[0]!
        return `${kind} ${ffl} ${name}`
      }
      assert.equal(await take(PISTOL, {}), 'FA 1 Model 1911 GI')
      assert.equal(await take(PISTOL, { name: 'Model 1911 A1' }), 'FA 1 Model 1911 A1')
      assert.equal(await take(PISTOL, { type: 'part' }), 'AC 0 Model 1911 GI')
      assert.equal(await take(OTHER, {}), `OT 0 ${PISTOL}`)
      assert.equal(await take(PISTOL, {}), 'FA 1 Model 1911 GI')
    }))

  test('a borrower whose own feed learns what it is has its own class and texts again', () =>
    bench(async (feeds) => {
      await feeds.take(
        BETA,
        feed(...FILL, row('B1', HOLSTER, { name: 'Holster', brand: 'Leather', type: 'part' })),
      )
      await feeds.take(ACME, feed(...FILL, row('A1', HOLSTER)))
      assert.equal(shown(feeds)[0]!['mfg_name'], 'Leather')
      await feeds.take(
        ACME,
        feed(...FILL, row('A1', HOLSTER, { name: 'Belt holster', brand: 'Own', type: 'part' })),
      )
      assert.deepEqual(
        [shown(feeds)[0]!['name'], shown(feeds)[0]!['mfg_name']],
        ['Belt holster', 'Own'],
      )
      assert.equal(
        feeds.catalog
          .prepare('SELECT count(*) FROM offer WHERE lent_ffl IS NOT NULL')
          .pluck()
          .get(),
        0,
      )
    }))

  test('its own name and brand stay where its feed gives them', () =>
    bench(async (feeds) => {
      await feeds.take(BETA, feed(...FILL, row('B1', PISTOL, GUN)))
      await feeds.take(ACME, feed(...FILL, row('A1', PISTOL, { name: 'ARM 1911', brand: 'ARM' })))
      assert.deepEqual(
        [shown(feeds)[0]!['name'], shown(feeds)[0]!['mfg_name'], shown(feeds)[0]!['description']],
        ['ARM 1911', 'ARM', 'A pistol.'],
      )
    }))

  test('of two feeds that classify, both have a firearm where one says so, and no texts are lent', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, feed(...FILL, row('A1', PISTOL, { type: 'part' })))
      await feeds.take(BETA, feed(...FILL, row('B1', PISTOL, GUN)))
      assert.deepEqual(classes(feeds), { 'ACME A1': 'FA 1', 'BETA B1': 'FA 1' })
      assert.deepEqual([shown(feeds)[0]!['name'], shown(feeds)[0]!['description']], [PISTOL, null])
      await feeds.take(BETA, feed(...FILL, row('B1', PISTOL, { ...GUN, type: 'part' })))
      assert.deepEqual(classes(feeds), { 'ACME A1': 'AC 0', 'BETA B1': 'AC 0' })
    }))

  test('a UPC whose check digit is wrong neither lends nor borrows', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, feed(...FILL, row('A1', UNPROVEN)))
      await feeds.take(BETA, feed(...FILL, row('B1', UNPROVEN, GUN)))
      assert.deepEqual(classes(feeds), { 'ACME A1': 'OT 0', 'BETA B1': 'FA 1' })
    }))

  test("a subscriber's own feed lends what the item is, and not a word of its texts", () =>
    bench(async (feeds) => {
      await feeds.take(ACME, feed(...FILL, row('A1', PISTOL)))
      await feeds.take(BETA, feed(...FILL, row('B1', PISTOL, GUN)), {
        subscriberId: 's1',
        source: 'BETA/beta/s1',
      })
      assert.deepEqual(shown(feeds)[0], {
        offer: 'ACME A1',
        name: PISTOL,
        mfg_name: null,
        product_class: 'FA',
        ffl_req: 1,
        images: '[]',
        description: null,
        category_name: 'Uncategorized',
      })
      await feeds.take(BETA, feed(...FILL), { subscriberId: 's1', source: 'BETA/beta/s1' })
      assert.equal(classes(feeds)['ACME A1'], 'OT 0')
    }))

  test("so it does for the very offer that the operator's feed cannot classify", () =>
    bench(async (feeds) => {
      await feeds.take(ACME, feed(...FILL, row('A1', PISTOL)))
      const own = { subscriberId: 's1', source: 'ACME/acme/s1' }
      await feeds.take(ACME, feed(...FILL, row('A1', PISTOL, { ...GUN, price: '9.00' })), own)
      assert.deepEqual([classes(feeds), shown(feeds)[0]!['name']], [{ 'ACME A1': 'FA 1' }, PISTOL])
      await feeds.take(ACME, feed(...FILL, row('A1', PISTOL, { price: '9.00' })), own)
      assert.deepEqual(classes(feeds), { 'ACME A1': 'OT 0' })
    }))

  test('a dry run lends nothing', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, feed(...FILL, row('A1', PISTOL)))
      const before = feeds.everything()
      await feeds.take(BETA, feed(...FILL, row('B1', PISTOL, GUN)), { dryRun: true })
      assert.deepEqual(feeds.everything(), before)
    }))

  test('after any feeds, loans are what they would be if all were made anew', async () => {
    const item = fc.record({
      upc: fc.constantFrom(PISTOL, HOLSTER, OTHER, UNPROVEN, ''),
      type: fc.constantFrom('', '', 'gun', 'part'),
      name: fc.constantFrom('', 'Thing', 'Other'),
      brand: fc.constantFrom('', 'Brand'),
      text: fc.constantFrom('', 'Text', 'Much more text'),
      price: fc.constantFrom('10.00', ''),
    })
    const file = fc.record({
      preset: fc.constantFrom(ACME, BETA, BETA),
      own: fc.boolean(),
      rows: fc.array(item, { maxLength: 4 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(file, { minLength: 1, maxLength: 7 }), async (files) => {
        const feeds = feedBench()
        try {
          for (const { preset, own, rows } of files) {
            const result = await feeds.take(
              preset,
              feed(FILL[0]!, ...rows.map(({ upc, ...more }, i) => row(`S${i}`, upc, more))),
              own
                ? { subscriberId: 's1', source: `${preset.distid}/s1`, force: true }
                : { force: true },
            )
            assert.ok(result.outcome !== 'refused', result.reasons.join())
          }
          const grown = shown(feeds)
          assertNoLesserFirearm(feeds)
          feeds.catalog.exec('UPDATE offer SET lent = NULL, lent_ffl = NULL, lent_key = NULL')
          const touched = new TouchedKeys()
          touched.all = true
          lend(feeds.catalog, touched, { revision: 99, now: 0 })
          assert.deepEqual(grown, shown(feeds))
        } finally {
          feeds.close()
        }
      }),
      { numRuns: 25 },
    )
  })
})

/** Without a line of the code that lends. */
function assertNoLesserFirearm(feeds: FeedBench): void {
  const all = feeds.catalog
    .prepare(`SELECT s.id, f.upc, f.product_class, s.ffl_req, own.product_class = 'FA' OR o.ffl_req = 1 AS told
    FROM shown s JOIN fragment f ON f.id = s.fragment JOIN offer o ON o.id = s.id
      JOIN fragment own ON own.id = o.fragment`)
    .all() as { upc: string | null; product_class: string; ffl_req: number; told: number }[]
  const told = new Set(
    all.flatMap((one) => (one.told === 1 && one.upc !== null ? [Number(one.upc)] : [])),
  )
  for (const { upc, product_class: kind, ffl_req: ffl } of all) {
    if (upc !== null && hasValidCheckDigit(upc) && told.has(Number(upc)))
      assert.deepEqual([kind, ffl], ['FA', 1], upc)
  }
}

describe('everywhere', () => {
  const [aaa, bbb] = [
    { distid: 'AAA', name: 'Alpha' },
    { distid: 'BBB', name: 'Beta' },
  ]
  const OFFERS = [
    {
      distid: 'AAA',
      stockid: PISTOL,
      upc: PISTOL,
      name: PISTOL,
      price: 38_000,
      qty: 9,
      productClass: 'OT' as const,
      classified: false,
    },
    {
      distid: 'BBB',
      stockid: 'G1',
      upc: PISTOL,
      name: 'Model 1911 GI',
      mfgName: 'Armory',
      price: 40_000,
      qty: 20,
      fflReq: true,
      dropShip: false,
      productClass: 'FA' as const,
      categoryId: 3011,
      categoryName: 'Semi Auto Handguns',
      images: ['https://x.example/1.jpg'],
      description: 'A pistol.',
    },
  ]

  test('every reader sees the firearm that another distributor tells of, orders included', async () => {
    const alpha = scripted(aaa)
    await using t = await orderShop([alpha, scripted(bbb)], { offers: OFFERS })
    const { products } = await t.shop.products.search({
      q: 'armory 1911',
      ffl_required: true,
      product_class: 'FA',
      manufacturer: 'Armory',
      category: 'Semi Auto Handguns',
      sort: 'price',
    })
    assert.deepEqual(
      products.map(({ distid, name, ffl_req: ffl, product_class: kind }) => [
        distid,
        name,
        ffl,
        kind,
      ]),
      [
        ['AAA', 'Model 1911 GI', 1, 'FA'],
        ['BBB', 'Model 1911 GI', 1, 'FA'],
      ],
    )
    assert.deepEqual((await t.shop.products.facets({})).product_classes, ['FA'])
    const [offer] = (await t.shop.products.get({ upc: PISTOL })).offers
    assert.deepEqual(
      [offer!.product_class_description, offer!.description, offer!.images],
      ['Firearms', 'A pistol.', [{ src: 'https://x.example/1.jpg' }]],
    )

    const item = { distid: 'AAA', distsku: PISTOL, upc: PISTOL, qty: 1 }
    const refused = await t.place(t.body({ items: [item] }))
    assert.deepEqual(
      [refused.status, refused.body.error.details.map(({ path }: { path: string }) => path)],
      [400, ['items[0].ffl_req']],
    )
    const placed = await t.place(
      t.body({ items: [{ ...item, ffl_req: true }], ffl: { licenseNumber: DEALER } }),
    )
    assert.deepEqual(
      [placed.status, placed.body.data.fulfillment_orders[0].ffl_required, alpha.sends.length],
      [200, 1, 1],
    )

    const [told, other] = await explainProduct(
      t.app.ctx,
      await findSubscriber(t.app.ctx, t.subscriber),
      PISTOL,
    )
    assert.deepEqual(
      [told!.borrowed, other!.borrowed],
      [{ product_class: 'FA', ffl_req: 1, told_by: ['BBB G1'], text_of: 'BBB G1' }, null],
    )
    const rule = await t.shop.restrictions.check({
      shipping: { state: 'AZ', zip: '85001' },
      items: [{ distid: 'AAA', sku: PISTOL }],
    })
    assert.equal(rule.items.length, 1)
  })

  test('an exclude by class hides it, too', async () => {
    await using t = await orderShop([scripted(aaa), scripted(bbb)], {
      offers: OFFERS,
      document: { product_restrictions: { product_class: { exclude: ['FA'] } } },
    })
    assert.equal((await t.shop.products.search({})).total, 0)
    await t.stock([{ ...OFFERS[1]!, productClass: 'AC', fflReq: false }])
    assert.equal(
      (await t.shop.products.search({ product_class: 'AC' })).total,
      2,
      'a loan goes with its lender',
    )
  })
})

const MULTI = resolve('..', 'shared', 'data', 'multi-2023-03')
describe(
  'feeds of March 2023',
  { skip: existsSync(MULTI) ? false : `the real feeds are not here: ${MULTI}` },
  () => {
    test("a pistol of Davidson's is one at Zanders, Sports South and Lipsey's, whose files say nothing", () =>
      bench(async (feeds) => {
        const at = Date.UTC(2023, 2, 7, 12)
        for (const [preset, name] of [
          ['zanders', 'ZandersInventory'],
          ['sports-south', 'SportsSouthInventory'],
          ['lipseys-pricing', 'Lipseys'],
          ['davidsons', 'davidsons_inventory'],
        ] as const) {
          assert.equal(
            (
              await feeds.take(
                preset,
                { file: join(MULTI, `${name}.csv.gz`) },
                { asOf: at, now: at },
              )
            ).outcome,
            'taken',
          )
        }
        const found = feeds.catalog
          .prepare(
            'SELECT o.distid, f.product_class, o.ffl_req, f.mfg_name, f.category_name FROM ' +
              `shown o JOIN fragment f ON f.id = o.fragment WHERE f.upc = '4806015514213' ORDER ` +
              'BY 1',
          )
          .raw()
          .all()
        assert.deepEqual(
          found,
          ['DAV', 'LIP', 'TSW', 'ZND'].map((distid) => [
            distid,
            'FA',
            1,
            'Armscor|Rock Island Armory',
            'Semi Auto Handguns',
          ]),
        )
        assertNoLesserFirearm(feeds)
        const lent = feeds.catalog
          .prepare(
            'SELECT distid, count(*) FROM offer WHERE ffl_req = 0 AND lent_ffl = 1 GROUP BY distid ORDER BY distid',
          )
          .raw()
          .all()
        assert.deepEqual(lent, [
          ['LIP', 5_161],
          ['TSW', 5_055],
          ['ZND', 5_016],
        ])
      }))
  },
)
