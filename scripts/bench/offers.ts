/**
 * Generated offers for benchmarks and suites: the same for the same seed. The proportions are those
 * of a real network: four distributors per item, few large brands and many small ones, most offers
 * in stock, names that share their words.
 */
import type { ProductClass } from '../../lib/distributors/product-classes.js'
import { catalogSchema } from '../../lib/db/migrations/catalog.js'
import { migrate } from '../../lib/db/sqlite/migrate.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import type { Raw } from '../../lib/db/sqlite/sqlite.js'

export const BENCH_DISTIDS = [
  '2AW',
  'BHC',
  'CHT',
  'CRW',
  'DAV',
  'ELL',
  'HIC',
  'LIP',
  'ORI',
  'RSR',
  'SSI',
  'ZAN',
] as const

const BRANDS = 900
const OFFERS_PER_ITEM = 4

/** What a generated item is: a kind of goods, with the words its name is made of. */
interface Kind {
  productClass: ProductClass
  category: string
  categoryId: number
  share: number
  ffl: boolean
  cents: [least: number, most: number]
  words: readonly (readonly string[])[]
}

const CALIBERS = [
  '5.56 NATO',
  '.223 Rem',
  '9mm',
  '.45 ACP',
  '.308 Win',
  '6.5 Creedmoor',
  '12 GA',
  '.22 LR',
  '.300 BLK',
  '10mm',
  '.380 ACP',
  '.40 S&W',
]
const COLORS = ['FDE', 'Black', 'OD Green', 'Gray', 'Stainless', 'Walnut', 'Kryptek', '']
const KINDS: readonly Kind[] = [
  kind(
    'FA',
    'Rifles',
    101,
    12,
    true,
    [39_900, 289_900],
    [CALIBERS, ['16in', '18in', '20in', '24in'], ['5rd', '10rd', '30rd'], COLORS],
  ),
  kind(
    'FA',
    'Pistols',
    102,
    14,
    true,
    [19_900, 149_900],
    [CALIBERS, ['3.1in', '4in', '4.5in', '5in'], ['10rd', '15rd', '17rd'], COLORS],
  ),
  kind(
    'FA',
    'Shotguns',
    103,
    5,
    true,
    [24_900, 229_900],
    [
      ['12 GA', '20 GA', '.410'],
      ['18.5in', '26in', '28in'],
      ['Pump', 'Semi-Auto', 'Over/Under'],
      COLORS,
    ],
  ),
  kind(
    'AO',
    'Ammunition',
    201,
    16,
    false,
    [799, 29_900],
    [
      CALIBERS,
      ['55gr', '62gr', '115gr', '124gr', '147gr', '168gr'],
      ['FMJ', 'JHP', 'SP', 'OTM'],
      ['20ct', '50ct', '500ct', '1000ct'],
    ],
  ),
  kind(
    'MG',
    'Magazines',
    301,
    9,
    false,
    [899, 6_900],
    [CALIBERS, ['10rd', '15rd', '30rd', '40rd'], ['Magazine', 'Extended Magazine'], COLORS],
  ),
  kind(
    'OP',
    'Optics',
    401,
    8,
    false,
    [4_900, 249_900],
    [
      ['1-6x24', '3-9x40', '4-16x44', '1x25'],
      ['Scope', 'Red Dot', 'Prism'],
      ['MOA', 'MRAD', 'BDC'],
      COLORS,
    ],
  ),
  kind(
    'HS',
    'Holsters',
    501,
    11,
    false,
    [1_499, 18_900],
    [['IWB', 'OWB', 'Shoulder'], ['Holster'], ['RH', 'LH'], ['Kydex', 'Leather'], COLORS],
  ),
  kind(
    'FP',
    'Firearm Parts',
    601,
    12,
    false,
    [299, 89_900],
    [['Barrel', 'Trigger', 'Handguard', 'Bolt Carrier Group', 'Stock'], CALIBERS, COLORS],
  ),
  kind(
    'KN',
    'Knives',
    701,
    6,
    false,
    [999, 39_900],
    [
      ['Folder', 'Fixed Blade', 'Automatic'],
      ['3in', '3.5in', '4in'],
      ['S30V', 'D2', 'CPM-154'],
      COLORS,
    ],
  ),
  kind(
    'SO',
    'Suppressors',
    801,
    2,
    true,
    [29_900, 129_900],
    [['Suppressor'], CALIBERS, ['Titanium', 'Inconel'], COLORS],
  ),
  kind(
    'OT',
    'Uncategorized',
    0,
    5,
    false,
    [199, 49_900],
    [['Cleaning Kit', 'Sling', 'Target', 'Case', 'Bipod'], COLORS],
  ),
]

function kind(
  productClass: ProductClass,
  category: string,
  categoryId: number,
  share: number,
  ffl: boolean,
  cents: [number, number],
  words: Kind['words'],
): Kind {
  return { productClass, category, categoryId, share, ffl, cents, words }
}

const SYLLABLES = [
  'rid',
  'ge',
  'line',
  'stone',
  'hawk',
  'iron',
  'west',
  'brook',
  'sum',
  'mit',
  'fal',
  'con',
  'ash',
  'ford',
  'black',
  'elk',
  'tor',
  'cal',
  'mar',
  'vex',
  'dun',
  'ox',
  'lar',
  'nor',
]

interface Item {
  kind: Kind
  brand: string
  model: string
  name: string
  upc: string | null
  cents: number
  map: number | null
}

/** Makes a catalog file at `path` with that many offers. */
export function generateCatalog(path: string, offers: number, seed = 1): void {
  const raw = openFile(path, { synchronous: 'NORMAL' })
  try {
    migrate(raw, 'catalog', catalogSchema)
    writeOffers(raw, offers, seed)
  } finally {
    raw.close()
  }
}

/** Writes generated offers into an empty catalog, in one transaction. */
export function writeOffers(raw: Raw, offers: number, seed = 1): void {
  const fragment = raw.prepare(`
    INSERT INTO fragment (id, distid, stockid, distsku, upc, name, mfg_name, mpn, product_class,
      item_cat, category_id, category_name, images, short_description, description)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '[]', ?, ?)`)
  const offer = raw.prepare(`
    INSERT INTO offer (id, distid, stockid, fragment, price, map, msrp, shipping, qty, ffl_req,
      drop_ship, revision, first_seen)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0)`)
  raw.transaction(() => {
    const random = randomFrom(seed)
    const brands = makeBrands()
    for (let id = 1, number = 0; id <= offers; number++) {
      const item = makeItem(random, brands, number)
      const copies = Math.min(1 + random.below(OFFERS_PER_ITEM * 2 - 1), offers - id + 1)
      const first = random.below(BENCH_DISTIDS.length)
      for (let copy = 0; copy < copies; copy++, id++)
        writeOffer(
          fragment,
          offer,
          random,
          item,
          id,
          BENCH_DISTIDS[(first + copy) % BENCH_DISTIDS.length]!,
        )
    }
    raw.prepare("UPDATE state SET revision = 1, text_revision = 1, version = 'generated'").run()
  })()
}

type Insert = { run(...values: unknown[]): unknown }

function writeOffer(
  fragment: Insert,
  offer: Insert,
  random: Random,
  item: Item,
  id: number,
  distid: string,
): void {
  const { kind, brand, model, upc, cents, map } = item
  const stockid = `${brand.slice(0, 2).toUpperCase()}${random.below(900) + 100}-${id.toString(36).toUpperCase()}`
  // Each distributor words an item in its own way.
  const name =
    random.below(3) === 0
      ? item.name.toUpperCase()
      : random.below(2) === 0
        ? `${item.name} ${kind.category}`
        : item.name
  const price = Math.round(cents * (0.94 + random.below(120) / 1000))
  const qty =
    random.below(100) < 35 ? 0 : random.below(10) === 0 ? random.below(900) : 1 + random.below(40)
  const categoryId = kind.categoryId || null
  fragment.run(
    id,
    distid,
    stockid,
    stockid,
    upc,
    name,
    brand,
    `${model}${random.below(4) === 0 ? `-${kind.productClass}` : ''}`,
    kind.productClass,
    kind.category.toUpperCase(),
    categoryId,
    kind.category,
    `${name}.`,
    `${name}. Made by ${brand}, sold by ${distid}. `.repeat(4),
  )
  offer.run(
    id,
    distid,
    stockid,
    id,
    random.below(200) === 0 ? null : price,
    map,
    Math.round(cents * 1.3),
    895 + random.below(2000),
    qty,
    kind.ffl ? 1 : 0,
    kind.productClass === 'SO' || random.below(8) === 0 ? 0 : 1,
  )
}

function makeItem(
  random: Random,
  brands: { names: string[]; upTo: number[] },
  number: number,
): Item {
  const kind = pickKind(random)
  // A brand's number is drawn by Zipf's law: the first has a seventh of all items, the last a few
  // dozen.
  const share = (random.below(1_000_000) / 1_000_000) * brands.upTo.at(-1)!
  const place = brands.upTo.findIndex((upTo) => upTo > share)
  const brand = brands.names[place]!
  const model = `${brand.slice(0, 2).toUpperCase()}-${10 + random.below(990)}`
  const words = kind.words.map((choices) => choices[random.below(choices.length)]!)
  const [least, most] = kind.cents
  const cents = Math.round(least * (most / least) ** (random.below(10_000) / 10_000))
  return {
    kind,
    brand,
    model,
    cents,
    name: [brand, model, ...words].filter(Boolean).join(' '),
    upc: random.below(50) === 0 ? null : withCheckDigit(70_000_000_000 + number * 7),
    map: random.below(3) === 0 ? Math.round(cents * 1.12) : null,
  }
}

function pickKind(random: Random): Kind {
  let left = random.below(KINDS.reduce((sum, { share }) => sum + share, 0))
  return KINDS.find(({ share }) => (left -= share) < 0)!
}

function makeBrands(): { names: string[]; upTo: number[] } {
  const names: string[] = []
  const upTo: number[] = []
  for (let i = 0, sum = 0; i < BRANDS; i++) {
    const first = SYLLABLES[i % SYLLABLES.length]!
    const second = SYLLABLES[(Math.floor(i / SYLLABLES.length) * 5 + i + 1) % SYLLABLES.length]!
    names.push(
      `${first.charAt(0).toUpperCase()}${first.slice(1)}${second}${i < SYLLABLES.length ** 2 ? '' : ' Arms'}`,
    )
    upTo.push((sum += 1 / (i + 1)))
  }
  return { names, upTo }
}

function withCheckDigit(eleven: number): string {
  const digits = String(eleven)
  let sum = 0
  for (let i = 0; i < 11; i++) sum += Number(digits[i]) * (i % 2 === 0 ? 3 : 1)
  return digits + ((10 - (sum % 10)) % 10)
}

export interface Random {
  /** A whole number from 0 up to the bound, exclusive. */
  below(bound: number): number
}

/** Mulberry32: small, and the same on every machine. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return {
    below(bound) {
      state = (state + 0x6d2b79f5) >>> 0
      let t = Math.imul(state ^ (state >>> 15), state | 1)
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
      return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * bound)
    },
  }
}
