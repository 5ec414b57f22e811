/**
 * What is posted to Chattanooga for each kind of order, to the byte, and what the connector makes of
 * every answer that the real one may give.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HOUR } from '../../../lib/core/clock.js'
import { payloadOf } from '../../../lib/distributors/builtin/chattanooga/payload.js'
import { CODES } from '../../../lib/distributors/builtin/chattanooga/refusals.js'
import { Logins } from '../../../lib/distributors/session/logins.js'
import {
  AUTHORIZATION,
  broken,
  FIREARM,
  json,
  limits,
  orderOf,
  outcomeOf,
  submit,
  text,
  withServer,
} from './rig.js'
import type { Answer } from './rig.js'

const ACCEPTED = json({ orders: [{ order_number: 123_456 }] })
/** What is posted for an order. */
const postedOf = (order = orderOf(), settings = {}) =>
  withServer(
    ACCEPTED,
    async ({ session, calls }) => {
      await submit(session, order)
      return calls.find(({ method }) => method === 'POST')!
    },
    { settings: { api_sid: 'SID-1', api_token: 'message digest', ...settings } },
  )

const refusedWith = (status: number, error_code?: unknown, more = {}): Answer =>
  json({ ...(error_code !== undefined && { error_code }), message: 'No.', ...more }, status)

describe('what is posted', () => {
  // POST orders {purchase_order_number, drop_ship_flag 0|1, customer, delivery_option, ...}
  test('accessories to a customer', async () => {
    const { path, headers, body } = await postedOf()
    assert.equal(path, 'orders')
    assert.equal(headers['content-type'], 'application/json')
    assert.equal(
      body,
      '{"purchase_order_number":"W-1-ABCD-010","drop_ship_flag":1,"customer":"Pat Doe",' +
        '"delivery_option":"best","insurance_flag":0,"adult_signature_flag":0,' +
        '"ship_to_address":{"name":"Pat Doe","line_1":"12 Main St","line_2":"Apt 3",' +
        '"city":"Phoenix","state_code":"AZ","zip":"85001-1234"},"order_items":[' +
        '{"item_number":"SLW-07919","order_quantity":2,' +
        '"customer_reference":"REF00000000000000001"}]}',
    )
  })

  // federal_firearms_license_number 15 chars no dashes
  test('a firearm and what goes with it to a dealer, in one order', async () => {
    const { body } = await postedOf(FIREARM, { default_shipping_method: 'economy' })
    assert.equal(
      body,
      '{"purchase_order_number":"W-1-ABCD-010","drop_ship_flag":1,"customer":"Pat Doe",' +
        '"delivery_option":"best","insurance_flag":0,"adult_signature_flag":1,' +
        '"federal_firearms_license_number":"986013018A12345",' +
        '"ship_to_address":{"name":"Desert Arms LLC","line_1":"99 Range Rd","line_2":"",' +
        '"city":"Mesa","state_code":"AZ","zip":"85201"},"order_items":[' +
        '{"item_number":"GLK-G19","order_quantity":1,' +
        '"customer_reference":"REF00000000000000001"},' +
        '{"item_number":"SLW-07919","order_quantity":2,' +
        '"customer_reference":"REF00000000000000001"}]}',
    )
  })

  // With drop_ship_flag 0 the drop-ship-only fields are rejected.
  test('anything to the store, without what is for drop-shipping', async () => {
    const { body } = await postedOf({ ...FIREARM, shipToStore: true, ffl: null })
    assert.equal(
      body,
      '{"purchase_order_number":"W-1-ABCD-010","drop_ship_flag":0,' +
        '"ship_to_address":{"name":"Desert Arms LLC","line_1":"99 Range Rd","line_2":"",' +
        '"city":"Mesa","state_code":"AZ","zip":"85201"},"order_items":[' +
        '{"item_number":"GLK-G19","order_quantity":1,' +
        '"customer_reference":"REF00000000000000001"},' +
        '{"item_number":"SLW-07919","order_quantity":2,' +
        '"customer_reference":"REF00000000000000001"}]}',
    )
  })

  // Authorization: Basic <SID>:<md5hex(token)> written literally, not base64
  test('with the SID and the MD5 of the token as they stand', async () =>
    assert.equal((await postedOf()).headers['authorization'], AUTHORIZATION))

  test('with the shipping method of the settings, where it is one, for what holds no firearm', () => {
    const optionOf = (method: unknown) => payloadOf(orderOf(), method)['delivery_option']
    for (const method of ['best', 'fastest', 'economy', 'ground', 'next_day_air', 'second_day_air'])
      assert.equal(optionOf(method), method)
    for (const method of [undefined, null, '', 'pigeon']) assert.equal(optionOf(method), 'best')
  })

  test('with at most 60 characters of the customer, and a PO of at most 24', () => {
    const named = (length: number) => {
      const { customer } = orderOf()
      return payloadOf(orderOf({ customer: { ...customer, name: 'é'.repeat(length) } }), null)
    }
    for (const [length, kept] of [
      [60, 60],
      [61, 60],
    ] as const)
      assert.equal([...String(named(length)['customer'])].length, kept)
    assert.equal(limits.po.max, 24)
    // News are asked for by POs with commas in between.
    assert.deepEqual(
      ['A', ' ', '~', ',', 'é'].map((char) => limits.po.chars!.test(char)),
      [true, true, true, false, false],
    )
  })
})

describe('an order', () => {
  test('is accepted where the answer has the number of one order', async () => {
    for (const [answer, number] of [
      [ACCEPTED, '123456'],
      [json({ orders: [{ order_number: ' A-1 ' }] }, 201), 'A-1'],
      [json({ orders: [{ order_number: 5, purchase_order_number: 'w-1-abcd-010' }] }), '5'],
      [json({ error_code: 0, orders: [{ order_number: 5 }] }), '5'],
    ] as const)
      assert.deepEqual(await outcomeOf(answer), { outcome: 'accepted', number })
  })

  test('is known of nobody where the answer says less, more or something else', async () => {
    for (const [answer, reason] of [
      [json({}), 'the reply has no number of an order'],
      [json({ orders: [] }), 'the reply has no number of an order'],
      [json({ orders: [{}] }), 'the reply has no number of an order'],
      [json({ orders: [{ order_number: 0 }] }), 'the reply has no number of an order'],
      [json({ orders: 'x' }), 'the reply has no number of an order'],
      [
        json({ orders: [{ order_number: 5 }, { order_number: 6 }] }),
        'the reply tells of 2 orders: 5, 6',
      ],
      [
        json({ orders: [{ order_number: 5, purchase_order_number: 'W-2' }] }),
        'the reply tells of an order 5 with another PO',
      ],
      [
        json({ error_code: 60_202, message: 'No.', orders: [{ order_number: 5 }] }),
        'the reply has the error code 60202: No.',
      ],
      [json([{ order_number: 5 }]), 'the reply cannot be read'],
      [text(''), 'the reply cannot be read'],
      [text('', 204), 'the reply cannot be read'],
      [text('null'), 'the reply cannot be read'],
      [text('{"orders":[{"order_num'), 'the reply cannot be read'],
      [text('<html>', 200, 'text/html'), 'a page in HTML instead of a reply (HTTP 200)'],
      [text('<html>', 403, 'text/html'), 'a page in HTML instead of a reply (HTTP 403)'],
      [text('<html>', 401, 'text/html'), 'a page in HTML instead of a reply (HTTP 401)'],
      [text('', 302), 'HTTP 302'],
      [text('', 403), 'HTTP 403'],
      [text('', 422), 'HTTP 422'],
      [json({ message: 'No.' }, 500), 'HTTP 500: No.'],
      [refusedWith(500, 60_202), 'HTTP 500, error code 60202: No.'],
      [refusedWith(503, 4001), 'HTTP 503, error code 4001: No.'],
      [broken, 'the connection was broken off'],
    ] as [Answer, string][])
      assert.deepEqual(await outcomeOf(answer), { outcome: 'unknown', reason })
  })

  for (const [code, meaning] of Object.entries(CODES))
    test(`${code} is a refusal: ${meaning}`, async () => {
      for (const status of [400, 403, 404, 422])
        for (const error_code of [code, Number(code)])
          assert.deepEqual(
            await outcomeOf(
              refusedWith(status, error_code, {
                errors: [{ message: 'Item X.' }, 'No.', { message: null }, null],
              }),
            ),
            { outcome: 'rejected', reason: `${meaning} (${code}): No.; Item X.` },
          )
    })

  test('every code that is known has a meaning', () =>
    // 60202 stock, 60101, 60106-60109, 60203, 60204 restricted, 9000 bad request
    assert.deepEqual(Object.keys(CODES), [
      '9000',
      '60101',
      '60106',
      '60107',
      '60108',
      '60109',
      '60202',
      '60203',
      '60204',
    ]))

  test('another code is a refusal with HTTP 422 alone', async () => {
    assert.deepEqual(await outcomeOf(refusedWith(422, 60_777)), {
      outcome: 'rejected',
      reason: 'the order was refused (60777): No.',
    })
    for (const answer of [refusedWith(404, 60_777), refusedWith(409, 60_777), refusedWith(422)])
      assert.equal((await outcomeOf(answer)).outcome, 'unknown')
  })

  test('that is refused and numbered all the same may stand there', async () => {
    for (const status of [401, 403, 422])
      for (const code of [4001, 4003, 60_202])
        assert.deepEqual(
          await outcomeOf(refusedWith(status, code, { orders: [{ order_number: 7 }] })),
          { outcome: 'unknown', reason: `refused (HTTP ${status}), and numbered 7: No.` },
        )
  })

  test('was not sent where the account was turned away, or too many asked', async () => {
    for (const [answer, reason] of [
      [refusedWith(401, 4001), 'the login was refused'],
      [refusedWith(403, '4001'), 'the login was refused'],
      [text('', 401), 'the login was refused'],
      [
        refusedWith(403, 4003),
        'the account may not use this part of the API (4003): ask your representative to permit it',
      ],
    ] as [Answer, string][])
      assert.deepEqual(await outcomeOf(answer), { outcome: 'not_sent', reason })
    const tooMany = { outcome: 'not_sent', reason: 'HTTP 429: too many requests' }
    const limited = (headers?: Record<string, string>) =>
      outcomeOf(json({ message: 'too-many-requests' }, 429, headers))
    assert.deepEqual(await limited({ 'retry-after': '12' }), { ...tooMany, retryAfter: 12 })
    assert.deepEqual(await limited(), tooMany)
    assert.deepEqual(await limited({ 'retry-after': 'soon' }), tooMany)
  })

  test('is sent with no login that was refused twice, for an hour', async () => {
    const clock = { ms: 1_000 }
    const logins = new Logins(() => clock.ms)
    const tries = (answer = refusedWith(401, 4001)) =>
      withServer(
        answer,
        async ({ session, calls }) => {
          await submit(session, orderOf())
          return calls.length
        },
        { logins },
      )
    // Only a refusal of the login counts, and one that was taken makes up for it.
    for (const answer of [text('<html>', 401, 'text/html'), refusedWith(500), broken])
      for (let i = 0; i < 3; i++) assert.equal(await tries(answer), 1)
    await tries()
    await tries(ACCEPTED)
    assert.deepEqual([await tries(), await tries(), await tries()], [1, 1, 0])
    clock.ms += HOUR
    assert.equal(await tries(), 1)
  })

  test('leaves neither the token nor its MD5 in a transcript', async () =>
    withServer(
      json({ message: `Hello ${AUTHORIZATION}` }, 500),
      async ({ session, transcript }) => {
        await submit(session, orderOf())
        const told = JSON.stringify(transcript.told())
        assert.doesNotMatch(told, /f96b697d7cb7938d525a2f31aaf161d0|message digest/)
        assert.match(told, /Basic SID-1:\[credential\]/)
      },
    ))
})

describe('before a firearm goes to a dealer', () => {
  const license = (more: object): Answer =>
    json({ federal_firearms_licenses: [{ on_file_flag: 1, drop_ship_opted_out_flag: 0, ...more }] })
  const after = (answer: Answer, order = FIREARM) =>
    withServer(
      ACCEPTED,
      async ({ session, calls }) => ({
        sent: await submit(session, order),
        paths: calls.map(({ method, path }) => `${method} ${path}`),
      }),
      { license: answer },
    )
  const ASKED = 'GET federal-firearms-licenses/986013018A12345'

  test('the license is asked for, and the order is posted where it is on file', async () => {
    for (const flags of [{}, { on_file_flag: '1', drop_ship_opted_out_flag: '0' }])
      assert.deepEqual(await after(license(flags)), {
        sent: { outcome: 'accepted', number: '123456' },
        paths: [ASKED, 'POST orders'],
      })
    // Nobody is asked about what goes to a customer, or to the store.
    for (const order of [orderOf(), { ...FIREARM, shipToStore: true, ffl: null }])
      assert.deepEqual((await after(license({}), order)).paths, ['POST orders'])
  })

  test('nothing is posted where it is not, or where the dealer takes no drop shipments', async () => {
    for (const [answer, reason] of [
      [license({ on_file_flag: 0 }), /^Chattanooga has no copy of the license of Desert Arms LLC/],
      [license({ on_file_flag: false, drop_ship_opted_out_flag: null }), /no copy/],
      [json({ federal_firearms_licenses: [] }), /no copy/],
      [refusedWith(404, 9000), /^Chattanooga does not know the license of Desert Arms LLC: No\.$/],
      [license({ drop_ship_opted_out_flag: 1 }), /^Desert Arms LLC takes no drop shipments/],
    ] as [Answer, RegExp][]) {
      const { sent, paths } = await after(answer)
      assert.equal(sent.outcome, 'rejected')
      assert.match((sent as { reason: string }).reason, reason)
      assert.deepEqual(paths, [ASKED])
    }
  })

  test('nothing is posted, and it may be tried again, where the answer says neither', async () => {
    for (const answer of [
      license({ on_file_flag: null }),
      license({ on_file_flag: 'yes' }),
      license({ drop_ship_opted_out_flag: undefined }),
      json({}),
      json({ federal_firearms_licenses: 'x' }),
      json({ federal_firearms_licenses: [null] }),
      text('{"federal'),
      text('', 404),
      text('<html>', 403, 'text/html'),
      refusedWith(500),
      refusedWith(401, 4001),
      refusedWith(403, 4003),
      json({ message: 'too-many-requests' }, 429),
      broken,
    ]) {
      const { sent, paths } = await after(answer)
      assert.equal(sent.outcome, 'not_sent', JSON.stringify(sent))
      assert.match((sent as { reason: string }).reason, /^whether the dealer's license is on file/)
      assert.deepEqual(paths, [ASKED])
    }
    const { sent } = await after(json({}, 429, { 'retry-after': '9' }))
    assert.equal((sent as { retryAfter: number }).retryAfter, 9)
  })
})
