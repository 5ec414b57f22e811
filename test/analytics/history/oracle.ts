/**
 * The same roll-up by plain loops: what each rule says, one feed after the other, one item after
 * the other.
 */
import { gtinKey } from '../../../lib/core/gtin.js'
import type { DayRow, ItemNow } from './bench.js'

export interface LoggedChange {
  at: number
  distid: string
  stockid: string
  upc: string | null
  price: number | null
  qty: number
  gone: number
  held: number
}

export interface SeenFeed {
  distid: string
  at: number
  isFirst: boolean
}

interface Offer {
  gtin: number
  price: number | null
  qty: number
  listed: boolean
  held: boolean
}

interface Item extends ItemNow {
  offers: Map<string, Offer>
}

const DAY = 86_400_000
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)

/** Feeds that were seen, and changes, in the order of their times. */
export function byPlainLoops(
  logged: readonly LoggedChange[],
  seen: readonly SeenFeed[],
): { daily: DayRow[]; items: ItemNow[] } {
  const changes = withVanished(logged, seen)
  const items = new Map<string, Item>()
  /** What an item number last had while it could be ordered. */
  const had = new Map<string, number>()
  /** Which UPC it stands for. */
  const gtins = new Map<string, number | null>()
  const rows = new Map<string, DayRow>()
  /** What the last trade of an item on a day was: only a fall can be given back. */
  const lastTrade = new Map<string, number>()

  for (const feed of feedsOf(changes)) {
    const [at, distid] = [feed[0]!.at, feed[0]!.distid]
    const before = seen
      .filter((other) => other.distid === distid && other.at < at)
      .map((other) => other.at)
    const isLate = before.length === 0 || at - Math.max(...before) > 3 * DAY
    const trades = new Map<Item, number>()
    const stocks = new Map<Item, number>()
    const newItems = new Set<Item>()
    const touch = (gtin: number): Item => {
      const place = `${distid} ${gtin}`
      let item = items.get(place)
      if (!item) {
        items.set(
          place,
          (item = {
            distid,
            gtin,
            price: null,
            qty: 0,
            zero_since: null,
            back_at: null,
            first_at: at,
            listed: false,
            offers: new Map(),
          }),
        )
        newItems.add(item)
      }
      if (!trades.has(item)) {
        trades.set(item, 0)
        stocks.set(item, item.qty)
      }
      return item
    }
    for (const change of feed) {
      const place = `${distid} ${change.stockid}`
      // Without a price of the operator's it is nobody's but its subscriber's.
      const gtin = change.upc === null || change.price === null ? null : gtinKey(change.upc)
      const oldGtin = gtins.get(place) ?? null
      gtins.set(place, gtin)
      if (oldGtin !== null && oldGtin !== gtin) touch(oldGtin).offers.delete(change.stockid)
      if (gtin === null) {
        had.delete(place)
        continue
      }
      const item = touch(gtin)
      const old = item.offers.get(change.stockid)
      const can = change.gone === 0 && change.held === 0
      if (can) {
        if (old)
          trades.set(
            item,
            trades.get(item)! +
              (old.listed && !old.held
                ? change.qty - old.qty
                : Math.max(0, change.qty - (had.get(place) ?? 0))),
          )
        had.set(place, change.qty)
      }
      item.offers.set(change.stockid, {
        gtin,
        price: change.price,
        qty: change.qty,
        listed: change.gone === 0,
        held: change.held === 1,
      })
    }
    for (const [item, trade] of trades) {
      const place = `${dayOf(at)} ${distid} ${item.gtin}`
      let row = rows.get(place)
      if (!row)
        rows.set(
          place,
          (row = {
            day: dayOf(at),
            distid,
            gtin: item.gtin,
            price: null,
            qty: 0,
            sold: 0,
            restocks: 0,
            zero_since: null,
            back_at: null,
            first_at: null,
            listed: false,
            price_before: item.price,
          }),
        )
      if (newItems.has(item)) row.first_at = at
      const last = lastTrade.get(place)
      // A fall over a long gap is not a trade at all, so nothing gives it back.
      if (trade < 0 && !isLate) {
        row.sold -= trade
        lastTrade.set(place, trade)
      } else if (trade > 0) {
        if (last === -trade) row.sold -= trade
        else row.restocks++
        lastTrade.set(place, trade)
      }
      settle(item)
      const stock = stocks.get(item)!
      if (stock > 0 && item.qty === 0) item.zero_since = row.zero_since = at
      if (stock === 0 && item.qty > 0 && !newItems.has(item)) item.back_at = row.back_at = at
      row.price = item.price
      row.qty = item.qty
      row.listed = item.listed
    }
  }
  const order = (a: ItemNow, b: ItemNow) =>
    a.distid < b.distid ? -1 : a.distid > b.distid ? 1 : a.gtin - b.gtin
  return {
    daily: [...rows.values()].sort((a, b) =>
      a.day < b.day ? -1 : a.day > b.day ? 1 : order(a, b),
    ),
    items: [...items.values()]
      .sort(order)
      .map(({ distid, gtin, qty, price, zero_since, back_at, first_at, listed }) => ({
        distid,
        gtin,
        qty,
        price,
        zero_since,
        back_at,
        first_at,
        listed,
      })),
  }
}

/** On a day with a first feed, the last feed also tells that what no feed told since is gone. */
function withVanished(logged: readonly LoggedChange[], seen: readonly SeenFeed[]): LoggedChange[] {
  const changes = [...logged]
  for (const day of [...new Set(seen.map(({ at }) => dayOf(at)))].sort()) {
    for (const distid of new Set(seen.map((feed) => feed.distid))) {
      const feeds = seen.filter((feed) => feed.distid === distid && dayOf(feed.at) === day)
      const firsts = feeds.filter(({ isFirst }) => isFirst)
      if (firsts.length === 0) continue
      const [first, last] = [
        Math.max(...firsts.map(({ at }) => at)),
        Math.max(...feeds.map(({ at }) => at)),
      ]
      const mine = changes
        .filter(
          (change) => change.distid === distid && (dayOf(change.at) < day || change.at <= last),
        )
        .toSorted((a, b) => a.at - b.at)
      for (const newest of new Map(mine.map((change) => [change.stockid, change])).values()) {
        if (newest.at >= first || newest.gone === 1) continue
        // What is of no item has no row to end.
        if (newest.upc !== null && newest.price !== null && gtinKey(newest.upc) !== null)
          changes.push({ ...newest, at: last, qty: 0, gone: 1, held: 0 })
      }
    }
  }
  return changes
}

function feedsOf(changes: readonly LoggedChange[]): LoggedChange[][] {
  const feeds = new Map<string, LoggedChange[]>()
  for (const change of changes)
    feeds.set(`${change.at} ${change.distid}`, [
      ...(feeds.get(`${change.at} ${change.distid}`) ?? []),
      change,
    ])
  return [...feeds.values()].sort((a, b) => a[0]!.at - b[0]!.at)
}

/** The item as its offers make it. */
function settle(item: Item): void {
  item.qty = 0
  item.listed = false
  let [stocked, listed]: (number | null)[] = [null, null]
  for (const { price, qty, listed: isListed, held } of item.offers.values()) {
    if (!isListed) continue
    item.listed = true
    if (!held) item.qty += qty
    if (price === null) continue
    listed = Math.min(listed ?? Infinity, price)
    if (!held && qty > 0) stocked = Math.min(stocked ?? Infinity, price)
  }
  item.price = stocked ?? listed ?? null
}
