/**
 * The folder that every simulation begins with: three shops with keys, offers of all distributors,
 * two dealers.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import type { Key, Subscriber } from '../../lib/accounts/caller.js'
import { findSubscriber } from '../../lib/accounts/subscribers.js'
import { saveDocument } from '../../lib/configuration/saved-documents.js'
import type { FeedOffer } from '../../lib/distributors/feed-offer.js'
import type { ConfigurationDocument } from '../../lib/configuration/document/document.js'
import type { OperatorCtx } from '../../lib/app/ctx.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { defineDistributor } from '../../lib/distributors/distributor.js'
import type { Distributor } from '../../lib/distributors/distributor.js'
import type { Fulfillment } from '../../lib/distributors/fulfillment.js'
import { writeOffers } from '../../lib/feeds/ingest/write-offers.js'
import type { App, OpenOptions } from '../../lib/app/open.js'
import { open } from '../../lib/app/open.js'
import { tellStrays } from '../../server/testing/error-watch.js'
import { fractional } from '../../server/testing/clock.js'
import { openForTest } from '../../server/testing/open.js'
import { Rng } from './random.js'
import { GUN_UPC, STORE, UPC, addDealers } from '../orders/shop.js'

export const NAMES: Readonly<Record<string, string>> = {
  RES: 'Resend Wholesale',
  LOO: 'Lookup Wholesale',
  STA: 'Staged Wholesale',
  CAR: 'Cart Wholesale',
  FIL: 'File Wholesale',
  ONE: 'One Shot Wholesale',
}
const SHOPS = 3
/** The first of them have one account. */
const SHARING = 2
const KEYS = 2

export interface Caller {
  subscriber: Subscriber
  /** Null for a library caller. */
  key: Key | null
  /** Its account is another shop's as well. */
  isSharing: boolean
}

export interface Shop {
  app: App
  dir: string
  callers: Caller[]
  /** Closes it, has something done to its files, and opens it again. */
  reopen(change?: (dir: string) => void): Promise<void>
  close(): Promise<void>
}

export function distributorOf(distid: string, connector: Fulfillment): Distributor {
  return defineDistributor({
    distid,
    name: NAMES[distid]!,
    automatedFulfillment: true,
    simulator: connector,
    fulfillment: connector,
    settings: {
      account: {
        type: 'string',
        label: 'Account',
        path: 'account',
        required: true,
        credential: true,
      },
    },
  })
}

const nobody: Fulfillment = {
  recovery: 'one_shot',
  limits: { po: { max: 60 } },
  submit: () => Promise.reject(new Error('nobody is there')),
}
const START = Date.UTC(2026, 10, 21, 12)
let template: Promise<string> | undefined

async function makeTemplate(): Promise<string> {
  const dir = mkdtempSync('/dev/shm/qm-simulation-')
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }))
  const rng = new Rng(1)
  const app = await openForTest({
    dir,
    worker: false,
    now: () => START,
    random: (bytes) => rng.bytes(bytes),
    distributors: Object.keys(NAMES).map((distid) => distributorOf(distid, nobody)),
  })
  const catalog = openFile(filesIn(dir).catalog, { synchronous: 'NORMAL' })
  writeOffers(catalog, Object.keys(NAMES).flatMap(offersOf), START)
  catalog.close()
  await addDealers({ app })
  for (let i = 0; i < SHOPS; i++) {
    const { id } = await app.operator.subscribers.create({
      name: `Shop ${i}`,
      email: `owner${i}@shop.example`,
    })
    for (let k = 0; k < KEYS; k++)
      await app.operator.keys.create({
        subscriber: id,
        name: `key ${k}`,
        tier: 'enterprise',
        ips: ['127.0.0.1'],
      })
    await saveDocument(app.ctx, await findSubscriber(app.ctx, id), {
      document: documentOf(i < SHARING ? 'shared' : 'own'),
    })
    for (const name of Object.values(NAMES))
      await app.operator.configurations.recordCheck(id, name, true)
  }
  await app.close()
  return dir
}

function documentOf(account: string): ConfigurationDocument {
  const entry = (distid: string) => ({
    distid,
    active: true,
    account,
    drop_ship_only_items: false,
    shipping: { flat_rate: { cost: 10, shipping_class: 'flat' } },
    product_restrictions: {},
    fulfillment: {},
  })
  return {
    targets: {},
    notification_email: 'owner@shop.example',
    pricing: {},
    product_restrictions: {},
    fulfillment: { ship_to_store: STORE },
    distributors: Object.fromEntries(
      Object.entries(NAMES).map(([distid, name]) => [name, entry(distid)]),
    ),
  } as ConfigurationDocument
}

function offersOf(distid: string): (FeedOffer & { distid: string })[] {
  const plain = {
    distid,
    mfgName: null,
    mpn: null,
    productClass: 'AC',
    itemCat: null,
    categoryId: null,
    categoryName: 'Uncategorized',
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
  }
  return [
    { ...plain, stockid: 'A1', distsku: 'A1', upc: UPC, name: 'Bipod', price: 2_500 },
    { ...plain, stockid: 'A2', distsku: 'A2', upc: '012345678929', name: 'Sling', price: 900 },
    {
      ...plain,
      stockid: 'G1',
      distsku: 'G1',
      upc: GUN_UPC,
      name: 'Pistol',
      price: 40_000,
      fflReq: true,
      dropShip: false,
      productClass: 'FA',
      categoryName: 'Semi Auto Handguns',
    },
  ] as (FeedOffer & { distid: string })[]
}

export interface ShopSetting extends Pick<OpenOptions, 'fatal'> {
  /** Clocks in whole milliseconds: they are given their fractions here. */
  now: () => number
  monotonic?: () => number
  random: (bytes: number) => Buffer
  /** Errors in the log that planned faults may bring about; any other fails `close`. */
  planned?: readonly RegExp[]
}

/** A fresh copy of the folder, opened with these connectors. */
export async function openShop(
  connectors: ReadonlyMap<string, Fulfillment>,
  setting: ShopSetting,
): Promise<Shop> {
  return openCopy(await (template ??= makeTemplate()), connectors, setting)
}

/** A copy of a folder, opened. */
export async function openCopy(
  of: string,
  connectors: ReadonlyMap<string, Fulfillment>,
  setting: ShopSetting,
): Promise<Shop> {
  const dir = mkdtempSync('/dev/shm/qm-simulated-')
  cpSync(of, dir, { recursive: true })
  const distributors = [...connectors].map(([distid, connector]) =>
    distributorOf(distid, connector),
  )
  const fatal = (error: unknown) => {
    throw error
  }
  const { now, monotonic = now, planned = [], ...more } = setting
  const strays: string[] = []
  const log = tellStrays(planned, (text) => void strays.push(text))
  const clocks = { now: fractional(now), monotonic: fractional(monotonic) }
  const openApp = () => open({ dir, worker: false, fatal, ...more, ...clocks, log, distributors })
  const app = await openApp()
  await app.ctx.catalog.refresh()
  const shop: Shop = {
    app,
    dir,
    callers: await callersOf(app.ctx),
    async reopen(change) {
      await shop.app.close()
      change?.(dir)
      shop.app = await openApp()
      await shop.app.ctx.catalog.refresh()
    },
    async close() {
      await shop.app.close()
      rmSync(dir, { recursive: true, force: true })
      if (strays.length > 0)
        throw new Error(`errors in the log that nobody planned: ${strays.join('; ')}`)
    },
  }
  return shop
}

async function callersOf(ctx: OperatorCtx): Promise<Caller[]> {
  const keys = await ctx.read
    .selectFrom('api_key')
    .select(['id', 'subscriber_id'])
    .orderBy('subscriber_id')
    .orderBy('name')
    .execute()
  const callers: Caller[] = []
  for (const [i, { id }] of (
    await ctx.read.selectFrom('subscriber').select('id').orderBy('name').execute()
  ).entries()) {
    const isSharing = i < SHARING
    const subscriber = await findSubscriber(ctx, id)
    const mine = keys.filter(({ subscriber_id: of }) => of === id)
    for (const key of mine)
      callers.push({
        subscriber,
        key: {
          id: key.id,
          subscriberId: id,
          status: 'enabled',
          poTag: key.id.slice(0, 4).toUpperCase(),
        } as unknown as Key,
        isSharing,
      })
    callers.push({ subscriber, key: null, isSharing })
  }
  return callers
}
