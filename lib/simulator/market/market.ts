import type { ProductClass } from '../../distributors/product-classes.js'
import familyFacts from '../../../data/demo/families.json' with { type: 'json' }
import facts from '../../../data/demo/market.json' with { type: 'json' }

/** What a fresh installation is made from; documents print UPCs, not this number. */
export const DEMO_SEED = 20_041

/** The distributors of the demo, and their part of all offers. */
export const DEMO_SHARES = { RSR: 0.45, LIP: 0.25, CSSI: 0.3 } as const
export type DemoDistid = keyof typeof DEMO_SHARES
export const DEMO_DISTIDS = Object.keys(DEMO_SHARES) as DemoDistid[]

/** A choice of values; `caliber` and `capacity` may come in pairs, and `$` multiplies the cost. */
export interface Choice {
  keys: string[]
  rows: string[][]
}

/**
 * A kind of goods: which values its items differ in, what they cost, and what each distributor
 * files them under.
 */
export interface Family {
  id: string
  class: ProductClass
  /** Its part of the market, relative to the other families. */
  goods: number
  noun: string
  brands: string[]
  models: string[]
  name: string
  /** The name with the noun in it, where the name alone does not tell what it is. */
  title: string
  text: string[]
  /** Chosen once for a model. */
  fixed: Choice[]
  /** What the items of one model differ in. */
  vary: Choice[]
  /** Dealer cost of a plain item, in dollars. */
  cost: number[]
  ounces: number[]
  /** RSR's department; null where it does not carry the family. */
  rsr: string | null
  /** Lipsey's item type and type. */
  lip: string[] | null
  /** Chattanooga's category. */
  cssi: string | null
  /** Which distributors carry the family. */
  sellers: DemoDistid[]
  flags: Set<string>
  /** States that RSR does not ship to. */
  states: string[]
}

/** An item that examples and documents name, fixed whatever the seed. */
export interface StoryFacts {
  id: string
  family: string
  brand: string
  model: string
  values: Record<string, string>
  cost: number
  /** Price in dollars and stock. */
  offers: Partial<Record<DemoDistid, number[]>>
}

const FILED_UNDER = { RSR: 'rsr', LIP: 'lip', CSSI: 'cssi' } as const

interface FamilyFacts {
  id: string
  class: string
  goods: number
  noun: string
  brands: string
  lines: string
  name: string
  text: string[]
  fixed?: Record<string, string>
  vary: Record<string, string>
  cost: number[]
  ounces: number[]
  rsr?: string
  lip?: string[]
  cssi?: string
  flags?: string
  states?: string
}

interface MarketFacts {
  brands: Record<string, string>
  aliases: Record<string, Record<string, string>>
  groups: Record<string, string>
  lines: Record<string, string>
  suffixes: string
  states: Record<string, string>
  short: Record<string, string>
  stories: StoryFacts[]
}

// The type of a JSON import lists every key of every entry; the suite proves that the facts have
// these shapes.
const market = facts as unknown as MarketFacts

export const BRANDS = market.brands
export const SUFFIXES = market.suffixes.split(',')
export const SHORT_FORMS = market.short
export const STORIES = market.stories
export const FAMILIES: Family[] = (familyFacts as unknown as FamilyFacts[]).map(readFamily)

/** States that the magazine laws of the starter facts name, for items of more than 10 rounds. */
export const CAPACITY_STATES = market.states['capacity']!.split(' ')

/** What a distributor calls a brand: now and then not what the others call it. */
export function brandAt(distid: DemoDistid, brand: string): string {
  return market.aliases[distid]?.[brand] ?? BRANDS[brand]!
}

function readFamily(entry: FamilyFacts): Family {
  return {
    ...entry,
    class: entry.class as ProductClass,
    brands: market.groups[entry.brands]!.split(' '),
    models: market.lines[entry.lines]!.split(','),
    title: withNoun(entry.name, entry.noun),
    fixed: readChoices(entry.fixed ?? {}),
    vary: readChoices(entry.vary),
    rsr: entry.rsr ?? null,
    lip: entry.lip ?? null,
    cssi: entry.cssi ?? null,
    sellers: DEMO_DISTIDS.filter((distid) => entry[FILED_UNDER[distid]] !== undefined),
    flags: new Set(entry.flags?.split(' ')),
    states: entry.states === undefined ? [] : market.states[entry.states]!.split(' '),
  }
}

function readChoices(choices: Record<string, string>): Choice[] {
  return Object.entries(choices).map(([keys, rows]) => ({
    keys: keys.split(','),
    rows: rows.split('|').map((row) => row.split(',')),
  }))
}

function withNoun(name: string, noun: string): string {
  const named = /\{(item|kind)\}/.test(name) || noun.split(' ').some((word) => name.includes(word))
  return named ? name : name.replace('{model}', `{model} ${noun}`)
}
