import { makeGoods } from './goods.js'
import { DEMO_SEED, type DemoDistid } from './market.js'
import { makeOffers } from './offers.js'
import { plainName } from './spelling.js'

/**
 * An item of the demo that examples may count on, whatever the seed and however small the catalog.
 */
export interface DemoStory {
  upc: string
  name: string
  /** As the feeds have them, before any subscriber's pricing; price in dollars. */
  offers: { distid: DemoDistid; distsku: string; price: number; qty: number }[]
}

export interface DemoStories {
  /** A bipod in stock at all three distributors, drop-shippable. */
  accessory: DemoStory
  /** A pistol in stock at two distributors. */
  firearm: DemoStory
  /** A 17-round magazine, which RSR flags for the states that limit magazines. */
  magazine: DemoStory
  /** A suppressor: goes to a SOT dealer only. */
  nfa: DemoStory
  /** A scope that all three list and none has. */
  outOfStock: DemoStory
  /** A crossbow that only Chattanooga sells. */
  singleOffer: DemoStory
  /** Handgun ammunition at two distributors. */
  ammunition: DemoStory
}

/** The items that documents and examples name. */
export function demoStories(): DemoStories {
  const goods = makeGoods(DEMO_SEED, 0).filter((good) => good.story)
  const all = Object.entries(makeOffers(goods, DEMO_SEED, 0)).flatMap(([distid, offers]) =>
    offers.map((offer) => ({ ...offer, distid: distid as DemoDistid })),
  )
  return Object.fromEntries(
    goods.map((good) => [
      good.story!.id,
      {
        upc: good.upc!,
        name: plainName(good),
        offers: all
          .filter((offer) => offer.good === good)
          .map(({ distid, sku, price, qty }) => ({
            distid,
            distsku: sku,
            price: price / 100,
            qty,
          })),
      },
    ]),
  ) as unknown as DemoStories
}
