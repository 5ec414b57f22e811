/**
 * RSR's connector by its API: what is posted for each kind of order, from what is known of
 * DirectConnect, and what it makes of every answer that the real one may give.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { HOUR } from '../../../lib/core/clock.js'
import { checkLogins } from '../../../lib/distributors/builtin/rsr/check.js'
import { rsrOrders } from '../../../lib/distributors/builtin/rsr/orders.js'
import { payloadOf } from '../../../lib/distributors/builtin/rsr/payload.js'
import type { OpenOrder, OrderSession, OrderUpdate } from '../../../lib/distributors/fulfillment.js'
import { Logins, loginsOf } from '../../../lib/distributors/session/logins.js'
import { openSession } from '../../../lib/distributors/session/open-session.js'
import { Unreachable } from '../../../lib/distributors/session/session.js'
import { openOrderOf } from '../connector-conformance.js'
import { ACCESSORY, AT, BOTH, CONSUMER, FIREARM, SETTINGS, withoutStages } from './orders.js'

const bodyOf = (order = ACCESSORY, settings: Record<string, unknown> = {}) => {
  const payload = payloadOf(order, settings)
  assert.ok('body' in payload, JSON.stringify(payload))
  return payload.body
}
const faultOf = (order = ACCESSORY) => {
  const payload = payloadOf(order, {})
  return 'fault' in payload ? payload.fault : null
}

describe('what is posted', () => {
  // place-order: PONum <= 22, StoreName <= 25, ContactNum <= 20, ShipAddress/2 <= 35, ShipCity
  // <= 25, ShipState, ShipZip 5 or 9-dash, ShipFFL, ShipToStore Y/N, Items[{PartNum, WishQTY, UPCcode}]
  test('accessories to a consumer', () =>
    assert.deepEqual(bodyOf(), {
      PONum: 'W-1-ABCD-010',
      StoreName: 'Pat Doe',
      ContactNum: '602-555-0100',
      ShipAddress: '12 Main St',
      ShipAddress2: 'Apt 4',
      ShipCity: 'Phoenix',
      ShipState: 'AZ',
      ShipZip: '85001-1234',
      ShipToStore: 'N',
      Items: [
        { PartNum: 'MAG571', WishQTY: 2, UPCcode: '012345678905' },
        { PartNum: 'HOL-9', WishQTY: 12 },
      ],
    }))

  // ShipFFL 15 characters without dashes; 82 consumer phone required
  test('a firearm to a dealer: its address and license, the name and phone of the consumer', () =>
    assert.deepEqual(bodyOf(FIREARM), {
      PONum: 'W-1-ABCD-010',
      StoreName: 'Pat Doe',
      ContactNum: '602-555-0100',
      ShipAddress: '1 Pine St',
      ShipAddress2: '',
      ShipCity: 'Macon',
      ShipState: 'GA',
      ShipZip: '31201',
      ShipFFL: '158021018E00001',
      ShipToStore: 'N',
      Items: [{ PartNum: 'GLO1', WishQTY: 1, UPCcode: '012345678905' }],
    }))

  test('anything to the store: no address', () =>
    assert.deepEqual(bodyOf({ ...FIREARM, shipToStore: true, ffl: null }), {
      PONum: 'W-1-ABCD-010',
      ShipToStore: 'Y',
      Items: [{ PartNum: 'GLO1', WishQTY: 1, UPCcode: '012345678905' }],
    }))

  test('the quantity by the name that the settings say, and where notices go', () => {
    const body = bodyOf(ACCESSORY, { quantity_field: 'WishQty', order_email: 'po@shop.example' })
    assert.equal(body['Email'], 'po@shop.example')
    assert.deepEqual((body['Items'] as object[])[1], { PartNum: 'HOL-9', WishQty: 12 })
  })

  const at = (address1: string, address2: string | null, more: object = {}) => ({
    ...ACCESSORY,
    shipTo: { ...CONSUMER, address1, address2, ...more },
  })

  test('an address in two lines of 35 characters, broken between words, or no order', () => {
    const lines = (address1: string, address2: string | null) => {
      const { ShipAddress, ShipAddress2 } = bodyOf(at(address1, address2))
      return [ShipAddress, ShipAddress2]
    }
    assert.deepEqual(lines('x'.repeat(35), 'y'.repeat(35)), ['x'.repeat(35), 'y'.repeat(35)])
    assert.deepEqual(lines('1200 North Martin Luther King Junior Boulevard', 'Unit 7'), [
      '1200 North Martin Luther King',
      'Junior Boulevard Unit 7',
    ])
    for (const [one, two] of [
      ['x'.repeat(36), null],
      ['y '.repeat(40), 'z'],
    ] as const)
      assert.match(faultOf(at(one, two)) ?? '', /two lines of 35 characters/)
    assert.equal(faultOf(at('1 A St', null, { city: 'c'.repeat(25) })), null)
    assert.match(faultOf(at('1 A St', null, { city: 'c'.repeat(26) })) ?? '', /25 characters/)
  })

  test('names cut at 25 characters, letters without marks, phones that fit', () => {
    const { StoreName, ContactNum } = bodyOf({
      ...ACCESSORY,
      shipTo: {
        ...CONSUMER,
        name: 'José Núñez y Castro de la Fuente',
        phone: '+1 (602) 555-0100 ext. 12',
      },
    })
    assert.deepEqual([StoreName, ContactNum], ['Jose Nunez y Castro de la', '1602555010012'])
  })
})

interface Call {
  path: string
  body: Record<string, unknown>
}
type Answer = (call: Call, response: ServerResponse) => void

const json =
  (value: unknown, status = 200): Answer =>
  (_call, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(value))

/** A server with one answer for all; tells what was called. */
async function withServer<R>(
  answer: Answer,
  work: (session: OrderSession, calls: Call[]) => Promise<R>,
  {
    settings = SETTINGS,
    logins = new Logins(() => 0),
  }: { settings?: object; logins?: Logins } = {},
): Promise<R> {
  const calls: Call[] = []
  const server = createServer((request: IncomingMessage, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const call = {
        path: request.url!.slice(1),
        body: JSON.parse(Buffer.concat(pieces).toString()) as Call['body'],
      }
      calls.push(call)
      answer(call, response)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const { signal } = new AbortController()
  const now = () => AT + 2 * HOUR + 0.25
  try {
    const login = loginsOf({ logins }, { distid: 'RSR', mode: 'live' })
    const plain = openSession(
      { name: 'RSR Group' },
      { settings: { ...settings }, signal, now, login },
    )
    const http = plain.httpAt(address, { hosts: [], simulator: {} })
    return await work(withoutStages({ ...plain, http }), calls)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const { submit, find, updates } = rsrOrders()
const outcomeOf = (answer: Answer) => withServer(answer, (session) => submit(session, ACCESSORY))
const done = (more: object = {}) => json({ StatusCode: '00', StatusMssg: 'OK', ...more })

describe('an order', () => {
  test('is one POST with the login of its account in it', () =>
    withServer(done({ WebRef: 5_551 }), async (session, calls) => {
      assert.deepEqual(await submit(session, ACCESSORY), { outcome: 'accepted', number: '5551' })
      assert.equal(calls.length, 1)
      const [{ path, body }] = calls as [Call]
      assert.equal(path, 'place-order')
      assert.deepEqual(
        [body['Username'], body['Password'], body['POS']],
        ['99901', 'api-secret', 'I'],
      )
    }))

  test('to the store goes out with the main account, where there is one', async () => {
    for (const [settings, user] of [
      [BOTH, '99902'],
      [SETTINGS, '99901'],
      [{ ...SETTINGS, store_account: '99902' }, '99901'],
    ] as const)
      await withServer(
        done({ WebRef: 1 }),
        async (session, calls) => {
          await submit(session, { ...ACCESSORY, shipToStore: true })
          assert.equal(calls[0]!.body['Username'], user)
        },
        { settings },
      )
  })

  test('has its number by WebRef or ConfirmResp, in any capitals, and none is no acceptance', async () => {
    for (const [answer, number] of [
      [{ StatusCode: '00', WebRef: 'W1', ConfirmResp: 'C1' }, 'W1'],
      [{ statuscode: 0, confirmresp: 77 }, '77'],
    ] as const)
      assert.deepEqual(await outcomeOf(json(answer)), { outcome: 'accepted', number })
    for (const answer of [{ StatusCode: '00' }, { StatusCode: '00', WebRef: 0, ConfirmResp: '' }])
      assert.equal((await outcomeOf(json(answer))).outcome, 'unknown')
  })

  test('that is refused is refused with a reason that a person understands', async () => {
    const refusal = (StatusCode: string | number, StatusMssg = '') =>
      outcomeOf(json({ StatusCode, StatusMssg }))
    for (const [code, words, reason] of [
      ['82', 'Phone', "82 the consumer's phone number is missing (Phone)"],
      ['85', 'Mixed', '85 firearms and accessories cannot be in one order (Mixed)'],
      ['01', 'None left', '01 an item is out of stock (None left)'],
      [1, 'None left', '01 an item is out of stock (None left)'],
      ['87', 'Wait', '87 an item is in maintenance: try later (Wait)'],
      [
        '11002',
        'FFL',
        '11002 RSR does not find the FFL: the dealer has to send RSR a copy of the license (FFL)',
      ],
      ['43', 'Something else', '43 Something else'],
    ] as const)
      assert.deepEqual(await refusal(code, words), { outcome: 'rejected', reason })
    // Without a word of why it may be any trouble.
    assert.equal((await refusal('43')).outcome, 'unknown')
  })

  test('that is refused and numbered all the same may stand there', async () =>
    assert.deepEqual(await outcomeOf(json({ StatusCode: '01', StatusMssg: 'Short', WebRef: 9 })), {
      outcome: 'unknown',
      reason: 'refused, and numbered 9: 01 an item is out of stock (Short)',
    }))

  test('whose answer cannot be read may stand there', async () => {
    const odd: Answer[] = [
      json({}),
      json({ StatusCode: null }),
      json({ StatusCode: '00' }, 500),
      json({ StatusCode: '00' }, 404),
      (_call, response) => void response.writeHead(200).end('{"StatusCode":"0'),
      (_call, response) =>
        void response.writeHead(403, { 'content-type': 'text/html' }).end('<html>'),
      (_call, response) => void response.socket!.destroy(),
    ]
    for (const answer of odd) assert.equal((await outcomeOf(answer)).outcome, 'unknown')
  })

  test('is not sent where RSR turns it away unread', async () => {
    for (const [answer, expected] of [
      [
        (_call: Call, response: ServerResponse) =>
          void response.writeHead(429, { 'retry-after': '7' }).end(),
        { outcome: 'not_sent', reason: 'HTTP 429: too many requests', retryAfter: 7 },
      ],
      [
        (_call: Call, response: ServerResponse) => void response.writeHead(429).end(),
        { outcome: 'not_sent', reason: 'HTTP 429: too many requests' },
      ],
      [
        json({ StatusCode: '99', StatusMssg: 'Invalid Username or Password' }),
        { outcome: 'not_sent', reason: 'the login was refused' },
      ],
      [json({}, 401), { outcome: 'not_sent', reason: 'the login was refused' }],
    ] as const)
      assert.deepEqual(await outcomeOf(answer), expected)
  })

  test('is sent with no login that was refused twice, for an hour', async () => {
    const clock = { ms: 1_000.5 }
    const logins = new Logins(() => clock.ms)
    const tries = () =>
      withServer(
        json({}, 401),
        async (session, calls) => {
          assert.equal((await submit(session, ACCESSORY)).outcome, 'not_sent')
          return calls.length
        },
        { logins },
      )
    assert.deepEqual([await tries(), await tries(), await tries()], [1, 1, 0])
    clock.ms += HOUR
    assert.equal(await tries(), 1)
  })

  test('is looked for by its PO with its own account', () =>
    withServer(
      done({
        PONum: 'W-1-ABCD-010',
        WebRef: 'R1',
        Items: [
          { PartNum: 'MAG571', WishQty: '2' },
          { PartNum: 'HOL-9', WishQTY: 12 },
        ],
      }),
      async (session, calls) => {
        assert.deepEqual(await find!(session, { ...ACCESSORY, shipToStore: true }), {
          outcome: 'answered',
          showsOne: true,
          orders: [
            {
              number: 'R1',
              po: 'W-1-ABCD-010',
              lines: [
                { distsku: 'MAG571', qty: 2 },
                { distsku: 'HOL-9', qty: 12 },
              ],
            },
          ],
        })
        const [{ path, body }] = calls as [Call]
        assert.deepEqual(
          [path, body['Username'], body['PONum']],
          ['check-order', '99902', 'W-1-ABCD-010'],
        )
      },
      { settings: BOTH },
    ))

  test('is absent only where RSR says so; items that cannot be read prove nothing', async () => {
    const look = (answer: Answer) => withServer(answer, (session) => find!(session, ACCESSORY))
    for (const words of ['Order not found', 'No such order', 'PO does not exist'])
      assert.deepEqual(await look(json({ StatusCode: '04', StatusMssg: words })), {
        outcome: 'answered',
        orders: [],
      })
    for (const answer of [
      json({ StatusCode: '99', StatusMssg: 'System busy' }),
      json({ StatusCode: '04', StatusMssg: '' }),
      json({}, 500),
      json({}, 401),
    ])
      assert.equal((await look(answer)).outcome, 'unreachable')
    const odd = await look(done({ WebRef: 'R1', Items: [{ PartNum: 'MAG571' }, { WishQTY: 2 }] }))
    assert.deepEqual(odd, {
      outcome: 'answered',
      showsOne: true,
      orders: [{ number: 'R1', po: 'W-1-ABCD-010' }],
    })
  })
})

describe('news of an order', () => {
  const OPEN: OpenOrder = { ...openOrderOf(ACCESSORY), number: 'R1' }
  const newsOf = (answer: Answer, open: readonly OpenOrder[] = [OPEN]) =>
    withServer(answer, async (session, calls) => {
      const told: OrderUpdate[] = []
      for await (const update of updates!(session, AT, open)) told.push(update)
      return { told, calls }
    })
  const items = (...list: object[]) => done({ PONum: OPEN.po, WebRef: 'R1', Items: list })

  test('are asked for by PO and number, and are none as long as nothing left', async () => {
    const { told, calls } = await newsOf(
      items({ PartNum: 'MAG571', WishQTY: 2, TrackingNum: 'Pending', DateShipped: 'Pending' }),
    )
    assert.deepEqual(told, [])
    assert.deepEqual([calls[0]!.body['PONum'], calls[0]!.body['WebRef']], ['W-1-ABCD-010', 'R1'])
  })

  test('are the parcels of its items, in lists within one text', async () => {
    const { told } = await newsOf(
      items(
        {
          PartNum: 'MAG571',
          WishQTY: 2,
          TrackingNum: '1Z12345E0205271688, 9400110200881234567890',
          DateShipped: '11/22/2026,11/23/2026',
        },
        {
          PartNum: 'HOL-9',
          WishQTY: 12,
          TrackingNum: '1Z12345E0205271688',
          DateShipped: '11/22/2026',
        },
      ),
    )
    assert.deepEqual(told, [
      {
        number: 'R1',
        po: 'W-1-ABCD-010',
        // By noon of the last day there, or now.
        at: AT + 2 * HOUR + 0.25,
        status: 'Fulfilled',
        lines: [
          { distsku: 'MAG571', qty: 2 },
          { distsku: 'HOL-9', qty: 12 },
        ],
        parcels: [
          {
            trackingNumber: '1Z12345E0205271688',
            company: 'UPS',
            method: null,
            shippedOn: '2026-11-22',
            url: 'https://www.ups.com/track?tracknum=1Z12345E0205271688',
            status: 'in_transit',
          },
          {
            trackingNumber: '9400110200881234567890',
            company: 'USPS',
            method: null,
            shippedOn: '2026-11-23',
            url: 'https://tools.usps.com/go/TrackConfirmAction?tLabels=9400110200881234567890',
            status: 'in_transit',
          },
        ],
      },
    ])
  })

  test('say that it is fulfilled once every item has left, and in part before', async () => {
    const one = { PartNum: 'MAG571', WishQTY: 2, TrackingNum: 'X1', DateShipped: '2026-11-22' }
    const two = { PartNum: 'HOL-9', WishQTY: 12, TrackingNum: 'pending', DateShipped: '' }
    const { told } = await newsOf(items(one, two))
    assert.equal(told[0]!.status, 'Partially Fulfilled')
    assert.equal(told[0]!.parcels![0]!.company, null)
    assert.equal((await newsOf(items(one))).told[0]!.status, 'Fulfilled')
  })

  test('bring the number that was not known, and none of an order that is not shown', async () => {
    const { told } = await newsOf(items({ PartNum: 'MAG571', WishQTY: 2 }), [
      { ...OPEN, number: null },
    ])
    assert.equal(told[0]!.number, 'R1')
    const none = await newsOf(json({ StatusCode: '04', StatusMssg: 'Order not found' }))
    assert.deepEqual(none.told, [])
  })

  test('cannot be had where the login is refused', () =>
    assert.rejects(newsOf(json({}, 401)), /login was refused/))
})

describe('the credential check', () => {
  const check = (answer: Answer, settings: object = SETTINGS) =>
    withServer(answer, async (session, calls) => [await checkLogins(session), calls.length], {
      settings,
    })

  test('asks with each account, and believes only a clear answer', async () => {
    assert.deepEqual(await check(done({ Items: [] })), ['valid', 1])
    assert.deepEqual(await check(done({ Items: [] }), BOTH), ['valid', 2])
    assert.deepEqual(await check(json({}, 401)), ['invalid', 1])
    const onlyFirst: Answer = (call, response) =>
      json(
        call.body['Username'] === '99901'
          ? { StatusCode: '00' }
          : { StatusCode: '99', StatusMssg: 'Bad password' },
      )(call, response)
    assert.deepEqual(await check(onlyFirst, BOTH), ['invalid', 2])
    for (const answer of [json({}, 500), json({ StatusCode: '50', StatusMssg: 'Busy' }), json({})])
      await assert.rejects(check(answer), Unreachable)
  })

  test('says that an address is not approved', () =>
    assert.rejects(check(json({}, 403)), /RSR does not accept calls from this address/))
})
