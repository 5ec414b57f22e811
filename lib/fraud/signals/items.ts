/** Items of orders: which are the same, and which have names that may be of one. */
import { gtinKey } from '../../core/gtin.js'
import { folded, wordsOf } from './fold.js'

const LONGEST_SKU = 80
const LONGEST_NAME = 200

/**
 * Keys of an item, equal where the item is: `upc:00764503037108` whether the UPC came with 12, 13
 * or 14 digits, and `sku:` with case and blanks aside. Empty where it tells neither.
 */
export function itemKeys({
  upc,
  sku,
}: {
  readonly upc?: string | null
  readonly sku?: string | null
}): string[] {
  const keys: string[] = []
  const gtin = upc ? gtinKey(upc) : null
  if (gtin !== null && gtin > 0) keys.push(`upc:${String(gtin).padStart(14, '0')}`)
  const plain = sku ? folded(sku, LONGEST_SKU).replaceAll(/\s+/g, '') : ''
  if (/[\p{L}\p{N}]/u.test(plain)) keys.push(`sku:${plain}`)
  return keys
}

/**
 * A name as it is compared whole: for telling items apart of which nothing else is told. Null where
 * it has no letter or digit.
 */
export const itemText = (name: string): string | null =>
  wordsOf(folded(name, LONGEST_NAME)).join(' ') || null

/**
 * A caliber: its number, and what follows it (`win`, `lr`); nothing where the name leaves it out.
 */
interface Caliber {
  readonly number: string
  readonly kind: string
}

/** What a name says of an item. */
interface Traits {
  readonly brand: string
  /** Words of the model. */
  readonly model: ReadonlySet<string>
  readonly calibers: readonly Caliber[]
}

/** Words that every item may bear: kinds, colours, finishes, amounts. */
const COMMON = new Set(
  `pistol revolver rifle shotgun handgun firearm gun carbine semi auto automatic semiautomatic
action bolt lever pump black blk bk fde od green gray grey tan blue blued stainless ss steel matte
matt finish polymer frame synthetic wood walnut stock barrel brl bbl threaded
rd rds round rounds shot capacity cap mag mags magazine magazines w with and the a of for in new
inch inches cal caliber gauge ga dark earth flat night sight sights fixed adjustable standard luger
parabellum nato left right hand lh rh`.split(/\s+/),
)
/** Makers of two words or by initials, each with its one name. */
const BRANDS = [
  ['smithwesson', 'smith (?:and |& ?)?wesson\\b|s ?& ?w\\b'],
  ['sigsauer', 'sig ?sauer\\b|sig\\b'],
  ['hecklerkoch', 'heckler (?:and |& ?)?koch\\b|h ?& ?k\\b|hk\\b'],
  ['springfield', 'springfield armory\\b'],
  ['ruger', 'sturm,? ruger(?: (?:and|&) co)?\\b'],
  ['fn', 'fabrique nationale\\b|fn ?america\\b|fnh\\b'],
  ['remington', 'remington arms\\b'],
  ['danieldefense', 'daniel defense\\b'],
] as const
const BRAND = new RegExp(`^ ?(?:${BRANDS.map(([, spelling]) => `(${spelling})`).join('|')})`)

const KINDS = new Map(
  Object.entries({
    lr: 'lr',
    'long rifle': 'lr',
    wmr: 'mag',
    hmr: 'hmr',
    hornet: 'hornet',
    acp: 'acp',
    auto: 'acp',
    sig: 'sig',
    gap: 'gap',
    special: 'special',
    spl: 'special',
    spcl: 'special',
    magnum: 'mag',
    mag: 'mag',
    win: 'win',
    winchester: 'win',
    rem: 'rem',
    remington: 'rem',
    creedmoor: 'creedmoor',
    blackout: 'blk',
    aac: 'blk',
    blk: 'blk',
    legend: 'legend',
    bushmaster: 'bushmaster',
    colt: 'colt',
    's&w': 'sw',
    sw: 'sw',
    wsm: 'wsm',
    prc: 'prc',
    norma: 'norma',
    lapua: 'lapua',
    bmg: 'bmg',
    savage: 'savage',
    grendel: 'grendel',
    spc: 'spc',
    nato: '',
    luger: '',
    makarov: 'makarov',
    mak: 'makarov',
  }),
)
const KIND = `(?: ?(${[...KINDS.keys()].sort((a, b) => b.length - a.length).join('|')})\\b)`
const CALIBER_NUMBERS =
  '17|22|25|32|38|40|41|44|45|50|' +
  '204|218|222|223|224|243|250|257|260|264|270|277|280|284|' +
  '300|303|308|325|327|338|340|350|357|358|360|370|375|380|' +
  '405|408|444|450|454|458|460|480|500'
const BARE_CALIBER = new RegExp(`^(?:${CALIBER_NUMBERS})$`)
/**
 * By turns: gauges, metric with and without the length of the case, numbers with a hyphen, with a
 * point or a kind.
 */
const CALIBER = new RegExp(
  [
    '(\\d{2,3}) ?-?(?:ga|gauge|bore)\\b',
    '(\\d{1,2}(?:\\.\\d{1,2})?) ?x ?(\\d{2,3})(?: ?mm)?r?\\b',
    `(\\d{1,2}(?:\\.\\d{1,2})?) ?mm\\b${KIND}?`,
    `(5\\.56|5\\.7|6\\.5|6\\.8|7\\.62)\\b${KIND}?`,
    '\\.?(30-06|30-30|45-70|22-250|25-06)\\b',
    `\\.(${CALIBER_NUMBERS})\\b${KIND}?`,
    `(${CALIBER_NUMBERS})${KIND}`,
  ]
    .map((part) => `(?:${part})`)
    .join('|')
    .replace(/^/, '(?<![\\w.])(?=[.\\d])(?:')
    .concat(')'),
  'g',
)
const LENGTH = /(?<![\w.])\d{1,2}(?:\.\d{1,3})? ?(?:"|-?inch(?:es)?\b|-?in\b)/g
const COUNT = /\b\d{1,3}(?: ?\+ ?\d)? ?-?(?:rds?|rounds?|shot)\b/g
/** Cases that are mostly told by their caliber alone. */
const USUAL_CASES = new Map(Object.entries({ '9x19': '9', '5.56x45': '5.56', '10x25': '10' }))

function caliberOf([
  ,
  gauge,
  metric,
  length,
  millimetres,
  suffix,
  decimal,
  more,
  hyphened,
  point,
  kind,
  number,
  name,
]: RegExpMatchArray): Caliber {
  if (gauge !== undefined) return { number: `${gauge}ga`, kind: '' }
  if (metric !== undefined)
    return { number: USUAL_CASES.get(`${metric}x${length}`) ?? `${metric}x${length}`, kind: '' }
  if (hyphened !== undefined) return { number: hyphened, kind: '' }
  const said = suffix ?? more ?? kind ?? name
  return {
    number: String(millimetres ?? decimal ?? point ?? number),
    kind: said === undefined ? '' : KINDS.get(said)!,
  }
}

function traitsOf(name: string): Traits | null {
  let text = folded(name, LONGEST_NAME)
    .replaceAll(/[\u201C\u201D]|\u2032{2}|''/g, '"')
    .replaceAll(/\s\s+|[^\S ]/g, ' ')
  const maker = BRAND.exec(text)
  if (maker)
    text = `${BRANDS[maker.indexOf(maker[0].trimStart(), 1) - 1]![0]} ${text.slice(maker[0].length)}`
  const calibers: Caliber[] = []
  // Lengths and counts go first, so that no caliber is read out of them.
  text = text.replaceAll(LENGTH, ' ').replaceAll(COUNT, ' ')
  text = text.replaceAll(
    CALIBER,
    (...match) => (calibers.push(caliberOf(match as unknown as RegExpMatchArray)), ' '),
  )
  // What a hyphen or a generation's number joins is one word: ar-15, gen 5.
  const words = wordsOf(
    text.replaceAll(/(\w)-(?=\w)/g, '$1').replaceAll(/\b(gen|mk|mark|series|model) (?=\d)/g, '$1'),
  )
  const [brand, ...rest] = words.filter((word) => !COMMON.has(word))
  if (brand === undefined) return null
  const model = rest.filter((word, i) => {
    // Behind the model, a caliber's number is one: Ruger American 308; Glock 22 is a model.
    const isCaliber = i > 0 && calibers.length === 0 && BARE_CALIBER.test(word)
    if (isCaliber) calibers.push({ number: word, kind: '' })
    return !isCaliber
  })
  return {
    brand,
    model: new Set(model.map((word) => word.replace(/^(?:model|g)(?=\d)/, ''))),
    calibers,
  }
}

/** What is meant by a caliber's number alone. */
const USUAL_KINDS = new Map(
  Object.entries({
    22: 'lr',
    25: 'acp',
    32: 'acp',
    38: 'special',
    40: 'sw',
    44: 'mag',
    45: 'acp',
    223: 'rem',
    243: 'win',
    270: 'win',
    308: 'win',
    357: 'mag',
    380: 'acp',
    50: 'bmg',
  }),
)

/**
 * One string per name of an item, equal where names may be of one: only equal strings can be
 * compared under a key. Brand (the first word that is not common), model and calibers, in any
 * order, without what every item may bear: `Glock 19 Gen5 9mm` and `GLOCK G19 Gen 5 9mm Luger 15rd
 * 4.02"` are `glock|19 gen5|9`. Null where a name tells no model.
 */
export function itemNameKey(name: string): string | null {
  const traits = traitsOf(name)
  if (!traits || traits.model.size === 0) return null
  const calibers = traits.calibers.map(({ number, kind }) =>
    kind === '' || USUAL_KINDS.get(number) === kind ? number : `${number} ${kind}`,
  )
  return [
    traits.brand,
    ...[[...traits.model], calibers].map((words) => [...new Set(words)].sort().join(' ')),
  ].join('|')
}
