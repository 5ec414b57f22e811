/**
 * Attributes of items: names as rules call them, whoever's feed or request they come from, and
 * values that can be compared.
 */
export type AttributeValue = string | number | boolean

/**
 * What feeds and shops call an attribute, by its plain name; on the right the name that rules use.
 */
const ALIASES = new Map(
  Object.entries({
    capacity: 'magazine_capacity',
    magazine_size: 'magazine_capacity',
    mag_capacity: 'magazine_capacity',
    rounds_capacity: 'magazine_capacity',
    magazine: 'magazine_description',
    caliber_gauge: 'caliber',
    gauge: 'caliber',
    barrel_length: 'barrel_length_in',
    barrel_length_inches: 'barrel_length_in',
    barrel_length_in_inches: 'barrel_length_in',
    overall_length: 'overall_length_in',
    blade_length: 'blade_length_in',
    muzzle_velocity: 'airgun_velocity_fps',
    muzzle_velocity_fps: 'airgun_velocity_fps',
    velocity_fps: 'airgun_velocity_fps',
    feet_per_second: 'airgun_velocity_fps',
    gun_type: 'firearm_type',
    type: 'firearm_type',
    type_operation: 'action',
    type_action_function: 'action',
    action_type: 'action',
    ammo_type: 'ammo_kind',
    opening: 'knife_opening',
    open_type: 'knife_opening',
    hazardous: 'hazmat',
    hazardous_air: 'hazmat',
    hazardous_ground: 'hazmat',
    armor_rating: 'armor_level',
    nfa_type: 'nfa_kind',
    atf_type: 'atf_type',
  }),
)

/** What feeds and shops call a value, by its words; on the left the value that rules use. */
const VALUES = new Map(
  Object.entries({
    bolt: 'bolt action',
    lever: 'lever action',
    pump: 'pump action,slide action',
    'single shot': 'singleshot,falling block,rolling block,single shot falling block',
    break: 'break action,break open,break barrel,over under,over and under,side by side,sxs',
    'semi-auto': 'semi auto,semi automatic,semiauto,semiautomatic,autoloader,autoloading',
    handgun: 'handguns,pistol,pistols,semi auto pistol,semi automatic pistol,handgun ammunition',
    revolver: 'revolvers',
    derringer: 'derringers',
    rifle:
      'rifles,semi auto rifle,bolt action rifle,lever action rifle,rimfire rifle,rifle ammunition',
    shotgun: 'shotguns,shotshell,shotshells,shotgun shells,shotshell ammunition',
    '22 lr': '22lr,22 long rifle',
    '22 wmr': '22wmr,22 mag,22 magnum,22m,22 win mag',
    '22 short': '22 short',
    '22': '22 cal,22 caliber',
    '.177': '177,177 cal,177 caliber,177 bb,bb,4 5mm,4 5 mm',
    '50 bmg':
      '50bmg,50 browning,50 browning machine gun,50 cal bmg,50 caliber bmg,12 7x99,12 ' +
      '7x99mm,12 7x99 mm,12 7x99mm nato,12 7x99 nato',
    ...Object.fromEntries(
      [10, 12, 16, 20, 28].map((gauge) => [`${gauge} gauge`, `${gauge} ga,${gauge}ga,${gauge}g`]),
    ),
    '410 bore': '410,410 ga,410ga,410 gauge,410 bore',
    suppressor: 'suppressors,silencer,silencers',
    automatic: 'auto,switchblade,otf,out the front,otf automatic,automatic otf',
    assisted: 'assisted opening,spring assisted,assist',
    manual: 'manual opening,flipper,thumb stud,nail nick',
    fixed: 'fixed blade',
  }).flatMap(([value, words]) =>
    [value.replaceAll(/[^a-z0-9]+/g, ' ').trim(), ...words.split(',')].map((word) => [word, value]),
  ),
)

/** `Barrel Length (in)` -> `barrel_length_in`, by way of the names that feeds use. */
export function attributeName(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
  return ALIASES.get(plain) ?? plain
}

/**
 * A value as text to compare: case and outer blanks aside, numbers, truth and common words alike
 * however they are written.
 */
export function plainValue(value: AttributeValue): string {
  const text = String(value).trim().toLowerCase()
  if (text === 'yes' || text === 'y') return 'true'
  if (text === 'no' || text === 'n') return 'false'
  return (
    VALUES.get(text.replaceAll(/[^a-z0-9]+/g, ' ').trim()) ??
    (/^[+-]?\d+(\.\d+)?$/.test(text) ? String(Number(text)) : text)
  )
}

/** Nobody writes a longer number. */
const LONGEST_NUMBER = 40
/** What one unit is of the unit that an attribute's name ends in. */
const UNITS: Record<string, Record<string, number>> = {
  in: {
    '': 1,
    '"': 1,
    '”': 1,
    "''": 1,
    in: 1,
    inch: 1,
    inches: 1,
    mm: 1 / 25.4,
    cm: 1 / 2.54,
    ft: 12,
  },
  fps: { '': 1, fps: 1, 'ft/s': 1, 'm/s': 3.28084 },
  oz: { '': 1, oz: 1, lb: 16, lbs: 16 },
}
const COUNTED: Record<string, number> = Object.fromEntries(
  ['', 'rd', 'rds', 'round', 'rounds', 'shot', 'shots', 'rd mag', 'round magazine'].map((unit) => [
    unit,
    1,
  ]),
)
/** Of an attribute that names no unit, whatever the rule means is meant. */
const ANY: Record<string, number> = {
  ...COUNTED,
  ...Object.fromEntries(
    ['"', '”', "''", 'in', 'inch', 'inches', 'mm', 'cal', 'fps', 'oz', 'lb', 'lbs'].map((unit) => [
      unit,
      1,
    ]),
  ),
}

function unitsOf(name: string): Record<string, number> {
  if (name === 'magazine_capacity' || name === 'rounds') return COUNTED
  return UNITS[name.slice(name.lastIndexOf('_') + 1)] ?? ANY
}

/**
 * The one number that a value holds, in the unit that the attribute's name ends in; a round in the
 * chamber (`10+1`) aside. Null for none, for several (`10/30`), for a negative one, and for a unit
 * that is not the attribute's.
 */
export function numberOf(value: AttributeValue, name = ''): number | null {
  if (typeof value === 'boolean') return null
  if (typeof value === 'number') return value >= 0 ? value : null
  const text = value.trim().toLowerCase()
  if (text.length > LONGEST_NUMBER) return null
  const match = /^\+?(\d{1,3}(?:,\d{3})+|\d+)?(\.\d+)?(?: ?\+ ?1)? ?([^\d ].*)?$/.exec(text)
  if (!match || (match[1] === undefined && match[2] === undefined)) return null
  const unit = (match[3] ?? '').replace(/\.$/, '')
  const units = unitsOf(name)
  const factor = Object.hasOwn(units, unit) ? units[unit] : undefined
  return factor === undefined
    ? null
    : Number(`${(match[1] ?? '0').replaceAll(',', '')}${match[2] ?? ''}`) * factor
}

/** What feeds and shops write where they know nothing. */
const NOTHING = new Set([
  'n a',
  'na',
  'unknown',
  'unk',
  'tbd',
  'not applicable',
  'not available',
  'unspecified',
  'undefined',
  'null',
  'varies',
  'various',
  'see description',
  '',
])

/** Whether a value tells nothing at all. */
export function isNoFact(value: AttributeValue | null | undefined): boolean {
  return (
    value === null ||
    value === undefined ||
    (typeof value === 'string' && NOTHING.has(words(value)))
  )
}

/** The words of a text, without what stands between them. */
export const words = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, ' ')
    .trim()
