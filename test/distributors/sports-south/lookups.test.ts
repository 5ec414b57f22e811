/** What Sports South shows of an order: what a search makes of it, and what is news. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sportsSouthOrders } from '../../../lib/distributors/builtin/sports-south/orders.js'
import { MINUTE } from '../../../lib/core/clock.js'
import type { OpenOrder, OrderUpdate } from '../../../lib/distributors/fulfillment.js'
import * as at from './server.js'
import { orderOf, withServer } from './server.js'
import type { Answer } from './server.js'

const { find, updates } = sportsSouthOrders()

describe('a search', () => {
  const found = (answers: Record<string, Answer>, stage: string | null = '1200099') =>
    withServer(answers, ({ session }) => find!(session, orderOf()), { stage })

  for (const [status, submitted] of [
    // STATUS (D placed, E error, R placed-verifying, W open)
    ['W', false],
    ['D', true],
    ['R', true],
    ['E', false],
  ] as const)
    test(`tells that ${status} is ${submitted ? '' : 'not '}placed`, async () =>
      assert.deepEqual(await found({ GetHeader: at.header(status) }), {
        outcome: 'answered',
        orders: [
          {
            number: '1200099',
            po: 'W-1-ABCD-010',
            clientRef: 'REF00000000000000001',
            lines: [{ distsku: '50001', qty: 2 }],
            submitted,
          },
        ],
      }))

  test('asks by the number and by our reference, or by the reference alone', async () => {
    for (const [stage, OrderNumber] of [
      ['1200099', '1200099'],
      [null, '0'],
    ] as const)
      await withServer(
        {},
        async ({ session, calls }) => {
          await find!(session, orderOf())
          assert.deepEqual(
            [calls[0]!.fields['CustomerOrderNumber'], calls[0]!.fields['OrderNumber']],
            ['REF00000000000000001', OrderNumber],
          )
        },
        { stage },
      )
  })

  test('takes a reference in capitals, or cut off, for ours, and another for none', async () => {
    const numbers = async (ORCONO: string) => {
      const search = await found({ GetHeader: at.header('D', { ORCONO }) }, null)
      return search.outcome === 'answered' ? search.orders.length : search.outcome
    }
    assert.deepEqual(
      [
        await numbers('ref00000000000000001'),
        await numbers('REF000000000000'),
        await numbers('REF'),
        await numbers('REF00000000000000002'),
        await numbers(''),
      ],
      [1, 1, 0, 0, 0],
    )
  })

  test('of what was never begun shows none', async () =>
    assert.deepEqual(await found({ GetHeader: at.rows() }, null), {
      outcome: 'answered',
      orders: [],
    }))

  for (const [what, answers] of [
    ['a number that is not shown any more', { GetHeader: at.rows() }],
    ['another number alone', { GetHeader: at.header('W', { ORDNO: '1200100' }) }],
    ['our number with another reference', { GetHeader: at.header('D', { ORCONO: 'ANOTHER' }) }],
    ['a status that nobody knows', { GetHeader: at.header('X') }],
    ['no status', { GetHeader: at.header('') }],
    ['nothing', { GetHeader: at.text('') }],
    ['an error', { GetHeader: at.rows({ ERROR: 'Try later' }) }],
    ['a refused login', { GetHeader: at.text('NOT AUTHENTICATED') }],
    ['a text that is cut off', { GetHeader: at.text('&lt;NewDataSet&gt;&lt;Table&gt;&lt;ORD') }],
    ['lines that cannot be read', { GetDetail: at.rows(at.detail('50001', '')) }],
    ['no answer for the lines', { GetDetail: at.raw('', 503) }],
    ['something else than rows', { GetHeader: at.text('&lt;Other /&gt;') }],
    ['too many', { GetHeader: at.rows(...Array.from({ length: 21 }, () => ({ ORDNO: '1' }))) }],
  ] as [string, Record<string, Answer>][])
    test(`of ${what} is no answer`, async () =>
      assert.equal((await found(answers)).outcome, 'unreachable'))
})

const PLACED = Date.UTC(2026, 10, 20, 12)
const OPEN: OpenOrder = {
  number: '1200099',
  po: 'W-1-ABCD-010',
  clientRef: 'REF00000000000000001',
  lane: 'all',
  shipToStore: false,
  serial: 1,
  takenAt: PLACED,
  placedAt: PLACED,
}
/** INVNO, CUSNO, PONBR, SHPDTE, TRACKNO, PKGWT, CODAMT, HAZMAT, SHPAMT, SERVICE */
const SHIPMENT = {
  INVNO: '900',
  CUSNO: '4712',
  PONBR: 'W-1-ABCD-010',
  SHPDTE: '2026-11-21T00:00:00-06:00',
  TRACKNO: '1Z999AA10123456784',
  PKGWT: '2.00',
  CODAMT: '0',
  HAZMAT: 'N',
  SHPAMT: '9.95',
  SERVICE: 'UPS Ground',
}
const AT = Date.UTC(2026, 10, 21, 18)
const SHIPPED = { GetDetail: at.rows(at.detail('50001', '2', '2')) }

async function newsOf(
  answers: Record<string, Answer>,
  open: readonly OpenOrder[] = [OPEN],
): Promise<OrderUpdate[]> {
  return withServer(answers, async ({ session }) => {
    const told: OrderUpdate[] = []
    for await (const update of updates!(session, 0, open)) told.push(update)
    return told
  })
}

describe('news', () => {
  test('are what was shipped, by number, and its parcels, by PO', async () =>
    assert.deepEqual(await newsOf({ ...SHIPPED, GetTrackingByPo: at.rows(SHIPMENT, SHIPMENT) }), [
      { number: '1200099', po: 'W-1-ABCD-010', at: AT, status: 'Fulfilled' },
      {
        number: null,
        po: 'W-1-ABCD-010',
        at: AT,
        parcels: [1, 2].map(() => ({
          trackingNumber: '1Z999AA10123456784',
          company: 'UPS',
          method: 'Ground',
          shippedOn: '2026-11-21',
          url: 'https://www.ups.com/track?tracknum=1Z999AA10123456784',
          status: 'in_transit',
        })),
      },
    ]))

  test('a part of the units is a part of the order', async () => {
    for (const [shipped, status] of [
      [['2', '0'], 'Partially Fulfilled'],
      [['1', '1'], 'Partially Fulfilled'],
      [['2', '1'], 'Fulfilled'],
      [['9', '0'], 'Partially Fulfilled'],
    ] as const)
      assert.equal(
        (
          await newsOf({
            GetDetail: at.rows(
              at.detail('50001', '2', shipped[0]),
              at.detail('50002', '1', shipped[1]),
            ),
          })
        )[0]!.status,
        status,
      )
  })

  test('of what is not shipped there are none, but for an error', async () => {
    for (const status of ['W', 'R', 'D'])
      assert.deepEqual(await newsOf({ GetHeader: at.header(status) }), [])
    assert.deepEqual(await newsOf({ GetHeader: at.header('E') }), [
      { number: '1200099', po: 'W-1-ABCD-010', at: PLACED, status: 'Not Fulfilled' },
    ])
    assert.deepEqual(await newsOf({ GetHeader: at.rows(), GetDetail: at.rows() }), [])
  })

  test('two invoices of one PO are nobody can tell whose', async () =>
    assert.deepEqual(
      (
        await newsOf({
          ...SHIPPED,
          GetTrackingByPo: at.rows(SHIPMENT, { ...SHIPMENT, INVNO: '901' }),
        })
      ).map(({ number }) => number),
      ['1200099'],
    ))

  test('parcels are asked for last: ours that leaves meanwhile stands beside the other of its PO', async () => {
    let left = false
    const other = { ...SHIPMENT, INVNO: '901', TRACKNO: '1Z999AA10123456799' }
    const told = await newsOf({
      GetDetail: (...call) => {
        left = true
        at.rows(at.detail('50001', '2', '2'))(...call)
      },
      GetTrackingByPo: (...call) => (left ? at.rows(other, SHIPMENT) : at.rows(other))(...call),
    })
    assert.deepEqual(
      told.map(({ number }) => number),
      ['1200099'],
    )
  })

  test('who shipped under the PO before it was ours may do so again: no parcel is told', async () => {
    // The night in UTC is still the day before in Central time.
    const placedAt = Date.UTC(2026, 10, 21, 5)
    for (const [SHPDTE, count] of [
      ['11/19/2026 12:00:00 AM', 1],
      ['11/20/2026 12:00:00 AM', 2],
    ] as const)
      assert.equal(
        (
          await newsOf({ ...SHIPPED, GetTrackingByPo: at.rows({ ...SHIPMENT, SHPDTE }) }, [
            { ...OPEN, placedAt },
          ])
        ).length,
        count,
      )
  })

  test('a parcel without a number, and one of another PO, are none', async () => {
    for (const more of [
      { TRACKNO: '' },
      { TRACKNO: 'PENDING' },
      { TRACKNO: 'PROCESSING-NOW' },
      { PONBR: 'W-2' },
      { PONBR: '' },
    ])
      assert.equal(
        (await newsOf({ ...SHIPPED, GetTrackingByPo: at.rows({ ...SHIPMENT, ...more }) })).length,
        1,
      )
  })

  for (const [SERVICE, TRACKNO, company, method] of [
    ['FedEx Home Delivery', '794600000001', 'FedEx', 'Home Delivery'],
    ['2ND DAY AIR', '1Z999AA10123456784', 'UPS', '2ND DAY AIR'],
    ['GROUND', '794600000001', null, 'GROUND'],
    ['', '794600000001', null, null],
    ['USPS', '9400110200881234567890', 'USPS', null],
  ] as const)
    test(`"${SERVICE}" is ${company} and ${method}`, async () => {
      const [, news] = await newsOf({
        ...SHIPPED,
        GetTrackingByPo: at.rows({ ...SHIPMENT, SERVICE, TRACKNO }),
      })
      const [parcel] = news!.parcels!
      assert.deepEqual([parcel!.company, parcel!.method], [company, method])
    })

  for (const [SHPDTE, day] of [
    ['11/21/2026 12:00:00 AM', '2026-11-21'],
    ['20261121', '2026-11-21'],
    ['2026-02-30', null],
    ['1261121', null],
    ['', null],
  ] as const)
    test(`the day "${SHPDTE}" is ${day}`, async () => {
      const [status, news] = await newsOf({
        ...SHIPPED,
        GetTrackingByPo: at.rows({ ...SHIPMENT, SHPDTE }),
      })
      assert.equal(news!.parcels![0]!.shippedOn, day)
      assert.equal(status!.at, day === null ? PLACED + MINUTE : AT)
    })

  test('an order without a number is asked for by our reference', async () => {
    const [news] = await newsOf(SHIPPED, [{ ...OPEN, number: null }])
    assert.equal(news!.number, '1200099')
    assert.deepEqual(
      await newsOf({ ...SHIPPED, GetHeader: at.header('W') }, [{ ...OPEN, number: null }]),
      [],
    )
  })

  test('one order that cannot be asked for keeps no other from being told of', async () => {
    const told: OrderUpdate[] = []
    await withServer(
      {
        GetDetail: (call, response, n) =>
          (call.fields['OrderNumber'] === '1200099'
            ? at.rows(at.detail('50001', '2', '2'))
            : at.broken)(call, response, n),
      },
      async ({ session }) => {
        for await (const update of updates!(session, 0, [{ ...OPEN, number: '7' }, OPEN]))
          told.push(update)
        // Where none of them can be asked for, nobody was asked.
        await assert.rejects(async () => {
          for await (const _ of updates!(session, 0, [{ ...OPEN, number: '7' }])) assert.fail()
        }, /broken off/)
      },
    )
    assert.deepEqual(
      told.map(({ number }) => number),
      ['1200099'],
    )
  })

  test('where nothing is answered, not every order is asked for', async () =>
    withServer({ GetDetail: at.raw('', 503) }, async ({ session, called }) => {
      await assert.rejects(async () => {
        for await (const _ of updates!(
          session,
          0,
          Array.from({ length: 40 }, () => OPEN),
        ))
          assert.fail()
      }, /HTTP 503/)
      assert.equal(called().length, 8)
    }))

  test('without an order to ask for, the login is asked whether it is good', async () => {
    assert.deepEqual(await newsOf({}, []), [])
    await assert.rejects(newsOf({ GetEmailPrefs: at.text('NOT AUTHENTICATED') }, []), /login/)
  })
})
