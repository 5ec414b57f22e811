/**
 * Addresses that others wrote, by ours and by two packages that read US addresses: what each finds,
 * and what it takes for one.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { normalizeAddress } from '../../../lib/fraud/signals/address/address.js'

const DATA = resolve('..', 'shared', 'data', 'address')
const LISTS = resolve('..', 'shared', 'data', 'ffl')
const skip = existsSync(DATA) ? false : `the real addresses are not here: ${DATA}`

interface Line {
  readonly address1: string
  readonly city: string
  readonly state: string
  readonly postcode: string
}

type Normalizer = (line: Line) => string | null
type Parsed = Record<string, string | undefined> | null

const load = createRequire(import.meta.url)
const { parseLocation } = load('parse-address') as { parseLocation: (text: string) => Parsed }
const { parseAddress } = load('addresser') as { parseAddress: (text: string) => Parsed }

const whole = ({ address1, city, state, postcode }: Line) =>
  `${address1}, ${city}, ${state} ${postcode}`

/**
 * What each makes of an address, read in its favour: the city does not count, nor what a unit is
 * called.
 */
const NORMALIZERS: Readonly<Record<string, Normalizer>> = {
  ours: normalizeAddress,
  'parse-address': (line) => {
    const found = parseLocation(whole(line))
    return (
      found &&
      [
        found.number,
        found.prefix,
        found.street,
        found.type,
        found.suffix,
        found.sec_unit_num ?? found.sec_unit_type,
        found.zip,
      ]
        .join('|')
        .toLowerCase()
    )
  },
  addresser: (line) => {
    try {
      const found = parseAddress(whole(line))
      return (
        found &&
        [
          found.addressLine1,
          found.streetDirection,
          found.addressLine2?.split(/[ #]+/).at(-1),
          found.zipCode,
        ]
          .join('|')
          .toLowerCase()
      )
    } catch {
      return null
    }
  },
}

/**
 * Pairs of premises that one license had at two times, by their line in the file. These are two
 * places, or nobody can tell from the text that they are one.
 */
const DIFFERENT: Readonly<Record<number, string>> = {
  4: 'suite G and suite F',
  6: 'suites 108 and 105',
  10: 'N Ponce de Leon, and without N',
  30: 'Clayton Blvd and 70 Hwy W Bus: two names',
  33: 'suite A, and none',
  39: '7919, and 7919 to 21: the range has more doors',
  40: 'Maple and N Maple',
  46: 'suites 118 and 219',
  49: 'buildings 6 and 10',
  51: '6304-D Westgate and 6304 E Westgate',
  73: 'Prospect Park and Prospect Place',
  80: 'units E and F, and none',
  101: '607-J and 607-K',
  103: '39th St and W 39th St',
  120: 'two streets',
  122: 'suites 8-12 and 5',
}
/**
 * One place each, of which a word is misspelt or left out. No rule finds them that would not also
 * match strangers.
 */
const MISSED: Readonly<Record<number, string>> = {
  2: 'WA for Washington',
  12: 'Calle and Ave both',
  16: 'LAKEEVIEW',
  25: 'WE, cut off',
  31: 'AVE left out',
  43: 'CRAFTMAN',
  66: 'GEER and GREER',
  69: 'MCNAB and MCNABB',
  84: 'RD left out',
  110: 'PK is Park by USPS, Pike here',
  119: 'suite 27 as 1233-27',
}

const lines = (name: string) => readFileSync(join(DATA, name), 'utf8').trim().split('\n')

function pairs(): { line: number; a: Line; b: Line }[] {
  return lines('ffl-address-pairs.csv')
    .slice(1)
    .map((row, i) => {
      const [a, b, city, state, postcode] = row.split(',') as [
        string,
        string,
        string,
        string,
        string,
      ]
      return {
        line: i + 2,
        a: { address1: a, city, state, postcode },
        b: { address1: b, city, state, postcode },
      }
    })
}

/** Business addresses that have a house number. */
function businesses(): Line[] {
  return [...new Set(lines('usaddress__us50.test.raw'))]
    .filter((line) => /^[A-Z]?\d/.test(line))
    .map((line) => {
      const parts = line.replaceAll('&#38;', '&').split(', ')
      const [state, postcode] = parts.pop()!.split(' ') as [string, string]
      const city = parts.pop()!.trim()
      return { address1: parts.join(', '), city, state, postcode }
    })
}

const SHORT = new Map(
  Object.entries({
    Street: 'St',
    Avenue: 'Ave',
    Road: 'Rd',
    Boulevard: 'Blvd',
    Drive: 'Dr',
    Highway: 'Hwy',
    Lane: 'Ln',
    Court: 'Ct',
    Place: 'Pl',
    Circle: 'Cir',
    Parkway: 'Pkwy',
    Pike: 'Pike',
    Turnpike: 'Tpke',
    Trail: 'Trl',
    Plaza: 'Plz',
    Square: 'Sq',
    Expressway: 'Expy',
    Suite: 'Ste',
    North: 'N',
    South: 'S',
    East: 'E',
    West: 'W',
    Northeast: 'NE',
    Northwest: 'NW',
    Southeast: 'SE',
    Southwest: 'SW',
    Saint: 'St',
    Mount: 'Mt',
  }),
)
const ORDINALS = new Map(
  Object.entries({
    '1st': 'First',
    '2nd': 'Second',
    '3rd': 'Third',
    '4th': 'Fourth',
    '5th': 'Fifth',
    '6th': 'Sixth',
    '7th': 'Seventh',
    '8th': 'Eighth',
    '9th': 'Ninth',
    '10th': 'Tenth',
    '11th': 'Eleventh',
    '12th': 'Twelfth',
    '14th': 'Fourteenth',
    '15th': 'Fifteenth',
    '22nd': 'Twenty-Second',
    '23rd': 'Twenty Third',
    '42nd': 'Forty-Second',
  }),
)

/**
 * Other spellings of an address. Only the last suffix and the directionals beside the name are
 * shortened, as people do: in `West New York Avenue` New York stays, and `North Avenue` is not a N
 * Ave.
 */
function respelled(line: Line): Line[] {
  const words = line.address1.split(/\s+/)
  const isPlain = (word: string | undefined) =>
    (word !== undefined && /^[A-Z][a-z]+$/.test(word) && !SHORT.has(word)) ||
    /^\d+(?:st|nd|rd|th)$/.test(word ?? '')
  const short = words.map((word, i) => {
    const made = SHORT.get(word)
    const isDirection = made !== undefined && /^[NSEW]{1,2}$/.test(made)
    if (
      made === undefined ||
      (isDirection &&
        !(
          (i === 1 && isPlain(words[2])) ||
          (i === words.length - 1 && i > 2 && SHORT.has(words[i - 1]!))
        ))
    )
      return word
    return isDirection ||
      (i > 1 && (i >= words.length - 2 || words[i + 1] === 'Suite')) ||
      word === 'Suite' ||
      word === 'Saint' ||
      word === 'Mount' ||
      word === 'Highway'
      ? made
      : word
  })
  const make = (address1: string): Line => ({ ...line, address1 })
  return [
    make(short.join(' ')),
    make(line.address1.toUpperCase()),
    make(
      short
        .map((word) =>
          SHORT.has(word) || !/^[A-Z]/.test(word) || word.length > 4 ? word : `${word}.`,
        )
        .join('  ')
        .toLowerCase(),
    ),
    make(words.map((word) => ORDINALS.get(word) ?? word).join(' ')),
  ]
}

/** Other places whose addresses differ by one thing. */
function others(line: Line): Line[] {
  const made = [
    line.address1.replace(/\d(?=\D|$)/, (digit) => String((Number(digit) + 2) % 10)),
    `${line.address1} Apt 3`,
    line.address1.replace(/^(\S+)/, '$1-C'),
    line.address1.replace(/^(\S*\d)/, '$1 1/2'),
  ]
  const turned = line.address1.replace(
    /\b(North|South|East|West)\b/,
    (word) => ({ North: 'South', South: 'North', East: 'West', West: 'East' })[word]!,
  )
  const suffixed = line.address1.replace(/\b(Street|Avenue|Road|Boulevard|Drive)$/, (word) =>
    word === 'Street' ? 'Avenue' : 'Street',
  )
  return [...made, turned, suffixed]
    .filter((text) => text !== line.address1)
    .map((address1): Line => ({ ...line, address1 }))
    .concat({ ...line, postcode: String(Number(line.postcode) + 1).padStart(5, '0') })
}

/** Premises of two lists of dealers. */
function premises(): Line[] {
  const read = (name: string) =>
    gunzipSync(readFileSync(join(LISTS, name)))
      .toString()
      .trimEnd()
      .split('\n')
  const onFile = read('rsr-ffl-transfer-dealers.txt.gz').map((line) => line.split(';').slice(1, 5))
  const listed = read('0513-ffl-list.txt.gz')
    .slice(2, -1)
    .map((line) => line.split('\t').slice(8, 12))
  return [...onFile, ...listed].map(([address1, city, state, postcode]) => ({
    address1: address1!,
    city: city!,
    state: state!,
    postcode: postcode!,
  }))
}

/**
 * What anybody would shorten, and nothing else: spellings that differ in more were read one by one.
 */
const PLAINLY: readonly (readonly [RegExp, string])[] = [
  [/\bSTREET\b/g, 'ST'],
  [/\bROAD\b/g, 'RD'],
  [/\bAVE?(?:NUE)?\b/g, 'AVE'],
  [/\bDRIVE\b/g, 'DR'],
  [/\bLANE\b/g, 'LN'],
  [/\bHIGHWAY\b/g, 'HWY'],
  [/\bBOULEVARD\b/g, 'BLVD'],
  [/\bCOURT\b/g, 'CT'],
  [/\bCIRCLE\b/g, 'CIR'],
  [/\bPLACE\b/g, 'PL'],
  [/\bTRAIL\b/g, 'TRL'],
  [/\bPARKWAY\b/g, 'PKWY'],
  [/\bNORTH\b/g, 'N'],
  [/\bSOUTH\b/g, 'S'],
  [/\bEAST\b/g, 'E'],
  [/\bWEST\b/g, 'W'],
  [/\b(?:SUITE|UNIT|APT|STE)\b/g, '#'],
  [/[^A-Z0-9#]/g, ''],
  [/#+/g, '#'],
]

const share = (part: number, all: number) => `${part}/${all} ${((100 * part) / all).toFixed(1)} %`
function table(title: string, rows: readonly (readonly string[])[]): void {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)))
  console.log(
    `${title}\n${rows.map((row) => `  ${row.map((cell, i) => cell.padEnd(widths[i]!)).join('  ')}`).join('\n')}`,
  )
}

describe('real addresses', { skip }, () => {
  test('121 premises, each written at two times', () => {
    const all = pairs()
    assert.equal(all.length, 121)
    const same = all.filter(({ line }) => DIFFERENT[line] === undefined)
    const different = all.filter(({ line }) => DIFFERENT[line] !== undefined)
    const results = Object.entries(NORMALIZERS).map(([name, normalize]) => {
      const isFound = ({ a, b }: { a: Line; b: Line }) =>
        normalize(a) !== null && normalize(a) === normalize(b)
      return {
        name,
        missed: same.filter((pair) => !isFound(pair)).map(({ line }) => line),
        taken: different.filter(isFound).map(({ line }) => line),
      }
    })
    table('121 premises: one place, and two places taken for one', [
      ['', 'found', 'false'],
      ...results.map(({ name, missed, taken }) => [
        name,
        share(same.length - missed.length, same.length),
        share(taken.length, different.length),
      ]),
    ])
    const ours = results[0]!
    assert.deepEqual(ours.taken, [], 'no two places are taken for one')
    assert.deepEqual(ours.missed, Object.keys(MISSED).map(Number))
  })

  test('35,449 premises of dealers: those that meet are one place', () => {
    const spellings = new Map<string, Set<string>>()
    let without = 0
    for (const line of premises()) {
      const made = normalizeAddress(line)
      if (made === null) {
        without++
        continue
      }
      const plain = PLAINLY.reduce(
        (text, [long, short]) => text.replaceAll(long, short),
        line.address1.toUpperCase(),
      )
      spellings.set(made, (spellings.get(made) ?? new Set()).add(plain))
    }
    const met = [...spellings.values()].filter((texts) => texts.size > 1)
    console.log(
      `35,449 premises: ${spellings.size} places, ${without} lines without a house; ` +
        `${met.length} places are spelled in ways that no plain abbreviation explains`,
    )
    // Each of the 86 was read: ordinals, units without a sign, trails, roads with and without their
    // kind. None is two places.
    assert.deepEqual([met.length, spellings.size, without], [86, 32_400, 237])
  })

  test('690 business addresses, spelled in other ways and changed into other places', () => {
    const all = businesses()
    assert.equal(all.length, 592)
    const results = Object.entries(NORMALIZERS).map(([name, normalize]) => {
      const missed: string[] = []
      const taken: string[] = []
      const seen = new Map<string, Line>()
      let [spellings, places] = [0, 0]
      for (const line of all) {
        const made = normalize(line)
        for (const other of respelled(line)) {
          spellings++
          if (made === null || normalize(other) !== made)
            missed.push(`${line.address1} ~ ${other.address1}`)
        }
        for (const other of others(line)) {
          places++
          if (made !== null && normalize(other) === made)
            taken.push(`${line.address1} ~ ${other.address1}, ${other.postcode}`)
        }
        if (made === null) continue
        const known = seen.get(made)
        // The tagged list has one address under two towns.
        if (known && (known.address1 !== line.address1 || known.postcode !== line.postcode))
          taken.push(`${whole(known)} ~ ${whole(line)}`)
        seen.set(made, line)
      }
      return { name, missed, taken, spellings, places }
    })
    table(
      '690 business addresses, those with a house number: other spellings, and other places taken for one',
      [
        ['', 'found', 'false'],
        ...results.map(({ name, missed, taken, spellings, places }) => [
          name,
          share(spellings - missed.length, spellings),
          share(taken.length, places),
        ]),
      ],
    )
    const ours = results[0]!
    assert.deepEqual(ours.taken, [], 'no two places are taken for one')
    assert.deepEqual(ours.missed, [])
  })
})
