/**
 * Addresses that are made up: every spelling of a place is one, two places never are, and no text
 * takes long.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { normalizeAddress } from '../../../lib/fraud/signals/address/address.js'
import type { PostalAddress } from '../../../lib/fraud/signals/address/address.js'
import { cpuTime } from '../../harness/cpu-time.js'

/** A place, as it is made up here: what a postman needs, and no spelling. */
interface Place {
  number: number
  before: number
  name: number
  suffix: number
  after: number
  unit: string
  zip: number
}

const WAYS = [
  ['', ''],
  ['N', 'North'],
  ['S', 'South'],
  ['E', 'East'],
  ['W', 'West'],
  ['NE', 'Northeast'],
  ['SW', 'Southwest'],
] as const
const NAMES = [
  ['Main', 'Main'],
  ['1st', 'First'],
  ['22nd', 'Twenty-Second'],
  ['St James', 'Saint James'],
  ['Mt Vernon', 'Mount Vernon'],
  ['Ft Worth', 'Fort Worth'],
  ['OBrien', "O'Brien"],
  ['La Salle', 'LaSalle'],
  ['Park', 'Park'],
  ['Court', 'Court'],
  ['Pleasant Rdg', 'Pleasant Ridge'],
  ['K', 'K'],
  ['Old Mill', 'Old-Mill'],
  ['Pena', 'Peña'],
  ['11th', 'Eleventh'],
  ['5th St', 'Fifth Street'],
] as const
const SUFFIXES = [
  ['St', 'Street'],
  ['Ave', 'Avenue'],
  ['Rd', 'Road'],
  ['Blvd', 'Boulevard'],
  ['Dr', 'Drive'],
  ['Ct', 'Court'],
  ['Ter', 'Terrace'],
  ['Trl', 'Trail'],
  ['Hts', 'Heights'],
  ['Pkwy', 'Parkway'],
] as const
const index = (list: readonly unknown[]) => fc.nat(list.length - 1)
const aPlace: fc.Arbitrary<Place> = fc.record({
  number: fc.integer({ min: 1, max: 999 }),
  before: index(WAYS),
  name: index(NAMES),
  suffix: index(SUFFIXES),
  after: index(WAYS),
  unit: fc.oneof(
    fc.constant(''),
    fc.constantFrom('1', '2', '11', '12', '4B', '4A', 'B', '101', 'C3'),
  ),
  zip: fc.integer({ min: 85001, max: 85020 }),
})
/** How it is spelled: one bit for each choice. */
const aStyle = fc.tuple(
  fc.nat(63),
  fc.constantFrom('Apt ', 'apt. ', '#', '# ', 'Unit ', 'STE ', 'Suite #', 'Lot '),
  fc.constantFrom('', '.', ','),
  fc.constantFrom(' ', '  ', '\t'),
)

function spelled(
  place: Place,
  [bits, designator, dot, blank]: readonly [number, string, string, string],
): PostalAddress {
  const pick = (list: readonly (readonly [string, string])[], i: number, bit: number) =>
    list[i]![(bits >> bit) & 1]!
  const street = [
    String(place.number),
    pick(WAYS, place.before, 0),
    pick(NAMES, place.name, 1),
    pick(SUFFIXES, place.suffix, 2) + (place.after === 0 ? '' : dot.replace(',', '')),
    pick(WAYS, place.after, 3),
  ]
    .filter((part) => part !== '')
    .join(blank)
  const unit = place.unit === '' ? '' : designator + place.unit
  const isSplit = (bits & 16) !== 0
  const address1 = isSplit || unit === '' ? street : `${street}${dot} ${unit}`
  return {
    address1: (bits & 32) === 0 ? address1 : address1.toUpperCase(),
    address2: isSplit ? unit : '',
    postcode: String(place.zip),
  }
}

/** The line that a normal form would be written as. */
function canonicalLine(form: string): PostalAddress {
  const [, postcode, number, before, name, suffix, after, units, boxes] = form.split('|') as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  const street = [number, before, name, suffix, after].filter((part) => part !== '').join(' ')
  const doors =
    units === ''
      ? ''
      : units
          .split(',')
          .map((unit) => (unit.includes(' ') || /^[a-z]{2,}$/.test(unit) ? unit : `# ${unit}`))
          .join(' ')
  return {
    address1: street === '' ? boxes.replace(/^po /, 'po box ') : `${street} ${doors}`,
    address2: street === '' ? doors : boxes.replace(/^po /, 'po box '),
    postcode,
  }
}

describe('properties of addresses', () => {
  test('every spelling of a place is one, and is its own normal form', () => {
    fc.assert(
      fc.property(aPlace, aStyle, aStyle, (place, one, other) => {
        const made = normalizeAddress(spelled(place, one))
        assert.notEqual(made, null)
        assert.equal(normalizeAddress(spelled(place, other)), made)
        assert.equal(normalizeAddress(canonicalLine(made!)), made)
      }),
      { numRuns: 5_000 },
    )
  })

  test('two places are never one', () => {
    const near = fc
      .tuple(
        aPlace,
        fc.constantFrom('number', 'before', 'name', 'suffix', 'after', 'unit', 'zip'),
        aPlace,
      )
      .map(
        ([place, what, from]) => [place, { ...place, [what]: from[what as keyof Place] }] as const,
      )
    fc.assert(
      fc.property(
        fc.oneof(near, fc.tuple(aPlace, aPlace)),
        aStyle,
        aStyle,
        ([a, b], one, other) => {
          const isSame = JSON.stringify(a) === JSON.stringify(b)
          assert.equal(
            normalizeAddress(spelled(a, one)) === normalizeAddress(spelled(b, other)),
            isSame,
            JSON.stringify([spelled(a, one), spelled(b, other)]),
          )
        },
      ),
      { numRuns: 10_000 },
    )
  })

  test('other house numbers, units and ZIPs are other places, whatever else is told', () => {
    const rest = fc
      .array(
        fc.constantFrom(
          'Main',
          'St',
          'N',
          'Apt',
          '4',
          'Hwy',
          'US',
          '41',
          'Ave',
          'B',
          'Box',
          'Rear',
          '1/2',
          '#',
          'County',
          'Rd',
          'Saint',
          'PO',
          'Fl',
          '2nd',
          '-',
        ),
        { minLength: 1, maxLength: 6 },
      )
      .map((words) => words.join(' '))
    fc.assert(
      fc.property(
        rest,
        fc.integer({ min: 100, max: 999 }),
        fc.integer({ min: 100, max: 999 }),
        (text, a, b) => {
          fc.pre(a !== b)
          const made = (address1: string, postcode: string) =>
            normalizeAddress({ address1, postcode })
          const first = made(`${a} ${text}`, '85001')
          // After such words a number may be a box's or a road's of which no house is told.
          if (first === null) return
          assert.notEqual(made(`${b} ${text}`, '85001'), first, text)
          assert.notEqual(made(`${a} ${text}`, '85002'), first, text)
          assert.notEqual(
            made(`${a} ${text} Unit ${a}7`, '85001'),
            made(`${a} ${text} Unit ${b}7`, '85001'),
            text,
          )
        },
      ),
      { numRuns: 10_000 },
    )
  })

  test('any text has a form or none, and takes no time', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 60 }),
        fc.string({ maxLength: 60 }),
        (address1, address2) => {
          normalizeAddress({
            address1,
            address2,
            city: address2,
            state: address1,
            postcode: '85001',
          })
        },
      ),
      { numRuns: 3_000 },
    )
    const started = cpuTime()
    for (const text of [
      '1 '.repeat(100_000),
      '12 '.concat('st '.repeat(100_000)),
      '# '.repeat(100_000),
      '12 Main St '.concat('Apt '.repeat(50_000)),
      '12-'.repeat(50_000),
      'a.'.repeat(50_000),
      '½'.repeat(100_000),
      ','.repeat(100_000),
      '12 '.concat('n '.repeat(100_000)),
      'c/o '.repeat(50_000),
      'twenty '.repeat(50_000),
      '12 Main St, '.repeat(20_000),
    ]) {
      for (let i = 0; i < 20; i++)
        normalizeAddress({
          address1: text,
          address2: text,
          city: text,
          state: text,
          postcode: '85001',
        })
    }
    assert.ok(cpuTime() - started < 10_000)
  })
})
