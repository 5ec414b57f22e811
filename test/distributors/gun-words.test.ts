/** No firearm to a consumer's door, whatever a feed's columns say of each other. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compilePreset } from '../../lib/distributors/generic/generic.js'
import { isRejection } from '../../lib/distributors/generic/rows.js'
import { namesGun } from '../../lib/distributors/generic/gun-words.js'
import { presets } from '../../lib/distributors/builtin/index.js'

const GUNS = [
  'Pistols w/ Night Sights',
  'Handguns - Red Dot Ready',
  'Handguns|Semi-Auto|Red Dot',
  'Rifle Scopes Combo Rifles',
  'Magazine Fed Shotguns',
  'Rifles - Detachable Magazine',
  'Bolt Action Rifles w/ Soft Case',
  'Rifle & Ammo Combos',
  'Handguns - Semi-Auto Holster Kits',
  'Hunting Guns',
  'Hunting - Combination Guns',
  'Optics Ready Guns',
  'Gun Parts - Actions',
  'Barrels & Barreled Actions',
  'Gun Parts - Fire Control Units',
  'Muzzleloading Pistols & Supplies',
  'Black Powder Accessories - Pistols',
  'Repair Rifles',
  'LOWERS',
  'FRAMES',
  'Lower Receiver',
  'SUPPRESSORS',
  'Silencer',
  'PISTOLS',
  'RECEIVERS',
  'SHOTGUNS',
  'Semi-Auto Pistol',
  'Derringers',
  'Rimfire Rifles',
  'Firearm',
  'Hunting Rifles',
  'Rifles With Optics',
  'Long Guns',
  'AOW',
]
const GOODS = [
  'Rifle Scopes',
  'Pistol Magazines',
  'Handgun Ammunition',
  'Ammunition - Handgun',
  'Ammunition|Rimfire',
  'Magazines - Rifle',
  'Holsters',
  'Gun Cases',
  'Gun Cleaning',
  'Gun Safes',
  'Lower Parts',
  'Air Guns',
  'Airguns',
  'Air Rifles',
  'Pellet Pistols',
  'Shotgun Shells',
  'Knives',
  'Accessory-Holsters',
  'Accessory',
  'Rifle Slings',
  'Reloading - Rifle Dies',
  'Optics',
  'Gun Parts - Barrels',
  'Red Dot',
  '',
]

describe('words of a category', () => {
  for (const text of GUNS) test(`"${text}" names a gun`, () => assert.equal(namesGun(text), true))
  for (const text of GOODS) test(`"${text}" does not`, () => assert.equal(namesGun(text), false))
})

/**
 * Rows that a feed offers for drop-shipping and takes for no firearm, with the category in
 * question.
 */
const ROWS: [preset: string, row: (category: string) => Record<string, string>][] = [
  [
    'chattanooga',
    (category) => ({
      SKU: 'A',
      'Item Name': 'x',
      'Quantity In Stock': '1',
      Price: '10',
      UPC: '',
      'Drop Ship Flag': '1',
      Category: category,
    }),
  ],
  [
    'zanders',
    (category) => ({
      itemnumber: 'A',
      desc1: 'x',
      available: '1',
      price1: '10',
      upc: '',
      serialized: 'N',
      allowdirectship: 'Y',
      category,
    }),
  ],
  [
    'zanders',
    (category) => ({
      itemnumber: 'A',
      desc1: 'x',
      available: '1',
      price1: '10',
      upc: '',
      serialized: 'N',
      category,
    }),
  ],
  [
    'lipseys',
    (category) => ({
      ITEMNO: 'A',
      DESCRIPTION1: 'x',
      UPC: '',
      PRICE: '10',
      CURRENTPRICE: '10',
      QUANTITY: '1',
      FFLREQUIRED: 'False',
      SOTREQUIRED: '',
      CANDROPSHIP: 'True',
      ITEMTYPE: 'Accessory',
      TYPE: category,
    }),
  ],
  [
    'lipseys',
    (category) => ({
      ITEMNO: 'A',
      DESCRIPTION1: 'x',
      UPC: '',
      PRICE: '10',
      CURRENTPRICE: '10',
      QUANTITY: '1',
      FFLREQUIRED: 'False',
      SOTREQUIRED: 'False',
      CANDROPSHIP: 'True',
      ITEMTYPE: category,
      TYPE: 'Accessory',
    }),
  ],
  [
    'sports-south',
    (category) => ({
      ITEMNO: 'A',
      IDESC: 'x',
      I: 'A',
      Q: '1',
      P: '10',
      UPC: '',
      ITYPE: '3',
      CATDES: category,
    }),
  ],
]

describe('a preset', () => {
  for (const [id, row] of ROWS) {
    test(`${id} drop-ships nothing without a license whose category names a gun`, () => {
      for (const category of GUNS) {
        const cells = row(category)
        const read = compilePreset(presets[id]!, Object.keys(cells), Date.UTC(2026, 10, 21))
        const offer = read.read(Object.values(cells))
        assert.ok(
          !isRejection(offer) && 'fflReq' in offer && 'dropShip' in offer,
          `${category}: ${JSON.stringify(offer)}`,
        )
        assert.ok(offer.fflReq || !offer.dropShip, `${category}: ffl_req 0 and drop_ship_flg 1`)
      }
    })

    test(`${id} still drop-ships what only goes with guns`, () => {
      const shipped = GOODS.filter((category) => {
        const cells = row(category)
        const offer = compilePreset(presets[id]!, Object.keys(cells), Date.UTC(2026, 10, 21)).read(
          Object.values(cells),
        )
        return !isRejection(offer) && 'dropShip' in offer && offer.dropShip
      })
      assert.ok(shipped.length >= 8, `only ${shipped.join(', ')}`)
    })
  }
})
