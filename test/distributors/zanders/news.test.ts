/** What Zanders' connector hears of orders that were placed, and by what it asks for each. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { OpenOrder, OrderUpdate } from '../../../lib/distributors/fulfillment.js'
import { zandersOrders } from '../../../lib/distributors/builtin/zanders/orders.js'
import { broken, code, FIREARM, map, NOW, orderOf, withServer } from './server.js'
import type { Answer } from './server.js'

const connector = zandersOrders()
const STORE = { ...FIREARM, shipToStore: true, ffl: null }

describe('what is heard of an order', () => {
  const OPEN: OpenOrder = {
    number: '1111111',
    po: 'W-1-ABCD-010',
    clientRef: 'REF00000000000000001',
    serial: 1,
    takenAt: NOW,
    lane: 'firearms',
    shipToStore: false,
    placedAt: NOW - 3_600_000,
  }
  async function news(answers: Record<string, Answer>, ...open: OpenOrder[]) {
    return withServer(answers, async ({ session, calls }) => {
      const told: OrderUpdate[] = []
      for await (const update of connector.updates!(session, 0, open)) told.push(update)
      return { told, calls }
    })
  }
  const parcel = (trackingNumber: string, more = {}) => ({
    shipCompany: 'UPS',
    shipVia: 'Ground',
    trackingNumber,
    url: '',
    weight: '3.00',
    ...more,
  })
  const shipped = (numberOfShipments: number, ...trackingNumbers: ReturnType<typeof parcel>[]) =>
    map({ returnCode: 0, numberOfShipments, trackingNumbers })

  test('its parcels, asked for by its number with the account that placed it', async () => {
    const { told, calls } = await news(
      {
        getTrackingInfo: shipped(
          2,
          parcel('1Z999AA10123456784'),
          parcel('1Z999AA10123456795', { url: 'https://track.example/2' }),
        ),
      },
      OPEN,
    )
    assert.deepEqual(
      calls.map(({ operation, body }) => [operation, />guns</.test(body), />1111111</.test(body)]),
      [
        ['getOrderInfo', true, true],
        ['getTrackingInfo', true, true],
      ],
    )
    const common = {
      company: 'UPS',
      method: 'Ground',
      shippedOn: '2026-11-21',
      status: 'in_transit',
    }
    assert.deepEqual(told, [
      {
        number: '1111111',
        po: 'W-1-ABCD-010',
        at: Date.UTC(2026, 10, 21, 19, 1),
        status: 'Fulfilled',
        parcels: [
          {
            trackingNumber: '1Z999AA10123456784',
            url: 'https://www.ups.com/track?tracknum=1Z999AA10123456784',
            ...common,
          },
          { trackingNumber: '1Z999AA10123456795', url: 'https://track.example/2', ...common },
        ],
      },
    ])
  })

  test('nothing before it is shipped, and no status where parcels are missing or items were', async () => {
    assert.deepEqual((await news({}, OPEN)).told, [])
    assert.deepEqual(
      (await news({ getTrackingInfo: shipped(1, parcel('PENDING')) }, OPEN)).told,
      [],
    )
    const one = { getTrackingInfo: shipped(1, parcel('1Z999AA10123456784')) }
    const two = { getTrackingInfo: shipped(2, parcel('1Z999AA10123456784')) }
    const statusOf = async (...asked: Parameters<typeof news>) =>
      (await news(...asked)).told.map(({ status }) => status)
    assert.deepEqual(await statusOf(one, OPEN), ['Fulfilled'])
    assert.deepEqual(await statusOf(two, OPEN), [undefined])
    assert.deepEqual(await statusOf(one, { ...OPEN, status: 'FFL Hold' }), ['Fulfilled'])
    assert.deepEqual(await statusOf(one, { ...OPEN, status: 'Partially Fulfilled' }), [undefined])
  })

  test('of an order with another PO, or of another account, nothing is told', async () => {
    const one = { getTrackingInfo: shipped(1, parcel('1Z999AA10123456784')) }
    const po = (purchaseOrderNumber: string) => map({ returnCode: 0, purchaseOrderNumber })
    await assert.rejects(news({ ...one, getOrderInfo: po('W-2') }, OPEN), /another PO/)
    await assert.rejects(news({ ...one, getOrderInfo: po('') }, OPEN), /another PO/)
    await assert.rejects(news({ ...one, getOrderInfo: code(21) }, OPEN), /return code 21/)
    assert.equal((await news({ ...one, getOrderInfo: po('w-1-abcd') }, OPEN)).told.length, 1)
    // One that cannot be asked for keeps no other from being told of.
    const other = { ...OPEN, number: '2222222', lane: 'accessories' }
    const some: Answer = (call, response, n) =>
      (call.body.includes('>2222222<') ? broken : po('W-1-ABCD-010'))(call, response, n)
    const { told } = await news({ ...one, getOrderInfo: some }, other, OPEN)
    assert.deepEqual(
      told.map(({ number }) => number),
      ['1111111'],
    )
  })

  test('to the store it is the main account that is asked', async () => {
    const { calls } = await news({}, { ...OPEN, shipToStore: true })
    assert.ok(calls.every(({ body }) => body.includes('>main<')))
  })

  test('an order without a number cannot be asked for: only whether the account is good', async () => {
    const { told, calls } = await news({}, { ...OPEN, number: null })
    assert.deepEqual([told, calls.map(({ operation }) => operation)], [[], ['loginCheck']])
  })

  test('a copy of the license is asked for with every order to a dealer', () => {
    const settings = { ffl_recipient_emails: ['ffl@shop.example'] }
    assert.deepEqual(connector.paperwork!(FIREARM, settings)?.recipients, ['ffl@shop.example'])
    assert.equal(connector.paperwork!(orderOf(), settings), null)
    assert.equal(connector.paperwork!(STORE, settings), null)
  })
})
