/**
 * The seven metrics once more, as plain loops over a small world: slow, and easy to read. It shares
 * no code with lib/analytics.
 */
import { NOW, ago, morning } from './rig.js'
import type { DayRow, ItemRow, Result, World } from './rig.js'

interface Offer {
  distid: string
  price: number
  qty: number
  map: number | null
  msrp: number | null
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
const highest = (numbers: readonly (number | null | undefined)[]) =>
  numbers.reduce<number | null>(
    (best, number) =>
      number !== null && number !== undefined && (best === null || number > best) ? number : best,
    null,
  )
const isShared = ({ price, listed }: { price?: number | null; listed?: boolean }) =>
  price !== null || listed === false

/** What one UPC is at each of the active distributors. */
class Upc {
  readonly offers: Offer[]
  readonly days: DayRow[]
  readonly items: ItemRow[]
  readonly world: World
  readonly distids: readonly string[]

  constructor(world: World, gtin: number, distids: readonly string[]) {
    this.world = world
    this.distids = distids
    const mine = (row: { gtin: number; distid: string }) =>
      row.gtin === gtin && distids.includes(row.distid)
    const rows = world.offers.filter(mine)
    this.offers = distids
      .filter((distid) => rows.some((row) => row.distid === distid))
      .map((distid) => {
        const here = rows.filter((row) => row.distid === distid)
        const stocked = here.filter(({ qty = 5 }) => qty > 0)
        return {
          distid,
          price: Math.min(...(stocked.length > 0 ? stocked : here).map(({ price }) => price)),
          qty: sum(here.map(({ qty = 5 }) => qty)),
          map: highest(here.map(({ map }) => map)),
          msrp: highest(here.map(({ msrp }) => msrp)),
        }
      })
    this.days = (world.days ?? []).filter((row) => mine(row) && isShared(row))
    this.items = (world.items ?? []).filter((row) => mine(row) && isShared(row))
  }

  get cost(): number {
    const stocked = this.offers.filter(({ qty }) => qty > 0)
    return Math.min(...(stocked.length > 0 ? stocked : this.offers).map(({ price }) => price))
  }

  get qty(): number {
    return sum(this.offers.map(({ qty }) => qty))
  }

  sold(days: number, distid?: string): number {
    return sum(
      this.days
        .filter((row) => row.ago < days && (distid === undefined || row.distid === distid))
        .map(({ sold = 0 }) => sold),
    )
  }

  /** When a distributor first had it; 0 for what its first feed brought. */
  firstAt({ distid, first_at: first = ago(400) }: ItemRow): number {
    const feed = Math.min(
      ...(this.world.items ?? [])
        .filter((row) => row.distid === distid)
        .map((row) => (row.first_at === undefined ? ago(400) : (row.first_at ?? Infinity))),
    )
    return first !== null && first > feed ? first : 0
  }

  /** Of every distributor that has it or had it; one without a history is not known to be new. */
  get firsts(): number[] {
    const known = this.distids.filter(
      (distid) =>
        this.offers.some((offer) => offer.distid === distid) ||
        this.items.some((item) => item.distid === distid) ||
        this.days.some((day) => day.distid === distid),
    )
    return known.map((distid) => {
      const item = this.items.find((row) => row.distid === distid)
      return item ? this.firstAt(item) : 0
    })
  }
}

type Oracle = (upc: Upc, days: number) => Omit<Result, 'gtin'> | null

const topProducts: Oracle = (upc, days) => {
  const sold = upc.sold(days)
  if (sold === 0 || upc.offers.length === 0) return null
  const sellers = upc.distids.filter((distid) => upc.sold(days, distid) > 0).length
  const restocks = sum(upc.days.filter((row) => row.ago < days).map((row) => row.restocks ?? 0))
  return {
    sales_proxy: sold,
    restocks,
    movement_score: sold * (10 + sellers - 1) + restocks * 10,
    unit_cost: upc.cost,
    is_new: upc.firsts.every((first) => first >= morning(days - 1)) ? 1 : 0,
  }
}

/**
 * The price at the end of each day, by days ago; null where it had none. Before the first row it is
 * what that row says it was before.
 */
function dailyPrices(rows: readonly DayRow[], mostAgo: number): (number | null)[] {
  const prices: (number | null)[] = []
  let price: number | null = rows.toSorted((a, b) => b.ago - a.ago)[0]?.price_before ?? null
  for (let day = mostAgo; day >= 0; day--) {
    const row = rows.find((candidate) => candidate.ago === day)
    if (row) price = row.price === undefined ? 1_000 : row.price
    prices[day] = price
  }
  return prices
}

const onSale: Oracle = (upc, days) => {
  const stocked = upc.offers.filter(({ qty }) => qty > 0)
  const cheapest = Math.min(...stocked.map(({ price }) => price))
  let best: number | null = null
  for (const { distid, price } of stocked.filter((offer) => offer.price === cheapest)) {
    const prices = dailyPrices(
      upc.days.filter((row) => row.distid === distid),
      100,
    )
    let changed = Infinity
    let before: number | null = null
    for (let day = 100; day >= 0; day--) {
      const asked = prices[day]!
      if (asked === null || asked === undefined) continue
      if (before !== null && asked !== before) changed = day
      before = asked
    }
    if (changed >= days) continue
    const usual = prices
      .slice(changed + 1, days)
      .filter((asked) => asked !== null && asked !== undefined)
      .toSorted((a, b) => a! - b!)
    const reference = usual[Math.ceil(usual.length / 2) - 1] ?? null
    if (
      reference !== null &&
      (reference - price) / reference >= 0.05 - 1e-12 &&
      (best === null || reference > best)
    )
      best = reference
  }
  return best === null
    ? null
    : {
        reference_price: best,
        current_price: cheapest,
        drop_percent: Math.round(((best - cheapest) * 1_000) / best),
      }
}

function mostNamed(
  values: readonly (number | null)[],
): { value: number; agreeing: number; naming: number } | null {
  const named = values.filter((value) => value !== null)
  const ranked = [...new Set(named)].map((value) => ({
    value,
    agreeing: named.filter((other) => other === value).length,
    naming: named.length,
  }))
  return ranked.sort((a, b) => b.agreeing - a.agreeing || a.value - b.value)[0] ?? null
}

const margins: Oracle = (upc) => {
  const costs = upc.offers
    .filter(({ qty }) => qty > 0)
    .map(({ price }) => price)
    .toSorted((a, b) => a - b)
  const [map, msrp] = [
    mostNamed(upc.offers.map((offer) => offer.map)),
    mostNamed(upc.offers.map((offer) => offer.msrp)),
  ]
  const named = map ?? msrp
  const [cost, next] = costs
  if (!named || cost === undefined || named.value <= cost) return null
  const agreement =
    ((40 * named.agreeing) / named.naming) * (named.agreeing > 1 ? 1 : 0.5) * (map ? 1 : 0.5)
  const confidence =
    agreement +
    Math.min(20, 2 * upc.qty) +
    Math.min(20, 2 * upc.sold(30)) +
    (next === undefined ? 10 : next <= cost * 1.25 ? 20 : 0)
  return {
    unit_cost: cost,
    map_price: map?.value ?? null,
    msrp: msrp?.value ?? null,
    gross_profit: named.value - cost,
    margin_pct: Math.round(((named.value - cost) * 1_000) / named.value),
    confidence: Math.round(confidence),
  }
}

const trending: Oracle = (upc) => {
  const [week, month] = [upc.sold(7), upc.sold(30)]
  if (month === 0 || upc.offers.length === 0) return null
  return {
    units_7d: week,
    units_30d: month,
    trend_ratio: month === week ? null : Math.round((week * 2_300) / (7 * (month - week))),
  }
}

const arrivals: Oracle = (upc, days) => {
  const first = Math.min(...upc.firsts)
  return upc.offers.length === 0 || first < morning(days - 1)
    ? null
    : { first_seen: first, unit_cost: upc.cost, qty_on_hand: upc.qty }
}

const available: Oracle = (upc, days) => {
  const times = upc.distids.flatMap((distid): [number, number][] => {
    const item = upc.items.find((row) => row.distid === distid)
    const offer = upc.offers.find((row) => row.distid === distid)
    if (!item)
      return offer && offer.qty > 0
        ? [[Infinity, 0]]
        : offer || upc.days.some((row) => row.distid === distid)
          ? [[-Infinity, Infinity]]
          : []
    const { qty = 5, first_at: first = ago(400) } = item
    const fall = item.zero_since ?? first ?? -Infinity
    if (qty === 0) return [[fall, Infinity]]
    if (item.back_at !== null && item.back_at !== undefined) return [[fall, item.back_at]]
    return upc.firstAt(item) > 0 ? [[-Infinity, first!]] : [[Infinity, 0]]
  })
  const [since, until] = [
    Math.max(...times.map(([fall]) => fall)),
    Math.min(...times.map(([, back]) => back)),
  ]
  return Number.isFinite(since) &&
    Number.isFinite(until) &&
    since < until &&
    until >= morning(days - 1) &&
    upc.qty > 0
    ? { out_of_stock_since: since, back_in_stock: until, qty_on_hand: upc.qty }
    : null
}

const gaps: Oracle = (upc) => {
  const stocked = upc.offers.filter(({ qty }) => qty > 0).toSorted((a, b) => a.price - b.price)
  const [lowest, ...others] = stocked
  if (others.length < 2) return null
  const average = sum(others.map(({ price }) => price)) / others.length
  const gap = (average - lowest!.price) / average
  return gap < 0.1 - 1e-12
    ? null
    : {
        distid: lowest!.distid,
        price: lowest!.price,
        peer_average: Math.round(average),
        gap_percent: Math.round(gap * 1_000 * (1 + 1e-15)),
        offers: stocked.length,
      }
}

const ORACLES: Record<string, [oracle: Oracle, order: readonly string[]]> = {
  'top-products': [topProducts, ['movement_score', 'sales_proxy']],
  'on-sale': [onSale, ['drop_percent', 'reference_price']],
  'margin-opportunities': [margins, ['gross_profit', 'margin_pct']],
  trending: [trending, ['trend_ratio', 'units_7d']],
  'new-arrivals': [arrivals, ['first_seen', 'qty_on_hand']],
  'newly-available': [available, ['back_in_stock', 'qty_on_hand']],
  'price-gaps': [gaps, ['gap_percent', 'peer_average']],
}

/**
 * The results of a metric in their order; `days` is the window. Every time of the world lies before
 * NOW.
 */
export function expected(
  slug: string,
  world: World,
  days: number,
  distids: readonly string[],
): Result[] {
  const [oracle, order] = ORACLES[slug]!
  const gtins = [...new Set(world.offers.map(({ gtin }) => gtin))].toSorted((a, b) => a - b)
  const found = gtins.flatMap((gtin) => {
    const result = oracle(new Upc(world, gtin, distids.toSorted()), days)
    return result ? [{ gtin, ...result } as Result] : []
  })
  const compare = (a: Result, b: Result) =>
    order
      .map((name) => Number(b[name] ?? -1) - Number(a[name] ?? -1))
      .find((difference) => difference !== 0) ?? 0
  return found.sort(compare)
}

export { NOW }
