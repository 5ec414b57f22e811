/**
 * Which ZIP codes lie in the cities that local law speaks of most. `within` are prefixes of the
 * city alone; `around` are prefixes that it shares with its neighbours. From public knowledge of
 * the ZIP system, made to err on the wide side.
 */
interface City {
  readonly state: string
  readonly name: string
  readonly within: readonly string[]
  readonly around: readonly string[]
}

const CITIES: readonly City[] = [
  {
    state: 'IL',
    name: 'chicago',
    within: ['606'],
    around: [
      '60707',
      '60714',
      '60803',
      '60805',
      '60827',
      '60018',
      '60068',
      '60106',
      '60131',
      '60171',
      '60176',
    ],
  },
  {
    state: 'NY',
    name: 'new york',
    within: [
      '100',
      '101',
      '102',
      '103',
      '104',
      '111',
      '112',
      '113',
      '114',
      '116',
      '11004',
      '11005',
    ],
    around: ['110'],
  },
  { state: 'DC', name: 'washington', within: ['200', '202', '203', '204', '205'], around: ['569'] },
  { state: 'PA', name: 'philadelphia', within: ['191'], around: ['190', '192'] },
  {
    state: 'CA',
    name: 'los angeles',
    within: ['900', '901'],
    around: [
      '902',
      '903',
      '904',
      '905',
      '906',
      '907',
      '910',
      '911',
      '912',
      '913',
      '914',
      '915',
      '916',
    ],
  },
  { state: 'CA', name: 'san francisco', within: ['941'], around: ['940'] },
  {
    state: 'CO',
    name: 'denver',
    within: [
      '80202',
      '80203',
      '80204',
      '80205',
      '80206',
      '80207',
      '80208',
      '80209',
      '80210',
      '80211',
      '80216',
      '80218',
      '80219',
      '80220',
      '80223',
      '80224',
      '80230',
      '80237',
      '80238',
      '80239',
      '80249',
      '8029',
    ],
    around: ['800', '801', '802'],
  },
  {
    state: 'CO',
    name: 'boulder',
    within: ['80301', '80302', '80303', '80304', '80305'],
    around: ['803', '805', '800'],
  },
]

/** Whether the ZIP codes of a city are known; its name as `cityName` has it. */
export function hasZips(state: string, name: string): boolean {
  return CITIES.some((one) => one.state === state && one.name === name)
}

/**
 * Whether a ZIP lies in a city: null where it may. A city that is not in the table may be anywhere.
 */
export function zipInCity(zip: string, state: string, name: string): boolean | null {
  const city = CITIES.find((one) => one.state === state && one.name === name)
  if (!city) return null
  if (city.within.some((prefix) => zip.startsWith(prefix))) return true
  return city.around.some((prefix) => zip.startsWith(prefix)) ? null : false
}

/** The city that a ZIP surely lies in; null where several may share it. */
export function cityOfZip(zip: string): string | null {
  return CITIES.find(({ within }) => within.some((prefix) => zip.startsWith(prefix)))?.name ?? null
}
