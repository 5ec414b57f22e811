/**
 * Zanders' connector: what is posted for each kind of order, from what is known of the services,
 * and what it makes of every answer that the real ones may give.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type {
  OpenOrder,
  OrderUpdate,
  PurchaseOrder,
} from '../../../lib/distributors/fulfillment.js'
import { checkLogins, zandersOrders } from '../../../lib/distributors/builtin/zanders/orders.js'
import type { ValueMap } from '../../../lib/distributors/builtin/zanders/soap.js'
import { Logins } from '../../../lib/distributors/session/logins.js'
import { Unreachable } from '../../../lib/distributors/session/session.js'
import {
  broken,
  code,
  CUSTOMER,
  cut,
  FIREARM,
  map,
  NOW,
  orderOf,
  raw,
  SETTINGS,
  shipTo,
  withServer,
} from './server.js'
import type { Answer } from './server.js'

const connector = zandersOrders()
const STORE = { ...FIREARM, shipToStore: true, ffl: null }

/** How a send ends, and what was called for it. */
const sent = (order: PurchaseOrder, answers: Record<string, Answer> = {}) =>
  withServer(answers, async ({ session, called }) => ({
    ...(await connector.submit(session, order)),
    called: called(),
  }))

/** SOAP 1.2 rpc/encoded; the namespace of a service is its address on the host, without TLS. */
const envelope = (service: string, call: string) =>
  '<?xml version="1.0" encoding="UTF-8"?>\n' +
  '<env:Envelope xmlns:env="http://www.w3.org/2003/05/soap-envelope" ' +
  `xmlns:ns1="http://shop2.gzanders.com/webservice/${service}" ` +
  'xmlns:xsd="http://www.w3.org/2001/XMLSchema" ' +
  'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ' +
  'xmlns:ns2="http://xml.apache.org/xml-soap" ' +
  `xmlns:enc="http://www.w3.org/2003/05/soap-encoding"><env:Body>${call}</env:Body></env:Envelope>\n`
const text = (name: string, value: string) => `<${name} xsi:type="xsd:string">${value}</${name}>`
const item = (key: string, value: string) =>
  `<item><key xsi:type="xsd:string">${key}</key>${text('value', value)}</item>`
const ENCODED = 'env:encodingStyle="http://www.w3.org/2003/05/soap-encoding"'
const TESTING = '<testing xsi:type="xsd:boolean">false</testing>'

const createOrder = (login: string, head: string, sku: string, qty: string) =>
  envelope(
    'orders',
    `<ns1:createOrder ${ENCODED}>${login}<order xsi:type="ns2:Map">${head}` +
      '<item><key xsi:type="xsd:string">items</key>' +
      '<value enc:itemType="ns2:Map" enc:arraySize="1" xsi:type="enc:Array">' +
      `<item xsi:type="ns2:Map">${item('itemNumber', sku)}${item('quantity', qty)}` +
      '<item><key xsi:type="xsd:string">allowBackOrder</key>' +
      '<value xsi:type="xsd:boolean">false</value></item></item></value></item></order>' +
      `${TESTING}</ns1:createOrder>`,
  )
/** Name and telephone in 40 characters each: 80, of which a client that knows of 40 sees the name. */
const INSTRUCTIONS = `${'Pat Doe'.padEnd(40)}${'602-555-0100'.padEnd(40)}`

describe('what is posted', () => {
  const posted = (order: PurchaseOrder) =>
    withServer({}, async ({ session, calls }) => {
      assert.deepEqual(await connector.submit(session, order), {
        outcome: 'accepted',
        number: '1111111',
      })
      return calls.map(({ service, body }) => [service, body])
    })

  test('accessories to a customer: one call with the address, by the accessories account, UM', async () =>
    assert.deepEqual(await posted(orderOf()), [
      [
        'orders',
        createOrder(
          text('username', 'acc') + text('password', 'pass&amp;word'),
          item('shipDate', '2026-11-21') +
            item('shipViaCode', 'UM') +
            item('purchaseOrderNumber', 'W-1-ABCD-010') +
            item('shipToName', 'Pat Doe') +
            item('shipToAddress1', '12 Main St') +
            item('shipToAddress2', 'Apt 3 &amp; 4') +
            item('shipToCity', 'Phoenix') +
            item('shipToState', 'AZ') +
            item('shipToZip', '85001') +
            item('shipInstructions', INSTRUCTIONS),
          'AC100042',
          '2',
        ),
      ],
    ]))

  test('firearms to a dealer: its ship-to by the license, then its number, by the firearms account, UG', async () =>
    assert.deepEqual(await posted(FIREARM), [
      [
        'shiptoaddresses',
        envelope(
          'shiptoaddresses',
          `<ns1:useShipTo ${ENCODED}>${text('username', 'guns')}${text('password', 'guns-secret')}` +
            '<addressinfo xsi:type="ns2:Map">' +
            item('name', 'Desert Arms LLC') +
            item('address1', '99 Range Rd') +
            item('address2', '') +
            item('city', 'Mesa') +
            item('state', 'AZ') +
            item('zip', '85201') +
            // The first three and the last five of 9-86-013-01-8A-12345.
            item('fflno', '98612345') +
            item('fflexp', '2028-01-01') +
            `</addressinfo>${TESTING}</ns1:useShipTo>`,
        ),
      ],
      [
        'orders',
        createOrder(
          text('username', 'guns') + text('password', 'guns-secret'),
          item('shipDate', '2026-11-21') +
            item('shipViaCode', 'UG') +
            item('purchaseOrderNumber', 'W-1-ABCD-010') +
            item('shipToNo', '0003') +
            item('shipInstructions', INSTRUCTIONS),
          'GSPEC0595A',
          '1',
        ),
      ],
    ]))

  test('to the store: the ship-to 0001, by the main account, BW', async () =>
    assert.deepEqual(await posted(STORE), [
      [
        'orders',
        createOrder(
          text('username', 'main') + text('password', 'main-secret'),
          item('shipDate', '2026-11-21') +
            item('shipViaCode', 'BW') +
            item('purchaseOrderNumber', 'W-1-ABCD-010') +
            item('shipToNo', '0001'),
          'GSPEC0595A',
          '1',
        ),
      ],
    ]))

  test('instructions have 80 characters, however long name and telephone are', async () => {
    for (const [name, phone, expected] of [
      ['N'.repeat(40), '1'.repeat(40), 'N'.repeat(40) + '1'.repeat(40)],
      ['N'.repeat(41), null, 'N'.repeat(40) + ' '.repeat(40)],
    ] as const)
      await withServer({}, async ({ session, calls }) => {
        await connector.submit(session, orderOf({ customer: { ...CUSTOMER, name, phone } }))
        assert.ok(calls[0]!.body.includes(`<value xsi:type="xsd:string">${expected}</value>`))
      })
  })

  test('a shop without a main account orders to its store with the account of the items', async () => {
    const { store_user: _user, store_password: _password, ...settings } = SETTINGS
    await withServer(
      {},
      async ({ session, calls }) => {
        await connector.submit(session, STORE)
        assert.match(calls[0]!.body, />guns<.*>UG<.*>0001</)
      },
      { settings },
    )
  })

  test('a preview says the same, with what is not known yet in angle brackets', () => {
    const [first, second] = connector.preview!(FIREARM, SETTINGS)
    assert.equal(first!.what, 'POST https://shop2.gzanders.com/webservice/shiptoaddresses')
    assert.match(second!.body, /&lt;the day it is sent&gt;.*&lt;ShipToNo of that answer&gt;/)
  })

  test('what cannot be sent is refused before anything is', async () => {
    const faults: [order: PurchaseOrder, reason: RegExp][] = [
      [orderOf({ po: 'P'.repeat(23) }), /purchaseOrderNumber has 23 characters, 22 are the most/],
      [orderOf({ po: 'P\u00e9' }), /purchaseOrderNumber holds "é"/],
      [orderOf({ po: ' ' }), /missing/],
      [{ ...FIREARM, ffl: null }, /license \(fflno\)/],
      [{ ...FIREARM, lines: [...FIREARM.lines, ...orderOf().lines] }, /different accounts/],
      [orderOf({ shipTo: { ...CUSTOMER, zip: '8500' } }), /shipToZip "8500"/],
    ]
    for (const [order, reason] of faults) {
      const { outcome, called, ...rest } = await sent(order)
      assert.deepEqual([outcome, called], ['rejected', []])
      assert.match('reason' in rest ? rest.reason : '', reason)
    }
    assert.equal((await sent(orderOf({ po: 'P'.repeat(22) }))).outcome, 'accepted')
  })

  test('what is drop-shipped to California is left to a person, and what goes to a store there is not', async () => {
    const inCa = { ...CUSTOMER, state: 'ca', zip: '90001' }
    for (const order of [orderOf({ shipTo: inCa }), { ...FIREARM, shipTo: inCa }]) {
      const { outcome, called } = await sent(order)
      assert.deepEqual([outcome, called], ['review', []])
    }
    assert.equal((await sent({ ...STORE, shipTo: inCa })).outcome, 'accepted')
  })
})

describe('what is made of createOrder', () => {
  const outcome = async (answer: Answer) => {
    const { called, ...submission } = await sent(orderOf(), { createOrder: answer })
    assert.deepEqual(called, ['createOrder'])
    return submission
  }

  for (const [returnCode, reason, expected] of [
    [1, 'Invalid username or password.', 'not_sent'],
    [2, 'There was a problem', 'rejected'],
    [2, undefined, 'unknown'],
    [5, undefined, 'rejected'],
    [9, undefined, 'rejected'],
    [10, undefined, 'not_sent'],
    [11, undefined, 'rejected'],
    [31, undefined, 'rejected'],
    [21, undefined, 'unknown'],
    [41, undefined, 'unknown'],
    [77, 'Something new', 'unknown'],
  ] as const)
    test(`code ${returnCode}${reason === undefined ? '' : `, ${reason}`}: ${expected}`, async () =>
      assert.equal((await outcome(code(returnCode, reason))).outcome, expected))

  test('a refusal says why, and what is short', async () =>
    assert.deepEqual(
      await outcome(
        code(9, 'Order not created', {
          removedItems: [{ itemNumber: 'AC100042', quantityRequested: '2', quantityAvailable: 1 }],
        }),
      ),
      {
        outcome: 'rejected',
        reason:
          'return code 9: nothing of it is available; of AC100042 1 of 2 are available; ' +
          'Order not created',
      },
    ))

  test('a number beside a refusal, or none beside success, is not known', async () => {
    for (const answer of [
      code(2, 'a problem', { orderNumber: 1_111_111 }),
      code(1, 'a problem', { orderNumber: 1_111_111 }),
      code(0),
      code(0, undefined, { orderNumber: 0 }),
      code(0, undefined, { orderNumber: 'pending' }),
    ])
      assert.equal((await outcome(answer)).outcome, 'unknown')
  })

  const removed = (...items: [sku: string, available: number][]) =>
    map({
      returnCode: 0,
      orderNumber: 1_111_111,
      removedItems: items.map(([itemNumber, quantityAvailable]) => ({
        itemNumber,
        quantityRequested: '2',
        quantityAvailable,
      })),
    })
  const TWO = orderOf({ lines: [orderOf().lines[0]!, { ...orderOf().lines[0]!, distsku: 'B2' }] })

  test('removed items under code 0: a part of it is ordered, or nothing', async () => {
    for (const [answer, status] of [
      [removed(['B2', 0]), 'Partially Fulfilled'],
      [removed(['AC100042', 1], ['B2', 0]), 'Partially Fulfilled'],
      [removed(['ac100042', 0], ['B2', 0]), 'Not Fulfilled'],
    ] as const) {
      const submission = await sent(TWO, { createOrder: answer })
      assert.ok(submission.outcome === 'accepted')
      assert.deepEqual([submission.number, submission.told?.status], ['1111111', status])
      assert.match(submission.told!.reason, /of B2 0 of 2 are available/)
    }
  })

  test('a lost or unreadable answer is not known, and nothing is sent a second time', async () => {
    const body = '<?xml version="1.0"?>\n<Envelope><Body>'
    for (const answer of [
      broken,
      cut,
      raw('', 200),
      raw(body),
      raw('{}', 200),
      raw('<html></html>', 200, 'text/html'),
      raw('oops', 500, 'text/plain'),
      raw('busy', 503, 'text/plain'),
      raw('no', 403, 'text/plain'),
      raw(
        `${body}<Fault><Reason><Text>SQL: deadlock</Text></Reason></Fault></Body></Envelope>`,
        500,
      ),
      // Another operation's, two returns, a key that stands twice, a code that is none.
      raw(`${body}<loginCheckResponse><return/></loginCheckResponse></Body></Envelope>`),
      raw(`${body}<createOrderResponse><return/><return/></createOrderResponse></Body></Envelope>`),
      raw(
        `${body}<createOrderResponse><return>${item('returnCode', '0').repeat(2)}` +
          '</return></createOrderResponse></Body></Envelope>',
      ),
      code(NaN),
    ]) {
      const submission = await outcome(answer)
      assert.equal(submission.outcome, 'unknown', JSON.stringify(submission))
    }
  })

  test('too many calls: nothing was looked at', async () =>
    assert.equal((await outcome(raw('slow down', 429, 'text/plain'))).outcome, 'not_sent'))
})

describe('what is made of useShipTo', () => {
  const to = (answer: Answer, order = FIREARM) => sent(order, { useShipTo: answer })

  test('code 15 is success too, with its number in the results of a search', async () => {
    for (const answer of [
      map({ returnCode: 15, reason: 'exists', searchResults: shipTo() }),
      map({ returnCode: 15, searchResults: { ShipToNo: '0003' } }),
      map({ returnCode: 0, searchResults: [shipTo({ ShipToZipCode: '10001' }), shipTo()] }),
    ])
      assert.equal((await to(answer)).outcome, 'accepted')
  })

  test('whatever is lost of it, nothing is ordered, and it may be tried again', async () => {
    for (const answer of [
      broken,
      cut,
      raw('', 200),
      raw('oops', 500, 'text/plain'),
      raw('<html></html>', 200, 'text/html'),
      map({ returnCode: 0 }),
      code(2),
      code(1, 'Invalid username or password.'),
    ]) {
      const { outcome, called } = await to(answer)
      assert.deepEqual([outcome, called], ['not_sent', ['useShipTo']])
    }
    await withServer(
      {
        useShipTo: (call, response, n) =>
          (n === 1 ? broken : map({ returnCode: 0, shipToAddress: shipTo() }))(call, response, n),
      },
      async ({ session, called }) => {
        assert.equal((await connector.submit(session, FIREARM)).outcome, 'not_sent')
        assert.equal((await connector.submit(session, FIREARM)).outcome, 'accepted')
        assert.deepEqual(called(), ['useShipTo', 'useShipTo', 'createOrder'])
      },
    )
  })

  test('a ship-to that is not this dealer, or is at another place, is never ordered to', async () => {
    const others: ValueMap[] = [
      { ShipToFFLNo: '98654321' },
      { ShipToZipCode: '85202' },
      { ShipToState: 'NM' },
      { ShipToAddress1: '100 Range Rd' },
    ]
    for (const more of others) {
      const { outcome, called, ...rest } = await to(
        map({ returnCode: 0, shipToAddress: shipTo(more) }),
      )
      assert.deepEqual([outcome, called], ['rejected', ['useShipTo']])
      assert.match('reason' in rest ? rest.reason : '', /another address .* nothing was sent/)
    }
    const two = [shipTo(), shipTo({ ShipToNo: '0004' })]
    const several = await to(map({ returnCode: 15, searchResults: two }))
    assert.deepEqual([several.outcome, several.called], ['rejected', ['useShipTo']])
  })

  test('a refusal with a reason is one', async () => {
    const { outcome, called } = await to(code(2, 'The FFL has been revoked'))
    assert.deepEqual([outcome, called], ['rejected', ['useShipTo']])
  })

  test('without a license that is valid there, the order is on hold for it', async () => {
    for (const [more, held] of [
      [{}, false],
      [{ ShipToFFLExpDate: '2026-11-21T00:00:00' }, false],
      [{ ShipToFFLExpDate: '2026-11-20T00:00:00' }, true],
      [{ ShipToFFLNo: '', ShipToFFLExpDate: '1969-12-31T00:00:00' }, true],
    ] as const) {
      const submission = await to(map({ returnCode: 0, shipToAddress: shipTo(more) }))
      assert.ok(submission.outcome === 'accepted')
      assert.equal(submission.told?.status, held ? 'FFL Hold' : undefined, JSON.stringify(more))
    }
  })
})

describe('logins', () => {
  const check = (answers: Record<string, Answer>, logins?: Logins) =>
    withServer(answers, async ({ session, calls }) => [await checkLogins(session), calls.length], {
      ...(logins && { logins }),
    })

  test('each is asked; a refusal is one, and everything else says why it cannot tell', async () => {
    assert.deepEqual(await check({}), ['valid', 3])
    const oneWrong: Answer = (call, response, n) =>
      code(call.body.includes('main-secret') ? 1 : 0)(call, response, n)
    assert.deepEqual(await check({ loginCheck: oneWrong }), ['invalid', 3])
    for (const answer of [
      broken,
      code(2, 'secret words'),
      raw('no', 403),
      raw('{}'),
      raw('x', 503),
    ])
      await assert.rejects(check({ loginCheck: answer }), (error) => {
        assert.ok(error instanceof Unreachable)
        return !error.message.includes('secret words')
      })
  })

  test('after two refusals nobody tries, and nothing is sent', async () => {
    const logins = new Logins(() => 0)
    const refused = { createOrder: code(1) }
    for (let i = 0; i < 3; i++)
      await withServer(
        refused,
        async ({ session, called }) => {
          assert.equal((await connector.submit(session, orderOf())).outcome, 'not_sent')
          assert.equal(called().length, i < 2 ? 1 : 0)
        },
        { logins },
      )
  })
})

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
