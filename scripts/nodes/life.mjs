/**
 * One life of the package in a process of its own: it starts, imports a feed in the worker, orders,
 * exports in the child, backs up, and closes. Run in a folder where the package is installed.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createTestApp } from 'quartermaster/testing'

const [UPC, OTHER_UPC] = ['012345678905', '012345678912']
const scratch = mkdtempSync(join(tmpdir(), 'qm-life-'))
const worker = fileURLToPath(new URL('worker.mjs', import.meta.resolve('quartermaster')))
assert.ok(existsSync(worker))
const t = await createTestApp({ worker })
try {
  const feed = join(scratch, 'davidsons.csv')
  writeFileSync(
    feed,
    `Item #,Item Description,Dealer Price,Quantity,UPC Code,Gun Type\nR0,A scope,90.00,5,${OTHER_UPC},OPTICS\n`,
  )
  const { outcome, offers } = await t.app.operator.feeds.import(
    { distid: 'DAV', file: feed },
    { asOf: t.clock.ms },
  )
  assert.deepEqual([outcome, offers], ['taken', 1])

  await t.stock([{ distid: 'CSSI', stockid: 'BIPOD', upc: UPC, name: 'Bipod', price: 6_000 }])
  await t.configure({
    distributors: {
      'Chattanooga Shooting Supplies': {
        distid: 'CSSI',
        fulfillment: { API_SID: 'DEMO-SID', API_TOKEN: 'demo-chattanooga' },
      },
    },
  })
  const { status } = await t.remote.orders.place({
    order_id: 'W-1',
    items: [{ distid: 'CSSI', distsku: 'BIPOD', upc: UPC, qty: 1 }],
    customer: {
      name: 'Pat Doe',
      email: 'pat@customer.example',
      address1: '12 Main St',
      city: 'Phoenix',
      state: 'AZ',
      zip: '85001',
    },
  })
  assert.equal(status, 'placed')

  assert.equal((await t.remote.products.catalog({})).changed, true)
  assert.ok((await t.app.operator.backup({ to: join(scratch, 'backup') })).bytes > 0)
} finally {
  await t.close()
  rmSync(scratch, { recursive: true, force: true })
}
console.log('lived')
