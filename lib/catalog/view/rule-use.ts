/**
 * Price and restriction rules of a document that do nothing, or too much, on the catalog as it
 * stands: warnings of `POST /v1/config/validate`. Sets of rows are found by the code that prices
 * and hides them.
 */
import { nearest } from '../../core/text.js'
import type {
  ConfigurationDocument,
  MarginGroup,
  PriceRange,
  ProductRestrictions,
  Shipping,
  ShippingLevel,
} from '../../configuration/document/document.js'
import { dotted } from '../../core/pointer.js'
import { Bits, popcount } from '../snapshot/bits.js'
import { adjustedRows } from './costs.js'
import { UNCATEGORIZED } from '../../distributors/feed-offer.js'
import { LISTS, entryPointer, listed, within } from './restrictions.js'
import { boundsOf, marginGroups, rangeFinder } from './retail.js'
import { levelBounds, shippingLevels } from './shipping.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import { makePrices, makeView, viewRules } from './view.js'
import type { View, ViewDistributor, ViewInput } from './view.js'

export interface RuleWarning {
  /** JSON Pointer into the document. */
  pointer: string
  /** Begins with the member, as `pricing.margin.firearms`. */
  message: string
}

const MOST_WARNINGS = 100
/**
 * Of each kind of rule so many are looked at: a document of 1 MB may hold ten thousand margin
 * groups.
 */
const MOST_RULES = 200

/** What the checks look at. */
interface Checked {
  snapshot: Snapshot
  input: ViewInput
  document: ConfigurationDocument
  /** What is seen when restrictions are ignored: every offer that has a price. */
  open: View
  /** What is seen. */
  shown: Bits
}

/**
 * Warnings on the rules of a document over the offers of its eligible distributors; what loses most
 * offers comes first.
 */
export function ruleWarnings(snapshot: Snapshot, input: ViewInput): RuleWarning[] {
  const prices = makePrices(snapshot, input)
  const open = makeView(snapshot, { ...input, ignoreRestrictions: true }, prices)
  const { visible: shown } = makeView(snapshot, { ...input, ignoreRestrictions: false }, prices)
  const found: RuleWarning[] = []
  for (const next of warnings({ snapshot, input, document: input.document, open, shown })) {
    if (found.length < MOST_WARNINGS) found.push(next)
    else break
  }
  return [...found, ...nameWarnings(snapshot, input.document, MOST_WARNINGS - found.length)]
}

type Warnings = Iterable<RuleWarning>

function* warnings(checked: Checked): Warnings {
  for (const check of [
    offerWarnings,
    hiddenWarnings,
    mapWarnings,
    shippingWarnings,
    distidWarnings,
    marginWarnings,
    adjustmentWarnings,
  ])
    yield* check(checked)
}

function warning(pointer: string, text: string): RuleWarning {
  return { pointer, message: `\`${dotted(pointer)}\` ${text}` }
}

const both = (a: Bits, b: Bits) => a.copy().and(b)
const offers = (n: number) => (n === 1 ? 'one offer' : `${n.toLocaleString('en-US')} offers`)

/** Offers of a distributor that have a price. */
function offersOf({ snapshot, open }: Checked, { place }: ViewDistributor): Bits {
  return both(open.visible, snapshot.distributorRows(place))
}

/** Distributors that have nothing to sell. */
function* offerWarnings(checked: Checked): Warnings {
  const placed = [...checked.open.distributors.values()]
  for (const {
    name,
    entry: { distid },
  } of checked.input.eligible) {
    const distributor = placed.find((candidate) => candidate.name === name)
    const all = distributor ? checked.snapshot.distributorRows(distributor.place).count() : 0
    if (!distributor || all === 0)
      yield warning(
        entryPointer(name),
        `has no offers: the catalog holds no feed of ${distid}; ask your operator for one, or set \`active\` to false`,
      )
    else if (offersOf(checked, distributor).count() === 0)
      yield warning(
        entryPointer(name),
        `has ${offers(all)} and no price of yours for any of them; ask your operator for a feed with your prices`,
      )
  }
}

/**
 * Distributors, or the whole catalog, that restrictions hide to the last offer: the rule that hides
 * most is named.
 */
function* hiddenWarnings(checked: Checked): Warnings {
  const { snapshot, document, open, shown } = checked
  const stocked = [...open.distributors.values()]
    .map((distributor) => ({ of: distributor.name, rows: offersOf(checked, distributor) }))
    .filter(({ rows }) => rows.count() > 0)
  const hidden = stocked.filter(({ rows }) => both(rows, shown).count() === 0)
  if (hidden.length === 0) return
  const rules = viewRules(
    { snapshot, costs: open.costs, scope: open.visible.copy() },
    document,
    open.distributors.values(),
  )
  for (const { of, rows } of hidden.length === stocked.length
    ? [{ of: 'the whole catalog', rows: open.visible }]
    : hidden) {
    const counts = rules.map(({ pointer, hides }) => ({
      pointer,
      count: both(rows, hides).count(),
    }))
    const { pointer, count } = counts.reduce((most, next) =>
      next.count > most.count ? next : most,
    )
    const total = rows.count()
    yield warning(
      pointer,
      count === total
        ? `hides all of the ${offers(total)} of ${of}; loosen it`
        : `hides ${count.toLocaleString('en-US')} of the ${offers(total)} of ${of}, more than any other rule, and together they leave none; loosen it`,
    )
  }
}

function* mapWarnings({ document: { pricing } }: Checked): Warnings {
  if (pricing.ignore_map_brands?.length)
    yield warning(
      '/pricing/ignore_map_brands',
      'is not empty: its brands may sell below MAP; list only brands whose MAP you are not bound to',
    )
}

/** Levels that no offer takes, and offers that no level fits (decisions 4.5). */
function* shippingWarnings(checked: Checked): Warnings {
  const { snapshot } = checked
  for (const distributor of checked.open.distributors.values()) {
    const {
      name,
      entry: { shipping },
    } = distributor
    const pointer = levelsPointer(name, shipping)
    const all = offersOf(checked, distributor)
    const rest = all.copy()
    const levels = shippingLevels(shipping)
    for (const [i, level] of levels.slice(0, MOST_RULES).entries()) {
      const rows = levelRows(checked, rest, level)
      if (rows.count() === 0)
        yield warning(
          `${pointer}/${i}`,
          whyUnused(levels.slice(0, i), level, levelRows(checked, all, level).count(), name),
        )
      rest.andNot(rows)
    }
    if (levels.length === 0 || levels.length > MOST_RULES || shipping.flat_rate) continue
    const dearest = levels.reduce((most, { flat_rate: { cost } }) => Math.max(most, cost), 0)
    const fitless = within(rest, snapshot.shipping, -1, -1).count()
    if (fitless > 0)
      yield warning(
        pointer,
        `has no level for ${offers(fitless)}, which ${fitless === 1 ? 'takes' : 'take'} the dearest level's ${dearest.toFixed(2)}; add a level for the rest of the costs, classes and categories`,
      )
  }
}

function levelsPointer(name: string, shipping: Shipping): string {
  return `${entryPointer(name)}/shipping/${shipping.price_based_shipping ? 'price_based_shipping' : 'price_based_shipping_levels'}`
}

function levelRows({ snapshot, open }: Checked, scope: Bits, level: ShippingLevel): Bits {
  const { least, below } = levelBounds(level)
  const rows = within(scope, open.costs, least, below - 1)
  for (const list of ['product_class', 'category'] as const)
    if (level[list]?.length) rows.and(listed(snapshot, list, level[list]))
  return rows
}

/** Why a level is not used; `alone` offers would fit it if it stood first. */
function whyUnused(
  earlier: readonly ShippingLevel[],
  level: ShippingLevel,
  alone: number,
  name: string,
): string {
  const { least, below } = levelBounds(level)
  if (least >= below)
    return 'fits no cost: its max_unit_cost is below its min_unit_cost; correct them'
  const cover = earlier.findIndex((other) => covers(other, level))
  if (cover >= 0)
    return `is never used: the level [${cover}] before it takes all that it fits; move it up, or remove it`
  if (alone > 0)
    return `is not used: the levels before it take the ${offers(alone)} that it fits; move it up, or remove it`
  return `fits no offer of ${name} at the moment; remove it, unless such offers are to come`
}

function covers(other: ShippingLevel, level: ShippingLevel): boolean {
  const [a, b] = [levelBounds(other), levelBounds(level)]
  const holds = (all: readonly string[] = [], some: readonly string[] = []) =>
    all.length === 0 || (some.length > 0 && some.every((value) => all.includes(value)))
  return (
    a.least <= b.least &&
    a.below >= b.below &&
    holds(other.product_class, level.product_class) &&
    holds(other.category, level.category)
  )
}

/** Distids that nobody has: neither an entry of the document nor the catalog. */
function* distidWarnings({ snapshot, document: { distributors, pricing } }: Checked): Warnings {
  const known = new Set([
    ...snapshot.distids,
    ...Object.values(distributors).map(({ distid }) => distid),
  ])
  const named = [
    ...Object.entries(pricing.margin ?? {}).flatMap(([group, { distributor = [] }]) =>
      distributor.map((distid, i) => ({
        pointer: `/pricing/margin/${group}/distributor/${i}`,
        distid,
      })),
    ),
    ...(pricing.cost_adjustments ?? []).flatMap(({ distributor: distid }, i) =>
      distid === undefined
        ? []
        : [{ pointer: `/pricing/cost_adjustments/${i}/distributor`, distid }],
    ),
  ]
  for (const { pointer, distid } of named
    .filter(({ distid }) => !known.has(distid))
    .slice(0, MOST_WARNINGS)) {
    yield warning(
      pointer,
      `names the distid "${short(distid)}", which no distributor has; ${suggestion(nearest(distid, known), 'name the `distid` of a distributor')}`,
    )
  }
}

/** Groups and price ranges that set no price. */
function* marginWarnings({ snapshot, open, document: { pricing } }: Checked): Warnings {
  const { margin } = pricing
  if (!margin?.default) return
  const groups = marginGroups(margin)
  const filtered = new Set(groups.map(({ name }) => name))
  for (const [name, group] of Object.entries(margin).slice(0, MOST_RULES)) {
    if (name !== 'default' && !filtered.has(name))
      yield warning(
        `/pricing/margin/${name}`,
        'has no filter, so it never applies; give it a product_class, category, brand, sku, upc or distributor, or remove it',
      )
    yield* rangeWarnings(
      `/pricing/margin/${name}/price_based_margin`,
      group.price_based_margin ?? [],
    )
  }
  /** By row: the place of the group that sets its price, one of the first `MOST_RULES`. */
  const takers = new Uint8Array(snapshot.rows)
  const rest = open.visible.copy()
  for (const [place, { name, group }] of groups.slice(0, MOST_RULES).entries()) {
    const rows = groupOffers(snapshot, group, open.visible)
    const free = both(rows, rest)
    const matched = rows.count()
    if (matched === 0)
      yield warning(
        `/pricing/margin/${name}`,
        'matches no offer of your distributors; correct its filters, or remove it',
      )
    else if (free.count() === 0)
      yield warning(
        `/pricing/margin/${name}`,
        `sets no price: the ${offers(matched)} that it matches ${matched === 1 ? 'is' : 'are'} taken by ${takenBy(rows, takers, groups)}; narrow what is tried before it, or remove it`,
      )
    free.forEach((row) => {
      takers[row] = place
    })
    rest.andNot(free)
  }
}

/** All filters that a group gives must hold, as in the price rule. */
function groupOffers(snapshot: Snapshot, group: MarginGroup, scope: Bits): Bits {
  const rows = scope.copy()
  for (const list of LISTS) if (group[list]?.length) rows.and(listed(snapshot, list, group[list]))
  if (group.distributor?.length)
    rows.and(
      group.distributor.reduce(
        (some, distid) => some.or(snapshot.distributorRows(snapshot.distids.indexOf(distid))),
        new Bits(snapshot.rows),
      ),
    )
  return rows
}

/** So many groups are named. */
const MOST_TAKERS = 3

function takenBy(rows: Bits, takers: Uint8Array, groups: readonly { name: string }[]): string {
  const places = new Set<number>()
  rows.forEach((row) => places.add(takers[row]!).size <= MOST_TAKERS)
  const names = [...places].sort((a, b) => a - b).map((place) => `\`${groups[place]!.name}\``)
  return names.length > MOST_TAKERS
    ? `${names.slice(0, MOST_TAKERS).join(', ')} and others`
    : names.join(', ')
}

function* rangeWarnings(pointer: string, ranges: readonly PriceRange[]): Warnings {
  const bounds = ranges.slice(0, MOST_RULES).map(boundsOf)
  // From one of these costs to the next the range is the same.
  const edges = bounds.flatMap(({ least, most, below }) => [least, most + 1, below])
  const used = new Set([0, ...edges].map(rangeFinder(bounds)))
  for (const [i, { least, most }] of bounds.entries()) {
    if (!used.has(i))
      yield warning(
        `${pointer}/${i}`,
        least > most
          ? 'holds no cost: its minimum_unit_cost is above its maximum_unit_cost; correct them'
          : 'is never used: the ranges before it hold all of its costs; move it up, or remove it',
      )
  }
}

function* adjustmentWarnings({ snapshot, open, document: { pricing } }: Checked): Warnings {
  for (const [i, adjustment] of (pricing.cost_adjustments ?? []).slice(0, MOST_RULES).entries()) {
    if (adjustedRows(snapshot, adjustment).and(open.visible).count() === 0)
      yield warning(
        `/pricing/cost_adjustments/${i}`,
        'matches no offer of your distributors; correct it, or remove it',
      )
  }
}

/** A brand or category that the document names. */
interface Named {
  pointer: string
  kind: 'brand' | 'category'
  value: string
}

/**
 * Brands and categories that no offer of the whole catalog has; where there is no room for all, the
 * last tells how many.
 */
function nameWarnings(
  snapshot: Snapshot,
  document: ConfigurationDocument,
  room: number,
): RuleWarning[] {
  const known = {
    brand: new Set(snapshot.brands),
    category: new Set([...snapshot.categories.map(({ name }) => name), UNCATEGORIZED]),
  }
  const unknown = namesOf(document).filter(({ kind, value }) => !known[kind].has(value))
  const told = unknown.slice(0, unknown.length > room ? Math.max(0, room - 1) : room)
  const near = { brand: nearestFinder(known.brand), category: nearestFinder(known.category) }
  const warnings = told.map(({ pointer, kind, value }) =>
    warning(
      pointer,
      `names the ${kind} "${short(value)}", which no offer has; ${suggestion(near[kind](value), 'correct it, or remove it')}`,
    ),
  )
  const next = unknown[told.length]
  return next && room > 0
    ? [
        ...warnings,
        warning(
          next.pointer,
          `is one of ${(unknown.length - told.length).toLocaleString('en-US')} more brands and categories that no offer has; take them from GET /v1/products/facets`,
        ),
      ]
    : warnings
}

function namesOf({
  distributors,
  pricing,
  product_restrictions: root,
}: ConfigurationDocument): Named[] {
  return [
    ...restrictionNames('/product_restrictions', root),
    ...Object.entries(distributors).flatMap(([name, { product_restrictions: own, shipping }]) => [
      ...restrictionNames(`${entryPointer(name)}/product_restrictions`, own),
      ...shippingLevels(shipping).flatMap(({ category }, i) =>
        names(`${levelsPointer(name, shipping)}/${i}/category`, 'category', category),
      ),
    ]),
    ...Object.entries(pricing.margin ?? {}).flatMap(([name, group]) =>
      KINDS.flatMap((kind) => names(`/pricing/margin/${name}/${kind}`, kind, group[kind])),
    ),
    ...(pricing.cost_adjustments ?? []).flatMap((adjustment, i) =>
      KINDS.flatMap((kind) => {
        const value = adjustment[kind]
        return value === undefined
          ? []
          : [{ pointer: `/pricing/cost_adjustments/${i}/${kind}`, kind, value }]
      }),
    ),
    ...names('/pricing/ignore_map_brands', 'brand', pricing.ignore_map_brands),
  ]
}

const KINDS = ['brand', 'category'] as const

function restrictionNames(pointer: string, layer: ProductRestrictions): Named[] {
  return KINDS.flatMap((kind) => [
    ...names(`${pointer}/${kind}/include`, kind, layer[kind]?.include),
    ...names(`${pointer}/${kind}/exclude`, kind, layer[kind]?.exclude),
    ...(layer.product_groups ?? []).flatMap(({ criteria }, i) =>
      names(`${pointer}/product_groups/${i}/criteria/${kind}`, kind, criteria[kind]),
    ),
  ])
}

function names(
  pointer: string,
  kind: Named['kind'],
  values: readonly (string | number)[] = [],
): Named[] {
  return values.map((value, i) => ({ pointer: `${pointer}/${i}`, kind, value: String(value) }))
}

function suggestion(close: string | null, otherwise: string): string {
  return close === null ? otherwise : `did you mean "${close}"?`
}

/** `nearest` of many names: a hundred times five thousand brands would take it a second. */
function nearestFinder(known: Iterable<string>): (name: string) => string | null {
  const candidates = Array.from(known, (name) => ({ name, letters: lettersOf(name) }))
  return (name) => {
    const letters = lettersOf(name)
    const edits = Math.max(2, Math.floor(name.length / 3))
    // Each letter that only one of two names has is at least one edit between them; above so many
    // `nearest` takes none.
    const near = candidates.filter(
      (other) =>
        popcount(letters & ~other.letters) <= edits && popcount(other.letters & ~letters) <= edits,
    )
    return nearest(
      name,
      near.map((other) => other.name),
    )
  }
}

/** The letters of a name as bits. */
function lettersOf(name: string): number {
  let letters = 0
  for (const letter of name.toLowerCase())
    if (letter >= 'a' && letter <= 'z') letters |= 1 << (letter.charCodeAt(0) - 97)
  return letters
}

const LONGEST_NAME = 60
const short = (name: string) =>
  name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name
