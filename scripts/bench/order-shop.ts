/**
 * A shop with one made-up distributor that answers after so many milliseconds: for the benchmarks
 * of placing orders.
 */
import { mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { defineDistributor } from '../../lib/distributors/distributor.js'
import type { Distributor } from '../../lib/distributors/distributor.js'
import { writeOffers } from '../../lib/feeds/ingest/write-offers.js'
import type { App } from '../../lib/app/open.js'

export const UPC = '012345678905'
export const SHOP = 'Bench'
/** Orders that one key may place in an hour. */
export const ORDERS_A_KEY = 60

export interface WholesaleOptions {
  distid?: string
  /** It takes every order and its answer never arrives. */
  isLost?: boolean
  /** Called with every search for an order. */
  onSearch?: () => void
}

/** Accepts every order, and answers every search with nothing, after `ms` milliseconds. */
export function wholesale(
  ms: number,
  { distid = 'BEN', isLost = false, onSearch = () => {} }: WholesaleOptions = {},
): Distributor {
  let last = 0
  const answer = async () => {
    if (ms > 0) await sleep(ms)
  }
  return defineDistributor({
    distid,
    name: nameOf(distid),
    automatedFulfillment: true,
    settings: { account: { type: 'string', label: 'Account number', path: 'fulfillment-account' } },
    simulator: {
      recovery: 'lookup',
      limits: { po: { max: 60 }, concurrency: 64 },
      async submit() {
        await answer()
        return isLost
          ? { outcome: 'unknown', reason: 'timeout' }
          : { outcome: 'accepted', number: `${distid}-${process.pid}-${++last}` }
      },
      async find() {
        onSearch()
        await answer()
        return { outcome: 'answered', orders: [] }
      },
    },
  })
}

const nameOf = (distid: string) => `Bench Wholesale ${distid}`

/** Makes the shop, with so many keys; each of its distributors has the one item. */
export async function makeOrderShop(
  app: App,
  keys: number,
  distids: readonly string[] = ['BEN'],
): Promise<string[]> {
  const catalog = openFile(filesIn(app.dir).catalog, { synchronous: 'NORMAL' })
  writeOffers(
    catalog,
    distids.map((distid) => ({
      distid,
      stockid: 'A1',
      distsku: 'A1',
      upc: UPC,
      name: 'Bipod',
      mfgName: null,
      mpn: null,
      productClass: 'AC',
      itemCat: null,
      categoryId: null,
      categoryName: 'Uncategorized',
      price: 2_500,
      map: null,
      msrp: null,
      shipping: null,
      qty: 1_000_000,
      fflReq: false,
      dropShip: true,
      images: [],
      productUrl: null,
      shortDescription: null,
      description: null,
      attributes: {},
    })),
    app.ctx.now(),
  )
  catalog.close()
  await app.operator.subscribers.create({ name: SHOP, email: 'bench@shop.example' })
  await app.operator.configurations.put(SHOP, {
    document: {
      targets: {},
      notification_email: 'bench@shop.example',
      pricing: {},
      product_restrictions: {},
      distributors: Object.fromEntries(
        distids.map((distid) => [
          nameOf(distid),
          {
            active: true,
            distid,
            drop_ship_only_items: false,
            shipping: { flat_rate: { cost: 10, shipping_class: 'flat' } },
            product_restrictions: { min_quantity_to_list: 1 },
            fulfillment: { account: 'bench' },
          },
        ]),
      ),
    },
  })
  for (const distid of distids)
    await app.operator.configurations.recordCheck(SHOP, nameOf(distid), true)
  await app.ctx.catalog.refresh()
  const made: string[] = []
  for (let i = 0; i < keys; i++)
    made.push(
      (
        await app.operator.keys.create({
          subscriber: SHOP,
          name: `key ${i}`,
          tier: 'enterprise',
          ips: ['127.0.0.1'],
        })
      ).key,
    )
  return made
}

export const orderBody = (id: string, distid = 'BEN') => ({
  order_id: id,
  customer: {
    name: 'Pat Doe',
    email: 'pat@customer.example',
    phone: '602-555-0100',
    address1: '12 Main St',
    city: 'Phoenix',
    state: 'AZ',
    zip: '85001',
  },
  items: [{ distid, distsku: 'A1', upc: UPC, qty: 1 }],
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

export const percentile = (times: readonly number[], share: number) =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))]!
