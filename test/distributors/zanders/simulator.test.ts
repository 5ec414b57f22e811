/** Zanders' simulator, as a client meets it that nobody here wrote. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { MINUTE, wholeMilliseconds } from '../../../lib/core/clock.js'
import { readAnswer, SoapFault, writeCall } from '../../../lib/distributors/builtin/zanders/soap.js'
import type { AnsweredMap, ValueMap } from '../../../lib/distributors/builtin/zanders/soap.js'
import { mapsIn, textIn } from '../../../lib/distributors/builtin/zanders/api.js'
import { readSimulatorOrders } from '../../../lib/simulator/inspect.js'
import { openStandAlone } from '../../../lib/simulator/stand-alone.js'
import type { StandAlone } from '../../../lib/simulator/stand-alone.js'
import { fractional } from '../../../server/testing/clock.js'
import { watchErrors } from '../../../server/testing/error-watch.js'
import { pattern } from '../../harness/pattern.js'

const DEALER = {
  name: 'Desert Arms LLC',
  address1: '99 Range Rd',
  address2: '',
  city: 'Mesa',
  state: 'AZ',
  zip: '85201',
  fflno: '98612345',
  fflexp: '2028-01-01',
}
const TO = {
  shipToName: 'Pat Doe',
  shipToAddress1: '12 Main St',
  shipToCity: 'Phoenix',
  shipToState: 'AZ',
  shipToZip: '85001',
}
const line = (itemNumber: string, quantity: string) => ({
  itemNumber,
  quantity,
  allowBackOrder: false,
})

describe("a stranger's client", () => {
  let dir: string
  let simulators: StandAlone
  let address: string
  const clock = { ms: Date.UTC(2026, 10, 21, 18) }
  const watch = watchErrors()

  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'qm-zanders-'))
    const now = wholeMilliseconds(fractional(() => clock.ms))
    simulators = await openStandAlone({ dir, now, log: watch.log, offers: 600 })
    address = simulators.distributors.find(({ distid }) => distid === 'ZND')!.address
  })
  after(() => {
    simulators?.close()
    rmSync(dir, { recursive: true, force: true })
    watch.check()
  })

  const post = (service: string, body: string) => fetch(address + service, { method: 'POST', body })
  async function call(
    service: string,
    operation: string,
    params: ValueMap = {},
    kind: 'accessories' | 'firearms' | 'store' = 'accessories',
    password = `demo-zanders-${kind}`,
  ): Promise<AnsweredMap> {
    const namespace = `http://shop2.gzanders.com/webservice/${service}`
    const login = { username: `demo-${kind}`, password }
    const text = writeCall(namespace, operation, { ...login, ...params, testing: false })
    const answer = await post(service, text)
    return readAnswer(await answer.text(), operation)
  }
  const order = (more: ValueMap = {}) => ({
    order: {
      shipDate: '2026-11-21',
      shipViaCode: 'UM',
      purchaseOrderNumber: 'MY-PO',
      ...TO,
      items: [line('ZN10002', '1')],
      ...more,
    },
  })
  const orders = () => readSimulatorOrders(dir).filter(({ distid }) => distid === 'ZND')
  /** An item that is there, serialized or not. */
  async function itemOf(kind: 'accessories' | 'firearms'): Promise<string> {
    for (let n = 10_001; n < 10_600; n++) {
      const told = await call('items', 'getItemInventory', { itemnumber: `ZN${n}` })
      if (Number(textIn(told, 'numberAvailable')) < 5) continue
      const items = [line(`ZN${n}`, '1')]
      const probe = { ...order({ items, purchaseOrderNumber: 'PROBE', shipToNo: '0001' }) }
      const text = writeCall('x', 'createOrder', {
        username: `demo-${kind}`,
        password: `demo-zanders-${kind}`,
        ...probe,
        testing: true,
      })
      const tried = readAnswer(await (await post('orders', text)).text(), 'createOrder')
      if (textIn(tried, 'returnCode') === '0') return `ZN${n}`
    }
    throw new Error(`there is none for the ${kind} account`)
  }
  const codeOf = (told: AnsweredMap) => Number(textIn(told, 'returnCode'))

  test('is answered in maps of SOAP 1.2, and told what it is not known by', async () => {
    const login = { username: 'demo-store', password: 'demo-zanders-store', testing: false }
    const answer = await post('orders', writeCall('x', 'loginCheck', login))
    assert.equal(answer.headers.get('content-type'), 'application/soap+xml; charset=utf-8')
    assert.match(
      await answer.text(),
      pattern(
        /<rpc:result [^>]*>return<\/rpc:result><return xsi:type="ns2:Map"><item>/,
        /<key xsi:type="xsd:string">returnCode<\/key><value xsi:type="xsd:int">0<\/value>/,
        /<\/item><\/return>/,
      ),
    )
    assert.equal(codeOf(await call('orders', 'loginCheck', {}, 'store', 'wrong')), 1)
    assert.equal((await post('nothing', '')).status, 404)
    const odd = await post('orders', 'no XML')
    assert.equal(odd.status, 500)
    assert.throws(() => readAnswer('<Envelope><Body><Fault/></Body></Envelope>', 'x'), SoapFault)
    await assert.rejects(call('orders', 'dropTables'), SoapFault)
  })

  test('is refused with the codes that are known', async () => {
    const create = async (more: ValueMap) =>
      codeOf(await call('orders', 'createOrder', order(more)))
    assert.deepEqual(
      [
        await create({ items: [] }),
        await create({ items: [line('ZN10002', '0')] }),
        await create({ shipDate: '2026-11-20' }),
        await create({ shipDate: '2026-12-22' }),
        await create({ purchaseOrderNumber: 'P'.repeat(23) }),
        await create({ shipToZip: '8500' }),
        await create({ shipToNo: '4711' }),
        await create({ items: [line('NEVER', '1')] }),
      ],
      [5, 31, 10, 11, 2, 2, 2, 2],
    )
    const firearm = await itemOf('firearms')
    assert.equal(await create({ items: [line(firearm, '1')] }), 2)
    assert.deepEqual(orders(), [])
  })

  test('places an order, and hears of it by its number and account alone', async () => {
    const items = [line(await itemOf('accessories'), '1')]
    const placed = await call('orders', 'createOrder', order({ items }))
    const ordernumber = textIn(placed, 'orderNumber')!
    assert.match(ordernumber, /^\d+$/)
    assert.equal(orders()[0]!.number, `SIM-ZND-${ordernumber}`)
    const info = await call('orders', 'getOrderInfo', { ordernumber })
    assert.deepEqual(
      [textIn(info, 'purchaseOrderNumber'), textIn(info, 'datePicked')],
      ['MY-PO', null],
    )
    assert.equal(codeOf(await call('orders', 'getOrderInfo', { ordernumber }, 'store')), 21)
    const tracking = () => call('orders', 'getTrackingInfo', { ordernumber })
    assert.equal(textIn(await tracking(), 'numberOfShipments'), '0')
    clock.ms += 3 * MINUTE
    const told = await tracking()
    const [parcel] = mapsIn(told, 'trackingNumbers')
    assert.equal(textIn(told, 'numberOfShipments'), '1')
    assert.match(textIn(parcel!, 'trackingNumber')!, /^1ZSIM/)
  })

  test('a dealer has one ship-to, which is found again; firearms go there', async () => {
    const use = (more = {}) =>
      call('shiptoaddresses', 'useShipTo', { addressinfo: { ...DEALER, ...more } }, 'firearms')
    const [first, again] = [await use(), await use()]
    const number = (told: AnsweredMap, name: string) => textIn(mapsIn(told, name)[0]!, 'ShipToNo')!
    assert.deepEqual([codeOf(first), codeOf(again)], [0, 15])
    const shipToNo = number(first, 'shipToAddress')
    assert.equal(number(again, 'searchResults'), shipToNo)
    assert.equal(codeOf(await use({ fflno: '' })), 2)
    const [elsewhere] = mapsIn(await use({ fflno: '98699999' }), 'shipToAddress')
    assert.notEqual(textIn(elsewhere!, 'ShipToZipCode'), DEALER.zip)
    const [unlicensed] = mapsIn(await use({ fflno: '98600000' }), 'shipToAddress')
    assert.equal(textIn(unlicensed!, 'ShipToFFLNo'), null)
    const items = [line(await itemOf('firearms'), '1')]
    const placed = await call('orders', 'createOrder', order({ items, shipToNo }), 'firearms')
    assert.equal(codeOf(placed), 0)
    assert.equal(orders().at(-1)!.lines[0]!.distsku, items[0]!.itemNumber)
  })

  test('what falls short is named with the number', async () => {
    const items = [line(await itemOf('accessories'), '4')]
    const placed = await call(
      'orders',
      'createOrder',
      order({ items, purchaseOrderNumber: 'A-SIM-PARTIAL' }),
    )
    const [removed] = mapsIn(placed, 'removedItems')
    assert.deepEqual([codeOf(placed), ...removed!.values()], [0, items[0]!.itemNumber, '4', '2'])
  })
})
