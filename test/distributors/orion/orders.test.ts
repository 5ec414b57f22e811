/** Orion Wholesale: what is posted for each kind of order, to the byte, and that nobody reads it later. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import { HOUR } from '../../../lib/core/clock.js'
import { orionOrders } from '../../../lib/distributors/builtin/orion/orders.js'
import type { OpenOrder, OrderSession, OrderUpdate } from '../../../lib/distributors/fulfillment.js'
import { openSession } from '../../../lib/distributors/session/open-session.js'
import { Transcript } from '../../../lib/distributors/session/transcript.js'
import { FIREARM, NOW, orderOf } from '../second-amendment/server.js'

const KEY = 'secret-key-of-orion'
const connector = orionOrders()
/** Spaces as a browser's form writes them. */
const decoded = (query: string) => [...new URLSearchParams(query)]

describe('an order', () => {
  const bodyOf = (order = orderOf()) => connector.preview!(order, {})[0]!

  test('to a customer has the address of the customer', () => {
    const { what, body } = bodyOf()
    assert.equal(what, 'POST https://orionfflsales.com/api.php?method=place_order')
    assert.deepEqual(decoded(body), [
      ['order_type', 'customer'],
      ['order_items', '[{"product_code":"TH1-BLK","quantity":2}]'],
      ['shipping_method_code', 'STANDARD'],
      ['purchase_order_number', 'W-1-ABCD-010'],
      ['full_name', 'Pat van Doe'],
      ['address_1', '12 Main St'],
      ['address_2', 'Apt 3'],
      ['city', 'Phoenix'],
      ['state', 'AZ'],
      ['postal_code', '85001'],
      ['country_code', 'US'],
      ['phone_number', '602-555-0100'],
      ['email_address', 'pat@customer.example'],
    ])
  })

  test('to a dealer has its license, and for whom it is', () => {
    assert.deepEqual(decoded(bodyOf(FIREARM).body), [
      ['order_type', 'ffl'],
      ['order_items', '[{"product_code":"G-17","quantity":1}]'],
      ['shipping_method_code', 'STANDARD'],
      ['purchase_order_number', 'W-1-ABCD-010'],
      ['full_name', 'Desert Arms LLC'],
      ['address_1', '99 Range Rd'],
      ['address_2', ''],
      ['city', 'Austin'],
      ['state', 'TX'],
      ['postal_code', '73301'],
      ['country_code', 'US'],
      ['phone_number', '602-555-0100'],
      ['email_address', 'pat@customer.example'],
      ['license_number', '9-86-013-01-8A-12345'],
      ['order_notes_content', 'Customer: Pat van Doe / 602-555-0100 / pat@customer.example'],
    ])
  })

  test('to the store has no address: it goes to that of the account', () =>
    assert.deepEqual(decoded(bodyOf(orderOf({ shipToStore: true })).body), [
      ['order_type', 'dealer'],
      ['order_items', '[{"product_code":"TH1-BLK","quantity":2}]'],
      ['shipping_method_code', 'STANDARD'],
      ['purchase_order_number', 'W-1-ABCD-010'],
    ]))
})

describe('over the wire', () => {
  let answer: { status: number; body: string }
  let asked: { what: string; key: unknown; length: unknown }[] = []
  const server = createServer((request, response) => {
    asked.push({
      what: `${request.method} ${request.url}`,
      key: request.headers['connection-key'],
      length: request.headers['content-length'],
    })
    if (answer.status === 0) return void request.socket.destroy()
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
  })
  let address: string
  before(async () => {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  })
  beforeEach(() => {
    asked = []
  })
  after(() => new Promise((done) => server.close(done)))

  function session() {
    const transcript = new Transcript(() => NOW, [KEY])
    const plain = openSession(
      { name: 'Orion Wholesale' },
      {
        settings: { connection_key: KEY },
        signal: AbortSignal.timeout(10_000),
        now: () => NOW,
        transcript,
      },
    )
    const http = plain.httpAt(address, { hosts: [], simulator: {} })
    const own: OrderSession = { ...plain, http, stage: null, keepStage: async () => {} }
    return { session: own, transcript }
  }
  const submit = async (status: number, body: unknown) => {
    answer = { status, body: JSON.stringify(body) }
    return connector.submit(session().session, orderOf())
  }

  test('everything stands in the query of an empty POST, and nothing of it is recorded', async () => {
    answer = { status: 200, body: '{"result":"OK","order_id":4711}' }
    const { session: own, transcript } = session()
    assert.deepEqual(await connector.submit(own, orderOf()), {
      outcome: 'accepted',
      number: '4711',
    })
    const [call] = asked
    assert.match(call!.what, /^POST \/api\.php\?method=place_order&order_type=customer&/)
    assert.match(call!.what, /full_name=Pat\+van\+Doe/)
    assert.deepEqual([call!.key, call!.length], [KEY, '0'])
    const told = JSON.stringify(transcript.told())
    assert.match(told, /place_order/)
    for (const personal of ['Pat', '12 Main', '85001', 'customer.example', '555-0100', KEY])
      assert.ok(!told.includes(personal), personal)
  })

  test('a refusal in words is one; what is not clear is left open, and nothing finds it', async () => {
    assert.deepEqual(await submit(200, { result: 'ERROR', error_message: 'out of stock' }), {
      outcome: 'rejected',
      reason: 'out of stock',
    })
    for (const [status, body] of [
      [200, { result: 'OK' }],
      [200, { result: 'ERROR', error_message: 'no', order_id: 5 }],
      [500, { result: 'ERROR', error_message: 'no' }],
      [0, {}],
    ] as const)
      assert.equal((await submit(status, body)).outcome, 'unknown', JSON.stringify(body))
    assert.equal((await submit(401, { error: 'bad key' })).outcome, 'not_sent')
    assert.deepEqual([connector.recovery, connector.find], ['one_shot', undefined])
  })

  test('shipments are asked for by days, and are of orders whose number is ours', async () => {
    const open = { number: '4711', po: 'W-1-ABCD-010', placedAt: NOW - HOUR } as OpenOrder
    const rows = [
      { order_id: 4711, tracking_identifier: '1Z999AA10123456784', carrier_description: 'UPS' },
      { order_id: 4712, tracking_identifier: '1Z999AA10123456785' },
    ]
    answer = { status: 200, body: JSON.stringify({ result: 'OK', shipments: rows }) }
    const told: OrderUpdate[] = []
    for await (const one of connector.updates!(session().session, NOW - HOUR, [open]))
      told.push(one)
    assert.equal(asked[0]!.what, 'GET /api.php?method=get_shipment_data&days=2')
    assert.deepEqual(
      told.map(({ number, status, parcels }) => [
        number,
        status,
        parcels!.map(({ trackingNumber, company }) => [trackingNumber, company]),
      ]),
      [['4711', 'Fulfilled', [['1Z999AA10123456784', 'UPS']]]],
    )
  })
})
