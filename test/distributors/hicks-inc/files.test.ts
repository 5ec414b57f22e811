/** Hicks Inc.: the file of an order, to the byte, and what its folders tell of orders. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readOrder } from '../../../lib/distributors/builtin/hicks-inc/answers.js'
import { ORDER_COLUMNS, orderFile } from '../../../lib/distributors/builtin/hicks-inc/order-file.js'
import { hicksIncOrders } from '../../../lib/distributors/builtin/hicks-inc/orders.js'
import type { PurchaseOrder } from '../../../lib/distributors/fulfillment.js'
import { ACCESSORY, FIREARM } from '../bill-hicks/orders.js'

const SETTINGS = { ftp_user: 'shop', ftp_password: 'secret-word', ship_method: 'UPSG' }
const SHOES = { ...ACCESSORY, lines: ACCESSORY.lines.map((line) => ({ ...line })) }

describe('the file of an order', () => {
  test('has 15 columns between tabs, a row for each item, and the PO for its name', () => {
    const { path, text } = orderFile(SHOES, SETTINGS)
    assert.equal(path, 'th/W-1-ABCD-010.txt')
    const to = 'UPSG\tW-1-ABCD-010\tJose Nunez\t12 Main St\tApt 4\tPhoenix\tAZ\t85001'
    assert.equal(
      text,
      `${to}\tBBB 100100\t2\t\t\t\tJose Nunez\t6025550100\r\n` +
        `${to}\tCCC 200200\t12\t\t\t\tJose Nunez\t6025550100\r\n`,
    )
    assert.equal(ORDER_COLUMNS.length, 15)
    for (const row of text.trimEnd().split('\r\n')) assert.equal(row.split('\t').length, 15)
    assert.deepEqual(orderFile(SHOES, SETTINGS), { path, text })
  })

  test('to a dealer names the license without dashes, and that it goes to the premises', () =>
    assert.equal(
      orderFile(FIREARM, {}).text,
      '\tW-1-ABCD-110\tPine Ridge Arms\t1 Pine St\t\tMacon\tGA\t31201\tGLO 19\t1\t\t' +
        '158021018E00001\tP\tJose Nunez\t6025550100\r\n',
    ))

  test('is none for what would be read otherwise', () => {
    const changes: [Partial<PurchaseOrder>, RegExp][] = [
      [{ po: 'W-1-ABCD-010-17-characters' }, /up to 16/],
      [{ lines: [] }, /no items/],
      [{ lines: [{ ...SHOES.lines[0]!, distsku: 'FOURTEEN-CHARS' }] }, /13 characters/],
      [{ lines: [{ ...SHOES.lines[0]!, qty: 0 }] }, /not a count/],
      [{ lines: [{ ...SHOES.lines[0]!, fflRequired: true }] }, /needs the license/],
      [{ shipTo: { ...SHOES.shipTo, zip: '8500' } }, /not a ZIP/],
    ]
    for (const [change, told] of changes)
      assert.throws(() => orderFile({ ...SHOES, ...change }, SETTINGS), told)
  })

  test('is shown before it is sent, and wants an image of the license by FTP', () => {
    const connector = hicksIncOrders()
    const [shown] = connector.preview!(FIREARM, SETTINGS)
    assert.deepEqual(shown, {
      what: 'STOR th/W-1-ABCD-110.txt',
      headers: {},
      body: orderFile(FIREARM, SETTINGS).text,
    })
    const papers = connector.paperwork!(FIREARM, SETTINGS)!
    assert.match(papers.what, /1-58-021-01-8E-00001.*th\/fflonly\/158021018E00001/)
    assert.equal(connector.paperwork!(SHOES, SETTINGS), null)
  })
})

describe('what lies in its folders', () => {
  const { text } = orderFile(SHOES, SETTINGS)
  const order = {
    po: 'W-1-ABCD-010',
    lines: [
      { distsku: 'BBB 100100', qty: 2 },
      { distsku: 'CCC 200200', qty: 12 },
    ],
    shipTo: { name: 'Jose Nunez', address1: '12 Main St', zip: '85001' },
    problem: null,
  }

  test('an order that was taken is read by its content', () =>
    assert.deepEqual(readOrder(text, { isProblem: false, isSettled: false }), order))

  test('one that was not has a column in front and the reason behind', () => {
    const rows = text.trimEnd().split('\r\n')
    const cells = rows.map((row) => `7\t${row}`.split('\t'))
    const problem = cells
      .map((row) => [...row, ...Array<string>(22 - row.length).fill(''), 'NO STOCK'].join('\t'))
      .join('\r\n')
      .concat('\r\n')
    assert.deepEqual(readOrder(problem, { isProblem: true, isSettled: false }), {
      ...order,
      problem: 'NO STOCK',
    })
  })

  test('half a file, a row of another order, and what is no order tell nothing', () => {
    const as = { isProblem: false, isSettled: false }
    assert.equal(readOrder(text.slice(0, -4), as), null)
    assert.equal(readOrder(text.replace(/W-1-ABCD-010(?=[^]*$)/, 'W-2-ABCD-010'), as), null)
    assert.equal(readOrder('<html></html>\r\n', as), null)
    assert.equal(readOrder('', { ...as, isSettled: true }), null)
  })
})
