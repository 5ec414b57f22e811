/** The demo: a made-up shop on a fresh folder, so that the first start has something to show. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inTime } from '../core/async/wait.js'
import type { ConfigurationDocument, DistributorEntry } from '../configuration/document/document.js'
import { SECOND } from '../core/clock.js'
import { writeKeyFile } from '../core/storage/secrets.js'
import type { App } from './open.js'
import { filesIn } from '../db/sqlite/folder.js'
import { openFile } from '../db/sqlite/sqlite.js'
import { addDemoDealers } from '../simulator/market/dealers.js'
import { writeDemoHistory } from '../simulator/demo/history.js'
import { demoFeedDir, demoOffers, writeDemoFeeds } from '../simulator/demo/feeds.js'
import { demoCredential } from '../simulator/profiles.js'
import { present } from '../core/present.js'

export interface Demo {
  key: string
  /** Name of the demo subscriber. */
  subscriber: string
}

const SUBSCRIBER = 'Demo Shop'
export interface DemoOptions {
  /**
   * How many offers each feed has beside those that pages and stories name; about 20,000 in all by
   * default.
   */
  offers?: number
  /**
   * Whether it has 90 days behind it, and whether the first answers wait for the metrics of them:
   * both by default.
   */
  history?: boolean
  metrics?: boolean
  /**
   * Milliseconds to wait for the metrics at most, 20 seconds by default: on a machine that is too
   * busy they come while the demo serves.
   */
  longestWait?: number
}

/** Makes the demo shop where there is none; a later start finds data and key as they were. */
export async function prepareDemo(
  app: App,
  { offers, history = true, metrics = history, longestWait = 20 * SECOND }: DemoOptions = {},
): Promise<Demo> {
  const size = offers === undefined ? {} : { offers }
  const keyFile = join(app.dir, 'keys', 'demo-key')
  const known = existsSync(keyFile) ? readFileSync(keyFile, 'utf8').trim() : ''
  if (known !== '') {
    // A demo of an earlier release has no dealers yet.
    await addDemoDealers(app.ctx)
    return { key: known, subscriber: SUBSCRIBER }
  }
  const shops = await app.operator.subscribers.list()
  const [shop] = shops
  if (shop && !shops.some(({ name }) => name === SUBSCRIBER)) {
    throw new Error(
      `${app.dir} holds a real installation (${shop.name}); start the demo in another ` +
        'folder with --dir',
    )
  }
  if (!shops.some(({ name }) => name === SUBSCRIBER))
    await app.operator.subscribers.create({ name: SUBSCRIBER, email: 'owner@demo-shop.example' })
  if (history) addHistory(app, size)
  // In a process of its own, beside the feeds.
  const rolledUp = metrics ? runJob(app, 'history') : null
  await takeInFeeds(app, size)
  await addDemoDealers(app.ctx)
  const document = demoDocument()
  await app.operator.configurations.put(SUBSCRIBER, { document })
  await app.operator.configurations.checkCredentials(SUBSCRIBER, Object.keys(document.distributors))
  const { key } = await app.operator.keys.create({
    subscriber: SUBSCRIBER,
    name: 'demo key',
    tier: 'enterprise',
    ips: ['127.0.0.1', '::1'],
  })
  // Written last: a start that was cut off before this line begins again.
  writeKeyFile(keyFile, key)
  // Every metric has rows from the first answer on.
  if (rolledUp)
    await inTime(() => rolledUp.then(() => runJob(app, 'analytics')), {
      ms: longestWait,
      late: () => {},
    })
  return { key, subscriber: SUBSCRIBER }
}

/** What goes wrong (no DuckDB), its job has logged: the rest of the demo works all the same. */
async function runJob({ jobs }: App, name: string): Promise<void> {
  await jobs.run(name).catch(() => {})
}

/** Before any feed is taken in: what that one tells then is what the history ends with. */
function addHistory({ dir, ctx }: App, size: { offers?: number }): void {
  const history = openFile(filesIn(dir).history, { synchronous: 'NORMAL' })
  try {
    writeDemoHistory(history, demoOffers(size), ctx.now())
  } finally {
    history.close()
  }
}

async function takeInFeeds(app: App, size: { offers?: number }): Promise<void> {
  const dir = demoFeedDir(app.dir)
  mkdirSync(dir, { recursive: true })
  for (const { distid, preset, file } of await writeDemoFeeds(dir, {
    asOf: app.ctx.now(),
    ...size,
  })) {
    await app.operator.feeds.set({ distid, preset, location: file })
    const [pulled] = await app.operator.feeds.pull({ distid })
    const result = present(pulled, `what became of the feed of ${distid}`)
    if (result.outcome === 'refused' || result.outcome === 'failed')
      throw new Error(`the demo feed of ${distid} was not taken: ${result.reasons.join('; ')}`)
  }
}

/**
 * What the demo shop has configured: three distributors with three shipping models, margins and a
 * few restrictions.
 */
export function demoDocument(): ConfigurationDocument {
  return {
    distributors: demoDistributors(),
    targets: {},
    notification_email: 'owner@demo-shop.example',
    pricing: demoPricing(),
    product_restrictions: {
      cost: { global_restrictions: { min_distributor_cost: 5, max_distributor_cost: 9_999 } },
    },
    fulfillment: {},
  }
}

function demoDistributors(): ConfigurationDocument['distributors'] {
  const entry = (
    distid: string,
    parts: Pick<DistributorEntry, 'shipping' | 'fulfillment'> & Partial<DistributorEntry>,
  ): DistributorEntry => ({
    active: true,
    distid,
    drop_ship_only_items: false,
    product_restrictions: { min_quantity_to_list: 1 },
    product_feed: { active: true },
    ...parts,
  })
  return {
    'RSR Group': entry('RSR', {
      shipping: {
        price_based_shipping: [
          {
            min_unit_cost: 0,
            max_unit_cost: 99,
            flat_rate: { cost: 9.95, shipping_class: 'small' },
          },
          { min_unit_cost: 100, flat_rate: { cost: 18, shipping_class: 'large' } },
        ],
        insurance: { include: true, cost_per_hundred: 0.5 },
      },
      fulfillment: {
        API_USER: demoCredential('RSR', 'api_user'),
        API_PASSWORD: demoCredential('RSR', 'api_password'),
        ffl_recipient_emails: ['ffl@demo-shop.example'],
      },
    }),
    Lipseys: entry('LIP', {
      shipping: { flat_rate: { cost: 12.5, shipping_class: 'flat_rate_lipseys' } },
      fulfillment: {
        API_USER: demoCredential('LIP', 'api_user'),
        API_PASSWORD: demoCredential('LIP', 'api_password'),
        ffl_recipient_emails: ['ffl@demo-shop.example'],
      },
    }),
    'Chattanooga Shooting Supplies': entry('CSSI', {
      shipping: {
        flat_rate: { cost: 8.95, shipping_class: 'ground' },
        handling: { amount: 7.5, order_threshold: 50, add_handling_to_unit_cost: false },
      },
      fulfillment: {
        API_SID: demoCredential('CSSI', 'api_sid'),
        API_TOKEN: demoCredential('CSSI', 'api_token'),
      },
      default_shipping_method_non_firearms: 'best',
    }),
  }
}

function demoPricing(): ConfigurationDocument['pricing'] {
  return {
    margin: {
      default: { margin_percentage: 0.2 },
      firearms: { product_class: ['FA', 'SO'], margin_percentage: 0.12, margin_dollar: 5 },
      ammunition: { product_class: ['AO'], margin_percentage: 0.15 },
    },
    credit_card_fee_percent: 0.029,
    credit_card_fee_transaction: 0.3,
    include_credit_card_fees_in_price: true,
    sales_tax_assumption: 0.07,
    rounding: 'round_up_to_99_cents',
  }
}
