/**
 * Zanders' connector: what is posted for each kind of order, from what is known of the services,
 * and what it makes of every answer that the real ones may give.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PurchaseOrder } from '../../../lib/distributors/fulfillment.js'
import { checkLogins, zandersOrders } from '../../../lib/distributors/builtin/zanders/orders.js'
import type { ValueMap } from '../../../lib/distributors/builtin/zanders/soap.js'
import { Logins } from '../../../lib/distributors/session/logins.js'
import { withoutSecrets } from '../../../lib/distributors/session/redact.js'
import { Unreachable } from '../../../lib/distributors/session/session.js'
import {
  broken,
  code,
  cut,
  FIREARM,
  map,
  orderOf,
  raw,
  SETTINGS,
  shipTo,
  withServer,
} from './server.js'
import type { Answer } from './server.js'

const connector = zandersOrders()

/** How a send ends, and what was called for it. */
const sent = (order: PurchaseOrder, answers: Record<string, Answer> = {}) =>
  withServer(answers, async ({ session, called }) => ({
    ...(await connector.submit(session, order)),
    called: called(),
  }))

const item = (key: string, value: string) =>
  `<item><key xsi:type="xsd:string">${key}</key><value xsi:type="xsd:string">${value}</value></item>`

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

  test('a password is hidden in a call as XML writes it', async () =>
    withServer({}, async ({ session, calls }) => {
      await connector.submit(session, orderOf())
      const hidden = withoutSecrets(calls[0]!.body, [SETTINGS.accessories_password])
      assert.ok(calls[0]!.body.includes('pass&amp;word'))
      assert.match(hidden, /<password xsi:type="xsd:string">\[credential\]<\/password>/)
    }))

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
