/**
 * Distributors in mode `live`, up to the last door: the operator's own proxy, which is asked for the real
 * hosts and lets nobody through. Nothing leaves the machine.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { builtin } from '../../lib/distributors/builtin/index.js'
import { withServers } from '../../lib/distributors/servers.js'
import { readEgress } from '../../lib/distributors/session/egress.js'
import { SIMULATED } from '../../lib/simulator/profiles.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'
import { entryOf } from '../simulator/page-rig.js'

const UPC = '012345678905'
const HOSTS: Readonly<Record<string, string>> = {
  RSR: 'www.rsrgroup.com:443',
  LIP: 'api.lipseys.com:443',
  CSSI: 'api.chattanoogashooting.com:443',
  TSW: 'webservices.theshootingwarehouse.com:443',
}
const CUSTOMER = {
  name: 'Pat Doe',
  email: 'pat@customer.example',
  phone: '602-555-0100',
  address1: '12 Main St',
  city: 'Phoenix',
  state: 'AZ',
  zip: '85001',
}

/** An operator's proxy that notes which host it is asked for, and lets nobody through. */
const refusingProxy = (asked: string[]) =>
  createServer()
    .on('connect', (request, client) => {
      asked.push(request.url ?? '')
      client.on('error', () => {})
      client.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    })
    .unref()

async function portOf(proxy: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve)
  })
  return (proxy.address() as AddressInfo).port
}

describe('distributors in mode live', () => {
  let t: TestApp
  const asked: string[] = []
  const proxy = refusingProxy(asked)

  before(async () => {
    const port = await portOf(proxy)
    t = await createTestApp({ egress: { proxy: `http://127.0.0.1:${port}` } })
    const four = builtin.filter(({ distid }) => distid in HOSTS)
    await t.stock(four.map(({ distid }) => ({ distid, stockid: 'A1', upc: UPC, qty: 5 })))
    await t.configure({
      distributors: Object.fromEntries(four.map((one) => [one.name, entryOf(one)])),
    })
    for (const { distid } of four)
      await t.app.operator.distributors.setMode({ distid, mode: 'live', reason: 'a test' })
  })
  after(async () => {
    await t.close()
    proxy.close()
  })

  const place = (distid: string, more: object = {}) =>
    t.json('/v1/orders', {
      method: 'POST',
      body: JSON.stringify({
        order_id: `L-${distid}`,
        customer: CUSTOMER,
        items: [{ distid, distsku: 'A1', upc: UPC, qty: 1 }],
        ...more,
      }),
    })

  for (const [distid, host] of Object.entries(HOSTS))
    test(`${distid}: its own host is asked for, and what it cannot reach was not sent`, async () => {
      asked.length = 0
      const { status, body } = await place(distid)
      assert.deepEqual([status, body.error.code], [503, 'distributor_unavailable'])
      assert.match(JSON.stringify(body), /the proxy refuses/)
      assert.deepEqual([...new Set(asked)], [host])
    })

  test('credentials are checked at the real one, and nobody is taken for valid unasked', async () => {
    asked.length = 0
    const names = builtin.filter(({ distid }) => distid in HOSTS).map(({ name }) => name)
    const results = await t.app.operator.configurations.checkCredentials(t.subscriber, names, {
      record: false,
    })
    assert.deepEqual(
      results.map(({ valid }) => valid),
      [null, null, null, null],
    )
    assert.deepEqual([...new Set(asked)].sort(), Object.values(HOSTS).sort())
    await assert.rejects(
      t.app.operator.distributors.goLive({ distid: 'TSW', reason: 'x' }),
      /not reached/,
    )
  })

  test('an order by files goes through no proxy, and so nowhere', async () => {
    await t.configure({
      distributors: {
        'RSR Group': {
          ...entryOf(builtin.find(({ distid }) => distid === 'RSR')!),
          fulfillment: {
            API_USER: '99901',
            API_PASSWORD: 'x',
            orders_by: 'files',
          },
        } as never,
      },
    })
    const { status, body } = await place('RSR', { order_id: 'L-FILES' })
    assert.equal(status, 503)
    assert.match(
      JSON.stringify(body),
      /ftps\.rsrgroup\.com is asked by FTP, which goes through no proxy/,
    )
  })

  test('one that has files alone can be live, and goes nowhere either', async () => {
    const bill = builtin.find(({ distid }) => distid === 'BILL')!
    await t.stock([{ distid: 'BILL', stockid: 'A1', upc: UPC, qty: 5 }])
    await t.configure({ distributors: { [bill.name]: entryOf(bill) } })
    await t.app.operator.distributors.setMode({ distid: 'BILL', mode: 'live', reason: 'a test' })
    const { status, body } = await place('BILL')
    assert.equal(status, 503)
    assert.match(
      JSON.stringify(body),
      /billhicksco\.hostedftp\.com is asked by FTP, which goes through no proxy/,
    )
    const [checked] = await t.app.operator.configurations.checkCredentials(
      t.subscriber,
      [bill.name],
      { record: false },
    )
    assert.equal(checked!.valid, null)
  })
})

test('orders are automated exactly where a connector places them, and where they are played', () => {
  const those = (wanted: (one: (typeof builtin)[number]) => boolean) =>
    builtin
      .filter(wanted)
      .map(({ distid }) => distid)
      .sort()
  const automated = those((one) => one.automatedFulfillment)
  assert.deepEqual(
    those((one) => one.fulfillment !== undefined),
    automated,
  )
  assert.deepEqual([...SIMULATED].sort(), automated)
})

test('one that has moved is asked at its new address alone', async () => {
  const asked: string[] = []
  const proxy = refusingProxy(asked)
  const port = await portOf(proxy)
  await using t = await createTestApp({
    egress: { proxy: `http://127.0.0.1:${port}` },
    servers: {
      LIP: { api: 'https://api2.lipseys.example:8443/api/' },
      RSR: { files: 'ftpes://ftps2.rsrgroup.example:990' },
    },
  })
  const moved = builtin.filter(({ distid }) => ['LIP', 'RSR'].includes(distid))
  await t.configure({
    distributors: Object.fromEntries(moved.map((one) => [one.name, entryOf(one)])),
  })
  await t.stock([{ distid: 'LIP', stockid: 'A1', upc: UPC, qty: 5 }])
  await t.app.operator.distributors.setMode({ distid: 'LIP', mode: 'live', reason: 'a test' })
  const { status } = await t.json('/v1/orders', {
    method: 'POST',
    body: JSON.stringify({
      order_id: 'MOVED',
      customer: CUSTOMER,
      items: [{ distid: 'LIP', distsku: 'A1', upc: UPC, qty: 1 }],
    }),
  })
  proxy.close()
  assert.equal(status, 503)
  assert.deepEqual([...new Set(asked)], ['api2.lipseys.example:8443'])
  assert.deepEqual((await t.app.operator.distributors.planGoLive('RSR')).addresses, [
    'https://www.rsrgroup.com/api/rsrbridge/1.0/pos/',
    'ftpes://ftps2.rsrgroup.example:990',
  ])
})

test('a new address is refused unless it is one, and at least as safe as the old one', () => {
  const at = (distid: string, server: { api?: string; files?: string }) =>
    withServers(builtin, { [distid]: server }).find((one) => one.distid === distid)!
  assert.deepEqual(at('LIP', { api: 'https://api2.lipseys.example/v2' }).api, {
    url: 'https://api2.lipseys.example/v2/',
  })
  assert.deepEqual(
    [
      at('RSR', { files: 'ftpes://a.example' }).files,
      at('BILL', { files: 'ftp://a.example:2121' }).files,
      at('BILL', { files: 'ftpes://a.example:990/' }).files,
    ],
    [
      { host: 'a.example', port: 21, isSecure: true },
      { host: 'a.example', port: 2121, isSecure: false },
      { host: 'a.example', port: 990, isSecure: true },
    ],
  )
  const refused: [string, { api?: string; files?: string }, RegExp][] = [
    ['LIP', { api: 'http://api2.lipseys.example/' }, /servers\.LIP\.api: give an address such as/],
    ['LIP', { api: 'https://me:pw@api2.lipseys.example/' }, /servers\.LIP\.api/],
    ['LIP', { api: 'https://api2.lipseys.example/?a=1' }, /servers\.LIP\.api/],
    ['LIP', { api: 'api2.lipseys.example' }, /servers\.LIP\.api/],
    ['LIP', { files: 'ftpes://a.example' }, /servers\.LIP\.files: it has no FTP server/],
    ['BILL', { api: 'https://a.example/' }, /servers\.BILL\.api: it is not called by HTTP/],
    ['RSR', { files: 'ftp://a.example' }, /servers\.RSR\.files: give an address such as ftpes:/],
    ['RSR', { files: 'ftpes://a.example/in' }, /servers\.RSR\.files/],
    ['XXX', { api: 'https://a.example/' }, /"XXX" is not a distributor; known are/],
  ]
  for (const [distid, server, message] of refused)
    assert.throws(() => withServers(builtin, { [distid]: server }), message)
})

test('how connectors get out is read once, and refused where it cannot be', () => {
  assert.deepEqual(readEgress({}), {})
  const both = { proxy: 'http://me:pw@10.0.0.7:3128', sourceAddress: '203.0.113.7' }
  assert.deepEqual(readEgress(both), both)
  for (const proxy of ['', '10.0.0.7:3128', 'socks5://10.0.0.7', 'https://10.0.0.7'])
    assert.throws(() => readEgress({ proxy }), /egress\.proxy/)
  for (const sourceAddress of ['', 'localhost', '10.0.0'])
    assert.throws(() => readEgress({ sourceAddress }), /egress\.sourceAddress/)
})
