/**
 * What the demo's distributors would have told in the 90 days before its first start: three feeds a
 * day from each, which end in just what its feed files say. It is written where feeds write their
 * changes, so that the roll-up makes of it what it makes of any history.
 */
import { DAY, HOUR, MINUTE, startOfDay } from '../../core/clock.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import { hasSeen, insertChange, noteSeen } from '../../feeds/ingest/history-queries.js'
import { NOTHING, courseOf } from '../market/courses.js'
import type { Course } from '../market/courses.js'
import { DEMO_DISTIDS, DEMO_SEED, type DemoDistid } from '../market/market.js'
import type { DemoOffer, DemoOffers } from '../market/offers.js'
import { createRandom } from '../market/random.js'

/** Days of the demo's history before today. */
export const DEMO_DAYS = 90
/** When feeds are made, from the day's first moment, and how much later each distributor's is. */
const FEEDS = [6 * HOUR, 14 * HOUR, 21 * HOUR] as const
const LATER: Readonly<Record<DemoDistid, number>> = { CSSI: 0, LIP: 7 * MINUTE, RSR: 13 * MINUTE }

/** An offer as one feed tells it. */
interface State {
  offer: DemoOffer
  price: number
  qty: number
  held: boolean
}

/** Writes the history in one transaction, unless there is any. Times end before today (UTC). */
export function writeDemoHistory(history: Raw, offers: DemoOffers, now: number): void {
  const today = startOfDay(now)
  history
    .transaction(() => {
      if (hasSeen(history)) return
      const change = insertChange(history)
      const feeds = DEMO_DISTIDS.map((distid) => ({
        distid,
        feeds: feedsOf(distid, offers[distid]),
      })).sort((a, b) => LATER[a.distid] - LATER[b.distid])
      for (let place = 0; place < DEMO_DAYS * FEEDS.length; place++) {
        for (const { distid, feeds: told } of feeds) {
          const at =
            today -
            (DEMO_DAYS - Math.floor(place / FEEDS.length)) * DAY +
            FEEDS[place % FEEDS.length]! +
            LATER[distid]
          for (const { offer, price, qty, held } of told[place]!)
            change.run(distid, offer.sku, at, offer.good.upc, price, qty, 0, held ? 1 : 0)
          noteSeen(history, distid, at)
        }
      }
    })
    .immediate()
}

/** For each feed of a distributor, the first one first, what it changed. */
function feedsOf(distid: DemoDistid, offers: readonly DemoOffer[]): State[][] {
  const feeds: State[][] = Array.from({ length: DEMO_DAYS * FEEDS.length }, () => [])
  const random = createRandom(DEMO_SEED, `history of ${distid}`)
  // In the order of the table's key, which is faster to write.
  const sorted = [...offers].sort((a, b) => (a.sku < b.sku ? -1 : 1))
  for (const offer of sorted) tell(feeds, offer, courseOf(distid, offer, random))
  return feeds
}

/**
 * Tells an offer's course from today's state backwards, which is how it ends in that state: what
 * was sold was there before, and what came in was not.
 */
function tell(feeds: State[][], offer: DemoOffer, course: Course): void {
  const oldest = Math.min(DEMO_DAYS, course.days)
  let qty = offer.qty
  let [price, held] = [course.price(1), course.held(1)]
  for (let ago = 1; ago <= oldest; ago++) {
    const first = (DEMO_DAYS - ago) * FEEDS.length
    const { sold, came, feed } = held ? NOTHING : course.trade(ago, qty)
    if (sold > 0) feeds[first + feed]!.push({ offer, price, qty, held })
    qty += sold
    const arrived = Math.min(came, qty)
    const [oldPrice, wasHeld] = [course.price(ago + 1), course.held(ago + 1)]
    if (ago === oldest || arrived > 0 || price !== oldPrice || held !== wasHeld)
      feeds[first]!.push({ offer, price, qty: held ? 0 : qty, held })
    qty -= arrived
    price = oldPrice
    held = wasHeld
  }
}
