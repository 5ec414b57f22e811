import {
  BRANDS,
  type Choice,
  FAMILIES,
  type Family,
  STORIES,
  type StoryFacts,
  SUFFIXES,
} from './market.js'
import { createRandom, type Random } from './random.js'
import { packageSize } from './units.js'

/** One item of the made-up market, whoever sells it. Money in cents. */
export interface Good {
  family: Family
  brand: string
  model: string
  /** Caliber, barrel, capacity, color and so on, in their plain form. */
  values: Record<string, string>
  upc: string | null
  mpn: string
  /** Number within the brand, the last five digits of the UPC before its check digit. */
  item: string
  cost: number
  map: number | null
  msrp: number | null
  ounces: number
  /** Length, width and height of its package in inches. */
  size: [string, string, string]
  /** 0 is scarce, 1 is on every shelf. */
  supply: number
  story: StoryFacts | null
}

const BRAND_NUMBERS = new Map(Object.keys(BRANDS).map((brand, number) => [brand, number]))

/**
 * Everything that exists in the demo market: the stories first, then each family up to its part of
 * `count`.
 */
export function makeGoods(seed: number, count: number): Good[] {
  const shelf = new Shelf()
  const goods = STORIES.map((story) => storyGood(shelf, story))
  const total = FAMILIES.reduce((sum, family) => sum + family.goods, 0)
  for (const family of FAMILIES) {
    const wanted = Math.max(1, Math.round((count * family.goods) / total))
    addFamily(goods, shelf, { family, wanted }, createRandom(seed, family.id))
  }
  return goods
}

/** Gives out what must be unique within a brand: item numbers and model names. */
class Shelf {
  readonly #items = new Map<string, number>()
  readonly #models = new Map<string, number>()

  /**
   * Five digits that look scattered but never repeat: 7919 has no factor in common with 100,000.
   */
  item(brand: string): string {
    const serial = (this.#items.get(brand) ?? 0) + 1
    this.#items.set(brand, serial)
    return String((serial * 7919) % 100_000).padStart(5, '0')
  }

  model(brand: string, family: Family): string {
    const words = family.models
    const key = `${brand} ${words[0]}`
    const serial = this.#models.get(key) ?? 0
    this.#models.set(key, serial + 1)
    const round = Math.floor(serial / words.length)
    const generation = Math.floor(round / SUFFIXES.length)
    // Brands begin at different words, so that they do not all sell the same model first.
    return [
      words[(serial + BRAND_NUMBERS.get(brand)! * 5) % words.length],
      SUFFIXES[round % SUFFIXES.length],
      generation > 0 ? `G${generation + 1}` : '',
    ]
      .filter(Boolean)
      .join(' ')
  }
}

function addFamily(
  goods: Good[],
  shelf: Shelf,
  { family, wanted }: { family: Family; wanted: number },
  random: Random,
): void {
  for (let made = 0; made < wanted;) {
    const brand = pickBrand(family, random)
    const model = shelf.model(brand, family)
    const fixed = choose(
      family.fixed,
      family.fixed.map((choice) => random.int(0, choice.rows.length - 1)),
    )
    const base =
      family.cost[0]! * (family.cost[1]! / family.cost[0]!) ** random.next() * 100 * fixed.factor
    const margin = family.flags.has('ffl')
      ? 0.13 + random.next() * 0.09
      : 0.24 + random.next() * 0.16
    const mapPolicy = random.chance(0.6)
    for (const pick of variants(family.vary, random, wanted - made)) {
      const values = choose(family.vary, pick)
      const cost = Math.max(95, Math.round(base * values.factor * (0.98 + random.next() * 0.05)))
      goods.push(
        makeGood(
          shelf,
          {
            family,
            brand,
            model,
            values: { ...fixed.values, ...values.values },
            cost,
            margin,
            mapPolicy,
          },
          random,
        ),
      )
      made++
    }
  }
}

interface Draft {
  family: Family
  brand: string
  model: string
  values: Record<string, string>
  cost: number
  margin: number
  mapPolicy: boolean
}

function makeGood(shelf: Shelf, draft: Draft, random: Random): Good {
  const { family, brand, model, values, cost } = draft
  const item = shelf.item(brand)
  const prices = retailPrices(cost, draft.margin, random.next())
  const ounces =
    Math.round((family.ounces[0]! + (family.ounces[1]! - family.ounces[0]!) * random.next()) * 10) /
    10
  return {
    family,
    brand,
    model,
    values,
    cost,
    item,
    upc: random.chance(0.006) ? null : upcOf(brand, item),
    mpn: mpnOf(brand, model, item),
    map: draft.mapPolicy ? prices.map : null,
    msrp: random.chance(0.03) ? null : prices.msrp,
    ounces,
    size: packageSize(family, ounces),
    supply: random.next(),
    story: null,
  }
}

function storyGood(shelf: Shelf, story: StoryFacts): Good {
  const family = FAMILIES.find(({ id }) => id === story.family)!
  const item = shelf.item(story.brand)
  const cost = Math.round(story.cost * 100)
  return {
    family,
    brand: story.brand,
    model: story.model,
    values: story.values,
    item,
    cost,
    story,
    upc: upcOf(story.brand, item),
    mpn: mpnOf(story.brand, story.model, item),
    ...retailPrices(cost, family.flags.has('ffl') ? 0.18 : 0.32, 0.5),
    ounces: family.ounces[0]!,
    size: packageSize(family, family.ounces[0]!),
    supply: 1,
  }
}

/**
 * MAP and MSRP that end in .99, always above every distributor's price: none asks more than 7.7 %
 * over cost.
 */
function retailPrices(cost: number, margin: number, place: number): { map: number; msrp: number } {
  const floor = cost * 1.08
  const list = Math.max(floor, cost / (1 - margin))
  const map = endIn99(floor + (list - floor) * (0.3 + place * 0.7))
  return { map, msrp: Math.max(map, endIn99(list)) }
}

function endIn99(cents: number): number {
  return Math.ceil((cents + 1) / 100) * 100 - 1
}

/** The first brands of a group sell the most, as in any market. */
function pickBrand(family: Family, random: Random): string {
  return family.brands[Math.floor(family.brands.length * random.next() ** 1.6)]!
}

/**
 * A UPC-A of this market's own. Numbers that begin with 4 are GS1's restricted circulation numbers:
 * no maker may print one on a product, so a demo item can never be mistaken for a real one.
 */
function upcOf(brand: string, item: string): string {
  const body = `4${String(10_000 + BRAND_NUMBERS.get(brand)! * 967)}${item}`
  let sum = 0
  for (let i = 0; i < 11; i++) sum += (body.charCodeAt(i) - 48) * (i % 2 === 0 ? 3 : 1)
  return body + String((10 - (sum % 10)) % 10)
}

/** Each brand numbers its parts in its own way. */
function mpnOf(brand: string, model: string, item: string): string {
  switch (BRAND_NUMBERS.get(brand)! % 4) {
    case 0:
      return `${brand}-${item}`
    case 1:
      return item
    case 2:
      return `${model.slice(0, 2).toUpperCase()}${item}`
    default:
      return `${item.slice(0, 2)}-${item.slice(2)}-${model[0]}`
  }
}

/** Distinct picks, one index per choice, at most `limit`: what a maker would list of one model. */
function* variants(choices: Choice[], random: Random, limit: number): Generator<number[]> {
  const size = choices.reduce((product, choice) => product * choice.rows.length, 1)
  const wanted = Math.min(limit, size, random.int(2, 9))
  const start = random.int(0, size - 1)
  const stride = strideFor(size, random)
  for (let i = 0; i < wanted; i++) {
    let place = (start + i * stride) % size
    yield choices.map((choice) => {
      const index = place % choice.rows.length
      place = Math.floor(place / choice.rows.length)
      return index
    })
  }
}

/** A step that has no factor in common with `size` meets every place before it meets one twice. */
function strideFor(size: number, random: Random): number {
  let stride = random.int(1, size)
  while (commonFactor(stride, size) !== 1) stride++
  return stride
}

function commonFactor(a: number, b: number): number {
  return b === 0 ? a : commonFactor(b, a % b)
}

function choose(
  choices: Choice[],
  picks: number[],
): { values: Record<string, string>; factor: number } {
  const values: Record<string, string> = {}
  let factor = 1
  choices.forEach((choice, i) => {
    const row = choice.rows[picks[i]!]!
    choice.keys.forEach((key, k) => {
      if (key === '$') factor *= Number(row[k])
      else values[key] = row[k]!
    })
  })
  return { values, factor }
}
