/**
 * The shop that the fuzzer calls: the demo's stock, dealers and history, the starter rules,
 * simulated distributors, and beside it shops in other states. It is made once and copied for every
 * epoch. What must never be told is planted in it.
 */
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import duckdb from '@duckdb/node-api'
import { analyticsFolder } from '../../lib/analytics/builds/files.js'
import { rebuild } from '../../lib/analytics/builds/rebuild.js'
import type {
  ConfigurationDocument,
  DistributorEntry,
} from '../../lib/configuration/document/document.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { builtin } from '../../lib/distributors/builtin/index.js'
import { readState } from '../../lib/catalog/queries.js'
import { writeState } from '../../lib/feeds/ingest/queries.js'
import { writeOffers } from '../../lib/feeds/ingest/write-offers.js'
import { open } from '../../lib/app/open.js'
import type { App, OpenOptions } from '../../lib/app/open.js'
import { addDemoDealers } from '../../lib/simulator/market/dealers.js'
import { writeDemoHistory } from '../../lib/simulator/demo/history.js'
import { demoDocument } from '../../lib/app/demo.js'
import { demoOffers, writeDemoFeeds } from '../../lib/simulator/demo/feeds.js'
import { demoSettings } from '../../lib/simulator/profiles.js'
import { watchErrors } from '../../server/testing/error-watch.js'
import { openApiDocument } from '../../server/openapi/document.js'
import { fractional } from '../../server/testing/clock.js'
import { readDocument } from './document.js'
import type { ApiDocument } from './document.js'
import { readPools } from './pools.js'
import type { Pools } from './pools.js'

/** Stands in everything that a caller must never see, and nowhere else. */
export const CANARY = 'Canaryq7x'

export const START = Date.UTC(2026, 10, 21, 12)
const OFFERS = 400
/** Keys of the main shop: their quotas together are wide enough for an epoch. */
const KEYS = 40

/** Who may call, and in which state the caller is. */
export type Caller =
  | 'main'
  | 'export'
  | 'config'
  | 'empty'
  | 'unvalidated'
  | 'standard'
  | 'disabled'
  | 'cancelled'
  | 'no addresses'
  | 'elsewhere'

export interface Template {
  dir: string
  /** What the shop's server documents. */
  api: ApiDocument
  keys: Record<Caller, string[]>
  pools: Pools
  /** Texts that no answer may hold, unless the request did. */
  secrets: string[]
  /** The main shop's document, as a caller would save it. */
  document: ConfigurationDocument
  /** The same as a caller reads it: secrets are asterisks. */
  masked: ConfigurationDocument
}

/** Bytes that depend on the seed alone. */
export function seededBytes(seed: string): (bytes: number) => Buffer {
  let n = 0
  return (bytes) => {
    const parts: Buffer[] = []
    for (let size = 0; size < bytes; size += 64)
      parts.push(createHash('sha512').update(`${seed} ${n++}`).digest())
    return Buffer.concat(parts).subarray(0, bytes)
  }
}

export function scratch(name: string): string {
  return mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), name))
}

/** Makes the shop's folder. The caller removes it. */
export async function makeTemplate(): Promise<Template> {
  const dir = scratch('qm-fuzz-template-')
  const clock = { ms: START }
  const watch = watchErrors()
  const app = await openFolder(dir, clock, 'template', { log: watch.log })
  try {
    await takeInStock(app)
    await addDemoDealers(app.ctx)
    await app.operator.rules.accept()
    await buildAnalytics(dir)
    const document = mainDocument()
    const keys = await addShops(app, document)
    const pools = await readPools(app, keys)
    const secrets = [...secretsOf(dir, keys), ...Object.values(pools.otherShop)]
    const masked = (await app.operator.configurations.read('Fuzz shop')) as ConfigurationDocument
    const api = readDocument(openApiDocument('http://shop.test', app.ctx.distributors))
    return { dir, api, keys, pools, secrets, document, masked }
  } finally {
    await app.close()
    watch.check()
  }
}

/**
 * Opens a folder with a clock that the fuzzer moves, with fractions as a machine's has, and with
 * randomness of the seed.
 */
export function openFolder(
  dir: string,
  clock: { ms: number },
  seed: string,
  more: OpenOptions = {},
): Promise<App> {
  return open({
    dir,
    now: fractional(() => clock.ms),
    random: seededBytes(seed),
    worker: false,
    publicUrl: 'http://shop.test',
    fatal: (error) => {
      throw error
    },
    faults: { freeBytes: () => Infinity },
    ...more,
  })
}

/** A copy of the shop, which is removed by `remove`. */
export function copyOf(template: Template): { dir: string; remove(): void } {
  const dir = scratch('qm-fuzz-')
  cpSync(template.dir, dir, { recursive: true })
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) }
}

/**
 * The demo's feeds, with stock that does not run out for nine in ten, and a few offers of
 * distributors that the demo has not.
 */
async function takeInStock(app: App): Promise<void> {
  const history = openFile(filesIn(app.dir).history, { synchronous: 'NORMAL' })
  writeDemoHistory(history, demoOffers({ offers: OFFERS }), app.ctx.now())
  history.close()
  const feeds = join(app.dir, 'feeds')
  mkdirSync(feeds)
  for (const { distid, preset, file } of await writeDemoFeeds(feeds, {
    offers: OFFERS,
    asOf: app.ctx.now(),
  })) {
    await app.operator.feeds.set({ distid, preset, location: file })
    await app.operator.feeds.pull({ distid })
  }
  const catalog = openFile(filesIn(app.dir).catalog, { synchronous: 'NORMAL' })
  catalog.prepare('UPDATE offer SET qty = 900000 WHERE held = 0 AND id % 10 > 0').run()
  writeOffers(
    catalog,
    OTHERS.flatMap((distid) =>
      [0, 1, 2, 3, 4, 5].map((n) => ({
        distid,
        distsku: `${distid}-${n}`,
        stockid: `${distid}-${n}`,
        upc: `08600012345${n}0`,
        name: `Ridgeline part ${n} É of ${distid}`,
        mfgName: n === 0 ? null : 'Ridgeline Arms',
        mpn: null,
        productClass: n < 2 ? 'FA' : 'AC',
        itemCat: null,
        categoryId: null,
        categoryName: 'Uncategorized',
        price: 1_999 + 10_000 * n,
        map: null,
        msrp: null,
        shipping: n === 3 ? null : 900,
        qty: 900_000,
        fflReq: n < 2,
        dropShip: n !== 5,
        images: [],
        productUrl: null,
        shortDescription: null,
        description: null,
        attributes: {},
      })),
    ),
    app.ctx.now(),
  )
  writeState(catalog, readState(catalog).revision + 1, true, app.ctx.now())
  catalog.prepare('UPDATE offer SET revision = (SELECT revision FROM state)').run()
  catalog.close()
  await app.ctx.catalog.refresh()
}

const OTHERS = ['TSW', '2AW', 'ZND', 'BILL', 'ORI', 'HIX']

/** In this process: starting one of its own would take longer than the work. */
async function buildAnalytics(dir: string): Promise<void> {
  const work = join(analyticsFolder(dir), 'work')
  mkdirSync(work, { recursive: true })
  const instance = await duckdb.DuckDBInstance.create(':memory:', { threads: '1' })
  try {
    await rebuild({ dir, now: START }, { duck: await instance.connect(), work, onProgress() {} })
  } finally {
    instance.closeSync()
    rmSync(work, { recursive: true, force: true })
  }
}

/** The demo's document with every simulated distributor, secrets of targets, and a store. */
function mainDocument(): ConfigurationDocument {
  const demo = demoDocument()
  const entry = (distid: string, fulfillment: Record<string, unknown>): DistributorEntry => ({
    active: true,
    distid,
    drop_ship_only_items: false,
    shipping: { flat_rate: { cost: 9, shipping_class: 'flat' } },
    product_restrictions: { min_quantity_to_list: 1 },
    fulfillment,
  })
  const address = {
    company: 'Fuzz Guns',
    first_name: 'Pat',
    last_name: 'Doe',
    address_street: '1 Store Rd',
    city: 'Phoenix',
    state: 'AZ',
    postal_code: '85004',
    email: 'owner@shop.example',
    phone: '6025550199',
  }
  return {
    ...demo,
    distributors: {
      ...demo.distributors,
      'Sports South': entry('TSW', settingsOf('TSW')),
      '2nd Amendment Wholesale': entry('2AW', {
        ...settingsOf('2AW'),
        ffl_recipient_emails: ['ffl@shop.example'],
        billing_address: address,
      }),
      Zanders: entry('ZND', settingsOf('ZND')),
      'Orion Wholesale': entry('ORI', settingsOf('ORI')),
      'Hicks Inc.': entry('HIX', settingsOf('HIX')),
      'Bill Hicks': entry('BILL', {
        ...settingsOf('BILL'),
        ffl_recipient_emails: ['ffl@shop.example'],
      }),
    },
    targets: {
      woo: {
        active: true,
        url: 'https://shop.example',
        'consumer-key': `ck_${CANARY}`,
        'consumer-secret': `cs_${CANARY}`,
      },
      gunbroker: {
        active: false,
        environment: 'sandbox',
        username: 'shop',
        password: `pw_${CANARY}`,
        key: `key_${CANARY}`,
      },
    },
    product_restrictions: {},
    fulfillment: {
      ship_to_store: {
        ffl: '',
        phone: '6025550199',
        address: {
          ship_to_name: 'Fuzz Guns',
          address_street: '1 Store Rd',
          city: 'Phoenix',
          state: 'AZ',
          postal_code: '85004',
        },
      },
    },
  }
}

/** What the simulator takes, each setting at its place of the document. */
function settingsOf(distid: string): Record<string, unknown> {
  const { settings } = builtin.find((distributor) => distributor.distid === distid)!
  const made: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(demoSettings(distid))) {
    const way = settings[name]!.path.split('-').slice(1)
    let at = made
    for (const part of way.slice(0, -1)) at = (at[part] ??= {}) as Record<string, unknown>
    at[way.at(-1)!] = value
  }
  return made
}

async function addShops(
  { ctx, operator }: App,
  document: ConfigurationDocument,
): Promise<Record<Caller, string[]> & { other: string[] }> {
  const dealer = await ctx.read
    .selectFrom('dealer')
    .select('license_number')
    .where('license_type', '=', '01')
    .orderBy('license_number')
    .executeTakeFirstOrThrow()
  ;(document.fulfillment as { ship_to_store: { ffl: string } }).ship_to_store.ffl =
    dealer.license_number
  const shop = async (name: string, saved: ConfigurationDocument | null, validated: boolean) => {
    await operator.subscribers.create({ name, email: 'owner@shop.example' })
    if (saved) await operator.configurations.put(name, { document: saved })
    if (saved && validated)
      await operator.configurations.checkCredentials(name, Object.keys(saved.distributors))
    return name
  }
  const main = await shop('Fuzz shop', document, true)
  // A save has new credentials checked at once: these are good for nothing.
  const strangers = JSON.parse(
    JSON.stringify(document).replaceAll(/demo-|DEMO-|demo@|999\d\d/g, 'none'),
  ) as ConfigurationDocument
  const passive = Object.fromEntries(
    Object.entries(document.distributors).map(([name, entry]) => [
      name,
      { ...entry, active: false },
    ]),
  )
  const shops: Partial<Record<Caller, string>> = {
    export: await shop('Export shop', document, true),
    config: await shop('Config shop', document, true),
    empty: await shop('Empty shop', { ...document, distributors: passive }, false),
    unvalidated: await shop('New shop', strangers, false),
  }
  const other = await shop(`Other ${CANARY}`, document, true)
  const make = async (
    subscriber: string,
    n: number,
    more: { tier?: 'standard' | 'enterprise'; ips?: string[] } = {},
  ) => {
    const made: string[] = []
    for (let i = 0; i < n; i++)
      made.push(
        (
          await operator.keys.create({
            subscriber,
            name: `key ${i}`,
            tier: 'enterprise',
            ips: ['127.0.0.1', '::1'],
            ...more,
          })
        ).key,
      )
    return made
  }
  const withStatus = async (status: 'disabled' | 'cancelled') => {
    const { id, key } = await operator.keys.create({
      subscriber: main,
      name: status,
      tier: 'enterprise',
      ips: ['127.0.0.1'],
    })
    await operator.keys.setStatus(id, status)
    return [key]
  }
  return {
    main: await make(main, KEYS),
    standard: await make(main, 2, { tier: 'standard' }),
    disabled: await withStatus('disabled'),
    cancelled: await withStatus('cancelled'),
    'no addresses': await make(main, 1, { ips: [] }),
    elsewhere: await make(main, 1, { ips: ['203.0.113.7'] }),
    other: await make(other, 1),
    export: await make(shops.export!, 4),
    config: await make(shops.config!, 4),
    empty: await make(shops.empty!, 2),
    unvalidated: await make(shops.unvalidated!, 2),
  }
}

/**
 * Keys, their digests, the folder's secret key, credentials that are marked secret, and the folder
 * itself.
 */
function secretsOf(dir: string, keys: Record<Caller, string[]>): string[] {
  const texts = Object.values(keys).flat()
  const credentials = builtin
    .flatMap(({ distid, settings }) =>
      Object.entries(settings)
        .filter(([, { secret }]) => secret === true)
        .map(([name]) => demoSettings(distid)[name]),
    )
    .filter((text) => text !== undefined)
  const secretKey = readFileSync(join(dir, 'keys', 'secret-key'))
    .toString()
    .trim()
  return [
    CANARY,
    CANARY.toLowerCase(),
    CANARY.toUpperCase(),
    secretKey,
    ...credentials,
    ...texts,
    ...texts.map((text) => createHash('sha256').update(text).digest('hex')),
  ]
}
