/** Names of persons and of items: for counting and for likeness, never for a match of their own. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { itemKeys, itemNameKey } from '../../../lib/fraud/signals/items.js'
import { normalizeName } from '../../../lib/fraud/signals/names.js'
import { FraudSignals } from '../../../lib/fraud/shapes.js'
import { canonicalIp, signalsOf } from '../../../lib/fraud/signals/signals.js'
import { cpuTime } from '../../harness/cpu-time.js'

describe('names of persons', () => {
  test('every spelling of one', () => {
    for (const [wanted, ...spellings] of [
      [
        'pat doe',
        'Pat Doe',
        'PAT DOE',
        ' pat  doe ',
        'Doe, Pat',
        'DOE,PAT',
        'Mr. Pat Doe',
        'Mrs Pat Doe',
        'Dr. Pat Doe',
        'Rev. Dr. Pat Doe',
        'Pat Doe Jr.',
        'Pat Doe, Jr.',
        'Doe, Pat, Jr',
        'Pat Doe III',
        'Pat Q. Doe',
        'Pat Q Doe',
        'Doe, Pat Q.',
        'Pat Doe (home)',
        'Pat Doe, MD',
        'Pát Dœ',
      ],
      [
        'sean obrien',
        "Sean O'Brien",
        'Seán O’Brien',
        'SEAN OBRIEN',
        "O'Brien, Sean",
        "Dr. Sean O'Brien",
      ],
      [
        'ann marie smith jones',
        'Ann-Marie Smith-Jones',
        'Ann Marie Smith Jones',
        'Smith-Jones, Ann-Marie',
      ],
      ['jose nunez', 'José Núñez', 'JOSE\u0301 NUN\u0303EZ'],
      ['j morgan', 'J. P. Morgan', 'J.P. Morgan', 'J Morgan', 'Morgan, J. P.'],
      ['иван петров', 'Иван Петров', 'ИВАН ПЕТРОВ'],
      ['madonna', 'Madonna', 'Ms. Madonna'],
      ['junior smith', 'Junior Smith'],
      ['pat mary doe', 'Pat Mary Doe', 'Doe, Pat Mary'],
    ] as const)
      for (const text of [wanted, ...spellings]) assert.equal(normalizeName(text), wanted, text)
  })

  test('other names', () => {
    for (const row of [
      ['Pat Doe', 'Pat Poe', 'Sam Doe', 'Doe Pat', 'Pat', 'P Doe', 'Pat Mary Doe', 'Patricia Doe'],
      ['Ann Lee', 'Anne Lee', 'Anna Lee'],
      ['Mary-Ann Poe', 'Maryann Poe'],
      ['Miss Ann', 'Miss Anne'],
    ])
      assert.equal(new Set(row.map((text) => normalizeName(text))).size, row.length, row.join())
    for (const text of ['', ' ', '.', '123', '-', '()', "'", ',', ', ,'])
      assert.equal(normalizeName(text), null, JSON.stringify(text))
  })

  test('a normal form is its own, whatever the text', () => {
    const word = fc
      .stringMatching(/^[A-Z][a-z]{3,9}$/)
      .filter((one) => !/^(?:junior|senior|esquire|miss|prof)/i.test(one))
    fc.assert(
      fc.property(fc.tuple(word, word), ([given, family]) => {
        const made = normalizeName(`${given} ${family}`)
        if (made !== null) assert.equal(normalizeName(made), made)
        assert.equal(normalizeName(`${family.toUpperCase()},  ${given.toLowerCase()}`), made)
      }),
      { numRuns: 1_000 },
    )
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => void normalizeName(text)),
      { numRuns: 1_000 },
    )
  })
})

describe('items', () => {
  test('are known by UPC, however many digits it came with, and by SKU', () => {
    for (const upc of ['764503037108', '0764503037108', '00764503037108', ' 7645-0303-7108'])
      assert.deepEqual(itemKeys({ upc }), ['upc:00764503037108'], upc)
    for (const sku of ['RU-22C101', 'ru-22c101', ' Ru-22 C101 '])
      assert.deepEqual(itemKeys({ sku }), ['sku:ru-22c101'], sku)
    assert.deepEqual(itemKeys({ upc: '764503037108', sku: 'GLPA195S203' }), [
      'upc:00764503037108',
      'sku:glpa195s203',
    ])
    // A SKU of digits is not a UPC, and punctuation is part of it.
    assert.deepEqual(
      [itemKeys({ sku: '764503037108' }), itemKeys({ sku: 'RU22C101' })],
      [['sku:764503037108'], ['sku:ru22c101']],
    )
    for (const item of [
      {},
      { upc: '', sku: '' },
      { upc: null, sku: null },
      { upc: '0', sku: ' ' },
      { upc: '000000000000' },
      { upc: 'none', sku: '-' },
    ])
      assert.deepEqual(itemKeys(item), [])
  })

  const keys = (names: readonly string[]) => names.map((name) => itemNameKey(name))

  test('with names alike', () => {
    for (const [key, ...names] of [
      [
        'glock|19 gen5|9',
        'Glock 19 Gen5 9mm',
        'GLOCK G19 Gen 5 9mm Luger 15rd 4.02"',
        'Glock 19, 9mm, Gen5, Black',
      ],
      [
        'ruger|american|308',
        'Ruger American .308 Win 22"',
        'RUGER AMERICAN RIFLE 308 18 in',
        'Ruger American 308 Winchester 22-inch',
      ],
      ['smithwesson|m p9 shield|9', 'S&W M&P9 Shield 9mm', 'Smith & Wesson M&P9 Shield 9x19 3.1"'],
      ['glock|22|40', 'Glock 22 .40 S&W', 'GLOCK 22 40SW 15RD'],
      ['ruger|10 22|22', 'Ruger 10/22 Carbine .22 LR', 'RUGER 10/22 22LR 18.5" BLK'],
      ['sigsauer|p365|9', 'SIG SAUER P365 9mm', 'Sig P365 9MM 10RD'],
      [
        'remington|870 express|12ga',
        'Remington 870 Express 12 ga',
        'REMINGTON 870 EXPRESS 12GA 28"',
      ],
      ['marlin|60|22', 'Marlin 60 22', 'Marlin 60 .22 LR'],
      ['springfield|1911|45', 'Springfield Armory 1911 .45 ACP', 'Springfield 1911 45 Auto'],
      ['winchester|94|30-30', 'Winchester 94 30-30', 'Winchester Model 94 .30-30 20"'],
      ['beretta|92fs|9', 'Beretta 92FS 9x19', 'Beretta 92FS 9mm'],
      ['colt|ar15|5.56', 'Colt AR-15 5.56 16 inch', 'COLT AR15 5.56 NATO 14.5″'],
    ] as const)
      assert.deepEqual(
        keys(names),
        names.map(() => key),
      )
  })

  test('and others', () => {
    for (const names of [
      // Another brand or model, or a name that says less.
      [
        'Glock 19 Gen5 9mm',
        'Glock 17 Gen5 9mm',
        'Glock 19 Gen4 9mm',
        'Glock 19 9mm',
        'Glock 19 Gen5',
        'Ruger 19 Gen5 9mm',
      ],
      ['Ruger American 308', 'Ruger Hawkeye 308', 'Ruger American Gen2 308'],
      ['Glock 43 9mm', 'Glock 43X 9mm'],
      ['S&W M&P9', 'S&W M&P40'],
      ['Remington 700', 'Remington 7600'],
      // The same words with another caliber.
      ['Ruger American 308 Win 22"', 'Ruger American 243 Win 22"'],
      ['Marlin 60 22', 'Marlin 60 17 HMR'],
      ['Remington 870 12 ga', 'Remington 870 20 ga'],
      ['Ruger Single Six .22 LR', 'Ruger Single Six .22 WMR'],
      ['Ruger Mini 7.62x39', 'Ruger Mini 7.62x51'],
      ['Springfield 1911 9mm', 'Springfield 1911 45 ACP'],
      ['Colt LE6920 5.56', 'Colt LE6920 .223 Rem'],
      ['Ruger LCP 380', 'Ruger LCP 22'],
      ['Sig P365 9mm', 'Sig P365 380 ACP'],
    ] as const)
      assert.equal(new Set(keys(names)).size, names.length, names.join())
    // Nothing to go by.
    for (const name of ['Glock', 'Black Rifle', '', '9mm'])
      assert.equal(itemNameKey(name), null, name)
  })

  test('that tell no more than a name are told apart by it, and are like nothing', () => {
    const items = (...names: string[]) =>
      signalsOf(FraudSignals.parse({ order_items: names.map((name) => ({ name })) })).items
    assert.deepEqual(
      items('Glock', ' GLOCK ', 'Holosun', 'Ammo').map(({ identity, keys: of, name }) => [
        identity,
        of,
        name,
      ]),
      [
        ['text glock', [], null],
        ['text glock', [], null],
        ['text holosun', [], null],
        ['text ammo', [], null],
      ],
    )
    assert.deepEqual(items('...', '☃', ''), [])
    // A name that says enough, a UPC or a SKU goes first.
    assert.deepEqual(
      [
        items('Glock 19')[0]!.identity,
        signalsOf(FraudSignals.parse({ order_items: [{ name: 'Glock', sku: 'S-1' }] })).items[0]!
          .identity,
      ],
      ['name glock|19|', 'sku:s-1'],
    )
  })

  test('words have no order, and long names take no time', () => {
    const word = fc.constantFrom('19', 'P365', 'Gen5', 'AR-15', 'black', 'rifle', 'Mk2', '16"')
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (words) =>
        assert.equal(
          itemNameKey(`Ruger ${words.join(' ')} 9mm`),
          itemNameKey(`Ruger ${words.toReversed().join(' ')} 9mm`),
        ),
      ),
      { numRuns: 2_000 },
    )
    const started = cpuTime()
    for (const text of [
      '9'.repeat(100_000),
      '9 mm '.repeat(20_000),
      '"'.repeat(100_000),
      'a-'.repeat(50_000),
      '7.62x'.repeat(20_000),
      ' '.repeat(100_000),
    ])
      for (let i = 0; i < 40; i++) itemNameKey(text)
    assert.ok(cpuTime() - started < 5_000)
  })
})

describe('addresses of the network', () => {
  test('have one spelling each', () => {
    for (const text of [
      '203.0.113.7',
      '::ffff:203.0.113.7',
      '::ffff:cb00:7107',
      '0:0:0:0:0:ffff:203.0.113.7',
      '::FFFF:CB00:7107',
      '[::ffff:203.0.113.7]',
      ' 203.0.113.7 ',
    ])
      assert.equal(canonicalIp(text), '203.0.113.7', text)
    for (const text of [
      '2001:db8::1',
      '2001:0DB8:0:0:0:0:0:1',
      '[2001:db8::1]',
      '2001:db8::1%eth0',
    ])
      assert.equal(canonicalIp(text), '2001:db8::1', text)
  })

  test('that are none, or others', () => {
    for (const text of [
      '',
      '203.0.113',
      '203.0.113.256',
      '203.0.113.7:443',
      '::1%',
      '1::2%[',
      ':::',
      '203.0.113.7%eth0',
      'localhost',
    ])
      assert.equal(canonicalIp(text), null, text)
    const others = [
      '203.0.113.7',
      '::cb00:7107',
      '64:ff9b::cb00:7107',
      '::ffff:0:cb00:7107',
      '::ffff:cb00:7108',
    ].map((text) => canonicalIp(text))
    assert.equal(new Set(others).size, others.length)
  })
})
