/**
 * What is posted to Sports South for each kind of order, byte for byte from what is known of its
 * services, and what is made of every answer that the real ones may give.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HOUR } from '../../../lib/core/clock.js'
import { NOT_APPROVED } from '../../../lib/distributors/builtin/sports-south/api.js'
import {
  checkLogin,
  sportsSouthOrders,
} from '../../../lib/distributors/builtin/sports-south/orders.js'
import { tenDigits } from '../../../lib/distributors/builtin/sports-south/payloads.js'
import type { PurchaseOrder } from '../../../lib/distributors/fulfillment.js'
import { Logins } from '../../../lib/distributors/session/logins.js'
import { Unreachable } from '../../../lib/distributors/session/session.js'
import * as at from './server.js'
import { FIREARM, orderOf, TWO_LINES, withServer } from './server.js'
import type { Answer, WireOptions } from './server.js'

const { submit } = sportsSouthOrders()
const BEGUN: WireOptions = { stage: '1200099' }
const NUMBER = { outcome: 'accepted', number: '1200099' } as const

/** What comes of an order that is answered so, and the operations that were called for it. */
const outcomeOf = (
  answers: Readonly<Record<string, Answer>>,
  order: PurchaseOrder = orderOf(),
  options: WireOptions = {},
) =>
  withServer(
    answers,
    async ({ session, called }) => ({ ...(await submit(session, order)), called: called() }),
    options,
  )

/** The login that every call begins with: "UserName, Password, CustomerNumber, Source on every call". */
const LOGIN = 'UserName=4711&Password=pass%26word&CustomerNumber=4712&Source=4712'

describe('what is posted', () => {
  const posted = (order: PurchaseOrder) =>
    withServer({}, async ({ session, calls }) => {
      assert.deepEqual(await submit(session, order), NUMBER)
      return calls.map(({ path, body }) => `${path} ${body.replace(LOGIN, 'LOGIN')}`)
    })

  test('accessories to a customer: header, lines, submit', async () =>
    assert.deepEqual(await posted(TWO_LINES), [
      // AddHeader(PO, CustomerOrderNumber, SalesMessage, ShipVia, ShipToName, ShipToAttn,
      // ShipToAddr1, ShipToAddr2, ShipToCity, ShipToState, ShipToZip, ShipToPhone,
      // AdultSignature, Signature, Insurance)
      'orders.asmx/AddHeader LOGIN&PO=W-1-ABCD-010&CustomerOrderNumber=REF00000000000000001' +
        '&SalesMessage=&ShipVia=&ShipToName=Pat+Doe&ShipToAttn=Pat+Doe&ShipToAddr1=12+Main+St' +
        '&ShipToAddr2=Apt+3&ShipToCity=Phoenix&ShipToState=AZ&ShipToZip=85001' +
        '&ShipToPhone=6025550100&AdultSignature=false&Signature=false&Insurance=false',
      // AddDetail(OrderNumber, SSItemNumber, Quantity, OrderPrice, CustomerItemNumber,
      // CustomerItemDescription)
      'orders.asmx/AddDetail LOGIN&OrderNumber=1200099&SSItemNumber=50001&Quantity=2' +
        '&OrderPrice=19.89&CustomerItemNumber=&CustomerItemDescription=',
      'orders.asmx/AddDetail LOGIN&OrderNumber=1200099&SSItemNumber=50002&Quantity=1' +
        '&OrderPrice=19.89&CustomerItemNumber=&CustomerItemDescription=',
      // Submit(OrderNumber)
      'orders.asmx/Submit LOGIN&OrderNumber=1200099',
    ]))

  test("firearms to a dealer: its answer first, the buyer's name and ten digits, the license", async () =>
    assert.deepEqual(await posted(FIREARM), [
      // (1) TransferDocumentsRequired(FFL) before AddHeader
      'orders.asmx/TransferDocumentsRequired LOGIN&FFL=9-86-013-01-8A-12345',
      // (2) header with ShipToAttn = the consumer and ShipToPhone of exactly 10 digits
      'orders.asmx/AddHeader LOGIN&PO=W-1-ABCD-010&CustomerOrderNumber=REF00000000000000001' +
        '&SalesMessage=&ShipVia=&ShipToName=Desert+Arms+LLC&ShipToAttn=Pat+Doe' +
        '&ShipToAddr1=99+Range+Rd&ShipToAddr2=&ShipToCity=Mesa&ShipToState=AZ&ShipToZip=85201' +
        '&ShipToPhone=6025550100&AdultSignature=false&Signature=false&Insurance=false',
      // (3) AddShipInstructions: ShipInst1 `FFL # <licence>`, ShipInst2 `PHONE # <10 digits>`
      'orders.asmx/AddShipInstructions LOGIN&SystemOrderNumber=1200099' +
        '&ShipInst1=FFL+%23+9-86-013-01-8A-12345&ShipInst2=PHONE+%23+6025550100',
      // (4) details, Submit
      'orders.asmx/AddDetail LOGIN&OrderNumber=1200099&SSItemNumber=50004&Quantity=1' +
        '&OrderPrice=302.62&CustomerItemNumber=&CustomerItemDescription=',
      'orders.asmx/Submit LOGIN&OrderNumber=1200099',
    ]))

  test('to the store: no address, and 0 for the ZIP', async () =>
    assert.deepEqual(
      (await posted({ ...FIREARM, ffl: null, shipToStore: true }))[0], // Ship to store: ship-to empty, ShipToZip `0`.
      'orders.asmx/AddHeader LOGIN&PO=W-1-ABCD-010&CustomerOrderNumber=REF00000000000000001' +
        '&SalesMessage=&ShipVia=&ShipToName=&ShipToAttn=&ShipToAddr1=&ShipToAddr2=&ShipToCity=' +
        '&ShipToState=&ShipToZip=0&ShipToPhone=&AdultSignature=false&Signature=false' +
        '&Insurance=false',
    ))

  test('as a form', async () =>
    withServer(
      {
        AddHeader: (call, response, n) => {
          assert.equal(response.req.headers['content-type'], 'application/x-www-form-urlencoded')
          at.int(7)(call, response, n)
        },
      },
      async ({ session }) =>
        assert.deepEqual(await submit(session, orderOf()), { outcome: 'accepted', number: '7' }),
    ))

  test('a telephone number is its ten digits, or none', () => {
    for (const [phone, digits] of [
      ['602-555-0100', '6025550100'],
      ['1 602 555 0100', '6025550100'],
      ['602-555-0100 ext. 12', '6025550100'],
      ['602-555-010', null],
      ['2 602 555 0100', null],
      ['', null],
      [null, null],
    ] as const)
      assert.equal(tenDigits(phone), digits, String(phone))
  })
})

describe('an order that is refused before anything is sent', () => {
  for (const [what, more, reason] of [
    [
      'a PO of 33 characters',
      { po: 'P'.repeat(33) },
      /^the PO has 33 characters, 32 are the most; nothing was sent$/,
    ],
    ['a character in the PO', { po: 'P\u00e9' }, /the PO holds "é"/],
    ['no PO', { po: ' ' }, /the PO is missing/],
    ['nine digits', { customer: { ...at.CUSTOMER, phone: '602-555-010' } }, /ShipToPhone/],
    ['no telephone', { customer: { ...at.CUSTOMER, phone: null } }, /ShipToPhone/],
  ] as const)
    test(what, async () => {
      const { outcome, called, ...rest } = await outcomeOf({}, orderOf(more))
      assert.deepEqual([outcome, called], ['rejected', []])
      assert.match((rest as { reason: string }).reason, reason)
    })

  test('and neither a PO of 32 characters, nor what goes to the store without a telephone', async () => {
    assert.equal((await outcomeOf({}, orderOf({ po: 'P'.repeat(32) }))).outcome, 'accepted')
    const store = { shipToStore: true, customer: { ...at.CUSTOMER, phone: null } }
    assert.equal((await outcomeOf({}, orderOf(store))).outcome, 'accepted')
  })
})

describe('the dealer is asked for before the order is begun', () => {
  for (const [answer, outcome, reason] of [
    [at.text('N'), 'rejected', /9-86-013-01-8A-12345 accepts no transfers/],
    [at.text('E'), 'not_sent', /asked again/],
    [at.text(''), 'not_sent', /answers nothing/],
    [at.raw('', 500), 'not_sent', /HTTP 500/],
    [at.broken, 'not_sent', /broken off/],
    [at.raw('<string>Y'), 'not_sent', /cannot be read/],
  ] as const)
    test(`${reason}: ${outcome}`, async () => {
      const sent = await outcomeOf({ TransferDocumentsRequired: answer }, FIREARM)
      assert.equal(sent.outcome, outcome)
      assert.match((sent as unknown as { reason: string }).reason, reason)
      assert.deepEqual(sent.called, ['TransferDocumentsRequired'])
    })

  test('and not for what goes to a customer, or to the store', async () => {
    for (const order of [orderOf(), { ...FIREARM, ffl: null, shipToStore: true }])
      assert.deepEqual((await outcomeOf({}, order)).called, ['AddHeader', 'AddDetail', 'Submit'])
  })
})

describe('the header', () => {
  test('its number is kept before anything is added', async () =>
    withServer({}, async ({ session, stages }) => {
      await submit(session, FIREARM)
      assert.deepEqual(stages, ['1200099 after AddHeader'])
    }))

  test('without a number that is kept, nothing follows', async () =>
    withServer({}, async ({ session, called }) => {
      const full = { ...session, keepStage: () => Promise.reject(new Error('the disk is full')) }
      await assert.rejects(submit(full, orderOf()), /disk is full/)
      assert.deepEqual(called(), ['AddHeader'])
    }))

  test('that was turned away before it was looked at was not sent', async () => {
    for (const [AddHeader, reason] of [
      [at.text('NOT AUTHENTICATED'), 'the login was refused'],
      [at.rows({ ERROR: 'NOT AUTHENTICATED' }), 'the login was refused'],
      [at.raw('', 401), 'the login was refused'],
      [at.raw('', 429, { 'retry-after': '30' }), 'HTTP 429: too many requests'],
    ] as const) {
      const { called, ...sent } = await outcomeOf({ AddHeader })
      assert.deepEqual(sent, {
        outcome: 'not_sent',
        reason,
        ...(reason.startsWith('HTTP') && { retryAfter: 30 }),
      })
      assert.deepEqual(called, ['AddHeader'])
    }
  })

  test('that has no answer with a number may have been begun', async () => {
    for (const AddHeader of [
      at.int(0),
      at.int(-1),
      at.int(''),
      at.text('Order could not be created.'),
      at.rows({ ERROR: 'Invalid ShipVia' }),
      at.rows(),
      at.raw('Missing parameter: PO.', 500),
      at.raw('Forbidden', 403),
      at.raw('<html></html>', 200, { 'content-type': 'text/html' }),
      at.raw('', 302, { location: 'https://elsewhere.example' }),
      at.raw('<?xml version="1.0"?><int xmlns="x">12000'),
      at.raw('<?xml version="1.0"?><long>12</long>'),
      at.raw('<!DOCTYPE int [<!ENTITY a "12">]><int>&a;</int>'),
      at.raw(''),
      at.broken,
    ]) {
      const { outcome, called } = await outcomeOf({ AddHeader })
      assert.deepEqual([outcome, called], ['unknown', ['AddHeader']])
    }
  })
})

describe('what follows the header', () => {
  test('instructions that are not taken are given once more', async () => {
    assert.deepEqual(
      (await outcomeOf({ AddShipInstructions: at.inTurn(at.no, at.yes) }, FIREARM)).called,
      [
        'TransferDocumentsRequired',
        'AddHeader',
        'AddShipInstructions',
        'AddShipInstructions',
        'AddDetail',
        'Submit',
      ],
    )
    const { called, ...refused } = await outcomeOf({ AddShipInstructions: at.no }, FIREARM)
    assert.equal(refused.outcome, 'rejected')
    assert.deepEqual(called.slice(2), [
      'AddShipInstructions',
      'AddShipInstructions',
      'DeleteOpenOrder',
    ])
  })

  test('a line that is not taken ends it: deleted, so refused', async () =>
    assert.deepEqual(await outcomeOf({ AddDetail: at.inTurn(at.yes, at.no) }, TWO_LINES), {
      outcome: 'rejected',
      reason: 'Sports South did not take item 50002, 1 of it (AddDetail: false)',
      called: ['AddHeader', 'AddDetail', 'AddDetail', 'DeleteOpenOrder'],
    }))

  test('where it is not sure that it was deleted, nobody knows', async () => {
    for (const DeleteOpenOrder of [
      at.no,
      at.broken,
      at.raw('', 500),
      at.text('gone'),
      at.text('NOT AUTHENTICATED'),
    ])
      assert.deepEqual(await outcomeOf({ AddDetail: at.no, DeleteOpenOrder }), {
        outcome: 'unknown',
        reason:
          'Sports South did not take item 50001, 2 of it (AddDetail: false); ' +
          'the open order 1200099 could not be deleted',
        called: ['AddHeader', 'AddDetail', 'DeleteOpenOrder'],
      })
  })

  test('whatever has no answer is not known, and never not sent', async () => {
    for (const operation of ['AddShipInstructions', 'AddDetail', 'Submit'])
      for (const answer of [
        at.broken,
        at.raw('', 500),
        at.raw('', 429),
        at.raw('', 401),
        at.text('NOT AUTHENTICATED'),
        at.text(''),
        at.int(1),
        at.raw('<boolean>tr'),
        at.raw('<html></html>', 403, { 'content-type': 'text/html' }),
      ]) {
        const { outcome, called } = await outcomeOf({ [operation]: answer }, FIREARM)
        assert.equal(outcome, 'unknown', operation)
        assert.equal(called.at(-1), operation)
      }
  })

  test('a submit that is refused is looked into', async () => {
    const refused = (GetHeader: Answer, more: Record<string, Answer> = {}) =>
      outcomeOf({ Submit: at.no, GetHeader, ...more })
    const open = await refused(at.header('W'))
    assert.deepEqual(
      [open.outcome, open.called.slice(-3)],
      ['rejected', ['Submit', 'GetHeader', 'DeleteOpenOrder']],
    )
    const failed = await refused(at.header('E'))
    assert.equal(failed.outcome, 'rejected')
    assert.match((failed as unknown as { reason: string }).reason, /STATUS E.*Submit: false/)
    assert.equal((await refused(at.header('E'), { DeleteOpenOrder: at.no })).outcome, 'unknown')
    for (const header of [
      at.header('D'),
      at.header('R'),
      at.header('X'),
      at.rows(),
      at.text(''),
      at.broken,
      at.header('W', { ORCONO: 'ANOTHER' }),
    ]) {
      const { outcome, called } = await refused(header)
      assert.deepEqual([outcome, called.at(-1)], ['unknown', 'GetHeader'])
    }
  })
})

describe('an order that was begun goes on where it was', () => {
  const again = (answers: Record<string, Answer>, order = orderOf()) =>
    outcomeOf({ GetHeader: at.header('W'), ...answers }, order, BEGUN)

  test('it is asked for by its number and our reference', async () =>
    withServer(
      {},
      async ({ session, calls }) => {
        await submit(session, orderOf())
        const { CustomerOrderNumber, OrderNumber } = calls[0]!.fields
        assert.deepEqual([CustomerOrderNumber, OrderNumber], ['REF00000000000000001', '1200099'])
      },
      BEGUN,
    ))

  test('placed is placed, and nothing is called for it', async () => {
    for (const status of ['D', 'R'])
      assert.deepEqual(await again({ GetHeader: at.header(status) }), {
        ...NUMBER,
        called: ['GetHeader'],
      })
  })

  test('an error is a refusal, which the engine makes sure of', async () =>
    assert.deepEqual(await again({ GetHeader: at.header('E') }), {
      outcome: 'rejected',
      reason: 'Sports South could not place the order (STATUS E)',
      called: ['GetHeader'],
    }))

  test('lines that are there are not added twice', async () => {
    const whole = at.rows(at.detail('50001', '2'), at.detail('50002', '1.00'))
    assert.deepEqual((await again({ GetDetail: whole }, TWO_LINES)).called, [
      'GetHeader',
      'GetDetail',
      'GetDetail',
      'Submit',
    ])
    assert.deepEqual(
      (await again({ GetDetail: at.inTurn(at.rows(at.detail('50002', '1')), whole) }, TWO_LINES))
        .called,
      ['GetHeader', 'GetDetail', 'AddDetail', 'GetDetail', 'Submit'],
    )
  })

  test('other lines than ours, or one of them twice, are not submitted', async () => {
    const ours = at.detail('50001', '2')
    for (const GetDetail of [
      at.rows(ours, ours),
      at.rows(at.detail('50001', '3')),
      at.rows(at.detail('50009', '2')),
      at.inTurn(at.rows(), at.rows(ours, ours)),
      at.inTurn(at.rows(), at.rows()),
      at.rows(at.detail('50001', 'two')),
      at.rows(at.detail('', '2')),
      at.text(''),
    ]) {
      const { outcome, called } = await again({ GetDetail })
      assert.equal(outcome, 'unknown')
      assert.ok(!called.includes('Submit'))
    }
  })

  test('a refusal deletes nothing: that it is still open proves that it was not placed', async () => {
    const refusals: Record<string, Answer>[] = [
      { GetDetail: at.rows(), AddDetail: at.no },
      { Submit: at.no },
      { Submit: at.no, GetHeader: at.inTurn(at.header('W'), at.header('E')) },
    ]
    for (const answers of refusals) {
      const { outcome, called } = await again(answers)
      assert.equal(outcome, 'rejected')
      assert.ok(!called.includes('DeleteOpenOrder'))
    }
    assert.equal(
      (await again({ Submit: at.no, GetHeader: at.inTurn(at.header('W'), at.header('D')) }))
        .outcome,
      'unknown',
    )
  })

  test('one that is not shown, or as something else, is not begun anew', async () => {
    for (const GetHeader of [
      at.rows(),
      at.text(''),
      at.header('W', { ORDNO: '1200100' }),
      at.header('W', { ORCONO: 'ANOTHER0000000000000' }),
      at.header('?'),
      at.text('NOT AUTHENTICATED'),
      at.broken,
    ]) {
      const { outcome, called } = await again({ GetHeader })
      assert.deepEqual([outcome, called], ['unknown', ['GetHeader']])
    }
  })

  test('a firearm has its instructions given again, and the dealer is not asked for again', async () =>
    assert.deepEqual(
      (await again({ GetDetail: at.inTurn(at.rows(), at.rows(at.detail('50004', '1'))) }, FIREARM))
        .called,
      ['GetHeader', 'GetDetail', 'AddShipInstructions', 'AddDetail', 'GetDetail', 'Submit'],
    ))
})

/** It is logged, so it repeats nothing of the answer. */
const OTHER = 'GetEmailPrefs answers something else than what was asked for'

describe('a login', () => {
  test('that was refused twice is not tried for an hour', async () => {
    const clock = { ms: 1_000 }
    const logins = new Logins(() => clock.ms)
    const tries = async () =>
      (await outcomeOf({ AddHeader: at.text('NOT AUTHENTICATED') }, orderOf(), { logins })).called
        .length
    assert.deepEqual([await tries(), await tries(), await tries()], [1, 1, 0])
    clock.ms += HOUR
    assert.deepEqual([await tries(), await tries()], [1, 0])
  })

  test('is not shut by anything else', async () => {
    const logins = new Logins(() => 0)
    for (const AddHeader of [at.raw('', 403), at.raw('', 500), at.int(0), at.text('x'), at.broken])
      await outcomeOf({ AddHeader }, orderOf(), { logins })
    await withServer({}, async ({ session }) =>
      assert.equal(session.login('4711', 'pass&word', '4712').reason(), null),
    )
  })

  for (const [what, GetEmailPrefs, expected] of [
    ['preferences are there', at.rows({ CUEML: 'a@b.example' }), 'valid'],
    [
      'as text that is not escaped',
      at.text('<NewDataSet><Table><CUEML/></Table></NewDataSet>'),
      'valid',
    ],
    ['NOT AUTHENTICATED in a row', at.rows({ ERROR: 'NOT AUTHENTICATED' }), 'invalid'],
    ['NOT AUTHENTICATED alone', at.text('NOT AUTHENTICATED'), 'invalid'],
    ['authentication failed', at.rows({ ERROR: 'Authentication Failed' }), 'invalid'],
    ['the address is not approved', at.raw('', 403), `unreachable: ${NOT_APPROVED}`],
    ['another error', at.rows({ ERROR: 'Down' }), `unreachable: ${OTHER}`],
    ['no row', at.rows(), `unreachable: ${OTHER}`],
    ['nothing', at.text(''), 'unreachable: GetEmailPrefs: the reply cannot be read'],
    [
      'cut off',
      at.text('&lt;NewDataSet&gt;&lt;Table&gt;'),
      'unreachable: GetEmailPrefs: the reply cannot be read',
    ],
    ['too many', at.raw('', 429), 'unreachable: HTTP 429: too many requests'],
    ['broken off', at.broken, 'unreachable: the connection was broken off'],
  ] as const)
    test(`check, ${what}: ${expected}`, async () =>
      withServer({ GetEmailPrefs }, async ({ session }) => {
        const outcome = await checkLogin(session).catch((error: unknown) => {
          assert.ok(error instanceof Unreachable)
          return `unreachable: ${error.message}`
        })
        assert.equal(outcome, expected)
      }))
})
