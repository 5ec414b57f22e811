/** One string per place: published vectors, and two traps at least for every rule. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { normalizeAddress } from '../../../lib/fraud/signals/address/address.js'
import type { PostalAddress } from '../../../lib/fraud/signals/address/address.js'

/** A line, or its two lines split by ` / `, in Phoenix. */
function at(text: string, more: PostalAddress = {}): string | null {
  const [address1, address2] = text.split(' / ')
  return normalizeAddress({
    address1,
    address2,
    city: 'Phoenix',
    state: 'AZ',
    postcode: '85001',
    ...more,
  })
}

function checkSame(rows: readonly (readonly string[])[], more?: PostalAddress): void {
  for (const [first, ...others] of rows) {
    const wanted = at(first!, more)
    assert.notEqual(wanted, null, first)
    for (const other of others) assert.equal(at(other, more), wanted, `${other} is ${first}`)
  }
}

/** No two of a row are one. */
function checkDifferent(rows: readonly (readonly string[])[], more?: PostalAddress): void {
  for (const row of rows) {
    const seen = new Map<string, string>()
    for (const text of row) {
      const made = at(text, more)
      assert.notEqual(made, null, text)
      assert.equal(seen.get(made!), undefined, `${text}: ${made}`)
      seen.set(made!, text)
    }
  }
}

describe('spellings of one street', () => {
  test('case, punctuation, accents and blanks', () => {
    checkSame([
      [
        '12 Main St',
        '12 MAIN ST.',
        ' 12  main   st ',
        '12, Main St',
        '12 Main-St',
        '12\tMain\tSt',
        '12 Máin St',
        '１２ Main St',
        '12 Ma\u200Bin St',
      ],
      ['12 O’Brien Rd', "12 O'Brien Rd", '12 OBRIEN RD', '12 O`Brien Road'],
      ['5 Peña Blvd', '5 PENA BLVD', '5 Pen\u0303a Boulevard'],
      ['8 Dinkins-Bottom Rd', '8 Dinkins Bottom Rd'],
      ['1 La Salle Ave', '1 LaSalle Ave'],
      ['9 Bay Tree Rd', '9 Baytree Rd'],
      ['9 Mc Donald Rd', '9 McDonald Rd'],
    ])
    checkDifferent([
      ['12 Main St', '12 Maine St', '12 Mains St', '21 Main St', '1 2 Main St'],
      ['12 Peña Rd', '12 Pina Rd'],
      ['12 B Road Rd', '12 Broad Rd'],
      ['12 La N Rd', '12 Lan Rd'],
      ['5 11th St', '51 1th St', '5 1 1th St'],
    ])
  })

  test('suffixes', () => {
    checkSame([
      ['12 Main St', '12 Main Street', '12 Main Str', '12 Main Strt'],
      ['12 Oak Ave', '12 Oak Avenue', '12 Oak Av', '12 Oak Avn'],
      ['12 Oak Blvd', '12 Oak Boulevard', '12 Oak Boul'],
      ['12 Oak Ter', '12 Oak Terrace', '12 Oak Terr'],
      ['12 Oak Trl', '12 Oak Trail', '12 Oak Tr'],
      ['12 Oak Tpke', '12 Oak Turnpike', '12 Oak Trpk'],
      ['12 Oak Pkwy', '12 Oak Parkway', '12 Oak Pky'],
      ['12 Oak Xing', '12 Oak Crossing'],
      ['12 Oak Hts', '12 Oak Heights'],
      // Of several suffixes only the last one is one; those before it belong to the name.
      ['4536 5th St Rd', '4536 Fifth Street Rd'],
      ['520 Industrial Park Dr', '520 Industrial Prk Drive'],
      ['145 Pleasant Rdg Dr', '145 Pleasant Ridge Drive'],
      ['1 Blue Spgs Pkwy', '1 Blue Springs Parkway'],
      ['15 Court St', '15 Ct St'],
    ])
    checkDifferent([
      ['12 Oak St', '12 Oak Ave', '12 Oak Rd', '12 Oak Dr', '12 Oak Ct', '12 Oak Cir', '12 Oak'],
      ['15 Court St', '15 Court', '15 Street Ct'],
      ['100 Street Rd', '100 Road St', '100 Rd'],
      ['12 Oak Hill', '12 Oak Hills', '12 Oak Hl Rd'],
      ['12 Bluff St', '12 Bluffs St'],
      ['12 Oak Pk', '12 Oak Park', '12 Oak Pike'],
      ['12 Park Ave', '12 Ave Park', '12 Avenue'],
      ['211 Prospect Park', '211 Prospect Place'],
      ['85 Contoocook Falls', '85 Contoocook Falls Rd'],
    ])
  })

  test('directionals before and after the name', () => {
    checkSame([
      ['12 N Main St', '12 North Main St', '12 N. Main St', '12 No. Main St', '12 No Main St'],
      ['12 S Main St', '12 So Main St', '12 South Main St'],
      [
        '12 NW 5th Ave',
        '12 N.W. 5th Ave',
        '12 Northwest 5th Ave',
        '12 North West 5th Ave',
        '12 N W 5th Ave',
      ],
      ['12 Main St N', '12 Main St North', '12 Main Street N.'],
      ['12 Main St SE', '12 Main St Southeast', '12 Main St South East', '12 Main St S.E.'],
      ['12 N St NW', '12 N Street Northwest'],
      ['12 South Park Dr', '12 S Park Dr'],
      ['12 W North Ave', '12 West North Avenue'],
      ['9 E West Hwy', '9 East-West Hwy', '9 East West Highway'],
      ['9 Northwest Hwy', '9 NW Hwy'],
      ['3 Central Park West', '3 Central Park W'],
      ['7 E Broadway', '7 East Broadway'],
    ])
    checkDifferent([
      [
        '12 Main St',
        '12 N Main St',
        '12 S Main St',
        '12 Main St N',
        '12 Main St S',
        '12 N Main St S',
      ],
      ['12 North Ave', '12 N Ave', '12 North Ave N', '12 N North Ave'],
      ['12 N St NW', '12 North St NW', '12 NW St', '12 N NW St', '12 N W St'],
      ['12 South Park Dr', '12 Park Dr', '12 Park Dr S'],
      ['100 E St', '100 East St', '100 St E', '100 E E St'],
      ['12 NE Main St', '12 N Main St', '12 E Main St', '12 Main St NE'],
      ['3 Central Park W', '3 Central Park S', '3 Central Park', '3 W Central Park'],
      ['12 Northgate Rd', '12 N Gate Rd'],
      ['12 N W St', '12 NW St'],
    ])
  })

  test('suffixes in the plural, as Publication 28 has them', () => {
    for (const [one, more, ...short] of [
      ['Trail', 'Trails', 'Trls'],
      ['Track', 'Tracks', 'Trks'],
      ['Ranch', 'Ranches', 'Rnchs'],
      ['Hollow', 'Hollows', 'Holws'],
      ['Parkway', 'Parkways', 'Pkwys'],
      ['Tunnel', 'Tunnels', 'Tunls'],
      ['Trace', 'Traces'],
      ['Loop', 'Loops'],
      ['Path', 'Paths'],
      ['Pike', 'Pikes'],
      ['Forest', 'Forests'],
      ['Isle', 'Isles'],
      ['Walk', 'Walks'],
      ['Spur', 'Spurs'],
      ['Park', 'Parks'],
      ['Village', 'Villiage'],
      ['Fort', 'Frt'],
      ['Plains', 'Plaines'],
    ] as const)
      checkSame([[one, more, ...short].map((suffix) => `12 Oak ${suffix}`)])
    // Others have an abbreviation of their own, and within a name a plural is another name.
    checkDifferent([
      ['12 Oak Village', '12 Oak Villages'],
      ['12 Oak Field', '12 Oak Fields'],
      ['12 Forest Rd', '12 Forests Rd'],
      ['12 Rosa Parks Blvd', '12 Rosa Park Blvd'],
      ['12 Trails Ct', '12 Trail Ct', '12 Tracks Ct'],
      ['12 Oak Trail', '12 Oak Track', '12 Oak Trace'],
    ])
  })

  test('a directional behind a comma', () => {
    checkSame([
      [
        '12 Oak St NE',
        '12 Oak St, NE',
        '12 Oak St. / N.E.',
        '12 Oak St, Northeast',
        '12 Oak St, N E',
      ],
      ['1600 H St NW', '1600 H St, NW', '1600 H St, NW, Phoenix'],
      ['1600 H St NW Apt 4', '1600 H St, NW, Apt 4', '1600 H St, NW Apt 4', '1600 H St, NW / #4'],
      ['842 E 1700 S', '842 E. 1700 So.', '842 East 1700 So'],
    ])
    checkDifferent([
      // One letter is a door, and behind a unit nobody knows.
      ['12 Oak St / N', '12 Oak St N', '12 Oak St'],
      ['12 Oak St Apt 4, NE', '12 Oak St NE, Apt 4'],
      ['12 Oak St, NE', '12 Oak St, NW', '12 NE Oak St', '12 NE Oak St, NW', '12 Oak St'],
      ['12 Oak St, NE House', '12 Oak St NE'],
      ['842 E 1700 So', '842 E 1700', '842 E 1700 No', '842 E 1700 No 5', '842 E 1700 # So'],
      ['12 Main So', '12 Main S'],
    ])
    assert.notEqual(
      at('12 Oak St, NE', { city: 'Lincoln', state: 'NE', postcode: '68508' }),
      at('12 Oak St NE', { city: 'Lincoln', state: 'NE', postcode: '68508' }),
    )
  })

  test('a road without a name has one: No Name Road', () => {
    checkDifferent([
      ['12 No Name Rd', '12 N Name Rd', '12 Name Rd'],
      ['12 No Name Ln', '12 No Ln'],
    ])
    checkSame([
      ['12 N Main St', '12 No Main St'],
      ['12 No Name Rd', '12 NO NAME ROAD'],
    ])
  })

  test('letters for names', () => {
    checkSame([
      ['9 Avenue B', '9 Ave B', '9 AVENUE "B"'],
      ['9 B St', '9 B Street'],
      ['12 A St', '12 A Street'],
      ['44 E Avenue J', '44 East Ave J'],
      ['44 N Avenue 52', '44 North Avenue 52'],
      ['9 Avenue E', '9 Ave E'],
    ])
    checkDifferent([
      ['9 Avenue B', '9 B Avenue', '9 Avenue C', '9 Avenue', '9B Avenue'],
      ['12 A St', '12A St', '12 St A', '12 A'],
      ['12 E St Apt 4', '12 E St', '12 East St Apt 4', '12 St E Apt 4'],
      ['9 Avenue E', '9 E Avenue', '9 East Ave'],
      ['9 Avenue N', '9 Avenue North', '9 N Ave'],
    ])
  })

  test('ordinals', () => {
    checkSame([
      ['5 First St', '5 1st St', '5 1ST STREET'],
      ['5 Second Ave', '5 2nd Ave', '5 2d Ave'],
      ['5 Twenty-Second St', '5 Twenty Second St', '5 22nd St', '5 22d St'],
      ['5 W Third St', '5 W 3rd St'],
      ['5 Twentieth St', '5 20th St'],
      ['5 Ninety-Ninth St', '5 99th St'],
      ['842 W 4th St', '842 West Fourth St'],
    ])
    checkDifferent([
      ['5 1st St', '5 1 St', '5 11th St', '5 First Ave'],
      ['20 Second St', '20 2 St', '202 Second St'],
      ['5 22nd St', '5 20th St', '5 2nd St', '5 22 St', '52 2nd St'],
      ['5 Third St', '5 Thirtieth St', '5 13th St'],
    ])
  })

  test('saints, forts and mounts', () => {
    checkSame([
      ['5 St James Ave', '5 Saint James Ave', '5 St. James Avenue'],
      ['5 Ft Worth Rd', '5 Fort Worth Rd'],
      ['5 Mt Vernon Rd', '5 Mount Vernon Road'],
      ['5 Old St Augustine Rd', '5 Old Saint Augustine Rd'],
      ['5 Mt St Helens Rd', '5 Mount Saint Helens Rd'],
      ['5 Ste Genevieve Dr', '5 Sainte Genevieve Dr'],
      ['5 Rocky Mtn Rd', '5 Rocky Mountain Rd'],
    ])
    checkDifferent([
      ['5 St James Ave', '5 James St', '5 James Ave', '5 Street James Ave', '5 James St Ave'],
      ['5 Fort St', '5 Ford St'],
      ['5 Mount Rd', '5 Mountain Rd'],
      ['5 Main St Rd', '5 Main Saint Rd', '5 St Main Rd'],
      ['5 Saint Rd', '5 St Rd'],
    ])
  })

  test('abbreviations that mean two things keep to themselves', () => {
    checkDifferent([
      ['5 Pt Washington Rd', '5 Point Washington Rd', '5 Port Washington Rd'],
      ['5 Oak Cr', '5 Oak Creek', '5 Oak Crescent'],
      ['5 Oak Pk', '5 Oak Park'],
      ['5 Fry Rd', '5 Ferry Rd'],
      ['5 Cent Ave', '5 Center Ave', '5 Central Ave'],
      ['5 Oak Br', '5 Oak Branch', '5 Oak Bridge'],
      ['5 Oak Ldg', '5 Oak Lodge', '5 Oak Landing'],
      ['5 Div St', '5 Division St', '5 Divide St'],
    ])
    checkSame([
      ['5 Dr King Blvd', '5 Doctor King Blvd'],
      ['5 MLK Jr Dr', '5 M.L.K. Jr. Drive', '5 Martin Luther King Jr Dr'],
      ['5 Peachtree Industl Blvd', '5 Peachtree Industrial Blvd'],
    ])
  })
})

describe('units', () => {
  test('the identifier counts, and neither its line nor what it is called', () => {
    checkSame([
      [
        '12 Main St Apt 4B',
        '12 Main St #4B',
        '12 Main St Unit 4-B',
        '12 Main St / 4B',
        '12 Main St / Apt. 4 B',
        '12 Main St, 4B',
        '12 Main St 4B',
        '12 Main St. Apartment 4b',
        '12 Main St / # 4-B',
        '12 Main St Apt#4B',
        '12 Main St Apt # 4B',
        '12 Main St Apt No. 4B',
        '12 Main St No. 4B',
        '12 Main St APT4B',
        'Apt 4B / 12 Main St',
        'Apt 4B, 12 Main St',
        'Apt 4B 12 Main St',
        '12 Main St Apt 4B / Apt 4B',
        '12 Main St / Ste 4B',
        '12 Main St Suite 4B',
        '12 Main St Rm 4B',
        '12 Main St / Lot 4B',
        '12 Main St / Spc 4B',
        '12 Main St / Trlr 4B',
        '12 Main St / Trailer 4B',
        '12 Main St Space #4B',
      ],
      ['12 Main St Apt 4', '12 Main St Apt 04', '12 Main St / 4', '12 Main St Apt Four'],
      ['12 Main St N Apt 4', '12 Main St North #4', '12 Main St N 4'],
      ['12 Broadway 4', '12 Broadway Apt 4', '12 Broadway / #4'],
      ['12 Main St B', '12 Main St Unit B', '12 Main St / B'],
      [
        '12 Main St Unit A & B',
        '12 Main St UNITA&B',
        '12 Main St Ste A and B',
        '12 Main St Ste A-B',
      ],
      ['12 Main St Suites 8 12', '12 Main St Ste 8-12', '12 Main St Units 8 & 12'],
      ['94-210 Leokane, Suite 105', '94-210 Leokane Ste 105', '94-210 Leokane / 105'],
      [
        '12 Main St / Unit',
        '12 Main St',
        '12 Main St / Apt',
        '12 Main St / N/A',
        '12 Main St / none',
        '12 Main St / -',
        '12 Main St / 12 Main St',
      ],
    ])
    checkDifferent([
      [
        '12 Main St Apt 1',
        '12 Main St Apt 11',
        '12 Main St Apt 1-1',
        '12 Main St',
        '121 Main St Apt 1',
        '12 Main St Apt 111',
      ],
      ['100 Main St Apt 2', '102 Main St', '1002 Main St', '100 Main St Apt 22'],
      ['12 Main St Ste G', '12 Main St Ste F', '12 Main St Ste FG'],
      ['12 Main St Apt A-B', '12 Main St Apt AB', '12 Main St Apt A'],
      ['12 Main St Apt N', '12 Main St N', '12 Main St N Apt N'],
      ['12 Main St Apt 4N', '12 Main St N Apt 4', '12 Main St Apt 4'],
      ['12 Main St Apt 10', '12 Main St Apt 1', '12 Main St Apt 100'],
    ])
  })

  test('two units with one identifier are two; what is told twice is one', () => {
    checkDifferent([
      [
        '12 Main St Suite 2 Room 2',
        '12 Main St Suite 2',
        '12 Main St Suite 2 Room 3',
        '12 Main St',
      ],
      ['12 Main St Unit 5 Lot 5', '12 Main St Lot 5', '12 Main St Unit 5 Lot 6'],
      ['12 Main St, Ste 100, Rm 100', '12 Main St, Ste 100'],
    ])
    checkSame([
      [
        '12 Main St Suite 2 Room 2',
        '12 Main St, Suite 2, Room 2',
        '12 Main St / Suite 2 Room 2',
        '12 Main St Suite 2 Room 2 / Suite 2 Room 2',
        '12 Main St Suite 2 / Suite 2 Room 2',
      ],
      [
        '12 Main St Apt 4B',
        '12 Main St #4B / Apt 4B',
        '12 Main St Apt 4B Apt 4B',
        '12 Main St 4B Apt 4B',
        'Apt 4B / 12 Main St Unit 4B',
        '12 Main St, Apt 4B, Apt 4B',
      ],
    ])
  })

  test('a floor, a building, a penthouse and a mail box are none of the doors with their number', () => {
    checkSame([
      [
        '12 Main St Fl 2',
        '12 Main St 2nd Floor',
        '12 Main St / Floor 2',
        '12 Main St, 2nd Fl',
        '12 Main St Second Floor',
        '12 Main St / 2 FL',
        '12 Main St FLR 2',
        '12 Main St Fl 2nd',
      ],
      [
        '12 Main St Bldg 2 Apt 3',
        '12 Main St Apt 3 Bldg 2',
        '12 Main St / Building 2, Apt 3',
        'Bldg 2 / 12 Main St Apt 3',
        '12 Main St / Bldg. #2 Unit 3',
      ],
      ['12 Main St PH 2', '12 Main St Penthouse 2', '12 Main St PH2'],
      ['12 Main St PMB 234', '12 Main St / PMB #234', '12 Main St, P.M.B. 234'],
      ['12 Main St Fl 3 Ste 300', '12 Main St Ste 300, 3rd Floor'],
      ['12 Main St Bldg East', '12 Main St / Building East'],
    ])
    checkDifferent([
      [
        '12 Main St Fl 2',
        '12 Main St Apt 2',
        '12 Main St Bldg 2',
        '12 Main St PH 2',
        '12 Main St PMB 2',
        '12 Main St Dept 2',
        '12 Main St PO Box 2',
        '12 Main St Tower 2',
        '12 Main St Wing 2',
        '12 Main St Slip 2',
        '12 Main St Pier 2',
        '12 Main St Hngr 2',
        '12 Main St Cottage 2',
        '12 Main St Cabin 2',
        '12 Main St',
      ],
      [
        '12 Main St Bldg 2 Apt 3',
        '12 Main St Bldg 3 Apt 2',
        '12 Main St Apt 23',
        '12 Main St Apt 3',
        '12 Main St Apt 2-3',
      ],
      ['12 Main St Ste 5 Unit 3', '12 Main St Ste 3 Unit 5'],
      ['12 Main St PH', '12 Main St PH 1', '12 Main St Apt 1'],
    ])
  })

  test('without an identifier', () => {
    checkSame([
      [
        '12 Main St Rear',
        '12 Main St / REAR',
        '12 Main St Apt Rear',
        '12 Main St Rear Apt',
        '12 Main St Unit Rear',
      ],
      ['12 Main St Bsmt', '12 Main St Basement', '12 Main St / Basement Apt'],
      ['12 Main St Frnt', '12 Main St Front'],
      ['12 Main St Uppr', '12 Main St Upper', '12 Main St / Upper Unit'],
      ['12 Main St / Lower', '12 Main St Lowr'],
      ['12 Main St 1st Fl Rear', '12 Main St / Floor 1 Rear'],
      ['12 Main St Apt 5 Rear', '12 Main St Rear Apt 5'],
    ])
    checkDifferent([
      [
        '12 Main St Rear',
        '12 Main St',
        '12 Main St Front',
        '12 Main St Bsmt',
        '12 Main St Upper',
        '12 Main St Lower',
        '12 Main St R',
      ],
      ['12 Main St Upper', '12 Main St Upper Left', '12 Main St Upper Right'],
      ['12 Main St Rear Apt', '12 Main St Rear Bldg', '12 Main St Rear House'],
      ['12 Front St', '12 Main St Front', '12 St Front'],
      ['12 Rear Main St', '12 Main St Rear'],
    ])
  })

  test('words of units that are names of streets', () => {
    checkDifferent([
      ['12 Lot St', '12 St Lot 1', '12 Lot St Lot 1'],
      ['12 Front St', '12 Front St Apt 1'],
      ['12 Space Center Blvd', '12 Center Blvd', '12 Center Blvd Spc 1'],
      ['12 Pier Ave', '12 Ave Pier 1'],
      ['12 Lower River Rd', '12 River Rd', '12 River Rd Lower', '12 Upper River Rd'],
      ['12 Key West Dr', '12 West Dr'],
      ['12 Old Lot Rd', '12 Old Rd'],
      ['12 Office Park Dr', '12 Park Dr'],
      ['12 Georgia Rd 5', '12 Georgia Rd', '12 Georgia Hwy 5'],
      ['12 Water Tower Pl', '12 Water Pl'],
      ['12 Suite St', '12 St'],
      ['12 Sandy Lot', '12 Sandy'],
      ['12 Open Space', '12 Open'],
    ])
    checkSame([
      ['11400 Overseas Hwy 121', '11400 Overseas Highway #121'],
      ['2395 Tamiami Tr 1', '2395 Tamiami Trail Unit 1'],
      ['12 Georgia Rd 5', '12 Georgia Rd #5'],
    ])
  })
})

describe('house numbers', () => {
  test('letters, fractions, hyphens and ranges', () => {
    checkSame([
      ['12A Main St', '12-A Main St', '12 A Main St', '12a main st'],
      ['123 1/2 Main St', '123½ Main St', '123-1/2 Main St', '123 ½ Main St'],
      ['8194 M Terminal Rd', '8194-M Terminal Rd'],
      ['2823 J Spring Garden St', '2823-J Spring Garden St'],
      ['806 F Hwy 66 S', '806F Highway 66 South'],
      ['14010 14020 W Dixie Hwy', '14010-14020 West Dixie Highway'],
      ['912 914 East 25th St', '912/914 East 25th St', '912-914 E 25th St'],
      ['One Main St', '1 Main St'],
      ['607 J South Main St', '607-J S Main St'],
      ['2229 18 Mile Rd', '2229 Eighteen Mile Road'],
    ])
    checkDifferent([
      [
        '12 A Main St',
        '12 B Main St',
        '12 Main St',
        '12 Main St Apt A',
        '12 E Main St',
        '12 N Main St',
      ],
      ['12N Main St', '12 N Main St'],
      [
        '123 1/2 Main St',
        '123 Main St',
        '1231 Main St',
        '1232 Main St',
        '123 Main St Apt 1',
        '12312 Main St',
        '123 1/4 Main St',
        '123 2nd Main St',
      ],
      ['912-914 E 25th St', '912 E 25th St', '914 E 25th St', '912914 E 25th St'],
      ['7919 Utrecht Ave', '7919-21 Utrecht Ave', '791921 Utrecht Ave'],
      ['1233-27 Lane Ave', '1233 Lane Ave', '123327 Lane Ave'],
      ['12 34 St', '12-34 St Main St', '1234 St Main St'],
      ['0123 SW Bancroft St', '123 SW Bancroft St'],
      ['12 A St', '12A St', '12 A Main St'],
      ['12 B Court St', '12B Court St'],
      ['12 B Park', '12B Park'],
      ['222 918 Mile Rd', '2229 18 Mile Rd'],
    ])
  })

  test('in words, or behind a sign', () => {
    checkSame([
      ['2 Penn Plaza', 'Two Penn Plaza', 'TWO PENN PLZ'],
      ['10 Main St', 'Ten Main St', 'Ten Main Street'],
      ['2 N Riverside Plaza', 'Two North Riverside Plaza'],
      ['12 Main St', '#12 Main St', '# 12 Main St', 'No. 12 Main St'],
      ['2 Penn Plaza Fl 5', 'Two Penn Plaza / 5th Floor'],
      ['12 Main St Apt 4', '#4 12 Main St', '#4, 12 Main St'],
    ])
    // A number that goes with the name is not a house's.
    for (const text of [
      'Seven Oaks Dr',
      'Three Rivers Rd',
      'Two Notch Rd',
      'Ten Mile Rd',
      'Ten Eyck St',
      'Three Lakes Dr',
      'Two Creek Ln',
      'Ten St',
      '#12',
      '#12 Main',
    ])
      assert.equal(at(text), null, text)
    checkDifferent([
      ['Ten Main St', 'One Main St', '12 Main St'],
      ['Two Penn Plaza / 12 Main St', '2 Penn Plaza', '12 Main St'],
      ['12 Ten Eyck St', '10 Eyck St'],
      ['#12 Main St', '12 Main St #12'],
      ['#4 12 Main St', '#4 Main St', '412 Main St'],
    ])
  })

  test('hyphens of Queens and of Hawaii', () => {
    const queens = { city: 'Queens', state: 'NY', postcode: '11375' }
    checkSame([['112-10 Queens Blvd', '11210 Queens Blvd', '112-10 QUEENS BOULEVARD']], queens)
    checkDifferent(
      [
        [
          '112-10 Queens Blvd',
          '112 Queens Blvd',
          '10 Queens Blvd',
          '112-1 Queens Blvd',
          '11-210 Queens Blvd',
          '112-100 Queens Blvd',
          '112-10A Queens Blvd',
        ],
      ],
      queens,
    )
    checkDifferent([['94-210 Leokane St', '94210 Leokane St', '94 Leokane St', '210 Leokane St']], {
      city: 'Waipahu',
      state: 'HI',
      postcode: '96797',
    })
    checkSame([['94-210 Leokane St', '94-210 LEOKANE STREET']], {
      city: 'Waipahu',
      state: 'HI',
      postcode: '96797',
    })
  })

  test('grids', () => {
    checkSame([
      ['842 E 1700 S', '842 East 1700 South', '842 E. 1700 S.'],
      [
        'N6W23001 Bluemound Rd',
        'N6 W23001 Bluemound Rd',
        'N6-W23001 Bluemound Road',
        'N 6 W 23001 Bluemound Rd',
        'N 6 W23001 Bluemound Rd',
      ],
      ['39W 123 Main St', '39W123 Main St'],
      ['W1234 County Road A', 'W 1234 County Rd A'],
      ['295 S 250 E Apt 3', '295 South 250 East #3', '295 S 250 E 3'],
      ['123 W 5th N', '123 West 5th North'],
      ['840 39.2 Rd', '840 39.2 Road'],
    ])
    checkDifferent([
      [
        '842 E 1700 S',
        '842 S 1700 E',
        '842 E 1700 N',
        '842 E 1700',
        '842 1700 S',
        '842 W 1700 S',
        '8421 E 700 S',
      ],
      [
        'N6W23001 Bluemound Rd',
        'W6N23001 Bluemound Rd',
        'N62W3001 Bluemound Rd',
        '23001 W Bluemound Rd',
        'N6W2300 Bluemound Rd',
      ],
      ['39W123 Main St', '39 W Main St', '39123 W Main St', '39W124 Main St'],
      ['W1234 County Road A', '1234 County Road A', '1234 W County Road A', 'E1234 County Road A'],
      ['840 39.2 Rd', '840 392 Rd', '840 39 Rd'],
    ])
  })
})

describe('numbered roads', () => {
  test('every name of one road', () => {
    checkSame([
      [
        '12 US Hwy 41',
        '12 US Highway 41',
        '12 U.S. Hwy 41',
        '12 US Route 41',
        '12 US Rte 41',
        '12 US 41',
        '12 US-41',
        '12 US41',
        '12 US 41 Hwy',
        '12 U.S. Highway No. 41',
        '12 U S Hwy 41',
        '12 Hwy US 41',
      ],
      [
        '12 State Road 7',
        '12 SR 7',
        '12 State Rd 7',
        '12 SR-7',
        '12 State Route 7',
        '12 State Rte 7',
        '12 St Rt 7',
        '12 State Hwy 7',
        '12 State Highway No 7',
        '12 SR7',
        '12 S.R. 7',
        '12 S R 7',
      ],
      [
        '12 County Road 100',
        '12 CR 100',
        '12 Co Rd 100',
        '12 County Rd 100',
        '12 C.R. 100',
        '12 C R 100',
        '12 Co Rd No 100',
        '12 Cnty Rd 100',
        '12 County Rd. #100',
        '12 County Highway 100',
        '12 Co Hwy 100',
        '12 CR100',
      ],
      [
        '12 FM 1960',
        '12 Farm to Market 1960',
        '12 FM 1960 Rd',
        '12 Farm-to-Market Road 1960',
        '12 F.M. 1960',
        '12 F M 1960',
        '12 FM1960',
      ],
      [
        '12 RM 620',
        '12 Ranch Road 620',
        '12 Ranch Rd 620',
        '12 RR 620',
        '12 Ranch to Market Rd 620',
      ],
      [
        '12 Interstate 95',
        '12 I-95',
        '12 I 95',
        '12 IH 95',
        '12 Interstate Highway 95',
        '12 I95',
        '12 IH-95',
      ],
      ['12 Highway 41', '12 Hwy 41', '12 Hwy. 41', '12 Hwy #41', '12 41 Hwy'],
      ['12 Route 66', '12 Rt 66', '12 Rte 66', '12 RT66'],
      ['12 County Road AA', '12 CR AA', '12 County Hwy AA', '12 County Trunk AA', '12 CTH AA'],
      ['12 County Rd E 29', '12 Co Rd E29', '12 CR E-29'],
      ['12 Township Rd 20', '12 TR 20', '12 Twp Rd 20'],
      ['12 US Hwy 70 W Bus', '12 US 70 Bus W', '12 US Highway 70 Business West'],
      ['12 US Hwy 19E', '12 US Highway 19 East', '12 US 19 E'],
      ['201 US 41 Hwy Bypass S', '201 US Hwy 41 Byp South'],
      ['12 US 41 Bus', '12 Business US 41', '12 US Business 41', '12 Bus US Hwy 41'],
      ['12 Old Highway 41', '12 Old Hwy 41'],
      ['12 SR A1A', '12 State Road A1A', '12 S.R. A-1-A'],
      ['12 E Hwy 54', '12 East Highway 54'],
      ['12 Hwy 8 49', '12 Hwy 8-49', '12 Hwys 8 and 49', '12 Hwy 8 & 49'],
      ['12 US Hwy 41 Apt 5', '12 US 41 #5', '12 US Route 41 / 5'],
      ['12 US Hwy 301 S Ste 107', '12 US 301 South 107'],
      ['12 I-35 Frontage Rd', '12 Interstate 35 Frontage Road'],
    ])
    checkDifferent([
      [
        '12 US Hwy 41',
        '12 State Hwy 41',
        '12 County Hwy 41',
        '12 Hwy 41',
        '12 I 41',
        '12 Route 41',
        '12 FM 41',
        '12 RM 41',
        '12 Township Rd 41',
        '12 Old US Hwy 41',
        '12 US Hwy 41 N',
        '12 N US Hwy 41',
        '12 US Hwy 41 Bus',
        '12 US Hwy 41 Byp',
        '12 US Hwy 14',
        '12 US Hwy 4 Apt 1',
        '12 US Hwy 411',
      ],
      ['12 SR 7', '12 SR 70', '12 SR 7 Apt 0', '12 SR 77'],
      ['12 County Road E', '12 County Road', '12 E County Road', '12 County Road 5'],
      ['12 State Rd', '12 State Rd 5', '12 State Rd N', '12 State St', '12 State Rd #5'],
      ['12 County Rd 5', '12 County Rd #5', '12 County Rd'],
      ['12 County Rd #100', '12 County Rd Apt 100', '12 County Rd #10'],
      ['12 State Rd #100', '12 State Rd 100'],
      ['12 S R St', '12 R St', '12 S R St Apt 7'],
      ['12 Interstate Dr', '12 I St', '12 I 95'],
      ['12 US 41 Alt', '12 US 41 Bus', '12 US 41', '12 Business St 41'],
      ['12 US Hwy 70 W', '12 US Hwy 70 E', '12 W US Hwy 70'],
      ['12 US Grant St', '12 Grant St'],
    ])
  })

  test("a state's own roads by its name", () => {
    const alabama = { city: 'Moulton', state: 'AL', postcode: '35650' }
    checkSame(
      [
        [
          '8483 AL Hwy 157',
          '8483 Alabama Highway 157',
          '8483 State Highway 157',
          '8483 AL-157',
          '8483 Alabama State Highway 157',
          '8483 SR 157',
        ],
      ],
      alabama,
    )
    checkSame([['5 NC Hwy 42', '5 North Carolina Hwy 42', '5 NC 42']], {
      state: 'NC',
      postcode: '27501',
    })
    // What another state's road is called stays; so does what may be the county's or Colorado's.
    checkDifferent(
      [
        [
          '8483 AL Hwy 157',
          '8483 GA Hwy 157',
          '8483 Georgia Highway 175',
          '8483 Hwy 157',
          '8483 Alabama Ave 157',
          '8483 Alabama Ave',
        ],
      ],
      alabama,
    )
    checkDifferent([['12 Co Hwy 5', '12 Colorado Hwy 5', '12 County Hwy 5', '12 Co Rd 55']], {
      state: 'CO',
      postcode: '80435',
    })
  })
})

describe('boxes', () => {
  test('of post offices', () => {
    checkSame([
      [
        'PO Box 12',
        'P.O. Box 12',
        'P O Box 12',
        'POB 12',
        'PO BX 12',
        'Post Office Box 12',
        'P.O.Box 12',
        'POBox 12',
        'P.O. Box #12',
        'po box no. 12',
        'Box 12',
        'Box # 12',
        'PO Drawer 12',
        'P.O. Lock Box 12',
        'POB12',
        'P0 Box 12',
        'P.0. Box 12',
        'PO Box 12 / Phoenix, AZ 85001',
        'BOX12',
        'P. O. Box 12',
        'PO 12',
      ],
      ['PO Box 12A', 'P.O. Box 12-A', 'PO Box 12 A'],
      [
        '12 Main St / PO Box 34',
        'P.O. Box 34 / 12 Main Street',
        '12 Main St POB 34',
        '12 Main St, PO Box 34',
      ],
    ])
    checkDifferent([
      [
        'PO Box 12',
        'PO Box 123',
        'PO Box 1',
        'PO Box 2',
        'PO Box 12A',
        'PO Box 112',
        'PO Box 012',
        '12 Box St',
        '12 Main St',
        '12 Main St PO Box 12',
      ],
      [
        '12 Main St PO Box 34',
        '12 Main St Apt 34',
        '12 Main St PMB 34',
        '12 Main St Box 34',
        '12 Main St',
        'PO Box 34',
      ],
      ['12 Post Office Rd', '12 Post Rd', 'PO Box 12'],
      ['12 Boxwood Dr', 'PO Box 12'],
    ])
  })

  test('of rural routes and highway contracts', () => {
    checkSame([
      [
        'RR 2 Box 15',
        'R.R. 2 Box 15',
        'Rural Route 2 Box 15',
        'RR #2, Box #15',
        'RR2 Box 15',
        'R2 Box 15',
        'RFD 2 Box 15',
        'Rural Rt 2 Bx 15',
        'Rt 2 Box 15',
        'Route 2 Box 15',
        'RR 2 / Box 15',
        'RR 02 Box 15',
        'RD 2 Box 15',
        'R R 2 BOX 15',
        'RFD Route 2 Box 15',
      ],
      [
        'HC 1 Box 12',
        'HC 01 Box 12',
        'HCR 1 Box 12',
        'Highway Contract 1 Box 12',
        'Hwy Contract Route 1 Box 12',
        'Star Route 1 Box 12',
        'HC1 Box 12',
        'H.C. 1, Box 12',
        'H C 1 Box 12',
        'H C R 1 Box 12',
      ],
      ['RR 4 Box 19-A', 'RR 4 Box 19A'],
    ])
    checkDifferent([
      [
        'RR 2 Box 15',
        'RR 2 Box 150',
        'RR 21 Box 5',
        'RR 1 Box 15',
        'HC 2 Box 15',
        'PO Box 15',
        '2 Route 15',
        '15 Route 2',
        'RR 2 Box 15A',
      ],
      ['HC 1 Box 12', 'HC 11 Box 2', 'HC 1 Box 1', 'RR 1 Box 12', '1 Highway 12'],
      ['H C 1 Box 12', 'H C 1 Box 1', '1 H C St', '1 C St Box 12'],
    ])
  })

  test('of the military', () => {
    const apo = { city: 'APO', state: 'AE', postcode: '09012' }
    checkSame(
      [
        [
          'PSC 1 Box 2',
          'P.S.C. 1, Box 2',
          'PSC 1 / Box 2',
          'psc 01 box #2',
          'PSC1 BOX 2',
          'P S C 1 Box 2',
        ],
        ['Unit 5 Box 3', 'UNIT 5, BOX 3', 'Unit 5 / Box 3'],
        ['CMR 450 Box 12', 'CMR 450, BOX 12', 'C M R 450 Box 12'],
      ],
      apo,
    )
    checkDifferent(
      [
        ['P S C 1 Box 2', 'P S C 1 Box 3', 'P S C 2 Box 2', '1 P S C St'],
        [
          'PSC 1 Box 2',
          'PSC 1 Box 22',
          'PSC 2 Box 1',
          'CMR 1 Box 2',
          'Unit 1 Box 2',
          'PO Box 2',
          'PSC 11 Box 2',
        ],
        ['Unit 5 Box 3', 'Unit 5 Box 33', 'Unit 53 Box 3', 'Unit 3 Box 5'],
      ],
      apo,
    )
    assert.equal(
      at('PSC 1 Box 2', { ...apo, postcode: '' }),
      at('PSC 1, Box 2', { city: 'A.P.O.', state: 'Armed Forces Europe', postcode: null }),
    )
  })
})

describe('what else stands in the lines', () => {
  test('who it is for is not a part of the place', () => {
    checkSame([
      [
        '12 Main St',
        'c/o Pat Doe / 12 Main St',
        'C/O Pat Doe, 12 Main St',
        '12 Main St / Attn: Pat Doe',
        'Attn Pat Doe 12 Main St',
        '12 Main St c/o Pat Doe',
        'Care of Pat Doe / 12 Main St',
        '% Pat Doe / 12 Main St',
        'Pat Doe / 12 Main St',
        'Main Street Guns / 12 Main St',
        'Acme Guns LLC, 12 Main St',
      ],
      ['12 Main St Apt 4', '12 Main St c/o Pat Doe Apt 4', 'Pat Doe / 12 Main St #4'],
    ])
    // A name that may be a building's, or has a number, tells two places apart.
    checkDifferent([
      ['Smith Hall / 12 College St', 'Jones Hall / 12 College St', '12 College St'],
      ['Studio 54 / 12 Main St', '12 Main St'],
      ['Acme Guns 12 Main St', 'Other Guns 12 Main St', '12 Main St'],
      ['12 Main St / Blue House', '12 Main St / Yellow House', '12 Main St'],
      ['North Tower / 12 Main St', 'South Tower / 12 Main St'],
      ['Gate B / 12 Main St', 'Gate C / 12 Main St', '12 Main St'],
      ['Loading Area Two / 12 Main St', 'Loading Area Three / 12 Main St'],
      ['12 Main St Attn Rm 5', '12 Main St Attn Rm 6', '12 Main St'],
      ['Attn Rm 5 / 12 Main St', 'Attn Rm 6 / 12 Main St'],
    ])
    // In Puerto Rico the urbanization tells apart what number, street and ZIP do not.
    checkDifferent(
      [['Urb Royal Oak / 123 Calle 1', 'Urb Las Flores / 123 Calle 1', '123 Calle 1']],
      { city: 'Bayamon', state: 'PR', postcode: '00961' },
    )
  })

  test('a unit behind a name stays', () => {
    checkSame([
      [
        '12 Main St Apt B',
        '12 Main St c/o Pat Doe Apt B',
        '12 Main St / c/o Pat Doe Apt B',
        'c/o Pat Doe Apt B / 12 Main St',
        'Attn Apt B / 12 Main St',
        '12 Main St Attn Apt B',
        'Attn Pat Doe Apt B 12 Main St',
        'c/o Pat Doe Apt B, 12 Main St',
        '12 Main St Apt B c/o Pat Doe',
      ],
      ['12 Main St Fl 5', '12 Main St Attn Pat 5th Floor', '12 Main St / Attn: Pat Doe, 5th Floor'],
      ['12 Main St Rear', '12 Main St c/o Pat Doe Rear'],
      ['12 Main St 4B', '12 Main St / c/o Smith 4B', '12 Main St c/o Smith #4B'],
      [
        '12 Main St Bldg 2 Apt B',
        '12 Main St c/o Pat Doe Bldg 2 Apt B',
        'c/o Pat Doe Bldg 2 Apt B 12 Main St',
      ],
      ['12 Main St PH', '12 Main St c/o Pat Doe PH'],
      [
        '12 Broadway',
        'c/o Pat Doe 12 Broadway',
        'Pat Doe / 12 Broadway',
        'c/o Pat Doe / 12 Broadway',
      ],
      // A letter alone is an initial, an ordinal a part of a name, a title no unit.
      [
        '12 Main St',
        '12 Main St c/o Pat D',
        '12 Main St c/o Pat Q Doe',
        '12 Main St / Attn: 2nd Amendment Guns',
        '12 Main St c/o Fifth Third',
        '12 Main St / Attn: Ms Doe',
        '12 Main St Attn: Ms. D. Poe',
        '12 Main St / Attn: Office Manager',
        '12 Main St / Attn: Spc Smith',
        '12 Main St / Attn: Sales Department',
        '12 Main St c/o Doe Apt',
        'Acme Guns c/o Pat Doe 12 Main St',
        '12 Main St Attn: Pat c/o Sam',
      ],
    ])
    checkDifferent([
      ['12 Main St c/o Pat Doe Apt B', '12 Main St c/o Pat Doe Apt C', '12 Main St'],
      ['12 Main St Attn Pat 5th Floor', '12 Main St Attn Pat 6th Floor', '12 Main St'],
      ['12 Main St / Attn: Wing B', '12 Main St / Attn: Wing C', '12 Main St'],
      ['12 Main St c/o Smith 4B', '12 Main St c/o Smith 4C', '12 Main St'],
      [
        '12 Main St c/o Pat Doe Rear',
        '12 Main St c/o Pat Doe Basement',
        '12 Main St c/o Pat Doe PH',
        '12 Main St',
      ],
      [
        '12 Main St c/o Pat Doe Bldg North',
        '12 Main St c/o Pat Doe Bldg South',
        '12 Main St c/o Pat Doe Bldg Lincoln',
        '12 Main St',
      ],
      ['Attn Apt B / 12 Main St', 'Attn Apt C / 12 Main St', '12 Main St'],
      ['Attn Pat Apt B 12 Main St', 'Attn Pat Apt C 12 Main St', '12 Main St'],
      ['12 Main St Attn Apt B Pat Doe', '12 Main St Attn Apt C Pat Doe', '12 Main St'],
      ['12 Main St c/o 4B Pat Doe', '12 Main St c/o 4C Pat Doe', '12 Main St'],
      ['12 County Rd c/o Pat 5', '12 County Rd 5'],
    ])
  })

  test('what kind of home it is says nothing', () => {
    checkSame([
      [
        '12 Main St',
        '12 main st (house)',
        '12 Main St / House',
        '12 Main St / Home',
        'House / 12 Main St',
        '12 Main St (residence)',
        '12 Main St, (home)',
      ],
      ['12 Main St Rear', '12 Main St (rear)'],
      ['12 Main St Apt 4B', '12 Main St (Apt 4B)', '12 Main St Apt 4(B)'],
    ])
    checkDifferent([
      ['12 Main St (blue house)', '12 Main St (yellow house)', '12 Main St'],
      ['12 Main St / House 2', '12 Main St / House 3', '12 Main St'],
      ['12 House Rd', '12 Home Rd', '12 Rd'],
      ['12 Main St (rear house)', '12 Main St (house)'],
    ])
  })

  test('city, state and ZIP told again are left out', () => {
    checkSame([
      [
        '12 Main St',
        '12 Main St, Phoenix, AZ 85001',
        '12 Main St Phoenix AZ 85001',
        '12 Main St, Phoenix AZ',
        '12 Main St / Phoenix, AZ 85001-1234',
        '12 Main St / Phoenix',
        '12 Main St, AZ 85001, USA',
        '12 Main St, 85001',
        '12 Main St, Phoenix, AZ, 85001',
        '12 Main St, Phoenix, AZ, USA',
        '12 Main St, Phoenix, AZ, 85001, US',
        '12 Main St Phoenix, AZ, 85001',
        '12 Main St, Phoenix, Arizona',
        '12 Main St, Phoenix, AZ 85001, United States',
        '12 Main St 85001',
        '12 Main St 85001-1234',
        '12 Main St / AZ',
        '12 Main St Phoenix / AZ 85001',
        '12 Main St, Phoenix / AZ / ',
      ],
      ['12 Phoenix St', '12 Phoenix St, Phoenix', '12 Phoenix St, Phoenix, AZ, 85001'],
      [
        '12 Main St Apt 4',
        '12 Main St Apt 4 85001',
        '12 Main St Apt 4 Phoenix, AZ, 85001',
        '12 Main St, Phoenix, AZ 85001, Apt 4',
        '12 Main St / 4, Phoenix, AZ',
      ],
    ])
    checkSame(
      [['12 Main St', '12 Main St, Albany, New York 12207', '12 Main St, Albany, New York, 12207']],
      { city: 'Albany', state: 'NY', postcode: '12207' },
    )
    // The number of a door, a box or a highway is not a ZIP, a street may be called as the city or the
    // state is, and NE is a directional.
    checkDifferent([
      ['12 Main St Apt 85001', '12 Main St', '12 Main St Bldg 85001'],
      ['12 Main St #85001', '12 Main St'],
      ['PO Box 85001', 'PO Box 8500', '12 Main St PO Box 85001', '12 Main St'],
      ['12 Hwy 85001', '12 Hwy 8'],
      ['85001 Main St', '12 Main St'],
      ['12 Phoenix, AZ 85001', '12 Arizona, 85001', '12 Main St'],
      ['12 Old Phoenix, AZ', '12 Old', '12 Old St'],
      ['12 Main St, Arizona Hall', '12 Main St'],
      ['12 Main St, TX', '12 Main St'],
      ['12 Main St 85002', '12 Main St'],
    ])
    checkDifferent([['12 Oak St NE, 68508', '12 Oak St, 68508', '12 Oak St, NW']], {
      city: 'Lincoln',
      state: 'NE',
      postcode: '68508',
    })
    checkDifferent([
      ['12 Phoenix St', '12 St', '12 Main St'],
      ['12 Main St, Tempe', '12 Main St'],
      ['12 Phoenix Ave', '12 Arizona Ave', '12 Phoenix'],
    ])
  })

  test('the ZIP says the place, and city and state where there is none', () => {
    const place = (more: PostalAddress) => normalizeAddress({ address1: '12 Main St', ...more })
    const zip = place({ postcode: '85001' })
    for (const more of [
      { postcode: '85001-1234' },
      { postcode: '850011234' },
      { postcode: ' 85001 ' },
      { postcode: '85001', city: 'Phoenix', state: 'AZ' },
      { postcode: '85001', city: 'PHX' },
      { postcode: '85001', country: 'USA' },
      { postcode: '85001', country: 'United States' },
      { postcode: '85001', country: 'us' },
      { postcode: '85001', country: 'United States (US)' },
      { postcode: '85001', country: 'United States of America (the)' },
      { postcode: '85001', country: 'U.S.A.' },
      { postcode: '85001', country: 'Estados Unidos' },
      { postcode: '85001-' },
      { postcode: '85001–1234' },
      { postcode: '85001 - 1234' },
      { postcode: '８５００１' },
      { postcode: '85001', country: null },
    ])
      assert.equal(place(more), zip, JSON.stringify(more))
    assert.equal(place({ postcode: '2134', state: 'MA' }), place({ postcode: '02134' }))
    const city = place({ city: 'St. Louis', state: 'MO' })
    for (const more of [
      { city: 'Saint Louis', state: 'Missouri' },
      { city: 'SAINT LOUIS', state: 'mo', postcode: '' },
      { city: 'St Louis', state: 'MO', postcode: 'unknown' },
    ])
      assert.equal(place(more), city, JSON.stringify(more))
    assert.equal(
      place({ city: 'E. St. Louis', state: 'IL' }),
      place({ city: 'East Saint Louis', state: 'Illinois' }),
    )
    for (const more of [
      { postcode: '8500-1' },
      { postcode: '85001-12' },
      { postcode: '85001-12345' },
      { postcode: '-85001' },
    ])
      assert.notEqual(place(more), zip, JSON.stringify(more))
    const others = [
      place({ postcode: '85002' }),
      place({ postcode: '85010' }),
      zip,
      city,
      place({ city: 'St. Louis', state: 'MI' }),
      place({ city: 'Louis', state: 'MO' }),
      place({ city: 'Brooklyn', state: 'NY' }),
      place({ city: 'New York', state: 'NY' }),
      place({ postcode: '8500', city: 'Phoenix', state: 'AZ' }),
    ]
    assert.equal(new Set(others).size, others.length)
  })

  test('a street without place is a string of its own, and so is one with half of a place', () => {
    const place = (more: PostalAddress) => normalizeAddress({ address1: '12 Main St', ...more })
    assert.equal(
      place({}),
      normalizeAddress({
        address1: '12 MAIN STREET',
        city: ' ',
        state: '',
        postcode: null,
        country: 'USA',
      }),
    )
    assert.equal(place({}), place({ postcode: '00000' }))
    assert.equal(place({ state: 'AZ' }), place({ state: 'Arizona' }))
    const others = [
      {},
      { city: 'Phoenix' },
      { state: 'AZ' },
      { state: 'NM' },
      { city: 'Phoenix', state: 'AZ' },
      { postcode: '8500' },
      { postcode: '85001' },
      { country: 'CA' },
    ].map(place)
    assert.ok(others.every((made) => made !== null))
    assert.equal(new Set(others).size, others.length)
    assert.notEqual(place({}), normalizeAddress({ address1: '12 Main St Apt 4' }))
  })

  test("other countries' addresses are folded only", () => {
    const abroad = (address1: string, more: PostalAddress = {}) =>
      normalizeAddress({
        address1,
        city: 'Toronto',
        state: 'ON',
        postcode: 'M5V 2T6',
        country: 'CA',
        ...more,
      })
    assert.equal(
      abroad('12 King St. W'),
      abroad('12  KING ST W', { postcode: 'm5v2t6', country: 'Canada' }),
    )
    assert.equal(abroad('12 King St W', { country: 'Canada (CA)' }), abroad('12 King St W'))
    assert.equal(
      new Set(
        ['GB', 'UK', 'United Kingdom', 'United Kingdom (UK)', 'gbr', 'Great Britain'].map(
          (country) => abroad('12 King St W', { country }),
        ),
      ).size,
      1,
    )
    assert.notEqual(
      abroad('12 King St W', { country: 'Freedonia' }),
      abroad('12 King St W', { country: 'Sylvania' }),
    )
    assert.notEqual(
      abroad('12 King St W', { country: 'Virgin Islands (British)' }),
      abroad('12 King St W', { country: 'Virgin Islands (U.S.)' }),
    )
    const others = [
      abroad('12 King St W'),
      abroad('12 King Street W'),
      abroad('12 King St E'),
      abroad('12 King St W', { postcode: 'M5V 2T7' }),
      abroad('12 King St W', { country: 'GB' }),
      abroad('12 King St W', { country: 'US' }),
      abroad('1 2 King St W'),
      abroad('12 King St W', { city: 'Ottawa' }),
    ]
    assert.equal(new Set(others).size, others.length)
    assert.deepEqual([abroad(''), abroad(' , ')], [null, null])
    assert.equal(
      normalizeAddress({ address1: '12 Calle Sol', postcode: '00901', country: 'PR' }),
      normalizeAddress({ address1: '12 calle sol', postcode: '00901', state: 'PR', country: 'US' }),
    )
  })

  test('null where no house or box is told', () => {
    for (const text of [
      '',
      ' ',
      'n/a',
      'N/A',
      'none',
      '-',
      '12',
      'Main St',
      'Southgate Mall',
      'Highway 34 East',
      'RR 2',
      'HC 1',
      'PO Box',
      'Apt 4',
      '#4',
      'Box',
      'Pat Doe',
      'c/o Pat Doe',
      'Junction Highway 76 37 & 86',
      'General Delivery',
      'First St',
      'Twenty-Second St',
      'USS Nimitz',
      'Phoenix, AZ 85001',
      '...',
      '☃',
    ])
      assert.equal(at(text), null, text)
    assert.equal(normalizeAddress({}), null)
  })
})
