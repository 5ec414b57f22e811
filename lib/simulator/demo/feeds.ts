import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  CHATTANOOGA_COLUMNS,
  chattanoogaFeed,
} from '../../distributors/builtin/chattanooga/simulated-feed.js'
import {
  BILL_HICKS_COLUMNS,
  billHicksFeed,
} from '../../distributors/builtin/bill-hicks/simulated-feed.js'
import { QUANTITY } from '../../distributors/builtin/bill-hicks/feed.js'
import {
  HICKS_INC_COLUMNS,
  hicksIncFeed,
} from '../../distributors/builtin/hicks-inc/simulated-feed.js'
import { makeGoods } from '../market/goods.js'
import { LIPSEYS_COLUMNS, lipseysFeed } from '../../distributors/builtin/lipseys/simulated-feed.js'
import { DEMO_SEED, type DemoDistid } from '../market/market.js'
import { type DemoOffers, makeOffers } from '../market/offers.js'
import {
  SPORTS_SOUTH_COLUMNS,
  sportsSouthFeed,
} from '../../distributors/builtin/sports-south/simulated-feed.js'
import { COLUMNS as ORION_COLUMNS } from '../../distributors/builtin/orion/feed.js'
import { orionFeed } from '../../distributors/builtin/orion/simulated-feed.js'
import { PRODUCT_COLUMNS } from '../../distributors/builtin/second-amendment/feed.js'
import { secondAmendmentFeed } from '../../distributors/builtin/second-amendment/simulated-feed.js'
import { ZANDERS_COLUMNS, zandersFeed } from '../../distributors/builtin/zanders/simulated-feed.js'
import { rsrFeed } from '../../distributors/builtin/rsr/simulated-feed.js'

export interface DemoFeed {
  distid: DemoDistid
  /** The preset that reads the file. */
  preset: 'rsr' | 'lipseys' | 'chattanooga'
  file: string
}

export interface DemoFeedOptions {
  seed?: number
  /**
   * About how many offers over all three distributors; the stories come on top of a small number.
   */
  offers?: number
  /** The day that the feeds are of; no clock is read. */
  asOf: number
}

/** A file, what stands between its cells, and the column (from 0) of the quantity. */
export interface FeedFile {
  readonly name: string
  readonly separator: ',' | ';'
  readonly quantity: number
}

/** Offers of a fresh installation. */
const DEMO_OFFERS = 20_000

/** Offers per distinct item: many are at two distributors, some at all three. */
const OFFERS_PER_GOOD = 1.82

/**
 * The files of the demo: their names, what stands between their cells, and the column (from 0) of
 * the quantity; the SKU is the first.
 */
export const DEMO_FILES: Readonly<Record<DemoDistid, FeedFile>> = {
  RSR: { name: 'rsrinventory-new.txt', separator: ';', quantity: 8 },
  LIP: {
    name: 'lipseys-catalog.csv',
    separator: ',',
    quantity: LIPSEYS_COLUMNS.indexOf('QUANTITY'),
  },
  CSSI: {
    name: 'chattanooga-product-feed.csv',
    separator: ',',
    quantity: CHATTANOOGA_COLUMNS.indexOf('Quantity In Stock'),
  },
}

/**
 * The files of distributors that are not in the demo, which their simulators serve alone: named as
 * those of the demo.
 */
export const OTHER_FILES: Readonly<Record<string, FeedFile>> = {
  TSW: {
    name: 'sports-south.csv',
    separator: ',',
    quantity: SPORTS_SOUTH_COLUMNS.indexOf('QTYOH'),
  },
  '2AW': {
    name: 'second-amendment.csv',
    separator: ',',
    quantity: PRODUCT_COLUMNS.indexOf('inventory_qty'),
  },
  BILL: {
    name: 'bill-hicks.csv',
    separator: ',',
    quantity: BILL_HICKS_COLUMNS.indexOf(QUANTITY),
  },
  ORI: { name: 'orion.csv', separator: ',', quantity: ORION_COLUMNS.indexOf('quantity') },
  HIX: {
    name: 'hicks-inc.csv',
    separator: ',',
    quantity: HICKS_INC_COLUMNS.indexOf('quantity_on_hand'),
  },
  ZND: { name: 'zanders.csv', separator: ',', quantity: ZANDERS_COLUMNS.indexOf('available') },
}

/** A distributor's file in the folder; undefined where it has none. */
export const feedFileOf = (distid: string): FeedFile | undefined =>
  new Map<string, FeedFile>([...Object.entries(DEMO_FILES), ...Object.entries(OTHER_FILES)]).get(
    distid,
  )

/** Where a state folder has the file of a distributor; null for one that there is none of. */
export function demoFeedFile(dir: string, distid: string): string | null {
  const file = feedFileOf(distid)
  return file ? join(demoFeedDir(dir), file.name) : null
}

/** The folder of these files in a state folder. */
export const demoFeedDir = (dir: string): string => join(dir, 'simulator', 'feeds')

/**
 * Makes up a market and writes it as three distributors would: the same options always give the
 * same bytes.
 */
export async function writeDemoFeeds(dir: string, options: DemoFeedOptions): Promise<DemoFeed[]> {
  const offers = demoOffers(options)
  const feeds: [DemoFeed, string][] = [
    [
      { distid: 'RSR', preset: 'rsr', file: join(dir, DEMO_FILES.RSR.name) },
      rsrFeed(offers.RSR, options.asOf),
    ],
    [
      { distid: 'LIP', preset: 'lipseys', file: join(dir, DEMO_FILES.LIP.name) },
      lipseysFeed(offers.LIP),
    ],
    [
      { distid: 'CSSI', preset: 'chattanooga', file: join(dir, DEMO_FILES.CSSI.name) },
      chattanoogaFeed(offers.CSSI),
    ],
  ]
  await mkdir(dir, { recursive: true })
  await Promise.all(feeds.map(([feed, text]) => writeFile(feed.file, text)))
  return feeds.map(([feed]) => feed)
}

/** Writes the files of the distributors that are not in the demo: they sell what Chattanooga does. */
export async function writeOtherFeeds(dir: string, options: DemoFeedOptions): Promise<void> {
  const { CSSI } = demoOffers(options)
  await mkdir(dir, { recursive: true })
  await writeFile(join(dir, OTHER_FILES['TSW']!.name), sportsSouthFeed(CSSI, options.asOf))
  await writeFile(join(dir, OTHER_FILES['2AW']!.name), secondAmendmentFeed(CSSI, options.asOf))
  await writeFile(join(dir, OTHER_FILES['BILL']!.name), billHicksFeed(CSSI))
  await writeFile(join(dir, OTHER_FILES['ZND']!.name), zandersFeed(CSSI))
  await writeFile(join(dir, OTHER_FILES['ORI']!.name), orionFeed(CSSI))
  await writeFile(join(dir, OTHER_FILES['HIX']!.name), hicksIncFeed(CSSI))
}

/** The offers themselves, before any distributor's format. */
export function demoOffers({
  seed = DEMO_SEED,
  offers = DEMO_OFFERS,
}: Pick<DemoFeedOptions, 'seed' | 'offers'>): DemoOffers {
  return makeOffers(makeGoods(seed, Math.round(offers / OFFERS_PER_GOOD)), seed, offers)
}
