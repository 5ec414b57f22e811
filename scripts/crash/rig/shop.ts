/**
 * The shop that the crash harness orders for: every simulated distributor, or those that documents
 * describe, two dealers, a store, and keys.
 */
import { filesIn } from '../../../lib/db/sqlite/folder.js'
import { openFile } from '../../../lib/db/sqlite/sqlite.js'
import type {
  ConfigurationDocument,
  DistributorEntry,
} from '../../../lib/configuration/document/document.js'
import type { Distributor } from '../../../lib/distributors/distributor.js'
import { builtin } from '../../../lib/distributors/builtin/index.js'
import { writeOffers } from '../../../lib/feeds/ingest/write-offers.js'
import { SIMULATED } from '../../../lib/simulator/profiles.js'
import { DESCRIBED, describeDistributors } from './documents.js'
import { demoSettings } from '../../../lib/simulator/profiles.js'
import { openForTest } from '../../../server/testing/open.js'

export interface CrashShop {
  /** Keys of the first subscriber. */
  keys: string[]
  /** A key of it whose quotas are watched. */
  quotaKey: string
  /** A key of another subscriber, with accounts at the same distributors. */
  otherKey: string
  quotaKeyId: string
}

export const SHOP = 'Main Street Guns'
export const OTHER_SHOP = 'Side Street Guns'
export const DEALERS = ['1-57-033-01-9E-67890', '1-57-033-07-9E-00001'] as const
export const STORE_DEALER = '1-57-033-01-9E-24680'
const UPCS = { accessory: '012345678905', firearm: '012345678912' }
/** SKUs of each distributor with few units, of which most orders are refused in the end. */
export const SCARCE = 2
const KEYS = 8

/** SKUs of one distributor: accessories A1 to A6, firearms G1 to G3, and the scarce S1 and S2. */
export function upcOf(sku: string): string {
  return sku.startsWith('G') ? UPCS.firearm : UPCS.accessory
}

/**
 * Makes the shop in a new folder. `now` is the time at which it is made; with `exchange`, a folder,
 * it orders from distributors that documents describe, which are live, and from no others.
 */
export async function makeShopFolder(
  dir: string,
  now: () => number,
  { exchange }: { exchange?: string } = {},
): Promise<CrashShop> {
  if (exchange !== undefined) describeDistributors(dir, exchange)
  const distids = exchange === undefined ? SIMULATED : DESCRIBED
  await using app = await openForTest({ dir, now, worker: false })
  writeCatalog(dir, distids, now())
  await app.ctx.db
    .insertInto('dealer')
    .values([
      dealer(DEALERS[0], 'Desert Arms'),
      dealer(DEALERS[1], 'Copper Arms'),
      dealer(STORE_DEALER, SHOP),
    ])
    .execute()
  const document = shopDocument(distids, app.ctx.distributors.all)
  const keyOf = async (subscriber: string, name: string) =>
    app.operator.keys.create({ subscriber, name, tier: 'enterprise', ips: ['127.0.0.1'] })
  for (const name of [SHOP, OTHER_SHOP]) {
    await app.operator.subscribers.create({ name, email: 'owner@shop.example' })
    await app.operator.configurations.put(name, { document })
    await app.operator.configurations.checkCredentials(name, Object.keys(document.distributors))
  }
  if (exchange !== undefined)
    for (const distid of DESCRIBED)
      await app.operator.distributors.goLive({ distid, reason: 'they are ours' })
  const keys: string[] = []
  for (let i = 0; i < KEYS; i++) keys.push((await keyOf(SHOP, `key ${i}`)).key)
  const quota = await keyOf(SHOP, 'watched key')
  return {
    keys,
    quotaKey: quota.key,
    quotaKeyId: quota.id,
    otherKey: (await keyOf(OTHER_SHOP, 'other key')).key,
  }
}

function writeCatalog(dir: string, distids: readonly string[], now: number): void {
  const catalog = openFile(filesIn(dir).catalog, { synchronous: 'NORMAL' })
  const skus = [...range('A', 6), ...range('G', 3), ...range('S', SCARCE)]
  try {
    writeOffers(
      catalog,
      distids.flatMap((distid) => skus.map((sku) => offer(distid, sku))),
      now,
    )
  } finally {
    catalog.close()
  }
}

const range = (letter: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${letter}${i + 1}`)

function offer(
  distid: string,
  sku: string,
): Parameters<typeof writeOffers>[1] extends Iterable<infer Offer> ? Offer : never {
  const firearm = sku.startsWith('G')
  return {
    distid,
    stockid: sku,
    distsku: sku,
    upc: upcOf(sku),
    name: `Item ${sku}`,
    mfgName: null,
    mpn: null,
    productClass: firearm ? 'FA' : 'AC',
    itemCat: null,
    categoryId: null,
    categoryName: firearm ? 'Semi Auto Handguns' : 'Uncategorized',
    price: firearm ? 40_000 : 2_500,
    map: null,
    msrp: null,
    shipping: null,
    qty: sku.startsWith('S') ? 3 : 50_000_000,
    fflReq: firearm,
    dropShip: !firearm,
    images: [],
    productUrl: null,
    shortDescription: null,
    description: null,
    attributes: {},
  }
}

function dealer(license: string, name: string) {
  return {
    id: license.replace(/^(\d-\d\d)-.*-(\d{5})$/, '$1-$2'),
    license_number: license,
    license_type: license.slice(9, 11),
    expires_on: '2039-05-01',
    valid_until: null,
    license_name: `${name.toUpperCase()} LLC`,
    business_name: name,
    premise_street: '400 E Van Buren St',
    premise_city: 'PHOENIX',
    premise_state: 'AZ',
    premise_zip: '85004',
    mail_street: null,
    mail_city: null,
    mail_state: null,
    mail_zip: null,
    voice_phone: '6025550177',
    email: null,
    fee_longgun: null,
    fee_handgun: null,
    sot_on_file: 0,
    source: 'operator' as const,
    updated_at: 0,
  }
}

/** These distributors, the simulated ones with the demo's credentials, and a store. */
export function shopDocument(
  distids: readonly string[] = SIMULATED,
  known: readonly Distributor[] = builtin,
): ConfigurationDocument {
  const entries = distids
    .map((distid) => known.find((candidate) => candidate.distid === distid)!)
    .map((distributor) => [distributor.name, entryOf(distributor)] as const)
  return {
    distributors: Object.fromEntries(entries),
    targets: {},
    notification_email: 'owner@shop.example',
    pricing: {},
    product_restrictions: {},
    fulfillment: {
      ship_to_store: {
        ffl: STORE_DEALER,
        phone: '602-555-0199',
        address: {
          ship_to_name: SHOP,
          address_street: '1 Store Rd',
          city: 'Phoenix',
          state: 'AZ',
          postal_code: '85004',
        },
      },
    },
  } as ConfigurationDocument
}

const BILLING: Record<string, unknown> = {
  company: SHOP,
  first_name: 'Pat',
  last_name: 'Doe',
  address_street: '1 Store Rd',
  city: 'Phoenix',
  state: 'AZ',
  postal_code: '85004',
  email: 'owner@shop.example',
  phone: '602-555-0199',
}

function entryOf({ distid, settings }: Distributor): DistributorEntry {
  const entry = {
    active: true,
    distid,
    drop_ship_only_items: false,
    shipping: { flat_rate: { cost: 10, shipping_class: 'flat' } },
    product_restrictions: { min_quantity_to_list: 1 },
    fulfillment: {},
  }
  const known = demoSettings(distid)
  for (const [name, { path, required, form, type }] of Object.entries(settings)) {
    const text =
      known[name] ??
      (required === true && form === 'email'
        ? ['ffl@shop.example']
        : required === 'in_object'
          ? BILLING[path.split('-').at(-1)!]
          : undefined)
    if (text !== undefined) setAt(entry, path.split('-'), type === 'number' ? Number(text) : text)
  }
  return entry
}

function setAt(target: object, path: readonly string[], value: unknown): void {
  const [first, ...rest] = path as [string, ...string[]]
  const members = target as Record<string, object>
  if (rest.length === 0) Object.assign(target, { [first]: value })
  else setAt((members[first] ??= {}), rest, value)
}
