/**
 * Orders to 2nd Amendment Wholesale as they go over the wire: to the byte, and whatever comes back.
 * The calls, their order and their members are those of its public client and of Magento's REST
 * interface (cart, shipping-information, payment-information).
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MINUTE, SECOND } from '../../../lib/core/clock.js'
import type { PurchaseOrder } from '../../../lib/distributors/fulfillment.js'
import {
  checkToken,
  secondAmendmentOrders,
} from '../../../lib/distributors/builtin/second-amendment/orders.js'
import {
  agreementsIn,
  cheapestOf,
  paymentOf,
} from '../../../lib/distributors/builtin/second-amendment/payload.js'
import { wordsIn } from '../../../lib/distributors/builtin/second-amendment/api.js'
import {
  broken,
  cart,
  filled,
  FIREARM,
  GOOD,
  inTurn,
  json,
  LABEL,
  LINE,
  NOW,
  orderOf,
  rate,
  raw,
  refused,
  SETTINGS,
  withServer,
} from './server.js'
import type { Answer, SceneOptions } from './server.js'

const { submit, find, preview, paperwork, limits } = secondAmendmentOrders()
const PAY = 'POST carts/mine/payment-information'
const ITEMS = 'POST carts/mine/items'
const NOTE = 'PUT carts/mine/set-customer-note'
const CART = 'GET carts/mine'

interface Sent {
  outcome: string
  reason: string
  number?: string | null
  retryAfter?: number
  made: string[]
  bodies: string[]
  stages: string[]
}

/** What comes of an order where some calls are answered so. */
function send(
  answers: Record<string, Answer> = {},
  { order = orderOf(), ...more }: SceneOptions & { order?: PurchaseOrder } = {},
): Promise<Sent> {
  return withServer({ answers, ...more }, async ({ session, made, calls, stages }) => {
    const sent = await submit(session, order)
    return { reason: '', ...sent, made: made(), bodies: calls.map(({ body }) => body), stages }
  })
}

const paid = ({ made }: Sent) => made.filter((what) => what === PAY).length

describe('an order to a customer', () => {
  test('is these calls, to the byte, and the payment alone comes after its cart was kept', () =>
    withServer({}, async ({ session, calls, stages }) => {
      let before = -1
      const keepStage = async (stage: string) => {
        stages.push(stage)
        before = calls.length
      }
      assert.deepEqual(await submit({ ...session, keepStage }, orderOf()), {
        outcome: 'accepted',
        number: '000012345',
      })
      const address =
        '{"firstname":"Pat","lastname":"van Doe","street":["12 Main St","Apt 3"],' +
        '"city":"Phoenix","region":"Arizona","region_code":"AZ","region_id":4,' +
        '"postcode":"85001-1234","country_id":"US","telephone":"602-555-0100"}'
      assert.deepEqual(
        calls.map(({ what, body }) => (body === '' ? what : `${what} ${body}`)),
        [
          'POST carts/mine',
          'GET carts/mine',
          'GET directory/countries/US',
          'GET carts/licence',
          `${NOTE} {"cartId":"17","customerNote":{"customerNote":"${LABEL}"}}`,
          'PUT carts/mine/set-po-number {"cartId":"17","poNumber":{"poNumber":"W-1-ABCD-010"}}',
          `${ITEMS} {"cartItem":{"sku":"TH1-BLK","qty":2,"quote_id":"17"}}`,
          `POST carts/mine/estimate-shipping-methods {"address":${address}}`,
          `POST carts/mine/shipping-information {"address_information":{"shipping_address":${address},` +
            '"billing_address":{"firstname":"Sam","lastname":"Smith","company":"Main Street Guns",' +
            '"street":["1 Shop Plaza"],"city":"Mesa","region":"Arizona","region_code":"AZ",' +
            '"region_id":4,"postcode":"85201","country_id":"US","telephone":"480-555-0100",' +
            '"email":"sam@shop.example"},"shipping_carrier_code":"ups","shipping_method_code":"GND"}}',
          'GET carts/mine',
          `${PAY} {"payment_method":{"method":"checkmo","extension_attributes":{"agreement_ids":["3"]}}}`,
          'GET orders/4711',
        ],
      )
      assert.ok(calls.every(({ authorization }) => authorization === 'Bearer secret-token-1'))
      assert.deepEqual(stages, ['17'])
      assert.equal(
        before,
        calls.findIndex(({ what }) => what === PAY),
      )
    }))

  test('is not paid for where its cart cannot be kept', () =>
    withServer(
      { keepStage: () => Promise.reject(new Error('the disk is full')) },
      async ({ session, made }) => {
        await assert.rejects(async () => submit(session, orderOf()), /the disk is full/)
        assert.ok(!made().includes(PAY))
      },
    ))

  test('is shown beforehand without the token', () => {
    const shown = preview!(orderOf(), SETTINGS)
    assert.equal(shown.length, 12)
    assert.ok(!JSON.stringify(shown).includes('secret-token-1'))
    const item = shown.find(({ what }) => what.endsWith('carts/mine/items'))!
    assert.equal(
      item.body,
      '{"cartItem":{"sku":"TH1-BLK","qty":2,"quote_id":"<number of the cart>"}}',
    )
    assert.match(
      shown.find(({ what }) => what.endsWith('shipping-information'))!.body,
      /"region_id":<number of AZ>,/,
    )
  })
})

describe('a firearm', () => {
  test('goes to the dealer, and the note says whose license it is and for whom', async () => {
    const held = filled({
      items: [{ item_id: 5, sku: 'g-17', qty: 1 }],
      customer_note: `FFL ${LABEL}`,
      extension_attributes: undefined,
    })
    const { outcome, bodies, made } = await send(
      { [CART]: inTurn(json(cart()), json(held)) },
      { order: FIREARM },
    )
    assert.equal(outcome, 'accepted')
    assert.equal(
      bodies[made.indexOf(NOTE)],
      '{"cartId":"17","customerNote":{"customerNote":"FFL 9-86-013-01-8A-12345 Desert Arms LLC, ' +
        `for Pat van Doe, 602-555-0100 ${LABEL}"}}`,
    )
    assert.equal(
      bodies[made.indexOf('POST carts/mine/estimate-shipping-methods')],
      '{"address":{"firstname":"Pat","lastname":"van Doe","company":"Desert Arms LLC",' +
        '"street":["99 Range Rd"],"city":"Austin","region":"Texas","region_code":"TX",' +
        '"region_id":57,"postcode":"73301","country_id":"US","telephone":"602-555-0100"}}',
    )
  })

  test('needs a copy of the license by mail, and one to the store none', () => {
    assert.deepEqual(paperwork!(FIREARM, SETTINGS), {
      what: 'a signed copy of the license 9-86-013-01-8A-12345 of Desert Arms LLC, if they have none',
      recipients: ['ffl@shop.example'],
      subject: 'License for PO W-1-ABCD-010',
      businessDays: 3,
    })
    assert.equal(paperwork!({ ...FIREARM, shipToStore: true }, SETTINGS), null)
    assert.equal(paperwork!(orderOf(), SETTINGS), null)
  })

  test('to the store bears no license, and the name of the store', async () => {
    const held = filled({
      items: [{ item_id: 5, sku: 'G-17', qty: 1 }],
      extension_attributes: undefined,
    })
    const order = { ...FIREARM, shipToStore: true }
    const { outcome, bodies, made } = await send(
      { [CART]: inTurn(json(cart()), json(held)) },
      { order },
    )
    assert.equal(outcome, 'accepted')
    assert.ok(!bodies[made.indexOf(NOTE)]!.includes('FFL'))
    assert.match(
      bodies[made.indexOf('POST carts/mine/estimate-shipping-methods')]!,
      /"firstname":"Desert","lastname":"Arms LLC","company":"Desert Arms LLC"/,
    )
  })
})

describe('the billing address', () => {
  const { api_token } = SETTINGS
  const OWN = 'GET customers/me/billingAddress'

  test("is the account's own where none is entered", async () => {
    const own = {
      id: 9,
      region: { region_code: 'TX', region: 'Texas', region_id: 57 },
      country_id: 'US',
      street: ['5 Own Rd'],
      telephone: '512-555-0100',
      postcode: '73301',
      city: 'Austin',
      firstname: 'Own',
      lastname: 'Account',
    }
    const { outcome, bodies, made } = await send({ [OWN]: json(own) }, { settings: { api_token } })
    assert.equal(outcome, 'accepted')
    assert.ok(
      bodies[made.indexOf('POST carts/mine/shipping-information')]!.includes(
        '"billing_address":{"firstname":"Own","lastname":"Account","street":["5 Own Rd"],' +
          '"city":"Austin","region":"Texas","region_code":"TX","region_id":"57",',
      ),
    )
  })

  for (const [what, answer] of [
    ['that nobody has entered', refused('No such entity', undefined, 404)],
    ['that is blank', json({ street: [], city: '' })],
    ['that is null', json(null)],
  ] as const)
    test(`${what}: the order is refused before anything is put into the cart`, async () => {
      const sent = await send({ [OWN]: answer }, { settings: { api_token } })
      assert.equal(sent.outcome, 'rejected')
      assert.match(sent.reason, /enter fulfillment\.billing_address/)
      assert.ok(!sent.made.some((call) => call.startsWith('PUT') || call === ITEMS))
    })
})

describe('a cart that is not empty', () => {
  const other = (at: number, ref = 'REF99999999999999999') =>
    `[ref ${ref} ${new Date(at).toISOString()}]`
  const leftover = (note: string) =>
    cart({ items: [{ item_id: 8, sku: 'X', qty: 1 }], customer_note: note })
  const begin = (first: unknown, more: Answer[] = [json(cart()), json(filled())]) => ({
    [CART]: inTurn(json(first), ...more),
    'DELETE carts/mine/items/8': json(true),
  })

  for (const [what, ref, rest] of [
    ["another order's", 'REF99999999999999999', 13 * MINUTE],
    ["this order's own, of an earlier send", 'REF00000000000000001', 11 * MINUTE],
  ] as const)
    test(`is left alone as long as something of it may be on its way: ${what}`, async () => {
      for (const note of [other(NOW - rest + SECOND, ref), other(NOW + MINUTE, ref)]) {
        for (const held of [leftover(note), cart({ customer_note: `FFL x ${note}` })]) {
          const sent = await send(begin(held))
          assert.equal(sent.outcome, 'not_sent')
          assert.deepEqual(sent.made, ['POST carts/mine', CART])
          assert.ok(sent.retryAfter! >= 1 && sent.retryAfter! <= rest / SECOND)
        }
      }
      const sent = await send(begin(leftover(other(NOW - rest, ref))))
      assert.equal(sent.outcome, 'accepted')
      assert.ok(sent.made.includes('DELETE carts/mine/items/8'))
    })

  test('is emptied of what a person has left there, and that is made sure of', async () => {
    const sent = await send(begin(leftover('please ring twice')))
    assert.equal(sent.outcome, 'accepted')
    const failed = await send(begin(leftover(''), [json(leftover(''))]))
    assert.deepEqual([failed.outcome, failed.reason], ['not_sent', 'the cart could not be emptied'])
    assert.ok(!failed.made.includes(NOTE))
  })

  for (const [what, held] of [
    ['another item', filled({ items: [...filled().items, { item_id: 6, sku: 'X', qty: 1 }] })],
    ['an item less', filled({ items: [] })],
    ['more units', filled({ items: [{ item_id: 5, sku: 'TH1-BLK', qty: 3 }] })],
    [
      'another ZIP code',
      filled({
        extension_attributes: {
          shipping_assignments: [{ shipping: { address: { postcode: '73301' } } }],
        },
      }),
    ],
    ['no note', filled({ customer_note: '' })],
    ['another number', filled({ id: 18 })],
  ] as const)
    test(`with ${what} before the payment: it is not paid for, and emptied`, async () => {
      const sent = await send({
        [CART]: inTurn(json(cart()), json(held), json(cart({ ...held, items: [] }))),
        'DELETE carts/mine/items/5': json(true),
      })
      assert.equal(sent.outcome, 'not_sent')
      assert.match(sent.reason, /the cart is not as it was filled/)
      assert.equal(paid(sent), 0)
      assert.deepEqual(sent.stages, [])
    })

  test('with the note of another order before the payment: it is left to that one', async () => {
    const sent = await send({
      [CART]: inTurn(json(cart()), json(filled({ customer_note: other(NOW) }))),
    })
    assert.equal(sent.outcome, 'not_sent')
    assert.deepEqual(sent.made.slice(-2), [CART, CART])
  })

  test('units of one item on two lines are as many', async () => {
    const order = orderOf({ lines: [LINE, { ...LINE, qty: 1 }] })
    const held = filled({ items: [{ item_id: 5, sku: 'th1-blk', qty: 3 }] })
    const { outcome } = await send({ [CART]: inTurn(json(cart()), json(held)) }, { order })
    assert.equal(outcome, 'accepted')
  })
})

describe('before the payment', () => {
  test('what the shop refuses is refused, in words, and the cart is left empty', async () => {
    const sent = await send({
      [ITEMS]: refused('The requested qty of "%1" is not available', ['TH1-BLK']),
      [CART]: inTurn(json(cart()), json(filled()), json(cart({ customer_note: LABEL }))),
      'DELETE carts/mine/items/5': json(true),
    })
    assert.deepEqual(
      [sent.outcome, sent.reason],
      ['rejected', 'there is not enough in stock: The requested qty of "TH1-BLK" is not available'],
    )
    assert.deepEqual(sent.made.slice(-4), [CART, 'DELETE carts/mine/items/5', CART, NOTE])
    assert.equal(sent.bodies.at(-1), '{"cartId":"17","customerNote":{"customerNote":""}}')
  })

  test('a refusal stands also where the cart cannot be emptied: the note keeps the next one away', async () => {
    const sent = await send({
      [ITEMS]: refused('no'),
      [CART]: inTurn(json(cart()), broken),
    })
    assert.deepEqual([sent.outcome, sent.reason], ['rejected', 'no'])
  })

  for (const what of Object.keys(GOOD).filter(
    (call) => /^(PUT|POST|GET) (carts|dir)/.test(call) && call !== PAY,
  ))
    for (const [how, answer] of [
      ['no answer', broken],
      ['HTTP 500', raw('{"message":"Internal Error"}', 500)],
      ['a page in HTML', raw('<html>', 403, 'text/html')],
      ['half an answer', raw('{"id":')],
    ] as const)
      test(`${how} to ${what}: nothing was bought, and nothing more is called`, async () => {
        const sent = await send({ [what]: answer })
        assert.equal(sent.outcome, 'not_sent')
        assert.equal(paid(sent), 0)
        assert.equal(sent.made.at(-1), what)
      })

  test('a note without an answer is put once more, lest it comes late', async () => {
    const sent = await send({ [NOTE]: inTurn(broken, json(true)) })
    assert.equal(sent.outcome, 'accepted')
    assert.equal(sent.made.filter((what) => what === NOTE).length, 2)
  })

  test('a token that is not taken: nothing was sent', async () => {
    const answer = refused(
      "The consumer isn't authorized to access %resources.",
      { resources: 'self' },
      401,
    )
    const sent = await send({ 'POST carts/mine': answer })
    assert.deepEqual(
      [sent.outcome, sent.reason],
      ['not_sent', 'the login was refused: the token is not taken'],
    )
  })

  for (const [what, answers, reason] of [
    [
      'no way of shipping',
      { 'POST carts/mine/estimate-shipping-methods': json([rate({ available: false })]) },
      /no way of shipping/,
    ],
    [
      'no way to pay',
      {
        'POST carts/mine/shipping-information': json({
          payment_methods: [{ code: 'braintree' }, { code: 'paypal' }],
        }),
      },
      /no way to pay without a card/,
    ],
    [
      'a state that it does not know',
      { 'GET directory/countries/US': json({ available_regions: [] }) },
      /knows no state "AZ"/,
    ],
  ] as const)
    test(`${what}: refused`, async () => {
      const sent = await send(answers)
      assert.equal(sent.outcome, 'rejected')
      assert.match(sent.reason, reason)
      assert.equal(paid(sent), 0)
    })
})

describe('the payment', () => {
  for (const [how, answer] of [
    ['no answer', broken],
    ['HTTP 500', raw('{"message":"A server error stopped your order from being placed."}', 500)],
    ['HTTP 504', raw('', 504)],
    ['a page in HTML', raw('<html>', 200, 'text/html')],
    ['an empty answer', raw('')],
    ['a redirect', raw('', 302)],
    ['what is no key of an order', json(true)],
    ['a message without a refusal', json({ message: 'ok' })],
  ] as const)
    test(`${how}: not known, and nothing more is called`, async () => {
      const sent = await send({ [PAY]: answer })
      assert.equal(sent.outcome, 'unknown')
      assert.equal(sent.made.at(-1), PAY)
      assert.deepEqual(sent.stages, ['17'])
    })

  const card = refused('The requested Payment Method is not available.')

  test('refused, and the cart is as it was: refused, and left empty', async () => {
    const sent = await send({
      [PAY]: card,
      [CART]: inTurn(json(cart()), json(filled()), json(filled()), json(filled()), json(cart())),
      'DELETE carts/mine/items/5': json(true),
    })
    assert.deepEqual(
      [sent.outcome, sent.reason],
      [
        'rejected',
        'the account cannot pay in this way: The requested Payment Method is not available.',
      ],
    )
    assert.equal(sent.made.at(-1), NOTE)
    assert.deepEqual(sent.stages, ['17', 'nothing was paid for'])
  })

  for (const [what, after] of [
    ['gone', refused('No such entity', undefined, 404)],
    ['another', json(cart({ id: 18 }))],
    ['not to be read', broken],
    [
      'as it was, and a number is reserved for it',
      json(filled({ reserved_order_id: '000012345' })),
    ],
  ] as const)
    test(`refused, and the cart is ${what}: not known`, async () => {
      const sent = await send({ [PAY]: card, [CART]: inTurn(json(cart()), json(filled()), after) })
      assert.equal(sent.outcome, 'unknown')
      assert.deepEqual(sent.stages, ['17'])
    })

  test('turned away before it was looked at: not sent, and the cart is left empty', async () => {
    const sent = await send({
      [PAY]: raw('', 429),
      [CART]: inTurn(json(cart()), json(filled()), json(filled()), json(cart())),
      'DELETE carts/mine/items/5': json(true),
    })
    assert.equal(sent.outcome, 'not_sent')
    assert.deepEqual(sent.stages, ['17', 'nothing was paid for'])
    assert.equal(sent.made.at(-1), NOTE)
  })

  test('is accepted also where the number cannot be asked for', async () => {
    const sent = await send({ 'GET orders/4711': broken })
    assert.deepEqual([sent.outcome, sent.number], ['accepted', null])
    const once = await send({
      'GET orders/4711': inTurn(refused('not yet', undefined, 404), GOOD['GET orders/4711']!),
    })
    assert.equal(once.number, '000012345')
  })

  test('of what costs an account on terms bears the PO', async () => {
    const sent = await send({
      'POST carts/mine/shipping-information': json({
        payment_methods: [{ code: 'braintree' }, { code: 'purchaseorder' }],
      }),
    })
    assert.equal(
      sent.bodies[sent.made.indexOf(PAY)],
      '{"payment_method":{"method":"purchaseorder","po_number":"W-1-ABCD-010",' +
        '"extension_attributes":{"agreement_ids":["3"]}}}',
    )
  })
})

describe('an order whose payment had no answer', () => {
  const look = (answers: Record<string, Answer>, stage: string | null = '17') =>
    withServer({ answers, stage }, ({ session }) => find!(session, orderOf()))
  const SHIPMENTS = 'GET shipmentsInformation/me?fromShipmentCreateAt=2026/11/20'

  test('is not there as long as the very cart still holds it', async () => {
    assert.deepEqual(await look({ [CART]: json(filled()) }), { outcome: 'answered', orders: [] })
  })

  for (const [what, answer] of [
    ['is gone', refused('No such entity', undefined, 404)],
    ['is another', json(filled({ id: 18 }))],
    ['is empty', json(filled({ items: [] }))],
    ['bears no note', json(filled({ customer_note: '' }))],
    ["bears another's note", json(filled({ customer_note: LABEL.replace('1 ', '2 ') }))],
    ['has a number reserved', json(filled({ reserved_order_id: '000012345' }))],
    ['cannot be read', raw('{}')],
    ['cannot be asked for', broken],
  ] as const)
    test(`is not known of where the cart ${what}`, async () => {
      const search = await look({ [CART]: answer })
      assert.equal(search.outcome, 'unreachable')
      // Nothing is bought by who goes on there.
      const sent = await send({ [CART]: answer }, { stage: '17' })
      assert.deepEqual([sent.outcome, paid(sent)], ['unknown', 0])
    })

  test('is found once it is shipped; what else bears the PO proves no absence', async () => {
    const row = {
      order_increment_id: '000012345',
      po_number: 'w-1-abcd-010',
      created_at: '2026-11-22 09:00:00',
      items: [{ sku: 'TH1-BLK', qty: 2 }],
      shipping_address: { firstname: 'Pat', lastname: 'van Doe', postcode: '85001' },
      tracks: [],
    }
    const found = {
      number: '000012345',
      po: 'w-1-abcd-010',
      lines: [{ distsku: 'TH1-BLK', qty: 2 }],
      shipTo: { name: 'Pat van Doe', zip: '85001' },
    }
    const gone = { [CART]: refused('No such entity', undefined, 404), [SHIPMENTS]: json([row]) }
    assert.deepEqual(await look(gone), { outcome: 'answered', orders: [found], showsOne: true })
    assert.deepEqual(await look({ [CART]: json(filled()), [SHIPMENTS]: json([row]) }), {
      outcome: 'answered',
      orders: [found],
    })
    assert.equal((await look({ [SHIPMENTS]: raw('', 500) })).outcome, 'unreachable')
    // A row that the report repeats has left once; two parcels of one order are its parts.
    const half = (track_number: string) => ({
      ...row,
      items: [{ sku: 'TH1-BLK', qty: 1 }],
      tracks: [{ track_number }],
    })
    for (const [rows, lines] of [
      [[row, row, row], found.lines],
      [
        [half('1Z1'), half('1Z2'), half('1Z1')],
        [
          { distsku: 'TH1-BLK', qty: 1 },
          { distsku: 'TH1-BLK', qty: 1 },
        ],
      ],
    ] as const)
      assert.deepEqual(await look({ ...gone, [SHIPMENTS]: json(rows) }), {
        outcome: 'answered',
        orders: [{ ...found, lines }],
        showsOne: true,
      })
  })

  test('before anything was kept, shipments alone are looked into', () =>
    withServer({}, async ({ session, made }) => {
      assert.deepEqual(await find!(session, orderOf()), { outcome: 'answered', orders: [] })
      assert.deepEqual(made(), [SHIPMENTS])
    }))

  test('is gone on with where the cart still holds it', async () => {
    const sent = await send({ [CART]: json(filled()) }, { stage: '17' })
    assert.deepEqual([sent.outcome, sent.number, paid(sent)], ['accepted', '000012345', 1])
    assert.ok(!sent.made.includes(ITEMS) && !sent.made.includes('POST carts/mine'))
  })
})

describe('what is offered', () => {
  test('of shipping, the cheapest that brings it', () => {
    const dear = rate({ carrier_code: 'fedex', method_code: '2D', amount: 40 })
    assert.deepEqual(cheapestOf([dear, rate()]), { carrier: 'ups', method: 'GND' })
    for (const not of [
      { carrier_code: 'instore', amount: 0 },
      { method_title: 'Pick-up at the warehouse', amount: 0 },
      { method_title: 'Will Call', amount: 0 },
      { available: false, amount: 0 },
      { amount: null },
      { method_code: '', amount: 0 },
    ])
      assert.deepEqual(cheapestOf([rate(not), dear])?.carrier, 'fedex', JSON.stringify(not))
    for (const none of [[], null, { message: 'x' }]) assert.equal(cheapestOf(none), null)
  })

  test('of payment, the only one or one that needs no card', () => {
    const of = (...codes: string[]) =>
      paymentOf({ payment_methods: codes.map((code) => ({ code })) })
    assert.deepEqual(
      [of('anything'), of('braintree', 'checkmo', 'purchaseorder'), of('a', 'b'), of()],
      ['anything', 'purchaseorder', null, null],
    )
    assert.equal(paymentOf([]), null)
  })

  test('of terms, all of them', () => {
    assert.deepEqual(agreementsIn([{ agreement_id: 1 }, { agreement_id: '2' }, '3', {}]), [
      '1',
      '2',
      '3',
    ])
  })

  test('of words, with what stands for their parameters', () => {
    assert.equal(wordsIn({ message: '%1 of %2', parameters: ['a', 2] }), 'a of 2')
    assert.equal(
      wordsIn({ message: '%fieldName %other', parameters: { fieldName: 'x' } }),
      'x %other',
    )
    assert.equal(wordsIn({ message: 100 }), '100')
    for (const none of [true, [], {}, { message: '' }]) assert.equal(wordsIn(none), null)
  })
})

describe('the token', () => {
  const check = (answer: Answer) =>
    withServer({ answers: { 'GET token/validate': answer } }, async ({ session, transcript }) => {
      const outcome = await checkToken(session).catch(
        (error: Error) => `${error.name}: ${error.message}`,
      )
      assert.ok(!JSON.stringify(transcript.told()).includes('secret-token-1'))
      return outcome
    })

  test('is good, is not, or nobody can tell', async () => {
    assert.equal(await check(json(true)), 'valid')
    assert.equal(await check(json({ email: 'shop@example' })), 'valid')
    assert.equal(await check(json(false)), 'invalid')
    assert.equal(await check(refused('not authorized', undefined, 401)), 'invalid')
    for (const [answer, said] of [
      [raw('', 401), 'HTTP 401'],
      [
        raw('<html>', 403, 'text/html'),
        '2nd Amendment Wholesale does not accept calls from this address: ask your representative to approve it',
      ],
      [raw('', 500), 'HTTP 500'],
      [raw(''), 'the reply cannot be read'],
      [json(null), 'the reply does not say whether the token is good'],
      [refused('No such route', undefined, 404), 'HTTP 404'],
    ] as const)
      assert.equal(await check(answer), `Unreachable: ${said}`)
  })
})

test('one send of an account at a time, and the longest PO', () => {
  assert.deepEqual([limits.concurrency, limits.po.max], [1, 40])
})
