/**
 * Words of US addresses: street suffixes (USPS Publication 28, appendix C1), secondary units (C2),
 * directionals (233) and ordinals. Variants that may stand for two suffixes are left out: `pk`
 * (park or pike), `cr`, `br`, `dv`, `ldg`, `vl`.
 */

/**
 * Suffixes: the USPS abbreviation, the word in full, then other spellings, the plural too where it
 * has no abbreviation of its own.
 */
const SUFFIXES = `
aly alley allee ally|anx annex anex annx|arc arcade|ave avenue av aven avenu avn avnue aveune
byu bayou bayoo|bch beach|bnd bend|blf bluff bluf|blfs bluffs|btm bottom bot bottm
blvd boulevard boul boulv blv bvd boulavard
brnch branch|brg bridge brdge|brk brook|brks brooks|bg burg|bgs burgs|byp bypass bypa bypas byps
cp camp cmp|cyn canyon canyn cnyn|cpe cape|cswy causeway causwa
ctr center cen cent centr centre cnter cntr|ctrs centers
cir circle circ circl crcl crcle|cirs circles|clf cliff|clfs cliffs|clb club|cmn common
cmns commons|cor corner|cors corners|crse course|ct court crt|cts courts|cv cove|cvs coves
crk creek|cres crescent crsent crsnt|crst crest|xing crossing crssng crsg
xrd crossroad|xrds crossroads|curv curve|dl dale|dm dam|divide divide|dr drive driv drv|drs drives
est estate|ests estates|expy expressway exp expr express expw|ext extension extn extnsn
exts extensions|fall fall|fls falls|fry ferry frry
fld field|flds fields|flt flat|flts flats|frd ford|frds fords|frst forest forests|frg forge forg
frgs forges|frk fork|frks forks|ft fort frt|fwy freeway freewy frway frwy
gdn garden gardn grden grdn|gdns gardens grdns|gtwy gateway gatewy gatway gtway
gln glen|glns glens|grn green|grns greens|grv grove grov|grvs groves
hbr harbor harb harbr hrbor harbour|hbrs harbors|hvn haven|hts heights ht
hwy highway highwy hiway hiwy hway hgwy hghwy hywy|hl hill|hls hills|holw hollow hllw hollows holws
inlt inlet
is island islnd|iss islands islnds|isle isle isles|jct junction jction jctn junctn juncton
jcts junctions jctns|ky key|kys keys|knl knoll knol|knls knolls|lk lake|lks lakes|land land
lndg landing lndng|ln lane|lgt light|lgts lights|lf loaf|lck lock|lcks locks
lodge lodge ldge lodg|loop loop lp loops|mall mall|mnr manor|mnrs manors|mdw meadow
mdws meadows medows|mews mews|ml mill|mls mills|msn mission missn mssn|mtwy motorway|mt mount mnt
mtn mountain mntain mntn mountin mtin|mtns mountains mntns|nck neck
orch orchard orchrd|oval oval ovl|opas overpass|park park prk parks
pkwy parkway pakwy parkwy pkway pky pakway prkwy parkways pkwys|pass pass|psge passage
path path paths|pike pike pke pikes|pne pine|pnes pines|pl place plc|pln plain|plns plains plaines
plz plaza plza|pt point pnt|pts points
prt port|prts ports|pr prairie prr|radl radial rad radiel|ramp ramp|rnch ranch ranches rnchs
rpd rapid|rpds rapids|rst rest|rdg ridge rdge|rdgs ridges|riv river rvr rivr|rd road raod|rds roads
rte route|row row|run run|shl shoal|shls shoals|shr shore shoar|shrs shores shoars
skwy skyway|spg spring spng sprng|spgs springs spngs sprngs|spur spur spurs|sq square sqr sqre squ
sqs squares sqrs|sta station statn stn|stra stravenue strav straven stravn strvn strvnue
strm stream streme|st street str strt steet stret|sts streets|smt summit sumit sumitt
ter terrace terr tce terace|trwy throughway thruway thrwy|trce trace traces
trak track trk tracks trks|trfy trafficway|trl trail tr trails trls
tunl tunnel tunel tunnl tunnels tunls|tpke turnpike trnpk turnpk tpk trpk tnpk|upas underpass
un union|uns unions|vly valley vally vlly|vlys valleys|vdct viaduct viadct
vw view|vws views|vlg village vill villag villg villiage|vlgs villages|ville ville
vis vista vist vst vsta|walk walk wlk walks|wall wall|way way wy|ways ways|wl well|wls wells
`
/**
 * A word that says what a street is, and hardly ever what it is called: `North Park` is a name,
 * `North Ave` has a name.
 */
const PLAIN = 'ave blvd cir ct cts dr expy fwy hwy ln pike pkwy pl rd sq st ter tpke trl way'

const suffixOf = new Map<string, string>()
const fullOf = new Map<string, string>()
for (const entry of SUFFIXES.trim().split(/[|\n]/)) {
  const [short, full, ...others] = entry.split(' ') as [string, string, ...string[]]
  for (const word of [short, full, ...others]) {
    suffixOf.set(word, short)
    fullOf.set(word, full)
  }
}

/** The word at a place; empty, which no word is, where there is none. */
export const wordAt = (words: readonly string[], at: number): string => words[at] ?? ''

/** The USPS abbreviation of a street suffix, however it is spelled. */
export const suffix = (word: string | undefined): string | undefined =>
  word === undefined ? undefined : suffixOf.get(word)
export const PLAIN_SUFFIXES: ReadonlySet<string> = new Set(PLAIN.split(' '))

/** Words of names that are shortened, with what they stand for. */
const NAME_WORDS = new Map(
  Object.entries({
    ft: 'fort',
    mt: 'mount',
    mtn: 'mountain',
    ste: 'sainte',
    mlk: 'martinlutherking',
    indl: 'industrial',
    industl: 'industrial',
    indust: 'industrial',
    indstrl: 'industrial',
    natl: 'national',
    intl: 'international',
    univ: 'university',
    meml: 'memorial',
    mem: 'memorial',
    gen: 'general',
    hosp: 'hospital',
    arpt: 'airport',
    airpt: 'airport',
    cnty: 'county',
    twp: 'township',
    northeast: 'ne',
    northwest: 'nw',
    southeast: 'se',
    southwest: 'sw',
  }),
)
/**
 * Suffixes that are shortened within a name as well. Others are left alone there: Fry Rd is no
 * Ferry Rd, Cent Ave no Center Ave.
 */
const SUFFIXES_IN_NAMES = new Set(
  `rd ln lk lks hl hls cv sq pl ct dr pt av ave blvd bnd blf blfs brk brks brg bch byp cswy cir
clf clfs crk crst ctr cntr centre xing expy fld flds frst frg frk fwy gdn gdns gtwy gln grn grv hbr
harbour hvn hts hwy holw inlt jct knl knls lndg
mnr mdw mdws mls mtn mtns nck orch pkwy pky pne pnes pln plns plz plza prt prk rnch rpds rdg rdge
rdgs shr shrs skwy spg spgs spng sprng trl tpke vly vally vlys vw vlg wlk`.split(/\s+/),
)

/**
 * A word within the name of a street, in full: `rdg` is `ridge`, `mtn` is `mountain`. What may mean
 * two things stays.
 */
export function nameWord(word: string, isFirst: boolean): string {
  const known = NAME_WORDS.get(word)
  if (known !== undefined) return known
  if (!SUFFIXES_IN_NAMES.has(word)) return word
  if (isFirst && word === 'dr') return 'doctor'
  // Pt Washington is a port and Pt Pleasant a point.
  if (isFirst && word === 'pt') return word
  return fullOf.get(word) ?? word
}

const LETTERS = /^\D\D+$/

/**
 * Words in one, since `La Salle` is `LaSalle`. Numbers and single letters stay apart: `B Road` is
 * no `Broad`.
 */
export function oneName(words: readonly string[]): string {
  let name = ''
  words.forEach((word, i) => {
    name += i > 0 && !(LETTERS.test(word) && LETTERS.test(wordAt(words, i - 1))) ? ` ${word}` : word
  })
  return name
}

const DIRECTIONS = new Map(
  Object.entries({
    n: 'n',
    north: 'n',
    s: 's',
    south: 's',
    e: 'e',
    east: 'e',
    w: 'w',
    west: 'w',
    ne: 'ne',
    northeast: 'ne',
    nw: 'nw',
    northwest: 'nw',
    se: 'se',
    southeast: 'se',
    sw: 'sw',
    southwest: 'sw',
    no: 'n',
    so: 's',
  }),
)
/** n, s, e, w, ne, nw, se or sw. */
export const direction = (word: string | undefined): string | undefined =>
  word === undefined ? undefined : DIRECTIONS.get(word)
const WORDS_OF_LETTERS = new Map(Object.entries({ n: 'north', s: 'south', e: 'east', w: 'west' }))
/** `west` for `w`. */
export const directionWord = (word: string): string => WORDS_OF_LETTERS.get(word) ?? word

const ONES = (
  'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth ' +
  'thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth'
).split(' ')
const NUMBERS = (
  'one two three four five six seven eight nine ten eleven twelve thirteen fourteen ' +
  'fifteen sixteen seventeen eighteen nineteen twenty'
).split(' ')
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
const ordinals = new Map([
  ...ONES.map((word, i) => [word, i + 1] as const),
  ...TENS.map((word, i) => [`${word.slice(0, -1)}ieth`, (i + 2) * 10] as const),
])
const tens = new Map(TENS.map((word, i) => [word, (i + 2) * 10]))
const numbers = new Map(NUMBERS.map((word, i) => [word, String(i + 1)]))

/** `3` for `third`, `20` for `twentieth`. */
export const ordinalWord = (word: string | undefined): number | undefined =>
  word === undefined ? undefined : ordinals.get(word)
/** `20` for `twenty`, before an ordinal. */
export const tensWord = (word: string): number | undefined => tens.get(word)
/** `4` for `four`, up to twenty. */
export const numberWord = (word: string | undefined): string | undefined =>
  word === undefined ? undefined : numbers.get(word)
/** `four` for `4`, up to twenty. */
export const wordOfNumber = (number: string): string | undefined => NUMBERS[Number(number) - 1]

/**
 * What a unit lies in or is, that its number alone does not say: floor 2, building 2 and apartment
 * 2 are three places.
 */
export type UnitLevel =
  | ''
  | 'bldg'
  | 'twr'
  | 'wing'
  | 'fl'
  | 'dept'
  | 'stop'
  | 'box'
  | 'pmb'
  | 'ph'
  | 'hngr'
  | 'key'
  | 'pier'
  | 'slip'

const DESIGNATORS: ReadonlyMap<string, UnitLevel> = new Map(
  (
    [
      [
        '',
        'apt apts apartment apartments appt apmt aptmt unit units un ste stes suite suites ' +
          'suit rm room lot spc space spce sp trlr trailer ofc office off condo townhouse ' +
          'townhome',
      ],
      ['bldg', 'bldg building bld bdg blg'],
      ['twr', 'twr tower'],
      ['wing', 'wing'],
      ['fl', 'fl floor flr level lvl'],
      ['dept', 'dept department'],
      ['stop', 'stop mailstop ms'],
      ['box', 'box bx'],
      ['pmb', 'pmb'],
      ['ph', 'ph penthouse'],
      ['hngr', 'hngr hangar'],
      ['key', 'key'],
      ['pier', 'pier'],
      ['slip', 'slip'],
    ] as [UnitLevel, string][]
  ).flatMap(([level, words]) => words.split(' ').map((word) => [word, level] as const)),
)
/** The level of a secondary unit designator. */
export const designator = (word: string | undefined): UnitLevel | undefined =>
  word === undefined ? undefined : DESIGNATORS.get(word)
/** Designators that are not word of street names, so that they need no suffix before them. */
export const SURE_DESIGNATORS: ReadonlySet<string> = new Set(
  (
    'apt apartment appt apmt aptmt unit units ste stes suite suites rm room bldg building fl ' +
    'floor flr lot spc space trlr trailer ofc pmb ph penthouse dept hngr hangar'
  ).split(' '),
)

const STANDALONE = new Map(
  Object.entries({
    bsmt: 'bsmt',
    basement: 'bsmt',
    bsmnt: 'bsmt',
    frnt: 'frnt',
    front: 'frnt',
    lbby: 'lbby',
    lobby: 'lbby',
    lowr: 'lowr',
    lower: 'lowr',
    lwr: 'lowr',
    ofc: 'ofc',
    office: 'ofc',
    ph: 'ph',
    penthouse: 'ph',
    rear: 'rear',
    side: 'side',
    uppr: 'uppr',
    upper: 'uppr',
    upr: 'uppr',
    left: 'left',
    right: 'right',
    upstairs: 'upstairs',
    downstairs: 'downstairs',
    attic: 'attic',
    garage: 'garage',
    middle: 'middle',
  }),
)
/** A unit that is told without an identifier: `rear`, `bsmt`. */
export const standalone = (word: string | undefined): string | undefined =>
  word === undefined ? undefined : STANDALONE.get(word)

/**
 * Words of buildings: what bears one is not a business's name that may be dropped, since two of
 * them are two places.
 */
export const BUILDING_WORDS: ReadonlySet<string> = new Set(
  (
    'hall house tower towers building bldg wing dorm dormitory residence residences cottage ' +
    'cabin villa villas lodge manor court plaza center centre mall barn annex apartments ' +
    'apts condos condominiums estates village park terminal hangar camp fort base barracks ' +
    'hospital school quarters warehouse gate dock concourse kiosk booth campus yard'
  ).split(' '),
)
