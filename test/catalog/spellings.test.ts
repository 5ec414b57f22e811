/** Names that are spelled in several ways are found by each of them. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import spellings from '../../data/spellings/words.json' with { type: 'json' }
import { packArena } from '../../lib/catalog/snapshot/arena.js'
import { chunksOf } from '../../lib/catalog/search/tokens.js'
import { TermBuilder } from '../../lib/catalog/snapshot/terms.js'
import { openTextSearch } from '../../lib/catalog/search/text-search.js'
import { isList } from '../../lib/catalog/snapshot/row-set.js'

interface Named {
  name: string
  brand?: string
  sku?: string
  mpn?: string
}

/** A function that tells the places of the offers that a text finds. */
function searchOver(offers: readonly Named[]): (q: string) => number[] {
  const terms = new TermBuilder()
  for (const { name, brand = null, sku = null, mpn = null } of offers)
    terms.addOffer([name, brand], [sku, mpn])
  const search = openTextSearch(
    packArena(terms.columns(Uint32Array.from(offers.keys()))),
    offers.length,
  )
  return (q) => {
    const found = search(q)
    if (found === null) return [...offers.keys()]
    return isList(found) ? [...found] : [...offers.keys()].filter((row) => found.has(row))
  }
}

const found = (offers: readonly Named[], q: string) =>
  searchOver(offers)(q).map((row) => offers[row]!.name)

const GENERATIONS = [
  'gen5',
  'GEN 5',
  'Gen. 5',
  'gen-5',
  'g5',
  'G-5',
  '5th gen',
  '5TH GENERATION',
  'generation 5',
]
const GLOCKS = ['GLOCK', 'Glock', 'glk', 'GLK']

describe('a pistol', () => {
  const pistols = GLOCKS.flatMap((brand) => [
    ...GENERATIONS.map((generation) => `${brand} 19 ${generation} 9MM 15RD`),
    `${brand} 19G5 9MM`,
    `${brand} G19 G5 9MM`,
    `${brand} G19G5 9MM`,
    `${brand}19 Gen5 9MM`,
    `${brand}-19 G5 9x19mm`,
    `${brand} 19-GEN5 9MM`,
    `PISTOL ${brand} 19GEN5`,
  ]).map((name) => ({ name }))
  const others = [
    'GLOCK 17 GEN5 9x19 17RD',
    'GLK 17G5 9MM',
    'GLOCK 19 GEN4 9MM',
    'GLK 19G4 9MM',
    'Ruger SR9 9mm',
    'GLK 26 G3',
    'GLOCK 45 9MM G50',
    'TAURUS G3C 9MM',
    'SIG P365 19RD',
  ].map((name) => ({ name }))
  const search = searchOver([...pistols, ...others])
  const all = [...pistols.keys()]

  it('is found by each spelling of its brand, model and generation, and no other is', () => {
    const queries = GLOCKS.flatMap((brand) =>
      GENERATIONS.flatMap((generation) => [
        `${brand} 19 ${generation}`,
        `${brand}-19 ${generation}`,
        `${generation} ${brand} 19`,
        `${brand}19 ${generation}`,
      ]),
    )
    for (const q of [
      ...queries,
      'GLOCK 19 gen5',
      'Glock 19 Gen 5',
      'glock-19 g5',
      'glock 19 gen 5',
      'glk 19g5',
      'GLK19G5',
      'glock19gen5',
    ])
      assert.deepEqual(search(q), all, q)
  })

  it('is found with those of other generations where none is asked for', () => {
    const names = (q: string) =>
      search(q)
        .filter((row) => row >= pistols.length)
        .map((row) => others[row - pistols.length]!.name)
    for (const q of ['Glock 19', 'glock-19', 'GLOCK19', 'glk 19', 'g19 glock']) {
      if (q !== 'g19 glock') assert.deepEqual(search(q).slice(0, pistols.length), all, q)
      assert.deepEqual(
        names(q).filter((name) => !name.includes('19')),
        [],
        q,
      )
    }
    assert.deepEqual(names('glock 19'), ['GLOCK 19 GEN4 9MM', 'GLK 19G4 9MM'])
  })

  it('is found while its name is being typed', () => {
    for (const text of ['glock 19 gen5', 'glk 19 gen 5', 'GLOCK-19 G5']) {
      for (let end = 1; end <= text.length; end++)
        assert.deepEqual(
          search(text.slice(0, end))
            .slice(0, all.length)
            .filter((row) => row < all.length),
          all,
          text.slice(0, end),
        )
    }
  })
})

describe('letters and digits', () => {
  const cases: [q: string, names: string[], not: string[]][] = [
    ['ar15', ['AR-15 rifle', 'AR 15 rifle', 'ar15 rifle'], ['ARMORY 15RD', 'AR-10']],
    ['AR 15', ['AR-15', 'AR15', 'AR 15 rifle'], ['AR-10']],
    ['9 mm', ['9MM', '9mm Luger', '9 MM'], ['45 ACP']],
    ['9mm', ['9 MM', '9-MM'], ['45 mm', '9 rounds']],
    ['43x', ['GLOCK 43 X', 'GLOCK 43X MOS'], ['GLOCK 43 XMAS']],
    ['m 4', ['M4 carbine'], ['MAG 10']],
    ['p365', ['SIG P 365', 'SIG P-365 XL'], ['PISTOL 365']],
    ['19', ['G19', 'GLOCK 19'], ['PISTOL 9x19MM', '3-9x19']],
  ]
  for (const [q, names, not] of cases) {
    it(`match joined and apart by ${q}`, () => {
      const all = [...names, ...not].map((name) => ({ name }))
      assert.deepEqual(found(all, q), names)
    })
  }

  it('match joined in a SKU and a model number, which are not taken apart', () => {
    const offers = [
      { name: 'pistol', sku: 'PA195S201' },
      { name: 'rifle', mpn: 'PA195' },
      { name: 'case', sku: 'XPA195' },
    ]
    assert.deepEqual(found(offers, 'pa 195'), ['pistol', 'rifle'])
    assert.deepEqual(found(offers, '195'), [])
  })
})

describe('a brand', () => {
  const brands = spellings.brands as {
    name: string
    anywhere?: string[]
    first?: string[]
    notAfterNumber?: string[]
  }[]
  const texts = brands.flatMap(({ name, anywhere = [], first = [], notAfterNumber = [] }) =>
    [...anywhere, ...first, ...notAfterNumber].map((text) => ({ name, text })),
  )

  it('has no spelling that is one of another brand, or its name', () => {
    const key = (text: string) =>
      chunksOf(text)
        .flatMap(({ parts }) => parts)
        .join(' ')
    const owners = new Map<string, string>()
    for (const { name, text } of [...texts, ...brands.map(({ name }) => ({ name, text: name }))]) {
      assert.equal(owners.get(key(text)) ?? name, name, text)
      owners.set(key(text), name)
    }
  })

  it('is found by its name where a feed spells it short, and by each spelling where one writes the name', () => {
    for (const { name, text } of texts) {
      const offers = [
        { name: `${text} thing` },
        { name: `${name} thing` },
        { name: `thing`, brand: text },
        { name: 'Nonesuch thing' },
      ]
      for (const q of [name, `${name} thing`, text, `${text.toLowerCase()} thing`])
        assert.deepEqual(searchOver(offers)(q), [0, 1, 2], `${text}: ${q}`)
    }
  })

  it('is not what stands inside of a name and means something else, nor a caliber', () => {
    const names = [
      'RECOIL SPG',
      'RIFLE 308 WIN',
      'PISTOL 40 S&W',
      'GLK 22 40S&W',
      'SLING BRN',
      'SHIELD S&W',
    ]
    const offers = names.map((name) => ({ name }))
    assert.deepEqual(found(offers, 'springfield'), [])
    assert.deepEqual(found(offers, 'winchester'), [])
    assert.deepEqual(found(offers, 'browning'), [])
    assert.deepEqual(found(offers, 'smith & wesson'), ['SHIELD S&W'])
    assert.deepEqual(found(offers, 'smith and wesson shield'), ['SHIELD S&W'])
  })
})

/** The search before there were spellings: each part begins a word, or the chunk in one does. */
function literally(offers: readonly Named[], q: string): number[] {
  const words = offers.map(({ name, brand = '', sku = '', mpn = '' }) =>
    [name, brand, sku, mpn]
      .flatMap(chunksOf)
      .flatMap(({ parts, joined }) => [...parts, joined ?? parts[0]!]),
  )
  const chunks = chunksOf(q)
  return [...offers.keys()].filter((row) =>
    chunks.every(({ parts, joined }) => {
      const begins = (prefix: string) => words[row]!.some((word) => word.startsWith(prefix))
      return parts.every(begins) || (joined !== null && begins(joined))
    }),
  )
}

describe('any text', () => {
  const piece = fc.constantFrom(
    'glock',
    'GLK',
    '19',
    'g5',
    '19G5',
    'gen',
    '5',
    '5th',
    'smith',
    'and',
    'wesson',
    's&w',
    '40',
    'AR-15',
    'ar',
    '9x19mm',
    'é9',
    'a1b2c3d4',
    'spg',
    'x',
    'Gen.5',
    '²',
  )
  const text = fc
    .array(fc.tuple(piece, fc.constantFrom(' ', ' ', '-', '')), { minLength: 1, maxLength: 5 })
    .map((pairs) => pairs.flat().join(''))
  const named: fc.Arbitrary<Named> = fc.record({ name: text, brand: text, sku: text, mpn: text })

  it('finds at least what has its words as they stand', () => {
    fc.assert(
      fc.property(
        fc.array(named, { minLength: 1, maxLength: 30 }),
        fc.array(text, { minLength: 10, maxLength: 10 }),
        (offers, queries) => {
          const search = searchOver(offers)
          for (const q of [...queries, ...offers.slice(0, 5).map(({ name }) => name)]) {
            const rows = new Set(search(q))
            for (const row of literally(offers, q))
              assert.ok(rows.has(row), `${q} no longer finds ${JSON.stringify(offers[row])}`)
          }
        },
      ),
      { numRuns: 200 },
    )
  })

  it('is answered at once, however it is made up', () => {
    const search = searchOver([{ name: 'GLOCK 19 GEN5' }])
    for (const q of [
      'g5'.repeat(100),
      'a1'.repeat(100),
      'a1g2'.repeat(50),
      'g 5 '.repeat(50),
      's&w '.repeat(50),
    ])
      assert.ok(search(q).length <= 1)
  })
})

const FEEDS = resolve('..', 'shared', 'data')
const DAVIDSONS = join(FEEDS, 'multi-2023-03', 'davidsons_inventory.csv.gz')
const RSR = join(FEEDS, 'rsr-2025', 'rsr-products-partial.csv.gz')
const missing = [DAVIDSONS, RSR].find((path) => !existsSync(path))

describe(
  'feeds of distributors',
  { skip: missing && `the real feeds are not here: ${missing}` },
  () => {
    const rows = (path: string) =>
      gunzipSync(readFileSync(path))
        .toString()
        .split('\n')
        .slice(1)
        .map((line) => line.split(','))
    // The names alone: what a feed without a column of brands would tell.
    const davidsons = rows(DAVIDSONS)
      .map((cells) => ({ name: cells[1] ?? '', maker: cells[9] ?? '' }))
      .filter(({ maker }) => maker !== '')
    const rsr = rows(RSR)
      .map((cells) => ({ name: cells[1] ?? '', maker: cells[2] ?? '' }))
      .filter(({ maker }) => maker !== '')
    const offers = [...davidsons, ...rsr]
    const search = searchOver(offers)

    it('have the same Glock 19 of the fifth generation by each spelling', () => {
      const expected = [...offers.keys()].filter((row) =>
        /^(GLK|GLOCK) (19G5|19 GEN ?5)\b/.test(offers[row]!.name),
      )
      assert.ok(expected.length > 20, `${expected.length}`)
      const pistols = (q: string) =>
        search(q).filter((row) => /^(GLK|GLOCK) \d/.test(offers[row]!.name))
      for (const q of [
        'GLOCK 19 gen5',
        'Glock 19 Gen 5',
        'glock-19 g5',
        'glock 19 gen 5',
        'glock 19 g5',
        'GLK 19G5',
      ]) {
        const names = new Set(pistols(q).map((row) => offers[row]!.name))
        for (const row of expected)
          assert.ok(names.has(offers[row]!.name), `${q} does not find ${offers[row]!.name}`)
        assert.deepEqual(
          [...names].filter((name) => !/19/.test(name)),
          [],
          q,
        )
      }
      const plainly = new Set(search('Glock 19'))
      for (const row of expected) assert.ok(plainly.has(row), offers[row]!.name)
    })

    it('mean the brand by the first words that stand for it', () => {
      for (const [of, feed] of [
        ["Davidson's", davidsons],
        ['RSR', rsr],
      ] as const) {
        for (const { name, first = [] } of spellings.brands as {
          name: string
          first?: string[]
        }[]) {
          for (const text of first) {
            const makers = feed
              .filter((row) => row.name.toUpperCase().startsWith(`${text} `))
              .map(({ maker }) => maker.toUpperCase())
            const word = name.toUpperCase().split(/\W/)[0]!
            // Olin makes Winchester's ammunition.
            const others = makers.filter(
              (maker) =>
                !maker.includes(word) && !maker.startsWith(text.slice(0, 2)) && maker !== 'OLIN',
            )
            assert.ok(
              others.length <= makers.length * 0.1,
              `${of}: ${text} is ${[...new Set(others)].join(', ')}, not ${name}`,
            )
          }
        }
      }
    })
  },
)
