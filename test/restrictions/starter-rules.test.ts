/**
 * The starter rules, case by case: what goes where, what does not, and what a person has to look
 * at.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { judge } from '../../lib/restrictions/check.js'
import { indexRules } from '../../lib/restrictions/rules/compile.js'
import { placeOf } from '../../lib/restrictions/destination.js'
import type { Address } from '../../lib/restrictions/destination.js'
import { itemFacts } from '../../lib/restrictions/item-facts.js'
import { readRules } from '../../lib/restrictions/rules/read-file.js'
import { CheckItem } from '../../lib/restrictions/shapes.js'
import { starterRules } from '../../lib/restrictions/rules/starter.js'

const TODAY = '2026-11-21'
const FILES = ['ammunition', 'distributors', 'firearms', 'magazines', 'nfa', 'others']
const { rules, date } = starterRules()
const active = { digest: 'starter', index: indexRules(rules) }

type Facts = Record<string, string | number | boolean | string[]>
type Item = readonly [productClass: string, attributes?: Facts]
interface When {
  to?: 'consumer' | 'ffl'
  day?: string
}

const known: Record<string, Address> = {
  Chicago: { state: 'IL', city: 'Chicago', zip: '60601' },
  Cicero: { state: 'IL', city: 'Cicero', county: 'Cook', zip: '60804' },
  Aurora: { state: 'IL', city: 'Aurora', zip: '60505' },
  'New York City': { state: 'NY', city: 'Brooklyn', zip: '11201' },
  Denver: { state: 'CO', city: 'Denver', zip: '80202' },
  Boulder: { state: 'CO', city: 'Boulder', zip: '80302' },
  Columbus: { state: 'OH', city: 'Columbus', zip: '43215' },
  Philadelphia: { state: 'PA', city: 'Philadelphia', zip: '19103' },
  'a PO box in Texas': { state: 'TX', city: 'Austin', zip: '78701', lines: ['PO Box 12'] },
  'an APO address': { state: 'AE', city: 'APO', zip: '09012' },
  'Puerto Rico': { state: 'PR', city: 'San Juan', zip: '00901' },
  Guam: { state: 'GU', city: 'Hagatna', zip: '96910' },
  'the Virgin Islands': { state: 'VI', city: 'Charlotte Amalie', zip: '00802' },
}

/** A city of each state, and of the district, that has no law of its own in the set. */
const CITIES: Record<string, string> = Object.fromEntries(
  `
AL Montgomery 36104|AK Juneau 99801|AZ Phoenix 85007|AR Little Rock 72201|CA Sacramento 95814
CO Grand Junction 81501|CT Hartford 06103|DE Dover 19901|DC Washington 20001
FL Tallahassee 32301|GA Atlanta 30303|HI Hilo 96720|ID Boise 83702|IL Springfield 62701
IN Indianapolis 46204|IA Des Moines 50309|KS Topeka 66603|KY Frankfort 40601
LA Baton Rouge 70802|ME Augusta 04330|MD Annapolis 21401|MA Boston 02108|MI Lansing 48933
MN Saint Paul 55102|MS Jackson 39201|MO Jefferson City 65101|MT Helena 59601
NE Lincoln 68502|NV Carson City 89701|NH Concord 03301|NJ Trenton 08608|NM Santa Fe 87501
NY Albany 12207|NC Raleigh 27601|ND Bismarck 58501|OH Toledo 43604
OK Oklahoma City 73102|OR Salem 97301|PA Harrisburg 17101|RI Providence 02903|SC Columbia 29201
SD Pierre 57501|TN Nashville 37219|TX Austin 78701|UT Salt Lake City 84111
VT Montpelier 05602|VA Richmond 23219|WA Olympia 98501|WV Charleston 25301|WI Madison 53703|WY Cheyenne 82001`
    .trim()
    .split(/[|\n]/)
    .map((line) => [line.slice(0, 2), line.slice(3)]),
)
for (const [state, text] of Object.entries(CITIES))
  known[state] = { state, city: text.slice(0, -6), zip: text.slice(-5) }
const STATES = Object.keys(CITIES)

function check(
  [productClass, attributes = {}]: Item,
  where: Address,
  { to, day = TODAY }: When = {},
) {
  const item = CheckItem.parse({ product_class: productClass, attributes })
  return judge(
    { active, overrides: [] },
    itemFacts(item, { snapshot: null, readAttributes: () => null }, to),
    { place: placeOf(where), day },
    item,
  )
}
type Result = ReturnType<typeof check>

const ids = (matched: readonly { rule_id: string }[]) => matched.map(({ rule_id: id }) => id).sort()
/** Rules that applied for certain in some case. */
const hits = new Set<string>()

/**
 * `BLOCK id…` names all rules that block, `REVIEW id…` all that ask for a person where none blocks,
 * `OK id…` all warnings of an item that is approved.
 */
function expectVerdict(result: Result, verdict: string): void {
  const [kind, ...wanted] = verdict.split(/\s+/)
  const found =
    kind === 'BLOCK'
      ? result.blocking_rules
      : kind === 'REVIEW'
        ? result.manual_review
        : result.warnings
  const told = JSON.stringify(
    [...result.blocking_rules, ...result.manual_review].map(
      ({ rule_id: id, reason }) => `${id}: ${reason}`,
    ),
    null,
    1,
  )
  assert.deepEqual(ids(found), wanted.sort(), told)
  if (kind !== 'BLOCK') assert.deepEqual(ids(result.blocking_rules), [], told)
  assert.equal(result.approved, kind === 'OK', told)
  for (const matched of [...result.blocking_rules, ...result.manual_review, ...result.warnings])
    if (matched.missing.length === 0) hits.add(matched.rule_id)
}

type Case = readonly [says: string, item: Item, where: string, verdict: string, when?: When]

const cases: Case[] = []
function holds(title: string, table: readonly Case[]): void {
  cases.push(...table)
  describe(title, () => {
    for (const [says, item, where, verdict, when] of table)
      test(`${says}, to ${where}: ${verdict}`, () =>
        expectVerdict(check(item, known[where]!, when), verdict))
  })
}

// Items
// ---------------------------------------------------------------------------------------------------------------

const magazine = (rounds: number | string, more: Facts = { caliber: '9mm Luger' }): Item => [
  'MG',
  { Capacity: rounds, ...more },
]
const gun = (
  type: string,
  action: string,
  rounds: number,
  caliber: string,
  more: Facts = {},
): Item => [
  'FA',
  { 'Gun Type': type, Action: action, Capacity: rounds, 'Caliber/Gauge': caliber, ...more },
]
const pistol = (rounds: number, more: Facts = {}) =>
  gun('Semi-Auto Pistol', 'Striker Fired', rounds, '9mm Luger', {
    'Barrel Length': '4.1"',
    ...more,
  })
const sportingRifle = (rounds: number, more: Facts = {}) =>
  gun('Rifle', 'Semi-Auto', rounds, '5.56 NATO', more)
const boltRifle = (rounds: number, more: Facts = {}) =>
  gun('Rifle', 'Bolt Action', rounds, '308 Winchester', more)
const leverRifle = (rounds: number, caliber = '357 Magnum') =>
  gun('Rifle', 'Lever Action', rounds, caliber)
const revolver = (rounds: number, more: Facts = {}) =>
  gun('Revolver', 'Double Action', rounds, '357 Magnum', { 'Barrel Length': 4, ...more })
const pump = (shells: number) => gun('Shotgun', 'Pump Action', shells, '12 Gauge')
const ammunition = (kind: string, more: Facts = {}): Item => ['AO', { 'Ammo Type': kind, ...more }]
const knife = (opening: string, blade = 3): Item => [
  'KN',
  { 'Open Type': opening, 'Blade Length': blade },
]
const airGun = (fps: number | string, caliber: string): Item => [
  'AG',
  { 'Muzzle Velocity (fps)': fps, caliber },
]

/** Cleared of the features that feeds do not tell. */
const CLEAR = { restricted_features: 'none', gas_operated: false }

// Magazines
// -----------------------------------------------------------------------------------------------------------

const LIMITS: [state: string, rounds: number][] = [
  ['CA', 10],
  ['CO', 15],
  ['CT', 10],
  ['DE', 17],
  ['MD', 10],
  ['MA', 10],
  ['NJ', 10],
  ['NY', 10],
  ['RI', 10],
  ['WA', 10],
]
holds(
  'a magazine at the limit of its state is sold, one above it is not',
  LIMITS.flatMap(([state, most]): Case[] => {
    const id = `us-${state.toLowerCase()}-magazine-${most}`
    return [
      [`a magazine of ${most}`, magazine(most), state, 'OK'],
      [`a magazine of ${most + 1}`, magazine(most + 1), state, `BLOCK ${id}`],
      [`a magazine of ${most + 1} rd`, magazine(`${most + 1} rd`), state, `BLOCK ${id}`],
      [
        'a magazine that does not say what it holds',
        ['MG', { caliber: '9mm Luger' }],
        state,
        `REVIEW ${id}`,
      ],
      ['a magazine of 10/30', magazine('10/30'), state, `REVIEW ${id}`],
    ]
  }),
)
holds(
  'a firearm with a magazine above the limit in its box is not sold',
  LIMITS.flatMap(([state, most]): Case[] => [
    [
      `a pistol with ${most + 1}`,
      pistol(most + 1),
      state,
      `BLOCK us-${state.toLowerCase()}-firearm-magazine-${most}`,
    ],
    [
      `a semi-automatic rifle with ${most + 1}`,
      sportingRifle(most + 1),
      state,
      `BLOCK us-${state.toLowerCase()}-firearm-magazine-${most}`,
    ],
  ]),
)
holds('hand-operated firearms meet the same limit, but for what the law exempts', [
  ...LIMITS.map(([state, most]): Case => [
    `a bolt action rifle with ${most}`,
    boltRifle(most),
    state,
    'OK',
  ]),
  ...LIMITS.filter(([state]) => state !== 'NJ' && state !== 'RI').map(([state, most]): Case => [
    `a bolt action rifle with ${most + 1}`,
    boltRifle(most + 1),
    state,
    `BLOCK us-${state.toLowerCase()}-firearm-magazine-${most}`,
  ]),
  ['a bolt action rifle with 11', boltRifle(11), 'NJ', 'REVIEW us-nj-firearm-magazine-10-manual'],
  [
    'a pump action rifle with 11',
    gun('Rifle', 'pump', 11, '223 Remington'),
    'RI',
    'REVIEW us-ri-firearm-magazine-10-manual',
  ],
  ...['CA', 'CT', 'MD', 'WA'].map((state): Case => [
    `a lever action with 11`,
    leverRifle(11),
    state,
    `REVIEW us-${state.toLowerCase()}-firearm-magazine-10-lever`,
  ]),
  ['a lever action with 16', leverRifle(16), 'CO', 'REVIEW us-co-firearm-magazine-15-lever'],
  ['a lever action with 10', leverRifle(10), 'CA', 'OK'],
  ['a lever action with 11', leverRifle(11), 'NY', 'BLOCK us-ny-firearm-magazine-10'],
  ['a lever action with 11', leverRifle(11), 'MA', 'BLOCK us-ma-firearm-magazine-10'],
  ...LIMITS.map(([state, most]): Case => [
    `a .22 bolt action with ${most + 3}`,
    gun('Rifle', 'Bolt Action', most + 3, '.22LR'),
    state,
    'REVIEW ' +
      `us-${state.toLowerCase()}-firearm-magazine-${most}-22` +
      (state === 'NJ' || state === 'RI'
        ? ` us-${state.toLowerCase()}-firearm-magazine-10-manual`
        : ''),
  ]),
  [
    'a .22 lever action with 15',
    leverRifle(15, '22 LR'),
    'CA',
    'REVIEW us-ca-firearm-magazine-10-22 us-ca-firearm-magazine-10-lever',
  ],
])
holds(
  'Illinois and Vermont allow 10 rounds for long guns and 15 for handguns',
  ['IL', 'VT'].flatMap((state): Case[] => {
    const id = (rest: string) => `us-${state.toLowerCase()}-${rest}`
    return [
      ['a magazine of 10', magazine(10), state, 'OK'],
      [
        'a magazine of 11 for an unknown firearm',
        magazine(11),
        state,
        `REVIEW ${id('magazine-10-review')}`,
      ],
      [
        'a magazine of 15 for an unknown firearm',
        magazine(15),
        state,
        `REVIEW ${id('magazine-10-review')}`,
      ],
      [
        'a magazine of 16 for an unknown firearm',
        magazine(16),
        state,
        `BLOCK ${id('magazine-15')}`,
      ],
      ['a pistol magazine of 15', magazine(15, { firearm_type: 'Pistol' }), state, 'OK'],
      [
        'a pistol magazine of 16',
        magazine(16, { firearm_type: 'Pistol' }),
        state,
        `BLOCK ${id('magazine-15')}`,
      ],
      ['a rifle magazine of 10', magazine(10, { firearm_type: 'Rifle' }), state, 'OK'],
      [
        'a rifle magazine of 11',
        magazine(11, { firearm_type: 'Rifle' }),
        state,
        `BLOCK ${id('magazine-10-long-gun')}`,
      ],
      [
        'a magazine that does not say what it holds',
        ['MG', { firearm_type: 'Pistol' }],
        state,
        `REVIEW ${id('magazine-15')}`,
      ],
      ['a bolt action rifle with 10', boltRifle(10), state, 'OK'],
      [
        'a semi-automatic rifle with 11',
        sportingRifle(11),
        state,
        `BLOCK ${id('firearm-magazine-10-long-gun')}`,
      ],
      [
        'a semi-automatic rifle with 30',
        sportingRifle(30),
        state,
        `BLOCK ${id('firearm-magazine-10-long-gun')} ${id('firearm-magazine-15')}`,
      ],
      ['a pistol with 16', pistol(16), state, `BLOCK ${id('firearm-magazine-15')}`],
      [
        'a lever action with 11',
        leverRifle(11),
        state,
        `REVIEW ${id('firearm-magazine-10-review')}`,
      ],
      ['a revolver with 8', revolver(8), state, 'OK'],
      [
        'a .22 lever action with 17',
        leverRifle(17, '22 LR'),
        state,
        `REVIEW ${id('firearm-magazine-10-review')} ${id('firearm-magazine-15-22')}`,
      ],
    ]
  }),
)
holds('Vermont and Illinois differ in what they ask of other firearms', [
  ['a pistol with 15', pistol(15), 'VT', 'OK'],
  ['a bolt action rifle with 11', boltRifle(11), 'VT', 'REVIEW us-vt-firearm-magazine-10-review'],
  ['a bolt action rifle with 11', boltRifle(11), 'IL', 'BLOCK us-il-firearm-magazine-10-long-gun'],
  ['a pistol with 15', pistol(15), 'IL', 'REVIEW us-il-assault-weapon'],
])
holds('Hawaii limits what can be used in a pistol', [
  ['a magazine of 10', magazine(10), 'HI', 'OK'],
  ['a magazine of 11', magazine(11), 'HI', 'REVIEW us-hi-magazine-10-review'],
  [
    'a pistol magazine of 11',
    magazine(11, { firearm_type: 'pistol' }),
    'HI',
    'BLOCK us-hi-magazine-10-handgun',
  ],
  [
    'a rifle magazine of 30',
    magazine(30, { firearm_type: 'rifle' }),
    'HI',
    'REVIEW us-hi-magazine-10-review',
  ],
  ['a pistol with 17', pistol(17), 'HI', 'BLOCK us-hi-firearm-magazine-10-handgun'],
  ['a bolt action rifle with 11', boltRifle(11), 'HI', 'REVIEW us-hi-firearm-magazine-10-review'],
  ['a bolt action rifle with 10', boltRifle(10), 'HI', 'OK'],
])
holds('shotgun shells are counted where the law counts them', [
  ['a shotgun magazine of 8', magazine(8, { caliber: '12 Gauge' }), 'CO', 'OK'],
  [
    'a shotgun magazine of 9',
    magazine(9, { caliber: '12 ga.', firearm_type: 'Shotgun' }),
    'CO',
    'REVIEW us-co-magazine-8-shells',
  ],
  ['a magazine of 9 that tells no gauge', magazine(9, {}), 'CO', 'REVIEW us-co-magazine-8-shells'],
  ['a pump shotgun with 8', pump(8), 'CO', 'OK'],
  ['a pump shotgun with 9', pump(9), 'CO', 'REVIEW us-co-shotgun-8-shells'],
  ['a shotgun magazine of 5', magazine(5, { caliber: '20ga' }), 'MA', 'OK'],
  [
    'a shotgun magazine of 6',
    magazine(6, { caliber: '20ga', firearm_type: 'shotgun' }),
    'MA',
    'REVIEW us-ma-magazine-5-shells',
  ],
  ['a pump shotgun with 5', pump(5), 'MA', 'OK'],
  ['a pump shotgun with 6', pump(6), 'MA', 'REVIEW us-ma-shotgun-5-shells'],
])
holds('law that is struck or enjoined is for a person to look at', [
  ['a magazine of 10', magazine(10), 'DC', 'OK'],
  ['a magazine of 11', magazine(11), 'DC', 'REVIEW us-dc-magazine-10'],
  ['a magazine of 10', magazine(10), 'OR', 'OK'],
  ['a magazine of 30', magazine(30), 'OR', 'REVIEW us-or-magazine-10'],
  ['a magazine of 15', magazine(15), 'VA', 'OK'],
  ['a magazine of 16', magazine(16), 'VA', 'REVIEW us-va-magazine-15'],
  ['a magazine of 16', magazine(16), 'VA', 'OK', { day: '2026-06-30' }],
  ['a semi-automatic rifle with 15', sportingRifle(15), 'VA', 'REVIEW us-va-assault-firearm'],
  ['a semi-automatic rifle with 15', sportingRifle(15), 'VA', 'OK', { day: '2026-06-30' }],
])
holds('cities and counties have limits of their own', [
  [
    'a pistol magazine of 11',
    magazine(11, { firearm_type: 'handgun' }),
    'Cicero',
    'REVIEW us-il-cook-county-magazine-10',
  ],
  ['a pistol magazine of 10', magazine(10, { firearm_type: 'handgun' }), 'Cicero', 'OK'],
  [
    'a pistol magazine of 11',
    magazine(11, { firearm_type: 'handgun' }),
    'Chicago',
    'REVIEW us-il-chicago-magazine-10 us-il-cook-county-magazine-10',
  ],
  [
    'a pistol magazine of 11',
    magazine(11, { firearm_type: 'handgun' }),
    'Aurora',
    'REVIEW us-il-local-magazine-10',
  ],
  [
    'a rifle magazine of 6',
    magazine(6, { firearm_type: 'rifle' }),
    'New York City',
    'REVIEW us-ny-new-york-city-magazine-5',
  ],
  ['a rifle magazine of 5', magazine(5, { firearm_type: 'rifle' }), 'New York City', 'OK'],
  ['a pistol magazine of 10', magazine(10, { firearm_type: 'pistol' }), 'New York City', 'OK'],
  ['a magazine of 16', magazine(16), 'Denver', 'BLOCK us-co-magazine-15'],
  ['a bolt action rifle with 16', boltRifle(16), 'Denver', 'BLOCK us-co-firearm-magazine-15'],
  ['a magazine of 11', magazine(11), 'Boulder', 'REVIEW us-co-boulder-magazine-10'],
  ['a magazine of 10', magazine(10), 'Boulder', 'OK'],
  ['a magazine of 29', magazine(29), 'Columbus', 'OK'],
  ['a magazine of 30', magazine(30), 'Columbus', 'REVIEW us-oh-columbus-magazine-30'],
  ['a magazine of 30', magazine(30), 'OH', 'OK'],
])

// Firearms
// ------------------------------------------------------------------------------------------------------------

const FEATURE_LAWS: [state: string, id: string][] = [
  ['CA', 'us-ca-assault-weapon'],
  ['CT', 'us-ct-assault-weapon'],
  ['DE', 'us-de-assault-weapon'],
  ['DC', 'us-dc-assault-weapon'],
  ['IL', 'us-il-assault-weapon'],
  ['MD', 'us-md-assault-weapon'],
  ['MA', 'us-ma-assault-style'],
  ['NJ', 'us-nj-assault-firearm'],
  ['NY', 'us-ny-assault-weapon'],
  ['RI', 'us-ri-assault-weapon'],
  ['VA', 'us-va-assault-firearm'],
  ['WA', 'us-wa-assault-weapon'],
]
holds(
  'a semi-automatic rifle goes to review where features decide, other actions do not',
  FEATURE_LAWS.flatMap(([state, id]): Case[] => [
    ['a semi-automatic rifle of unknown features', sportingRifle(5), state, `REVIEW ${id}`],
    [
      'a semi-automatic rifle with a threaded barrel',
      sportingRifle(5, { restricted_features: 'threaded barrel' }),
      state,
      `REVIEW ${id}`,
    ],
    [
      'a semi-automatic rifle with no such feature',
      sportingRifle(5, CLEAR),
      state,
      `OK${state === 'NY' ? ' us-ny-semi-automatic-rifle-licence' : ''}`,
    ],
    [
      'a rifle whose action is not told',
      ['FA', { 'Gun Type': 'Rifle', Capacity: 5, 'Caliber/Gauge': '243 Winchester' }],
      state,
      `REVIEW ${id}`,
    ],
    ...['Lever Action', 'Pump', 'Single Shot', 'Break Open', 'bolt-action'].map((action): Case => [
      `a rifle of action "${action}"`,
      gun('Rifle', action, 4, '45-70 Government'),
      state,
      'OK',
    ]),
  ]),
)
holds('other laws on firearms', [
  ['a rifle', boltRifle(4), 'TX', 'BLOCK us-firearm-to-dealer-only', { to: 'consumer' }],
  [
    'a suppressor',
    ['SO', { nfa_kind: 'suppressor' }],
    'TX',
    'BLOCK us-firearm-to-dealer-only',
    { to: 'consumer' },
  ],
  ['a rifle', boltRifle(4), 'TX', 'OK', { to: 'ffl' }],
  ['a semi-automatic pistol', pistol(10), 'HI', 'REVIEW us-hi-assault-pistol'],
  [
    'a semi-automatic pistol with a shroud',
    pistol(10, { restricted_features: ['barrel shroud'] }),
    'HI',
    'REVIEW us-hi-assault-pistol',
  ],
  ['a semi-automatic rifle', sportingRifle(5), 'HI', 'OK'],
  [
    'a semi-automatic rifle',
    sportingRifle(5, { 'Detachable Magazine': 'Y' }),
    'CO',
    'REVIEW us-co-specified-semiautomatic',
  ],
  ['a semi-automatic rifle, before the law', sportingRifle(5), 'CO', 'OK', { day: '2026-07-31' }],
  [
    'a semi-automatic rifle, on its first day',
    sportingRifle(5),
    'CO',
    'REVIEW us-co-specified-semiautomatic',
    { day: '2026-08-01' },
  ],
  ['a semi-automatic .22', gun('Rifle', 'Semi-Auto', 10, '22 LR'), 'CO', 'OK'],
  [
    'a semi-automatic rifle with a fixed magazine',
    sportingRifle(5, { 'Detachable Magazine': 'N' }),
    'CO',
    'OK',
  ],
  ['a semi-automatic pistol', pistol(10), 'CO', 'REVIEW us-co-gas-operated-handgun'],
  [
    'a gas-operated pistol',
    pistol(10, { gas_operated: true }),
    'CO',
    'REVIEW us-co-gas-operated-handgun',
  ],
  ['a recoil-operated pistol', pistol(10, { gas_operated: 'no' }), 'CO', 'OK'],
  ['a semi-automatic rifle, before the law', sportingRifle(10), 'RI', 'OK', { day: '2026-06-30' }],
  ['a semi-automatic rifle, before the law', sportingRifle(10), 'WA', 'OK', { day: '2023-04-24' }],
  [
    'a semi-automatic rifle, on its first day',
    sportingRifle(10),
    'WA',
    'REVIEW us-wa-assault-weapon',
    { day: '2023-04-25' },
  ],
  ['a bolt action .50 BMG', gun('Rifle', 'Bolt Action', 1, '.50 BMG'), 'CA', 'REVIEW us-ca-50-bmg'],
  ['a bolt action 50BMG', gun('Rifle', 'Bolt Action', 1, '50BMG'), 'DC', 'REVIEW us-dc-50-bmg'],
  ['a bolt action .50 BMG', gun('Rifle', 'Bolt Action', 1, '50 BMG'), 'IL', 'REVIEW us-il-50-bmg'],
  ['a bolt action .50 BMG', gun('Rifle', 'Bolt Action', 1, '50 BMG'), 'TX', 'OK'],
  [
    'a bolt action rifle of unknown caliber',
    ['FA', { firearm_type: 'rifle', action: 'bolt', capacity: 4 }],
    'CA',
    'REVIEW us-ca-50-bmg',
  ],
  ['a stripped receiver', ['FA', { Action: 'Receiver' }], 'TX', 'OK'],
])
holds('a handgun goes to review where the state has a list of them', [
  ['a revolver', revolver(6), 'CA', 'REVIEW us-ca-handgun-roster'],
  ['a revolver that is on the list', revolver(6, { roster: ['CA', 'MD'] }), 'CA', 'OK'],
  [
    'a revolver that is on another list',
    revolver(6, { roster: 'MD' }),
    'CA',
    'REVIEW us-ca-handgun-roster',
  ],
  [
    'a pistol that is on the list',
    pistol(10, { roster: 'CA', ...CLEAR }),
    'CA',
    'REVIEW us-ca-convertible-pistol',
  ],
  [
    'a pistol that can be converted',
    pistol(10, { roster: 'CA', machinegun_convertible: true, ...CLEAR }),
    'CA',
    'REVIEW us-ca-convertible-pistol',
  ],
  [
    'a pistol that cannot be converted',
    pistol(10, { roster: 'CA', machinegun_convertible: false, ...CLEAR }),
    'CA',
    'OK',
  ],
  [
    'a pistol that is on the list, before that law',
    pistol(10, { roster: 'CA', ...CLEAR }),
    'CA',
    'OK',
    { day: '2026-06-30' },
  ],
  ['a revolver', revolver(5), 'MA', 'REVIEW us-ma-handgun-attorney-general us-ma-handgun-roster'],
  [
    'a revolver of unknown standing',
    revolver(5, { roster: 'CA' }),
    'MA',
    'REVIEW us-ma-handgun-attorney-general us-ma-handgun-roster',
  ],
  [
    'a revolver that is on one list',
    revolver(5, { roster: 'MA' }),
    'MA',
    'REVIEW us-ma-handgun-attorney-general',
  ],
  ['a revolver that is on both lists', revolver(5, { roster: ['MA', 'MA-AG'] }), 'MA', 'OK'],
  ['a revolver', revolver(6, { roster: 'none' }), 'MD', 'REVIEW us-md-handgun-roster'],
  ['a revolver that is on the list', revolver(6, { roster: 'MD' }), 'MD', 'OK'],
  ['a revolver', revolver(6, { roster: 'none' }), 'DC', 'REVIEW us-dc-handgun-roster'],
  ['a revolver that is on the list', revolver(6, { roster: 'DC' }), 'DC', 'OK'],
  ['a revolver', revolver(6), 'NY', 'OK'],
  [
    'a single shot of unknown type with a barrel of 15',
    [
      'FA',
      { Action: 'Single Shot', Capacity: 1, 'Caliber/Gauge': '223 Remington', 'Barrel Length': 15 },
    ],
    'MD',
    'REVIEW us-md-handgun-roster',
  ],
  [
    'a single shot of unknown type with a barrel of 16',
    [
      'FA',
      {
        Action: 'Single Shot',
        Capacity: 1,
        'Caliber/Gauge': '223 Remington',
        'Barrel Length': '16"',
      },
    ],
    'MD',
    'OK',
  ],
])
holds('words that nobody knows release nothing', [
  [
    'a rifle of action "Blowback"',
    gun('Rifle', 'Blowback', 5, '9mm Luger'),
    'NJ',
    'REVIEW us-nj-assault-firearm',
  ],
  [
    'an "AR Pistol" with 15',
    gun('AR Pistol', 'Semi-Auto', 15, '9mm Luger'),
    'VT',
    'REVIEW us-vt-firearm-magazine-10-review',
  ],
  [
    'a bolt action "PCC" with 4',
    gun('PCC', 'Bolt Action', 4, '9mm Luger', { 'Barrel Length': 8 }),
    'MD',
    'REVIEW us-md-handgun-roster',
  ],
  [
    'a knife of opening "quick"',
    knife('quick'),
    'NY',
    'REVIEW us-ballistic-knife us-ny-knife us-switchblade-interstate',
  ],
  [
    'ammunition of kind "Centerfire"',
    ammunition('Centerfire', { firearm_type: 'any' }),
    'NJ',
    'REVIEW us-nj-handgun-ammunition',
  ],
  [
    'an NFA item of kind "Can"',
    ['SO', { nfa_kind: 'Can', firearm_type: 'other' }],
    'TX',
    'REVIEW us-nfa-other',
  ],
])
holds('cities and counties have laws on firearms of their own', [
  [
    'a semi-automatic rifle with a pistol grip',
    sportingRifle(5, { restricted_features: 'pistol grip' }),
    'Cicero',
    'REVIEW us-il-assault-weapon us-il-cook-county-assault-weapon',
  ],
  [
    'a semi-automatic rifle with a pistol grip',
    sportingRifle(5, { restricted_features: 'pistol grip' }),
    'Chicago',
    'REVIEW us-il-assault-weapon us-il-chicago-assault-weapon us-il-cook-county-assault-weapon',
  ],
  [
    'a semi-automatic rifle with a pistol grip',
    sportingRifle(5, { restricted_features: 'pistol grip' }),
    'New York City',
    'REVIEW us-ny-assault-weapon us-ny-new-york-city-assault-weapon',
  ],
  [
    'a semi-automatic .22 with a pistol grip',
    gun('Rifle', 'Semi-Auto', 10, '22 LR', { restricted_features: 'pistol grip' }),
    'Denver',
    'REVIEW us-co-denver-assault-weapon',
  ],
  [
    'a semi-automatic .22 with a pistol grip',
    gun('Rifle', 'Semi-Auto', 10, '22 LR', { restricted_features: 'pistol grip' }),
    'Boulder',
    'REVIEW us-co-boulder-assault-weapon',
  ],
  [
    'a .22 with 16, as a repeater by hand',
    gun('Rifle', 'Bolt Action', 16, '22 LR'),
    'Denver',
    'REVIEW us-co-denver-magazine-15 us-co-firearm-magazine-15-22',
  ],
  ['a bolt action rifle', boltRifle(5), 'New York City', 'OK'],
  ['a bolt action rifle', boltRifle(5), 'Chicago', 'OK'],
  ['a bolt action rifle', boltRifle(5), 'Denver', 'OK'],
  ['a bolt action rifle', boltRifle(5), 'Puerto Rico', 'REVIEW us-territory-military-weapons'],
  ['a magazine of 10', magazine(10), 'an APO address', 'REVIEW us-territory-military-weapons'],
])

// NFA
// -----------------------------------------------------------------------------------------------------------------

const NO_SUPPRESSORS = ['CA', 'DC', 'DE', 'HI', 'IL', 'MA', 'NJ', 'NY', 'RI']
holds('a suppressor goes to the states that allow it', [
  ...STATES.map((state): Case => [
    'a suppressor',
    ['SO', { nfa_kind: 'Suppressor' }],
    state,
    NO_SUPPRESSORS.includes(state)
      ? `BLOCK us-${state.toLowerCase()}-suppressor`
      : 'OK us-nfa-transfer',
  ]),
  ['a silencer, by its feed', ['SO', { Type: 'Silencer' }], 'TX', 'OK us-nfa-transfer'],
  ['a silencer, by its feed', ['SO', { Type: 'Silencer' }], 'CA', 'REVIEW us-ca-suppressor'],
  ['an item that does not say what it is', ['SO'], 'TX', 'REVIEW us-nfa-other'],
  ['an item that does not say what it is', ['SO'], 'NY', 'REVIEW us-nfa-other us-ny-suppressor'],
  [
    'a short-barreled rifle',
    ['SO', { nfa_kind: 'SBR', firearm_type: 'rifle' }],
    'TX',
    'REVIEW us-nfa-other',
  ],
  [
    'a machine gun',
    ['SO', { nfa_kind: 'machine gun', firearm_type: 'rifle' }],
    'CA',
    'REVIEW us-nfa-other',
  ],
])

// Ammunition
// ----------------------------------------------------------------------------------------------------------

const AGE = 'us-age-ammunition'
const AGES = 'us-age-ammunition us-age-handgun-ammunition'
holds('ammunition', [
  ['rifle ammunition', ammunition('Rifle'), 'TX', `OK ${AGE}`],
  ['shotshells', ['AO', { Type: 'Shotshell Ammunition' }], 'TX', `OK ${AGE}`],
  ['handgun ammunition', ammunition('Handgun', { Type: 'Handgun Ammunition' }), 'TX', `OK ${AGES}`],
  ['ammunition that does not say what it is', ['AO'], 'TX', `OK ${AGES}`],
  ['rifle ammunition', ammunition('Rifle'), 'CA', 'BLOCK us-ca-ammunition'],
  ['rifle ammunition, to a vendor', ammunition('Rifle'), 'CA', 'OK', { to: 'ffl' }],
  ['rifle ammunition, in 2017', ammunition('Rifle'), 'CA', `OK ${AGE}`, { day: '2017-12-31' }],
  ['shotshells', ammunition('Shotshell'), 'NY', 'BLOCK us-ny-ammunition'],
  ['shotshells, to a seller', ammunition('Shotshell'), 'NY', 'OK', { to: 'ffl' }],
  [
    'shotshells, to a seller',
    ammunition('Shotshell'),
    'New York City',
    'REVIEW us-ny-new-york-city-ammunition',
    { to: 'ffl' },
  ],
  ['rifle ammunition', ammunition('Rifle'), 'CT', 'REVIEW us-ct-ammunition'],
  ['rifle ammunition', ammunition('Rifle'), 'IL', 'REVIEW us-il-ammunition'],
  [
    'rifle ammunition',
    ammunition('Rifle'),
    'Chicago',
    'REVIEW us-il-ammunition us-il-chicago-area-ammunition',
  ],
  ['rifle ammunition', ammunition('Rifle'), 'MA', 'REVIEW us-ma-ammunition'],
  ['rifle ammunition', ammunition('Rifle'), 'NJ', `OK ${AGE}`],
  [
    'handgun ammunition',
    ammunition('Handgun', { firearm_type: 'handgun' }),
    'NJ',
    'REVIEW us-nj-handgun-ammunition',
  ],
  ['ammunition that does not say what it is', ['AO'], 'NJ', 'REVIEW us-nj-handgun-ammunition'],
  [
    'hollow points for rifles',
    ammunition('Rifle', { hollow_point: true }),
    'NJ',
    'REVIEW us-nj-hollow-point',
  ],
  ['rifle ammunition', ammunition('Rifle'), 'DC', 'REVIEW us-dc-ammunition'],
  ['rifle ammunition', ammunition('Rifle'), 'AK', 'BLOCK us-ak-ammunition'],
  ['rifle ammunition', ammunition('Rifle'), 'HI', 'BLOCK us-hi-ammunition'],
  [
    'rifle ammunition, to a dealer',
    ammunition('Rifle'),
    'AK',
    'REVIEW us-ak-hi-ammunition-dealer',
    { to: 'ffl' },
  ],
  ['rifle ammunition', ammunition('Rifle'), 'a PO box in Texas', 'BLOCK us-po-box-ammunition'],
  ['rifle ammunition', ammunition('Rifle'), 'an APO address', 'BLOCK us-military-ammunition'],
  ['rifle ammunition', ammunition('Rifle'), 'Puerto Rico', 'BLOCK us-territory-ammunition'],
  [
    'armor-piercing ammunition',
    ammunition('Handgun', { armor_piercing: 'Yes' }),
    'TX',
    'BLOCK us-armor-piercing-ammunition',
  ],
  [
    'ammunition that pierces nothing',
    ammunition('Rifle', { armor_piercing: 'No' }),
    'TX',
    `OK ${AGE}`,
  ],
])

// Knives, air guns, armor, parts, hazmat
// --------------------------------------------------------------------------------

holds('knives', [
  ['an automatic knife', knife('Automatic'), 'TX', 'BLOCK us-switchblade-interstate'],
  ['an OTF knife', knife('Out-the-Front'), 'AZ', 'BLOCK us-switchblade-interstate'],
  ['an assisted knife', knife('Assisted Opening'), 'TX', 'OK'],
  ['a knife that does not say how it opens', ['KN'], 'TX', 'OK'],
  ['a ballistic knife', knife('ballistic'), 'TX', 'REVIEW us-ballistic-knife'],
  ...['CA', 'DC', 'HI', 'MN', 'NJ', 'NM', 'NY', 'WA'].flatMap((state): Case[] => [
    ['a gravity knife', knife('gravity'), state, `REVIEW us-${state.toLowerCase()}-knife`],
    ['an automatic knife', knife('automatic'), state, 'BLOCK us-switchblade-interstate'],
    [
      'a knife that does not say how it opens',
      ['KN'],
      state,
      `REVIEW us-${state.toLowerCase()}-knife`,
    ],
    ['a fixed blade', ['KN', { opening: 'Fixed Blade' }], state, 'OK'],
    ['a folder that opens by hand', knife('manual'), state, 'OK'],
  ]),
  ['a gravity knife with a blade of 1.9', knife('gravity', 1.9), 'CA', 'OK'],
  ['a gravity knife with a blade of 2', knife('gravity', 2), 'CA', 'REVIEW us-ca-knife'],
])
holds('air guns', [
  ['an air rifle', airGun('1200 fps', '.177'), 'TX', 'OK'],
  ['an air pistol', airGun(410, '.177'), 'NJ', 'REVIEW us-nj-air-gun'],
  ['an air rifle of 699 fps', airGun(699, '.177'), 'IL', 'OK'],
  ['an air rifle of 700 fps', airGun(700, '.177'), 'IL', 'REVIEW us-il-air-gun-700'],
  ['an air rifle of unknown velocity', ['AG', { caliber: 'BB' }], 'IL', 'REVIEW us-il-air-gun-700'],
  ['a .22 of 600 fps', airGun(600, '.22'), 'IL', 'REVIEW us-il-air-gun-caliber'],
  ['a BB pistol', airGun(350, 'BB'), 'Chicago', 'REVIEW us-il-chicago-air-gun'],
  ['an air pistol', airGun(410, '.177'), 'New York City', 'REVIEW us-ny-new-york-city-air-gun'],
  ['an air pistol', airGun(410, '.177'), 'NY', 'OK us-air-gun-local-law'],
  ['an air pistol', airGun(410, '.177'), 'Philadelphia', 'REVIEW us-pa-philadelphia-air-gun'],
  ['an air pistol', airGun(410, '.177'), 'PA', 'OK'],
  ['an air pistol', airGun(410, '.177'), 'MI', 'OK us-air-gun-local-law'],
])
const plate: Item = ['AC', { armor_level: 'III' }]
holds('body armor', [
  ['a plate', plate, 'CT', 'BLOCK us-ct-body-armor'],
  ['a plate', plate, 'NY', 'BLOCK us-ny-body-armor'],
  ['a plate, in 2021', plate, 'NY', 'OK us-body-armor-felon', { day: '2021-12-31' }],
  ['a plate', plate, 'TX', 'OK us-body-armor-felon'],
  ['a plate, to a dealer', plate, 'CT', 'OK', { to: 'ffl' }],
  ['a jacket', ['AP'], 'NY', 'OK'],
])

const UNSERIALIZED = [
  'CA',
  'CO',
  'CT',
  'DE',
  'DC',
  'HI',
  'IL',
  'MD',
  'MA',
  'NV',
  'NJ',
  'NY',
  'OR',
  'RI',
  'VT',
  'WA',
]
const RAPID_FIRE = [
  'CO',
  'CA',
  'CT',
  'DE',
  'DC',
  'FL',
  'HI',
  'IL',
  'MD',
  'MA',
  'NV',
  'NJ',
  'NY',
  'RI',
  'VT',
  'WA',
]
holds('parts, kits and devices', [
  ...STATES.map((state): Case => [
    'an unserialized receiver',
    ['FP', { frame_receiver: 'unserialized' }],
    state,
    'REVIEW ' +
      `us-unserialized-frame${UNSERIALIZED.includes(state) ? ` us-${state.toLowerCase()}-unserialized-frame` : ''}`,
  ]),
  ...STATES.map((state): Case => [
    'a device that makes a rifle fire faster',
    ['FP', { rapid_fire_device: true }],
    state,
    RAPID_FIRE.includes(state) ? `REVIEW us-${state.toLowerCase()}-rapid-fire-device` : 'OK',
  ]),
  [
    'such a device, before the law',
    ['FP', { rapid_fire_device: true }],
    'CO',
    'OK',
    { day: '2026-07-31' },
  ],
  ['an 80% frame', ['FP', { frame_receiver: '80%' }], 'TX', 'REVIEW us-unserialized-frame'],
  ['a serialized frame', ['FP', { frame_receiver: 'serialized' }], 'NJ', 'OK'],
  ['a precursor part', ['FP', { precursor_part: 'Y' }], 'CA', 'REVIEW us-ca-precursor-part'],
  [
    'a part of the law on assault weapons',
    ['FP', { assault_weapon_part: true }],
    'IL',
    'REVIEW us-il-assault-weapon-part',
  ],
])
holds('hazardous goods and black powder', [
  ['powder', ['HZ'], 'TX', 'OK us-hazmat-ground'],
  ['powder', ['HZ'], 'NJ', 'OK us-hazmat-ground us-powder-local-law'],
  ['powder', ['HZ'], 'a PO box in Texas', 'BLOCK us-po-box-hazmat'],
  ['powder', ['HZ'], 'an APO address', 'BLOCK us-po-box-hazmat'],
  ['powder', ['HZ'], 'AK', 'REVIEW us-ak-hi-hazmat'],
  ['powder', ['HZ'], 'Puerto Rico', 'REVIEW us-territory-hazmat'],
  [
    'reloading goods that are hazardous',
    ['RL', { Hazardous: 'Y' }],
    'HI',
    'REVIEW us-ak-hi-reloading-hazmat',
  ],
  ['reloading goods that do not say so', ['RL'], 'AK', 'REVIEW us-ak-hi-reloading-hazmat'],
  ['dies', ['RL', { Hazardous: 'N' }], 'AK', 'OK'],
  ['dies', ['RL'], 'TX', 'OK'],
  ['dies', ['RL'], 'MA', 'OK us-powder-local-law'],
  [
    'reloading goods that are hazardous',
    ['RL', { Hazardous: 'Y' }],
    'a PO box in Texas',
    'REVIEW us-po-box-reloading-hazmat',
  ],
  ['dies', ['RL', { Hazardous: 'N' }], 'a PO box in Texas', 'OK'],
  ['a muzzleloader', ['BP'], 'NJ', 'OK us-black-powder-local-law'],
  ['a muzzleloader', ['BP'], 'TX', 'OK'],
  ['a powder measure', ['MZ'], 'WA', 'OK us-black-powder-local-law'],
])

// Distributors
// --------------------------------------------------------------------------------------------------------

holds('the flags of distributors', [
  ...STATES.map((state): Case => [
    'an item with its flag',
    ['AC', { [`State Restriction (${state})`]: 'Y' }],
    state,
    `BLOCK distributor-flag-${state.toLowerCase()}`,
  ]),
  ['an item with the flag of California', ['AC', { 'State Restriction (CA)': 'Y' }], 'NV', 'OK'],
  ['an item without its flag', ['AC', { 'State Restriction (CA)': 'N' }], 'CA', 'OK'],
  [
    'an item with its flag',
    ['AC', { 'State Restriction (Guam)': 'Yes' }],
    'Guam',
    'BLOCK distributor-flag-gu',
  ],
  [
    'an item with its flag',
    ['AC', { 'State Restriction (PR)': 'Yes' }],
    'Puerto Rico',
    'BLOCK distributor-flag-pr',
  ],
  [
    'an item with its flag',
    ['AC', { 'State Restriction (VI)': 'Yes' }],
    'the Virgin Islands',
    'BLOCK distributor-flag-vi',
  ],
  [
    'an item with its flag',
    ['AC', { 'City Restriction (Chicago)': 'Yes' }],
    'Chicago',
    'BLOCK distributor-flag-chicago',
  ],
  ['an item with the flag of Chicago', ['AC', { 'City Restriction (Chicago)': 'Yes' }], 'IL', 'OK'],
  [
    'an item for ground alone',
    ['AC', { 'Ground Only': 'Y' }],
    'AK',
    'REVIEW distributor-ground-only-ak-hi',
  ],
  [
    'an item for ground alone',
    ['AC', { 'Ground Only': 'Y' }],
    'Puerto Rico',
    'REVIEW distributor-ground-only-mail',
  ],
  ['an item for ground alone', ['AC', { 'Ground Only': 'Y' }], 'TX', 'OK'],
  [
    'an item that an adult signs for',
    ['AC', { 'Adult Signature': 'Y' }],
    'TX',
    'OK distributor-adult-signature',
  ],
  ['an item with a warning', ['AC', { 'Prop 65': 'Y' }], 'CA', 'OK distributor-prop-65'],
  ['an item with a warning', ['AC', { 'Prop 65': 'Y' }], 'TX', 'OK'],
])

// Everything that must not be stopped
// -----------------------------------------------------------------------------------

describe('ordinary goods are approved without anybody looking', () => {
  const ANYWHERE = ['AC', 'AP', 'AR', 'BS', 'FI', 'FP', 'HS', 'HT', 'LL', 'MZ', 'OP', 'RC', 'SF']
  for (const state of STATES) {
    test(`${ANYWHERE.join(', ')} without any attribute to ${state}, with and without a city`, () => {
      for (const productClass of ANYWHERE)
        for (const where of [known[state]!, { state }])
          assert.equal(
            check([productClass], where).approved,
            true,
            `${productClass} to ${JSON.stringify(where)}`,
          )
    })

    test(`a hunting rifle, a small magazine and a folding knife to ${state}`, () => {
      for (const item of [
        boltRifle(4),
        leverRifle(5, '30-30 Winchester'),
        pump(4),
        gun('Shotgun', 'Over/Under', 2, '20 Gauge'),
        magazine(5),
        knife('manual'),
        knife('assisted'),
      ]) {
        for (const where of [known[state]!, { state }])
          assert.equal(
            check(item, where).approved,
            true,
            `${JSON.stringify(item)} to ${JSON.stringify(where)}`,
          )
      }
    })
  }

  const RESTRICTED = [
    'CA',
    'CO',
    'CT',
    'DE',
    'DC',
    'HI',
    'IL',
    'MD',
    'MA',
    'NJ',
    'NY',
    'OR',
    'RI',
    'VT',
    'VA',
    'WA',
  ]
  for (const state of STATES.filter((one) => !RESTRICTED.includes(one))) {
    test(`a pistol, a rifle and a magazine of 30 to ${state}, whatever they do not tell`, () => {
      for (const item of [pistol(17), sportingRifle(30), magazine(30), ['FA'], ['MG']] as Item[]) {
        for (const where of [known[state]!, ...(state === 'OH' ? [] : [{ state }])])
          assert.equal(
            check(item, where).approved,
            true,
            `${JSON.stringify(item)} to ${JSON.stringify(where)}`,
          )
      }
    })
  }

  for (const state of STATES.filter(
    (one) => !['AK', 'CA', 'CT', 'DC', 'HI', 'IL', 'MA', 'NY'].includes(one),
  )) {
    test(`a box of rifle ammunition to ${state}`, () =>
      assert.equal(check(ammunition('Rifle'), known[state]!).approved, true))
  }

  for (const state of STATES.filter((one) => one !== 'CO' && one !== 'NY')) {
    test(`a magazine of 10 of known capacity to ${state}, whatever the city`, () =>
      assert.equal(check(magazine(10), { state }).approved, true))
  }

  test('a magazine of 10 to Colorado and New York outside of the cities with a smaller limit', () => {
    for (const state of ['CO', 'NY']) {
      assert.equal(check(magazine(10), known[state]!).approved, true)
      assert.equal(check(magazine(11), { state }).approved, false, 'the city may be one of them')
    }
  })
})

describe('an item of which nothing is known', () => {
  for (const state of ['CA', 'TX'])
    test(`is for a person to look at in ${state}`, () => {
      const item = CheckItem.parse({ sku: 'A' })
      const result = judge(
        { active, overrides: [] },
        itemFacts(item, { snapshot: null, readAttributes: () => null }),
        { place: placeOf({ state }), day: TODAY },
        item,
      )
      assert.equal(result.approved, false)
      assert.deepEqual(result.blocking_rules, [])
    })
})

describe('what is not approved stays so when a fact is taken away', () => {
  const byId = new Map(rules.map((rule) => [rule.rule_id, rule]))
  test('but for rules that hold only where an attribute says so', () => {
    let taken = 0
    for (const [says, [productClass, attributes = {}], where, verdict, when] of cases) {
      const [kind, ...found] = verdict.split(' ')
      if (kind === 'OK' || found.some((id) => byId.get(id)!.unknown_attribute === 'ignore'))
        continue
      for (const name of Object.keys(attributes)) {
        const rest = Object.fromEntries(
          Object.entries(attributes).filter(([other]) => other !== name),
        )
        assert.equal(
          check([productClass, rest], known[where]!, when).approved,
          false,
          `${says} to ${where} without ${name}`,
        )
        taken++
      }
      const { city: _city, zip: _zip, county: _county, ...rest } = known[where]!
      if (rest.state !== 'AE')
        assert.equal(
          check([productClass, attributes], rest, when).approved,
          false,
          `${says} to ${where} without its city`,
        )
    }
    assert.ok(taken > 300, `only ${taken}`)
  })
})

// The files
// -----------------------------------------------------------------------------------------------------------

describe('the files', () => {
  test('are six, and all of them are read', () => {
    assert.deepEqual(
      readdirSync('data/rules')
        .filter((name) => name.endsWith('.json'))
        .sort(),
      FILES.map((name) => `${name}.json`),
    )
    assert.equal(date, TODAY)
  })

  for (const name of FILES)
    test(`${name}.json has no fault and no contradiction`, () => {
      const { rules: read, faults } = readRules(
        readFileSync(`data/rules/${name}.json`, 'utf8'),
        TODAY,
      )
      assert.deepEqual(faults, [])
      assert.ok(read.length > 0)
    })

  test('together have no contradiction', () => {
    assert.equal(new Set(rules.map(({ rule_id: id }) => id)).size, rules.length)
    assert.deepEqual(readRules(JSON.stringify(rules), TODAY).faults, [])
  })

  test('name the law of every rule that is not a policy, and when it was reviewed', () => {
    for (const rule of rules) {
      if (rule.legal_status !== 'policy') assert.ok(rule.citations.length > 0, rule.rule_id)
      assert.equal(rule.reviewed, TODAY, rule.rule_id)
      assert.ok(rule.confidence && rule.operator_note, rule.rule_id)
    }
  })

  test('block only what is well founded and in force, or a policy', () => {
    for (const rule of rules.filter(({ kind }) => kind === 'BLOCK')) {
      assert.ok(rule.confidence === 'A' || rule.confidence === 'B', rule.rule_id)
      assert.ok(rule.legal_status === 'in_force' || rule.legal_status === 'policy', rule.rule_id)
    }
  })

  test('leave contested law and law of low confidence to a person', () => {
    for (const rule of rules) {
      if (['struck', 'enjoined', 'stayed', 'enacted'].includes(rule.legal_status))
        assert.equal(rule.kind, 'MANUAL_REVIEW', rule.rule_id)
      if (rule.confidence === 'C') assert.notEqual(rule.kind, 'BLOCK', rule.rule_id)
    }
  })

  test('speak to customers in one sentence', () => {
    for (const { rule_id: id, customer_message: message } of rules)
      assert.match(message, /^[A-Z][^\n]{10,180}\.$/, id)
  })

  test('ask for a class of product, but for the flags of distributors', () => {
    for (const rule of rules)
      assert.ok(rule.rule_id.startsWith('distributor-') || rule.match.product_class, rule.rule_id)
  })

  test('have a case for each rule in this suite', () => {
    assert.ok(cases.length >= 120)
    assert.deepEqual(
      rules.map(({ rule_id: id }) => id).filter((id) => !hits.has(id)),
      [],
    )
  })
})
