/** Where an address lies: states, counties, cities and ZIP codes, however they are written. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isApiError } from '../../lib/core/errors.js'
import { zipInCity } from '../../lib/places/cities.js'
import { countyOf, findCounties } from '../../lib/places/counties.js'
import { cityName, countyName, isSameName, placeName } from '../../lib/places/names.js'
import { stateCode } from '../../lib/places/states.js'
import { chordMiles, milesChord, placeOfZip, unitVector, zipTable } from '../../lib/places/zips.js'
import { isInCity, placeOf } from '../../lib/restrictions/destination.js'
import type { Address } from '../../lib/restrictions/destination.js'

const names = (fips: Iterable<string>) =>
  [...fips].map((code) => countyOf(code)!).map(({ state, name }) => `${name} ${state}`)

/** The path and message of the 400 that an address is answered with. */
function refusal(address: Address): string {
  try {
    placeOf(address)
  } catch (error) {
    if (isApiError(error)) return error.message
    throw error
  }
  return 'taken'
}

describe('states', () => {
  test('are told by two letters or by name, case and outer blanks aside', () => {
    for (const [text, code] of [
      ['CA', 'CA'],
      ['ca', 'CA'],
      [' Ca ', 'CA'],
      ['California', 'CA'],
      ['NEW YORK', 'NY'],
      ['west virginia', 'WV'],
      ['District of Columbia', 'DC'],
      ['Puerto Rico', 'PR'],
      ['Guam', 'GU'],
      ['AE', 'AE'],
      ['Armed Forces Pacific', 'AP'],
      ['XX', null],
      ['Calif', null],
      ['', null],
      ['C', null],
      ['constructor', null],
      ['CA, USA', null],
    ] as const)
      assert.equal(stateCode(text), code, text)
  })
})

describe('names of places', () => {
  test('two spellings of one place are equal', () => {
    for (const [a, b] of [
      ['St. Louis', 'SAINT LOUIS'],
      ['St Louis', 'Saint-Louis'],
      ['Ste. Genevieve', 'Sainte Genevieve'],
      ['Ft. Worth', 'Fort Worth'],
      ['Ft Lauderdale', 'FORT LAUDERDALE'],
      ['Mt. Vernon', 'Mount Vernon'],
      ['N. Little Rock', 'North Little Rock'],
      ['E St Louis', 'East Saint Louis'],
      ['Cañon City', 'Canon City'],
      ['Coeur d’Alene', "Coeur d'Alene"],
      ['Winston-Salem', 'winston  salem'],
      ['Pt. Pleasant', 'Point Pleasant'],
    ] as const)
      assert.equal(placeName(a), placeName(b), `${a} and ${b}`)
    assert.notEqual(placeName('Saint Louis'), placeName('Louis'))
    assert.ok(isSameName(placeName('De Kalb'), placeName('DeKalb')))
  })

  test('a borough or a common name is its city', () => {
    for (const name of [
      'Brooklyn',
      'BRONX',
      'The Bronx',
      'Queens',
      'Staten Island',
      'Manhattan',
      'New York City',
      'NYC',
      'New York',
    ])
      assert.equal(cityName(name), 'new york')
    assert.deepEqual(
      ['Washington, D.C.', 'Washington DC', 'LA', 'Philly', 'SF', 'Queensbury'].map((name) =>
        cityName(name),
      ),
      ['washington', 'washington', 'los angeles', 'philadelphia', 'san francisco', 'queensbury'],
    )
  })

  test('a county is told without its kind, and a city that is a county with it', () => {
    for (const [text, name] of [
      ['Cook County', 'cook'],
      ['Cook Co.', 'cook'],
      ['county of Cook', 'cook'],
      ['Orleans Parish', 'orleans'],
      ['Juneau City and Borough', 'juneau'],
      ['North Slope Borough', 'north slope'],
      ['Nome Census Area', 'nome'],
      ['Municipality of Anchorage', 'anchorage'],
      ['Parish of Orleans', 'orleans'],
      ['Anchorage Municipality', 'anchorage'],
      ['City of Baltimore', 'baltimore city'],
      ['Baltimore city', 'baltimore city'],
      ['City and County of Denver', 'denver'],
      ['St. Clair County', 'saint clair'],
    ] as const)
      assert.equal(countyName(text), name)
  })
})

describe('counties', () => {
  test('are found by every form of their name, within their state', () => {
    for (const [state, name, found] of [
      ['IL', 'Cook', ['17031']],
      ['IL', 'COOK COUNTY', ['17031']],
      ['IL', 'Cook Co.', ['17031']],
      ['IL', 'County of Cook', ['17031']],
      ['CA', 'Cook', []],
      ['LA', 'Orleans Parish', ['22071']],
      ['LA', 'Orleans', ['22071']],
      ['NY', 'Orleans County', ['36073']],
      ['MD', 'Baltimore', ['24005', '24510']],
      ['MD', 'Baltimore County', ['24005']],
      ['MD', 'City of Baltimore', ['24510']],
      ['MD', 'Baltimore City', ['24510']],
      ['MO', 'St. Louis', ['29189', '29510']],
      ['MO', 'Saint Louis County', ['29189']],
      ['MO', 'St Louis City', ['29510']],
      ['VA', 'Richmond County', ['51159']],
      ['VA', 'City of Richmond', ['51760']],
      ['VA', 'James City County', ['51095']],
      ['NV', 'Carson City', ['32510']],
      ['CA', 'City and County of San Francisco', ['06075']],
      ['AK', 'Juneau', ['02110']],
      ['AK', 'Juneau City and Borough', ['02110']],
      ['AK', 'North Slope Borough', ['02185']],
      ['AK', 'Anchorage Municipality', ['02020']],
      ['AK', 'Matanuska-Susitna', ['02170']],
      ['IL', 'De Kalb', ['17037']],
      ['IL', 'La Salle', ['17099']],
      ['IL', 'LaSalle County', ['17099']],
      ['NM', 'Dona Ana', ['35013']],
      ['MD', "Prince George's", ['24033']],
      ['MD', 'Prince Georges County', ['24033']],
      ['PR', 'San Juan Municipio', ['72127']],
      ['DC', 'District of Columbia', ['11001']],
      ['TX', 'Cook', []],
      ['IL', 'County', []],
      ['IL', '', []],
    ] as const)
      assert.deepEqual(
        findCounties(state, name).map(({ fips }) => fips),
        found,
        `${name}, ${state}`,
      )
  })

  test('of a ZIP stand with the most people first', () => {
    for (const [zip, counties, exact] of [
      ['90210', ['Los Angeles County CA'], true],
      ['90210-1234', ['Los Angeles County CA'], true],
      ['902101234', ['Los Angeles County CA'], true],
      [' 90210 ', ['Los Angeles County CA'], true],
      ['60007', ['Cook County IL', 'DuPage County IL'], true],
      ['42223', ['Christian County KY', 'Montgomery County TN'], true],
      ['21201', ['City of Baltimore MD'], true],
      ['00901', ['San Juan Municipio PR'], true],
      ['10008', ['New York County NY'], false],
      ['20500', ['District of Columbia DC'], false],
    ] as const) {
      const place = placeOfZip(zip)!
      assert.deepEqual([names(place.counties), place.exact], [counties, exact], zip)
    }
    for (const zip of [
      '09012',
      '34002',
      '96201',
      '00000',
      '96799',
      '9021',
      '902100',
      '90210-12',
      'ABCDE',
      '',
    ])
      assert.equal(placeOfZip(zip), null, zip)
  })

  test('every ZIP area has counties that are known, and stands in ascending order', () => {
    const { numbers } = zipTable()
    assert.ok(numbers.length > 33_000)
    for (let i = 1; i < numbers.length; i++) assert.ok(numbers[i]! > numbers[i - 1]!)
    for (let i = 0; i < numbers.length; i += 97) {
      const place = placeOfZip(String(numbers[i]).padStart(5, '0'))!
      assert.ok(
        place.counties.every((fips) => countyOf(fips)),
        String(numbers[i]),
      )
      assert.ok(place.lat > -15 && place.lat < 72 && place.lng > -180 && place.lng < 180)
    }
  })

  test('distances are great circles', () => {
    const [a, b] = ['10001', '90012'].map((zip) => placeOfZip(zip)!)
    const [from, to] = [unitVector(a!.lat, a!.lng), unitVector(b!.lat, b!.lng)]
    const squared = from.reduce((sum, part, i) => sum + (part - to[i]!) ** 2, 0)
    assert.ok(Math.abs(chordMiles(squared) - 2_447) < 15, String(chordMiles(squared)))
    assert.ok(Math.abs(chordMiles(milesChord(50)) - 50) < 1e-6)
  })
})

describe('the ZIP codes of a city', () => {
  test('lie in it, elsewhere, or perhaps in it', () => {
    for (const [zip, state, name, answer] of [
      ['60601', 'IL', 'chicago', true],
      ['62701', 'IL', 'chicago', false],
      ['60707', 'IL', 'chicago', null],
      ['11201', 'NY', 'new york', true],
      ['10451', 'NY', 'new york', true],
      ['11001', 'NY', 'new york', null],
      ['14201', 'NY', 'new york', false],
      ['20001', 'DC', 'washington', true],
      ['80202', 'CO', 'denver', true],
      ['80214', 'CO', 'denver', null],
      ['14201', 'NY', 'buffalo', null],
    ] as const)
      assert.equal(zipInCity(zip, state, name), answer, `${zip} in ${name}`)
  })

  test('a city is told by its name; by another name only as far as the ZIP allows', () => {
    for (const [address, state, name, answer] of [
      [{ state: 'IL', city: 'CHICAGO' }, 'IL', 'chicago', true],
      [{ state: 'IL', city: 'Oak Park' }, 'IL', 'chicago', null],
      [{ state: 'IL', city: 'Oak Park', zip: '60301' }, 'IL', 'chicago', false],
      [{ state: 'IL', city: 'Loop', zip: '60601' }, 'IL', 'chicago', null],
      [{ state: 'IL' }, 'IL', 'chicago', null],
      [{ state: 'IL', zip: '60601' }, 'IL', 'chicago', true],
      [{ state: 'IL', zip: '62701' }, 'IL', 'chicago', false],
      [{ state: 'NY', city: 'Brooklyn' }, 'NY', 'new york', true],
      [{ state: 'NY', zip: '11201' }, 'NY', 'new york', true],
      [{ state: 'MO', city: 'St. Louis' }, 'MO', 'saint louis', true],
      [{ state: 'MO', city: 'Ladue' }, 'MO', 'saint louis', false],
      [{ state: 'MO' }, 'MO', 'saint louis', null],
      [{ state: 'IL', city: 'De Kalb' }, 'IL', 'dekalb', true],
    ] as const)
      assert.equal(isInCity(placeOf(address), state, name), answer, JSON.stringify(address))
  })
})

describe('the place of an address', () => {
  test('has the counties that were given, else those of the ZIP; an unknown one is as if not given', () => {
    for (const [address, counties] of [
      [{ state: 'IL', county: 'Cook' }, ['Cook County IL']],
      [{ state: 'Illinois', zip: '60007-1234' }, ['Cook County IL', 'DuPage County IL']],
      [{ state: 'IL', zip: '60007', county: 'DuPage' }, ['DuPage County IL']],
      [{ state: 'MD', county: 'Baltimore' }, ['Baltimore County MD', 'City of Baltimore MD']],
      [{ state: 'MD', county: 'Baltimore', zip: '21201' }, ['City of Baltimore MD']],
      [{ state: 'TN', zip: '42223' }, ['Montgomery County TN']],
      [{ state: 'KY', zip: '42223' }, ['Christian County KY']],
      [{ state: 'NY', zip: '10008' }, ['New York County NY']],
      [{ state: 'IL', county: 'Coook', zip: '60601' }, ['Cook County IL']],
      [{ state: 'IL', county: ' ', zip: ' ' }, null],
      [{ state: 'IL', county: 'Nowhere' }, null],
      [{ state: 'AE', zip: '09012' }, null],
      [{ state: 'AS', zip: '96799' }, null],
      [{ state: 'GU', zip: '96910' }, null],
    ] as const) {
      const { known, values } = placeOf(address).counties
      assert.deepEqual(known ? names(values) : null, counties, JSON.stringify(address))
    }
  })

  test('has the city of the ZIP where none was given and the ZIP is sure', () => {
    assert.deepEqual(
      [
        { zip: '60601' },
        { zip: '60707' },
        { zip: '60601', city: 'Loop' },
        { zip: '60601', city: ' ' },
      ].map((parts) => placeOf({ state: 'IL', ...parts }).city),
      ['chicago', null, 'loop', 'chicago'],
    )
  })

  test('knows PO boxes by the lines, military mail by state, city or ZIP, and territories', () => {
    for (const line of [
      'PO Box 12',
      'P.O. Box 12',
      'P. O. Box 12',
      'p o box 12',
      'POBox 12',
      'PO-Box 12',
      'P.O.Box 7',
      'Post Office Box 9',
      'POST OFFICE BOX 9',
      'POB 12',
      'P.O.B. 12',
      'PO BX 12',
      'PO Box12',
      'c/o Smith, PO Box 1',
    ]) {
      assert.deepEqual([...placeOf({ state: 'TX', lines: ['', line] }).kinds], ['po_box'], line)
    }
    for (const line of [
      '12 Main St',
      '5 Boxwood Ln',
      '1 Polk Boxing Way',
      '12 Post Rd',
      'RR 2 Box 152',
      '4 Pobble St',
      '9 Po Boxer Rd',
      'Depot Box Rd 1',
    ])
      assert.deepEqual([...placeOf({ state: 'TX', lines: [line] }).kinds], [], line)
    for (const address of [
      { state: 'AE' },
      { state: 'AP', zip: '96201' },
      { state: 'AA', city: 'FPO', zip: '34002' },
      { state: 'NY', city: 'APO' },
      { state: 'NY', city: 'APO AE', zip: '09012' },
      { state: 'CA', city: 'dpo' },
      { state: 'NY', zip: '09499' },
      { state: 'CA', zip: '96601' },
    ]) {
      assert.deepEqual([...placeOf(address).kinds], ['military'], JSON.stringify(address))
    }
    for (const state of ['PR', 'VI', 'GU', 'AS', 'MP', 'FM', 'MH', 'PW', 'Puerto Rico'])
      assert.deepEqual([...placeOf({ state }).kinds], ['territory'], state)
    assert.deepEqual(
      [
        ...placeOf({ state: 'OH', city: 'Apollo' }).kinds,
        ...placeOf({ state: 'DC', zip: '20001' }).kinds,
      ],
      [],
    )
  })

  test('is refused where it cannot be one: no state, a ZIP of another form, parts that contradict', () => {
    for (const [address, message] of [
      [{ state: 'ZZ' }, 'shipping.state: "ZZ" is not a state; send its two letters'],
      [{ state: 'IL', country: 'USA' }, 'shipping.country: must be the two letters of a country'],
      ...['1234', '123456', 'ABCDE', '60601-12', '6O601', '60601 1234'].map(
        (zip) => [{ state: 'IL', zip }, 'shipping.zip: must be 5 digits, or 5 and 4'] as const,
      ),
      [
        { state: 'CA', zip: '10001' },
        'shipping.zip: 10001 does not lie in CA: one of the two is wrong',
      ],
      [
        { state: 'AE', zip: '10001' },
        'shipping.zip: 10001 does not lie in AE: one of the two is wrong',
      ],
      [
        { state: 'NY', zip: '00901' },
        'shipping.zip: 00901 does not lie in NY: one of the two is wrong',
      ],
      [
        { state: 'IL', zip: '60601', county: 'DuPage' },
        'shipping.county: "DuPage" and ZIP 60601 do not meet: one of the two is wrong',
      ],
      [
        { state: 'MD', zip: '21201', county: 'Baltimore County' },
        'shipping.county: "Baltimore County" and ZIP 21201 do not meet: one of the two is wrong',
      ],
      [{ state: 'NY', zip: '10008', county: 'Kings' }, 'taken'],
      [{ state: 'ON', country: 'ca', zip: 'K1A 0B1' }, 'taken'],
      [{ state: 'NY', zip: '09012' }, 'taken'],
      [
        { state: 'HI', zip: '96799' },
        'shipping.zip: 96799 does not lie in HI: one of the two is wrong',
      ],
      [
        { state: 'FL', zip: '00802' },
        'shipping.zip: 00802 does not lie in FL: one of the two is wrong',
      ],
      [
        { state: 'GU', zip: '33101' },
        'shipping.zip: 33101 does not lie in GU: one of the two is wrong',
      ],
      [
        { state: 'ID', zip: '99101' },
        'shipping.zip: 99101 does not lie in ID: one of the two is wrong',
      ],
    ] as const)
      assert.equal(refusal(address), message, JSON.stringify(address))
  })

  test('abroad has nothing but its country, state, city and ZIP', () => {
    const { country, states, counties, city, zip, kinds } = placeOf({
      country: 'ca',
      state: 'on',
      county: 'York',
      city: 'Toronto',
      zip: 'K1A 0B1',
    })
    assert.deepEqual(
      [country, [...states.values], counties.known, city, zip, [...kinds]],
      ['CA', ['ON'], false, 'toronto', 'K1A 0B1', []],
    )
  })
})
