/**
 * Lipsey's own Node client, as it is, against our simulator over TLS at the name of the real one:
 * what it cannot do is our mistake.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { readSimulatorOrders } from '../../../lib/simulator/inspect.js'
import { openStandAlone } from '../../../lib/simulator/stand-alone.js'
import type { StandAlone } from '../../../lib/simulator/stand-alone.js'
import { watchErrors } from '../../../server/testing/error-watch.js'
import { TOOLS } from '../../client/third-party-shop.js'

const CLIENT = resolve('../shared/clients/lipseys/index.js')
const skip = !existsSync(CLIENT)
  ? 'the client is not there: ../shared/clients/lipseys'
  : !existsSync(join(TOOLS, 'request'))
    ? 'scripts/conformance has no node_modules: run `npm ci` there'
    : false

/** Leads the client's fixed host to the simulator; all else of it is as it is. */
const PRELOAD = `
const tls = require('tls')
const { connect } = tls
tls.connect = function (options, ...rest) {
  if (options && options.host === 'api.lipseys.com')
    options = { ...options, host: '127.0.0.1', port: Number(process.env.SIMULATOR_PORT), servername: 'api.lipseys.com' }
  return connect.call(this, options, ...rest)
}
`
/** Calls one function of the client after \`Init\`, and prints what its callback gets. */
const SCRIPT = `
const [path, user, password, ...values] = process.argv.slice(2)
const client = require(${JSON.stringify(CLIENT)})
console.log = () => {}
let isAsked = false
client.Init(user, password, () => {
  if (isAsked) return
  isAsked = true
  const act = path.split('.').reduce((at, name) => at[name], client)
  // It calls back once for the login that it has, and once for the next: the first one counts.
  act(...values.map((value) => JSON.parse(value)), (result) => {
    process.stdout.write(JSON.stringify(result), () => process.exit(0))
  })
})
`

interface Told {
  authorized: boolean
  success: boolean
  errors: string[]
  data: unknown
}

describe("Lipsey's own client", { skip }, () => {
  let dir: string
  let simulators: StandAlone
  const watch = watchErrors()

  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'qm-lipseys-'))
    simulators = await openStandAlone({
      dir: join(dir, 'state'),
      now: Date.now,
      log: watch.log,
      tlsNames: ['api.lipseys.com'],
      offers: 600,
    })
    writeFileSync(join(dir, 'preload.cjs'), PRELOAD)
    writeFileSync(join(dir, 'script.cjs'), SCRIPT)
  })
  after(() => {
    simulators?.close()
    rmSync(dir, { recursive: true, force: true })
    watch.check()
  })

  async function ask(path: string, ...values: unknown[]): Promise<Told> {
    const { address, credentials } = simulators.distributors.find(({ distid }) => distid === 'LIP')!
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [
        '--no-deprecation',
        `--require=${join(dir, 'preload.cjs')}`,
        join(dir, 'script.cjs'),
        path,
        credentials['api_user']!,
        credentials['api_password']!,
        ...values.map((value) => JSON.stringify(value)),
      ],
      {
        timeout: 60_000,
        env: {
          ...process.env,
          NODE_PATH: TOOLS,
          NODE_EXTRA_CA_CERTS: simulators.certificate!,
          SIMULATOR_PORT: new URL(address).port,
        },
        maxBuffer: 64 * 1_048_576,
      },
    )
    return JSON.parse(stdout) as Told
  }
  const orders = () => readSimulatorOrders(join(dir, 'state'))

  test('reads the catalog, the pricing file, allocations and single items', async () => {
    const catalog = await ask('Inventory.CatalogFeed')
    assert.equal(catalog.success, true)
    const items = catalog.data as Record<string, unknown>[]
    assert.ok(items.length > 50, `${items.length} items`)
    for (const item of items) {
      for (const name of ['itemNo', 'description1', 'upc', 'type', 'imageName', 'itemType'])
        assert.equal(typeof item[name], 'string', name)
      for (const name of ['price', 'currentPrice', 'retailMap', 'quantity', 'msrp'])
        assert.equal(typeof item[name], 'number', name)
      for (const name of ['allocated', 'onSale', 'fflRequired', 'sotRequired'])
        assert.equal(typeof item[name], 'boolean', name)
      assert.ok(!('canDropship' in item))
    }
    const first = items[0]!
    const pricing = (await ask('Inventory.PricingAndQuantityFeed')).data as {
      nextUpdate: string
      items: Record<string, unknown>[]
    }
    assert.equal(pricing.items.length, items.length)
    assert.ok(Date.parse(`${pricing.nextUpdate}Z`) > Date.now())
    const allocated = (await ask('Inventory.AllocationPricingAndQuantityFeed')).data as {
      items: { allocated: boolean }[]
    }
    assert.ok(allocated.items.every((item) => item.allocated))
    const one = await ask('Inventory.CatalogFeedItem', first['itemNo'])
    assert.deepEqual(one.data, first)
    const valid = await ask('Inventory.ValidateItem', String(first['upc'] || first['itemNo']))
    assert.equal((valid.data as { itemNumber: string }).itemNumber, first['itemNo'])
    assert.equal((await ask('Inventory.ValidateItem', 'NO-SUCH-ITEM')).success, false)
  })

  test('orders to the store, to a customer and to a dealer, and sees the shipments', async () => {
    const items = (await ask('Inventory.CatalogFeed')).data as {
      itemNo: string
      quantity: number
      allocated: boolean
      fflRequired: boolean
      sotRequired: boolean
    }[]
    const free = items.filter(
      ({ quantity, allocated, sotRequired }) => quantity > 2 && !allocated && !sotRequired,
    )
    const gun = free.find(({ fflRequired }) => fflRequired)!.itemNo
    const accessory = free.find(({ fflRequired }) => !fflRequired)!.itemNo
    const Items = [{ ItemNo: accessory, Quantity: 1, Note: 'hello' }]
    const dropShip = {
      Warehouse: '',
      PoNumber: 'STRANGER-1',
      BillingName: 'Billing Name',
      BillingAddressLine1: '1234 Street dr',
      BillingAddressLine2: 'Room 3',
      BillingAddressCity: 'Baton Rouge',
      BillingAddressState: 'LA',
      BillingAddressZip: '70403',
      ShippingName: 'Shipping Name',
      ShippingAddressLine1: '5678 Other st',
      ShippingAddressLine2: 'floor 2',
      ShippingAddressCity: 'Metairie',
      ShippingAddressState: 'LA',
      ShippingAddressZip: '70001',
      MessageForSalesExec: 'Thanks',
      DisableEmail: true,
      Items,
      Overnight: false,
    }
    const firearm = {
      Ffl: '986013018A12345',
      Po: 'STRANGER-2',
      DelayShipping: false,
      DisableEmail: true,
      Name: 'Customer Name',
      Phone: '602-555-0100',
      Items: [{ ItemNo: gun, Quantity: 1, Note: '' }],
    }
    const store = { PONumber: 'STRANGER-3', EmailConfirmation: true, DisableEmail: true, Items }
    for (const [path, body] of [
      ['Orders.DropShipAccessories', dropShip],
      ['Orders.DropShipFirearms', firearm],
      ['Orders.Order', store],
      ['Orders.AllocationOrder', { ...store, PONumber: 'STRANGER-4' }],
    ] as const) {
      const { success, errors, authorized } = await ask(path, body)
      assert.deepEqual([authorized, success, errors], [true, true, []], path)
    }
    assert.deepEqual(
      orders().map(({ po, lines }) => [po, lines.map(({ distsku, qty }) => [distsku, qty])]),
      [
        ['STRANGER-1', [[accessory, 1]]],
        ['STRANGER-2', [[gun, 1]]],
        ['STRANGER-3', [[accessory, 1]]],
        ['STRANGER-4', [[accessory, 1]]],
      ],
    )
    // What is ordered is not on the shelf any more.
    const left = (await ask('Inventory.ValidateItem', accessory)).data as { qty: number }
    assert.equal(left.qty, free.find(({ itemNo }) => itemNo === accessory)!.quantity - 3)
    const refused = await ask('Orders.DropShipAccessories', {
      ...dropShip,
      Items: [{ ItemNo: gun, Quantity: 1, Note: '' }],
    })
    assert.deepEqual([refused.authorized, refused.success], [true, false])
    assert.match(refused.errors.join(), /firearm/)
    const day = await ask('Shipping.OneDayShipping', new Date())
    assert.deepEqual([day.success, Array.isArray(day.data)], [true, true])
  })
})
