/** Flags of a distributor's feed in a placement: they hold where the parcel goes. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setEnforcement } from '../../../lib/orders/place/enforcement.js'
import { SET_STATES } from '../../../lib/places/state-set.js'
import { CUSTOMER, DEALER, GUN_UPC, UPC, offersOf, orderShop } from '../shop.js'
import type { OrderShop } from '../shop.js'
import { scripted } from '../scripted-distributor.js'

/** A shop of one distributor that does not ship its two items to these states. */
const shopWith = (states: readonly string[], more: object = {}) =>
  orderShop([scripted()], {
    offers: offersOf('TST').map((offer) => ({ ...offer, restrictedStates: states })),
    ...more,
  })

/** Las Vegas; the dealer and the store are in Phoenix. */
const NEVADAN = { ...CUSTOMER, city: 'Las Vegas', state: 'NV', zip: '89101' }
const toDealer = (customer: object) => ({
  customer,
  items: [{ distid: 'TST', distsku: 'G1', upc: GUN_UPC, qty: 1, ffl_req: true }],
  ffl: { licenseNumber: DEALER },
})

/** The state of the flag that refuses it, or the status. */
async function outcome(t: OrderShop, more: object): Promise<number | string> {
  const { status, body } = await t.place(t.body(more as Record<string, unknown>))
  if (status !== 409) return status
  assert.equal(body.error.code, 'restricted_destination')
  return body.error.details.items
    .flatMap(({ blocking_rules: rules }: { blocking_rules: { rule_id: string }[] }) =>
      rules.map(({ rule_id: id }) => id),
    )
    .join(', ')
}

describe('a flag of the feed in an order', () => {
  test("to the customer is that of the customer's state", async () => {
    await using t = await shopWith(['NV'])
    assert.equal(await outcome(t, { customer: NEVADAN }), 'feed:TST:NV')
    assert.equal(await outcome(t, {}), 200)
    assert.equal((await t.purchaseOrders()).length, 1, 'nothing is written of a refused one')
  })

  test("to a dealer is that of the dealer's state", async () => {
    await using home = await shopWith(['NV'])
    assert.equal(await outcome(home, toDealer(NEVADAN)), 200)
    await using dealers = await shopWith(['AZ'])
    assert.equal(await outcome(dealers, toDealer(NEVADAN)), 'feed:TST:AZ')
  })

  test("to the store is that of the store's state", async () => {
    const toStore = { customer: NEVADAN, ship_to_store: true }
    await using home = await shopWith(['NV'])
    assert.equal(await outcome(home, toStore), 200)
    await using store = await shopWith(['AZ'])
    assert.equal(await outcome(store, toStore), 'feed:TST:AZ')
  })

  test('of another distributor of the item does not count', async () => {
    const tst = scripted()
    const oth = scripted({ distid: 'OTH', name: 'Other Wholesale' })
    await using t = await orderShop([tst, oth], {
      offers: [
        ...offersOf('TST').map((offer) => ({ ...offer, restrictedStates: ['NV'] })),
        ...offersOf('OTH'),
      ],
    })
    const from = (distid: string) => ({
      customer: NEVADAN,
      items: [{ distid, distsku: 'A1', upc: UPC, qty: 1 }],
    })
    assert.equal(await outcome(t, from('OTH')), 200)
    assert.equal(await outcome(t, from('TST')), 'feed:TST:NV')
  })

  test('is in a preflight, and lifted by an override or without enforcement', async () => {
    await using t = await shopWith(['NV'])
    const { refusal } = await t.app.operator.orders.preflight(
      t.subscriber,
      t.body({ customer: NEVADAN }),
    )
    assert.equal(refusal?.code, 'restricted_destination')
    await setEnforcement(t.app.ctx, { on: false, reason: 'checked by hand' })
    assert.equal(await outcome(t, { customer: NEVADAN }), 200)
    await setEnforcement(t.app.ctx, { on: true, reason: null })
    await t.app.operator.rules.override(t.subscriber, {
      effect: 'allow',
      rule_ids: ['feed:TST:NV'],
      author: 'J. Doe',
      reason: 'agreed',
    })
    assert.equal(await outcome(t, { customer: NEVADAN }), 200)
  })
})

describe('a flag of the feed in a quote', () => {
  const blockers = async (t: OrderShop) => {
    const { plan } = await t.shop.orders.quote({ items: [{ upc: UPC, qty: 1 }] })
    return plan.orders[0]!.order_blockers
  }

  test('blocks what goes to no state at all', async () => {
    await using t = await shopWith(SET_STATES)
    assert.deepEqual(await blockers(t), [
      {
        code: 'restricted',
        message:
          'TST A1 may not be shipped anywhere by the rule feed:TST: ' +
          'This item cannot be shipped to any state.',
      },
    ])
    await t.app.operator.rules.override(t.subscriber, {
      effect: 'allow',
      rule_ids: ['feed:TST:TX'],
      author: 'J. Doe',
      reason: 'agreed',
    })
    assert.deepEqual(await blockers(t), [], 'to Texas it goes')
  })

  test('says nothing where one state is left', async () => {
    await using t = await shopWith(SET_STATES.slice(1))
    assert.deepEqual(await blockers(t), [])
  })
})
