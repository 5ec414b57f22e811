/** A shop with one made-up distributor that answers after so many milliseconds: for the benchmarks of placing orders. */
import { mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { filesIn } from '../../lib/db/engine.js'
import { openFile } from '../../lib/db/sqlite.js'
import { defineDistributor } from '../../lib/distributors/distributor.js'
import type { Distributor } from '../../lib/distributors/distributor.js'
import { writeOffers } from '../../lib/feeds/write-offers.js'
import type { App } from '../../lib/open.js'

export const UPC = '012345678905'
export const SHOP = 'Bench'
/** Orders that one key may place in an hour. */
export const ORDERS_A_KEY = 60

/** Accepts every order after `ms` milliseconds. */
export function wholesale(ms: number): Distributor {
  let last = 0
  return defineDistributor({
    distid: 'BEN', name: 'Bench Wholesale', automatedFulfillment: true, settings: { account: { type: 'string', label: 'Account number', path: 'fulfillment-account' } },
    simulator: {
      recovery: 'lookup', limits: { po: { max: 60 }, concurrency: 64 },
      async submit() {
        if (ms > 0) await sleep(ms)
        return { outcome: 'accepted', number: `BEN-${process.pid}-${++last}` }
      },
      find: async () => ({ outcome: 'answered', orders: [] }),
    },
  })
}

/** Makes the shop, with so many keys. */
export async function makeOrderShop(app: App, keys: number): Promise<string[]> {
  const catalog = openFile(filesIn(app.dir).catalog, { synchronous: 'NORMAL' })
  writeOffers(catalog, [{
    distid: 'BEN', stockid: 'A1', distsku: 'A1', upc: UPC, name: 'Bipod', mfgName: null, mpn: null, productClass: 'AC', itemCat: null, categoryId: null, categoryName: 'Uncategorized',
    price: 2_500, map: null, msrp: null, shipping: null, qty: 1_000_000, fflReq: false, dropShip: true, images: [], productUrl: null, shortDescription: null, description: null, attributes: {},
  }], app.ctx.now())
  catalog.close()
  await app.operator.subscribers.create({ name: SHOP, email: 'bench@shop.example' })
  await app.operator.configurations.put(SHOP, { document: {
    targets: {}, notification_email: 'bench@shop.example', pricing: {}, product_restrictions: {},
    distributors: { 'Bench Wholesale': {
      active: true, distid: 'BEN', drop_ship_only_items: false, shipping: { flat_rate: { cost: 10, shipping_class: 'flat' } }, product_restrictions: { min_quantity_to_list: 1 }, fulfillment: { account: 'bench' },
    } },
  } })
  await app.operator.configurations.recordCheck(SHOP, 'Bench Wholesale', true)
  await app.ctx.catalog.refresh()
  const made: string[] = []
  for (let i = 0; i < keys; i++) made.push((await app.operator.keys.create({ subscriber: SHOP, name: `key ${i}`, tier: 'enterprise', ips: ['127.0.0.1'] })).key)
  return made
}

export const orderBody = (id: string) => ({
  order_id: id, customer: { name: 'Pat Doe', email: 'pat@customer.example', phone: '602-555-0100', address1: '12 Main St', city: 'Phoenix', state: 'AZ', zip: '85001' },
  items: [{ distid: 'BEN', distsku: 'A1', upc: UPC, qty: 1 }],
})

const TMPFS = 0x01021994

/** A new folder on a disk: in memory an fsync costs nothing. */
export function folderOnDisk(): string {
  const parent = [tmpdir(), resolve('dist'), resolve('.')].find((path) => {
    try {
      return statfsSync(path).type !== TMPFS
    } catch {
      return false
    }
  })
  if (parent === undefined) throw new Error('no folder here is on a disk')
  return mkdtempSync(join(parent, 'qm-bench-'))
}

export const percentile = (times: readonly number[], share: number) => times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))]!
