/**
 * What happened to each offer of the demo in the days before its first start: chance for most, a
 * known story for some.
 */
import type { DemoDistid } from './market.js'
import type { DemoOffer } from './offers.js'
import type { Random } from './random.js'

/** Seen backwards: `ago` is 1 for yesterday. Money in cents. */
export interface Course {
  /** Days for which the distributor has listed it. */
  days: number
  price(ago: number): number
  /** Whether the distributor held it back on that day. */
  held(ago: number): boolean
  /**
   * Units that left and came in on a day at whose end `qty` were there; which of the day's later
   * feeds told what was sold.
   */
  trade(ago: number, qty: number): { sold: number; came: number; feed: 1 | 2 }
}

/** Days that the history of an old offer goes back: further than anybody asks. */
const ALWAYS = 1_000
/** No distributor of the demo counts more than this of one item at Lipsey's. */
const LIPSEYS_CAP = 100

/** No trade on a day. */
export const NOTHING: ReturnType<Course['trade']> = { sold: 0, came: 0, feed: 1 }

export function courseOf(distid: DemoDistid, offer: DemoOffer, random: Random): Course {
  const story = offer.good.story && STORIES[offer.good.story.id]
  const chance = byChance(distid, offer, random)
  return story ? { ...quiet(offer), ...story(distid, offer) } : chance
}

function quiet({ price, allocated }: DemoOffer): Course {
  return { days: ALWAYS, price: () => price, held: () => allocated, trade: () => NOTHING }
}

const every = (days: number, ago: number, units: number) => (ago % days === 0 ? units : 0)
const daily = (sold: number, came = 0): ReturnType<Course['trade']> => ({ sold, came, feed: 1 })

/** The stories, by the ids of the items that documents name (stories.ts). */
const STORIES: Readonly<Record<string, (distid: DemoDistid, offer: DemoOffer) => Partial<Course>>> =
  {
    /** A sale: at Chattanooga the bipod cost 99.95 until twelve days ago. */
    accessory: (distid, { price }) => ({
      price: (ago) => (distid === 'CSSI' && ago > 12 ? 9_995 : price),
      trade: (ago) => daily(ago % 2, every(14, ago, 7)),
    }),
    /** Back in stock: nobody had the pistol from 20 days ago until five days ago. */
    firearm: (_, { qty }) => ({
      trade: (ago) =>
        ago < 5
          ? daily(1)
          : ago === 5
            ? daily(0, qty + 4)
            : ago < 20
              ? daily(0)
              : daily(ago === 20 ? 9 : 1, every(10, ago, 10)),
    }),
    /**
     * The best seller: 30 magazines a day at each distributor that has them, restocked each week.
     */
    magazine: () => ({ trade: (ago) => daily(30, every(7, ago, 210)) }),
    /** Allocated: Lipsey's held the silencer back for a month, which is not a sale. */
    nfa: (distid) => ({ held: (ago) => distid === 'LIP' && ago > 10 && ago <= 40 }),
    /** Sold out everywhere three days ago. */
    outOfStock: () => ({
      trade: (ago) => (ago < 3 ? daily(0) : daily(ago % 3 === 0 ? 1 : 0, every(30, ago, 10))),
    }),
    /** New: Chattanooga has had the crossbow for nine days. */
    singleOffer: () => ({ days: 9, trade: (ago) => daily(ago % 3 === 0 ? 1 : 0) }),
    /** A trend: in the last week five times as much ammunition left as in the weeks before. */
    ammunition: (distid) => ({
      trade: (ago) => daily((ago <= 7 ? 5 : 1) * (distid === 'RSR' ? 12 : 8), every(30, ago, 500)),
    }),
  }

/** Most offers sell now and then and are restocked when they run low; few sell every day. */
function byChance(distid: DemoDistid, offer: DemoOffer, random: Random): Course {
  const busy = 0.01 + 0.3 * random.next() ** 4
  const often = Math.max(1, Math.round(offer.qty * 0.08))
  const most = Math.min(
    Math.max(4, Math.round(offer.qty * (1.4 + random.next()))),
    distid === 'LIP' ? LIPSEYS_CAP : Infinity,
  )
  const since = random.int(5, 60)
  const moved = random.chance(0.08) ? 0.96 + random.next() * 0.06 : 1
  const old = offer.reduced ? offer.listPrice : Math.round(offer.price * moved)
  // Days until it sells again, as if each day were drawn.
  const pause = () => 1 + Math.floor(Math.log(1 - random.next()) / Math.log(1 - busy))
  let next = pause()
  const heldFor = offer.allocated ? random.int(10, 80) : 0
  return {
    days: offer.listedDays,
    price: (ago) => (ago > since ? old : offer.price),
    held: (ago) => ago <= heldFor,
    trade(ago, qty) {
      if (ago !== next) return NOTHING
      next += pause()
      const sold = Math.min(random.int(1, often), most - qty)
      // Read backwards: a full shelf is one that has just been filled.
      return sold > 0
        ? { sold, came: 0, feed: random.chance(0.5) ? 1 : 2 }
        : daily(0, Math.ceil(qty * (0.7 + random.next() * 0.3)))
    },
  }
}
