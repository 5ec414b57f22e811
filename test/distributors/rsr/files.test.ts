/** RSR's files, byte for byte against its layout: what is sent, and what comes back. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { readAnswerFile } from '../../../lib/distributors/builtin/rsr/answer-files.js'
import { easternDay, orderFile } from '../../../lib/distributors/builtin/rsr/order-file.js'
import type { OrderFileOptions } from '../../../lib/distributors/builtin/rsr/order-file.js'
import type { PurchaseOrder } from '../../../lib/distributors/fulfillment.js'

// 23:30 on the 22nd in New York.
const AT = Date.UTC(2026, 10, 23, 4, 30)
const OPTIONS: OrderFileOptions = {
  account: '9901',
  vendorEmail: 'orders@shop.example',
  carrier: 'UPS',
  method: 'Grnd',
}
const CONSUMER = {
  name: 'Pat Doe',
  address1: '12 Main St',
  address2: 'Apt 4',
  city: 'Phoenix',
  state: 'AZ',
  zip: '85001-1234',
  phone: '(602) 555-0100',
}
const ACCESSORY: PurchaseOrder = {
  clientRef: 'REF1',
  serial: 7,
  po: 'W-1-ABCD-123',
  poGiven: 'W-1-ABCD-123',
  poIsOurs: true,
  lane: 'accessories',
  fflRequired: false,
  shipToStore: false,
  lines: [
    { distsku: 'MAG571', upc: '0', name: 'A', qty: 2, unitPrice: 1_000, fflRequired: false },
    { distsku: 'HOL-9', upc: '0', name: 'B', qty: 12, unitPrice: 1_000, fflRequired: false },
  ],
  shipTo: CONSUMER,
  customer: { ...CONSUMER, email: 'pat@customer.example' },
  ffl: null,
  takenAt: AT,
}
const FIREARM: PurchaseOrder = {
  ...ACCESSORY,
  lane: 'firearms',
  fflRequired: true,
  lines: [{ ...ACCESSORY.lines[0]!, distsku: 'GLO1', qty: 1, fflRequired: true }],
  shipTo: {
    name: 'Pine Ridge Arms',
    address1: '1 Pine St',
    address2: null,
    city: 'Macon',
    state: 'GA',
    zip: '31201',
    phone: '4785550111',
  },
  ffl: { licenseNumber: '1-58-021-01-8E-00001', name: 'Pine Ridge Arms', expiresOn: '2028-05-01' },
}

describe("an order's file", () => {
  test('for an accessory to a consumer', () => {
    const { name, text } = orderFile(ACCESSORY, OPTIONS)
    assert.equal(name, 'EORD-09901-20261122-0007.txt')
    assert.equal(
      text,
      [
        // FILEHEADER;00;acct5;date;seq4
        'FILEHEADER;00;09901;20261122;0007',
        // id;10;name;attn;addr1;addr2;city;state;zip;phone;email option;email;vendor email;
        'W-1-ABCD-123;10;Pat Doe;;12 Main St;Apt 4;Phoenix;AZ;850011234;6025550100;N;;orders@shop.example;',
        // id;20;stock;qty 5 digits;carrier;method
        'W-1-ABCD-123;20;MAG571;00002;UPS;Grnd',
        'W-1-ABCD-123;20;HOL-9;00012;UPS;Grnd',
        // id;90;total quantity 7 digits
        'W-1-ABCD-123;90;0000014',
        'FILETRAILER;99;00001',
        '',
      ].join('\r\n'),
    )
  })

  test('for a firearm to a dealer names the license and the consumer', () => {
    const { text } = orderFile(FIREARM, { ...OPTIONS, method: '2Day' })
    assert.deepEqual(text.split('\r\n').slice(1, 4), [
      'W-1-ABCD-123;10;Pine Ridge Arms;Pat Doe;1 Pine St;;Macon;GA;31201;4785550111;N;;orders@shop.example;',
      // id;11;FFL;dealer name;zip;consumer name;consumer phone
      'W-1-ABCD-123;11;158021018E00001;Pine Ridge Arms;31201;Pat Doe;6025550100',
      'W-1-ABCD-123;20;GLO1;00001;UPS;2Day',
    ])
  })

  test('has as many records and fields whatever a customer writes into an address', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.string(), (name, street) => {
        const shipTo = { ...CONSUMER, name, address1: `${street};\r\nX;20;FREE;00099` }
        const { text } = orderFile({ ...ACCESSORY, shipTo }, OPTIONS)
        const rows = text.split('\r\n').map((line) => line.split(';').length)
        assert.deepEqual(rows, [5, 14, 6, 6, 3, 3, 1])
        assert.match(text, /^[\x20-\x7e\r\n]*$/)
      }),
    )
  })

  test('keeps letters whose marks it cannot write', () => {
    const { text } = orderFile(
      { ...ACCESSORY, shipTo: { ...CONSUMER, name: 'José Núñez', city: 'Coeur d’Alene' } },
      OPTIONS,
    )
    assert.match(text, /;10;Jose Nunez;.*;Coeur d Alene;/)
  })

  test('is refused for what its fields cannot hold', () => {
    const refused = (more: Partial<OrderFileOptions>, qty = 1) =>
      orderFile({ ...ACCESSORY, lines: [{ ...ACCESSORY.lines[0]!, qty }] }, { ...OPTIONS, ...more })
    for (const account of ['', '123456', '12a'])
      assert.throws(() => refused({ account }), /up to 5 digits/)
    refused({}, 99_999)
    for (const qty of [0, 100_000, 1.5]) assert.throws(() => refused({}, qty), /up to 5 digits/)
  })

  test('has one name for every send, and numbers from 1 to 9999 that begin anew', () => {
    const named = (serial: number) =>
      orderFile({ ...ACCESSORY, serial }, OPTIONS).name.slice(-8, -4)
    assert.deepEqual([1, 9_999, 10_000, 19_998, 19_999].map(named), [
      '0001',
      '9999',
      '0001',
      '9999',
      '0001',
    ])
  })

  test("is of RSR's day, in summer and winter", () => {
    assert.equal(easternDay(Date.UTC(2026, 6, 2, 3, 59)), '20260701')
    assert.equal(easternDay(Date.UTC(2026, 6, 2, 4, 0)), '20260702')
    assert.equal(easternDay(Date.UTC(2026, 0, 2, 4, 59)), '20260101')
    assert.equal(easternDay(Date.UTC(2026, 0, 2, 5, 0)), '20260102')
  })
})

/** The file that was sent, with a code behind each record. */
const echoed = (codes: Record<string, string> = {}) =>
  orderFile(ACCESSORY, OPTIONS)
    .text.split('\r\n')
    .filter(Boolean)
    .map((line) => {
      const [, type = '', stock = ''] = line.split(';')
      return `${line};${codes[stock] ?? codes[type] ?? '00000'}`
    })
    .join('\r\n')
const ERRORS = 'EERR-RSRGP-09901-20261122-0007.txt'
const lines = (...rows: string[]) => rows.join('\r\n')

describe('what RSR says of an order', () => {
  test('with no fault is that it is accepted', () => {
    assert.deepEqual(readAnswerFile(ERRORS, echoed()), {
      kind: 'errors',
      orders: [
        {
          po: 'W-1-ABCD-123',
          file: '09901-20261122-0007',
          isAccepted: true,
          isDuplicate: false,
          isCancelled: false,
          reasons: [],
        },
      ],
    })
  })

  test('names each fault and its item', () => {
    const reasons = (codes: Record<string, string>) => {
      const answer = readAnswerFile(ERRORS, echoed(codes))
      assert.ok(answer.kind === 'errors')
      const [order] = answer.orders
      assert.deepEqual([order?.isAccepted, order?.isDuplicate], [false, false])
      return order?.reasons
    }
    assert.deepEqual(reasons({ 'HOL-9': '20007' }), ['20007 item HOL-9: the item is out of stock'])
    assert.deepEqual(reasons({ '10': '11006', MAG571: '20010' }), [
      '11006 the FFL that RSR has on file has expired',
      '20010 item MAG571: the item is allocated',
    ])
    assert.deepEqual(reasons({ '10': '11012' }), ['11012 RSR refuses the FFL'])
    assert.deepEqual(reasons({ '90': '30001' }), ['30001 RSR refuses the order'])
    assert.deepEqual(reasons({ '00': '00005' }), ['00005 RSR refuses the file'])
  })

  test('that it has had it before is no refusal', () => {
    for (const codes of [{ '10': '10010' }, { '00': '00003' }] as Record<string, string>[]) {
      const answer = readAnswerFile(ERRORS, echoed(codes))
      assert.ok(answer.kind === 'errors')
      assert.equal(answer.orders[0]?.isDuplicate, true)
    }
    const mixed = readAnswerFile(ERRORS, echoed({ '10': '10010', MAG571: '20007' }))
    assert.ok(mixed.kind === 'errors')
    assert.equal(mixed.orders[0]?.isDuplicate, false)
  })

  test('in a confirmation is its number and what it commits', () => {
    const text = lines(
      'FILEHEADER;00;09901;20261122;0007',
      'W-1-ABCD-123;30;R1234567',
      'W-1-ABCD-123;40;MAG571;00002;00001',
      'W-1-ABCD-123;40;HOL-9;00012;00012',
      'W-1-ABCD-123;50;0000014;0000013',
      'FILETRAILER;99;00001',
    )
    assert.deepEqual(readAnswerFile('ECONF-RSRGP-09901-20261122-0007.txt', text), {
      kind: 'confirmation',
      orders: [
        {
          po: 'W-1-ABCD-123',
          number: 'R1234567',
          items: [
            { distsku: 'MAG571', ordered: 2, units: 1 },
            { distsku: 'HOL-9', ordered: 12, units: 12 },
          ],
        },
      ],
    })
  })

  test('in a shipment is each parcel with what it holds', () => {
    const text = lines(
      'FILEHEADER;00;09901;20261122;0007',
      'W-1-ABCD-123;60;Pat Doe;1Z1;R1234567;20261123;995;200;UPS;Grnd',
      'W-1-ABCD-123;70;MAG571;00002;00002',
      'W-1-ABCD-123;60;Pat Doe;1Z2;R1234567;20261124;995;200;UPS;Grnd',
      'W-1-ABCD-123;70;HOL-9;00012;00010',
      'W-1-ABCD-123;80;0000014;0000012',
      'FILETRAILER;99;00001',
    )
    const answer = readAnswerFile('ESHIP-RSRGP-09901-20261123-0001.txt', text)
    assert.ok(answer.kind === 'shipment')
    assert.deepEqual(
      answer.orders.map(({ po, number, parcels }) => [
        po,
        number,
        parcels.map(({ trackingNumber, shippedOn, items }) => [
          trackingNumber,
          shippedOn,
          items.map(({ units }) => units),
        ]),
      ]),
      [
        [
          'W-1-ABCD-123',
          'R1234567',
          [
            ['1Z1', '2026-11-23', [2]],
            ['1Z2', '2026-11-24', [10]],
          ],
        ],
      ],
    )
  })

  test('in a file that is empty or cut off anywhere is nothing yet', () => {
    assert.deepEqual(readAnswerFile(ERRORS, ''), { kind: 'incomplete' })
    const whole = echoed({ MAG571: '20007' })
    for (let end = 0; end < whole.indexOf('FILETRAILER;'); end++)
      assert.deepEqual(readAnswerFile(ERRORS, whole.slice(0, end)), { kind: 'incomplete' })
  })

  test('that cannot be understood is a fault, and never taken for none', () => {
    const text = lines('W-1;30;R1', 'W-1;40;MAG571;00002;many', 'FILETRAILER;99;00001')
    assert.throws(() => readAnswerFile('ECONF-RSRGP-09901-20261122-0007.txt', text), /"many"/)
    assert.throws(() => readAnswerFile('README.txt', ''), /is not an answer of RSR/)
  })
})
