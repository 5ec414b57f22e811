/**
 * Lipsey's connector: what is posted for each kind of order, from what is known of the API
 * (fields, and which account may), and what it makes of every answer that the real one may give.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import {
  checkLogins,
  lipseysOrders,
  payloadOf,
} from '../../../lib/distributors/builtin/lipseys/orders.js'
import { DAY, HOUR } from '../../../lib/core/clock.js'
import { NOT_APPROVED } from '../../../lib/distributors/builtin/lipseys/api.js'
import { daysBetween } from '../../../lib/distributors/builtin/lipseys/days.js'
import type {
  OrderSession,
  OrderUpdate,
  PurchaseOrder,
} from '../../../lib/distributors/fulfillment.js'
import { Logins, loginsOf } from '../../../lib/distributors/session/logins.js'
import { Unreachable } from '../../../lib/distributors/session/session.js'
import { openSession } from '../../../lib/distributors/session/open-session.js'

const CUSTOMER = {
  name: 'Pat Doe',
  email: 'pat@customer.example',
  address1: '12 Main St',
  address2: 'Apt 3',
  city: 'Phoenix',
  state: 'az',
  zip: '85001-1234',
  phone: '602-555-0100',
}
const DEALER = {
  name: 'Desert Arms LLC',
  address1: '99 Range Rd',
  address2: null,
  city: 'Mesa',
  state: 'AZ',
  zip: '85201',
  phone: '480-555-0199',
}

function orderOf(more: Partial<PurchaseOrder> = {}): PurchaseOrder {
  return {
    clientRef: 'REF00000000000000001',
    serial: 1,
    po: 'W-1-ABCD-010',
    poGiven: 'W-1-ABCD-010',
    poIsOurs: true,
    lane: 'accessories',
    fflRequired: false,
    shipToStore: false,
    lines: [
      {
        distsku: 'AD100042',
        upc: '012345678905',
        name: 'Sling',
        qty: 2,
        unitPrice: 1_999,
        fflRequired: false,
      },
    ],
    shipTo: CUSTOMER,
    customer: CUSTOMER,
    ffl: null,
    takenAt: Date.UTC(2026, 10, 21, 12),
    ...more,
  }
}

const FIREARM = orderOf({
  lane: 'firearms',
  fflRequired: true,
  lines: [
    {
      distsku: 'RU1022RB',
      upc: '736676012022',
      name: '10/22',
      qty: 1,
      unitPrice: 24_900,
      fflRequired: true,
    },
  ],
  shipTo: DEALER,
  ffl: { licenseNumber: '9-86-013-01-8A-12345', name: 'Desert Arms LLC', expiresOn: '2028-01-01' },
})

describe('what is posted', () => {
  test('accessories to a customer: DropShip, with two letters of state and five digits of ZIP', () =>
    assert.deepEqual(payloadOf(orderOf()), {
      path: 'order/DropShip',
      body: {
        Warehouse: '',
        PoNumber: 'W-1-ABCD-010',
        BillingName: 'Pat Doe',
        BillingAddressLine1: '12 Main St',
        BillingAddressLine2: 'Apt 3',
        BillingAddressCity: 'Phoenix',
        BillingAddressState: 'AZ',
        BillingAddressZip: '85001',
        ShippingName: 'Pat Doe',
        ShippingAddressLine1: '12 Main St',
        ShippingAddressLine2: 'Apt 3',
        ShippingAddressCity: 'Phoenix',
        ShippingAddressState: 'AZ',
        ShippingAddressZip: '85001',
        MessageForSalesExec: '',
        DisableEmail: true,
        Overnight: false,
        Items: [{ ItemNo: 'AD100042', Quantity: 2, Note: '' }],
      },
    }))

  test('firearms to a dealer: DropShipFirearm, with 15 characters of license and Po, not PoNumber', () =>
    assert.deepEqual(payloadOf(FIREARM), {
      path: 'order/DropShipFirearm',
      body: {
        Ffl: '986013018A12345',
        Po: 'W-1-ABCD-010',
        Name: 'Pat Doe',
        Phone: '602-555-0100',
        DelayShipping: false,
        DisableEmail: true,
        Items: [{ ItemNo: 'RU1022RB', Quantity: 1, Note: '' }],
      },
    }))

  test('to the store: apiorder, with PONumber in capitals and no address', () =>
    assert.deepEqual(payloadOf({ ...FIREARM, shipToStore: true, ffl: null }), {
      path: 'order/apiorder',
      body: {
        PONumber: 'W-1-ABCD-010',
        EmailConfirmation: false,
        DisableEmail: true,
        Items: [{ ItemNo: 'RU1022RB', Quantity: 1, Note: '' }],
      },
    }))
})

interface Call {
  path: string
  token: string | undefined
  body: unknown
}
type Answer = (call: Call, response: ServerResponse, n: number) => void

const LOGIN = 'authentication/login'
const GOOD_LOGIN = { token: 'T1', econtact: { success: true, errors: [] } }
const BAD_LOGIN = { token: null, econtact: { success: false, errors: ['Invalid.'] } }
const json =
  (value: unknown, status = 200): Answer =>
  (_call, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(value))
const good = (data: unknown) => json({ authorized: true, success: true, errors: [], data })

/** A server with one answer for logins and one for all else; tells what was called. */
async function withServer<R>(
  answers: { login?: Answer; other?: Answer },
  work: (session: OrderSession, calls: Call[]) => Promise<R>,
  settings: Record<string, unknown> = SETTINGS,
  logins = new Logins(() => 0),
): Promise<R> {
  const calls: Call[] = []
  const server = createServer((request: IncomingMessage, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const call: Call = {
        path: request.url!.slice(1),
        token: request.headers['token'] as string | undefined,
        body: JSON.parse(Buffer.concat(pieces).toString()),
      }
      calls.push(call)
      const isLogin = call.path === LOGIN
      const answer = isLogin ? (answers.login ?? json(GOOD_LOGIN)) : (answers.other ?? good(null))
      answer(call, response, calls.filter(({ path }) => path === call.path).length)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const { signal } = new AbortController()
  const now = () => Date.UTC(2026, 10, 21, 20) + 0.25
  try {
    const login = loginsOf({ logins }, { distid: 'LIP', mode: 'live' })
    const plain = openSession({ name: 'Lipseys' }, { settings, signal, now, login })
    const session: OrderSession = {
      ...plain,
      http: plain.httpAt(address, { hosts: [], simulator: {} }),
      stage: null,
      keepStage: () => Promise.reject(new Error('it has no stages')),
    }
    return await work(session, calls)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const SETTINGS = { api_user: 'drop@shop.example', api_password: 'one' }
const BOTH = { ...SETTINGS, store_user: 'main@shop.example', store_password: 'two' }
const { submit, find, updates } = lipseysOrders()

/** What comes of an order that is answered so. */
const outcomeOf = (answers: { login?: Answer; other?: Answer }) =>
  withServer(answers, (session) => submit(session, orderOf()))

describe('an order', () => {
  test('is posted with the token of a login, which is a header of its own', async () =>
    withServer({ other: good({ orderNumber: 123_456 }) }, async (session, calls) => {
      assert.deepEqual(await submit(session, orderOf()), { outcome: 'accepted', number: '123456' })
      assert.deepEqual(
        calls.map(({ path, token }) => [path, token]),
        [
          ['authentication/login', undefined],
          ['order/DropShip', 'T1'],
        ],
      )
      assert.deepEqual(calls[0]!.body, { Email: 'drop@shop.example', Password: 'one' })
    }))

  for (const [what, settings, user] of [
    ['of the main account, where there is one', BOTH, 'main@shop.example'],
    ['of the only account', SETTINGS, 'drop@shop.example'],
    [
      'of the drop-ship account, where the main one has no password',
      { ...SETTINGS, store_user: 'main@shop.example' },
      'drop@shop.example',
    ],
  ] as const)
    test(`to the store goes out with the login ${what}`, async () =>
      withServer(
        {},
        async (session, calls) => {
          await submit(session, { ...orderOf(), shipToStore: true })
          assert.equal((calls[0]!.body as { Email: string }).Email, user)
        },
        settings,
      ))

  test('has its number in an object, in a list, or later', async () => {
    for (const [data, number] of [
      [{ orderNumber: 'A-1' }, 'A-1'],
      [[{ orderNumber: 77 }], '77'],
      [{ orderNumber: 0 }, null],
      [{}, null],
      [null, null],
      [[], null],
    ] as const)
      assert.deepEqual(await outcomeOf({ other: good(data) }), { outcome: 'accepted', number })
  })

  test('that is refused is refused in the words of the answer; without words nobody knows', async () => {
    const failed = (errors: unknown) =>
      outcomeOf({ other: json({ authorized: true, success: false, errors, data: null }) })
    assert.deepEqual(await failed(['Item X is blocked.', 'PoNumber is missing.']), {
      outcome: 'rejected',
      reason: 'Item X is blocked.; PoNumber is missing.',
    })
    assert.equal((await failed([])).outcome, 'unknown')
    assert.equal((await failed(null)).outcome, 'unknown')
  })

  test('that is refused and numbered all the same may stand there', async () => {
    for (const data of [{ orderNumber: 123 }, [{ orderNumber: '123' }]])
      assert.deepEqual(
        await outcomeOf({
          other: json({ authorized: true, success: false, errors: ['Item B is gone.'], data }),
        }),
        { outcome: 'unknown', reason: 'refused, and numbered 123: Item B is gone.' },
      )
  })

  test('is not posted again where the reply says more than that the token is not taken', async () => {
    for (const more of [
      { success: true, data: null },
      { success: false, data: { orderNumber: 5 } },
    ])
      await withServer(
        { other: json({ authorized: false, errors: [], ...more }) },
        async (session, calls) => {
          assert.equal((await submit(session, orderOf())).outcome, 'unknown')
          assert.deepEqual(
            calls.map(({ path }) => path),
            [LOGIN, 'order/DropShip'],
          )
        },
      )
  })

  test('is sent with no login that was refused twice, for an hour', async () => {
    const clock = { ms: 1_000 }
    const logins = new Logins(() => clock.ms)
    const tries = () =>
      withServer(
        { login: json(BAD_LOGIN) },
        async (session, calls) => {
          const sent = await submit(session, orderOf())
          assert.equal(sent.outcome, 'not_sent')
          return calls.length
        },
        SETTINGS,
        logins,
      )
    assert.deepEqual([await tries(), await tries(), await tries()], [1, 1, 0])
    clock.ms += HOUR
    assert.deepEqual([await tries(), await tries()], [1, 0])
  })

  test('closes no gate where the login was not refused, but failed', async () => {
    const logins = new Logins(() => 0)
    const cases: [Answer, boolean][] = [
      [json({ token: null, econtact: null }, 500), false],
      [json({ econtact: {} }), false],
      [json({ message: 'Forbidden' }, 403), false],
      [(_call, response) => void response.writeHead(401).end(), true],
      [json({ authorized: false }), true],
    ]
    for (const [login, isRefused] of cases)
      await withServer(
        { login },
        async (session) => {
          const gate = session.login('drop@shop.example', 'one')
          gate.accepted()
          for (let i = 0; i < 2; i++) await submit(session, orderOf())
          assert.equal(gate.reason() !== null, isRefused)
        },
        SETTINGS,
        logins,
      )
  })

  test('is posted once more with a new token where the first is not taken, and no third time', async () => {
    const stale = { authorized: false, success: false, errors: ['Not authorized.'], data: null }
    for (const refuse of [json(stale), json({ message: 'Unauthorized' }, 401)])
      await withServer(
        {
          other: (call, response, n) =>
            (n === 1 ? refuse : good({ orderNumber: 5 }))(call, response, n),
        },
        async (session, calls) => {
          assert.deepEqual(await submit(session, orderOf()), { outcome: 'accepted', number: '5' })
          assert.deepEqual(
            calls.map(({ path }) => path),
            [LOGIN, 'order/DropShip', LOGIN, 'order/DropShip'],
          )
        },
      )
    await withServer({ other: json(stale) }, async (session, calls) => {
      assert.deepEqual(await submit(session, orderOf()), {
        outcome: 'not_sent',
        reason: 'the token of a new login was not taken',
      })
      assert.equal(calls.length, 4)
    })
  })

  test('was not sent where the login failed in any way', async () => {
    const cases: [Answer, RegExp][] = [
      [json(BAD_LOGIN), /^the login was refused$/],
      [json({ message: 'Unauthorized' }, 401), /^the login was refused$/],
      [json({ message: 'Forbidden' }, 403), /approve/],
      [json({}, 500), /HTTP 500/],
      [(_call, response) => void response.destroy(), /broken off/],
      [(_call, response) => void response.writeHead(200).end('{"token'), /cannot be read/],
      [(_call, response) => void response.writeHead(429, { 'retry-after': '30' }).end(), /429/],
    ]
    for (const [login, reason] of cases)
      await withServer({ login }, async (session, calls) => {
        const sent = await submit(session, orderOf())
        assert.equal(sent.outcome, 'not_sent')
        assert.match((sent as { reason: string }).reason, reason)
        assert.ok(calls.every(({ path }) => path === LOGIN))
      })
  })

  test('may have been sent where its own answer is not read whole', async () => {
    const cases: [Answer, string][] = [
      [json({ message: 'An error has occurred.' }, 500), 'HTTP 500'],
      [json({ authorized: true }), 'the reply does not say whether it succeeded'],
      [
        (_call, response) => void response.writeHead(200).end('{"success":tr'),
        'the reply cannot be read',
      ],
      [(_call, response) => void response.writeHead(200).end(), 'the reply cannot be read'],
      [(_call, response) => void response.writeHead(200).end('null'), 'the reply cannot be read'],
      [(_call, response) => void response.destroy(), 'the connection was broken off'],
      [
        (_call, response) =>
          void response.writeHead(403, { 'content-type': 'text/html' }).end('<html>'),
        'a page in HTML instead of a reply (HTTP 403)',
      ],
      [
        (_call, response) =>
          void response.writeHead(302, { location: 'https://elsewhere.example' }).end(),
        'HTTP 302',
      ],
    ]
    for (const [other, reason] of cases)
      assert.deepEqual(await outcomeOf({ other }), { outcome: 'unknown', reason })
  })

  test('that is turned away before it is looked at may come again, when it is told', async () =>
    assert.deepEqual(
      await outcomeOf({
        other: (_call, response) => void response.writeHead(429, { 'retry-after': '12' }).end(),
      }),
      { outcome: 'not_sent', reason: 'HTTP 429: too many requests', retryAfter: 12 },
    ))
})

const ROW = {
  poNumber: 'W-1-ABCD-010',
  invoiceNumber: '900',
  orderNumber: 555,
  trackingNumber: '794600000001',
  shippingService: 'FedEx Ground',
  weight: '2.00',
  billName: 'Shop',
  shipName: 'Pat Doe',
}

describe('the report of a day', () => {
  test('is asked for day by day, as a date in Louisiana', async () => {
    assert.deepEqual(
      daysBetween(Date.UTC(2026, 10, 21, 5, 59), Date.UTC(2026, 10, 22, 6)).map(
        ({ asked }) => asked,
      ),
      ['11/20/2026', '11/21/2026', '11/22/2026'],
    )
    // The hour that is there twice, and the one that is not, cost no day.
    for (const [from, to] of [
      [Date.UTC(2026, 2, 7, 12), Date.UTC(2026, 2, 9, 12)],
      [Date.UTC(2026, 9, 31, 12), Date.UTC(2026, 10, 2, 12)],
    ] as const)
      assert.equal(daysBetween(from, to).length, 3)
    await withServer({}, async (session, calls) => {
      await find!(session, orderOf())
      assert.deepEqual(
        calls.filter(({ path }) => path === 'shipping/oneday').map(({ body }) => body),
        ['11/21/2026'],
      )
    })
  })

  test('finds an order by its PO, also one in capitals or cut off', async () => {
    for (const [poNumber, isThere] of [
      ['W-1-ABCD-010', true],
      ['w-1-abcd-010', true],
      ['W-1-ABCD', true],
      ['W-2-ABCD-010', false],
      ['', false],
    ] as const)
      await withServer(
        { other: good([{ ...ROW, poNumber }, ROW].slice(0, 1)) },
        async (session) => {
          const found = await find!(session, orderOf())
          assert.deepEqual(
            found,
            {
              outcome: 'answered',
              orders: isThere ? [{ number: '555', po: poNumber, shipTo: { name: 'Pat Doe' } }] : [],
            },
            poNumber,
          )
        },
      )
  })

  test('that cannot be had proves nothing', async () => {
    for (const other of [
      json({}, 503),
      json({ authorized: true, success: false, errors: ['Try later.'], data: null }),
      json({ authorized: false, success: false, errors: [], data: null }),
    ])
      await withServer({ other }, async (session) => {
        assert.equal((await find!(session, orderOf())).outcome, 'unreachable')
        await assert.rejects(async () => {
          for await (const _ of updates!(session, session.now(), [])) assert.fail()
        })
      })
  })

  test('is news of shipments, of both accounts, with carrier, method and a page to follow it', async () =>
    withServer(
      {
        other: (call, response, n) =>
          (call.body === '11/21/2026' ? good([ROW]) : good(null))(call, response, n),
      },
      async (session, calls) => {
        const told: OrderUpdate[] = []
        for await (const update of updates!(session, session.now() - DAY, [])) told.push(update)
        assert.equal(told.length, 2)
        assert.deepEqual(told[0], {
          number: '555',
          po: 'W-1-ABCD-010',
          at: Date.UTC(2026, 10, 21, 18),
          status: 'Fulfilled',
          shipTo: { name: 'Pat Doe' },
          parcels: [
            {
              trackingNumber: '794600000001',
              company: 'FedEx',
              method: 'Ground',
              shippedOn: '2026-11-21',
              url: 'https://www.fedex.com/fedextrack/?trknbr=794600000001',
              status: 'in_transit',
            },
          ],
        })
        // From the day on, of each account.
        assert.deepEqual(
          calls
            .filter(({ path }) => path === 'shipping/oneday')
            .map(({ body }) => body)
            .slice(0, 4),
          ['11/20/2026', '11/21/2026', '11/20/2026', '11/21/2026'],
        )
      },
      BOTH,
    ))

  test('skips rows that name no order or no parcel', async () =>
    withServer(
      {
        other: good([
          {},
          null,
          'x',
          { ...ROW, trackingNumber: '' },
          { ...ROW, poNumber: '', orderNumber: null },
        ]),
      },
      async (session) => {
        for await (const _ of updates!(session, session.now(), [])) assert.fail()
      },
    ))
})

describe('a credential check', () => {
  for (const [name, login, expected] of [
    ['a token is there', json(GOOD_LOGIN), 'valid'],
    ['the login is refused', json(BAD_LOGIN), 'invalid'],
    ['the address is not approved', json({}, 403), `unreachable: ${NOT_APPROVED}`],
    [
      'the answer cannot be read',
      (_call, response) => void response.writeHead(200).end('x'),
      'unreachable: the reply cannot be read',
    ],
    ['it is too many', json({}, 429), 'unreachable: HTTP 429: too many requests'],
    [
      'the connection breaks',
      (_call, response) => void response.destroy(),
      'unreachable: the connection was broken off',
    ],
  ] as [string, Answer, string][])
    test(`${name}: ${expected}`, async () =>
      withServer({ login }, async (session) => {
        const outcome = await checkLogins(session).catch((error: unknown) => {
          assert.ok(error instanceof Unreachable)
          return `unreachable: ${error.message}`
        })
        assert.equal(outcome, expected)
      }))

  test('tries the main account too', async () =>
    withServer(
      {
        login: (call, response, n) =>
          json((call.body as { Password: string }).Password === 'one' ? GOOD_LOGIN : BAD_LOGIN)(
            call,
            response,
            n,
          ),
      },
      async (session) => assert.equal(await checkLogins(session), 'invalid'),
      BOTH,
    ))
})
