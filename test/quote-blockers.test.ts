/** What a quote says of orders, and what placement makes of them (decisions 8.2-3). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasValidCheckDigit } from '../lib/core/gtin.js'
import { DEALER, orderShop } from './order-shop.js'
import { scripted } from './scripted-distributor.js'

const UPCS = ['76431400100', '76431400200', '76431400300'].map((stem) => Array.from({ length: 10 }, (_, digit) => `${stem}${digit}`).find(hasValidCheckDigit)!)
const DISTIDS = ['AAA', 'BBB', 'CCC']

const offer = fc.record({
  upc: fc.constantFrom(...UPCS), distid: fc.constantFrom(...DISTIDS), sku: fc.constantFrom('X', 'Y'), warehouse: fc.constantFrom('', '-E', '-W'),
  price: fc.integer({ min: 100, max: 999 }), qty: fc.integer({ min: 0, max: 6 }), dropShip: fc.boolean(), kind: fc.constantFrom('AC', 'AC', 'AC', 'FA', null),
})
const shop = fc.record({
  offers: fc.array(offer, { minLength: 1, maxLength: 8 }), limit: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
  unready: fc.subarray(DISTIDS, { maxLength: 1 }), cart: fc.array(fc.record({ upc: fc.constantFrom(...UPCS), qty: fc.integer({ min: 1, max: 3 }) }), { minLength: 1, maxLength: 4 }),
})

test('an orderable plan is placed; one that is not is refused for what its blockers say', async (context) => {
  let placed = 0
  const refused = new Map<string, number>()
  await fc.assert(fc.asyncProperty(shop, async ({ offers, limit, unready, cart }) => {
    const stockids = new Set<string>()
    const stock = offers.map(({ sku, warehouse, kind, ...more }) => ({ ...more, distsku: sku, stockid: sku + warehouse, name: 'Thing', classified: kind !== null, productClass: (kind ?? 'OT') as 'AC', fflReq: kind === 'FA' }))
      .filter(({ distid, stockid }) => !stockids.has(distid + stockid) && stockids.add(distid + stockid))
    await using t = await orderShop(DISTIDS.map((distid) => scripted({ distid, name: `The ${distid}` })), { offers: stock })
    const { document } = t.app.ctx.configurations.of({ id: (await t.app.operator.subscribers.list())[0]!.id, name: t.subscriber, email: '' })
    await t.configure({
      fulfillment: document.fulfillment, product_restrictions: limit === undefined ? {} : { purchase_limit: limit },
      distributors: Object.fromEntries(DISTIDS.map((distid) => [`The ${distid}`, { distid, product_restrictions: {}, ...unready.includes(distid) ? {} : { fulfillment: {} } }])),
    })
    const quote = await t.shop.orders.quote({ items: cart })
    const items = quote.plan.orders.flatMap(({ distid, items: lines }) => lines.map(({ distsku, upc, qty }) => ({ distid, distsku, upc, qty })))
    if (items.length === 0) return assert.equal(quote.plan.orderable, false)
    const blockers = quote.plan.orders.flatMap((order) => order.order_blockers)
    assert.equal(quote.plan.orderable, blockers.length === 0)
    const answer = await t.place(t.body({ items }))
    if (quote.plan.orderable) {
      assert.equal(answer.status, 200, JSON.stringify([stock, cart, answer.body]))
      placed++
      return
    }
    assert.ok([400, 409].includes(answer.status), JSON.stringify(answer.body))
    const codes = new Set<string>(blockers.map(({ code }) => code))
    if (answer.status === 409) assert.ok(codes.has(answer.body.error.code), JSON.stringify([blockers, answer.body]))
    else for (const { path } of answer.body.error.details) assert.ok(path.endsWith('ffl_req') ? codes.has('ffl_required') : codes.size > 0, path)
    for (const code of codes) refused.set(code, (refused.get(code) ?? 0) + 1)
  }), { numRuns: 40 })
  context.diagnostic(`placed ${placed}, refused ${JSON.stringify(Object.fromEntries(refused))}`)
})

test('each blocker says what helps', async () => {
  const offers = [
    { distid: 'AAA', stockid: 'G', upc: UPCS[0]!, name: 'Pistol', price: 40_000, qty: 2, productClass: 'FA' as const, fflReq: true },
    { distid: 'AAA', stockid: 'S', upc: UPCS[1]!, name: 'Scope', price: 900, qty: 2, dropShip: false }, { distid: 'AAA', stockid: 'O', upc: UPCS[2]!, name: 'Other', price: 900, qty: 2 },
  ]
  await using t = await orderShop([scripted({ distid: 'AAA', name: 'Alpha' })], { offers })
  const { items, plan, fulfillable } = await t.shop.orders.quote({ items: UPCS.map((upc) => ({ upc, qty: 1 })) })
  assert.deepEqual(items.map(({ best }) => best!.order_blockers), [
    [{ code: 'ffl_required', message: 'AAA G goes to a licensed dealer only: order it with ffl_req true and ffl.licenseNumber, or with ship_to_store.' }],
    [{ code: 'not_drop_shippable', message: 'AAA S: AAA does not ship "S" to customers; order it to the store, or from another distributor.' }], [],
  ])
  assert.deepEqual([fulfillable, plan.orderable, plan.orders[0]!.order_blockers.length], [true, false, 2])
  const gun = await t.place(t.body({ items: [{ distid: 'AAA', distsku: 'G', upc: UPCS[0], qty: 1, ffl_req: true }], ffl: { licenseNumber: DEALER } }))
  assert.equal(gun.status, 200)
  await t.configure({ distributors: { Alpha: { distid: 'AAA', product_restrictions: {} } } })
  const bare = await t.shop.orders.quote({ items: [{ upc: UPCS[2]!, qty: 1 }] })
  assert.deepEqual(bare.plan.orders[0]!.order_blockers, [{ code: 'fulfillment_not_configured', message: 'Alpha: its entry has no fulfillment section.' }])
  assert.equal(bare.fulfillable, true)
})
