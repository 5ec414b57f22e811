import type { Good } from './goods.js'
import { DEMO_DISTIDS, DEMO_SHARES, type DemoDistid, type StoryFacts } from './market.js'
import { createRandom, type Random } from './random.js'

/** What one distributor asks for an item, and how many it has. Money in cents. */
export interface DemoOffer {
  good: Good
  /** The distributor's own item number. */
  sku: string
  price: number
  /** What the price was before a closeout or a sale; the same as `price` without one. */
  listPrice: number
  map: number | null
  msrp: number | null
  qty: number
  allocated: boolean
  reduced: boolean
  dropShip: boolean
  /** Sold by this distributor alone. */
  exclusive: boolean
  /** Days since the distributor took it up. */
  listedDays: number
}

export type DemoOffers = Record<DemoDistid, DemoOffer[]>

/** Who sells what: every item has at least one distributor, many have two or three. */
export function makeOffers(goods: Good[], seed: number, count: number): DemoOffers {
  const offers: DemoOffers = { RSR: [], LIP: [], CSSI: [] }
  const odds = oddsOfCarrying(goods, count)
  const shelves = createRandom(seed, 'shelves')
  const terms = {
    RSR: createRandom(seed, 'RSR'),
    LIP: createRandom(seed, 'LIP'),
    CSSI: createRandom(seed, 'CSSI'),
  }
  for (const good of goods) {
    const sellers = sellersOf(good, odds, shelves)
    for (const distid of sellers) {
      const story = good.story?.offers[distid]
      offers[distid].push(
        story
          ? storyOffer(distid, good, story, sellers.length === 1)
          : makeOffer(distid, good, sellers.length === 1, terms[distid]),
      )
    }
  }
  return offers
}

/**
 * The chance that a distributor stocks an item of a family that it carries, so that its offers come
 * to its share.
 */
function oddsOfCarrying(goods: Good[], count: number): Record<DemoDistid, number> {
  const odds = { RSR: 0, LIP: 0, CSSI: 0 }
  for (const distid of DEMO_DISTIDS) {
    let shared = 0
    let alone = 0
    for (const { family } of goods) {
      if (family.sellers.length === 1 && family.sellers[0] === distid) alone++
      else if (family.sellers.includes(distid)) shared++
    }
    odds[distid] = Math.min(
      1,
      Math.max(0, (DEMO_SHARES[distid] * count - alone) / Math.max(1, shared)),
    )
  }
  return odds
}

function sellersOf(good: Good, odds: Record<DemoDistid, number>, random: Random): DemoDistid[] {
  if (good.story) return Object.keys(good.story.offers) as DemoDistid[]
  const able = good.family.sellers
  // Without a UPC nobody can tell that two distributors sell the same item.
  if (able.length === 1 || good.upc === null) return [random.pick(able)]
  const chosen = able.filter((distid) => random.chance(odds[distid] * 0.965))
  return chosen.length > 0 ? chosen : [random.pick(able)]
}

function storyOffer(
  distid: DemoDistid,
  good: Good,
  [price, qty]: NonNullable<StoryFacts['offers'][DemoDistid]>,
  exclusive: boolean,
): DemoOffer {
  const cents = Math.round(price! * 100)
  const dropShip = !good.family.flags.has('nodrop')
  return {
    good,
    sku: skuOf(distid, good),
    price: cents,
    listPrice: cents,
    map: good.map,
    msrp: good.msrp,
    qty: qty!,
    allocated: false,
    reduced: false,
    dropShip,
    exclusive,
    listedDays: 400,
  }
}

function makeOffer(distid: DemoDistid, good: Good, exclusive: boolean, random: Random): DemoOffer {
  const listPrice = Math.round(good.cost * (0.97 + random.next() * 0.07))
  const reduced = random.chance(0.03)
  const allocated = random.chance(good.family.flags.has('ffl') ? 0.03 : 0.004)
  return {
    good,
    sku: skuOf(distid, good),
    listPrice,
    allocated,
    reduced,
    exclusive,
    price: reduced ? Math.round(listPrice * (0.7 + random.next() * 0.2)) : listPrice,
    map: random.chance(0.03) ? null : good.map,
    msrp: good.msrp,
    qty: stockOf(distid, good, allocated, random),
    dropShip: !good.family.flags.has('nodrop') && !random.chance(0.07),
    // A tenth of the shelf is less than two months old.
    listedDays: random.chance(0.1) ? random.int(0, 60) : random.int(61, 2200),
  }
}

/** A quarter of all offers is out; of the rest most are a handful and a few are thousands. */
function stockOf(distid: DemoDistid, good: Good, allocated: boolean, random: Random): number {
  const draw = random.next()
  if (allocated || random.chance(0.36 - good.supply * 0.25)) return 0
  const scale = good.family.class === 'AO' ? 40 : good.cost < 5_000 ? 8 : good.cost < 30_000 ? 4 : 2
  const qty = 1 + Math.floor(scale * ((1 - draw) ** -0.8 - 0.9) * (0.4 + good.supply))
  return Math.min(qty, distid === 'LIP' ? 100 : 60_000)
}

/**
 * Item numbers in each distributor's own style; the brand's code and item number keep them unique.
 */
function skuOf(distid: DemoDistid, good: Good): string {
  const bare = good.mpn.replaceAll('-', '')
  switch (distid) {
    case 'RSR':
      return good.mpn.startsWith(good.brand) ? good.mpn : `${good.brand}${good.mpn}`
    case 'LIP':
      return bare.startsWith(good.brand) ? bare : good.brand + bare
    case 'CSSI':
      return `${good.brand}-${good.item}`
  }
}
