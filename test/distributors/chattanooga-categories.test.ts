/**
 * What Chattanooga's category names stand for, and that the word rules of all presets match whole
 * words.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, test } from 'node:test'
import categories from '../../data/chattanooga/categories.json' with { type: 'json' }
import { compilePreset } from '../../lib/distributors/generic/generic.js'
import { isRejection } from '../../lib/distributors/generic/rows.js'
import type { Condition, Preset } from '../../lib/distributors/generic/generic.js'
import type { CatalogRow } from '../../lib/distributors/generic/rows.js'
import { meets } from '../../lib/distributors/generic/classify.js'
import { RowReader } from '../../lib/distributors/generic/row-reader.js'
import { CATEGORY } from '../../lib/distributors/generic/categories.js'
import { presets } from '../../lib/distributors/builtin/index.js'

const REAL = resolve('..', 'shared', 'data', 'chattanooga', 'categories.txt')
const HEADER = [
  'SKU',
  'Item Name',
  'Quantity In Stock',
  'Price',
  'UPC',
  'Drop Ship Flag',
  'Category',
]
const feed = compilePreset(presets['chattanooga']!, HEADER, Date.UTC(2026, 10, 21))

function offerOf(category: string, name = 'Item'): CatalogRow {
  const offer = feed.read(['A', name, '1', '10', '', '1', category])
  assert.ok(!isRejection(offer), JSON.stringify(offer))
  return offer as CatalogRow
}

const brief = (category: string) => {
  const { productClass, fflReq, dropShip } = offerOf(category)
  return `${productClass}${fflReq ? ' ffl' : ''}${dropShip ? '' : ' store'}`
}

describe("names of Chattanooga's categories", () => {
  test(
    'all 934 of its feed are known, so many of each class',
    { skip: existsSync(REAL) ? false : `the real names are not here: ${REAL}` },
    () => {
      const names = readFileSync(REAL, 'utf8')
        .split('\n')
        .filter((name) => name !== '')
      assert.equal(names.length, 934)
      const counts: Record<string, number> = {}
      for (const name of names) {
        assert.equal(offerOf(name).classified, true, name)
        counts[brief(name)] = (counts[brief(name)] ?? 0) + 1
      }
      assert.deepEqual(counts, {
        AC: 155,
        'AC store': 1,
        AG: 26,
        AO: 11,
        AP: 65,
        AR: 55,
        'BP store': 9,
        BS: 30,
        'FA ffl': 40,
        FP: 57,
        'FP store': 6,
        HS: 17,
        HT: 96,
        HZ: 19,
        KN: 25,
        LL: 24,
        MG: 8,
        MZ: 9,
        OP: 68,
        OT: 63,
        RC: 64,
        RL: 72,
        SF: 5,
        'SO ffl': 9,
      })
    },
  )

  test('each stands in the table once, with a category of the catalog', () => {
    const names = categories.flatMap((group) => group.names)
    assert.equal(new Set(names.map((name) => name.toLowerCase())).size, names.length)
    for (const { category } of categories)
      assert.ok(category === null || category in CATEGORY, String(category))
  })

  const GUNS = [
    'Handguns',
    'Rifles',
    'Shotguns',
    'Lowers',
    'Lowers|Grips',
    'Lowers|Lowers',
    'Lowers|Uppers',
    'Bolt Carriers|Lowers',
    'Gun Parts|Lowers|Grips',
    'Used Guns',
    'Firearms|Grips',
    'Rifles|Chassis & Stocks',
    'Rifles|Gun Parts|Uppers',
    'Rifles|Uppers',
    'Handguns|MA Compliant',
    'CA Compliant',
    'MA Compliant',
    'CSSI Exclusive Shop',
  ]
  for (const name of GUNS) test(`${name}: a firearm`, () => assert.equal(brief(name), 'FA ffl'))

  const NFA = [
    'Suppressors',
    'Suppressors and Parts',
    'Suppressors|Handguns',
    'Suppressors|Muzzle Devices',
    'Suppressors|Gun Parts',
    'Short Barreled Rifles',
    'Short Barreled Rifles|Rifles',
  ]
  for (const name of NFA) test(`${name}: an NFA item`, () => assert.equal(brief(name), 'SO ffl'))

  const GOODS: [name: string, expected: string][] = [
    ['Pistol Dies', 'RL'],
    ['Rifle Brass', 'RL'],
    ['Handgun Cases', 'RC'],
    ['Rifle Cases|Shotgun Cases', 'RC'],
    ['Handgun Lights|Rifle Lights', 'LL'],
    ['Rifle Scopes', 'OP'],
    ['Night Vision Rifle Scopes', 'OP'],
    ['Suppressor Height Sights', 'OP'],
    ['Suppressor Cleaners', 'AC'],
    ['Suppressors Accessories|Muzzle Devices', 'FP store'],
    ['Hammocks', 'OT'],
    ['Rifle Powder', 'HZ'],
    ['Reloading|Pistol Primers', 'HZ'],
    ['Black Powder Substitutes', 'HZ'],
    ['Percussion Caps & Primers', 'HZ'],
    ['Percussion Cap', 'BP store'],
    ['Inline', 'BP store'],
    ['Powder Measures', 'RL'],
    ['Stun Guns', 'OT'],
    ['Airguns|Airsoft Guns|Airgun Handguns', 'AG'],
    ['CSSI Exclusive Shop|Centerfire Scopes', 'OP'],
    ['Gun Parts|Handgun Magazines', 'MG'],
    ['Bolts', 'AR'],
    ['Shooting', 'AC store'],
  ]
  for (const [name, expected] of GOODS)
    test(`${name}: ${expected}`, () => assert.equal(brief(name), expected))

  test('case and blanks do not matter', () =>
    assert.equal(brief(' HANDGUNS | used guns '), 'FA ffl'))

  test('a muzzleloader that takes cartridge barrels is a firearm', () => {
    assert.equal(offerOf('Inline', 'Trad Nitrofire .50').productClass, 'FA')
    assert.equal(offerOf('Muzzleloader Scopes', 'Encore scope').productClass, 'OP')
  })

  const UNSEEN: [name: string, expected: string][] = [
    // All its names are known, though not together.
    ['Handguns|Pouches', 'FA ffl'],
    ['Pouches|Lowers', 'FA ffl'],
    ['Suppressors|Lowers|Knives', 'SO ffl'],
    ['Knives|Rifle Powder', 'HZ'],
    ['Hunting|Knives', 'KN'],
    ['Knives|Inline', 'BP store'],
    // One of them is not.
    ['Handguns|Novelties', 'FA ffl'],
    ['Novelties|Lowers', 'FA ffl'],
    ['MA Compliant|Novelties', 'FA ffl'],
    ['Knives|Novelties', 'KN'],
    ['Chairs|Novelties', 'OT store'],
    ['Stripped Receivers', 'FA ffl'],
    ['80% Frames', 'FA ffl'],
    ['Pistol Frames & Grips', 'FA ffl'],
    ['Pouches|Frames', 'FA ffl'],
    ['Rifle Suppressors', 'SO ffl'],
    ['Silencers', 'SO ffl'],
    ['Scoped Rifles', 'FA ffl'],
    ['Rifle & Scope Combos', 'FA ffl'],
    ['SBR', 'SO ffl'],
    ['Suppressor Covers', 'OT store'],
    ['Shotgun Shell Holders', 'AO'],
    ['Hammock Straps', 'OT store'],
    ['Handgun Dies & Kits', 'RL'],
    ['Handgun Reloading Dies', 'FA ffl'],
    ['Rimfire Rifle Scopes', 'OP'],
    ['Framed Prints', 'OT store'],
    ['Flowers', 'OT store'],
  ]
  for (const [name, expected] of UNSEEN)
    test(`a name not seen yet, ${name}: ${expected}`, () => assert.equal(brief(name), expected))
})

describe('word rules', () => {
  const row = (text: string) => {
    const reader = new RowReader(['text'])
    reader.cells = [text]
    return reader
  }
  const fits = (condition: object, text: string) =>
    meets({ ...condition, column: 'text' } as Condition, row(text))()

  const TABLE: [condition: object, yes: string[], no: string[]][] = [
    [
      { contains: ['ammo'] },
      ['Ammo', 'ammo cans', 'Bulk-Ammo', 'Ammo|Rifle'],
      ['Hammocks', 'Ammonia'],
    ],
    [
      { contains: ['scope', 'box'] },
      ['Scopes', 'Rifle scope', 'Boxes', 'scope/sight'],
      ['Boroscope', 'Scoped', 'Boxing', 'Scopesy'],
    ],
    [
      { contains: ['semi-auto pistol'] },
      ['Semi-Auto Pistols', 'SEMI-AUTO PISTOL: 9mm'],
      ['Semi Auto Pistol', 'semi-auto pistolet'],
    ],
    [
      { startsWith: ['rifle'] },
      ['Rifle: Bolt', 'RIFLES', 'rifle|shotgun'],
      ['Riflescope', 'Air Rifle', 'Riflescopes'],
    ],
    [{ contains: ['class 3'] }, ['Class 3', 'NFA/Class 3'], ['Subclass 3']],
  ]
  for (const [condition, yes, no] of TABLE) {
    test(`${JSON.stringify(condition)} matches whole words`, () => {
      for (const text of yes) assert.equal(fits(condition, text), true, text)
      for (const text of no) assert.equal(fits(condition, text), false, text)
    })
  }

  test('of every preset match no longer word that merely holds one of theirs', () => {
    let words = 0
    for (const condition of conditions(Object.values(presets))) {
      const texts =
        'contains' in condition
          ? condition.contains
          : 'startsWith' in condition
            ? condition.startsWith
            : []
      for (const word of texts) {
        words++
        assert.equal(fits(condition, word), true, word)
        for (const longer of [`qx${word}`, `${word}qx`])
          assert.equal(fits(condition, longer), false, longer)
      }
    }
    assert.ok(words > 100, String(words))
  })
})

function conditions(all: readonly Preset[]): Condition[] {
  return all.flatMap((preset) =>
    preset.kind === 'catalog'
      ? [
          ...preset.classify.flatMap((rule) => ('when' in rule ? rule.when : [])),
          ...(preset.zeroWhen ?? []),
        ]
      : [],
  )
}
