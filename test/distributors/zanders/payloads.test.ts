/** What is posted to Zanders for each kind of order, to the byte, from what is known of its services. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PurchaseOrder } from '../../../lib/distributors/fulfillment.js'
import { zandersOrders } from '../../../lib/distributors/builtin/zanders/orders.js'
import { CUSTOMER, FIREARM, orderOf, SETTINGS, withServer } from './server.js'

const connector = zandersOrders()
const STORE = { ...FIREARM, shipToStore: true, ffl: null }

/** How a send ends, and what was called for it. */
const sent = (order: PurchaseOrder) =>
  withServer({}, async ({ session, called }) => ({
    ...(await connector.submit(session, order)),
    called: called(),
  }))

/** SOAP 1.2 rpc/encoded; the namespace of a service is its address on the host, without TLS. */
const envelope = (service: string, call: string) =>
  '<?xml version="1.0" encoding="UTF-8"?>\n' +
  '<env:Envelope xmlns:env="http://www.w3.org/2003/05/soap-envelope" ' +
  `xmlns:ns1="http://shop2.gzanders.com/webservice/${service}" ` +
  'xmlns:xsd="http://www.w3.org/2001/XMLSchema" ' +
  'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ' +
  'xmlns:ns2="http://xml.apache.org/xml-soap" ' +
  `xmlns:enc="http://www.w3.org/2003/05/soap-encoding"><env:Body>${call}</env:Body></env:Envelope>\n`
const text = (name: string, value: string) => `<${name} xsi:type="xsd:string">${value}</${name}>`
const item = (key: string, value: string) =>
  `<item><key xsi:type="xsd:string">${key}</key>${text('value', value)}</item>`
const ENCODED = 'env:encodingStyle="http://www.w3.org/2003/05/soap-encoding"'
const TESTING = '<testing xsi:type="xsd:boolean">false</testing>'

const createOrder = (login: string, head: string, sku: string, qty: string) =>
  envelope(
    'orders',
    `<ns1:createOrder ${ENCODED}>${login}<order xsi:type="ns2:Map">${head}` +
      '<item><key xsi:type="xsd:string">items</key>' +
      '<value enc:itemType="ns2:Map" enc:arraySize="1" xsi:type="enc:Array">' +
      `<item xsi:type="ns2:Map">${item('itemNumber', sku)}${item('quantity', qty)}` +
      '<item><key xsi:type="xsd:string">allowBackOrder</key>' +
      '<value xsi:type="xsd:boolean">false</value></item></item></value></item></order>' +
      `${TESTING}</ns1:createOrder>`,
  )
/** Name and telephone in 40 characters each: 80, of which a client that knows of 40 sees the name. */
const INSTRUCTIONS = `${'Pat Doe'.padEnd(40)}${'602-555-0100'.padEnd(40)}`

describe('what is posted', () => {
  const posted = (order: PurchaseOrder) =>
    withServer({}, async ({ session, calls }) => {
      assert.deepEqual(await connector.submit(session, order), {
        outcome: 'accepted',
        number: '1111111',
      })
      return calls.map(({ service, body }) => [service, body])
    })

  test('accessories to a customer: one call with the address, by the accessories account, UM', async () =>
    assert.deepEqual(await posted(orderOf()), [
      [
        'orders',
        createOrder(
          text('username', 'acc') + text('password', 'pass&amp;word'),
          item('shipDate', '2026-11-21') +
            item('shipViaCode', 'UM') +
            item('purchaseOrderNumber', 'W-1-ABCD-010') +
            item('shipToName', 'Pat Doe') +
            item('shipToAddress1', '12 Main St') +
            item('shipToAddress2', 'Apt 3 &amp; 4') +
            item('shipToCity', 'Phoenix') +
            item('shipToState', 'AZ') +
            item('shipToZip', '85001') +
            item('shipInstructions', INSTRUCTIONS),
          'AC100042',
          '2',
        ),
      ],
    ]))

  test('firearms to a dealer: its ship-to by the license, then its number, by the firearms account, UG', async () =>
    assert.deepEqual(await posted(FIREARM), [
      [
        'shiptoaddresses',
        envelope(
          'shiptoaddresses',
          `<ns1:useShipTo ${ENCODED}>${text('username', 'guns')}${text('password', 'guns-secret')}` +
            '<addressinfo xsi:type="ns2:Map">' +
            item('name', 'Desert Arms LLC') +
            item('address1', '99 Range Rd') +
            item('address2', '') +
            item('city', 'Mesa') +
            item('state', 'AZ') +
            item('zip', '85201') +
            // The first three and the last five of 9-86-013-01-8A-12345.
            item('fflno', '98612345') +
            item('fflexp', '2028-01-01') +
            `</addressinfo>${TESTING}</ns1:useShipTo>`,
        ),
      ],
      [
        'orders',
        createOrder(
          text('username', 'guns') + text('password', 'guns-secret'),
          item('shipDate', '2026-11-21') +
            item('shipViaCode', 'UG') +
            item('purchaseOrderNumber', 'W-1-ABCD-010') +
            item('shipToNo', '0003') +
            item('shipInstructions', INSTRUCTIONS),
          'GSPEC0595A',
          '1',
        ),
      ],
    ]))

  test('to the store: the ship-to 0001, by the main account, BW', async () =>
    assert.deepEqual(await posted(STORE), [
      [
        'orders',
        createOrder(
          text('username', 'main') + text('password', 'main-secret'),
          item('shipDate', '2026-11-21') +
            item('shipViaCode', 'BW') +
            item('purchaseOrderNumber', 'W-1-ABCD-010') +
            item('shipToNo', '0001'),
          'GSPEC0595A',
          '1',
        ),
      ],
    ]))

  test('instructions have 80 characters, however long name and telephone are', async () => {
    for (const [name, phone, expected] of [
      ['N'.repeat(40), '1'.repeat(40), 'N'.repeat(40) + '1'.repeat(40)],
      ['N'.repeat(41), null, 'N'.repeat(40) + ' '.repeat(40)],
    ] as const)
      await withServer({}, async ({ session, calls }) => {
        await connector.submit(session, orderOf({ customer: { ...CUSTOMER, name, phone } }))
        assert.ok(calls[0]!.body.includes(`<value xsi:type="xsd:string">${expected}</value>`))
      })
  })

  test('a shop without a main account orders to its store with the account of the items', async () => {
    const { store_user: _user, store_password: _password, ...settings } = SETTINGS
    await withServer(
      {},
      async ({ session, calls }) => {
        await connector.submit(session, STORE)
        assert.match(calls[0]!.body, />guns<.*>UG<.*>0001</)
      },
      { settings },
    )
  })

  test('a preview says the same, with what is not known yet in angle brackets', () => {
    const [first, second] = connector.preview!(FIREARM, SETTINGS)
    assert.equal(first!.what, 'POST https://shop2.gzanders.com/webservice/shiptoaddresses')
    assert.match(second!.body, /&lt;the day it is sent&gt;.*&lt;ShipToNo of that answer&gt;/)
  })

  test('what cannot be sent is refused before anything is', async () => {
    const faults: [order: PurchaseOrder, reason: RegExp][] = [
      [orderOf({ po: 'P'.repeat(23) }), /purchaseOrderNumber has 23 characters, 22 are the most/],
      [orderOf({ po: 'P\u00e9' }), /purchaseOrderNumber holds "é"/],
      [orderOf({ po: ' ' }), /missing/],
      [{ ...FIREARM, ffl: null }, /license \(fflno\)/],
      [{ ...FIREARM, lines: [...FIREARM.lines, ...orderOf().lines] }, /different accounts/],
      [orderOf({ shipTo: { ...CUSTOMER, zip: '8500' } }), /shipToZip "8500"/],
    ]
    for (const [order, reason] of faults) {
      const { outcome, called, ...rest } = await sent(order)
      assert.deepEqual([outcome, called], ['rejected', []])
      assert.match('reason' in rest ? rest.reason : '', reason)
    }
    assert.equal((await sent(orderOf({ po: 'P'.repeat(22) }))).outcome, 'accepted')
  })

  test('what is drop-shipped to California is left to a person, and what goes to a store there is not', async () => {
    const inCa = { ...CUSTOMER, state: 'ca', zip: '90001' }
    for (const order of [orderOf({ shipTo: inCa }), { ...FIREARM, shipTo: inCa }]) {
      const { outcome, called } = await sent(order)
      assert.deepEqual([outcome, called], ['review', []])
    }
    assert.equal((await sent({ ...STORE, shipTo: inCa })).outcome, 'accepted')
  })
})
