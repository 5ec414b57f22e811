/** Sports South's simulator, as a client meets it that nobody here wrote: by GET and by form. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { MINUTE, wholeMilliseconds } from '../../../lib/core/clock.js'
import { parseXml } from '../../../lib/distributors/session/xml.js'
import { ITEM_COLUMNS } from '../../../lib/distributors/builtin/sports-south/columns.js'
import { readSimulatorOrders } from '../../../lib/simulator/inspect.js'
import { openStandAlone } from '../../../lib/simulator/stand-alone.js'
import type { StandAlone } from '../../../lib/simulator/stand-alone.js'
import { fractional } from '../../../server/testing/clock.js'
import { watchErrors } from '../../../server/testing/error-watch.js'
import { pattern } from '../../harness/pattern.js'

const LICENSE = '1-57-033-01-9E-67890'
const HEADER = {
  PO: 'MY-PO-1',
  CustomerOrderNumber: '55555',
  SalesMessage: '',
  ShipVia: '',
  ShipToName: 'Pat Doe',
  ShipToAttn: 'Pat Doe',
  ShipToAddr1: '12 Main St',
  ShipToAddr2: '',
  ShipToCity: 'Phoenix',
  ShipToState: 'AZ',
  ShipToZip: '85001',
  ShipToPhone: '6025550100',
  AdultSignature: 'false',
  Signature: 'false',
  Insurance: 'false',
}

describe("a stranger's client", () => {
  let dir: string
  let simulators: StandAlone
  let login: Record<string, string>
  let address: string
  const clock = { ms: Date.UTC(2026, 10, 21, 12) }
  const watch = watchErrors()

  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'qm-sports-south-'))
    const now = wholeMilliseconds(fractional(() => clock.ms))
    simulators = await openStandAlone({ dir, now, log: watch.log, offers: 600 })
    const ours = simulators.distributors.find(({ distid }) => distid === 'TSW')!
    address = ours.address
    login = {
      UserName: ours.credentials['api_user']!,
      Password: ours.credentials['api_password']!,
      CustomerNumber: ours.credentials['api_customer_number']!,
      Source: 'shop',
    }
  })
  after(() => {
    simulators?.close()
    rmSync(dir, { recursive: true, force: true })
    watch.check()
  })

  const post = (path: string, params: Record<string, string> = {}) =>
    fetch(address + path, { method: 'POST', body: new URLSearchParams({ ...login, ...params }) })
  /** The text of the one element of an answer. */
  async function said(path: string, params: Record<string, string> = {}): Promise<string> {
    const answer = await post(path, params)
    const body = await answer.text()
    assert.equal(answer.status, 200, body)
    return parseXml(body).text
  }
  async function rows(
    path: string,
    params: Record<string, string> = {},
  ): Promise<Record<string, string>[]> {
    return parseXml(await said(path, params)).children.map(({ children }) =>
      Object.fromEntries(children.map(({ name, text }) => [name, text])),
    )
  }
  const orders = () => readSimulatorOrders(dir).filter(({ distid }) => distid === 'TSW')
  async function itemOf(type: string): Promise<Record<string, string>> {
    const items = await rows('inventory.asmx/DailyItemUpdate', {
      LastUpdate: '1/1/1990',
      LastItem: '-1',
    })
    return items.find(({ ITYPE, QTYOH }) => ITYPE === type && Number(QTYOH) > 3)!
  }

  test('is answered to the byte as the real one does', async () => {
    const answer = await post('orders.asmx/AddHeader', HEADER)
    assert.equal(answer.headers.get('content-type'), 'text/xml; charset=utf-8')
    // <int xmlns=…>1200099</int>
    assert.match(
      await answer.text(),
      pattern(
        /^<\?xml version="1\.0" encoding="utf-8"\?>\r\n/,
        /<int xmlns="http:\/\/webservices\.theshootingwarehouse\.com\/smart\/Orders">\d+<\/int>$/,
      ),
    )
    // <string xmlns=…> holding ESCAPED XML (NewDataSet/Table)
    const prefs = await (await post('users.asmx/GetEmailPrefs')).text()
    assert.match(
      prefs,
      /<string xmlns="[^"]+">&lt;NewDataSet&gt;[\s\S]*&lt;Table&gt;[\s\S]*<\/string>$/,
    )
  })

  test('may use GET, other capitals, and any order of the fields', async () => {
    const query = new URLSearchParams({ ffl: LICENSE, ...login })
    const answer = await fetch(`${address}Orders.asmx/fflacceptstransfer?${query}`)
    assert.match(parseXml(await answer.text()).text, /^\d+\/\d+\/\d{4}$/)
    assert.equal(await said('orders.asmx/FFLAcceptsTransfer', { FFL: '1-57' }), 'UNKNOWN')
    assert.equal(await said('orders.asmx/TransferDocumentsRequired', { FFL: LICENSE }), 'Y')
  })

  test('is told what it forgot, and that nobody knows it', async () => {
    const { PO: _po, ...without } = HEADER
    const forgot = await post('orders.asmx/AddHeader', without)
    assert.deepEqual([forgot.status, await forgot.text()], [500, 'Missing parameter: PO.\r\n'])
    assert.equal((await post('orders.asmx/Nothing')).status, 404)
    for (const [path, params] of [
      ['orders.asmx/Submit', { OrderNumber: '1', Password: 'another' }],
      ['users.asmx/GetEmailPrefs', { UserName: 'another' }],
      ['users.asmx/GetEmailPrefs', { CustomerNumber: 'another' }],
    ] as const)
      assert.match(await said(path, params), /NOT AUTHENTICATED/)
  })

  test('places an order step by step, and only the submit counts', async () => {
    const { ITEMNO: SSItemNumber } = await itemOf('3')
    const OrderNumber = await said('orders.asmx/AddHeader', HEADER)
    const line = {
      OrderNumber,
      SSItemNumber: SSItemNumber!,
      Quantity: '2',
      OrderPrice: '1.00',
      CustomerItemNumber: '',
      CustomerItemDescription: '',
    }
    assert.equal(await said('orders.asmx/AddDetail', line), 'true')
    for (const more of [
      { SSItemNumber: '1' },
      { Quantity: '0' },
      { Quantity: 'x' },
      { OrderNumber: '1' },
    ])
      assert.equal(await said('orders.asmx/AddDetail', { ...line, ...more }), 'false')
    const asked = { OrderNumber, CustomerOrderNumber: '' }
    const status = async () => (await rows('orders.asmx/GetHeader', asked))[0]!['STATUS']
    assert.equal(await status(), 'W')
    assert.deepEqual(orders(), [])
    assert.equal(await said('orders.asmx/Submit', { OrderNumber }), 'true')
    assert.equal(await said('orders.asmx/Submit', { OrderNumber }), 'true')
    assert.equal(await said('orders.asmx/DeleteOpenOrder', { OrderNumber }), 'false')
    assert.equal(await status(), 'R')
    assert.deepEqual(
      orders().map(({ number, po, lines }) => [number?.replace('SIM-TSW-', ''), po, lines]),
      [[OrderNumber, 'MY-PO-1', [{ distsku: SSItemNumber, qty: 2, committed: 2 }]]],
    )
    clock.ms += 5 * MINUTE
    const [header] = await rows('orders.asmx/GetHeader', {
      OrderNumber: '0',
      CustomerOrderNumber: '55555',
    }).then((all) => all.filter(({ STATUS }) => STATUS !== 'W'))
    assert.deepEqual(
      [header!['ORDNO'], header!['ORPO'], header!['ORCONO'], header!['STATUS']],
      [OrderNumber, 'MY-PO-1', '55555', 'D'],
    )
    const [detail] = await rows('orders.asmx/GetDetail', asked)
    assert.deepEqual(
      [detail!['ORITEM'], detail!['ORQTY'], detail!['ORQTYF']],
      [SSItemNumber, '2', '2'],
    )
    const parcels = await rows('invoices.asmx/GetTrackingByPo', { PONumber: 'MY-PO-1' })
    assert.deepEqual(
      parcels.map(({ PONBR, SHPDTE, SERVICE }) => [PONBR, SHPDTE, SERVICE]),
      [['MY-PO-1', '2026-11-21T00:00:00+00:00', 'UPS Ground']],
    )
    assert.deepEqual(await rows('invoices.asmx/GetTrackingByPo', { PONumber: 'ANOTHER' }), [])
  })

  test('cannot buy a firearm without instructions, nor what is not there', async () => {
    const before = orders().length
    const place = async (type: string, Quantity: string, ShipInst1?: string) => {
      const { ITEMNO } = await itemOf(type)
      const OrderNumber = await said('orders.asmx/AddHeader', HEADER)
      const instructions = { SystemOrderNumber: OrderNumber, ShipInst2: 'PHONE # 6025550100' }
      const told =
        ShipInst1 === undefined
          ? []
          : [await said('orders.asmx/AddShipInstructions', { ...instructions, ShipInst1 })]
      const line = {
        OrderNumber,
        SSItemNumber: ITEMNO!,
        Quantity,
        OrderPrice: '1',
        CustomerItemNumber: '',
        CustomerItemDescription: '',
      }
      const asked = { OrderNumber, CustomerOrderNumber: '' }
      return [
        ...told,
        await said('orders.asmx/AddDetail', line),
        await said('orders.asmx/Submit', { OrderNumber }),
        (await rows('orders.asmx/GetHeader', asked))[0]!['STATUS'],
      ]
    }
    assert.deepEqual(await place('1', '1'), ['true', 'false', 'E'])
    assert.deepEqual(await place('1', '1', 'FFL # 1'), ['false', 'true', 'false', 'E'])
    assert.deepEqual(await place('1', '1', `FFL # ${LICENSE}`), ['true', 'true', 'true', 'R'])
    assert.deepEqual(await place('3', '100000'), ['true', 'false', 'E'])
    assert.equal(orders().length, before + 1)
  })

  test('begins no order with a header that cannot be', async () => {
    for (const more of [
      { PO: '' },
      { PO: 'P'.repeat(33) },
      { ShipToPhone: '602-555-0100' },
      { ShipToZip: '850' },
      { ShipToState: 'Arizona' },
      { ShipToName: '' },
    ])
      assert.equal(await said('orders.asmx/AddHeader', { ...HEADER, ...more }), '0')
    const store = Object.fromEntries(
      Object.entries(HEADER).map(([name, value]) => [name, name.startsWith('ShipTo') ? '' : value]),
    )
    assert.match(await said('orders.asmx/AddHeader', { ...store, ShipToZip: '0' }), /^[1-9]\d+$/)
  })

  test('meets the faults that it asks for', async () => {
    const named = { ...HEADER, PO: 'X-SIM-SERVER-ERROR-AFTER' }
    const { ITEMNO } = await itemOf('3')
    const OrderNumber = await said('orders.asmx/AddHeader', named)
    const line = {
      OrderNumber,
      SSItemNumber: ITEMNO!,
      Quantity: '1',
      OrderPrice: '1',
      CustomerItemNumber: '',
      CustomerItemDescription: '',
    }
    assert.equal(await said('orders.asmx/AddDetail', line), 'true')
    assert.equal((await post('orders.asmx/Submit', { OrderNumber })).status, 500)
    assert.ok(orders().some(({ number }) => number === `SIM-TSW-${OrderNumber}`))
  })

  test('reads the catalog page by page, and what changed', async () => {
    const all = await rows('inventory.asmx/DailyItemUpdate', {
      LastUpdate: '1/1/1990',
      LastItem: '-1',
    })
    assert.ok(all.length > 50)
    assert.deepEqual(Object.keys(all[0]!), ITEM_COLUMNS)
    for (const { ITYPE, ITUPC, CPRC } of all) {
      assert.match(ITYPE!, /^[1-8]$/)
      assert.match(ITUPC!, /^(\d{12})?$/)
      assert.match(CPRC!, /^\d+\.\d{2}$/)
    }
    const LastItem = all[9]!['ITEMNO']!
    assert.deepEqual(
      (await rows('inventory.asmx/DailyItemUpdate', { LastUpdate: '1/1/1990', LastItem }))[0],
      all[10],
    )
    assert.deepEqual(
      await rows('inventory.asmx/DailyItemUpdate', { LastUpdate: '1/1/2030', LastItem: '-1' }),
      [],
    )
    const [first] = await rows('inventory.asmx/IncrementalOnhandUpdate', {
      SinceDateTime: '1990-09-25T14:15:47-04:00',
      LastItem: '-1',
    })
    assert.deepEqual(Object.keys(first!), ['I', 'P', 'C', 'Q', 'D'])
    assert.deepEqual([first!['I'], first!['C']], [all[0]!['ITEMNO'], all[0]!['CPRC']])
    const one = await rows('inventory.asmx/OnhandInquiry', { ItemNumber: all[0]!['ITEMNO']! })
    assert.deepEqual(one, [first])
    const [text] = await rows('inventory.asmx/GetText', { ItemNumber: all[0]!['ITEMNO']! })
    assert.ok(text!['TEXT']!.length > 10)
  })

  test('and what its brands, manufacturers and categories are called', async () => {
    const [brand] = await rows('inventory.asmx/BrandUpdate')
    assert.deepEqual(Object.keys(brand!), ['BRDNO', 'BRDNM', 'BRDURL', 'ITCOUNT'])
    assert.ok((await rows('inventory.asmx/ManufacturerUpdate')).length > 1)
    const [category] = await rows('inventory.asmx/CategoryUpdate')
    assert.deepEqual(Object.keys(category!).slice(0, 5), [
      'CATID',
      'CATDES',
      'DEPID',
      'DEP',
      'ATTR1',
    ])
    assert.ok(existsSync(join(dir, 'simulator', 'feeds', 'sports-south.csv')))
  })
})
