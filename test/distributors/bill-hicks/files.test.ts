/** Bill Hicks's files, byte for byte as its clients write and read them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { columnsOf } from '../../../lib/distributors/builtin/bill-hicks/account-feed.js'
import { foldersOf } from '../../../lib/distributors/builtin/bill-hicks/account.js'
import { readAnswers } from '../../../lib/distributors/builtin/bill-hicks/answer-files.js'
import { NEW_COLUMNS, OLD_COLUMNS } from '../../../lib/distributors/builtin/bill-hicks/feed.js'
import { newsOf, ordersIn } from '../../../lib/distributors/builtin/bill-hicks/news.js'
import { orderFile } from '../../../lib/distributors/builtin/bill-hicks/order-file.js'
import { billHicksOrders } from '../../../lib/distributors/builtin/bill-hicks/orders.js'
import type { PurchaseOrder } from '../../../lib/distributors/fulfillment.js'
import { isNewsOf } from '../../../lib/orders/matching/match.js'
import { ACCESSORY, AT, CONSUMER, FIREARM, SETTINGS } from './orders.js'

const rows = (...cells: string[][]) => cells.map((row) => `${row.join('\t')}\r\n`).join('')
/** Names above the values of an order, and above its lines. */
const HEAD =
  'HL|Customer#|Ship to#|Ship to Name1|Address 1|Address 2|city|state|zip|cust po|ship method|' +
  'notes|FFL#'
const LINES = 'LL|Item|Description|Qty|Price'

describe("an order's file", () => {
  test('for accessories to a consumer has no ship-to number, and 5 digits of the ZIP', () => {
    assert.deepEqual(orderFile(ACCESSORY, SETTINGS), {
      name: 'W-1-ABCD-010-order.txt',
      text: rows(
        HEAD.split('|'),
        // H, Customer#, Ship to#, name, addresses, city, state, zip, cust po, method, notes, FFL#, END
        [
          'H',
          '12345',
          '0000',
          'Jose Nunez',
          '12 Main St',
          'Apt 4',
          'Phoenix',
          'AZ',
          '85001',
          'W-1-ABCD-010',
          'UPSF',
          '',
          '',
          'END',
        ],
        LINES.split('|'),
        // L, Item, Description, Qty, Price
        ['L', 'BBB 100100', 'Sling', '2', '6.94'],
        ['L', 'CCC 200200', 'Case, 16"', '12', '109.96'],
      ),
    })
  })

  test('for a firearm to a dealer names the license, and for whom it is in 30 characters', () => {
    const { text } = orderFile(
      { ...FIREARM, customer: { ...FIREARM.customer, name: 'Maximiliana Featherstonehaugh' } },
      { ...SETTINGS, default_ship_method: 'UPSR', firearm_ship_method: 'UPSH' },
    )
    assert.equal(
      text.split('\r\n')[1],
      [
        'H',
        '12345',
        '0000',
        'Pine Ridge Arms',
        '1 Pine St',
        '',
        'Macon',
        'GA',
        '31201',
        'W-1-ABCD-110',
        'UPSH',
        '6025550100,Maximiliana Feather',
        '1-58-021-01-8E-00001',
        'END',
      ].join('\t'),
    )
    assert.match(orderFile(FIREARM, { ...SETTINGS, default_ship_method: 'UPSR' }).text, /\tUPSR\t/)
  })

  test('to the store alone has the number of its ship-to', () => {
    const cells = (order: PurchaseOrder, settings = SETTINGS) =>
      orderFile(order, settings).text.split('\r\n')[1]!.split('\t')
    const store = { ...ACCESSORY, shipToStore: true }
    assert.deepEqual(cells(store).slice(1, 4), ['12345', '0007', 'Jose Nunez'])
    assert.equal(cells({ ...store, lines: FIREARM.lines, fflRequired: true })[2], '0007')
    assert.equal(cells(store, { ...SETTINGS, ship_to: '' })[2], '0000')
    // A number goes before the address: with it the parcel would come to the store.
    for (const order of [ACCESSORY, FIREARM]) assert.equal(cells(order)[2], '0000')
  })

  test('has as many fields whatever a customer writes into an address', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.string(), (name, street) => {
        const shipTo = {
          ...CONSUMER,
          name: `x${name}`,
          address1: `y${street}\t\r\nL\tFREE\tx\t99\t0`,
        }
        const lines = orderFile({ ...ACCESSORY, shipTo }, SETTINGS).text.split('\r\n')
        assert.deepEqual(
          lines.map((line) => line.split('\t').length),
          [13, 14, 5, 5, 5, 1],
        )
        assert.match(lines.join(''), /^[\x20-\x7e\t]*$/)
      }),
    )
  })

  test('is refused for what cannot be written as it is meant', () => {
    const refused = (more: Partial<PurchaseOrder>, why: RegExp) =>
      assert.throws(() => orderFile({ ...ACCESSORY, ...more }, SETTINGS), why)
    const [line] = ACCESSORY.lines
    orderFile({ ...ACCESSORY, po: 'P'.repeat(30) }, SETTINGS)
    for (const po of ['', 'P'.repeat(31), 'A/B', 'A\tB', 'A B', '../x'])
      refused({ po }, /customer PO/)
    for (const qty of [0, -1, 1.5, 2 ** 53]) refused({ lines: [{ ...line!, qty }] }, /count/)
    for (const distsku of ['', 'A\tB', 'É1', ' A'])
      refused({ lines: [{ ...line!, distsku }] }, /item number/)
    refused({ lines: [] }, /no items/)
    refused({ lines: [{ ...line!, fflRequired: true }] }, /license/)
    refused({ shipTo: { ...CONSUMER, zip: 'K1A 0B1' } }, /"K1A 0B1" is not a ZIP code/)
    refused({ shipTo: { ...CONSUMER, address1: '日本' } }, /no street/)
    assert.throws(() => orderFile(ACCESSORY, {}), /customer_number/)
  })

  test('to a dealer wants the license by mail, and no other one does', () => {
    const { paperwork } = billHicksOrders()
    const settings = { ...SETTINGS, ffl_recipient_emails: ['ffl@shop.example'] }
    assert.deepEqual(paperwork!(FIREARM, settings), {
      what: 'a copy of the license 1-58-021-01-8E-00001 of Pine Ridge Arms, if they have none',
      recipients: ['ffl@shop.example'],
      subject: '12345 - W-1-ABCD-110',
      businessDays: 1,
    })
    assert.equal(paperwork!(ACCESSORY, settings), null)
    assert.equal(paperwork!({ ...FIREARM, shipToStore: true }, settings), null)
  })

  test('is shown before it is sent, in the folders that the account has', () => {
    const [shown] = billHicksOrders().preview!(ACCESSORY, { ...SETTINGS, ftp_folder: '/My Shop/' })
    assert.equal(shown!.what, 'STOR My Shop/toBHC/W-1-ABCD-010-order.txt')
    assert.equal(shown!.body, orderFile(ACCESSORY, SETTINGS).text)
    const { orders, answers, feed } = foldersOf({
      ftp_order_folder: 'To BHC',
      ftp_answer_folder: '/From BHC',
    })
    assert.deepEqual([orders, answers, feed('a.csv')], ['To BHC', 'From BHC', 'a.csv'])
  })
})

// As two clients have them: days cut off or counted by a spreadsheet, carriers with their way.
const ACK =
  'ACK|PO Date|PO Ack Date|PO Number|Quantity Ordered|Quantity Committed|Product ID|UPC Number|' +
  'Unit of Measure|Price|Shipto Name|Shipto Address1|Shipto Address2|Shipto City|Shipto State|' +
  'Shipto Zip Code|BHC Order Number'
const ASN = ACK.replace('ACK', 'ASN')
  .replace('PO Ack Date', 'Ship Date')
  .replace('Committed', 'Shipped')
  .replace('BHC', 'Tracking Number|Carrier|BHC')
const PLACE = 'Jose Nunez|12 Main St|Apt 4|Phoenix|AZ|85001'
interface Row {
  units: number
  item?: string
  ordered?: number
  po?: string
  place?: string
  number?: string
}
const ack = ({ units, item = 'BBB 100100', ordered = 2, ...more }: Row) =>
  `AckData|11/23/202|46349|${more.po ?? ACCESSORY.po}|${ordered}|${units}|${item}|1|EA|1.00|` +
  `${more.place ?? PLACE}|${more.number ?? '1234567'}`
/** `price`: null for a row without the cell that the header names. */
const asn = (row: Row & { tracking: string; price?: null; day?: string }) =>
  `ASNData|11/23/2026|${row.day ?? '46350'}|${row.po ?? ACCESSORY.po}|${row.ordered ?? 2}|` +
  `${row.units}|${row.item ?? 'BBB 100100'}|1|EA|${row.price === null ? '' : '1.00|'}` +
  `${row.place ?? PLACE}|${row.tracking}|UPSG|${row.number ?? '1234567'}`
const file = (...lines: string[]) => lines.map((line) => `${line}\r\n`).join('')
const whole = (text: string) => readAnswers(text, false)!
const news = (...files: string[]) => [
  ...newsOf(
    files.flatMap((text) => whole(text).map((one) => ({ ...one, modifiedAt: null }))),
    Date.UTC(2026, 11, 1),
  ),
]
const BOTH = [ack({ units: 2 }), ack({ units: 12, ordered: 12, item: 'CCC 200200' })]

describe('an acknowledgement', () => {
  test('tells number, items, place and the day that a spreadsheet counts', () => {
    assert.deepEqual(news(file(ACK, ...BOTH)), [
      {
        number: '1234567',
        po: ACCESSORY.po,
        at: Date.UTC(2026, 10, 23, 15),
        lines: [
          { distsku: 'BBB 100100', qty: 2 },
          { distsku: 'CCC 200200', qty: 12 },
        ],
        shipTo: { name: 'Jose Nunez', address1: '12 Main St', zip: '85001' },
        status: 'Submitted',
      },
    ])
  })

  test('with less committed than ordered is of a part, and with nothing of none', () => {
    const statuses = (...units: [number, number]) =>
      news(
        file(
          ACK,
          ack({ units: units[0] }),
          ack({ units: units[1], ordered: 12, item: 'CCC 200200' }),
        ),
      ).map(({ status, reason }) => [status, reason])
    assert.deepEqual(statuses(2, 11), [['Partially Fulfilled', undefined]])
    assert.deepEqual(statuses(0, 12), [['Partially Fulfilled', undefined]])
    assert.deepEqual(statuses(0, 0), [['Not Fulfilled', 'Bill Hicks commits no unit of the order']])
  })

  test('of one PO for several places is of several orders', () => {
    const other = 'Customer 2|65421 Dale Ave|Apt 200|Anywhere|CA|98547'
    const told = whole(file(ACK, ack({ units: 2 }), ack({ units: 2, place: other })))
    assert.deepEqual(
      told.map(({ shipTo, items }) => [shipTo.zip, items.length]),
      [
        ['85001', 1],
        ['98547', 1],
      ],
    )
  })

  test('that bears our PO and is about other items or another place is not of our order', () => {
    const context = { poIsAlone: true, hasOtherParts: false, recovery: 'file' } as const
    const isOurs = (...lines: string[]) =>
      news(file(ACK, ...lines)).map((one) => isNewsOf(one, ACCESSORY, context))
    assert.deepEqual(isOurs(...BOTH), [true])
    assert.deepEqual(isOurs(ack({ units: 2, item: 'ZZZ 1' })), [false])
    assert.deepEqual(isOurs(ack({ units: 2, ordered: 3 })), [false])
    assert.deepEqual(isOurs(ack({ units: 2, place: 'Jose Nunez|9 Elm|||NY|10001' })), [false])
    // Anybody may use the PO that a caller chose: there a name counts as well.
    const another = news(file(ACK, ack({ units: 2, place: 'Ann Smith|9 Elm|||AZ|85001' })))[0]!
    assert.equal(isNewsOf(another, { ...ACCESSORY, poIsOurs: false }, context), false)
  })

  test('is nothing as long as its last row may be cut off, and never another number', () => {
    const text = file(ACK, ack({ units: 2, number: '1234567' }))
    for (let end = 0; end < text.length; end++)
      for (const { number } of readAnswers(text.slice(0, end), false) ?? [])
        assert.equal(number, '1234567', text.slice(0, end))
    // Written long ago, and without the end of its last line.
    assert.deepEqual(
      readAnswers(text.trim(), true)!.map(({ number }) => number),
      ['1234567'],
    )
    assert.deepEqual(readAnswers(text.trim(), false), [])
  })

  test('with a row that cannot be understood says nothing of that order, and all of the others', () => {
    const broken = [
      ack({ units: 2 }).replace('|2|2|', '|2|many|'),
      ack({ units: 2 }).replace('12 Main St', '12 | Main St'),
      ack({ units: 2 }).split('|').slice(0, 12).join('|'),
      ack({ units: 2, item: '' }),
      ack({ units: 2, place: 'Jose Nunez|12 Main St|||AZ|' }),
    ]
    for (const one of broken)
      assert.deepEqual(
        whole(file(ACK, ack({ units: 2 }), one, ack({ units: 2, po: 'W-2' }))).map(({ po }) => po),
        ['W-2'],
        one,
      )
    for (const text of ['', 'README\r\n', 'A|B\r\n1|2\r\n'])
      assert.equal(readAnswers(text, true), null)
  })
})

describe('a ship notice', () => {
  test('is read whether or not its rows have the price that its header names', () => {
    const text = file(
      ASN,
      asn({ units: 2, tracking: '1Z1' }),
      asn({ units: 12, ordered: 12, item: 'CCC 200200', tracking: '1Z2', price: null }),
    )
    const [told] = news(file(ACK, ...BOTH), text).slice(1)
    assert.equal(told!.status, 'Fulfilled')
    assert.deepEqual(told!.parcels, [
      {
        trackingNumber: '1Z1',
        company: 'UPS',
        method: 'UPSG',
        shippedOn: '2026-11-24',
        url: 'https://www.ups.com/track?tracknum=1Z1',
        status: 'in_transit',
      },
      {
        trackingNumber: '1Z2',
        company: 'UPS',
        method: 'UPSG',
        shippedOn: '2026-11-24',
        url: 'https://www.ups.com/track?tracknum=1Z2',
        status: 'in_transit',
      },
    ])
  })

  test('of a part is of a part, until the rest has left; told twice, it counts once', () => {
    const first = file(ASN, asn({ units: 2, tracking: '1Z1' }))
    const half = file(
      ASN,
      asn({ units: 6, ordered: 12, item: 'CCC 200200', tracking: '1Z2', day: '11/25/2026' }),
    )
    const rest = half.replaceAll('1Z2', '1Z3').replaceAll('11/25', '11/26')
    const statuses = (...files: string[]) =>
      news(file(ACK, ...BOTH), ...files)
        .slice(1)
        .map(({ status }) => status)
    assert.deepEqual(statuses(first, half, half), Array(3).fill('Partially Fulfilled'))
    assert.deepEqual(statuses(rest, half, first), [
      'Partially Fulfilled',
      'Partially Fulfilled',
      'Fulfilled',
    ])
    // Of what was missing at first alone: all of it has not left with that.
    const later = file(ACK, ack({ units: 5, ordered: 5, item: 'CCC 200200' }))
    assert.equal(news(file(ACK, ...BOTH), later, first, half).at(-1)!.status, 'Partially Fulfilled')
  })

  test('after less was committed than ordered leaves the order in part', () => {
    const short = file(ACK, BOTH[0]!, ack({ units: 3, ordered: 12, item: 'CCC 200200' }))
    const shipped = file(
      ASN,
      asn({ units: 2, tracking: '1Z1' }),
      asn({ units: 3, ordered: 12, item: 'CCC 200200', tracking: '1Z1' }),
    )
    assert.deepEqual(
      news(short, shipped).map(({ status, parcels = [] }) => [status, parcels.length]),
      [
        ['Partially Fulfilled', 0],
        ['Partially Fulfilled', 1],
      ],
    )
  })

  test('and its acknowledgement are one order for whoever looks for it', () => {
    const told = [file(ASN, asn({ units: 2, tracking: '1Z1' })), file(ACK, ...BOTH)]
    const found = ordersIn(
      told.flatMap((text) => whole(text).map((one) => ({ ...one, modifiedAt: AT }))),
      AT,
    )
    assert.deepEqual(
      found.map(({ number, lines }) => [number, lines?.length]),
      [['1234567', 2]],
    )
  })
})

describe('the header of the catalog', () => {
  test('is known by its names, or where they are damaged by its places', () => {
    const old = OLD_COLUMNS.join(',')
    assert.deepEqual(columnsOf(old), [...OLD_COLUMNS])
    assert.deepEqual(columnsOf(`"${OLD_COLUMNS.join('","')}"`), [...OLD_COLUMNS])
    const damaged = NEW_COLUMNS.join(',').replace('MFG', 'MFG_product"')
    assert.deepEqual(columnsOf(damaged), NEW_COLUMNS)
    assert.deepEqual(columnsOf(old.replace('marp', 'ma"rp')), OLD_COLUMNS)
  })

  test('of another form is refused: a price is not taken out of a neighboring column', () => {
    for (const header of [
      '',
      'a,b',
      NEW_COLUMNS.slice(1).join(','),
      NEW_COLUMNS.toReversed().join(','),
      `${NEW_COLUMNS.join(',')},one,more`,
    ])
      assert.throws(() => columnsOf(header), /is not one that is known/)
  })
})
