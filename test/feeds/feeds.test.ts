import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { compilePreset } from '../../lib/distributors/generic/generic.js'
import { isRejection } from '../../lib/distributors/generic/rows.js'
import type { CatalogRow } from '../../lib/distributors/generic/rows.js'
import { presets } from '../../lib/distributors/builtin/index.js'
import { openBytes } from '../../lib/feeds/fetch/bytes.js'
import { parseCells } from '../../lib/feeds/read/cells.js'
import { judge, watchedShares } from '../../lib/feeds/ingest/guard.js'
import type { Evidence } from '../../lib/feeds/ingest/guard.js'
import { readRecords } from '../../lib/feeds/read/lines.js'
import { recordText } from '../../lib/feeds/read/text.js'
import { ACME, HEADER, NOON, acmeFeed, acmeRow, bench, feedBench } from './bench.js'

/** The offer that a preset makes of one row. */
function read(preset: string, header: string | null, row: string, asOf = NOON): CatalogRow {
  const chosen = presets[preset]!
  const cells = (line: string) => parseCells([line], chosen.format)[0] as string[]
  const compiled = compilePreset(chosen, header === null ? null : cells(header), asOf)
  const result = compiled.read(cells(row))
  assert.ok(!isRejection(result), 'reason' in result ? result.reason : '')
  return result as CatalogRow
}

const DAV =
  'Item #, Item Description, MSP, Retail Price, Dealer Price, Sale Price, Sale Ends, ' +
  'Quantity, UPC Code, Manufacturer, Gun Type, Model Series, Caliber, Action, Capacity, ' +
  'Finish,Stock, Sights, Barrel Length, Overall Length, Features'
const dav = (
  cells: Partial<Record<'dealer' | 'sale' | 'ends' | 'qty' | 'upc' | 'type' | 'name', string>>,
) =>
  `AB-1,${cells.name ?? 'ACM PISTOL 9MM'},$450.00,$599.99,${cells.dealer ?? '$399.99'},` +
  `${cells.sale ?? ''},${cells.ends ?? ''},${cells.qty ?? '7'},${cells.upc ?? '#082442884752#'},` +
  `Acme,${cells.type ?? 'Pistol: Semi-Auto'},P1,9MM,,15+1,Black,,,4,7,Night sights`
const rsrRow = (cells: Record<number, string>, columns = 77) => {
  const row = Array<string>(columns).fill('')
  const given: Record<number, string> = {
    1: 'AC-1',
    2: '082442884752',
    3: 'ACME ONE 9MM 4" BLK',
    4: '01',
    6: '599',
    7: '399.5',
    9: '7',
    11: 'Acme',
    12: 'ONE-9',
    ...cells,
  }
  for (const [place, value] of Object.entries(given)) row[Number(place) - 1] = value
  return row.join(';')
}
const LIP =
  'ITEMNO,DESCRIPTION1,DESCRIPTION2,UPC,MANUFACTURERMODELNO,MSRP,MANUFACTURER,TYPE,ACTION,' +
  'IMAGENAME,ITEMTYPE,QUANTITY,ALLOCATED,ONSALE,PRICE,CURRENTPRICE,RETAILMAP,FFLREQUIRED,' +
  'SOTREQUIRED,CANDROPSHIP'
const lip = (
  ffl: string,
  sot: string,
  drop: string,
  type = 'Semi-Auto Pistol',
  allocated = 'False',
) =>
  `AC1,"ACME ONE 4"" BLK",Line two,082442884752,ONE-9,599.99,ACME,${type},Striker ` +
  `Fired,ac1.jpg,Firearm,12,${allocated},True,420.00,399.5,0,${ffl},${sot},${drop}`
const CSSI =
  'SKU,Item Name,Quantity In Stock,Price,UPC,Web Item Name,Web Item Description,Drop Ship ' +
  'Flag,Drop Ship Price,Category,Ship Weight,Image Location,Manufacturer,Manufacturer Item ' +
  'Number,Length,Width,Height,MAP,MSRP,Available Drop Ship Delivery Options,Allocated Item?'
const cssi = (category: string, flag = '1', allocated = 'No') =>
  'AC1,ACME ONE,4,399.50,#082442884752#,Acme One 9mm,"Sights, ' +
  `night",${flag},410.00,${category},2.5,https://img.example/ac1.jpg?v=3,Acme,ONE-9,1,2,3,` +
  `449.99,599.99,ground,${allocated}`
const ZND =
  'available,category,desc1,desc2,itemnumber,manufacturer,mfgpnumber,msrp,price1,price2,' +
  'price3,qty1,qty2,qty3,upc,weight,serialized,mapprice'
const znd = (category: string, serialized: string) =>
  `7,${category},ACME ONE,9MM BLK,AC1,Acme,ONE-9,599.99,399.5,390,,1,10,,082442884752,2.5,${serialized},449.99`

describe('presets', () => {
  const table: [
    what: string,
    preset: string,
    header: string | null,
    row: string,
    expected: Partial<CatalogRow>,
  ][] = [
    [
      "Davidson's pistol",
      'davidsons',
      DAV,
      dav({}),
      {
        stockid: 'AB-1',
        distsku: 'AB-1',
        upc: '082442884752',
        name: 'ACM PISTOL 9MM',
        mfgName: 'Acme',
        productClass: 'FA',
        fflReq: true,
        dropShip: true,
        categoryId: 3026,
        categoryName: 'Semi Auto Handguns',
        price: 39999,
        map: null,
        msrp: 59999,
        qty: 7,
        description: 'Night sights',
        itemCat: 'Pistol: Semi-Auto',
      },
    ],
    [
      "Davidson's MSP, which is the dealer's price",
      'davidsons',
      DAV,
      dav({ dealer: '$450.00' }),
      { price: 45000, map: null },
    ],
    ["Davidson's 99+", 'davidsons', DAV, dav({ qty: '99+' }), { qty: 99 }],
    ["Davidson's allocated", 'davidsons', DAV, dav({ qty: 'A*' }), { qty: 0 }],
    [
      "Davidson's sale that ends today",
      'davidsons',
      DAV,
      dav({ sale: '$350.00', ends: '11/21/2026' }),
      { price: 35000 },
    ],
    [
      "Davidson's sale that ended yesterday",
      'davidsons',
      DAV,
      dav({ sale: '$350.00', ends: '11/20/2026' }),
      { price: 39999 },
    ],
    [
      "Davidson's sale without an end",
      'davidsons',
      DAV,
      dav({ sale: '$350.00' }),
      { price: 35000 },
    ],
    [
      "Davidson's sale with an end that is not a date",
      'davidsons',
      DAV,
      dav({ sale: '$350.00', ends: 'soon' }),
      { price: 39999 },
    ],
    [
      "Davidson's sale of 0",
      'davidsons',
      DAV,
      dav({ sale: '$0.00', ends: '12/31/2026' }),
      { price: 39999 },
    ],
    ["Davidson's without UPC", 'davidsons', DAV, dav({ upc: '##' }), { upc: null }],
    [
      "Davidson's UPC that lost its zero",
      'davidsons',
      DAV,
      dav({ upc: '#82442884752#' }),
      { upc: '082442884752' },
    ],
    [
      "Davidson's blank type",
      'davidsons',
      DAV,
      dav({ type: '' }),
      {
        productClass: 'OT',
        fflReq: false,
        dropShip: false,
        categoryName: 'Uncategorized',
        categoryId: null,
      },
    ],
    [
      "Davidson's air gun",
      'davidsons',
      DAV,
      dav({ type: 'Rifle: Air Gun' }),
      { productClass: 'AG', fflReq: false, dropShip: true, categoryId: 3050 },
    ],
    [
      "Davidson's air pistol",
      'davidsons',
      DAV,
      dav({ type: 'Revolver: Air Gun' }),
      { productClass: 'AG', categoryId: 3049 },
    ],
    [
      "Davidson's muzzleloader",
      'davidsons',
      DAV,
      dav({ type: 'Rifle: Muzzleloader' }),
      { productClass: 'BP', fflReq: false, dropShip: false },
    ],
    [
      "Davidson's muzzleloader that is a firearm",
      'davidsons',
      DAV,
      dav({ type: 'Rifle: Muzzleloader', name: 'TRA NITROFIRE 50CA' }),
      { productClass: 'FA', fflReq: true },
    ],
    [
      "Davidson's lower",
      'davidsons',
      DAV,
      dav({ type: 'AR Lower: Receiver Only' }),
      { productClass: 'FA', fflReq: true },
    ],
    [
      "Davidson's unknown type",
      'davidsons',
      DAV,
      dav({ type: 'Firearm: New Kind' }),
      { productClass: 'FA', fflReq: true },
    ],
    [
      "Davidson's revolver",
      'davidsons',
      DAV,
      dav({ type: 'Revolver: Single|Double' }),
      { productClass: 'FA', categoryId: 2325 },
    ],
    [
      "Davidson's over and under",
      'davidsons',
      DAV,
      dav({ type: 'Shotgun: Over And Under' }),
      { productClass: 'FA', categoryId: 3103 },
    ],
    [
      "Davidson's with all text quoted",
      'davidsons',
      DAV.split(',')
        .map((name) => `"${name.trim()}"`)
        .join(','),
      dav({})
        .split(',')
        .map((cell) => `"${cell}"`)
        .join(','),
      { stockid: 'AB-1', upc: '082442884752', price: 39999, qty: 7 },
    ],
    [
      "Davidson's with blanks before quotes",
      'davidsons',
      DAV,
      dav({})
        .split(',')
        .map((cell) => `"${cell}"`)
        .join(', '),
      { stockid: 'AB-1', price: 39999 },
    ],
    [
      'RSR handgun',
      'rsr',
      null,
      rsrRow({ 20: 'Y', 71: '449.99', 15: 'AC-1_1.jpg', 76: 'Y' }),
      {
        stockid: 'AC-1',
        upc: '082442884752',
        name: 'ACME ONE 9MM 4" BLK',
        mfgName: 'Acme',
        mpn: 'ONE-9',
        productClass: 'FA',
        fflReq: true,
        dropShip: true,
        price: 39950,
        map: 44999,
        msrp: 59900,
        qty: 7,
        images: [],
        attributes: { 'State Restriction (CA)': 'Y', 'Prop 65': 'Y', Image: 'AC-1_1.jpg' },
      },
    ],
    [
      'RSR MAP one cent above the price',
      'rsr',
      null,
      rsrRow({ 71: '399.51' }),
      { price: 39950, map: 39951 },
    ],
    ['RSR MAP at the price', 'rsr', null, rsrRow({ 71: '399.50' }), { price: 39950, map: null }],
    [
      'RSR MAP without a price',
      'rsr',
      null,
      rsrRow({ 7: '0', 71: '399.50' }),
      { price: null, map: 39950 },
    ],
    ['RSR of 69 columns', 'rsr', null, rsrRow({}, 69), { stockid: 'AC-1', map: null }],
    ['RSR of 80 columns', 'rsr', null, rsrRow({}, 80), { stockid: 'AC-1' }],
    [
      'RSR department without its zero',
      'rsr',
      null,
      rsrRow({ 4: '5' }),
      { productClass: 'FA', fflReq: true },
    ],
    ['RSR allocated', 'rsr', null, rsrRow({ 13: 'Allocated' }), { qty: 0, held: true }],
    ['RSR closeout', 'rsr', null, rsrRow({ 13: 'Closeout' }), { qty: 7, held: false }],
    ['RSR blocked from drop ship', 'rsr', null, rsrRow({ 69: 'Y' }), { dropShip: false }],
    ['RSR silencer', 'rsr', null, rsrRow({ 4: '06' }), { productClass: 'SO', fflReq: true }],
    [
      'RSR black powder',
      'rsr',
      null,
      rsrRow({ 4: '07' }),
      { productClass: 'BP', fflReq: false, dropShip: false },
    ],
    [
      'RSR black powder that is a firearm',
      'rsr',
      null,
      rsrRow({ 4: '07', 3: 'TRAD NITROFIRE .50' }),
      { productClass: 'FA', fflReq: true },
    ],
    [
      'RSR magazine',
      'rsr',
      null,
      rsrRow({ 4: '10' }),
      { productClass: 'MG', fflReq: false, dropShip: true },
    ],
    ['RSR upper', 'rsr', null, rsrRow({ 4: '41' }), { productClass: 'FP', fflReq: false }],
    [
      'RSR unknown department',
      'rsr',
      null,
      rsrRow({ 4: '99' }),
      { productClass: 'OT', fflReq: false, dropShip: false },
    ],
    ['RSR without a name', 'rsr', null, rsrRow({ 3: '' }), { name: 'ONE-9' }],
    [
      'RSR without a name and part number',
      'rsr',
      null,
      rsrRow({ 3: '', 12: '' }),
      { name: '082442884752' },
    ],
    [
      'RSR without name, part number and UPC',
      'rsr',
      null,
      rsrRow({ 2: '', 3: '', 12: '' }),
      { name: 'AC-1' },
    ],
    ['RSR without a price', 'rsr', null, rsrRow({ 7: '0' }), { price: null, qty: 7 }],
    [
      "Lipsey's pistol",
      'lipseys',
      LIP,
      lip('True', 'False', 'True'),
      {
        stockid: 'AC1',
        name: 'ACME ONE 4" BLK',
        productClass: 'FA',
        fflReq: true,
        dropShip: true,
        categoryId: 3026,
        price: 39950,
        map: null,
        msrp: 59999,
        qty: 12,
        images: ['https://www.lipseyscloud.com/images/ac1.jpg'],
      },
    ],
    [
      "Lipsey's MAP above the regular price",
      'lipseys',
      LIP,
      lip('True', 'False', 'True').replace('399.5,0', '399.5,420.01'),
      { price: 39950, map: 42001 },
    ],
    [
      "Lipsey's MAP at the regular price, though above the sale price",
      'lipseys',
      LIP,
      lip('True', 'False', 'True').replace('399.5,0', '399.5,420.00'),
      { price: 39950, map: null },
    ],
    [
      "Lipsey's allocated",
      'lipseys',
      LIP,
      lip('True', 'False', 'True', 'Rifle', 'True'),
      { qty: 0, held: true, categoryId: 3025 },
    ],
    [
      "Lipsey's silencer",
      'lipseys',
      LIP,
      lip('True', 'True', 'False', 'Silencer'),
      { productClass: 'SO', fflReq: true, dropShip: false },
    ],
    [
      "Lipsey's holster",
      'lipseys',
      LIP,
      lip('False', 'False', 'True', 'Accessory-Holsters').replace('Firearm', 'Accessory'),
      { productClass: 'HS', fflReq: false, dropShip: true },
    ],
    [
      "Lipsey's without the flag",
      'lipseys',
      LIP,
      lip('', '', 'True'),
      { productClass: 'OT', fflReq: false, dropShip: false },
    ],
    [
      "Lipsey's pricing file",
      'lipseys-pricing',
      'itemNumber,upc,mfgModelNumber,quantity,allocated,onSale,price,currentPrice,retailMap',
      'AC1,082442884752,ONE-9,12,False,False,420.0,399.5,0.0',
      {
        stockid: 'AC1',
        name: 'ONE-9',
        productClass: 'OT',
        fflReq: false,
        dropShip: false,
        price: 39950,
        map: null,
        qty: 12,
      },
    ],
    [
      'Zanders pistol',
      'zanders',
      ZND,
      znd('PISTOL', 'Y'),
      {
        stockid: 'AC1',
        upc: '082442884752',
        name: 'ACME ONE',
        shortDescription: '9MM BLK',
        mpn: 'ONE-9',
        productClass: 'FA',
        fflReq: true,
        dropShip: true,
        price: 39950,
        map: 44999,
        qty: 7,
        images: ['https://shop2.gzanders.com/getimage?itemnumber=AC1'],
      },
    ],
    [
      'Zanders accessory',
      'zanders',
      ZND,
      znd('ACCESSORIES', 'N'),
      { productClass: 'AC', fflReq: false, dropShip: true },
    ],
    [
      'Zanders without the flag',
      'zanders',
      ZND,
      znd('PISTOL', ''),
      { productClass: 'OT', fflReq: false, dropShip: false },
    ],
    [
      'Zanders cut to four columns',
      'zanders',
      'upc,msrp,price1,available',
      '082442884752,599.99,399.5,7',
      {
        stockid: '082442884752',
        upc: '082442884752',
        name: '082442884752',
        productClass: 'OT',
        fflReq: false,
        dropShip: false,
        price: 39950,
        qty: 7,
        images: [],
      },
    ],
    [
      'Sports South in four columns',
      'sports-south',
      'I,Q,P,UPC',
      '144,3,1344.78,602686441001',
      {
        stockid: '144',
        upc: '602686441001',
        price: 134478,
        qty: 3,
        productClass: 'OT',
        fflReq: false,
        dropShip: false,
      },
    ],
    [
      'Sports South with UPC 0',
      'sports-south',
      'I,Q,P,UPC',
      '144,3,1344.78,0',
      { upc: null, name: '144' },
    ],
    [
      'Sports South with types',
      'sports-south',
      'ITEMNO,IDESC,ITYPE,PRC1,CPRC,QTYOH,ITUPC,MFGINO,MFPRC,PICREF',
      '144,ACME ONE,1,450,399.5,3,082442884752,ONE-9,449.99,9912',
      {
        name: 'ACME ONE',
        productClass: 'FA',
        fflReq: true,
        dropShip: true,
        price: 39950,
        map: 44999,
        images: ['https://media.server.theshootingwarehouse.com/large/9912.jpg'],
      },
    ],
    [
      'Sports South suppressor',
      'sports-south',
      'ITEMNO,ITYPE,CPRC,QTYOH',
      '144,8,399.5,3',
      { productClass: 'SO', fflReq: true },
    ],
    [
      'Chattanooga pistol',
      'chattanooga',
      CSSI,
      cssi('Handguns'),
      {
        stockid: 'AC1',
        upc: '082442884752',
        name: 'Acme One 9mm',
        description: 'Sights, night',
        productClass: 'FA',
        fflReq: true,
        dropShip: true,
        price: 39950,
        map: 44999,
        msrp: 59999,
        qty: 4,
        images: ['https://img.example/ac1.jpg'],
      },
    ],
    [
      'Chattanooga allocated',
      'chattanooga',
      CSSI,
      cssi('Handguns', '1', 'Yes'),
      { qty: 0, held: true },
    ],
    [
      'Chattanooga not to be drop-shipped',
      'chattanooga',
      CSSI,
      cssi('Knives', '0'),
      { productClass: 'KN', fflReq: false, dropShip: false },
    ],
    [
      'Chattanooga handgun ammunition',
      'chattanooga',
      CSSI,
      cssi('Handgun Ammunition'),
      { productClass: 'AO', fflReq: false, dropShip: true },
    ],
    [
      'Chattanooga hunting rifles',
      'chattanooga',
      CSSI,
      cssi('Hunting Rifles'),
      { productClass: 'FA', fflReq: true },
    ],
    [
      'Chattanooga firearms by another name',
      'chattanooga',
      CSSI,
      cssi('Firearms - Scoped Rifles'),
      { productClass: 'FA', fflReq: true },
    ],
    [
      'Chattanooga unknown category',
      'chattanooga',
      CSSI,
      cssi('Miscellany'),
      { productClass: 'OT', fflReq: false, dropShip: false },
    ],
  ]
  for (const [what, preset, header, row, expected] of table) {
    test(what, () => {
      const offer = read(preset, header, row)
      for (const [name, value] of Object.entries(expected))
        assert.deepEqual(offer[name as keyof CatalogRow], value, name)
    })
  }

  test('no rule of any preset lets a firearm or NFA item go without a license', () => {
    for (const preset of Object.values(presets)) {
      if (preset.kind !== 'catalog') continue
      const sets = preset.classify.flatMap((rule) =>
        'names' in rule ? rule.names.map(({ set }) => set) : [rule.set],
      )
      for (const set of sets)
        if (set.productClass === 'FA' || set.productClass === 'SO')
          assert.equal(set.ffl, true, `${preset.id}: ${JSON.stringify(set)}`)
    }
  })

  test('a preset is plain data: it survives being sent to a worker', () => {
    assert.deepEqual(structuredClone(presets), presets)
    assert.deepEqual(JSON.parse(JSON.stringify(presets)), presets)
  })

  const stock: [preset: string, header: string | null, row: string, qty: number | string][] = [
    [
      'davidsons-quantity',
      'Item_Number, UPC_Code, Quantity_NC, Quantity_AZ',
      'AB-1,082442884752,8,31',
      39,
    ],
    ['davidsons-quantity', 'Item_Number, UPC_Code, Quantity_NC, Quantity_AZ', 'AB-1,,A*,A*', 0],
    ['davidsons-quantity', 'Item_Number, UPC_Code, Quantity_NC, Quantity_AZ', 'AB-1,,99+,99+', 198],
    ['rsr-quantity', null, 'AB-1,0000005', 5],
    ['rsr-quantity', null, 'AB-1,', 0],
    ['rsr-quantity', null, 'AB-1,5.0', 5],
    ['rsr-quantity', null, 'AB-1,99999999999', 2_147_483_647],
    [
      'rsr-quantity',
      null,
      'AB-1,-3',
      'quantity is "-3", which is not a stock count (a whole number that is not negative)',
    ],
    [
      'rsr-quantity',
      null,
      'AB-1,5.5',
      'quantity is "5.5", which is not a stock count (a whole number that is not negative)',
    ],
    [
      'rsr-quantity',
      null,
      'AB-1,many',
      'quantity is "many", which is not a stock count (a whole number that is not negative)',
    ],
    [
      'rsr-quantity',
      null,
      ',5',
      'stock is "", which is not an item number; it is the key of this feed',
    ],
    ['rsr-quantity', null, 'AB-1', 'the row has 1 columns, at least 2 are needed'],
  ]
  for (const [id, header, row, expected] of stock) {
    test(`${id}: ${row}`, () => {
      const preset = presets[id]!
      const cells = (line: string) => parseCells([line], preset.format)[0] as string[]
      const result = compilePreset(preset, header === null ? null : cells(header), NOON).read(
        cells(row),
      )
      if (typeof expected === 'string') assert.deepEqual(result, { reason: expected })
      else assert.deepEqual(result, { stockid: 'AB-1', qty: expected })
    })
  }
})

describe('bad rows cost only themselves', () => {
  const table: [what: string, row: string | Uint8Array, reason: RegExp][] = [
    [
      'negative price',
      'X1,,Item,B,-5.00,,1,part',
      /^price is "-5\.00", which is not an amount of dollars$/,
    ],
    ['price in words', 'X1,,Item,B,call us,,1,part', /not an amount of dollars/],
    ['negative MAP', 'X1,,Item,B,5,-1,1,part', /^map is "-1"/],
    ['negative stock', 'X1,,Item,B,5,,-1,part', /^qty is "-1", which is not a stock count/],
    ['too few columns', 'X1,,Item', /the row has 3 columns, at least 8 are needed/],
    [
      'a separator in the text',
      'X1,,Item, big,B,5,,1,part',
      /the row has 9 columns, the header has 8/,
    ],
    ['no item number', ',,Item,B,5,,1,part', /not an item number/],
    ['NUL', 'X1,,It\0em,B,5,,1,part', /NUL/],
    ['10 MB line', `X1,,${'x'.repeat(10_000_000)},B,5,,1,part`, /longer than 1 MB/],
    ['unbalanced quote', 'X1,,"Item,B,5,,1,part', /a quote is opened and never closed/],
    ['text behind a quoted field', '"X1",,"4" barrel",B,5,,1,part', /cannot be parsed/],
    ['duplicate key', acmeRow(1, '99.00'), /duplicate key/],
  ]
  for (const [what, row, reason] of table) {
    test(what, () =>
      bench(async (feeds) => {
        const lines = acmeFeed(300).split('\n')
        lines.splice(150, 0, row as string)
        const result = await feeds.take(ACME, lines.join('\n'))
        assert.equal(result.outcome, 'taken')
        assert.equal(result.rows, 301)
        assert.equal(result.rejected, 1)
        assert.equal(result.rejects[0]!.line, 151)
        assert.match(result.rejects[0]!.reason, reason)
        assert.equal(feeds.offers().length, 300)
        assert.deepEqual(feeds.catalog.prepare('SELECT line, reason FROM rejected_row').all(), [
          { line: 151, reason: result.rejects[0]!.reason },
        ])
      }),
    )
  }

  test('rows that are odd but good', () =>
    bench(async (feeds) => {
      const result = await feeds.take(
        ACME,
        [
          HEADER,
          'A1,82442884752,"Item ""one"", 4"" barrel",B,"1,234.50",N/A,1,part',
          'A2,1.23E+11,Item 16" BBL,B,NaN,0,,gun',
          'A3,,"two\nlines",B,0,,5.0,part',
          'A4,,Item,B,.99,,99+,',
          '',
          '   ',
          '',
        ].join('\n'),
      )
      assert.deepEqual([result.rows, result.rejected], [4, 0])
      const seen = feeds
        .offers()
        .map(({ stockid, upc, name, price, map, qty, product_class, ffl_req, drop_ship }) => [
          stockid,
          upc,
          name,
          price,
          map,
          qty,
          product_class,
          ffl_req,
          drop_ship,
        ])
      assert.deepEqual(seen, [
        ['A1', '082442884752', 'Item "one", 4" barrel', 123450, null, 1, 'AC', 0, 1],
        ['A2', null, 'Item 16" BBL', null, null, 0, 'FA', 1, 1],
        ['A3', null, 'two\nlines', null, null, 5, 'AC', 0, 1],
        ['A4', null, 'Item', 99, null, 99, 'OT', 0, 0],
      ])
    }))

  test('up to 1,000 rejected rows are kept, and all are counted', () =>
    bench(async (feeds) => {
      const result = await feeds.take(
        ACME,
        acmeFeed(1_500, (i) => acmeRow(i, i <= 1_200 ? 'x' : '5')),
        { force: true },
      )
      assert.deepEqual(
        [result.outcome, result.rejected, result.rejects.length, result.offers],
        ['taken', 1_200, 20, 300],
      )
      assert.equal(feeds.catalog.prepare('SELECT count(*) FROM rejected_row').pluck().get(), 1_000)
      assert.equal(feeds.catalog.prepare('SELECT rejected FROM feed').pluck().get(), 1_200)
    }))
})

describe('encodings and line ends', () => {
  const name = 'Café "Ñandú" – 5€'
  const text = `${HEADER}\nA1,,"Café ""Ñandú"" – 5€",B,5,,1,part\nA2,,Plain,B,5,,1,part\n`
  const latin1 = (s: string) =>
    Buffer.from([...s].map((c) => ({ '–': 0x96, '€': 0x80 })[c] ?? c.charCodeAt(0)))
  const utf16be = (s: string) => Buffer.from(`\ufeff${s}`, 'utf16le').swap16()
  const table: [what: string, content: Uint8Array | string][] = [
    ['UTF-8', text],
    ['UTF-8 with a mark', `\ufeff${text}`],
    ['windows-1252', latin1(text)],
    ['UTF-16 LE with a mark', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16 LE without a mark', Buffer.from(text, 'utf16le')],
    ['UTF-16 BE', utf16be(text)],
    ['gzip', gzipSync(text)],
    ['CRLF', text.replaceAll('\n', '\r\n')],
    ['CR alone', text.replaceAll('\n', '\r')],
    ['CRLF and LF mixed', text.replace('\n', '\r\n')],
    ['no newline at the end', text.trimEnd()],
  ]
  for (const [what, content] of table) {
    test(what, () =>
      bench(async (feeds) => {
        const result = await feeds.take(ACME, content)
        assert.deepEqual(
          [result.outcome, result.rows, result.rejected, result.reasons],
          ['taken', 2, 0, []],
        )
        assert.deepEqual(
          feeds.offers().map((offer) => offer.name),
          [name, 'Plain'],
        )
      }),
    )
  }

  test('each row is decoded by itself', () =>
    bench(async (feeds) => {
      await feeds.take(
        ACME,
        Buffer.concat([
          Buffer.from(`${HEADER}\nA1,,Caf`),
          Buffer.from([0xe9]),
          Buffer.from(',B,5,,1,part\nA2,,Café,B,5,,1,part\n'),
        ]),
      )
      assert.deepEqual(
        feeds.offers().map((offer) => offer.name),
        ['Café', 'Café'],
      )
    }))

  test('records do not depend on where the file is read in two', async () => {
    const feeds = feedBench()
    try {
      // About 9 MB, so that records, quoted newlines and CRLF pairs lie across every boundary of
      // the buffers.
      const lines = Array.from({ length: 60_000 }, (_, i) =>
        i % 3 === 0
          ? `${i},"a\r\nb ""q"" ${'x'.repeat(i % 97)}",end`
          : `${i},plain ${'y'.repeat(i % 211)} 16" bbl,end`,
      )
      const file = feeds.file(
        'big',
        lines.map((line, i) => line + (i % 2 === 0 ? '\r\n' : '\n')).join(''),
      )
      const bytes = await openBytes(file, '')
      const seen: string[] = []
      for await (const batch of readRecords(bytes, { delimiter: ',', quote: '"' })) {
        assert.deepEqual(batch.broken, [])
        for (let i = 0; i < batch.count; i++)
          seen.push(recordText(batch.buffer, batch.start[i]!, batch.end[i]!))
      }
      await bytes.close()
      assert.equal(seen.length, lines.length)
      assert.ok(seen.every((record, i) => record === lines[i]))
    } finally {
      feeds.close()
    }
  })

  test('a stray quote loses its own line and no other', () =>
    bench(async (feeds) => {
      const rows = Array.from({ length: 400 }, (_, i) => `A${i},,"Item ${i}",B,5,,1,part`)
      rows[100] = 'A100,,"Item 100,B,5,,1,part'
      rows[399] = 'A399,,"Item 399,B,5,,1,part'
      const result = await feeds.take(ACME, `${HEADER}\n${rows.join('\n')}\n`)
      assert.deepEqual(
        result.rejects.map(({ line }) => line),
        [102, 401],
      )
      assert.equal(feeds.offers().length, 398)
    }))

  test('a quoted field of more than 50 lines or 64 KB is a stray quote', () =>
    bench(async (feeds) => {
      const field = (lines: number, width: number) =>
        Array(lines).fill('x'.repeat(width)).join('\n')
      const row = (key: string, text: string) => `${key},,"${text}",B,5,,1,part`
      const result = await feeds.take(
        ACME,
        [
          HEADER,
          row('A1', field(50, 3)),
          row('A2', 'z'.repeat(60_000)),
          row('A3', 'z'.repeat(70_000)),
          `${row('A4', 'fine')}\n`,
        ].join('\n'),
        { force: true },
      )
      assert.deepEqual(
        feeds.offers().map((offer) => offer.stockid),
        ['A1', 'A2', 'A4'],
      )
      assert.equal(result.rejected, 1)
    }))
})

describe('the guard', () => {
  const fine: Evidence = {
    rows: 1_000,
    rejected: 0,
    usable: 1_000,
    claimed: 1_000,
    cutOff: false,
    newlineLost: false,
    asOf: 2,
    previousAsOf: 1,
    named: 1_000,
    lost: 0,
    priced: 1_000,
    priceMoves: 0,
    stocked: 1_000,
    emptied: 0,
    upcs: 100,
    upcsLost: 0,
    moved: [],
  }
  const edges: [what: string, evidence: Partial<Evidence>, reason: RegExp | null][] = [
    ['all is well', {}, null],
    ['empty', { rows: 0, usable: 0 }, /the file is empty/],
    ['nothing usable', { rejected: 1_000, usable: 0 }, /none of the 1000 rows/],
    [
      'nothing known',
      { claimed: 0 },
      /none of the 1000 rows names an item that is known, and the last feed named 1000/,
    ],
    ['nothing known in a first feed', { claimed: 0, named: 0, previousAsOf: null }, null],
    ['1 % bad rows', { rejected: 10 }, null],
    [
      'more than 1 % bad rows',
      { rejected: 11 },
      /11 of 1000 rows are bad \(1\.1 %; at most 1 % may be\)/,
    ],
    ['of the same time', { asOf: 1 }, null],
    ['older', { asOf: 0 }, /older than the last one/],
    ['20 % missing', { lost: 200 }, null],
    ['more than 20 % missing', { lost: 201 }, /201 of 1000 offers are missing \(20\.1 %/],
    ['5 % of the prices', { priceMoves: 50 }, null],
    [
      'more than 5 % of the prices',
      { priceMoves: 51 },
      /51 of 1000 prices move by more than half \(5\.1 %/,
    ],
    ['30 % emptied', { emptied: 300 }, null],
    [
      'more than 30 % emptied',
      { emptied: 301 },
      /301 of 1000 offers in stock would have none \(30\.1 %/,
    ],
    ['cut off', { cutOff: true }, /cut off/],
    ['a first feed', { previousAsOf: null, named: 0, priced: 0, stocked: 0 }, null],
  ]
  for (const [what, change, reason] of edges) {
    test(what, () => {
      const reasons = judge({ ...fine, ...change }, false)
      if (reason === null) assert.deepEqual(reasons, [])
      else assert.match(reasons.join('; '), reason)
      // A page shows the same: what is over stands among the reasons, and nothing else is.
      const over = watchedShares({ ...fine, ...change }).filter((share) => share.over)
      if (reason === null) assert.deepEqual(over, [])
      for (const { part, of } of over)
        if (change.usable !== 0 && what !== 'nothing known')
          assert.match(reasons.join('; '), new RegExp(`${part} of ${of} `))
      const forced = judge({ ...fine, ...change }, true)
      assert.equal(
        forced.length,
        what === 'nothing known' || change.usable === 0 ? 1 : 0,
        'force overrides comparisons, not a file that says nothing',
      )
    })
  }

  const GOOD = acmeFeed(1_000)
  const each = (change: (cells: string[], i: number) => void) =>
    acmeFeed(1_000, (i) => {
      const cells = acmeRow(i).split(',')
      change(cells, i)
      return cells.join(',')
    })
  const refused: [what: string, content: string | Uint8Array, reason: RegExp][] = [
    ['empty', '', /the file is empty/],
    ['blank lines only', '\n\n  \n', /the file is empty/],
    ['header only', `${HEADER}\n`, /the file is empty: it has no rows/],
    ['half size', acmeFeed(500), /500 of 1000 offers are missing/],
    ['20.1 % of the rows missing', acmeFeed(799), /201 of 1000 offers are missing \(20\.1 %/],
    [
      'all quantities 0',
      each((cells) => {
        cells[6] = '0'
      }),
      /1000 of 1000 offers in stock would have none/,
    ],
    [
      '30.1 % without stock',
      each((cells, i) => {
        if (i <= 301) cells[6] = '0'
      }),
      /301 of 1000 offers in stock/,
    ],
    [
      'prices / 100',
      each((cells) => {
        cells[4] = '0.10'
      }),
      /1000 of 1000 prices move/,
    ],
    [
      'prices x 100',
      each((cells) => {
        cells[4] = '1000.00'
      }),
      /1000 of 1000 prices move/,
    ],
    [
      'prices gone',
      each((cells) => {
        cells[4] = ''
      }),
      /1000 of 1000 prices move/,
    ],
    [
      '5.1 % of the prices more than doubled by half',
      each((cells, i) => {
        if (i <= 51) cells[4] = '15.01'
      }),
      /51 of 1000 prices move/,
    ],
    [
      '1.1 % bad rows',
      each((cells, i) => {
        if (i <= 11) cells[4] = '?'
      }),
      /11 of 1000 rows are bad/,
    ],
    [
      'semicolons',
      GOOD.replaceAll(',', ';'),
      /the header has no column "sku", "price", "qty"; with a semicolon as separator the file would fit/,
    ],
    ['another header', GOOD.replace('price', 'cost'), /the header has no column "price"$/],
    ['truncated in a line', GOOD.slice(0, GOOD.length - 20), /cut off: its last line ends/],
    [
      'truncated in the last cell',
      GOOD.slice(0, GOOD.length - 3),
      /cut off: its last line ends without a newline, and that of the last file had one/,
    ],
    [
      'truncated before the last newline',
      gzipSync(GOOD.trimEnd()),
      /cut off: its last line ends without a newline/,
    ],
    ['truncated in a quoted field', `${GOOD}"SKU9999,,"`.slice(0, -2), /cut off/],
    ['truncated gzip', gzipSync(GOOD).subarray(0, 3_000), /the gzip file is cut off or damaged/],
    [
      'damaged gzip',
      Buffer.concat([gzipSync(GOOD).subarray(0, 2_000), Buffer.alloc(500, 7)]),
      /the gzip file is cut off or damaged/,
    ],
    ['an HTML page', '<!DOCTYPE html>\n<html><body>Please log in</body></html>\n', /HTML page/],
    ['an XML file', '<?xml version="1.0"?>\n<items/>\n', /HTML or XML/],
    ['a gzip bomb', gzipSync(Buffer.alloc(40_000_000, 'a')), /unpacks to more than/],
  ]
  for (const [what, content, reason] of refused) {
    test(`${what}: refused, and the old feed stays as it was`, () =>
      bench(async (feeds) => {
        await feeds.take(ACME, GOOD)
        const before = feeds.everything()
        const result = await feeds.take(ACME, content)
        assert.equal(result.outcome, 'refused')
        assert.match(result.reasons.join('; '), reason)
        assert.deepEqual(feeds.everything(), before)
        const kept = feeds.catalog.prepare('SELECT reasons, file, as_of FROM refusal').get() as {
          reasons: string
          file: string
          as_of: number
        }
        assert.deepEqual(JSON.parse(kept.reasons), result.reasons)
        assert.ok(existsSync(kept.file) && kept.as_of > NOON)
      }))
  }

  const taken: [what: string, content: string][] = [
    ['20 % of the rows missing', acmeFeed(800)],
    [
      '30 % without stock',
      each((cells, i) => {
        if (i <= 300) cells[6] = '0'
      }),
    ],
    [
      '5 % of the prices up by more than half',
      each((cells, i) => {
        if (i <= 50) cells[4] = '15.01'
      }),
    ],
    [
      'a tenth of the prices up by half exactly',
      each((cells, i) => {
        if (i <= 100) cells[4] = '15.00'
      }),
    ],
    [
      'a tenth of the prices down by half exactly',
      each((cells, i) => {
        if (i <= 100) cells[4] = '5.00'
      }),
    ],
    [
      '1 % bad rows',
      each((cells, i) => {
        if (i <= 10) cells[6] = '-1'
      }),
    ],
    [
      'another order of columns',
      GOOD.split('\n')
        .map((line) => line.split(',').reverse().join(','))
        .join('\n'),
    ],
  ]
  for (const [what, content] of taken) {
    test(`${what}: taken`, () =>
      bench(async (feeds) => {
        await feeds.take(ACME, GOOD)
        const result = await feeds.take(ACME, content)
        assert.deepEqual([result.outcome, result.reasons], ['taken', []])
      }))
  }

  test('a source whose files never end in a newline goes on, and one that gives it up can be accepted', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, GOOD.trimEnd())
      assert.equal((await feeds.take(ACME, acmeFeed(999).trimEnd())).outcome, 'taken')
      await feeds.take(ACME, GOOD)
      assert.equal(
        (await feeds.take(ACME, acmeFeed(999).trimEnd(), { force: true })).outcome,
        'taken',
      )
      assert.equal((await feeds.take(ACME, acmeFeed(998).trimEnd())).outcome, 'taken')
    }))

  test('a vanished offer in stock counts as emptied', () =>
    bench(async (feeds) => {
      await feeds.take(
        ACME,
        acmeFeed(100, (i) => acmeRow(i, '10', i <= 50 ? '5' : '0')),
      )
      const result = await feeds.take(
        ACME,
        acmeFeed(100, (i) => acmeRow(i, '10', i <= 50 ? '5' : '0'))
          .split('\n')
          .filter((_, i) => i === 0 || i > 16)
          .join('\n'),
      )
      assert.deepEqual(result.reasons, [
        '16 of 50 offers in stock would have none (32.0 %; at most 30 % may)',
      ])
    }))

  test('a file of an earlier time is refused, one of the same time is not', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, GOOD, { asOf: NOON })
      const changed = each((cells, i) => {
        if (i === 1) cells[4] = '11.00'
      })
      const older = await feeds.take(ACME, changed, { asOf: NOON - 1 })
      assert.match(
        older.reasons.join(),
        /older than the last one: it is of 2026-11-21T11:59:59\.999Z, the last was of 2026-11-21T12:00:00\.000Z/,
      )
      assert.equal((await feeds.take(ACME, changed, { asOf: NOON })).outcome, 'taken')
    }))

  test('the first feed is judged by its bad rows alone', () =>
    bench(async (feeds) => {
      const bad = await feeds.take(
        ACME,
        each((cells, i) => {
          if (i <= 11) cells[4] = '?'
        }),
      )
      assert.equal(bad.outcome, 'refused')
      assert.equal(
        (
          await feeds.take(
            ACME,
            each((cells, i) => {
              cells[6] = '0'
              if (i <= 10) cells[4] = '?'
            }),
          )
        ).outcome,
        'taken',
      )
    }))

  test('what is accepted is what was refused, though it lies at the same place', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, GOOD)
      const half = feeds.file('half.csv', acmeFeed(500))
      await feeds.take(ACME, { file: half })
      const refusal = feeds.catalog.prepare('SELECT as_of AS asOf, digest FROM refusal').get() as {
        asOf: number
        digest: string
      }
      const before = feeds.everything()
      feeds.file('half.csv', acmeFeed(5))
      for (const how of [{ asOf: refusal.asOf }, { expectDigest: refusal.digest }]) {
        const result = await feeds.take(ACME, { file: half }, { force: true, ...how })
        assert.deepEqual(
          [result.outcome, result.reasons],
          [
            'refused',
            [
              'the file is another than the one that was refused; pull or import it again to have it judged',
            ],
          ],
        )
        assert.deepEqual(feeds.everything(), before)
      }
      assert.deepEqual(
        feeds.catalog.prepare('SELECT as_of AS asOf, digest FROM refusal').get(),
        refusal,
        'it waits on',
      )
      feeds.file('half.csv', acmeFeed(500))
      const accepted = await feeds.take(
        ACME,
        { file: half },
        {
          force: true,
          asOf: refusal.asOf,
          expectDigest: refusal.digest,
          now: NOON + 48 * 3_600_000,
        },
      )
      assert.deepEqual([accepted.outcome, accepted.offers], ['taken', 500])
    }))

  test('an import of a new edition can be forced over a refusal', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, GOOD)
      await feeds.take(ACME, acmeFeed(500))
      assert.equal((await feeds.take(ACME, acmeFeed(400), { force: true })).offers, 400)
    }))

  test('what was refused can be accepted, and the alarm ends with the next feed that is taken', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, GOOD)
      const half = feeds.file('half.csv', acmeFeed(500))
      await feeds.take(ACME, { file: half })
      const { file, as_of } = feeds.catalog.prepare('SELECT file, as_of FROM refusal').get() as {
        file: string
        as_of: number
      }
      const accepted = await feeds.take(ACME, { file }, { asOf: as_of, force: true })
      assert.deepEqual(
        [accepted.outcome, accepted.removed, feeds.offers().length],
        ['taken', 500, 500],
      )
      assert.equal(feeds.catalog.prepare('SELECT count(*) FROM refusal').pluck().get(), 0)
      await feeds.take(ACME, acmeFeed(100))
      await feeds.take(ACME, { file: half })
      assert.equal(
        feeds.catalog.prepare('SELECT count(*) FROM refusal').pluck().get(),
        0,
        'the good file again ends the alarm too',
      )
    }))

  test('force does not take an empty file, a page, or another header', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, GOOD)
      for (const content of [
        '',
        `${HEADER}\n`,
        '<html></html>',
        'a,b\n1,2\n',
        each((cells) => {
          cells[0] = ''
        }),
      ]) {
        assert.equal((await feeds.take(ACME, content, { force: true })).outcome, 'refused')
      }
      assert.equal(feeds.offers().length, 1_000)
    }))

  test('a file without header and with another separator says which would fit', () =>
    bench(async (feeds) => {
      const result = await feeds.take('rsr', rsrRow({}).replaceAll(';', '\t') + '\n')
      assert.deepEqual(result.reasons, [
        'the first row has 1 columns, at least 69 are needed; with a tab as separator the file would fit',
      ])
    }))

  test('a dry run tells and changes nothing', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, GOOD)
      const before = feeds.everything()
      const result = await feeds.take(
        ACME,
        acmeFeed(900, (i) => acmeRow(i, '11.00')),
        { dryRun: true },
      )
      assert.deepEqual([result.outcome, result.changed, result.removed], ['taken', 900, 100])
      assert.equal((await feeds.take(ACME, '', { dryRun: true })).outcome, 'refused')
      assert.deepEqual(feeds.everything(), before)
      assert.equal(feeds.catalog.prepare('SELECT count(*) FROM refusal').pluck().get(), 0)
    }))
})
