/** One string per telephone. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { normalizePhone } from '../../../lib/fraud/signals/phone.js'

describe('North American numbers', () => {
  test('every spelling of one', () => {
    for (const text of [
      '602-555-0100',
      '(602) 555-0100',
      '602.555.0100',
      '602 555 0100',
      '6025550100',
      '1-602-555-0100',
      '1 (602) 555-0100',
      '16025550100',
      '+1 602 555 0100',
      '+16025550100',
      '+1 (602) 555-0100',
      '011 1 602 555 0100',
      '001 602 555 0100',
      'tel:+1-602-555-0100',
      ' 602/555/0100 ',
      '602–555–0100',
      '６０２ 555 0100',
      '602-555-0100 (home)',
      'Phone: 602-555-0100',
      '602-555-0100 cell',
      '+1.602.555.0100',
    ])
      assert.equal(normalizePhone(text), '+16025550100', text)
    for (const country of [
      'US',
      'us',
      'USA',
      'United States',
      'CA',
      'Canada',
      'PR',
      '',
      null,
      undefined,
      'Puerto Rico',
      'America',
      'United States (US)',
      'United States of America',
      'U.S.A.',
      'Guam',
      'UM',
      'Canada (CA)',
      'Bermuda',
      'Jamaica',
    ])
      assert.equal(normalizePhone('602-555-0100', country), '+16025550100')
  })

  test('letters of the keypad', () => {
    for (const [text, number] of [
      ['1-800-FLOWERS', '+18003569377'],
      ['1-800-flowers', '+18003569377'],
      ['1-800-CONTACTS', '+18002668228'],
      ['1800GOFEDEX', '+18004633339'],
      ['(800) GO-FEDEX', '+18004633339'],
      ['602-CALL-NOW', '+16022255669'],
      ['800-411-PAIN', '+18004117246'],
    ] as const)
      assert.equal(normalizePhone(text), number, text)
    // An O is a zero misread, and words that go with a number are not number.
    for (const text of [
      '6O2-555-0100',
      '602-555-O1OO',
      '602-555-OOOO',
      'FLOWERS',
      '1-800-FLO',
      'call me at home',
      'call 555-0100',
    ])
      assert.equal(normalizePhone(text), null, text)
  })

  test('an extension is another person', () => {
    for (const text of [
      '602-555-0100 x12',
      '602-555-0100x12',
      '602-555-0100 ext 12',
      '602-555-0100 ext. 12',
      '602-555-0100 EXT: 12',
      '(602) 555-0100 extension 12',
      '602-555-0100 #12',
      '602-555-0100, 12',
      '+1-602-555-0100;ext=12',
      '602-555-0100, x 12',
    ])
      assert.equal(normalizePhone(text), '+16025550100x12', text)
    const numbers = [
      '602-555-0100',
      '602-555-0100 x1',
      '602-555-0100 x12',
      '602-555-0100 x21',
      '602-555-0101 x12',
    ].map((text) => normalizePhone(text))
    assert.equal(new Set(numbers).size, numbers.length)
  })

  test('however the extension is set off, and nothing else behind the number is dropped', () => {
    for (const text of [
      '602-555-0100ext12',
      '6025550100ext.12',
      '602-555-0100 (ext 12)',
      '602-555-0100 (ext. 12)',
      '(602) 555-0100 (x12)',
      '602-555-0100 ext-12',
      '602-555-0100extension12',
      '602-555-0100 extn-12',
      '602-555-0100 (#12)',
    ])
      assert.equal(normalizePhone(text), '+16025550100x12', text)
    assert.equal(normalizePhone('+44 20 7946 0000 (ext 12)'), '+442079460000x12')
    // A word of the keypad may end in those letters, and what nobody dials is not an extension.
    assert.deepEqual(
      [
        normalizePhone('1-800-NEXT-123'),
        normalizePhone('1-800-FLOWERS ext 5'),
        normalizePhone('602-555-0100 ext'),
        normalizePhone('602-555-0100 cell'),
      ],
      ['+18006398123', '+18003569377x5', '+16025550100', '+16025550100'],
    )
    for (const text of [
      '602-555-0100 room 5',
      '602-555-0100 apt12',
      '602-555-0100 ext 12345678',
      '602-555-0100 option 5',
      '1-800-FLOWERS5',
      '1-800-FLOWERS room 5',
      '602-555-010 room 5',
      '602-555-01 apt 00',
      '+1 602 555 010 room 5',
      '+44 20 7946 000 room 5',
      '602-555-0100 ext 12 room 5',
    ])
      assert.equal(normalizePhone(text), null, text)
    assert.equal(normalizePhone('020 7946 000 room 5', 'GB'), null)
  })

  test('what nobody can have', () => {
    for (const text of [
      '',
      ' ',
      'n/a',
      'none',
      '555-0100',
      '02-555-0100',
      '602-555-010',
      '602-555-01000',
      '2-602-555-0100',
      '102-555-0100',
      '002-555-0100',
      '602-055-0100',
      '602-155-0100',
      '911-555-0100',
      '411-555-0100',
      '602-911-0100',
      '602-411-0100',
      '692-555-0100',
      '+1 602 555 010',
      '+1 602 555 01000',
      '+1 911 555 0100',
      '602-555-0100 602-555-0101',
      '602-555-0100/602-555-0101',
      '6'.repeat(65),
      '602-555-0100'.repeat(6),
      '442079460000',
      '0044 20 7946 0000',
    ])
      assert.equal(normalizePhone(text), null, text)
    // Toll-free exchanges may end in 11, and made-up numbers are as good as any.
    for (const [text, number] of [
      ['888-411-0123', '+18884110123'],
      ['602-555-0199', '+16025550199'],
      ['602-555-0000', '+16025550000'],
      ['900-234-5679', '+19002345679'],
    ] as const)
      assert.equal(normalizePhone(text), number, text)
  })

  test('what everybody types', () => {
    for (const text of [
      '000-000-0000',
      '111-111-1111',
      '222-222-2222',
      '999-999-9999',
      '555-555-5555',
      '123-456-7890',
      '1234567890',
      '012-345-6789',
      '987-654-3210',
      '234-567-8901',
      '602-555-5555',
      '602-222-2222',
      '602-234-5678',
      '602-555-1212',
      '602-867-5309',
      '+1 555 555 5555',
      '+99999999999',
      '+123456789012',
      '0000000',
    ])
      assert.equal(normalizePhone(text), null, text)
    for (const text of [
      '602-555-5556',
      '602-234-5679',
      '602-555-1213',
      '602-867-5308',
      '555-555-0100',
      '602-999-9998',
    ])
      assert.notEqual(normalizePhone(text), null, text)
  })
})

describe("other countries' numbers", () => {
  test('in international form, whatever leads to it', () => {
    for (const [text, country] of [
      ['+44 20 7946 0000', 'US'],
      ['+44 (0)20 7946 0000', null],
      ['011 44 20 7946 0000', 'US'],
      ['0044 20 7946 0000', 'GB'],
      ['+442079460000', 'GB'],
      ['+44-20-7946-0000', undefined],
    ] as const)
      assert.equal(normalizePhone(text, country), '+442079460000', text)
    assert.equal(normalizePhone('+52 55 1234 5678'), '+525512345678')
    assert.equal(normalizePhone('+1 416 555 0100', 'CA'), '+14165550100')
  })

  test('as dialled at home they stay numbers of that country alone', () => {
    const numbers = [
      normalizePhone('020 7946 0000', 'GB'),
      normalizePhone('020 7946 0000', 'DE'),
      normalizePhone('020 7946 0001', 'GB'),
      normalizePhone('602 555 0100', 'GB'),
      normalizePhone('602 555 0100', 'US'),
    ]
    assert.equal(normalizePhone('(020) 7946-0000', 'gb'), numbers[0])
    assert.ok(!numbers.includes(null))
    assert.equal(new Set(numbers).size, numbers.length)
  })

  test('whatever the country is called', () => {
    for (const country of [
      'UK',
      'gb',
      'GBR',
      'United Kingdom',
      'United Kingdom (UK)',
      'Great Britain',
      'England',
    ])
      assert.equal(normalizePhone('020 7946 0000', country), 'gb 02079460000', country)
    const numbers = ['GB', 'Germany', 'Ireland', 'Freedonia', 'Georgia', 'Dominica (island)'].map(
      (country) => normalizePhone('602 555 0100', country),
    )
    assert.deepEqual(numbers, [
      'gb 6025550100',
      'de 6025550100',
      'ie 6025550100',
      'freedonia 6025550100',
      'ge 6025550100',
      '+16025550100',
    ])
  })

  test('of a wrong length are none', () => {
    for (const text of [
      '+44 20',
      '+4420794',
      `+44${'1234567890'.repeat(2)}`,
      '+',
      '+0442079460000',
      '011',
      '011 44',
    ])
      assert.equal(normalizePhone(text), null, text)
  })
})

const ten = fc
  .tuple(
    fc.constantFrom('602', '415', '212', '800', '305'),
    fc.integer({ min: 200, max: 999 }),
    fc.integer({ min: 0, max: 9_999 }),
  )
  .map(([area, exchange, line]) => `${area}${exchange}${String(line).padStart(4, '0')}`)
const spelled = (digits: string, [before, a, b]: readonly [string, string, string]) =>
  `${before}${digits.slice(0, 3)}${a}${digits.slice(3, 6)}${b}${digits.slice(6)}`
const style = fc.tuple(
  fc.constantFrom('', '1', '1-', '+1 ', '+1', '011 1 '),
  fc.constantFrom('', '-', ' ', '.', ') '),
  fc.constantFrom('', '-', ' ', '.'),
)

describe('properties', () => {
  test('style does not matter, and a normal form is its own', () => {
    fc.assert(
      fc.property(ten, style, (digits, how) => {
        const made = normalizePhone(digits)
        assert.equal(normalizePhone(spelled(digits, how)), made)
        if (made !== null) assert.equal(normalizePhone(made), made)
      }),
      { numRuns: 2_000 },
    )
  })

  test('other numbers are other numbers', () => {
    fc.assert(
      fc.property(ten, ten, style, style, (a, b, how, other) => {
        const [one, two] = [normalizePhone(spelled(a, how)), normalizePhone(spelled(b, other))]
        if (one !== null && two !== null) assert.equal(one === two, a === b)
      }),
      { numRuns: 2_000 },
    )
  })

  test('any text has a normal form of its own, or none', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 70 }), (text) => {
        const made = normalizePhone(text)
        if (made !== null) assert.equal(normalizePhone(made), made)
      }),
      { numRuns: 2_000 },
    )
  })
})
