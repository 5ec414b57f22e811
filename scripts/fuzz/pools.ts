/**
 * Values that exist in the shop, so that requests get further than the first look-up; and what was
 * placed and reported before.
 */
import type { App } from '../../lib/app/open.js'
import { CANARY } from './shop.js'
import type { Caller } from './shop.js'

export interface PoolOffer {
  distid: string
  distsku: string
  upc: string
  ffl: boolean
  sot: boolean
  dropShip: boolean
  qty: number
}

export interface PoolPlace {
  zip: string
  city: string
  state: string
}

export interface Pools {
  offers: PoolOffer[]
  /** License numbers of dealers with a valid license, on file or not. */
  licenses: string[]
  sotLicenses: string[]
  /** License number and order that it stands on. */
  orderedLicenses: string[]
  places: PoolPlace[]
  brands: string[]
  categories: string[]
  /** Of the main shop: order ids, POs, numbers of distributors. */
  orderIds: string[]
  references: string[]
  /** Strong signals that another shop has reported. */
  reported: {
    shipping_address_1: string
    shipping_postcode: string
    phone: string
    email: string
  }[]
  /** What the other shop's orders and reports are called; the main shop must never see them. */
  otherShop: Record<string, string>
}

const CUSTOMER = {
  name: 'Pat Doe',
  email: 'pat@customer.example',
  phone: '602-555-0100',
  address1: '12 Main St',
  city: 'Nashville',
  state: 'TN',
  zip: '37203',
}

/** Places orders and reports fraud for the main and another shop, then reads what there is. */
export async function readPools(
  app: App,
  keys: Record<Caller, string[]> & { other: string[] },
): Promise<Pools> {
  const offers = await readOffers(app, keys.main[0]!)
  const dealers = await app.ctx.read
    .selectFrom('dealer')
    .where('expires_on', '>', '2027-12-31')
    .select(['license_number', 'sot_on_file', 'premise_zip', 'premise_city', 'premise_state'])
    .orderBy('license_number')
    .execute()
  const licenses = dealers.map(({ license_number: license }) => license)
  // Two of them have documents on file, which an order then opens.
  const documented = await app.ctx.read
    .selectFrom('dealer_document')
    .innerJoin('dealer', 'dealer.id', 'dealer_document.dealer_id')
    .select('license_number')
    .distinct()
    .orderBy('license_number')
    .limit(2)
    .execute()
  const orderedLicenses = [
    ...documented.map(({ license_number: license }) => license),
    ...licenses.slice(10, 12),
  ]
  const placed = await placeSome(app, keys.main[0]!, offers, orderedLicenses, 'W', CUSTOMER)
  const others = await placeSome(
    app,
    keys.other[0]!,
    offers,
    orderedLicenses.slice(0, 1),
    'other-order',
    {
      ...CUSTOMER,
      name: `Robin ${CANARY}`,
      email: `${CANARY}@customer.example`,
      address1: `9 ${CANARY} Rd`,
      phone: '615-555-7391',
    },
  )
  const reported = await report(app, keys.other[0]!)
  const facets = await app.as({ key: keys.main[0]! }).products.facets({})
  return {
    offers,
    licenses,
    orderedLicenses,
    sotLicenses: dealers
      .filter(({ sot_on_file: sot }) => sot === 1)
      .map(({ license_number: license }) => license),
    places: dealers.slice(0, 200).map((dealer) => ({
      zip: dealer.premise_zip.slice(0, 5),
      city: dealer.premise_city,
      state: dealer.premise_state,
    })),
    brands: facets.manufacturers,
    categories: facets.categories,
    orderIds: placed.map(({ order_id: id }) => id),
    references: placed.flatMap((record) => [
      record.order_id,
      record.po_number,
      record.distributor_order_id ?? 'SIM-1',
    ]),
    reported,
    otherShop: Object.fromEntries(others.map((record, i) => [`record ${i}`, record.order_id])),
  }
}

async function readOffers(app: App, key: string): Promise<PoolOffer[]> {
  const shop = app.as({ key })
  const found: PoolOffer[] = []
  for (let page = 1; ; page++) {
    const { products, total } = await shop.products.search({ page, page_size: 100 })
    for (const product of products) {
      if (product.upc === null) continue
      found.push({
        distid: product.distid,
        distsku: product.distsku,
        upc: product.upc,
        ffl: product.ffl_req === 1 || ['FA', 'SO'].includes(product.product_class),
        sot: product.product_class === 'SO',
        dropShip: product.drop_ship_flg === 1,
        qty: product.qty_on_hand,
      })
    }
    if (page * 100 >= total) return found
  }
}

async function placeSome(
  app: App,
  key: string,
  offers: readonly PoolOffer[],
  licenses: readonly string[],
  prefix: string,
  customer: typeof CUSTOMER,
) {
  const shop = app.as({ key })
  const parts = offers.filter(({ ffl, dropShip, qty }) => !ffl && dropShip && qty > 1_000)
  const guns = offers.filter(
    ({ ffl, sot, qty, distid }) => ffl && !sot && qty > 1_000 && distid === 'TSW',
  )
  const records = []
  for (const [i, licenseNumber] of licenses.entries()) {
    const { distid, distsku, upc } = guns[i % guns.length]!
    const answer = await shop.orders.place({
      order_id: `${prefix}-g${i}`,
      customer,
      items: [{ distid, distsku, upc, qty: 1, ffl_req: true }],
      ffl: { licenseNumber },
    })
    records.push(...answer.fulfillment_orders)
  }
  for (let i = 0; i < 3; i++) {
    const { distid, distsku, upc } = parts[(i * 7) % parts.length]!
    const answer = await shop.orders.place({
      order_id: `${prefix}-p${i}`,
      customer,
      items: [{ distid, distsku, upc, qty: 1 }],
    })
    records.push(...answer.fulfillment_orders)
  }
  return records
}

/**
 * The strong signals are not canaries, since a caller sends them; all that stands beside them is.
 */
async function report(app: App, key: string): Promise<Pools['reported']> {
  const shop = app.as({ key })
  const reported = [0, 1, 2, 3].map((n) => ({
    shipping_address_1: `${700 + n} Shady Grove Ln`,
    shipping_postcode: '37203',
    phone: `615555${1200 + n}`,
    email: `buyer${n}@mail.example`,
  }))
  for (const signals of reported) {
    await shop.fraud.report({
      ...signals,
      shipping_name: `Dana ${CANARY}`,
      shipping_city: 'Nashville',
      shipping_state: 'TN',
      billing_name: `Billy ${CANARY}`,
      billing_address_1: `77 ${CANARY} Ave`,
      billing_postcode: '37203',
      ip_address: '198.51.100.77',
      order_items: [
        { upc: '860001234503', sku: `SKU-${CANARY}`, name: `Item ${CANARY}`, qty: 1, price: 10 },
      ],
      notes: `Chargeback ${CANARY}`,
      order_json: { raw: CANARY },
      order_source: 'woo',
      order_id: `o-${CANARY}`,
    })
  }
  return reported
}
