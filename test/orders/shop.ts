/** A shop with scripted distributors, dealers and offers, for suites of orders. */
import { findSubscriber } from '../../lib/accounts/subscribers.js'
import { builtin } from '../../lib/distributors/builtin/index.js'
import type { ConfigurationDocument } from '../../lib/configuration/document/document.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp, TestOffer, TestOptions } from '../../server/testing/index.js'
import type { Scripted } from './scripted-distributor.js'

export const UPC = '012345678905'
export const GUN_UPC = '012345678912'
export const DEALER = '1-57-033-01-9E-67890'
export const OTHER_DEALER = '1-57-033-07-9E-00001'

/** In the log, where a purchase order waits for a person. */
export const REVIEW = /an order needs a person's decision/

export const CUSTOMER = {
  name: 'Pat Doe',
  email: 'pat@customer.example',
  phone: '602-555-0100',
  address1: '12 Main St',
  city: 'Phoenix',
  state: 'AZ',
  zip: '85001',
}
export const STORE = {
  ffl: DEALER,
  phone: '602-555-0199',
  address: {
    ship_to_name: 'Main Street Guns',
    address_street: '1 Store Rd',
    city: 'Phoenix',
    state: 'AZ',
    postal_code: '85004',
  },
}

/** Offers of each distributor: an accessory A1 and a pistol G1. */
export function offersOf(distid: string): TestOffer[] {
  return [
    { distid, stockid: 'A1', upc: UPC, name: 'Bipod', price: 2_500, qty: 50 },
    {
      distid,
      stockid: 'G1',
      upc: GUN_UPC,
      name: 'Pistol',
      price: 40_000,
      qty: 20,
      fflReq: true,
      dropShip: false,
      productClass: 'FA',
      categoryName: 'Semi Auto Handguns',
    },
  ]
}

export interface OrderShop extends TestApp {
  /** A body that places one accessory with the first distributor. */
  body(more?: Record<string, unknown>): Record<string, unknown> & { order_id: string }
  /** POST /v1/orders. */
  place(body: unknown, init?: { key?: string | null }): ReturnType<TestApp['json']>
  /** All purchase orders, oldest first. */
  purchaseOrders(): Promise<Awaited<ReturnType<typeof readPos>>>
  /** From now on the shop logs in with this account at each of the distributors. */
  logIn(account: string): Promise<void>
  /** Another subscriber with the same document, and so with the same accounts. Returns its key. */
  addShop(): Promise<string>
  /** Moves the clock and does what is due, so often. */
  later(ms: number, rounds?: number): Promise<void>
}

const readPos = (t: TestApp) =>
  t.app.ctx.read.selectFrom('purchase_order').selectAll().orderBy('id').execute()

export interface OrderShopOptions extends TestOptions {
  /** Further members of the document. */
  document?: Partial<ConfigurationDocument>
  offers?: TestOffer[]
}

export async function orderShop(
  distributors: readonly Scripted[],
  { document = {}, offers, ...options }: OrderShopOptions = {},
): Promise<OrderShop> {
  const t = await createTestApp({
    distributors: [...builtin, ...distributors.map(({ distributor }) => distributor)],
    ...options,
  })
  await t.stock(offers ?? distributors.flatMap(({ distributor: { distid } }) => offersOf(distid)))
  await addDealers(t)
  const configure = (more: object = {}) =>
    t.configure({
      fulfillment: { ship_to_store: STORE },
      ...document,
      distributors: Object.fromEntries(
        distributors.map(({ distributor: { name, distid } }) => [
          name,
          { distid, fulfillment: {}, product_restrictions: {}, ...more },
        ]),
      ),
    })
  await configure()
  let orders = 0
  const [first] = distributors
  return Object.assign(t, {
    body: (more: Record<string, unknown> = {}) => ({
      order_id: `W-${1000 + ++orders}`,
      customer: CUSTOMER,
      items: [{ distid: first?.distributor.distid, distsku: 'A1', upc: UPC, qty: 1 }],
      ...more,
    }),
    place: (body: unknown, init: { key?: string | null } = {}) =>
      t.json('/v1/orders', { method: 'POST', body: JSON.stringify(body), ...init }),
    purchaseOrders: () => readPos(t),
    logIn: (account: string) => configure({ account }),
    async addShop() {
      const {
        app: { ctx, operator },
      } = t
      const { name, id } = await operator.subscribers.create({
        name: 'Another shop',
        email: 'other@shop.example',
      })
      const first = await findSubscriber(ctx, t.subscriber)
      await t.save(name, (await ctx.configurations.of(first)).document)
      for (const { distributor } of distributors)
        await operator.configurations.recordCheck(id, distributor.name, true)
      return (
        await operator.keys.create({
          subscriber: name,
          name: 'its key',
          tier: 'enterprise',
          ips: ['127.0.0.1'],
        })
      ).key
    },
    async later(ms: number, rounds = 1) {
      for (let i = 0; i < rounds; i++) {
        t.clock.advance(ms)
        await t.app.orders.pass()
      }
    },
  })
}

export async function addDealers(t: Pick<TestApp, 'app'>): Promise<void> {
  const dealer = (license_number: string, sot: number) => ({
    id: license_number.replace(/^(\d-\d\d)-.*-(\d{5})$/, '$1-$2'),
    license_number,
    license_type: license_number.slice(9, 11),
    expires_on: '2029-05-01',
    valid_until: null,
    license_name: 'DESERT ARMS LLC',
    business_name: 'Desert Arms',
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
    sot_on_file: sot,
    source: 'operator' as const,
    updated_at: 0,
  })
  await t.app.ctx.db
    .insertInto('dealer')
    .values([dealer(DEALER, 0), dealer(OTHER_DEALER, 1)])
    .execute()
}
